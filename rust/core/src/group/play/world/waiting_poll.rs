//! `poll()` up to 4.1: it waits until the network thread has done its part, and again until it has new positions.

use super::World;
use super::ledger::Reader;
use super::membership::MemberState;
use crate::Result;

impl World {
    /// A pass of such a `poll()`. The network thread handles the application's `PollEvent`; then the application takes the
    /// thread's events, waits until its partitions have positions, and looks for records.
    pub(super) fn pass_waiting(&mut self, reader: Reader) -> Result<()> {
        let begins = self.clients[reader as usize].classic.called_back == 0;
        if begins {
            if self.waits_for_positions(reader) {
                return Ok(());
            }
            if self.thread_was_first(reader) {
                self.run_once(reader)?;
            }
            self.make_up_turns(reader);
            let (now, client) = (self.now, &mut self.clients[reader as usize]);
            client.notes_commits(now);
            client.membership.call = client.app.last_poll(now);
            self.poll_event(reader)?;
            self.deliver()?;
        }
        let member = &mut self.clients[reader as usize].membership;
        let events = std::mem::take(if begins { &mut member.events } else { &mut member.taken });
        if !events.is_empty() {
            if self.process_all(reader, events, true)? {
                return Ok(());
            }
            // `ConsumerRebalanceListenerCallbackCompletedEvent` wakes the thread.
            self.run_once(reader)?;
        }
        self.end_turn(reader);
        self.looks_for_positions(reader);
        Ok(())
    }

    /// `updateFetchPositions`, and what follows if there are none to wait for.
    fn looks_for_positions(&mut self, reader: Reader) {
        self.update_fetch_positions(reader);
        if self.clients[reader as usize].positions.at.is_some() {
            let client = &mut self.clients[reader as usize];
            client.membership.next_pass = None;
            let ends = client.app.end_of(client.membership.call);
            client.app.stays_inside(client.membership.call, ends);
            self.pass_next(reader, self.now.max(ends));
        } else {
            self.looks_for_records(reader);
        }
    }

    /// An answer has come. An application that goes round without a rest has done so for the last time: the clock moves on
    /// within a round, after its event, so that the round's rest comes after the answer.
    pub(super) fn ends_round(&mut self, reader: Reader) -> Result<()> {
        let now = self.now;
        let client = &mut self.clients[reader as usize];
        let Some(call) = client.membership.spins_in.take() else { return Ok(()) };
        if client.is_in_call(call, now) {
            client.pass = None;
            client.membership.has_event_of = None;
            if client.version.tells_in_every_second_round() || self.race_is_fast() {
                self.pass_at(reader, now);
                return Ok(());
            }
            self.run_once(reader)?;
            self.looks_for_positions(reader);
            let client = &mut self.clients[reader as usize];
            let ends = client.app.end_of(call) + 1;
            client.app.stays_inside(call, ends);
            client.pass = None;
        }
        Ok(())
    }

    /// The network thread may have something to acknowledge. If it has been about its heartbeats before, it does that when
    /// the application's idle call ends: that wakes it (`collectFetch`).
    pub(super) fn wakes_at_end(&mut self, reader: Reader) {
        let (now, client) = (self.now, &self.clients[reader as usize]);
        let ends = client.app.end_of(client.app.last_poll(now));
        let acknowledges = client.membership.state == MemberState::Acknowledging;
        if client.version.waits_for_thread() && acknowledges && now < ends {
            self.wake_by(reader, ends);
        }
    }

    /// Whether the application waits inside `poll()` for positions.
    fn waits_for_positions(&self, reader: Reader) -> bool {
        let client = &self.clients[reader as usize];
        client.positions.at.is_some() && client.is_in_call(client.membership.call, self.now)
    }

    /// The application knows its positions, and goes on inside `poll()` if that has not ended meanwhile.
    pub(super) fn goes_on(&mut self, reader: Reader) {
        let (now, client) = (self.now, &self.clients[reader as usize]);
        if client.app.in_callback(now).is_some() || !client.is_in_call(client.membership.call, now) {
            return;
        }
        if client.version.waits_for_thread() {
            self.looks_for_records(reader);
        } else if !client.positions.early.is_empty() {
            // There is nothing to fetch, which ends the wait for records.
            self.clients[reader as usize].membership.has_event_of = Some(now);
            self.pass_at(reader, now);
        }
    }

    fn looks_for_records(&mut self, reader: Reader) {
        let waits_ms = self.clients[reader as usize].membership.maximum_time_to_wait;
        self.poll_for_fetches(reader, waits_ms, false);
    }
}

//! A KIP-848 member's `poll()`: the application's passes, and the network thread's part in them (`AsyncKafkaConsumer`).

use super::super::super::consumer;
use super::World;
use super::application::RETRY_BACKOFF_MS;
use super::ledger::Reader;
use super::membership::{BackgroundEvent, MemberState};
use super::script::Race;
use crate::Result;

/// `fetch.max.wait.ms`: a fetch that finds no records is answered after this time, and the answer wakes the network
/// thread.
const FETCH_WAITS_MS: i64 = 500;

/// How often an application goes round at one instant before 1 ms passes.
const ROUNDS: u8 = 5;

impl World {
    /// A pass of `AsyncKafkaConsumer.poll()`: it tells the network thread that it polls, takes the thread's events, and
    /// looks for records. How the thread reacts mostly shows in the next pass; if the thread is quick, it shows in this
    /// one.
    pub(super) fn pass_consumer(&mut self, reader: Reader) -> Result<()> {
        if let Some(code) = self.clients[reader as usize].error {
            self.fail(reader, code);
            return Ok(());
        }
        if self.clients[reader as usize].version.waits_for_thread() {
            return self.pass_waiting(reader);
        }
        let is_fast = self.race_is_fast();
        // A pass that a callback interrupted goes on where it stopped.
        let begins = self.clients[reader as usize].classic.called_back == 0;
        if begins {
            if self.thread_was_first(reader) {
                self.run_once(reader)?;
            }
            self.make_up_turns(reader);
            let (now, client) = (self.now, &mut self.clients[reader as usize]);
            client.notes_commits(now);
            client.membership.call = client.app.last_poll(now);
        }
        let client = &self.clients[reader as usize];
        let had_fetches = client.fetches_in_vain();
        let mut waits_ms = client.membership.maximum_time_to_wait;
        let mut events = if begins {
            self.events_unless(reader, is_fast)
        } else {
            std::mem::take(&mut self.clients[reader as usize].membership.taken)
        };
        // `hasPendingReconciliation`: the application looks for records only after the thread has looked at the
        // reconciliation.
        let client = &self.clients[reader as usize];
        let is_reconciling =
            client.version.waits_for_reconciliation() && client.membership.state == MemberState::Reconciling;
        let mut sees_thread = is_fast || is_reconciling;
        let mut sees_event = is_fast;
        let has_event = begins && self.has_event(reader);
        let submits = begins && !has_event && self.submits(reader);
        if submits {
            self.poll_event(reader)?;
            self.deliver()?;
            let client = &mut self.clients[reader as usize];
            // While it looks for positions, its records wait, too. If that lasts until the next call, that call finds
            // none left.
            let waits_ms = RETRY_BACKOFF_MS.min(client.app.timeout_ms());
            let awaits = client.is_busy && client.positions.at.is_some() && client.app.poll_ms() <= waits_ms;
            if is_fast && client.positions.at.is_none() || awaits && !sees_thread {
                client.app.tells_again(self.now, client.is_busy);
            }
        } else {
            sees_thread = false;
            let client = &mut self.clients[reader as usize];
            if begins && client.has_stale_records {
                client.app.tells_nothing(self.now);
            }
        }
        if is_fast && begins {
            events = self.events_unless(reader, false);
        }
        if !events.is_empty() {
            if self.process_all(reader, events, submits)? {
                return Ok(());
            }
            if submits && is_reconciling {
                // The thread looks at the reconciliation only now, after it has heard of the callback.
                self.hear_of_revoked(reader);
            }
            // By the time `ApplyAssignmentEvent` or a callback ends, the thread has also handled this pass's event.
            let (now, client) = (self.now, &mut self.clients[reader as usize]);
            if now > client.membership.call && client.app.next_poll(now) == now {
                client.app.tells(now);
            } else if client.positions.are_found(now) {
                client.app.tells_again(now, client.is_busy);
            }
            (sees_thread, sees_event) = (true, true);
        }
        if sees_thread {
            waits_ms = self.clients[reader as usize].membership.maximum_time_to_wait;
        }
        self.lets_thread_run(reader, waits_ms, had_fetches)?;
        let client = &mut self.clients[reader as usize];
        let mut is_woken = std::mem::take(&mut client.has_stale_records);
        if client.version.tells_in_every_second_round() && !client.is_busy && submits {
            let done = client.positions.at.unwrap_or(self.now);
            client.membership.has_event_of = Some(done).filter(|_| !sees_event);
            is_woken |= client.positions.at.is_none();
        }
        self.poll_for_fetches(reader, waits_ms, is_woken);
        Ok(())
    }

    /// Lets the thread run after a pass. If the application goes round without a rest, the event of its next pass wakes
    /// the thread.
    fn lets_thread_run(&mut self, reader: Reader, waits_ms: i64, had_fetches: bool) -> Result<()> {
        let now = self.now;
        let client = &self.clients[reader as usize];
        let ends = client.app.end_of(client.membership.call);
        let goes_round = if now < ends { waits_ms <= 0 } else { client.app.next_poll(now) == now };
        let rests = client.is_busy || !goes_round;
        let acknowledges = client.membership.state == MemberState::Acknowledging;
        if rests && client.membership.called_back.is_some() || acknowledges && client.is_busy {
            // The thread wakes when the callback ends, or with the next fetch.
            self.run_once(reader)
        } else {
            if acknowledges && had_fetches {
                self.wake_by(reader, now + FETCH_WAITS_MS);
            }
            Ok(())
        }
    }

    /// Whether the thread wakes for its heartbeat just before a call begins: it does if it has waited longer than the
    /// application.
    pub(super) fn thread_was_first(&mut self, reader: Reader) -> bool {
        let now = self.now;
        let client = &self.clients[reader as usize];
        if client.is_busy || client.membership.due != now || client.app.last_poll(now) != now {
            return false;
        }
        self.make_up_turns(reader);
        let client = &self.clients[reader as usize];
        client.membership.woke < client.app.waits_since(now, false)
    }

    /// Whether a call begins at this instant in which the application has something to do, and the application has waited
    /// for it longer than the thread has waited for its heartbeat.
    pub(super) fn application_is_first(&mut self, reader: Reader) -> bool {
        let now = self.now;
        let client = &self.clients[reader as usize];
        let begins = client.pass.is_some_and(|(at, _)| at == now) && client.app.last_poll(now) == now;
        if !begins {
            return false;
        }
        self.make_up_turns(reader);
        let client = &self.clients[reader as usize];
        client.membership.woke >= client.app.waits_since(now, client.is_busy)
    }

    /// Whether the application still has the event of its previous round, which is done by now. It drops that event.
    fn has_event(&mut self, reader: Reader) -> bool {
        let now = self.now;
        let client = &mut self.clients[reader as usize];
        let is_done = |done: i64| (done - 1..=done).contains(&now);
        let has_event = client.membership.has_event_of.is_some_and(is_done);
        if has_event {
            client.membership.has_event_of = None;
            client.app.tells_again(now, client.is_busy);
        }
        has_event
    }

    fn events_unless(&mut self, reader: Reader, are_left: bool) -> Vec<BackgroundEvent> {
        if are_left {
            return Vec::new();
        }
        std::mem::take(&mut self.clients[reader as usize].membership.events)
    }

    /// Whether a pass tells the network thread that it polls (`AsyncPollEvent`). It does not while the previous event
    /// is under way, nor if that event has brought records.
    fn submits(&self, reader: Reader) -> bool {
        let client = &self.clients[reader as usize];
        if client.is_busy || client.has_stale_records {
            return client.app.tells_of(self.now);
        }
        client.positions.are_found(self.now) || client.membership.polled + client.app.timeout_ms() <= self.now
    }

    /// `processBackgroundEvents`. Returns whether a callback holds the application up.
    pub(super) fn process_all(
        &mut self,
        reader: Reader,
        events: Vec<BackgroundEvent>,
        submits: bool,
    ) -> Result<bool> {
        let mut left = events.into_iter();
        while let Some(event) = left.next() {
            if !submits
                && self.clients[reader as usize].classic.called_back == 0
                && matches!(event, BackgroundEvent::Assigned(_))
            {
                // `ApplyAssignmentEvent` wakes the thread.
                self.run_once(reader)?;
            }
            if let Some(event) = self.process(reader, event)? {
                // This event and the remaining ones wait until the callback ends.
                let client = &mut self.clients[reader as usize];
                client.membership.taken = std::iter::once(event).chain(left).collect();
                client.membership.next_pass = None;
                if let Some(until) = client.app.in_callback(self.now) {
                    self.pass_at(reader, until);
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `pollForFetches`: if there are no records, schedules the next round of `poll()`, at once if the wait for records
    /// `is_woken`.
    pub(super) fn poll_for_fetches(&mut self, reader: Reader, waits_ms: i64, is_woken: bool) {
        let now = self.now;
        let client = &mut self.clients[reader as usize];
        let member = &client.membership;
        let end = member.call + client.app.timeout_ms();
        client.app.stays_inside(member.call, if client.is_busy { now } else { end });
        // `FetchRequestManager.maximumTimeToWait` caps the wait, or `pollForFetches` does because there are partitions
        // to fetch.
        let mut waits_ms = waits_ms.min(end - now);
        if client.goes_round_often() {
            waits_ms = waits_ms.min(RETRY_BACKOFF_MS);
        }
        let spins = client.version.spins() && waits_ms <= 0 && !client.is_busy;
        let member = &mut client.membership;
        if is_woken {
            waits_ms = 0;
        }
        member.rounds = if member.rounds.0 == now { (now, member.rounds.1 + 1) } else { (now, 0) };
        member.spins_in = spins.then_some(member.call);
        if waits_ms <= 0 && (member.rounds.1 >= ROUNDS || spins && client.version.waits_for_thread()) {
            waits_ms = 1;
        }
        let next_pass = now + waits_ms.max(0);
        member.next_pass = Some(next_pass).filter(|at| !client.is_busy && *at < end);
        let call = member.call;
        // An answer may come while it waits.
        let awaits = member.reconciling.is_some() || client.positions.at.is_some();
        if member.next_pass.is_some() && (awaits || self.has_work_consumer(reader)) {
            self.pass_at(reader, next_pass);
        } else {
            self.pass_next(reader, now.max(call + 1));
        }
    }

    /// The next pass at or after `from`.
    pub(super) fn next_pass_consumer(&self, reader: Reader, from: i64) -> i64 {
        let client = &self.clients[reader as usize];
        let next = client.app.next_poll(from);
        let member = &client.membership;
        let call = client.app.last_poll(from);
        match member.next_pass {
            _ if client.is_busy => next,
            Some(pass) if call == member.call && pass >= from => pass.min(next),
            None if call == member.call => next,
            _ if client.version.goes_round_often() || !client.app.is_inside(from) => {
                client.app.next_pass(from, false)
            }
            _ => {
                // It has waited for what was due when it began to wait.
                let round =
                    client.goes_round_often().then(|| from + (call - from).rem_euclid(RETRY_BACKOFF_MS));
                let dues = [self.commits_at(reader, from), Some(member.due), round];
                let pass = dues.into_iter().flatten().filter(|due| *due >= from).min();
                pass.filter(|at| *at < client.app.end_of(call)).map_or(next, |at| at.min(next))
            }
        }
    }

    /// The network thread hears that the application polls (`AsyncPollEvent`, up to 4.1 `PollEvent`).
    pub(super) fn poll_event(&mut self, reader: Reader) -> Result<()> {
        self.end_turn(reader);
        self.hear_of_callback(reader);
        self.maybe_reconcile(reader, true)?;
        let commits = self.maybe_auto_commit_async(reader);
        let now = self.now;
        let client = &mut self.clients[reader as usize];
        let commits = commits || client.membership.committing_since == Some(now);
        client.app.tells(now);
        client.membership.polled = now;
        if !self.clients[reader as usize].version.waits_for_thread() {
            self.update_fetch_positions(reader);
        }
        let member = &mut self.clients[reader as usize].membership;
        let joins = match member.state {
            MemberState::Unsubscribed => true,
            MemberState::Stale => !member.awaits_lost,
            _ => false,
        };
        if joins {
            self.join_consumer(reader);
        }
        self.poll_managers(reader)?;
        if commits {
            // A turn that sends something does not wait.
            self.end_turn(reader);
        }
        Ok(())
    }

    fn join_consumer(&mut self, reader: Reader) {
        // A consumer keeps one ID for as long as it lives, however often it joins.
        if self.clients[reader as usize].id.is_empty()
            && let Some(config) = self.clients[reader as usize].config.clone()
        {
            self.clients[reader as usize].id = self.new_id(reader, &config);
        }
        let client = &mut self.clients[reader as usize];
        client.generation = 0;
        client.classic.identity += 1;
        client.membership.joins();
    }

    /// The application handles an event of the network thread. Returns the event if a callback holds it up.
    fn process(&mut self, reader: Reader, event: BackgroundEvent) -> Result<Option<BackgroundEvent>> {
        let client = &mut self.clients[reader as usize];
        let called = std::mem::take(&mut client.classic.called_back) > 0;
        if !called && self.call_back(reader) {
            let client = &mut self.clients[reader as usize];
            client.classic.called_back = 1;
            return Ok(Some(event));
        }
        match event {
            BackgroundEvent::Revoked(resolved) => {
                self.clients[reader as usize].membership.called_back =
                    Some(BackgroundEvent::Revoked(resolved));
            }
            BackgroundEvent::Assigned(resolved) => {
                // New partitions return no records before `onPartitionsAssigned` has finished.
                self.own(reader, resolved.places.clone());
                let client = &mut self.clients[reader as usize];
                if client.listener_ms().is_some() {
                    client.membership.called_back = Some(BackgroundEvent::Assigned(resolved));
                } else {
                    self.assigned(reader, resolved);
                }
            }
            BackgroundEvent::Lost => {
                self.lost(reader);
                if self.clients[reader as usize].membership.state == MemberState::Stale {
                    self.join_consumer(reader);
                }
                self.run_once(reader)?;
            }
        }
        Ok(None)
    }

    /// Whether the application has something to do in a pass.
    pub(super) fn has_work_consumer(&self, reader: Reader) -> bool {
        let client = &self.clients[reader as usize];
        let waits = client.error.is_some() || client.membership.has_work();
        let asks = client.positions.at.is_none() && client.initializing().next().is_some();
        waits || asks || client.polls_too_seldom()
    }

    /// Whether the network thread is quick enough to react within the pass that tells it.
    pub(super) fn race_is_fast(&mut self) -> bool {
        match &mut self.race {
            Race::Slow => false,
            Race::Fast => true,
            // One in ten, as seen with a real broker.
            Race::Drawn(random) => random.next_int(10) == 0,
        }
    }

    /// `close()`: tells the coordinator in a last heartbeat. A dynamic member leaves in spite of `REMAIN_IN_GROUP`; a
    /// consumer that is in no group sends nothing.
    pub(super) fn close_consumer(&mut self, reader: Reader, says_so: Option<bool>) -> Result<()> {
        let client = &self.clients[reader as usize];
        if client.membership.skips_heartbeats() {
            return Ok(());
        }
        let stays = client.is_static() && says_so != Some(true);
        self.send(reader, if stays { -2 } else { -1 })
    }

    /// Whether the answer to a member's heartbeat matters even if it says nothing new, because another heartbeat waits
    /// for it.
    pub(super) fn is_reconciling(&self, reader: Reader) -> bool {
        let state = self.clients[reader as usize].membership.state;
        !matches!(state, MemberState::Stable | MemberState::Unsubscribed)
    }

    pub(super) fn consumer_is_quiet(&self, group: &consumer::Group) -> bool {
        let alive = self.clients.iter().filter(|client| client.alive);
        matches!(group.state(), "Stable" | "Empty")
            && (!group.is_stale() || group.size() == 0)
            && group.size() == alive.clone().count()
            && alive.into_iter().all(|client| {
                let member = group.member(&client.id);
                client.membership.state == MemberState::Stable
                    && client.membership.events.is_empty()
                    && client.is_subscribed_as_told()
                    && member.is_some_and(|member| {
                        member.epoch == client.generation
                            && member.assigned.places().eq(client.owned.iter().copied())
                    })
            })
    }
}

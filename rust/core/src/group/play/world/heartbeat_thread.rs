//! A classic member's heartbeat thread: it sends heartbeats, and notices if the application polls too seldom
//! (`HeartbeatThread`, `Heartbeat`).

use std::sync::Arc;

use super::super::super::classic::Request;
use super::super::super::error_code::Code;
use super::application::RETRY_BACKOFF_MS;
use super::classic_member::{JoinFuture, MemberState, Prepare};
use super::client::Asked;
use super::ledger::Reader;
use super::{Todo, World};
use crate::Result;

/// `retry.backoff.max.ms`.
const RETRY_BACKOFF_MAX_MS: i64 = 1_000;

impl World {
    /// Switches the thread on. It sends its first heartbeat one interval after the answer to `JoinGroup`.
    pub(super) fn enable_heartbeats(&mut self, reader: Reader) {
        // An idle application first waits for the answer to `SyncGroup`; only then does the thread have the network.
        let client = &mut self.clients[reader as usize];
        let ends = client.app.end_of(client.app.last_poll(self.now));
        let waits = !client.is_busy && client.app.is_inside(self.now) && self.now < ends;
        client.classic.looks_since = Some(if waits { self.now - RETRY_BACKOFF_MS } else { self.now });
        client.classic.is_woken_by_app = client.is_busy;
        client.classic.heard = self.now;
        self.beat_next(reader);
        self.limit_polls(reader);
    }

    /// `closeHeartbeatThread`: runs before the listener is called back, and before the member leaves.
    pub(super) fn close_heartbeat_thread(&mut self, reader: Reader) {
        let client = &mut self.clients[reader as usize];
        (client.classic.looks_since, client.beat) = (None, u64::MAX);
    }

    /// Schedules the next heartbeat, `heartbeat.interval.ms` from now.
    fn beat_next(&mut self, reader: Reader) {
        let client = &mut self.clients[reader as usize];
        let interval_ms = client.config.as_ref().map_or(3_000, |it| it.heartbeat_interval_ms);
        client.classic.beat_due = self.now + interval_ms;
        self.schedule_beat(reader);
    }

    /// Schedules the next heartbeat, `after_ms` from now.
    pub(super) fn beat_later(&mut self, reader: Reader, after_ms: i64) {
        self.clients[reader as usize].classic.beat_due = self.now + after_ms;
        self.schedule_beat(reader);
    }

    /// A broker that no longer coordinates the group has refused a heartbeat (`failHeartbeat`). The thread waits for
    /// longer after each one in a row, finds the coordinator again, and then sends a heartbeat.
    pub(super) fn fail_heartbeat(&mut self, reader: Reader) {
        let member = &mut self.clients[reader as usize].classic;
        let backoff_ms = (RETRY_BACKOFF_MS << member.failed_beats.min(4)).min(RETRY_BACKOFF_MAX_MS);
        member.failed_beats += 1;
        member.is_connected = true;
        self.beat_later(reader, backoff_ms + RETRY_BACKOFF_MS);
    }

    /// The heartbeat is sent at the thread's first look once it is due, or at the application's first pass, which wakes
    /// the thread.
    fn schedule_beat(&mut self, reader: Reader) {
        let client = &self.clients[reader as usize];
        let Some(since) = client.classic.looks_since else { return };
        let due = client.classic.beat_due.max(self.now);
        let keeps_until = client.classic.keeps_network_until;
        let is_busy = client.is_busy || self.now < keeps_until;
        let polls = if due < keeps_until && due == self.now {
            keeps_until
        } else if !is_busy && due < client.app.end_of(client.app.last_poll(due)) {
            due
        } else {
            client.app.next_poll(due)
        };
        let at = polls.min(client.app.next_look(since, due, is_busy));
        let beat = self.numbered;
        self.clients[reader as usize].beat = beat;
        self.later(at, Todo::Heartbeat(reader, beat));
    }

    /// The application lets go of the network, or from now on waits for it in another way.
    pub(super) fn lets_look(&mut self, reader: Reader) {
        let client = &mut self.clients[reader as usize];
        if let Some(since) = client.classic.looks_since {
            let (last, waits) = client.app.last_look(since, self.now, client.is_busy);
            // An application that has only begun to poll, or has only returned from a callback, does not wait yet.
            let waits =
                waits && client.app.last_poll(self.now) < self.now && !client.app.has_called_back(self.now);
            client.classic.looks_since = Some(if waits { self.now } else { last });
            if waits {
                self.beat_anew(reader);
            }
        }
    }

    /// The application waits within `poll()` until `until`, and has the network for that long.
    pub(super) fn keeps_network(&mut self, reader: Reader, until: i64) {
        if !self.clients[reader as usize].is_busy {
            self.lets_look(reader);
        }
        let client = &mut self.clients[reader as usize];
        client.classic.keeps_network_until = until;
        let has_looked = client.is_busy && !client.wakes_first();
        if let Some(since) = client.classic.looks_since {
            let from = (self.now + i64::from(has_looked)).max(since + 1);
            if client.app.next_look(since, from, true) < until {
                client.classic.looks_since = Some(until);
            }
            self.beat_anew(reader);
        }
    }

    /// Reschedules a heartbeat that the application now delays, or no longer delays.
    pub(super) fn beat_anew(&mut self, reader: Reader) {
        if self.clients[reader as usize].beat != u64::MAX {
            self.schedule_beat(reader);
        }
    }

    pub(super) fn beat_classic(&mut self, reader: Reader) {
        let client = &mut self.clients[reader as usize];
        let begins = client.app.last_poll(self.now) == self.now || client.app.has_called_back(self.now);
        let is_first = begins && (!client.is_busy || client.wakes_first());
        if is_first && client.pass.is_some_and(|(at, _)| at == self.now) {
            // The application, which has waited for longer, gets the network first.
            let beat = client.beat;
            self.later(self.now, Todo::Heartbeat(reader, beat));
            return;
        }
        let look =
            client.classic.looks_since.map(|since| client.app.next_look(since, self.now, client.is_busy));
        client.classic.is_woken_by_app |= client.is_busy && look != Some(self.now);
        client.classic.looks_since = Some(self.now);
        self.beat_next(reader);
        let sender = self.sender(reader);
        self.send_classic(reader, Asked::Heartbeat, Request::Heartbeat(sender));
    }

    /// Schedules the thread's next look for answers, if the thread is on.
    pub(super) fn look_for_answers(&mut self, reader: Reader, from: i64) {
        let client = &self.clients[reader as usize];
        if let Some(since) = client.classic.looks_since {
            let look = client.app.next_look(since, from, client.is_busy);
            self.later(look, Todo::Look(reader, client.start));
        }
    }

    /// The thread handles the answers that have come. The application goes on from there in its next pass.
    pub(super) fn look_classic(&mut self, reader: Reader) -> Result<()> {
        if self.clients[reader as usize].classic.looks_since.is_some() {
            self.poll_network(reader)?;
            let client = &self.clients[reader as usize];
            let has_polled = i64::from(client.is_busy && client.wakes_first());
            self.pass_next(reader, self.now + has_polled);
        }
        Ok(())
    }

    /// `HeartbeatResponseHandler`.
    pub(super) fn take_beat(&mut self, reader: Reader, sent: u32, code: Code) {
        let client = &mut self.clients[reader as usize];
        match code {
            Code::RebalanceInProgress => {
                if client.classic.state == MemberState::Stable {
                    client.classic.request_rejoin("");
                }
            }
            Code::FencedInstanceId if client.classic.identity == sent => {
                self.reset_state(reader, true);
                self.clients[reader as usize].error = Some(code);
            }
            code => self.reset_on_error(reader, sent, code),
        }
    }

    /// Makes the thread look when `max.poll.interval.ms` runs out, if the application will not have polled again by
    /// then.
    pub(super) fn limit_polls(&mut self, reader: Reader) {
        let client = &self.clients[reader as usize];
        let polls_again = match client.app.stall() {
            Some((_, until)) => until,
            None if client.polls_too_seldom() => i64::MAX,
            None => client.app.in_callback(self.now).unwrap_or(i64::MIN),
        };
        // A call that is under way goes on, with its passes.
        let by = self.now.max(client.app.end_of(client.app.last_poll(self.now)));
        let over = client.last_polled(by) + client.max_poll_interval_ms();
        if polls_again > over {
            let over = over.max(self.now);
            let since = client.classic.looks_since.unwrap_or(over);
            let look = client.app.next_look(since, over, client.is_busy);
            self.later(look, Todo::PollLimit(reader, client.start));
        }
    }

    /// `handlePollTimeoutExpiry`: a dynamic member leaves the group; a static one just falls silent. Either forgets its
    /// ID, and returns no more records of its partitions.
    pub(super) fn poll_limit_classic(&mut self, reader: Reader) -> Result<()> {
        let client = &self.clients[reader as usize];
        let over = client.last_polled(self.now) + client.max_poll_interval_ms();
        if client.classic.looks_since.is_none() || over > self.now {
            return Ok(());
        }
        self.poll_network(reader)?;
        let client = &self.clients[reader as usize];
        let leaves = !client.is_static() && !client.id.is_empty();
        let leave = Request::Leave(vec![(Arc::clone(&client.id), None)]);
        if leaves {
            self.send_classic(reader, Asked::Leave, leave);
        }
        self.reset_state(reader, true);
        self.pass_next(reader, self.now);
        Ok(())
    }

    /// Whether the application has something to do in a pass.
    pub(super) fn has_work_classic(&self, reader: Reader) -> bool {
        let client = &self.clients[reader as usize];
        let member = &client.classic;
        let awaits_commit = member.prepare == Prepare::Commits && member.commit.is_none();
        let rejoins = match member.join {
            JoinFuture::Done(_) | JoinFuture::Failed(_) => true,
            JoinFuture::Pending => false,
            JoinFuture::None => {
                let changed = member.has_seen_changes || !client.is_subscribed_as_told();
                !awaits_commit && (member.rejoin_needed || changed)
            }
        };
        rejoins || client.error.is_some() || !client.inbox.is_empty() || client.polls_too_seldom()
    }
}

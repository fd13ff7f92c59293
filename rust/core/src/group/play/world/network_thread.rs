//! The network thread of a KIP-848 member: its turns, and when it wakes (`ConsumerNetworkThread`).
//!
//! In a turn, the thread handles the application's events, lets the managers send, and waits. An event from
//! the application, an answer or a timeout ends the wait. Turns in which nothing happens are not played. They
//! are made up for when their times are needed.

use super::super::super::consumer::Place;
use super::super::super::error_code::Code;
use super::application::RETRY_BACKOFF_MS;
use super::ledger::Reader;
use super::membership::MemberState;
use super::metadata::NEAR_MS;
use super::{Coordinator, Todo, World};
use crate::Result;

/// The thread wakes at least this often.
pub(super) const MAX_POLL_TIMEOUT_MS: i64 = 5_000;
/// How long `Fetch` takes, and `ListOffsets`. Once a client has the group's offsets, it sends `Fetch`; if the
/// group has none, it sends `ListOffsets` first.
const FETCHES_MS: i64 = 1;
/// How long a client takes to connect to a broker before its first such request.
pub(super) const CONNECTS_MS: i64 = 1;

impl World {
    /// Runs a turn: first the heartbeat manager, then the membership manager.
    pub(super) fn run_once(&mut self, reader: Reader) -> Result<()> {
        self.find_positions(reader);
        self.end_turn(reader);
        self.hear_of_callback(reader);
        self.poll_managers(reader)
    }

    /// Lets the managers do their part of a turn.
    pub(super) fn poll_managers(&mut self, reader: Reader) -> Result<()> {
        let now = self.now;
        let client = &self.clients[reader as usize];
        let member = &client.membership;
        if member.skips_heartbeats() {
            return Ok(());
        }
        if client.polls_by(now) <= now {
            return self.leave_stale(reader);
        }
        if client.finds_at > now {
            self.wake_by(reader, client.finds_at);
            return Ok(());
        }
        if !member.in_flight && (member.heartbeats_now() || member.due <= now) {
            let epoch = client.generation;
            self.send(reader, epoch)?;
            // A turn that sends something does not wait.
            self.end_turn(reader);
        }
        let is_idle = !self.clients[reader as usize].is_busy;
        self.maybe_reconcile(reader, false)?;
        if is_idle {
            self.wakes_at_end(reader);
        }
        self.wake_later(reader);
        Ok(())
    }

    /// Ends a turn's wait at this instant, and begins the next turn.
    pub(super) fn end_turn(&mut self, reader: Reader) {
        self.make_up_turns(reader);
        self.next_turn(reader, self.now);
    }

    /// Makes up for the turns in which nothing happened: at polls, at answers to fetches, and at the answer
    /// to the last heartbeat.
    pub(super) fn make_up_turns(&mut self, reader: Reader) {
        let client = &self.clients[reader as usize];
        let member = &client.membership;
        let answered = member.sent + self.latency_ms;
        let last = client.last_pass(self.now - 1);
        let before = client.last_pass(last - 1);
        let fetched = i64::from(client.is_busy);
        // An idle call of an older version wakes the thread once more when it ends (`collectFetch`).
        let wakes_at_end = client.version.waits_for_thread() && !client.is_busy;
        let ends = |call| if wakes_at_end { client.app.end_of(call) } else { call + fetched };
        let mut turns = [before, ends(before), last, ends(last), answered];
        turns.sort_unstable();
        for at in turns {
            if at > self.clients[reader as usize].membership.woke && at < self.now {
                self.next_turn(reader, at);
            }
        }
    }

    fn next_turn(&mut self, reader: Reader, at: i64) {
        let waits = self.maximum_time_to_wait(reader, at);
        let member = &mut self.clients[reader as usize].membership;
        member.looked = member.looked.max(member.woke);
        (member.maximum_time_to_wait, member.woke) = (waits, at);
    }

    /// How long the application may wait. The managers say so when a turn ends, but count from when it began.
    fn maximum_time_to_wait(&self, reader: Reader, ends: i64) -> i64 {
        let client = &self.clients[reader as usize];
        let member = &client.membership;
        let began = member.woke;
        let knows_coordinator = client.finds_at <= began;
        let rests = !client.version.spins();
        let commits = match self.commits_at(reader, ends) {
            None => i64::MAX,
            Some(_) if !knows_coordinator && rests => RETRY_BACKOFF_MS,
            Some(at) if member.committing_since.is_some() && at <= began + 1 && rests => MAX_POLL_TIMEOUT_MS,
            Some(at) => (at - began).max(0),
        };
        let polls_by = client.polls_by(ends);
        let heartbeats = match member.state {
            MemberState::Unsubscribed | MemberState::Fatal if rests => i64::MAX,
            _ if polls_by <= began => 0,
            _ if rests && (!knows_coordinator || member.skips_heartbeats()) => RETRY_BACKOFF_MS,
            _ if member.heartbeats_now() && !member.in_flight => 0,
            _ => ((polls_by - began) / 2).min((member.due - began).max(0)),
        };
        commits.min(heartbeats)
    }

    /// When the auto-commit timer expires, given the polls before `by`; `None` if there is no such timer.
    pub(super) fn commits_at(&self, reader: Reader, by: i64) -> Option<i64> {
        let client = &self.clients[reader as usize];
        let interval_ms = client.config.as_ref()?.auto_commit_interval_ms?;
        let (last, polled) = (client.last_pass(by - 1), client.membership.polled);
        let last = if last < by { last.max(polled) } else { polled };
        let at = client.last_auto_commit(last).or(client.commits_since)? + interval_ms;
        // In a long call, later passes commit, too.
        let is_ahead = client.is_busy || at > last;
        Some(if is_ahead { at } else { client.app.next_pass(at, false) + interval_ms })
    }

    /// Commits what was read, if a commit is due. The answer wakes the thread, which may then have something
    /// to acknowledge. Returns whether it sends anything.
    pub(super) fn maybe_auto_commit_async(&mut self, reader: Reader) -> bool {
        let now = self.now;
        self.clients[reader as usize].membership.looked = now;
        let is_due = self.commits_at(reader, now).is_some_and(|at| at <= now);
        let client = &mut self.clients[reader as usize];
        let interval_ms = client.config.as_ref().and_then(|config| config.auto_commit_interval_ms);
        if is_due && let Some(interval_ms) = interval_ms {
            if client.membership.committing_since.is_some() {
                // While a reconciliation's commit is under way, no other commit is sent. A later event sends it.
                client.commits_since = Some(now + 1 - interval_ms);
                return false;
            }
            (client.commits_since, client.committed) = (Some(now), client.committed.max(now));
        }
        let client = &self.clients[reader as usize];
        let commits = is_due && client.has_consumed();
        if commits && client.membership.state != MemberState::Stable {
            self.wake_by(reader, now + self.latency_ms);
        }
        commits
    }

    /// The topics' metadata is due. That wakes the thread, and so does the answer; each time, the thread sees
    /// to everything else, too. Nothing else is sent before the metadata request (`NetworkClient.isReady`),
    /// which a client sends later if it has to connect first.
    pub(super) fn looks_for_all(&mut self, reader: Reader) -> Result<()> {
        let (now, connects_ms) = (self.now, self.connects_ms(reader));
        self.connects(reader);
        self.wake_by(reader, now + connects_ms + NEAR_MS);
        if connects_ms == 0 {
            return self.run_once(reader);
        }
        self.clients[reader as usize].membership.generated = Some(now);
        self.wake_by(reader, now + connects_ms);
        Ok(())
    }

    /// How long a client takes to connect to its partitions' brokers.
    pub(super) fn connects_ms(&self, reader: Reader) -> i64 {
        if self.clients[reader as usize].positions.are_near { 0 } else { CONNECTS_MS }
    }

    /// Connects a client to its partitions' brokers, so that it need not connect when it fetches.
    fn connects(&mut self, reader: Reader) {
        let now = self.now;
        let positions = &mut self.clients[reader as usize].positions;
        let was_near = std::mem::replace(&mut positions.are_near, true);
        if let Some(at) = positions.at.filter(|at| !was_near && *at > now + CONNECTS_MS + 2 * FETCHES_MS) {
            positions.at = Some(at - CONNECTS_MS);
            self.wake_by(reader, at - CONNECTS_MS);
        }
    }

    /// The error with which the coordinator would refuse a member's `OffsetFetch`, if it would.
    fn refuses_offsets(&self, reader: Reader) -> Option<Code> {
        let Some(Coordinator::Consumer(group)) = &self.coordinator else { return None };
        let client = &self.clients[reader as usize];
        if client.generation <= 0 {
            // A client without an epoch asks as one outside the group (`notifyEpochChange(Optional.empty())`).
            return None;
        }
        match group.member(&client.id) {
            None => Some(Code::UnknownMemberId),
            Some(member) if member.epoch != client.generation => Some(Code::StaleMemberEpoch),
            Some(_) => None,
        }
    }

    /// Requests the positions of new partitions.
    pub(super) fn update_fetch_positions(&mut self, reader: Reader) {
        let client = &self.clients[reader as usize];
        let asked: Vec<Place> = client.initializing().collect();
        if asked.is_empty() || client.positions.at.is_some() {
            return;
        }
        let offsets_ms = if client.positions.are_committed { 0 } else { self.latency_ms };
        let connects_ms = self.connects_ms(reader);
        let mut led = asked.iter().filter(|place| client.knows_leader(**place)).peekable();
        let finds_some = led.peek().is_some();
        let lists = !led.all(|place| self.ledger.is_committed(*place));
        // Nothing is fetched from partitions whose callback is due.
        let fetches = client.positions.early.is_empty();
        let requests = i64::from(lists) + i64::from(fetches);
        let fetches_ms = if finds_some && requests > 0 { connects_ms + requests * FETCHES_MS } else { 0 };
        let refused = if offsets_ms > 0 { self.refuses_offsets(reader) } else { None };
        let at = self.now
            + match refused {
                // The client repeats the request with the epoch that it has received meanwhile.
                Some(Code::StaleMemberEpoch) => offsets_ms + RETRY_BACKOFF_MS + offsets_ms + fetches_ms,
                Some(_) => offsets_ms,
                None => offsets_ms + fetches_ms,
            };
        let positions = &mut self.clients[reader as usize].positions;
        (positions.asked, positions.at, positions.lists) = (asked, Some(at), lists);
        positions.refused = refused.filter(|code| *code != Code::StaleMemberEpoch);
        self.wake_by(reader, at);
        // A turn that sends something does not wait.
        self.end_turn(reader);
    }

    /// The client knows its positions and has records, so a `poll()` that waits for records returns.
    fn find_positions(&mut self, reader: Reader) {
        let now = self.now;
        let client = &mut self.clients[reader as usize];
        if client.positions.at.is_none_or(|at| at > now) {
            return;
        }
        if client.pass.is_some_and(|(at, _)| at == now) && !client.version.waits_for_thread() {
            // The application has waited for longer, so it goes first.
            self.wake_by(reader, now);
            return;
        }
        client.positions.at = None;
        if let Some(code) = client.positions.refused.take() {
            // `poll()` throws this error.
            client.error = Some(code);
            self.pass_at(reader, now);
            return;
        }
        let asked = std::mem::take(&mut client.positions.asked);
        let (led, unled): (Vec<Place>, Vec<Place>) =
            asked.into_iter().partition(|place| client.knows_leader(*place));
        client.positions.unknown.retain(|place| led.binary_search(place).is_err());
        for &place in &led {
            if self.clients[reader as usize].owned.binary_search(&place).is_ok() {
                self.ledger.locate(place, reader, now);
            }
        }
        let client = &mut self.clients[reader as usize];
        if !unled.is_empty() {
            // `Leader for partition is unknown`: the client requests newer metadata, and tries again with the
            // next poll's event.
            if !std::mem::replace(&mut client.positions.are_committed, true) {
                self.look_after(reader, 1);
            }
            self.pass_next(reader, now + 1);
        }
        if led.is_empty() {
            self.goes_on(reader);
            return;
        }
        let client = &mut self.clients[reader as usize];
        client.positions.are_near = true;
        // Whether the application waits for records. A callback that keeps it simply goes on.
        let awaits = !client.is_busy && client.app.in_callback(now).is_none();
        self.sees_records(reader);
        if awaits && self.clients[reader as usize].is_busy {
            let client = &mut self.clients[reader as usize];
            client.membership.next_pass = None;
            client.pass = None;
            client.app.stays_inside(client.membership.call, now);
            self.pass_next(reader, now + 1);
        } else {
            self.goes_on(reader);
        }
    }

    /// Threads that wake at the same instant run in the order in which they began to wait.
    pub(super) fn wake_together(&mut self, first: Reader) -> Result<()> {
        let mut woken = vec![first];
        while let Some((reader, beat)) = self.also_wakes() {
            let client = &self.clients[reader as usize];
            if client.alive && client.beat == beat {
                woken.push(reader);
            }
        }
        let (now, beat) = (self.now, self.numbered);
        for &reader in &woken {
            if self.application_is_first(reader) {
                self.clients[reader as usize].beat = beat;
                self.later(now, Todo::Heartbeat(reader, beat));
            }
        }
        woken.retain(|&reader| self.clients[reader as usize].beat != beat);
        if woken.len() > 1 {
            for &reader in &woken {
                self.make_up_turns(reader);
            }
            woken.sort_by_key(|&reader| self.clients[reader as usize].membership.woke);
        }
        woken.into_iter().try_for_each(|reader| self.run_once(reader))
    }

    /// Schedules the thread to wake for its next heartbeat.
    fn wake_later(&mut self, reader: Reader) {
        let (now, beat) = (self.now, self.numbered);
        let client = &mut self.clients[reader as usize];
        let due = if client.membership.in_flight { i64::MAX } else { client.membership.due };
        client.beat = beat;
        self.later(due.min(now + MAX_POLL_TIMEOUT_MS).max(now + 1), Todo::Heartbeat(reader, beat));
    }

    /// Schedules the thread to wake for something else, in addition to its next heartbeat.
    pub(super) fn wake_by(&mut self, reader: Reader, at: i64) {
        let start = self.clients[reader as usize].start;
        self.later(at, Todo::Look(reader, start));
    }
}

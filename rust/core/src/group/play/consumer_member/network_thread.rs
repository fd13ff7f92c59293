//! The network thread of a KIP-848 member: its turns, and when it wakes (`ConsumerNetworkThread`).
//!
//! In a turn, the thread handles the application's events, lets the managers send, and waits. An event from the
//! application, an answer or a timeout ends the wait. Turns in which nothing happens are not played.

use super::super::application::RETRY_BACKOFF_MS;
use super::{ConsumerMember, ConsumerStep, Fact, MemberState, Timer};

/// The thread wakes at least this often.
pub(super) const MAX_POLL_TIMEOUT_MS: i64 = 5_000;

/// What the thread remembers of its turns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turns {
    /// When the last one began.
    pub began: i64,
    /// When the thread last looked at its commit timer: at an event, or at the end of a turn, as of its begin.
    pub saw_commit_timer: i64,
    /// How long the application may wait, as the turn before said (`cachedMaximumTimeToWait`).
    pub maximum_time_to_wait_ms: i64,
}

impl ConsumerMember {
    /// A turn of the thread (`runOnce`): first what has come, then the managers.
    pub(super) fn run_once(&mut self, step: &mut ConsumerStep<'_>) {
        self.find_positions(step);
        self.end_turn(step.now);
        self.hear_of_callback(step);
        self.poll_managers(step);
    }

    /// The managers' part of a turn: the heartbeat manager's, then the membership manager's.
    pub(super) fn poll_managers(&mut self, step: &mut ConsumerStep<'_>) {
        let now = step.now;
        if self.membership.skips_heartbeats() {
            return;
        }
        if self.polls_by(now) <= now {
            self.leave_stale(step);
            return;
        }
        if self.finds_coordinator_at > now {
            step.wake(Timer::Heartbeat, self.finds_coordinator_at);
            return;
        }
        if !self.heartbeats.in_flight && (self.membership.heartbeats_now() || self.heartbeats.due <= now) {
            self.send_heartbeat(self.epoch, step);
            // A turn that sends something does not wait.
            self.end_turn(now);
        }
        self.maybe_reconcile(false, step);
        let due = if self.heartbeats.in_flight { i64::MAX } else { self.heartbeats.due };
        step.wake(Timer::Heartbeat, due.min(now + MAX_POLL_TIMEOUT_MS).max(now + 1));
    }

    /// Ends a turn's wait at this instant, and begins the next turn.
    pub(super) fn end_turn(&mut self, now: i64) {
        let waits_ms = self.maximum_time_to_wait_ms(now);
        let saw_commit_timer = self.turns.saw_commit_timer.max(self.turns.began);
        self.turns = Turns { began: now, saw_commit_timer, maximum_time_to_wait_ms: waits_ms };
    }

    /// How long the application may wait. The managers say so when a turn ends, but count from when it began.
    fn maximum_time_to_wait_ms(&self, ends: i64) -> i64 {
        let began = self.turns.began;
        let waits = !self.is_so(Fact::Spins);
        let commits_ms = match self.commits_at(ends) {
            None => i64::MAX,
            Some(_) if waits && self.finds_coordinator_at > began => RETRY_BACKOFF_MS,
            Some(at) if waits && self.commit_sent_at.is_some() && at <= began + 1 => MAX_POLL_TIMEOUT_MS,
            Some(at) => (at - began).max(0),
        };
        let heartbeats_ms = match self.membership.state {
            MemberState::Unsubscribed | MemberState::Fatal if waits => i64::MAX,
            _ if self.membership.heartbeats_now() && !self.heartbeats.in_flight => 0,
            _ => (self.heartbeats.due - began).max(0),
        };
        commits_ms.min(heartbeats_ms)
    }

    /// When `max.poll.interval.ms` is over, by what the thread has heard up to `at`.
    fn polls_by(&self, at: i64) -> i64 {
        let last = self.poll_events.last(at, &self.app, self.is_busy);
        last.saturating_add(self.config.max_poll_interval_ms)
    }

    /// Whether the thread wakes for its heartbeat just before an idle call begins: it does if it has waited for longer
    /// than the application.
    pub(super) fn wakes_before_poll(&self, now: i64) -> bool {
        let begins = !self.is_busy && self.app.last_poll(now) == now;
        begins && self.heartbeats.due == now && self.turns.began < self.app.end_of_last(now - 1)
    }

    /// When the auto-commit timer expires, by the polls before `by`; `None` if there is no such timer.
    pub(super) fn commits_at(&self, by: i64) -> Option<i64> {
        let interval_ms = self.config.auto_commit_interval_ms?;
        let last = self.app.last_pass(by - 1, self.is_busy);
        let last = if last < by { last.max(self.polled) } else { self.polled };
        let at = self.last_auto_commit(last).unwrap_or(self.commits_since) + interval_ms;
        // In a long call, later passes commit, too.
        let is_ahead = self.is_busy || at > last;
        Some(if is_ahead { at } else { self.app.next_pass(at, false) + interval_ms })
    }

    /// Commits what was read, if a commit is due (`maybeAutoCommitAsync`). The answer wakes the thread, which may then
    /// have something to acknowledge. Returns whether it sends anything.
    pub(super) fn maybe_auto_commit(&mut self, step: &mut ConsumerStep<'_>) -> bool {
        let now = step.now;
        self.turns.saw_commit_timer = now;
        let is_due = self.commits_at(now).is_some_and(|at| at <= now);
        let Some(interval_ms) = self.config.auto_commit_interval_ms.filter(|_| is_due) else { return false };
        if self.commit_sent_at.is_some() {
            // While a reconciliation's commit is under way, no other commit is sent. A later event sends it.
            self.commits_since = now + 1 - interval_ms;
            return false;
        }
        self.commits_since = now;
        step.commit(now);
        let commits = self.subscriptions.has_positions();
        if commits && self.membership.state != MemberState::Stable {
            step.wake(Timer::CommitAnswer, now + step.latency_ms);
        }
        commits
    }

    /// When it last committed automatically, at or before `at`: in the first event for the thread after
    /// `auto.commit.interval.ms` has passed. These commits are not played one by one.
    pub(super) fn last_auto_commit(&self, at: i64) -> Option<i64> {
        let interval_ms = self.config.auto_commit_interval_ms?.max(1);
        let events =
            self.poll_events.first(self.commits_since.saturating_add(interval_ms), &self.app, self.is_busy);
        let every_ms = (interval_ms + (-interval_ms).rem_euclid(events.every_ms.max(1))).max(1);
        let at = self.app.last_pass(at, self.is_busy).min(at);
        (events.first <= at).then(|| events.first + (at - events.first) / every_ms * every_ms)
    }

    /// Notes the automatic commits before `at`.
    pub(super) fn note_commits(&mut self, step: &mut ConsumerStep<'_>) {
        if let Some(last) = self.last_auto_commit(step.now - 1) {
            self.commits_since = last;
            step.commit(last);
        }
    }
}

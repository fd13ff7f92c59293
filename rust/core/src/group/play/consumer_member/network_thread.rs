//! The network thread of a KIP-848 member: its turns, and when it wakes (`ConsumerNetworkThread`).
//!
//! In a turn, the thread handles the application's events, lets the managers send, and waits. An event from the
//! application, an answer or a timeout ends the wait. Turns for fetches that change nothing are not played.

use std::sync::Arc;

use super::super::super::consumer::ConsumerGroupRequest as Request;
use super::super::member::Api;
use super::{ConsumerMember, ConsumerStep, Fact, MemberState, Timer};

/// The thread wakes at least this often.
pub(super) const MAX_POLL_TIMEOUT_MS: i64 = 5_000;

/// What the thread remembers of its turns.
#[derive(Clone, Copy, Debug, Default)]
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
        if self.polled.saturating_add(self.config.max_poll_interval_ms) <= now {
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

    /// Whether the thread has waited for longer than the application: a busy one's fetch has woken it later. If both wake
    /// at the same instant, it goes first.
    pub(super) fn thread_wakes_first(&self) -> bool {
        !self.is_busy && self.turns.began < self.app.end_of(self.call)
    }

    /// Ends a turn's wait at this instant, and begins the next turn.
    pub(super) fn end_turn(&mut self, now: i64) {
        let waits_ms = self.maximum_time_to_wait_ms();
        let saw_commit_timer = self.turns.saw_commit_timer.max(self.turns.began);
        self.turns = Turns { began: now, saw_commit_timer, maximum_time_to_wait_ms: waits_ms };
    }

    /// How long the application may wait. The managers say so when a turn ends, but count from when it began.
    fn maximum_time_to_wait_ms(&self) -> i64 {
        let began = self.turns.began;
        let waits = !self.is_so(Fact::SPINS);
        let commits_ms = match self.commits_at() {
            None => i64::MAX,
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

    /// When the auto-commit timer expires; `None` if there is no such timer.
    fn commits_at(&self) -> Option<i64> {
        Some(self.commits_since.saturating_add(self.config.auto_commit_interval_ms?))
    }

    /// Commits what was read, if a commit is due (`maybeAutoCommitAsync`). The answer wakes the thread, which may then
    /// have something to acknowledge. Returns whether it sends anything.
    pub(super) fn maybe_auto_commit(&mut self, step: &mut ConsumerStep<'_>) -> bool {
        let now = step.now;
        self.turns.saw_commit_timer = now;
        // While a reconciliation's commit is under way, no other commit is sent. A later event sends it.
        if self.commits_at().is_none_or(|at| at > now) || self.commit_sent_at.is_some() {
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

    /// A commit that the script asks for.
    pub(super) fn commit_for_script(&self, epoch: Option<i32>, step: &mut ConsumerStep<'_>) {
        let owned = self.subscriptions.assigned.clone();
        let commit = Request::Commit(Arc::clone(&self.id), epoch.unwrap_or(self.epoch), owned);
        step.send(self.sent(Api::ScriptCommit, step.now), commit);
    }
}

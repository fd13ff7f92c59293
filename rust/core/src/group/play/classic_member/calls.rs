//! What a script makes a classic member do: stall, subscribe, commit, close, crash.

use std::sync::Arc;

use super::super::super::classic::ClassicGroupRequest as Request;
use super::super::member::{Api, Effect};
use super::{ClassicMember, ClassicStep, MemberState, Timer};
use crate::Result;

impl ClassicMember {
    pub(super) fn stall(&mut self, for_ms: i64, step: &mut ClassicStep<'_>) {
        step.wake(Timer::Stall, self.app.stalls(step.now, for_ms));
        self.schedule_heartbeat(step);
        self.limit_poll_interval(step);
    }

    /// Ends a stall: the application polls, and this poll commits what it had read before the stall.
    pub(super) fn resume(&mut self, step: &mut ClassicStep<'_>) {
        let now = step.now;
        let Some(stall) = self.app.resumes(now) else {
            self.poll_next(now, step);
            return;
        };
        if self.config.auto_commits() {
            step.commit(stall.since);
            self.commits_since = now;
        }
        self.poll_at(now, step);
    }

    pub(super) fn subscribe(&mut self, topics: Arc<[u32]>, step: &mut ClassicStep<'_>) {
        // A consumer that has lost its membership returns no records before it has joined again.
        let (reads_again, progress) = (self.generation >= 0, self.progress(step.now));
        self.subscriptions.subscribe(topics, reads_again, progress, step);
        self.refresh_metadata(step);
        self.see_records(step);
        self.poll_next(step.now, step);
    }

    /// `close()`: commits what was read, and calls the listener back. If a callback runs, it comes after that.
    pub(super) fn close(&mut self, leaves: Option<bool>, step: &mut ClassicStep<'_>) -> Result<()> {
        let now = step.now;
        if let Some(until) = self.app.in_callback(now) {
            self.close_later = leaves;
            step.wake(Timer::Close, until);
            return Ok(());
        }
        self.app.closes(now, leaves);
        let mut takes_ms = 0;
        if !self.subscriptions.assigned.is_empty() {
            takes_ms += self.config.listener_ms.unwrap_or(0);
            if self.config.auto_commits() && self.subscriptions.has_positions() {
                takes_ms += self.commit_on_close(step)?;
            }
        }
        self.disable_heartbeats(step);
        if takes_ms == 0 {
            self.closed(step);
        } else {
            step.wake(Timer::Closed, now + takes_ms);
        }
        Ok(())
    }

    /// Commits, and returns how long this takes. Only a member of a stable group sends the commit. Any other handles the
    /// answers that have come by then, and if it leads, it may have to look at the topics before it goes on.
    fn commit_on_close(&mut self, step: &mut ClassicStep<'_>) -> Result<i64> {
        if self.state == MemberState::Stable {
            step.send(self.sent(Api::OffsetCommit, step.now), Request::Commit(self.sender()));
            return Ok(step.latency_ms);
        }
        self.handle_answers(step)?;
        Ok(self.elected.as_ref().map_or(0, |elected| elected.at - step.now))
    }

    /// Finishes `close()`: the member leaves the group (`maybeLeaveGroup`), or does not. One that polled too seldom, or
    /// that the coordinator no longer knows, has already left.
    pub(super) fn closed(&mut self, step: &mut ClassicStep<'_>) {
        let leaves = self.app.closing.and_then(|closing| closing.leaves).unwrap_or(!self.config.is_static());
        if leaves && self.state != MemberState::Unjoined && !self.id.is_empty() {
            let leave = Request::Leave(vec![(Arc::clone(&self.id), None)]);
            step.send(self.sent(Api::LeaveGroup, step.now), leave);
        }
        self.end(None, step);
    }

    /// It vanishes. Its automatic commits, which are not played one by one, are a sign of life to the coordinator, so that
    /// its session counts from the last of them.
    pub(super) fn crash(&mut self, step: &mut ClassicStep<'_>) {
        // In a callback it has not polled since that began.
        let polled = self.app.in_callback(step.now).map(|_| self.app.last_poll(step.now));
        let by = polled.unwrap_or(i64::MAX).min(self.app.read_by(step.now));
        if let Some(last) = self.last_auto_commit(by).filter(|_| !self.subscriptions.assigned.is_empty()) {
            step.effects.push(Effect::Heard(last));
        }
        self.end(None, step);
    }

    pub(super) fn commit_for_script(&self, generation: Option<i32>, step: &mut ClassicStep<'_>) {
        let mut sender = self.sender();
        sender.generation = generation.unwrap_or(sender.generation);
        step.send(self.sent(Api::ScriptCommit, step.now), Request::Commit(sender));
    }
}

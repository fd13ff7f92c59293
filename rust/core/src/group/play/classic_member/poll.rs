//! A classic member's `poll()`: what its application does in a pass, and who handles the answers that come
//! (`ClassicKafkaConsumer`, `ConsumerNetworkClient`).

use super::super::super::classic::Response;
use super::super::super::error_code::Code;
use super::super::application::RETRY_BACKOFF_MS;
use super::super::member::{AnswerOf, Api, Member, Sent};
use super::{ClassicMember, ClassicStep, JoinFuture, Timer};
use crate::Result;

impl ClassicMember {
    /// Schedules a pass of the application's `poll()`, unless one is already scheduled by then.
    pub(super) fn poll_at(&mut self, at: i64, step: &mut ClassicStep<'_>) {
        if self.next_pass.is_none_or(|pass| pass > at) {
            self.next_pass = Some(at);
            step.wake(Timer::Poll, at);
        }
    }

    /// Schedules the application's next pass at or after `from`, if there is anything to do.
    pub(super) fn poll_next(&mut self, from: i64, step: &mut ClassicStep<'_>) {
        if self.has_work() {
            self.poll_at(self.app.next_pass(from, self.is_busy), step);
        }
    }

    /// Whether the application has something to do in a pass.
    fn has_work(&self) -> bool {
        let rejoins = match self.join_future {
            JoinFuture::Done(_) | JoinFuture::Failed(_) => true,
            JoinFuture::Pending => false,
            JoinFuture::None => self.rejoin_needed || self.has_seen_changes || !self.subscriptions.is_sent(),
        };
        rejoins || self.error.is_some() || !self.inbox.is_empty() || self.polls_too_seldom()
    }

    /// A scheduled pass. A callback puts it off, and a stall cancels it, unless that began in a callback: then the
    /// application still goes on within `poll()`.
    pub(super) fn pass(&mut self, step: &mut ClassicStep<'_>) -> Result<()> {
        self.next_pass = None;
        let now = step.now;
        if self.app.closing.is_some() || self.app.stall.is_some() && !self.app.has_called_back(now) {
            return Ok(());
        }
        if let Some(until) = self.app.in_callback(now) {
            self.poll_at(until, step);
            return Ok(());
        }
        self.poll(step)
    }

    /// A pass of `poll()`.
    pub(super) fn poll(&mut self, step: &mut ClassicStep<'_>) -> Result<()> {
        let now = step.now;
        if self.await_coordinator(step) {
            return Ok(());
        }
        if self.find_positions(step) {
            self.poll_next(now + 1, step);
            return Ok(());
        }
        if !self.is_busy {
            // If it was inside `poll()`, it has waited for answers since its last pass.
            self.handle_answers(step)?;
            if self.poll_ends(now) {
                self.poll_next(now + 1, step);
                return Ok(());
            }
        }
        if let Some(code) = self.error {
            self.end(Some(code), step);
            return Ok(());
        }
        let has_joined = self.join_group_if_needed(step)?;
        if step.has_ended() || !has_joined && self.await_coordinator(step) {
            return Ok(());
        }
        if has_joined {
            self.update_fetch_positions(step);
        }
        self.limit_poll_interval(step);
        match self.app.in_callback(now) {
            Some(until) => self.poll_at(until, step),
            None => self.poll_next(now + 1, step),
        }
        Ok(())
    }

    /// `ensureCoordinatorReady`: whether the application has yet to find the coordinator.
    fn await_coordinator(&mut self, step: &mut ClassicStep<'_>) -> bool {
        let awaits = self.finds_coordinator_at > step.now;
        if awaits {
            self.poll_at(self.finds_coordinator_at, step);
        }
        awaits
    }

    /// Whether an idle `poll()` ends at this instant. Answers that come now are handled, but cause no further pass.
    fn poll_ends(&self, now: i64) -> bool {
        now >= self.app.end_of_last(now) && self.app.next_poll(now) > now && !self.app.has_called_back(now)
    }

    /// Whether an idle application waits inside `poll()`, and goes round at once if an answer comes.
    pub(super) fn waits_inside(&self, now: i64) -> bool {
        !self.is_busy && self.app.is_inside(now) && self.app.in_callback(now).is_none()
    }

    /// When one of the two threads has the network, at or after `from`.
    pub(super) fn has_network_at(&self, from: i64) -> i64 {
        if !self.is_busy && from < self.app.end_of_last(from) {
            return from;
        }
        self.next_look(from).unwrap_or(i64::MAX).min(self.app.next_poll(from))
    }

    /// An answer reaches the member. An idle application that is inside `poll()` handles it at once; if not, whichever
    /// thread looks first does.
    pub(super) fn receive(&mut self, sent: Sent, answer: AnswerOf<Self>, step: &mut ClassicStep<'_>) {
        if sent.api == Api::Heartbeat && matches!(answer, Response::Done(Code::NotCoordinator)) {
            // The thread finds the coordinator again before it sends the next one.
            self.heartbeat_after(2 * RETRY_BACKOFF_MS, step);
            return;
        }
        if sent.api == Api::LeaveGroup || sent.api == Api::Heartbeat && !self.awaits(sent, &answer) {
            return;
        }
        self.inbox.push_back((sent, answer));
        let now = step.now;
        if self.app.in_callback(now).is_none() {
            let goes_on = if self.waits_inside(now) { now } else { self.app.next_pass(now, self.is_busy) };
            self.poll_at(goes_on, step);
        }
        if let Some(look) = self.next_look(now) {
            step.wake(Timer::Answers, look);
        }
    }

    /// Handles the answers that have come (`ConsumerNetworkClient.poll`), in either thread.
    pub(super) fn handle_answers(&mut self, step: &mut ClassicStep<'_>) -> Result<()> {
        if !self.inbox.is_empty() {
            self.let_thread_look(step);
        }
        while let Some((sent, answer)) = self.inbox.pop_front() {
            match answer {
                Response::Joined(joined) => self.take_joined(sent, joined, step)?,
                Response::Synced { code, assignment, .. } => self.take_synced(sent, code, assignment, step),
                Response::Done(code) if sent.api == Api::OffsetCommit => self.take_commit(sent, code, step),
                Response::Done(code) => self.take_heartbeat(sent, code, step),
                Response::Left(..) => {}
            }
        }
        Ok(())
    }
}

//! A classic member's heartbeat thread: it sends heartbeats, handles answers, and notices if the application polls too
//! seldom (`HeartbeatThread`, `Heartbeat`).

use std::sync::Arc;

use super::super::super::classic::ClassicGroupRequest as Request;
use super::super::super::error_code::Code;
use super::super::application::RETRY_BACKOFF_MS;
use super::super::member::{Api, Sent};
use super::{ClassicMember, ClassicStep, MemberState, Timer};
use crate::Result;

/// The thread's state. It looks at the network each `retry.backoff.ms`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeartbeatThread {
    /// A time at which it looked; `None` while it is off.
    looked: Option<i64>,
    /// When the next heartbeat is due.
    due: i64,
    /// Whether an application that is still busy has woken it, and so begins to wait before it does.
    pub follows_app: bool,
}

impl ClassicMember {
    /// Switches the thread on. It sends its first heartbeat one interval after the answer to `JoinGroup`.
    pub(super) fn enable_heartbeats(&mut self, step: &mut ClassicStep<'_>) {
        let now = step.now;
        // An idle application goes on to wait for the answer to `SyncGroup`, and keeps the network meanwhile.
        let waits = !self.is_busy && now < self.app.end_of_last(now);
        self.heartbeats.looked = Some(if waits { now - RETRY_BACKOFF_MS } else { now });
        self.heartbeats.follows_app = self.is_busy;
        self.heartbeat_after(self.config.heartbeat_interval_ms, step);
        self.limit_poll_interval(step);
    }

    /// Switches the thread off: while the member joins, and when it leaves.
    pub(super) fn disable_heartbeats(&mut self, step: &mut ClassicStep<'_>) {
        self.heartbeats.looked = None;
        step.rest(Timer::Heartbeat);
    }

    /// The next heartbeat is due so much later.
    pub(super) fn heartbeat_after(&mut self, after_ms: i64, step: &mut ClassicStep<'_>) {
        self.heartbeats.due = step.now + after_ms;
        self.schedule_heartbeat(step);
    }

    /// Schedules the heartbeat that is due, if the thread is on: it is sent at the thread's first look after that, or at
    /// the application's first pass, which wakes the thread (`pollHeartbeat`).
    pub(super) fn schedule_heartbeat(&mut self, step: &mut ClassicStep<'_>) {
        let due = self.heartbeats.due.max(step.now);
        let Some(look) = self.next_look(due) else { return };
        let is_inside = !self.is_busy && due < self.app.end_of_last(due);
        let polls = if is_inside { due } else { self.app.next_poll(due) };
        step.wake(Timer::Heartbeat, look.min(polls));
    }

    pub(super) fn send_heartbeat(&mut self, step: &mut ClassicStep<'_>) {
        self.heartbeats.follows_app |= self.is_busy && self.next_look(step.now) != Some(step.now);
        self.heartbeats.looked = Some(step.now);
        self.heartbeat_after(self.config.heartbeat_interval_ms, step);
        step.send(self.sent(Api::Heartbeat, step.now), Request::Heartbeat(self.sender()));
    }

    /// The thread's last look at or before `at`, and whether its next look waits then: an idle application holds
    /// `ConsumerNetworkClient`'s lock while it waits inside of `poll()`, and the thread waits until it lets go.
    fn last_look(&self, looked: i64, at: i64) -> (i64, bool) {
        let in_step = |look: i64| at - (at - look).rem_euclid(RETRY_BACKOFF_MS);
        let poll = self.app.last_poll(at);
        // A look may have waited for the end of the call before.
        let before = self.app.last_poll(poll - 1);
        let end_before = self.app.end_of(before).min(poll);
        let waited = !self.is_busy && before < poll && look_in_step(looked, before) < end_before;
        let looked = if waited { end_before } else { looked };
        let (first, end) = (look_in_step(looked, poll), self.app.end_of(poll));
        if self.is_busy || first >= end || at < first {
            (in_step(looked), false)
        } else if at < end {
            (looked, true)
        } else {
            (in_step(end), false)
        }
    }

    /// The thread's first look at or after `from`, if it is on.
    pub(super) fn next_look(&self, from: i64) -> Option<i64> {
        let looked = self.heartbeats.looked?;
        let from = from.max(looked);
        let (look, waits) = self.last_look(looked, from);
        let end = self.app.end_of_last(from);
        let next = if look == from { from } else { look_in_step(look, from) };
        Some(if waits || !self.is_busy && look < from && next < end && from < end { end } else { next })
    }

    /// The application lets go of the network, or from now on waits for it in another way: a look that waits comes now.
    pub(super) fn let_thread_look(&mut self, step: &mut ClassicStep<'_>) {
        let now = step.now;
        if let Some(looked) = self.heartbeats.looked {
            let (last, waits) = self.last_look(looked, now);
            // An application that has only begun to poll, or has only returned from a callback, does not wait yet.
            let waits = waits && self.app.last_poll(now) < now && !self.app.has_called_back(now);
            self.heartbeats.looked = Some(if waits { now } else { last });
            if waits {
                self.schedule_heartbeat(step);
            }
        }
    }

    /// The thread handles the answers that have come. The application goes on from there in its next pass. If both wake
    /// at this instant, whichever has waited for longer is the first.
    pub(super) fn look_for_answers(&mut self, step: &mut ClassicStep<'_>) -> Result<()> {
        if self.heartbeats.looked.is_some() {
            self.handle_answers(step)?;
            let polls_first = self.app.poll_ms > RETRY_BACKOFF_MS
                || self.app.poll_ms == RETRY_BACKOFF_MS && self.heartbeats.follows_app;
            self.poll_next(step.now + i64::from(self.is_busy && polls_first), step);
        }
        Ok(())
    }

    /// `HeartbeatResponseHandler`.
    pub(super) fn take_heartbeat(&mut self, sent: Sent, code: Code, step: &mut ClassicStep<'_>) {
        match code {
            Code::RebalanceInProgress => {
                if self.state == MemberState::Stable {
                    self.request_rejoin("");
                }
            }
            Code::FencedInstanceId if self.identity == sent.identity => {
                self.reset_state(true, step);
                self.error = Some(code);
            }
            code => self.reset_state_on_error(sent, code, step),
        }
    }

    /// Whether the application polls too seldom for the group, even if nothing holds it up.
    pub(super) fn polls_too_seldom(&self) -> bool {
        self.app.poll_ms >= self.config.max_poll_interval_ms
    }

    /// When `max.poll.interval.ms` is over, by the polls up to `now`.
    fn poll_interval_ends(&self, now: i64) -> i64 {
        self.app.last_poll(now) + self.config.max_poll_interval_ms
    }

    /// Wakes the thread when `max.poll.interval.ms` runs out, if the application will not have polled again by then.
    pub(super) fn limit_poll_interval(&mut self, step: &mut ClassicStep<'_>) {
        let now = step.now;
        let polls_again = match self.app.stall {
            Some(stall) => stall.until,
            None if self.polls_too_seldom() => i64::MAX,
            None => self.app.in_callback(now).unwrap_or(i64::MIN),
        };
        let ends = self.poll_interval_ends(now);
        if polls_again > ends {
            step.wake(Timer::PollInterval, ends);
        }
    }

    /// `handlePollTimeoutExpiry`: a dynamic member leaves the group; a static one just falls silent. Either forgets its
    /// ID, and returns no more records of its partitions.
    pub(super) fn expire_poll_interval(&mut self, step: &mut ClassicStep<'_>) {
        if self.heartbeats.looked.is_none() || self.poll_interval_ends(step.now) > step.now {
            return;
        }
        if !self.config.is_static() && !self.id.is_empty() {
            let leave = Request::Leave(vec![(Arc::clone(&self.id), None)]);
            step.send(self.sent(Api::LeaveGroup, step.now), leave);
        }
        self.reset_state(true, step);
        self.poll_next(step.now, step);
    }
}

/// The first look after `look`, at or after `from`, if nothing keeps the thread waiting.
fn look_in_step(look: i64, from: i64) -> i64 {
    let from = from.max(look + 1);
    from + (look - from).rem_euclid(RETRY_BACKOFF_MS)
}

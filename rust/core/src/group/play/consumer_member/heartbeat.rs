//! KIP-848 heartbeats: when one is sent, what it says, and how its answer is handled
//! (`AbstractHeartbeatRequestManager`).

use std::sync::Arc;

use super::super::super::consumer::{ConsumerGroupRequest as Request, Heartbeat, HeartbeatAnswer as Answer};
use super::super::super::error_code::Code;
use super::super::application::RETRY_BACKOFF_MS;
use super::super::member::{Api, Sent};
use super::membership::LocalAssignment;
use super::{ConsumerMember, ConsumerStep, MemberState, Timer};

/// The member epochs that leave the group: for good, or for a while if the member is static.
const LEAVE_GROUP_MEMBER_EPOCH: i32 = -1;
const LEAVE_GROUP_STATIC_MEMBER_EPOCH: i32 = -2;

/// The state of the member's heartbeats.
#[derive(Clone, Debug, Default)]
pub(super) struct Heartbeats {
    /// `heartbeatIntervalMs`, which the member learns from the first answer.
    interval_ms: i64,
    /// When the next heartbeat is due.
    pub due: i64,
    pub in_flight: bool,
    /// The assignment that the coordinator was last sent as the member's.
    sent_assignment: Option<LocalAssignment>,
}

impl ConsumerMember {
    /// Sends a heartbeat. It leaves out what has not changed since the last one (`HeartbeatState.buildRequestData`).
    pub(super) fn send_heartbeat(&mut self, epoch: i32, step: &mut ConsumerStep<'_>) {
        let leaves = epoch < 0;
        let joins = self.membership.state == MemberState::Joining && !leaves;
        let subscribes = !leaves && (joins || !self.subscriptions.is_sent());
        let current = &self.membership.current;
        let owns = !leaves && (joins || self.heartbeats.sent_assignment != *current);
        let owned = owns.then(|| current.as_ref().map_or_else(Vec::new, |it| it.places.clone()));
        let heartbeat = Heartbeat {
            member: Arc::clone(&self.id),
            epoch,
            instance: self.config.instance.clone(),
            rack: None,
            rebalance_timeout_ms: joins.then_some(self.config.max_poll_interval_ms),
            topics: subscribes.then(|| self.subscriptions.send().to_vec()),
            assignor: self.config.remote_assignor.clone().filter(|_| joins),
            owned,
        };
        if !leaves {
            self.heartbeats.sent_assignment.clone_from(current);
            self.heartbeats.in_flight = true;
        }
        self.heartbeats.due = step.now + self.heartbeats.interval_ms;
        self.membership.acknowledge();
        // Nobody waits for the answer to the last heartbeat: it is dropped, as that to a classic `LeaveGroup`.
        let api = if leaves { Api::LeaveGroup } else { Api::ConsumerGroupHeartbeat };
        step.send(self.sent(api, step.now), Request::Heartbeat(heartbeat));
    }

    /// The member leaves because its application has polled too seldom (`max.poll.interval.ms`).
    pub(super) fn leave_stale(&mut self, step: &mut ConsumerStep<'_>) {
        let epoch =
            if self.config.is_static() { LEAVE_GROUP_STATIC_MEMBER_EPOCH } else { LEAVE_GROUP_MEMBER_EPOCH };
        self.send_heartbeat(epoch, step);
        self.epoch = epoch;
        self.heartbeats.in_flight = false;
        self.membership.current = None;
        self.forget_sent();
        step.rest(Timer::Heartbeat);
        self.lose_all(MemberState::Stale, step);
    }

    /// A consumer that is closed tells the coordinator in a last heartbeat. A dynamic member leaves in spite of
    /// `REMAIN_IN_GROUP`; a consumer that is in no group sends nothing.
    pub(super) fn leave_on_close(&mut self, leaves: Option<bool>, step: &mut ConsumerStep<'_>) {
        if !self.membership.skips_heartbeats() {
            let stays = self.config.is_static() && leaves != Some(true);
            let epoch = if stays { LEAVE_GROUP_STATIC_MEMBER_EPOCH } else { LEAVE_GROUP_MEMBER_EPOCH };
            self.send_heartbeat(epoch, step);
        }
    }

    /// From now on, heartbeats say everything anew.
    fn forget_sent(&mut self) {
        self.heartbeats.sent_assignment = None;
        self.subscriptions.sent = None;
    }

    /// An answer reaches the network thread, which handles it at once.
    pub(super) fn receive(&mut self, sent: Sent, answer: Answer, step: &mut ConsumerStep<'_>) {
        match sent.api {
            Api::OffsetCommit => {
                self.commit_sent_at = None;
                self.revoke_and_assign(step);
            }
            // An answer for a membership that it has lost since changes nothing.
            Api::ConsumerGroupHeartbeat if sent.identity == self.identity => {
                self.take_heartbeat(answer, step);
            }
            Api::ConsumerGroupHeartbeat => {}
            _ => return,
        }
        self.run_once(step);
        self.end_spin(step);
    }

    fn take_heartbeat(&mut self, answer: Answer, step: &mut ConsumerStep<'_>) {
        let heartbeats = &mut self.heartbeats;
        heartbeats.in_flight = false;
        match answer.code {
            Code::None => {
                let interval_ms = step.coordinator.group.heartbeat_interval_ms();
                if heartbeats.interval_ms != interval_ms {
                    (heartbeats.interval_ms, heartbeats.due) = (interval_ms, step.now + interval_ms);
                }
                self.take_assignment(answer);
            }
            Code::FencedMemberEpoch | Code::UnknownMemberId => {
                self.epoch = 0;
                self.identity += 1;
                self.forget_sent();
                self.lose_all(MemberState::Fenced, step);
            }
            Code::NotCoordinator => {
                heartbeats.due = step.now + RETRY_BACKOFF_MS;
                self.forget_sent();
            }
            code => {
                // The application sees this error at its next pass.
                self.error = Some(code);
                self.lose_all(MemberState::Fatal, step);
            }
        }
    }

    /// `onHeartbeatSuccess`. If it is no longer a member, the answer belongs to its former membership.
    fn take_assignment(&mut self, answer: Answer) {
        if self.membership.skips_heartbeats() {
            return;
        }
        self.epoch = answer.epoch;
        if let Some(mut places) = answer.assignment {
            places.sort_unstable();
            self.membership.receive(places);
        }
    }
}

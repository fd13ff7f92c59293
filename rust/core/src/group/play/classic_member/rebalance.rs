//! What a classic member does before it joins, and when it has joined: it commits, gives up partitions, calls its
//! listener, and takes its assignment (Java's `ConsumerCoordinator`).

use std::sync::Arc;

use super::super::super::classic::ClassicGroupRequest as Request;
use super::super::super::consumer::Place;
use super::super::super::error_code::Code;
use super::super::member::{Api, Sent};
use super::super::subscription_state::beyond;
use super::{ClassicMember, ClassicStep, GenerationAssignment, JoinPrepare, MemberState, NamedAssignor};
use crate::interned::Name;
use crate::{Result, counted};

impl ClassicMember {
    /// `onJoinPrepare`. It commits what has been read, awaits the answer, and then gives up partitions. A member with
    /// an eager assignor, or one that has lost its membership, gives up all of them. Any other gives up only those of
    /// topics that it has unsubscribed from. Returns whether it has finished.
    pub(super) fn on_join_prepare(&mut self, step: &mut ClassicStep<'_>) -> Result<bool> {
        let is_cooperative = self.is_cooperative();
        if self.join_prepare == JoinPrepare::Begins && self.config.auto_commits() {
            self.send_commit(step);
            if !is_cooperative {
                self.subscriptions.hold_back_all(self.progress(step.now), step);
                self.see_records(step);
            }
            self.join_prepare = JoinPrepare::Commits;
        }
        if self.join_prepare == JoinPrepare::Commits {
            self.handle_answers(step)?;
            if self.commit.is_none() {
                return Ok(false);
            }
        }
        let is_member = self.generation >= 0 && !self.id.is_empty();
        let assigned = &self.subscriptions.assigned;
        let kept: Vec<Place> = if is_member && is_cooperative {
            assigned.iter().copied().filter(|&(topic, _)| self.subscriptions.subscribes(topic)).collect()
        } else {
            Vec::new()
        };
        let calls = is_member && !is_cooperative || kept.len() < assigned.len();
        if calls && self.join_prepare != JoinPrepare::CalledBack {
            self.join_prepare = JoinPrepare::CalledBack;
            if self.call_back(step) {
                return Ok(false);
            }
        }
        self.assign(kept, step);
        (self.join_prepare, self.commit, self.is_leader) = (JoinPrepare::Begins, None, false);
        self.metadata.group_topics.clear();
        Ok(true)
    }

    /// Commits what has been read (`autoCommitOffsetsAsync`). Only a member of a stable group can.
    fn send_commit(&mut self, step: &mut ClassicStep<'_>) {
        self.commit = if !self.subscriptions.has_positions() {
            Some(Code::None)
        } else if self.state == MemberState::Stable {
            step.send(self.sent(Api::OffsetCommit, step.now), Request::Commit(self.sender()));
            None
        } else {
            Some(Code::RebalanceInProgress)
        };
    }

    /// `OffsetCommitResponseHandler`.
    pub(super) fn take_commit(&mut self, sent: Sent, code: Code, step: &mut ClassicStep<'_>) {
        self.commit = Some(code);
        match code {
            Code::RebalanceInProgress => self.request_rejoin(""),
            Code::FencedInstanceId => self.error = Some(code),
            code => self.reset_state_on_error(sent, code, step),
        }
    }

    /// `onJoinComplete`. Returns whether it has finished; if not, a callback holds it up.
    pub(super) fn on_join_complete(&mut self, assignment: &Arc<[Place]>, step: &mut ClassicStep<'_>) -> bool {
        self.watches_topics &= self.is_leader;
        self.has_seen_changes &= self.watches_topics;
        if assignment.iter().any(|&(topic, _)| !self.subscriptions.subscribes(topic)) {
            // `checkAssignmentMatchedSubscription`: a static member that returns with another subscription is given its
            // predecessor's assignment. It joins again, this time with a generation, which is news to the coordinator.
            self.request_rejoin("was told to read what it does not subscribe to");
            return true;
        }
        let mut places = assignment.to_vec();
        places.sort_unstable();
        let assigned = &self.subscriptions.assigned;
        let revoked = if self.named.is_downgrade { assigned.clone() } else { beyond(assigned, &places) };
        let gives_up = self.named.is_downgrade || self.is_cooperative();
        if self.callbacks_done == 0 && !revoked.is_empty() && gives_up {
            self.callbacks_done = 1;
            if self.call_back(step) {
                return false;
            }
        }
        if self.callbacks_done <= 1 {
            let generation = self.generation;
            self.last_assignment = GenerationAssignment { places: Arc::clone(assignment), generation };
            self.commits_since = step.now;
            if self.callbacks_done == 1 && !self.named.is_downgrade {
                // Others can now get the partitions that it gave up, so a second rebalance follows.
                let revoked_partitions = counted(revoked.len(), "partition", "partitions");
                self.request_rejoin(format!("gave up {revoked_partitions}"));
            }
            self.assign(places, step);
            self.callbacks_done = 2;
            if self.call_back(step) {
                return false;
            }
        }
        self.callbacks_done = 0;
        true
    }

    /// Whether it keeps its partitions while it joins. Java's consumer and sarama's (`selectRebalanceProtocol`) decide
    /// that when they start: they do if all their assignors can. franz-go follows the assignor that the coordinator
    /// named (`handleJoinResp`).
    fn is_cooperative(&self) -> bool {
        if self.follows_coordinator() {
            return self.named.is_cooperative;
        }
        self.config.assignors.iter().all(|(_, assignor)| assignor.is_cooperative())
    }

    /// Notes the assignor that the coordinator named for a generation.
    pub(super) fn note_named_assignor(&mut self, protocol: Option<&Name>) {
        let named = self.config.assignors.iter().find(|(name, _)| Some(name) == protocol);
        let is_cooperative = named.is_some_and(|(_, assignor)| assignor.is_cooperative());
        let is_downgrade = self.follows_coordinator() && self.named.is_cooperative && !is_cooperative;
        self.named = NamedAssignor { is_cooperative, is_downgrade };
    }

    /// Whether its client follows the assignor that the coordinator named.
    fn follows_coordinator(&self) -> bool {
        self.config.client.split('@').next() == Some("franz-go")
    }
}

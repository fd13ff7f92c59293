//! Reconciliation: a member reaches its target step by step, and nobody reads what another member has not given up.

use std::sync::Arc;

use super::member::State;
use super::{ConsumerGroup, ConsumerGroupMember, ConsumerGroupTimer, Heartbeat, HeldPartitions, Place};

impl ConsumerGroup {
    /// `maybeReconcile`.
    pub(super) fn reconcile(
        &mut self,
        request: &Heartbeat,
        member: &mut ConsumerGroupMember,
        changed: bool,
        has_target: bool,
        at: i64,
    ) {
        if !changed && member.is_reconciled_to(self.assignment_epoch) {
            return;
        }
        let before = member.clone();
        let owned = request.owned.as_deref();
        match member.state {
            State::Stable if member.epoch != self.assignment_epoch => self.next(request, member, has_target),
            State::Stable if changed => self.drop_unsubscribed(owned, member),
            State::Stable => {}
            State::UnrevokedPartitions if owns_any(owned, &member.revoking) => {
                if changed {
                    self.drop_unsubscribed(owned, member);
                }
            }
            State::UnrevokedPartitions | State::UnreleasedPartitions => {
                self.next(request, member, has_target);
            }
        }
        if *member == before {
            return;
        }
        let timer = ConsumerGroupTimer::Rebalance(Arc::clone(&request.member));
        if member.state == State::UnrevokedPartitions {
            self.asked_in.insert(Arc::clone(&request.member), member.epoch);
            self.timers.set(timer, at + member.rebalance_timeout_ms);
        } else {
            self.timers.cancel(&timer);
        }
    }

    /// `computeNextAssignment`: revoke first, then assign free partitions.
    fn next(&self, request: &Heartbeat, member: &mut ConsumerGroupMember, has_target: bool) {
        let mut target = if has_target { self.target(&request.member).to_vec() } else { Vec::new() };
        target.retain(|&(topic, _)| self.is_read_by(member, topic));
        let (mut kept, revoking): (Vec<_>, Vec<_>) =
            member.assigned.iter().partition(|(place, _)| target.binary_search(place).is_ok());
        let revoking = HeldPartitions::from_iter(revoking);
        target.retain(|place| kept.binary_search_by_key(place, |(kept, _)| *kept).is_err());
        let is_free = |place: &Place| !self.taken.contains_key(place) || member.revoking.has(*place);
        let (free, unreleased): (Vec<Place>, Vec<Place>) = target.into_iter().partition(is_free);
        if !revoking.is_empty() && owns_any(request.owned.as_deref(), &revoking) {
            member.state = State::UnrevokedPartitions;
            let epoch = member.epoch;
            member.go(epoch);
            (member.assigned, member.revoking) = (kept.into_iter().collect(), revoking);
            return;
        }
        kept.extend(free.into_iter().map(|place| (place, self.assignment_epoch)));
        member.state = if unreleased.is_empty() { State::Stable } else { State::UnreleasedPartitions };
        member.go(self.assignment_epoch);
        (member.assigned, member.revoking) = (kept.into_iter().collect(), HeldPartitions::default());
    }

    /// `updateCurrentAssignment`: topics to which a member no longer subscribes are taken from it at once.
    fn drop_unsubscribed(&self, owned: Option<&[Place]>, member: &mut ConsumerGroupMember) {
        let (kept, dropped): (Vec<_>, Vec<_>) =
            member.assigned.iter().partition(|((topic, _), _)| self.is_read_by(member, *topic));
        // Java compares maps by identity to see whether anything is new, and a member without a topic always has a new
        // one.
        let nothing_left = member.topics.is_empty() && member.revoking.is_empty();
        if dropped.is_empty() && !nothing_left {
            return;
        }
        let revoking: HeldPartitions = member.revoking.iter().chain(dropped).collect();
        let epoch = member.epoch;
        member.go(epoch);
        member.assigned = kept.into_iter().collect();
        if !revoking.is_empty() && owns_any(owned, &revoking) {
            member.state = State::UnrevokedPartitions;
            member.revoking = revoking;
        }
    }
}

/// Whether a member may still read any of these, by its report; without a report, it may.
fn owns_any(owned: Option<&[Place]>, places: &HeldPartitions) -> bool {
    owned.is_none_or(|owned| owned.iter().any(|place| places.has(*place)))
}

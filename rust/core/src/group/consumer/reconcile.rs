//! Reconciliation: a member is brought to its target step by step, and nobody reads what another has not given up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::member::State;
use super::{Group, Heartbeat, Member, Place, Timer};

impl Group {
    /// `maybeReconcile`.
    pub(super) fn reconcile(
        &mut self,
        request: &Heartbeat,
        member: &mut Member,
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
        let timer = Timer::Rebalance(Arc::clone(&request.member));
        if member.state == State::UnrevokedPartitions {
            self.asked_in.insert(Arc::clone(&request.member), member.epoch);
            self.timers.set(timer, at + member.rebalance_timeout_ms);
        } else {
            self.timers.cancel(&timer);
        }
    }

    /// `computeNextAssignment`: revoke first, then assign what is free.
    fn next(&self, request: &Heartbeat, member: &mut Member, has_target: bool) {
        let subscribed = self.there(member.topics.iter());
        let target = if has_target { self.target(&request.member) } else { &[] };
        let target: BTreeSet<Place> = target.iter().copied().collect();
        let target: BTreeSet<Place> =
            target.into_iter().filter(|(topic, _)| subscribed.contains_key(topic)).collect();
        let (mut kept, revoking): (BTreeMap<Place, i32>, BTreeMap<Place, i32>) =
            member.assigned.iter().partition(|(place, _)| target.contains(place));
        let wanted: Vec<Place> = target.into_iter().filter(|place| !kept.contains_key(place)).collect();
        let free = |place: &Place| !self.taken.contains_key(place) || member.revoking.contains_key(place);
        let (free, unreleased): (Vec<Place>, Vec<Place>) = wanted.into_iter().partition(free);
        if !revoking.is_empty() && owns_any(request.owned.as_deref(), &revoking) {
            member.state = State::UnrevokedPartitions;
            let epoch = member.epoch;
            member.go(epoch);
            (member.assigned, member.revoking) = (kept, revoking);
            return;
        }
        kept.extend(free.into_iter().map(|place| (place, self.assignment_epoch)));
        member.state = if unreleased.is_empty() { State::Stable } else { State::UnreleasedPartitions };
        member.go(self.assignment_epoch);
        (member.assigned, member.revoking) = (kept, BTreeMap::new());
    }

    /// `updateCurrentAssignment`: what a member no longer subscribes to is taken from it at once.
    fn drop_unsubscribed(&self, owned: Option<&[Place]>, member: &mut Member) {
        let subscribed = self.there(member.topics.iter());
        let (kept, dropped): (BTreeMap<Place, i32>, BTreeMap<Place, i32>) =
            member.assigned.iter().partition(|((topic, _), _)| subscribed.contains_key(topic));
        // Java tells by the maps' identity whether anything is new, and one without a topic always has a new one.
        let nothing_left = member.topics.is_empty() && member.revoking.is_empty();
        if dropped.is_empty() && !nothing_left {
            return;
        }
        let mut revoking = member.revoking.clone();
        revoking.extend(dropped);
        let epoch = member.epoch;
        member.go(epoch);
        member.assigned = kept;
        if !revoking.is_empty() && owns_any(owned, &revoking) {
            member.state = State::UnrevokedPartitions;
            member.revoking = revoking;
        }
    }
}

/// Whether a member reads any of these still, for all that it says: where it says nothing, it may.
fn owns_any(owned: Option<&[Place]>, places: &BTreeMap<Place, i32>) -> bool {
    owned.is_none_or(|owned| owned.iter().any(|place| places.contains_key(place)))
}

//! `ConsumerGroupHeartbeat`, which is the whole protocol: joining, changing, reconciling, and staying alive.

use std::sync::Arc;

use super::super::error_code::Code;
use super::super::timers::Timers;
use super::member::State;
use super::{ConsumerGroup, ConsumerGroupMember, ConsumerGroupTimer, Heartbeat, HeartbeatAnswer, Place};
use crate::Result;
use crate::interned::Name;

/// The epoch that a static member sends when it will be back.
pub(super) const LEAVES_FOR_A_WHILE: i32 = -2;
const LEAVES: i32 = -1;

impl ConsumerGroup {
    /// `consumerGroupHeartbeat`.
    pub(super) fn heartbeat(&mut self, request: &Heartbeat, at: i64, tag: u32) -> Result<()> {
        if let Some(code) = self.refusal(request) {
            self.refuse(code, at, tag);
            return Ok(());
        }
        if matches!(request.epoch, LEAVES | LEAVES_FOR_A_WHILE) {
            self.leave(request, at, tag);
            return Ok(());
        }
        if let Some(epoch) = self.nothing_new(request) {
            self.put_session_off(&request.member, at);
            self.answer(at, tag, HeartbeatAnswer { code: Code::None, epoch, assignment: None });
            return Ok(());
        }
        let (mut member, replaced) = match self.member_of(request) {
            Ok(found) => found,
            Err(code) => {
                self.refuse(code, at, tag);
                return Ok(());
            }
        };
        self.made = true;
        let comes = !self.members.contains_key(&request.member);
        let mut left_behind = Vec::new();
        if let Some(old) = &replaced {
            // A member that already has an ID and takes another one's place keeps what it had until it is done.
            left_behind
                .extend(self.members.get(&request.member).into_iter().flat_map(ConsumerGroupMember::places));
            self.replace(old, &request.member, &member);
        }
        let before = member.clone();
        if let Some(instance) = &request.instance {
            member.instance = Some(instance.clone());
        }
        if let Some(timeout_ms) = request.rebalance_timeout_ms {
            member.rebalance_timeout_ms = timeout_ms;
        }
        if let Some(assignor) = &request.assignor {
            member.assignor = Some(assignor.clone());
        }
        if let Some(topics) = &request.topics {
            let mut topics = topics.clone();
            topics.sort_unstable();
            topics.dedup();
            member.topics = topics.into();
        }
        let changed = member.topics != before.topics;
        let change = (before.assignor.as_deref(), member.assignor.as_deref());
        let preferred = self.preferred_assignor(Some(change)).to_owned();
        let other_assignor = preferred != self.preferred_assignor(None);
        let counts_anew = changed || other_assignor || self.stale;
        let behind = self.assignment_epoch < self.epoch;
        let homogeneous = (behind && !counts_anew).then(|| self.is_homogeneous());
        // The last target is looked up by the instance ID, if there is one.
        let known = member.instance.as_ref().is_none_or(|instance| self.statics.contains_key(instance));
        self.keep(&request.member, member.clone());
        if counts_anew {
            self.update_epoch(changed, other_assignor, &request.member);
        }
        let has_target =
            self.update_target(&preferred, homogeneous, request, replaced.as_ref(), at)? || known;
        for &place in &left_behind {
            self.taken.entry(place).or_insert_with(|| Arc::clone(&request.member));
        }
        self.reconcile(request, &mut member, changed, has_target, at);
        if !left_behind.is_empty() {
            for place in left_behind {
                self.taken.remove(&place);
            }
            self.take_over(&request.member, &ConsumerGroupMember::default(), &member);
        }
        self.keep(&request.member, member.clone());
        if let Some(old) = &replaced {
            self.order.remove(old);
        }
        if comes || replaced.as_ref() == Some(&request.member) {
            self.order.put(&request.member);
        }
        self.put_session_off(&request.member, at);
        let full =
            request.rebalance_timeout_ms.is_some() && request.topics.is_some() && request.owned.is_some();
        let is_due = request.epoch == 0 || full || !member.assigned.places().eq(before.assigned.places());
        let assignment = is_due.then(|| member.assigned.places().collect());
        self.answer(at, tag, HeartbeatAnswer { code: Code::None, epoch: member.epoch, assignment });
        Ok(())
    }

    /// What is wrong with a request, whichever member sends it.
    fn refusal(&self, request: &Heartbeat) -> Option<Code> {
        let unknown = |name: &String| !self.config.assignors.contains(name);
        if is_invalid(request) {
            Some(Code::InvalidRequest)
        } else if request.assignor.as_ref().is_some_and(unknown) {
            Some(Code::UnsupportedAssignor)
        } else {
            (!self.made && request.epoch != 0).then_some(Code::GroupIdNotFound)
        }
    }

    /// Restarts a member's session.
    fn put_session_off(&mut self, name: &Name, at: i64) {
        let session = ConsumerGroupTimer::Session(Arc::clone(name));
        self.timers.set(session, at + self.config.session_timeout_ms);
    }

    /// The member's epoch, if it only reports that it is alive and neither it nor the group has to change. This
    /// shortcut covers most heartbeats; the full way gives the same answer.
    fn nothing_new(&self, request: &Heartbeat) -> Option<i32> {
        let silent = request.topics.is_none()
            && request.assignor.is_none()
            && request.rebalance_timeout_ms.is_none()
            && !self.stale
            && self.assignment_epoch >= self.epoch;
        let member = self.members.get(&request.member).filter(|_| silent)?;
        let own = request.instance.as_ref().is_none_or(|instance| {
            member.instance.as_ref() == Some(instance) && self.statics.get(instance) == Some(&request.member)
        });
        let vote = member.assignor.as_deref();
        let is_agreed = || self.preferred_assignor(Some((vote, vote))) == self.preferred_assignor(None);
        let arrived = own
            && request.epoch == member.epoch
            && member.is_reconciled_to(self.assignment_epoch)
            && (vote.is_none() || is_agreed());
        arrived.then_some(member.epoch)
    }

    /// The requesting member as it was, and the one whose `group.instance.id` it takes over.
    fn member_of(
        &self,
        request: &Heartbeat,
    ) -> std::result::Result<(ConsumerGroupMember, Option<Name>), Code> {
        let known = self.members.get(&request.member);
        let returns = request.instance.as_ref().is_some_and(|instance| self.statics.contains_key(instance));
        if self.members.len() >= self.config.max_size && known.is_none() && !returns {
            return Err(Code::GroupMaxSizeReached);
        }
        let holder = request.instance.as_ref().and_then(|instance| self.statics.get(instance));
        let joins = request.epoch == 0;
        match (&request.instance, holder) {
            (Some(_), Some(holder)) if joins => {
                let held = self.members.get(holder).cloned().unwrap_or_default();
                if held.epoch != LEAVES_FOR_A_WHILE {
                    return Err(Code::UnreleasedInstanceId);
                }
                let back = ConsumerGroupMember { epoch: 0, previous_epoch: 0, ..held };
                return Ok((back, Some(Arc::clone(holder))));
            }
            (Some(_), None) if !joins => return Err(Code::UnknownMemberId),
            (Some(_), Some(holder)) if *holder != request.member => return Err(Code::FencedInstanceId),
            _ => {}
        }
        let Some(member) = known else {
            return if joins {
                Ok((ConsumerGroupMember::default(), None))
            } else {
                Err(Code::UnknownMemberId)
            };
        };
        let owned = |owned: &Vec<Place>| owned.iter().all(|&place| member.assigned.has(place));
        let lost_answer = request.epoch == member.previous_epoch && request.owned.as_ref().is_some_and(owned);
        if joins || request.epoch == member.epoch || request.epoch < member.epoch && lost_answer {
            Ok((member.clone(), None))
        } else {
            Err(Code::FencedMemberEpoch)
        }
    }

    /// A static member is back under a new ID, with everything that it had.
    fn replace(&mut self, old: &Name, new: &Name, member: &ConsumerGroupMember) {
        let target = self.target.remove(old).unwrap_or_default();
        if old != new {
            self.forget(old);
        }
        self.target.insert(Arc::clone(new), target);
        self.keep(new, member.clone());
    }

    /// Puts a member into the group as it is now, and marks what it holds as taken.
    pub(super) fn keep(&mut self, name: &Name, member: ConsumerGroupMember) {
        let Some(kept) = self.members.get_mut(name) else {
            self.take_over(name, &ConsumerGroupMember::default(), &member);
            self.count(&member.topics, member.assignor.as_deref(), true);
            self.name(name, &member);
            self.members.insert(Arc::clone(name), member);
            return;
        };
        let before = std::mem::replace(kept, member.clone());
        if let Some(instance) = before.instance.as_ref().filter(|_| before.instance != member.instance) {
            self.statics.remove(instance);
        }
        if !before.places().eq(member.places()) {
            self.take_over(name, &before, &member);
        }
        if before.topics != member.topics || before.assignor != member.assignor {
            self.count(&before.topics, before.assignor.as_deref(), false);
            self.count(&member.topics, member.assignor.as_deref(), true);
        }
        self.name(name, &member);
    }

    /// Notes a static member's ID.
    fn name(&mut self, name: &Name, member: &ConsumerGroupMember) {
        if let Some(instance) = &member.instance {
            self.statics.insert(instance.clone(), Arc::clone(name));
        }
    }

    /// `maybeUpdatePartitionEpoch`: what a member held becomes free, and what it holds becomes taken.
    fn take_over(&mut self, name: &Name, before: &ConsumerGroupMember, member: &ConsumerGroupMember) {
        for place in before.places() {
            self.taken.remove(&place);
        }
        for place in member.places() {
            self.taken.insert(place, Arc::clone(name));
        }
    }

    /// Removes a member from the group.
    pub(super) fn forget(&mut self, name: &Name) {
        let Some(member) = self.members.remove(name) else { return };
        self.count(&member.topics, member.assignor.as_deref(), false);
        for place in member.places() {
            self.taken.remove(&place);
        }
        if let Some(instance) = &member.instance {
            self.statics.remove(instance);
        }
        self.target.remove(name);
    }

    /// `updateSubscriptionMetadata`: the epoch grows when a subscription changes, the assignor that most members want,
    /// or the topics that the group reads.
    fn update_epoch(&mut self, changed: bool, other_assignor: bool, name: &Name) {
        let read = self.read();
        if changed || other_assignor || read != self.known {
            self.epoch += 1;
            self.reason = if changed {
                format!("{name} subscribed")
            } else if other_assignor {
                format!("{name} asked for another assignor")
            } else {
                "the topics that the group reads have changed".to_owned()
            };
        }
        self.known = read;
        self.stale = false;
    }

    /// `OffsetCommit` is accepted with the member's epoch, or with an older one since which it has had the partition.
    pub(super) fn validate_commit(&self, name: &str, epoch: i32, places: &[Place]) -> Code {
        if epoch < 0 && self.members.is_empty() {
            return Code::None;
        }
        if !self.made {
            return match (epoch, self.simple) {
                (..0, _) => Code::None,
                // A group without a protocol, which has no members.
                (_, true) => Code::UnknownMemberId,
                (_, false) => Code::GroupIdNotFound,
            };
        }
        let Some(member) = self.members.get(name) else { return Code::UnknownMemberId };
        let since = |place| member.assigned.since(place).or_else(|| member.revoking.since(place));
        let had = |&place: &Place| since(place).is_some_and(|since| epoch >= since);
        if epoch == member.epoch || epoch < member.epoch && places.iter().all(had) {
            Code::None
        } else {
            Code::StaleMemberEpoch
        }
    }

    /// Another broker loads the group. Everything was written, and is read from the first record on, so the maps have
    /// the same orders again. But every session restarts, and so does the time in which a member has to give up
    /// partitions.
    pub(super) fn reload(&mut self, at: i64) {
        self.stale = true;
        self.timers = Timers::default();
        self.asked_in.clear();
        for name in self.order.walk() {
            self.timers
                .set(ConsumerGroupTimer::Session(Arc::clone(name)), at + self.config.session_timeout_ms);
            if let Some(member) = self.members.get(name)
                && member.state == State::UnrevokedPartitions
            {
                self.asked_in.insert(Arc::clone(name), member.epoch);
                self.timers
                    .set(ConsumerGroupTimer::Rebalance(Arc::clone(name)), at + member.rebalance_timeout_ms);
            }
        }
    }
}

/// `throwIfConsumerGroupHeartbeatRequestIsInvalid`.
fn is_invalid(request: &Heartbeat) -> bool {
    let empty = |text: &Option<String>| text.as_deref() == Some("");
    if request.member.is_empty() || empty(&request.instance) || empty(&request.rack) {
        return true;
    }
    match request.epoch {
        0 => {
            request.rebalance_timeout_ms.is_none()
                || request.owned.as_ref().is_none_or(|owned| !owned.is_empty())
                || request.topics.is_none()
        }
        LEAVES_FOR_A_WHILE => request.instance.is_none(),
        epoch => epoch < LEAVES_FOR_A_WHILE,
    }
}

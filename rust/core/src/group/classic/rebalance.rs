//! A rebalance, from the first request for it to the resulting generation.

use std::sync::Arc;

use crate::java::hash_map::walk_names;

use super::super::error_code::Code;
use super::state::ClassicGroupTimer;
use super::{ClassicGroup, Joined, Phase, WrittenState};
use crate::interned::{Id, Name};

impl<M: Clone + PartialEq, A: Clone> ClassicGroup<M, A> {
    /// `maybePrepareRebalanceOrCompleteJoin`.
    pub(super) fn rebalance_or_complete(&mut self, why: impl FnOnce() -> String, at: i64) {
        match self.phase {
            Phase::Empty | Phase::CompletingRebalance | Phase::Stable => self.prepare(why(), at),
            Phase::PreparingRebalance | Phase::Dead => self.maybe_complete(at),
        }
    }

    /// `prepareRebalance`.
    pub(super) fn prepare(&mut self, why: String, at: i64) {
        if self.phase == Phase::CompletingRebalance {
            for &id in self.members.walk().iter() {
                if let Some(member) = self.members.get_mut(id) {
                    member.assignment = None;
                }
                if self.answer_sync(id, Code::RebalanceInProgress, at) {
                    self.put_session_off(id, at);
                }
            }
        }
        self.pending_sync.clear();
        self.timers.cancel(&ClassicGroupTimer::Sync);
        let first = self.phase == Phase::Empty;
        if first {
            let delay_ms = self.config.initial_rebalance_delay_ms;
            let remaining_ms = (self.longest_rebalance_timeout_ms() - delay_ms).max(0);
            self.initial = Some((delay_ms, remaining_ms));
            self.timers.set(ClassicGroupTimer::Join, at + delay_ms);
        }
        self.go(Phase::PreparingRebalance);
        self.reason = why;
        if first {
            return;
        }
        if self.all_have_joined() {
            self.complete(at);
        } else {
            self.wait_for_joins(at);
        }
    }

    fn wait_for_joins(&mut self, at: i64) {
        self.initial = None;
        self.timers.set(ClassicGroupTimer::Join, at + self.longest_rebalance_timeout_ms());
    }

    /// `maybeCompleteJoinPhase`.
    pub(super) fn maybe_complete(&mut self, at: i64) {
        if self.phase == Phase::PreparingRebalance && self.previous != Phase::Empty && self.all_have_joined()
        {
            self.complete(at);
        }
    }

    /// `completeClassicGroupJoin`: the next generation, without members that have not come back.
    pub(super) fn complete(&mut self, at: i64) {
        self.timers.cancel(&ClassicGroupTimer::Join);
        self.members.settle();
        let walk = self.members.walk();
        let late: Vec<Id> = walk.iter().copied().filter(|&id| self.is_late(id)).collect();
        for id in late {
            self.remove(id);
            self.timers.cancel(&ClassicGroupTimer::Session(id));
        }
        if !self.elect() && !self.members.is_empty() {
            // The remaining ones are static members, for which only the session decides. With a timeout of 0, Kafka
            // retries at once until its clock moves on: here a millisecond later.
            self.timers.set(ClassicGroupTimer::Join, at + self.longest_rebalance_timeout_ms().max(1));
            return;
        }
        self.generation += 1;
        self.pending_sync.clear();
        if self.members.is_empty() {
            self.protocol = None;
            self.go(Phase::Empty);
            self.write();
            return;
        }
        self.protocol = self.select_protocol();
        self.go(Phase::CompletingRebalance);
        self.members.settle();
        for &id in self.members.walk().iter() {
            let members = if self.is_leader(id) { self.described() } else { Vec::new() };
            let joined = self.joined(id, members, false);
            self.answer_join(id, joined, at);
            self.put_session_off(id, at);
            if let Some(member) = self.members.get_mut(id) {
                member.is_new = false;
            }
            self.pending_sync.insert(id);
        }
        self.sync_generation = self.generation;
        self.timers.set(ClassicGroupTimer::Sync, at + self.longest_rebalance_timeout_ms());
    }

    /// Whether a member is removed for not having joined; never a static one.
    fn is_late(&self, id: Id) -> bool {
        self.members.get(id).is_some_and(|member| member.joining.is_none() && member.instance.is_none())
    }

    /// `selectProtocol`: each member votes for the first of its assignors that all have.
    pub(super) fn select_protocol(&self) -> Option<Name> {
        let mut votes: Vec<(&Name, usize)> = Vec::new();
        for &id in self.members.walk().iter() {
            let Some(member) = self.members.get(id) else { continue };
            let vote = member.protocols.iter().map(|(name, _)| name).find(|name| self.all_support(name))?;
            match votes.iter_mut().find(|(name, _)| *name == vote) {
                Some((_, count)) => *count += 1,
                None => votes.push((vote, 1)),
            }
        }
        // On a tie, Java takes the first one of its map.
        let names: Vec<_> = votes.iter().map(|(name, _)| &***name).collect();
        let most = votes.iter().map(|(_, count)| *count).max()?;
        let order = walk_names(&names);
        let first = order.into_iter().map(|place| votes[place as usize]).find(|(_, count)| *count == most);
        first.map(|(name, _)| Arc::clone(name))
    }

    /// The effect of a timer.
    pub(super) fn fire(&mut self, timer: ClassicGroupTimer, at: i64) {
        match timer {
            ClassicGroupTimer::Join => match self.initial.take() {
                Some((delay_ms, remaining_ms)) if self.new_member_added && remaining_ms != 0 => {
                    self.new_member_added = false;
                    let next_ms = self.config.initial_rebalance_delay_ms.min(remaining_ms);
                    self.initial = Some((next_ms, (remaining_ms - delay_ms).max(0)));
                    self.timers.set(ClassicGroupTimer::Join, at + next_ms);
                }
                _ => self.complete(at),
            },
            ClassicGroupTimer::Sync => self.expire_sync(at),
            ClassicGroupTimer::Session(id) => self.expire_session(id, at),
        }
    }

    /// `expirePendingSync`: members that have not asked for their assignment are removed.
    fn expire_sync(&mut self, at: i64) {
        let awaited = matches!(self.phase, Phase::CompletingRebalance | Phase::Stable);
        if self.sync_generation != self.generation || !awaited || self.pending_sync.is_empty() {
            return;
        }
        let mut late: Vec<Id> = self.pending_sync.drain().collect();
        late.sort_unstable_by_key(|&id| self.names.name(id));
        for &id in &late {
            self.remove(id);
            self.timers.cancel(&ClassicGroupTimer::Session(id));
        }
        let names: Vec<_> = late.iter().map(|&id| &**self.names.name(id)).collect();
        self.prepare(format!("{} did not ask for an assignment", names.join(", ")), at);
    }

    /// `expireClassicGroupMemberHeartbeat`.
    fn expire_session(&mut self, id: Id, at: i64) {
        if self.pending.contains(&id) {
            self.remove(id);
            if self.phase == Phase::PreparingRebalance && self.all_have_joined() {
                self.complete(at);
            }
            return;
        }
        let Some(member) = self.members.get(id) else { return };
        let waits = member.joining.is_some() || member.syncing.is_some();
        if waits && !member.is_new {
            return;
        }
        self.put_out(id, at);
        match self.phase {
            Phase::Stable | Phase::CompletingRebalance => {
                let name = Arc::clone(self.names.name(id));
                self.rebalance_or_complete(|| format!("{name} sent no heartbeat in time"), at);
            }
            Phase::PreparingRebalance if self.all_have_joined() => self.complete(at),
            _ => {}
        }
    }

    /// Removes a member that may be waiting to join.
    pub(super) fn put_out(&mut self, id: Id, at: i64) {
        self.answer_join(id, Joined::refused(Code::UnknownMemberId, "".into()), at);
        self.remove(id);
    }

    pub(super) fn go(&mut self, phase: Phase) {
        self.previous = self.phase;
        self.phase = phase;
    }

    /// Writes the group's state to `__consumer_offsets`.
    pub(super) fn write(&mut self) {
        let kept = |&id: &Id| {
            let mut member = self.members.get(id)?.clone();
            (member.joining, member.syncing, member.is_new) = (None, None, false);
            Some((id, member))
        };
        let members = self.members.walk().iter().filter_map(kept).collect();
        self.written = WrittenState {
            generation: self.generation,
            protocol: self.protocol.clone(),
            leader: self.leader,
            members,
        };
    }
}

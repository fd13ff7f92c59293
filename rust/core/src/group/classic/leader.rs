//! Who leads a classic group, by `ClassicGroup`: the first member to join, until it leaves or misses a rebalance.

use super::ClassicGroup;
use crate::interned::{Id, Name};

impl<M: Clone + PartialEq, A: Clone> ClassicGroup<M, A> {
    /// The leader's id.
    pub fn leader(&self) -> Option<&Name> {
        self.leader.map(|id| self.names.name(id))
    }

    pub(super) fn is_leader(&self, id: Id) -> bool {
        self.leader == Some(id)
    }

    /// `add`: a member that joins a group without a leader leads it.
    pub(super) fn lead_if_nobody_does(&mut self, id: Id) {
        self.leader.get_or_insert(id);
    }

    /// `replaceStaticMember`: a leader that is back under a new ID leads under that.
    pub(super) fn lead_as_replaced(&mut self, old: Id, new: Id) {
        if self.is_leader(old) {
            self.leader = Some(new);
        }
    }

    /// `remove`: when a leader is gone, the first in the coordinator's map follows.
    pub(super) fn lead_instead_of_gone(&mut self, gone: Id) {
        if self.is_leader(gone) {
            self.leader = self.members.first();
        }
    }

    /// `maybeElectNewJoinedLeader`: a leader that has not joined again is replaced by the first member that has.
    /// Returns whether there is one.
    pub(super) fn elect(&mut self) -> bool {
        let Some(leader) = self.leader else { return false };
        let has_joined = |id: Id| self.members.get(id).is_some_and(|member| member.joining.is_some());
        if has_joined(leader) {
            return true;
        }
        match self.members.walk().iter().copied().find(|&id| has_joined(id)) {
            Some(next) => {
                self.leader = Some(next);
                true
            }
            None => false,
        }
    }
}

//! `SyncGroup`, and what remains of a group when its coordinator moves.

use std::sync::Arc;

use super::super::error_code::Code;
use super::state::ClassicGroupTimer;
use super::{ClassicGroup, Joined, Phase, Response, Sender, WrittenState};
use crate::counted;
use crate::interned::{Id, Name};
use crate::java::changing_hash_map::ChangingHashMap;

impl<M: Clone + PartialEq, A: Clone> ClassicGroup<M, A> {
    /// `classicGroupSync`: the leader brings everybody's assignment, and the others wait for it.
    pub(super) fn sync(
        &mut self,
        sender: &Sender,
        protocol: Option<&str>,
        assignments: Vec<(Name, A)>,
        at: i64,
        tag: u32,
    ) {
        let refused = |code| Response::Synced { code, protocol: None, assignment: None };
        let id = match self.validate_sync(sender, protocol) {
            Ok(id) => id,
            Err(code) => {
                self.answer(at, tag, refused(code));
                return;
            }
        };
        match self.phase {
            Phase::PreparingRebalance => self.answer(at, tag, refused(Code::RebalanceInProgress)),
            Phase::CompletingRebalance => {
                if let Some(member) = self.members.get_mut(id) {
                    member.syncing = Some(tag);
                }
                self.has_synced(id);
                if self.is_leader(id) {
                    self.assign(assignments, at);
                }
            }
            Phase::Stable => {
                self.has_synced(id);
                let assignment = self.members.get(id).and_then(|member| member.assignment.clone());
                let protocol = self.protocol.clone();
                self.answer(at, tag, Response::Synced { code: Code::None, protocol, assignment });
            }
            Phase::Empty | Phase::Dead => self.answer(at, tag, refused(Code::UnknownMemberId)),
        }
    }

    fn validate_sync(&self, sender: &Sender, protocol: Option<&str>) -> Result<Id, Code> {
        if !self.made || self.phase == Phase::Empty {
            return Err(Code::UnknownMemberId);
        }
        let id = self.validate_sender(sender)?;
        if protocol.is_some() && self.protocol.is_some() && protocol != self.protocol.as_deref() {
            return Err(Code::InconsistentGroupProtocol);
        }
        Ok(id)
    }

    fn has_synced(&mut self, id: Id) {
        self.pending_sync.remove(&id);
        if self.pending_sync.is_empty() {
            self.timers.cancel(&ClassicGroupTimer::Sync);
        }
    }

    /// `setAndPropagateAssignment`.
    fn assign(&mut self, assignments: Vec<(Name, A)>, at: i64) {
        let walk = self.members.walk();
        for &id in walk.iter() {
            if let Some(member) = self.members.get_mut(id) {
                member.assignment = None;
            }
        }
        for (name, assignment) in assignments {
            let id = self.names.find(&name);
            if let Some(member) = id.and_then(|id| self.members.get_mut(id)) {
                member.assignment = Some(assignment);
            }
        }
        for &id in walk.iter() {
            if self.answer_sync(id, Code::None, at) {
                self.put_session_off(id, at);
            }
        }
        self.go(Phase::Stable);
        self.write();
    }

    /// Another broker loads the group: it is as it was written, and every session restarts. The old broker, which is no
    /// longer the coordinator, answers the waiting requests.
    pub(super) fn reload(&mut self, at: i64) {
        for &id in self.members.walk().iter() {
            let name = Arc::clone(self.names.name(id));
            self.answer_join(id, Joined::refused(Code::NotCoordinator, name), at);
            self.answer_sync(id, Code::NotCoordinator, at);
        }
        self.timers.clear();
        self.members = ChangingHashMap::default();
        self.statics.clear();
        self.supported.clear();
        self.pending.clear();
        self.pending_sync.clear();
        (self.awaiting_join, self.new_member_added, self.initial) = (0, false, None);
        let WrittenState { generation, protocol, leader, members } = self.written.clone();
        self.phase = if members.is_empty() { Phase::Empty } else { Phase::Stable };
        self.previous = Phase::Dead;
        for (id, mut member) in members {
            if let Some(instance) = &member.instance {
                self.statics.insert(instance.clone(), id);
            }
            // Of a member's data, the log has only those for the chosen assignor.
            member.protocols = member
                .protocols
                .iter()
                .filter(|(name, _)| Some(name) == protocol.as_ref())
                .cloned()
                .collect();
            self.count_protocols(&member.protocols, true);
            self.members.put(id, self.names.name(id), member);
        }
        (self.generation, self.protocol, self.leader) = (generation, protocol, leader);
        for &id in self.members.walk().iter() {
            self.put_session_off(id, at);
        }
        let (size, most) = (self.members.len(), self.config.max_size);
        if size > most {
            self.prepare(
                format!("the group has {}, and group.max.size is {most}", counted(size, "member", "members")),
                at,
            );
        }
    }
}

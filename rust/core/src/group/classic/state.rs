//! The states of a classic group, its members, and its coordinator's settings.

use std::sync::Arc;

use super::super::error_code::Code;
use super::{ClassicGroup, Response, Sender};
use crate::interned::{Id, Name};
use crate::names::named;

/// The coordinator's settings, under Kafka's names; all times are milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct ClassicGroupConfig {
    /// `group.initial.rebalance.delay.ms`.
    pub initial_rebalance_delay_ms: i64,
    /// `group.min.session.timeout.ms`.
    pub min_session_timeout_ms: i64,
    /// `group.max.session.timeout.ms`.
    pub max_session_timeout_ms: i64,
    /// `group.max.size`.
    pub max_size: usize,
}

impl Default for ClassicGroupConfig {
    fn default() -> Self {
        Self {
            initial_rebalance_delay_ms: 3_000,
            min_session_timeout_ms: 6_000,
            max_session_timeout_ms: 1_800_000,
            max_size: i32::MAX as usize,
        }
    }
}

/// How long a new member may wait in a rebalance before its request is given up (`GroupCoordinatorConfig`).
pub(super) const NEW_MEMBER_JOIN_TIMEOUT_MS: i64 = 5 * 60 * 1_000;

named! {
    /// `ClassicGroupState`, by Kafka's names.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Phase {
        /// No members.
        Empty = "Empty",
        /// Members are asked to join.
        PreparingRebalance = "PreparingRebalance",
        /// All have joined, and the leader's assignment is awaited.
        CompletingRebalance = "CompletingRebalance",
        /// Everybody has an assignment.
        Stable = "Stable",
        /// The group is gone.
        Dead = "Dead",
    }
}

/// A member of the group.
#[derive(Clone, Debug)]
pub struct ClassicGroupMember<M, A> {
    /// `group.instance.id`.
    pub instance: Option<String>,
    pub(super) session_timeout_ms: i64,
    pub(super) rebalance_timeout_ms: i64,
    pub(super) protocols: Arc<[(Name, M)]>,
    pub(super) assignment: Option<A>,
    /// The requests that wait for an answer.
    pub(super) joining: Option<u32>,
    pub(super) syncing: Option<u32>,
    pub(super) is_new: bool,
}

impl<M: Clone + PartialEq, A> ClassicGroupMember<M, A> {
    /// The member's data for the chosen assignor.
    pub(super) fn metadata(&self, protocol: &str) -> Option<M> {
        self.protocols.iter().find(|(name, _)| &**name == protocol).map(|(_, metadata)| metadata.clone())
    }
}

/// The purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum ClassicGroupTimer {
    /// The rebalance continues without those that have not joined.
    Join,
    /// Members that have not asked for their assignment are removed.
    Sync,
    /// A member's session.
    Session(Id),
}

impl<M: Clone + PartialEq, A: Clone> ClassicGroup<M, A> {
    /// Whether anybody ever asked for the group.
    pub fn exists(&self) -> bool {
        self.made
    }

    /// The state.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The generation.
    pub fn generation(&self) -> i32 {
        self.generation
    }

    /// The assignor that the group has chosen.
    pub fn protocol(&self) -> Option<&Name> {
        self.protocol.as_ref()
    }

    /// The members' IDs in the order of the coordinator's map.
    pub fn members(&self) -> Arc<[Name]> {
        self.members.walk().iter().map(|&id| Arc::clone(self.names.name(id))).collect()
    }

    /// How many members there are.
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// Whether there is such a member.
    pub fn has(&self, member: &str) -> bool {
        self.names.find(member).is_some_and(|id| self.members.contains(id))
    }

    /// Restarts a member's session as of an earlier time, if nothing was heard of it since.
    pub(in super::super) fn has_heard_of(&mut self, member: &str, at: i64) {
        let phase = matches!(self.phase, Phase::Stable | Phase::PreparingRebalance);
        if let Some(id) = self.names.find(member).filter(|_| phase)
            && let Some(timeout_ms) = self.members.get(id).map(|member| member.session_timeout_ms)
            && self
                .timers
                .waits_until(&ClassicGroupTimer::Session(id))
                .is_some_and(|until| until < at + timeout_ms)
        {
            self.put_session_off(id, at);
        }
    }

    /// How many got an ID and have not come back with it.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// How many have not asked for their assignment yet, within their time. This includes static members that came back
    /// under another ID, which the coordinator does not notice.
    pub fn pending_sync(&self) -> usize {
        self.pending_sync.len()
    }

    /// Why the last rebalance began.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    pub(super) fn all_have_joined(&self) -> bool {
        self.members.len() == self.awaiting_join && self.pending.is_empty()
    }

    pub(super) fn longest_rebalance_timeout_ms(&self) -> i64 {
        self.members.values().map(|member| member.rebalance_timeout_ms).max().unwrap_or(0)
    }

    /// `ClassicGroup.validateMember`: the member, or what is wrong with the request.
    pub(super) fn validate(&self, member: &str, instance: Option<&str>) -> Result<Id, Code> {
        let id = self.names.find(member);
        match instance.map(|instance| self.statics.get(instance)) {
            Some(None) => Err(Code::UnknownMemberId),
            Some(Some(known)) if id != Some(*known) => Err(Code::FencedInstanceId),
            _ => id.filter(|&id| self.members.contains(id)).ok_or(Code::UnknownMemberId),
        }
    }

    /// The same for a request that also names its generation.
    pub(super) fn validate_sender(&self, sender: &Sender) -> Result<Id, Code> {
        let id = self.validate(&sender.member, sender.instance.as_deref())?;
        if sender.generation == self.generation { Ok(id) } else { Err(Code::IllegalGeneration) }
    }

    /// `ClassicGroup.validateOffsetCommit`, after checking whether there is a group at all.
    pub(super) fn validate_commit(&self, sender: &Sender) -> Code {
        let anonymous = sender.generation < 0 && sender.member.is_empty() && sender.instance.is_none();
        if sender.generation < 0 && (self.phase == Phase::Empty || !self.made) {
            // An admin client, or a consumer that assigns itself.
            return Code::None;
        }
        if !self.made {
            return Code::GroupIdNotFound;
        }
        if anonymous {
            return Code::UnknownMemberId;
        }
        match self.validate_sender(sender) {
            Ok(_) if self.phase == Phase::CompletingRebalance => Code::RebalanceInProgress,
            Ok(_) => Code::None,
            Err(code) => code,
        }
    }

    /// Restarts a member's session.
    pub(super) fn put_session_off(&mut self, id: Id, at: i64) {
        if let Some(member) = self.members.get(id) {
            self.timers.set(ClassicGroupTimer::Session(id), at + member.session_timeout_ms);
        }
    }

    pub(super) fn heartbeat(&mut self, sender: &Sender, at: i64) -> Code {
        if !self.made {
            return Code::UnknownMemberId;
        }
        match self.validate_sender(sender) {
            Ok(id) => self.put_session_off(id, at),
            Err(code) => return code,
        }
        if self.phase == Phase::PreparingRebalance { Code::RebalanceInProgress } else { Code::None }
    }

    /// Counts the assignors of a member that joins or leaves.
    pub(super) fn count_protocols(&mut self, protocols: &[(Name, M)], comes: bool) {
        for (name, _) in protocols {
            let count = self.supported.entry(name.clone()).or_default();
            *count = if comes { *count + 1 } else { *count - 1 };
        }
    }

    /// Whether all members have an assignor.
    pub(super) fn all_support(&self, protocol: &str) -> bool {
        self.supported.get(protocol).copied().unwrap_or(0) == self.members.len()
    }

    /// Removes a member, and makes another one the leader if it led.
    pub(super) fn remove(&mut self, id: Id) {
        if let Some(member) = self.members.remove(id) {
            self.count_protocols(&member.protocols, false);
            self.awaiting_join -= usize::from(member.joining.is_some());
            if let Some(instance) = &member.instance {
                self.statics.remove(instance);
            }
        }
        self.lead_instead_of_gone(id);
        self.pending.remove(&id);
        self.pending_sync.remove(&id);
    }

    /// Answers a member's waiting `SyncGroup`, if there is one.
    pub(super) fn answer_sync(&mut self, id: Id, code: Code, at: i64) -> bool {
        let protocol = if code == Code::None { self.protocol.clone() } else { None };
        let Some(member) = self.members.get_mut(id) else { return false };
        let Some(tag) = member.syncing.take() else { return false };
        let assignment = if code == Code::None { member.assignment.clone() } else { None };
        self.answer(at, tag, Response::Synced { code, protocol, assignment });
        true
    }
}

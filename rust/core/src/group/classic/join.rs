//! `JoinGroup`: who may join, under which ID, and whether a rebalance begins.

use std::sync::Arc;

use super::super::error_code::Code;
use super::state::{ClassicGroupTimer, NEW_MEMBER_JOIN_TIMEOUT_MS};
use super::{ClassicGroup, ClassicGroupMember, Join, Joined, Phase, Response};
use crate::interned::{Id, Name};

impl<M: Clone + PartialEq, A: Clone> ClassicGroup<M, A> {
    /// `GroupCoordinatorService.joinGroup` and `classicGroupJoin`.
    pub(super) fn join(&mut self, join: Join<M>, at: i64, tag: u32) {
        let limits = self.config.min_session_timeout_ms..=self.config.max_session_timeout_ms;
        if !limits.contains(&join.session_timeout_ms) {
            self.refuse_join(&join.member, Code::InvalidSessionTimeout, at, tag);
            return;
        }
        let unknown = join.member.is_empty();
        if !self.made && !unknown {
            self.refuse_join(&join.member, Code::UnknownMemberId, at, tag);
            return;
        }
        self.made = true;
        if !self.accepts(&join.member) {
            if let Some(id) = self.names.find(&join.member) {
                self.remove(id);
            }
            self.refuse_join("", Code::GroupMaxSizeReached, at, tag);
        } else if !self.supports_any(&join) {
            self.refuse_join(&join.member, Code::InconsistentGroupProtocol, at, tag);
        } else if unknown {
            self.join_new(join, at, tag);
        } else {
            self.join_known(join, at, tag);
        }
    }

    fn refuse_join(&mut self, member: &str, code: Code, at: i64, tag: u32) {
        self.answer(at, tag, Response::Joined(Joined::refused(code, member.into())));
    }

    /// `acceptJoiningMember`: whether there is room.
    fn accepts(&self, member: &str) -> bool {
        let found = self.names.find(member).and_then(|id| self.members.get(id));
        match self.phase {
            Phase::Empty | Phase::Dead => true,
            Phase::PreparingRebalance => {
                found.is_some_and(|member| member.joining.is_some())
                    || self.awaiting_join < self.config.max_size
            }
            Phase::CompletingRebalance | Phase::Stable => {
                found.is_some() || self.members.len() < self.config.max_size
            }
        }
    }

    /// `ClassicGroup.supportsProtocols`: whether the group's members and this one have an assignor in common.
    fn supports_any(&self, join: &Join<M>) -> bool {
        if self.phase == Phase::Empty {
            return !join.protocols.is_empty();
        }
        join.protocols.iter().any(|(name, _)| self.all_support(name))
    }

    fn join_new(&mut self, join: Join<M>, at: i64, tag: u32) {
        let replaced = join.instance.as_ref().and_then(|instance| self.statics.get(instance)).copied();
        match replaced {
            Some(old) => self.replace_static(&join, old, at, tag),
            None if join.instance.is_none() && join.requires_id => {
                let id = self.names.number(&join.new_id);
                self.pending.insert(id);
                self.timers.set(ClassicGroupTimer::Session(id), at + join.session_timeout_ms);
                self.refuse_join(&join.new_id, Code::MemberIdRequired, at, tag);
            }
            None => {
                let id = self.names.number(&join.new_id);
                self.add(id, join, at, tag);
            }
        }
    }

    /// `classicGroupJoinExistingMember`.
    fn join_known(&mut self, join: Join<M>, at: i64, tag: u32) {
        if let Some(id) = self.names.find(&join.member).filter(|id| self.pending.contains(id)) {
            if join.instance.is_some() {
                // Java throws an IllegalStateException.
                self.refuse_join("", Code::UnknownServerError, at, tag);
            } else {
                self.add(id, join, at, tag);
            }
            return;
        }
        let id = match self.validate(&join.member, join.instance.as_deref()) {
            Ok(id) => id,
            Err(code) => {
                self.refuse_join(&join.member, code, at, tag);
                return;
            }
        };
        let same = || self.members.get(id).is_some_and(|member| member.protocols == join.protocols);
        match self.phase {
            Phase::PreparingRebalance => self.rejoin(id, &join, "is joining during the rebalance", at, tag),
            Phase::CompletingRebalance if same() => self.tell_again(id, at, tag),
            Phase::CompletingRebalance => self.rejoin(id, &join, "updated its metadata", at, tag),
            Phase::Stable if self.is_leader(id) => self.rejoin(id, &join, "leads and joins again", at, tag),
            Phase::Stable if !same() => self.rejoin(id, &join, "updated its metadata", at, tag),
            Phase::Stable => self.tell_again(id, at, tag),
            Phase::Empty | Phase::Dead => self.refuse_join(&join.member, Code::UnknownMemberId, at, tag),
        }
    }

    /// Tells a member the group's agreement without a rebalance, because its first answer may have been lost.
    fn tell_again(&mut self, id: Id, at: i64, tag: u32) {
        let leads = self.is_leader(id) && self.phase == Phase::CompletingRebalance;
        let members = if leads { self.described() } else { Vec::new() };
        let joined = self.joined(id, members, false);
        self.answer(at, tag, Response::Joined(joined));
    }

    pub(super) fn joined(
        &self,
        id: Id,
        members: Vec<(Name, Option<String>, M)>,
        skip_assignment: bool,
    ) -> Joined<M> {
        Joined {
            code: Code::None,
            generation: self.generation,
            protocol: self.protocol.clone(),
            leader: self.leader().cloned(),
            member: Arc::clone(self.names.name(id)),
            skip_assignment,
            members,
        }
    }

    /// What the leader learns about the members (`currentClassicGroupMembers`).
    pub(super) fn described(&self) -> Vec<(Name, Option<String>, M)> {
        let protocol = self.protocol.as_deref().unwrap_or_default();
        let described = |&id: &Id| {
            let member = self.members.get(id)?;
            Some((Arc::clone(self.names.name(id)), member.instance.clone(), member.metadata(protocol)?))
        };
        self.members.walk().iter().filter_map(described).collect()
    }

    /// `addMemberThenRebalanceOrCompleteJoin`.
    fn add(&mut self, id: Id, join: Join<M>, at: i64, tag: u32) {
        if self.phase == Phase::PreparingRebalance && self.previous == Phase::Empty {
            self.new_member_added = true;
        }
        if let Some(instance) = &join.instance {
            self.statics.insert(instance.clone(), id);
        }
        self.lead_if_nobody_does(id);
        let member = ClassicGroupMember {
            instance: join.instance,
            session_timeout_ms: join.session_timeout_ms,
            rebalance_timeout_ms: join.rebalance_timeout_ms,
            protocols: join.protocols,
            assignment: None,
            joining: Some(tag),
            syncing: None,
            is_new: true,
        };
        self.count_protocols(&member.protocols, true);
        let name = Arc::clone(self.names.name(id));
        self.members.put(id, &name, member);
        self.awaiting_join += 1;
        self.pending.remove(&id);
        self.timers.set(ClassicGroupTimer::Session(id), at + NEW_MEMBER_JOIN_TIMEOUT_MS);
        self.rebalance_or_complete(|| format!("{name} joined"), at);
    }

    /// `updateMemberThenRebalanceOrCompleteJoin`.
    fn rejoin(&mut self, id: Id, join: &Join<M>, why: &str, at: i64, tag: u32) {
        self.update(id, join, tag);
        let why = if join.reason.is_empty() { why } else { &join.reason };
        self.rebalance_or_complete(|| format!("{} {why}", join.member), at);
    }

    /// `ClassicGroup.updateMember`: an earlier waiting request is no longer answered.
    fn update(&mut self, id: Id, join: &Join<M>, tag: u32) {
        let before = self.members.get(id).map(|member| Arc::clone(&member.protocols));
        let others = |before: &Arc<[(Name, M)]>| {
            !before.iter().map(|(name, _)| name).eq(join.protocols.iter().map(|(name, _)| name))
        };
        if let Some(before) = before.filter(others) {
            self.count_protocols(&before, false);
            self.count_protocols(&join.protocols, true);
        }
        if let Some(member) = self.members.get_mut(id) {
            member.protocols = Arc::clone(&join.protocols);
            member.rebalance_timeout_ms = join.rebalance_timeout_ms;
            member.session_timeout_ms = join.session_timeout_ms;
            if member.joining.replace(tag).is_none() {
                self.awaiting_join += 1;
            }
        }
    }

    /// `updateStaticMemberThenRebalanceOrCompleteJoin`: a static member is back, under a new ID.
    fn replace_static(&mut self, join: &Join<M>, old: Id, at: i64, tag: u32) {
        let new = self.names.number(&join.new_id);
        self.replace(old, new, at);
        self.put_session_off(new, at);
        self.update(new, join, tag);
        let why =
            format!("{} has come back as {}", join.new_id, join.instance.as_deref().unwrap_or_default());
        match self.phase {
            Phase::Stable if self.protocol == self.select_protocol() => {
                self.write();
                let leads = self.is_leader(new);
                let gets_members = leads && join.skips_assignment;
                let members = if gets_members { self.described() } else { Vec::new() };
                let mut joined = self.joined(new, members, gets_members);
                if leads && !join.skips_assignment {
                    // An older client gets the leader's old ID, so that it does not assign.
                    joined.leader = Some(Arc::clone(self.names.name(old)));
                }
                self.answer_join(new, joined, at);
            }
            Phase::Stable => self.rebalance_or_complete(|| why, at),
            Phase::CompletingRebalance => self.prepare(why, at),
            Phase::PreparingRebalance => self.maybe_complete(at),
            Phase::Empty | Phase::Dead => self.refuse_join("", Code::UnknownServerError, at, tag),
        }
    }

    /// `ClassicGroup.replaceStaticMember`: the member that had the place is fenced.
    fn replace(&mut self, old: Id, new: Id, at: i64) {
        let name = Arc::clone(self.names.name(old));
        let fenced = Joined { leader: Some("".into()), ..Joined::refused(Code::FencedInstanceId, name) };
        self.answer_join(old, fenced, at);
        self.answer_sync(old, Code::FencedInstanceId, at);
        if let Some(member) = self.members.remove(old) {
            if let Some(instance) = &member.instance {
                self.statics.insert(instance.clone(), new);
            }
            self.members.put(new, self.names.name(new), ClassicGroupMember { is_new: false, ..member });
        }
        self.lead_as_replaced(old, new);
    }

    /// Answers a member's waiting `JoinGroup`, if there is one.
    pub(super) fn answer_join(&mut self, id: Id, joined: Joined<M>, at: i64) {
        if let Some(tag) = self.members.get_mut(id).and_then(|member| member.joining.take()) {
            self.awaiting_join -= 1;
            self.answer(at, tag, Response::Joined(joined));
        }
    }
}

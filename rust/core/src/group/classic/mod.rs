//! A group of the classic protocol as its coordinator sees it: requests in, answers out, no hidden state.
//!
//! Exact to `GroupMetadataManager` and `ClassicGroup` of kafka-group-coordinator 4.4.0, where a write to
//! `__consumer_offsets` takes no time and does not fail. Members' own data (`M`) and the leader's assignments (`A`) are
//! opaque: only clients read them, never the coordinator.

mod join;
mod leader;
mod leave;
mod rebalance;
mod state;
mod sync;

pub use state::{ClassicGroupConfig, ClassicGroupMember, Phase};

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error_code::Code;
use super::timers::Timers;
use super::{GroupEffect, GroupEvent, Map, Set};
use crate::interned::{Id, Name, Names};
use crate::java::changing_hash_map::ChangingHashMap;
use state::ClassicGroupTimer;

/// The requests of the classic protocol.
#[derive(Clone, Debug)]
pub enum ClassicGroupRequest<M, A> {
    /// `JoinGroup`.
    Join(Join<M>),
    /// `SyncGroup`.
    Sync {
        /// The sender.
        sender: Sender,
        /// The protocol that the member takes for the chosen one.
        protocol: Option<Name>,
        /// The leader's assignment for each member; empty from all others.
        assignments: Vec<(Name, A)>,
    },
    /// `Heartbeat`.
    Heartbeat(Sender),
    /// `LeaveGroup`: member IDs, empty if the `group.instance.id` is enough.
    Leave(Vec<(Name, Option<String>)>),
    /// `OffsetCommit`.
    Commit(Sender),
    /// Time passes.
    Wait,
    /// Another broker takes over the group, as it was written.
    Move,
}

impl<M, A> ClassicGroupRequest<M, A> {
    /// What a broker answers that does not coordinate the group.
    pub(super) fn refused(&self) -> Response<M, A> {
        let code = Code::NotCoordinator;
        match self {
            Self::Join(join) => Response::Joined(Joined::refused(code, Arc::clone(&join.member))),
            Self::Sync { .. } => Response::Synced { code, protocol: None, assignment: None },
            Self::Leave(_) => Response::Left(code, Vec::new()),
            Self::Heartbeat(_) | Self::Commit(_) | Self::Wait | Self::Move => Response::Done(code),
        }
    }
}

/// `JoinGroup`.
#[derive(Clone, Debug)]
pub struct Join<M> {
    /// The member's ID; empty if it has none.
    pub member: Name,
    /// The ID for the coordinator to give it, if it needs one; Kafka draws it.
    pub new_id: Name,
    /// `group.instance.id`.
    pub instance: Option<String>,
    /// `session.timeout.ms`.
    pub session_timeout_ms: i64,
    /// `max.poll.interval.ms`, for how long others wait for this member.
    pub rebalance_timeout_ms: i64,
    /// The assignors, each with the member's data for it.
    pub protocols: Arc<[(Name, M)]>,
    /// Whether a member without an ID first gets one (KIP-394, `JoinGroup` from version 4 on).
    pub requires_id: bool,
    /// Whether a leader can be told to skip the assignment (KIP-814, version 9).
    pub skips_assignment: bool,
    /// Why it joins, for people; may be empty.
    pub reason: String,
}

/// The sender and its generation.
#[derive(Clone, Debug)]
pub struct Sender {
    /// The member's id.
    pub member: Name,
    /// The generation that it knows; -1 for none.
    pub generation: i32,
    /// `group.instance.id`.
    pub instance: Option<String>,
}

/// The kinds of answers.
#[derive(Clone, Debug)]
pub enum Response<M, A> {
    /// To `JoinGroup`.
    Joined(Joined<M>),
    /// To `SyncGroup`.
    Synced {
        /// What went wrong.
        code: Code,
        /// The protocol that the group has chosen.
        protocol: Option<Name>,
        /// The member's assignment; empty if no leader gave one.
        assignment: Option<A>,
    },
    /// To `LeaveGroup`, for each member.
    Left(Code, Vec<Code>),
    /// To `Heartbeat` and `OffsetCommit`.
    Done(Code),
}

/// The answer to `JoinGroup`; only the leader learns who the members are.
#[derive(Clone, Debug)]
pub struct Joined<M> {
    /// What went wrong.
    pub code: Code,
    /// The generation; -1 if there is none.
    pub generation: i32,
    /// The assignor that the group has chosen.
    pub protocol: Option<Name>,
    /// The leader's id.
    pub leader: Option<Name>,
    /// The member's own id.
    pub member: Name,
    /// Whether the leader shall skip the assignment (KIP-814).
    pub skip_assignment: bool,
    /// For the leader, the members in the order of the coordinator's map: IDs, `group.instance.id`, and their data.
    pub members: Vec<(Name, Option<String>, M)>,
}

impl<M> Joined<M> {
    /// A refusal.
    fn refused(code: Code, member: Name) -> Self {
        Self {
            code,
            generation: -1,
            protocol: None,
            leader: None,
            member,
            skip_assignment: false,
            members: Vec::new(),
        }
    }
}

/// The group.
#[derive(Clone, Debug)]
pub struct ClassicGroup<M, A> {
    pub(super) config: ClassicGroupConfig,
    phase: Phase,
    previous: Phase,
    generation: i32,
    protocol: Option<Name>,
    leader: Option<Id>,
    /// All that ever were members, or got an ID to join with.
    names: Names,
    members: ChangingHashMap<ClassicGroupMember<M, A>>,
    statics: Map<String, Id>,
    pending: Set<Id>,
    pending_sync: Set<Id>,
    awaiting_join: usize,
    /// How many members have each assignor.
    supported: BTreeMap<Name, usize>,
    new_member_added: bool,
    made: bool,
    timers: Timers<ClassicGroupTimer>,
    /// For a first rebalance that waits for others: how long it waits, and how much longer it may.
    initial: Option<(i64, i64)>,
    /// The generation whose `SyncGroup`s are awaited.
    sync_generation: i32,
    written: WrittenState<M, A>,
    effects: Vec<GroupEffect<Response<M, A>>>,
    /// Why the last rebalance began, in Kafka's own words.
    reason: String,
}

/// A group's content of `__consumer_offsets`: its state after the last completed rebalance.
#[derive(Clone, Debug)]
struct WrittenState<M, A> {
    generation: i32,
    protocol: Option<Name>,
    leader: Option<Id>,
    members: Vec<(Id, ClassicGroupMember<M, A>)>,
}

impl<M: Clone + PartialEq, A: Clone> ClassicGroup<M, A> {
    /// A group that nobody has joined yet.
    #[must_use]
    pub fn new(config: ClassicGroupConfig) -> Self {
        Self {
            config,
            phase: Phase::Empty,
            previous: Phase::Dead,
            generation: 0,
            protocol: None,
            leader: None,
            names: Names::default(),
            members: ChangingHashMap::default(),
            statics: Map::default(),
            pending: Set::default(),
            pending_sync: Set::default(),
            awaiting_join: 0,
            supported: BTreeMap::new(),
            new_member_added: false,
            made: false,
            timers: Timers::default(),
            initial: None,
            sync_generation: 0,
            written: WrittenState { generation: 0, protocol: None, leader: None, members: Vec::new() },
            effects: Vec::new(),
            reason: String::new(),
        }
    }

    /// The group after an event, and the answers until then. All timers that are due by the event's time fire, before
    /// the event and after it.
    #[must_use]
    pub fn step(
        mut self,
        event: GroupEvent<ClassicGroupRequest<M, A>>,
    ) -> (Self, Vec<GroupEffect<Response<M, A>>>) {
        self.apply(event);
        let effects = std::mem::take(&mut self.effects);
        (self, effects)
    }

    /// The same in place, for playing a whole life; the answers wait to be taken.
    pub(super) fn apply(&mut self, event: GroupEvent<ClassicGroupRequest<M, A>>) {
        let GroupEvent { at, tag, request } = event;
        self.fire_due(at);
        match request {
            ClassicGroupRequest::Join(join) => self.join(join, at, tag),
            ClassicGroupRequest::Sync { sender, protocol, assignments } => {
                self.sync(&sender, protocol.as_deref(), assignments, at, tag);
            }
            ClassicGroupRequest::Heartbeat(sender) => {
                let code = self.heartbeat(&sender, at);
                self.answer(at, tag, Response::Done(code));
            }
            ClassicGroupRequest::Leave(leaving) => self.leave(&leaving, at, tag),
            ClassicGroupRequest::Commit(sender) => {
                let code = self.validate_commit(&sender);
                // A consumer that assigns itself also commits to a group.
                self.made |= code == Code::None;
                if code == Code::None
                    && matches!(self.phase, Phase::Stable | Phase::PreparingRebalance)
                    && let Some(id) = self.names.find(&sender.member)
                {
                    self.put_session_off(id, at);
                }
                self.answer(at, tag, Response::Done(code));
            }
            ClassicGroupRequest::Wait => {}
            ClassicGroupRequest::Move => self.reload(at),
        }
        // Timers that the request set to no delay at all.
        self.fire_due(at);
    }

    /// The answers since the last call.
    pub(super) fn effects(&mut self) -> std::vec::Drain<'_, GroupEffect<Response<M, A>>> {
        self.effects.drain(..)
    }

    fn fire_due(&mut self, by: i64) {
        while let Some((at, timer)) = self.timers.due(by) {
            self.fire(timer, at);
        }
    }

    /// When the next timer fires, if that is by a time.
    pub fn deadline(&mut self, by: i64) -> Option<i64> {
        self.timers.next(by)
    }

    fn answer(&mut self, at: i64, tag: u32, answer: Response<M, A>) {
        self.effects.push(GroupEffect { at, tag, answer });
    }
}

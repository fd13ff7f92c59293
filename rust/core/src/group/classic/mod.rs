//! A group of the classic protocol as its coordinator knows it: requests in, answers out, and nothing hidden.
//!
//! Exact to `GroupMetadataManager` and `ClassicGroup` of kafka-group-coordinator 4.4.0, where a write to
//! `__consumer_offsets` takes no time and does not fail. What members say of themselves (`M`) and what the leader assigns
//! them (`A`) is not looked into: that is the clients' business, and never the coordinator's.

mod join;
mod leader;
mod leave;
mod rebalance;
mod state;
mod sync;

pub use state::{Config, Member, Phase};

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error_code::Code;
use super::timers::Timers;
use super::{Map, Set};
use crate::interned::{Id, Name, Names};
use crate::java::changing_hash_map::ChangingHashMap;
use state::Timer;

/// What a member asks of its coordinator, and when.
#[derive(Clone, Debug)]
pub struct Event<M, A> {
    /// The time, in milliseconds; never before that of the event before.
    pub at: i64,
    /// By which the answer is told apart from others.
    pub tag: u32,
    /// What is asked.
    pub request: Request<M, A>,
}

/// The requests of the classic protocol.
#[derive(Clone, Debug)]
pub enum Request<M, A> {
    /// `JoinGroup`.
    Join(Join<M>),
    /// `SyncGroup`.
    Sync {
        /// Who asks.
        sender: Sender,
        /// The protocol that the member believes to be chosen.
        protocol: Option<Name>,
        /// What the leader assigns to whom; nothing from all others.
        assignments: Vec<(Name, A)>,
    },
    /// `Heartbeat`.
    Heartbeat(Sender),
    /// `LeaveGroup`: member ids, empty where the `group.instance.id` says it all.
    Leave(Vec<(Name, Option<String>)>),
    /// `OffsetCommit`.
    Commit(Sender),
    /// Time passes.
    Wait,
    /// Another broker takes the group over, with what is written of it.
    Move,
}

/// `JoinGroup`.
#[derive(Clone, Debug)]
pub struct Join<M> {
    /// The member's id; empty where it has none.
    pub member: Name,
    /// The id that the coordinator gives it, if it must give one: Kafka draws it.
    pub new_id: Name,
    /// `group.instance.id`.
    pub instance: Option<String>,
    /// `session.timeout.ms`.
    pub session_timeout_ms: i64,
    /// `max.poll.interval.ms`, for how long others wait for this member.
    pub rebalance_timeout_ms: i64,
    /// The assignors, each with what the member says to it.
    pub protocols: Arc<[(Name, M)]>,
    /// Whether a member without an id is first given one (KIP-394, `JoinGroup` from version 4 on).
    pub requires_id: bool,
    /// Whether a leader can be told to skip the assignment (KIP-814, version 9).
    pub skips_assignment: bool,
    /// Why it joins, for people; nothing where there is nothing to say.
    pub reason: String,
}

/// Who asks, and of which generation.
#[derive(Clone, Debug)]
pub struct Sender {
    /// The member's id.
    pub member: Name,
    /// The generation that it knows, -1 where none.
    pub generation: i32,
    /// `group.instance.id`.
    pub instance: Option<String>,
}

/// An answer, and when it is given.
#[derive(Clone, Debug)]
pub struct Effect<M, A> {
    /// The time.
    pub at: i64,
    /// The request's.
    pub tag: u32,
    /// What is answered.
    pub answer: Answer<M, A>,
}

/// The answers.
#[derive(Clone, Debug)]
pub enum Answer<M, A> {
    /// Of `JoinGroup`.
    Joined(Joined<M>),
    /// Of `SyncGroup`.
    Synced {
        /// What went wrong.
        code: Code,
        /// The protocol that the group has chosen.
        protocol: Option<Name>,
        /// What the member reads; nothing where no leader said so.
        assignment: Option<A>,
    },
    /// Of `LeaveGroup`, for each member.
    Left(Code, Vec<Code>),
    /// Of `Heartbeat` and `OffsetCommit`.
    Done(Code),
}

/// The answer of `JoinGroup`: only the leader is told who the members are.
#[derive(Clone, Debug)]
pub struct Joined<M> {
    /// What went wrong.
    pub code: Code,
    /// The generation, -1 where there is none.
    pub generation: i32,
    /// The assignor that the group has chosen.
    pub protocol: Option<Name>,
    /// The leader's id.
    pub leader: Option<Name>,
    /// The member's own id.
    pub member: Name,
    /// Whether the leader shall not assign anything (KIP-814).
    pub skip_assignment: bool,
    /// For the leader, the members in the order of the coordinator's map: ids, `group.instance.id`, and what they say.
    pub members: Vec<(Name, Option<String>, M)>,
}

/// The group.
#[derive(Clone, Debug)]
pub struct Group<M, A> {
    pub(super) config: Config,
    phase: Phase,
    previous: Phase,
    generation: i32,
    protocol: Option<Name>,
    leader: Option<Id>,
    /// All that were ever members, or were given an id to join with.
    names: Names,
    members: ChangingHashMap<Member<M, A>>,
    statics: Map<String, Id>,
    pending: Set<Id>,
    pending_sync: Set<Id>,
    awaiting_join: usize,
    /// How many members have each assignor.
    supported: BTreeMap<Name, usize>,
    new_member_added: bool,
    made: bool,
    timers: Timers<Timer>,
    /// Of a first rebalance that waits for others to come: for how long, and for how much longer it may.
    initial: Option<(i64, i64)>,
    /// The generation whose `SyncGroup`s are awaited.
    sync_generation: i32,
    written: Written<M, A>,
    effects: Vec<Effect<M, A>>,
    /// Why the last rebalance began, in Kafka's own words.
    reason: String,
}

/// What `__consumer_offsets` has of a group: its state after the last completed rebalance.
#[derive(Clone, Debug)]
struct Written<M, A> {
    generation: i32,
    protocol: Option<Name>,
    leader: Option<Id>,
    members: Vec<(Id, Member<M, A>)>,
}

impl<M: Clone + PartialEq, A: Clone> Group<M, A> {
    /// A group that nobody has joined yet.
    #[must_use]
    pub fn new(config: Config) -> Self {
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
            written: Written { generation: 0, protocol: None, leader: None, members: Vec::new() },
            effects: Vec::new(),
            reason: String::new(),
        }
    }

    /// What becomes of the group with an event, and what is answered until then and at once: all timers fire that are due by
    /// the event's time, before it and after.
    #[must_use]
    pub fn step(mut self, event: Event<M, A>) -> (Self, Vec<Effect<M, A>>) {
        self.apply(event);
        let effects = std::mem::take(&mut self.effects);
        (self, effects)
    }

    /// The same in place, for who plays a whole life: what is answered is left to be taken.
    pub(super) fn apply(&mut self, event: Event<M, A>) {
        let Event { at, tag, request } = event;
        self.fire_due(at);
        match request {
            Request::Join(join) => self.join(join, at, tag),
            Request::Sync { sender, protocol, assignments } => {
                self.sync(&sender, protocol.as_deref(), assignments, at, tag);
            }
            Request::Heartbeat(sender) => {
                let code = self.heartbeat(&sender, at);
                self.answer(at, tag, Answer::Done(code));
            }
            Request::Leave(leaving) => self.leave(&leaving, at, tag),
            Request::Commit(sender) => {
                let code = self.validate_commit(&sender);
                // Whoever assigns itself commits to a group all the same.
                self.made |= code == Code::None;
                if code == Code::None
                    && matches!(self.phase, Phase::Stable | Phase::PreparingRebalance)
                    && let Some(id) = self.names.find(&sender.member)
                {
                    self.put_session_off(id, at);
                }
                self.answer(at, tag, Answer::Done(code));
            }
            Request::Wait => {}
            Request::Move => self.reload(at),
        }
        // What the request has set for no time at all.
        self.fire_due(at);
    }

    /// What was answered since the last time.
    pub(super) fn effects(&mut self) -> std::vec::Drain<'_, Effect<M, A>> {
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

    fn answer(&mut self, at: i64, tag: u32, answer: Answer<M, A>) {
        self.effects.push(Effect { at, tag, answer });
    }
}

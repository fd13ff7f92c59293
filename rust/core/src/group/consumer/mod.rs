//! A group of KIP-848's protocol as its coordinator sees it: heartbeats in, epochs and assignments out.
//!
//! Exact to `GroupMetadataManager` and `CurrentAssignmentBuilder` of kafka-group-coordinator 4.4.0, where a write to
//! `__consumer_offsets` takes no time and does not fail, and an assignor takes none. Regular expressions, racks and
//! members of the classic protocol are not supported.

mod heartbeat;
mod leave;
mod member;
mod reconcile;
mod target;

pub use member::{ConsumerGroupMember, HeldPartitions, State};
use target::MemberTarget;
pub use target::{ASSIGNORS, check_assignor};

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error_code::Code;
use super::timers::Timers;
use super::{GroupEffect, GroupEvent, Map};
use crate::Result;
use crate::interned::Name;
use crate::java::base_hash_table::TimelineHashMap;
use crate::java::uuid::TopicId;

/// The epoch of a group that nobody has joined (`ModernGroup`).
const FIRST_EPOCH: i32 = 1;

/// A topic, as a place in the list of them, and a partition.
pub type Place = (u32, i32);

/// The coordinator's settings, under Kafka's names; all times are milliseconds.
#[derive(Clone, Debug)]
pub struct ConsumerGroupConfig {
    /// `group.consumer.session.timeout.ms`.
    pub session_timeout_ms: i64,
    /// `group.consumer.heartbeat.interval.ms`, which members receive.
    pub heartbeat_interval_ms: i64,
    /// `group.consumer.assignment.interval.ms`: the least time for which a target assignment is kept.
    pub assignment_interval_ms: i64,
    /// `group.consumer.max.size`.
    pub max_size: usize,
    /// `group.consumer.assignors`: the first one is used if no member names another.
    pub assignors: Vec<String>,
}

impl Default for ConsumerGroupConfig {
    fn default() -> Self {
        Self {
            session_timeout_ms: 45_000,
            heartbeat_interval_ms: 5_000,
            assignment_interval_ms: 1_000,
            max_size: i32::MAX as usize,
            assignors: vec!["uniform".to_owned(), "range".to_owned()],
        }
    }
}

/// The requests.
#[derive(Clone, Debug)]
pub enum ConsumerGroupRequest {
    /// `ConsumerGroupHeartbeat`.
    Heartbeat(Heartbeat),
    /// `OffsetCommit`: the member, the epoch that it knows, and the partitions that it commits, which are accepted or
    /// refused together.
    Commit(Name, i32, Vec<Place>),
    /// The cluster's topics from now on, each with its number of partitions, or none if it is missing. Places in the
    /// list never change.
    Topics(Vec<(Name, Option<u32>)>),
    /// Time passes.
    Wait,
    /// Another broker takes over the group.
    Move,
}

/// `ConsumerGroupHeartbeat`: what has not changed is left out.
#[derive(Clone, Debug)]
pub struct Heartbeat {
    /// The member's ID, which it drew itself.
    pub member: Name,
    /// The epoch that it knows: 0 joins, -1 leaves, -2 leaves for a while (static members).
    pub epoch: i32,
    /// `group.instance.id`.
    pub instance: Option<String>,
    /// `client.rack`, which the broker's assignors ignore.
    pub rack: Option<String>,
    /// `max.poll.interval.ms`, within which it has to give up requested partitions.
    pub rebalance_timeout_ms: Option<i64>,
    /// Its subscription, as places in the list of topics.
    pub topics: Option<Vec<u32>>,
    /// `group.remote.assignor`.
    pub assignor: Option<String>,
    /// The partitions that it reads.
    pub owned: Option<Vec<Place>>,
}

/// The answer to a heartbeat or a commit.
#[derive(Clone, Debug)]
pub struct HeartbeatAnswer {
    /// What went wrong.
    pub code: Code,
    /// The member's epoch.
    pub epoch: i32,
    /// What it may read, sorted; none if that has not changed.
    pub assignment: Option<Vec<Place>>,
}

/// The purpose of a timer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum ConsumerGroupTimer {
    Session(Name),
    Rebalance(Name),
}

/// The group.
#[derive(Clone, Debug, Default)]
pub struct ConsumerGroup {
    config: ConsumerGroupConfig,
    topics: Vec<(Name, Option<u32>)>,
    topic_ids: Vec<TopicId>,
    members: Map<Name, ConsumerGroupMember>,
    /// The members in the order of the coordinator's map, which a request changes at its end.
    order: TimelineHashMap,
    statics: Map<String, Name>,
    /// By topic, how many members subscribe to it.
    subscribers: BTreeMap<u32, usize>,
    /// How many members ask for each of [`ASSIGNORS`].
    votes: [usize; ASSIGNORS.len()],
    epoch: i32,
    assignment_epoch: i32,
    assigned_at: Option<i64>,
    target: Map<Name, MemberTarget>,
    /// For members that have to give up partitions, the epoch in which they were asked to.
    asked_in: Map<Name, i32>,
    /// By partition, the member that has not yet given it up.
    taken: Map<Place, Name>,
    /// The topics that the group reads, as of its last epoch.
    known: BTreeMap<u32, u32>,
    stale: bool,
    made: bool,
    /// Whether a consumer that assigns itself has committed: then there is a group without a protocol.
    simple: bool,
    timers: Timers<ConsumerGroupTimer>,
    effects: Vec<GroupEffect<HeartbeatAnswer>>,
    reason: String,
}

impl ConsumerGroup {
    /// A group that nobody has joined yet.
    #[must_use]
    pub fn new(config: ConsumerGroupConfig) -> Self {
        Self { config, epoch: FIRST_EPOCH, assignment_epoch: FIRST_EPOCH, stale: true, ..Self::default() }
    }

    /// The group after an event, and the answers. First all timers fire that are due by the event's time.
    ///
    /// # Errors
    ///
    /// Those of [`crate::assignors::Assignor::assign`].
    pub fn step(
        mut self,
        event: GroupEvent<ConsumerGroupRequest>,
    ) -> Result<(Self, Vec<GroupEffect<HeartbeatAnswer>>)> {
        self.apply(event)?;
        let effects = std::mem::take(&mut self.effects);
        Ok((self, effects))
    }

    /// The same in place, for playing a whole life; the answers wait to be taken.
    pub(super) fn apply(&mut self, event: GroupEvent<ConsumerGroupRequest>) -> Result<()> {
        while let Some((_, timer)) = self.timers.due(event.at) {
            self.fire(timer);
        }
        let GroupEvent { at, tag, request } = event;
        match request {
            ConsumerGroupRequest::Heartbeat(heartbeat) => self.heartbeat(&heartbeat, at, tag)?,
            ConsumerGroupRequest::Commit(member, epoch, places) => {
                let code = self.validate_commit(&member, epoch, &places);
                self.simple |= !self.made && code == Code::None;
                self.refuse(code, at, tag);
            }
            ConsumerGroupRequest::Topics(topics) => self.take_topics(topics),
            ConsumerGroupRequest::Wait => {}
            ConsumerGroupRequest::Move => self.reload(at),
        }
        Ok(())
    }

    /// The answers since the last call.
    pub(super) fn effects(&mut self) -> std::vec::Drain<'_, GroupEffect<HeartbeatAnswer>> {
        self.effects.drain(..)
    }

    /// When the next timer fires, if that is by a time.
    pub fn deadline(&mut self, by: i64) -> Option<i64> {
        self.timers.next(by)
    }

    /// The group's epoch; 0 if there is no group yet.
    pub fn epoch(&self) -> i32 {
        if self.made { self.epoch } else { 0 }
    }

    /// The epoch of the target assignment; 0 if there is no group yet.
    pub fn assignment_epoch(&self) -> i32 {
        if self.made { self.assignment_epoch } else { 0 }
    }

    /// Whether there is a group at all.
    pub fn exists(&self) -> bool {
        self.made || self.simple
    }

    /// `ConsumerGroup.ConsumerGroupState`.
    pub fn state(&self) -> &'static str {
        let reconciled = |member: &ConsumerGroupMember| member.is_reconciled_to(self.assignment_epoch);
        if self.members.is_empty() {
            "Empty"
        } else if self.epoch > self.assignment_epoch {
            "Assigning"
        } else if self.members.values().all(reconciled) {
            "Stable"
        } else {
            "Reconciling"
        }
    }

    /// The members, in the order of their IDs.
    pub fn members(&self) -> Vec<(&Name, &ConsumerGroupMember)> {
        let mut members: Vec<_> = self.members.iter().collect();
        members.sort_unstable_by_key(|(name, _)| *name);
        members
    }

    /// A member.
    pub fn member(&self, name: &str) -> Option<&ConsumerGroupMember> {
        self.members.get(name)
    }

    /// How many members there are.
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// A member's target, sorted.
    pub fn target(&self, member: &str) -> &[Place] {
        self.target.get(member).map_or(&[], |target| &target.sorted)
    }

    /// The same, shared.
    pub(super) fn shared_target(&self, member: &str) -> Arc<[Place]> {
        self.target.get(member).map(|target| Arc::clone(&target.sorted)).unwrap_or_default()
    }

    /// How often members shall send heartbeats.
    pub fn heartbeat_interval_ms(&self) -> i64 {
        self.config.heartbeat_interval_ms
    }

    /// Whether the next heartbeat will look at the topics again.
    pub fn is_stale(&self) -> bool {
        self.stale
    }

    /// Why the group's epoch grew.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    fn answer(&mut self, at: i64, tag: u32, answer: HeartbeatAnswer) {
        self.effects.push(GroupEffect { at, tag, answer });
    }

    fn refuse(&mut self, code: Code, at: i64, tag: u32) {
        self.answer(at, tag, HeartbeatAnswer { code, epoch: 0, assignment: None });
    }

    /// Notes that the topics have changed: the next heartbeat looks at those that the group reads.
    fn take_topics(&mut self, topics: Vec<(Name, Option<u32>)>) {
        let count = |topics: &[(Name, Option<u32>)], topic: u32| topics.get(topic as usize)?.1;
        let changed = |&topic: &u32| count(&topics, topic) != count(&self.topics, topic);
        self.stale |= self.subscribers.keys().any(changed);
        self.topic_ids = topics.iter().map(|(name, _)| TopicId::of_name(name)).collect();
        self.topics = topics;
    }

    /// How many partitions a topic has, if it exists.
    fn partitions(&self, topic: u32) -> Option<u32> {
        self.topics.get(topic as usize)?.1
    }

    /// Whether a member subscribes to an existing topic.
    fn is_read_by(&self, member: &ConsumerGroupMember, topic: u32) -> bool {
        member.topics.binary_search(&topic).is_ok() && self.partitions(topic).is_some()
    }

    /// The existing topics that the group reads.
    fn read(&self) -> BTreeMap<u32, u32> {
        self.subscribers.keys().filter_map(|&topic| Some((topic, self.partitions(topic)?))).collect()
    }

    /// Counts the subscription and the assignor of a member that joins or leaves.
    fn count(&mut self, topics: &[u32], assignor: Option<&str>, comes: bool) {
        for &topic in topics {
            let count = self.subscribers.entry(topic).or_default();
            *count = if comes { *count + 1 } else { *count - 1 };
            if *count == 0 {
                self.subscribers.remove(&topic);
            }
        }
        if let Some(place) = ASSIGNORS.iter().position(|&name| Some(name) == assignor) {
            self.votes[place] = if comes { self.votes[place] + 1 } else { self.votes[place] - 1 };
        }
    }
}

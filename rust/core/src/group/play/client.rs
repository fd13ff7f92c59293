//! A consumer in a play: what it knows, what it reads, and what it has asked.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::consumer::Place;
use super::super::error_code::Code;
use super::super::{classic, consumer};
use super::script::Consumer;
use crate::interned::Name;

/// What a classic member says of itself to an assignor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub topics: Arc<[u32]>,
    /// What it owns, and as of which generation.
    pub owned: Arc<[Place]>,
    pub generation: i32,
    /// What `sticky` remembers of its last assignment, and of which generation: its user data.
    pub remembers: Option<(Arc<[Place]>, i32)>,
}

/// What the coordinator has answered to a client.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    Classic(classic::Answer<Said, Arc<[Place]>>),
    Consumer(consumer::Effect),
}

impl Answer {
    /// Whether it is on its way for a time that counts: a member's first id is not, and a heartbeat that changes nothing.
    pub(super) fn takes_time(&self) -> bool {
        match self {
            Self::Classic(classic::Answer::Joined(joined)) => joined.code != Code::MemberIdRequired,
            Self::Classic(classic::Answer::Synced { .. }) => true,
            Self::Classic(classic::Answer::Left(..) | classic::Answer::Done(_)) => false,
            Self::Consumer(effect) => effect.assignment.is_some(),
        }
    }
}

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Join,
    Sync,
    Heartbeat,
    Leave,
    Commit,
}

impl Asked {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Join => "JoinGroup",
            Self::Sync => "SyncGroup",
            Self::Heartbeat => "Heartbeat",
            Self::Leave => "LeaveGroup",
            Self::Commit => "OffsetCommit",
        }
    }
}

/// A consumer.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what a client is doing comes in any combination")]
pub(super) struct Client {
    /// How it was started the last time.
    pub config: Option<Arc<Consumer>>,
    pub alive: bool,
    /// When it was started.
    pub since: i64,
    /// How often it was started: answers to an earlier start are nobody's.
    pub start: u32,
    /// Its member id, once it has one.
    pub id: Name,
    pub generation: i32,
    pub topics: Arc<[u32]>,
    /// What it reads, sorted.
    pub reading: Vec<Place>,
    /// What `sticky` remembers of its last assignment, and of which generation.
    pub memory: (Arc<[Place]>, i32),
    /// Whether a `JoinGroup` or `SyncGroup` is under way.
    pub joining: bool,
    /// Whether it shall join as soon as it polls again.
    pub rejoin: bool,
    /// What it tells the coordinator then of why.
    pub rejoins_as: &'static str,
    pub stalled_since: Option<i64>,
    pub stalled_until: i64,
    /// Answers that wait for the next poll.
    pub inbox: Vec<(Asked, Answer)>,
    /// By which the last heartbeat that was set is told apart from those before.
    pub beat: u64,
    /// By which the next look at the topics is told apart from those that were set before.
    pub look: u64,
    /// Since when its clock of auto commits runs.
    pub commits_since: i64,
    /// Up to when it had read what it has committed by itself.
    pub committed: i64,
    /// By topic, how many partitions it has seen; only what it has looked at.
    pub seen: Vec<Option<u32>>,
    pub leads: bool,
    /// The subscription that the coordinator was told of last.
    pub told_topics: Option<Arc<[u32]>>,
    /// When the last heartbeat was sent, whether its answer is awaited, and whether another one waits for that (KIP-848).
    pub sent_at: i64,
    pub in_flight: bool,
    pub sends_again: bool,
    /// What it has told the coordinator that it owns (KIP-848).
    pub told_owned: Option<Vec<Place>>,
    /// The assignment that it is on its way to (KIP-848).
    pub wanted: Option<Vec<Place>>,
}

impl Client {
    pub(super) fn new() -> Self {
        Self {
            config: None,
            alive: false,
            since: 0,
            start: 0,
            id: "".into(),
            generation: -1,
            topics: Arc::new([]),
            reading: Vec::new(),
            memory: (Arc::new([]), -1),
            joining: false,
            rejoin: false,
            rejoins_as: "",
            stalled_since: None,
            stalled_until: 0,
            inbox: Vec::new(),
            beat: 0,
            look: 0,
            commits_since: 0,
            committed: 0,
            seen: Vec::new(),
            leads: false,
            told_topics: None,
            sent_at: 0,
            in_flight: false,
            sends_again: false,
            told_owned: None,
            wanted: None,
        }
    }

    /// Up to when the offsets of what it has read are committed, if it is gone at a time without another word.
    pub(super) fn committed_by(&self, at: i64) -> i64 {
        let by_itself = match self.config.as_ref().and_then(|config| config.auto_commit_interval_ms) {
            Some(interval) => {
                self.commits_since + (at - self.commits_since) / interval.max(1) * interval.max(1)
            }
            None => self.commits_since,
        };
        by_itself.max(self.committed)
    }

    /// When its application polls next, at a time or after it. Members do not poll in step: each has a place of its own
    /// in the time between two polls.
    pub(super) fn next_poll(&self, reader: u32, at: i64) -> i64 {
        let poll_ms = self.config.as_ref().map_or(0, |config| config.poll_ms);
        if poll_ms <= 0 {
            return at;
        }
        // Steps of the golden section spread any number of members evenly.
        let offset = (i64::from(reader.wrapping_mul(0x9e37_79b9)) * poll_ms) >> 32;
        let late = (at - self.since - offset).rem_euclid(poll_ms);
        if late == 0 { at } else { at + poll_ms - late }
    }

    /// Whether it is subscribed to what the coordinator was told of, in whatever order.
    pub(super) fn is_subscribed_as_told(&self) -> bool {
        let sorted = |topics: &[u32]| topics.iter().copied().collect::<BTreeSet<u32>>();
        let same =
            |told: &Arc<[u32]>| Arc::ptr_eq(told, &self.topics) || sorted(told) == sorted(&self.topics);
        self.told_topics.as_ref().is_some_and(same)
    }

    /// Whether it is subscribed to a topic. Most subscribe to all of them in their order, where a topic's place is its number.
    pub(super) fn subscribes(&self, topic: u32) -> bool {
        self.topics.get(topic as usize) == Some(&topic) || self.topics.contains(&topic)
    }

    pub(super) fn is_static(&self) -> bool {
        self.config.as_ref().is_some_and(|config| config.instance.is_some())
    }

    pub(super) fn instance(&self) -> Option<String> {
        self.config.as_ref().and_then(|config| config.instance.clone())
    }
}

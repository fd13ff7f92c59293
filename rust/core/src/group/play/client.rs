//! A consumer in a play: what it knows, what it reads, and what it has asked.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::super::consumer::Place;
use super::super::error_code::Code;
use super::super::{classic, consumer};
use super::application::Application;
use super::classic_member::ClassicMember;
use super::membership::Membership;
use super::script::Consumer;
use crate::interned::Name;

/// What a classic member says of itself to an assignor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub topics: Arc<[u32]>,
    /// What it owns, and as of which generation.
    pub owned: Arc<[Place]>,
    pub generation: i32,
    /// What it remembers of its last assignment, and of which generation, where its assignor asks for that.
    pub remembers: Option<(Arc<[Place]>, i32)>,
    /// Its client.
    pub client: Name,
}

/// What a classic member asks the coordinator.
pub(super) type ClassicRequest = classic::Request<Said, Arc<[Place]>>;

/// What the coordinator has answered to a client.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    Classic(classic::Answer<Said, Arc<[Place]>>),
    Consumer(consumer::Effect),
}

impl Answer {
    /// Whether it matters that it is on its way for a while: a heartbeat that changes nothing makes no difference.
    pub(super) fn takes_time(&self, asked: Asked) -> bool {
        match self {
            _ if asked == Asked::Commit => false,
            Self::Classic(classic::Answer::Left(..)) => false,
            Self::Classic(classic::Answer::Done(code)) => asked != Asked::Heartbeat || *code != Code::None,
            Self::Classic(_) => true,
            Self::Consumer(effect) => {
                asked == Asked::AutoCommit || effect.assignment.is_some() || effect.code != Code::None
            }
        }
    }

    /// What went wrong, if anything.
    pub(super) fn code(&self) -> Code {
        match self {
            Self::Classic(classic::Answer::Joined(joined)) => joined.code,
            Self::Classic(
                classic::Answer::Done(code)
                | classic::Answer::Synced { code, .. }
                | classic::Answer::Left(code, _),
            ) => *code,
            Self::Consumer(effect) => effect.code,
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
    /// An offset that the script has it commit.
    Commit,
    /// What it has read, which it commits by itself.
    AutoCommit,
}

impl Asked {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Join => "JoinGroup",
            Self::Sync => "SyncGroup",
            Self::Heartbeat => "Heartbeat",
            Self::Leave => "LeaveGroup",
            Self::Commit | Self::AutoCommit => "OffsetCommit",
        }
    }
}

/// From where a consumer reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Positions {
    /// Of which partitions one of KIP-848's protocol has to find that out, sorted.
    pub unknown: Vec<Place>,
    /// Of which ones it asks, and when it has found that out.
    pub asked: Vec<Place>,
    pub at: Option<i64>,
    /// Why the coordinator refuses to tell the group's offsets of these, if it does.
    pub refused: Option<Code>,
    /// Whether it has the group's offsets of these, and lacks only their leaders.
    pub are_committed: bool,
    /// Whether it has asked the brokers that have its partitions for anything before.
    pub are_near: bool,
}

/// A consumer.
#[derive(Clone, Debug)]
pub(super) struct Client {
    /// How it was started the last time.
    pub config: Option<Arc<Consumer>>,
    pub alive: bool,
    /// How often it was started: answers to an earlier start are nobody's.
    pub start: u32,
    pub app: Application,
    /// When it has found the group's coordinator.
    pub finds_at: i64,
    /// Its member id, once it has one.
    pub id: Name,
    /// Its generation, or its epoch.
    pub generation: i32,
    pub topics: Arc<[u32]>,
    /// The subscription that the coordinator was told of last.
    pub told_topics: Option<Arc<[u32]>>,
    /// What is assigned to it (`SubscriptionState.assignedPartitions`), sorted.
    pub owned: Vec<Place>,
    /// What of that it returns no records of any more, sorted: pending revocation, or of topics that it has unsubscribed from.
    pub held_back: Vec<Place>,
    /// Whether its `poll()` returns records, and so at once.
    pub is_busy: bool,
    /// From where it reads, which one of KIP-848's protocol has to find out.
    pub positions: Positions,
    /// What `sticky` remembers of its last assignment, and of which generation.
    pub memory: (Arc<[Place]>, i32),
    /// Answers that nobody has handled yet: of the classic protocol, those that wait for one of its threads.
    pub inbox: VecDeque<(Asked, u32, Answer)>,
    /// When the application's next pass is that has something to do, and by which it is told apart from others.
    pub pass: Option<(i64, u64)>,
    /// By which the last heartbeat that was set is told apart from those before.
    pub beat: u64,
    /// By which the next look at the topics is told apart from those that were set before.
    pub look: u64,
    /// Since when its clock of automatic commits runs.
    pub commits_since: Option<i64>,
    /// Up to when it had read what it has committed.
    pub committed: i64,
    /// By topic, how many partitions it has seen; only what it has looked at.
    pub seen: Vec<Option<u32>>,
    /// Since when it closes, and whether it says then that it leaves.
    pub closes_as: Option<(i64, Option<bool>)>,
    /// An error that the application sees at its next pass.
    pub error: Option<Code>,
    pub classic: ClassicMember,
    /// What `JoinGroup` was answered to a classic leader that looks at the topics first, and when it has.
    pub elected: Option<(i64, classic::Joined<Said>)>,
    pub membership: Membership,
}

impl Client {
    pub(super) fn new() -> Self {
        Self {
            config: None,
            alive: false,
            start: 0,
            app: Application::default(),
            finds_at: 0,
            id: "".into(),
            generation: -1,
            topics: Arc::new([]),
            told_topics: None,
            owned: Vec::new(),
            held_back: Vec::new(),
            is_busy: false,
            positions: Positions::default(),
            memory: (Arc::new([]), -1),
            inbox: VecDeque::new(),
            pass: None,
            beat: u64::MAX,
            look: 0,
            commits_since: None,
            committed: 0,
            seen: Vec::new(),
            closes_as: None,
            error: None,
            classic: ClassicMember::default(),
            elected: None,
            membership: Membership::default(),
        }
    }

    /// When either of a classic client's threads has the network, at a time or after it.
    pub(super) fn has_network(&self, from: i64) -> i64 {
        if !self.is_busy && from < self.app.end_of(self.app.last_poll(from)) {
            return from;
        }
        let look = self.classic.looks_since.map(|since| self.app.next_look(since, from, self.is_busy));
        look.unwrap_or(i64::MAX).min(self.app.next_poll(from))
    }

    /// Whether `enable.auto.commit` is true.
    pub(super) fn auto_commits(&self) -> bool {
        self.config.as_ref().is_some_and(|config| config.auto_commit_interval_ms.is_some())
    }

    /// When it last committed by itself because `auto.commit.interval.ms` was over, by a time: it does so when it polls.
    pub(super) fn last_auto_commit(&self, at: i64) -> Option<i64> {
        let interval = self.config.as_ref().and_then(|config| config.auto_commit_interval_ms)?.max(1);
        let first = self.app.in_rhythm(self.commits_since? + interval);
        let every = self.app.in_rhythm(first + interval) - first;
        (first <= at).then(|| first + (at - first) / every.max(1) * every.max(1))
    }

    /// Up to when the offsets of what it has read are committed, if it is gone at a time without another word.
    pub(super) fn committed_by(&self, at: i64) -> i64 {
        self.last_auto_commit(at).map_or(self.committed, |last| last.max(self.committed))
    }

    /// For how long its listener's callbacks take; none where it has no listener.
    pub(super) fn listener_ms(&self) -> Option<i64> {
        self.config.as_ref().and_then(|config| config.listener_ms)
    }

    pub(super) fn max_poll_interval_ms(&self) -> i64 {
        self.config.as_ref().map_or(i64::MAX, |config| config.max_poll_interval_ms)
    }

    /// The last pass of its application by a time.
    pub(super) fn last_pass(&self, at: i64) -> i64 {
        self.app.last_pass(at, self.is_busy)
    }

    /// The last pass by a time of which the network thread of KIP-848's protocol was told.
    pub(super) fn last_told(&self, at: i64) -> i64 {
        if self.is_busy { self.app.last_told(at) } else { self.last_pass(at) }
    }

    /// When the network thread takes it for one that polls too seldom, by what it has heard by a time.
    pub(super) fn polls_by(&self, at: i64) -> i64 {
        self.last_told(at).saturating_add(self.max_poll_interval_ms())
    }

    /// It has new partitions: those of KIP-848's protocol do not ask yet from where to read them.
    pub(super) fn initializes(&mut self, added: &[Place]) {
        let positions = &mut self.positions;
        positions.unknown.retain(|place| self.owned.binary_search(place).is_ok());
        if !added.is_empty() {
            positions.unknown.extend_from_slice(added);
            positions.unknown.sort_unstable();
            positions.are_committed = false;
        }
    }

    /// Of which partitions it has yet to find out from where to read (`initializingPartitions`).
    pub(super) fn initializing(&self) -> impl Iterator<Item = Place> {
        let unknown = self.positions.unknown.iter().copied();
        unknown.filter(|place| self.held_back.binary_search(place).is_err())
    }

    /// Whether its metadata has a partition.
    pub(super) fn knows_leader(&self, (topic, partition): Place) -> bool {
        self.seen[topic as usize].is_some_and(|count| partition < count.cast_signed())
    }

    /// Whether there is anything to commit of what it has (`allConsumed`).
    pub(super) fn has_consumed(&self) -> bool {
        self.owned.len() > self.positions.unknown.len()
    }

    /// Whether a classic one knows from where to read any of what it has: `allConsumed` is not empty.
    pub(super) fn has_positions(&self) -> bool {
        self.owned.len() > self.classic.unpositioned.len() || self.classic.records_at.is_some()
    }

    /// Whether the network thread has asked for records that do not come.
    pub(super) fn fetches_in_vain(&self) -> bool {
        let fetches = |place| {
            self.held_back.binary_search(place).is_err()
                && self.positions.unknown.binary_search(place).is_err()
        };
        !self.is_busy && self.owned.iter().any(fetches)
    }

    /// Whether its application polls too seldom for the group, even if nothing keeps it.
    pub(super) fn polls_too_seldom(&self) -> bool {
        // That of every second call is all that KIP-848's network thread hears of.
        2 * self.app.poll_ms() >= self.max_poll_interval_ms()
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

/// What is in one sorted list and not in another.
pub(super) fn beyond(list: &[Place], other: &[Place]) -> Vec<Place> {
    list.iter().copied().filter(|place| other.binary_search(place).is_err()).collect()
}

//! A consumer in a play: what it knows, what it reads, and which requests it has sent.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::super::super::consumer::Place;
use super::super::super::error_code::Code;
use super::super::super::{classic, consumer};
use super::application::{Application, RETRY_BACKOFF_MS};
use super::classic_member::{ClassicMember, Said};
use super::membership::Membership;
use super::script::Consumer;
use super::version::Version;
use crate::interned::Name;

/// The coordinator's answer to a client.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    Classic(classic::Response<Said, Arc<[Place]>>),
    Consumer(consumer::Effect),
}

impl Answer {
    /// Whether the answer's time on the way matters. It does not for a heartbeat that changes nothing.
    pub(super) fn takes_time(&self, asked: Asked) -> bool {
        match self {
            _ if asked == Asked::Commit => false,
            Self::Classic(classic::Response::Left(..)) => false,
            Self::Classic(classic::Response::Done(code)) => asked != Asked::Heartbeat || *code != Code::None,
            Self::Classic(_) => true,
            Self::Consumer(effect) => {
                asked == Asked::AutoCommit || effect.assignment.is_some() || effect.code != Code::None
            }
        }
    }

    /// The answer's error code; `Code::None` if nothing went wrong.
    pub(super) fn code(&self) -> Code {
        match self {
            Self::Classic(classic::Response::Joined(joined)) => joined.code,
            Self::Classic(
                classic::Response::Done(code)
                | classic::Response::Synced { code, .. }
                | classic::Response::Left(code, _),
            ) => *code,
            Self::Consumer(effect) => effect.code,
        }
    }
}

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Join,
    Sync,
    Heartbeat,
    Leave,
    /// A commit that the script asks for.
    Commit,
    /// An automatic commit of what the consumer has read.
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

/// How far a KIP-848 consumer has got in finding the positions from which to read.
#[derive(Clone, Debug, Default)]
pub(super) struct Positions {
    /// The partitions whose positions it does not know yet, sorted.
    pub unknown: Vec<Place>,
    /// The partitions whose positions it has asked for.
    pub asked: Vec<Place>,
    /// When it will know these positions, and have records.
    pub at: Option<i64>,
    /// Whether it has to ask the brokers for the first offsets, too (`ListOffsets`).
    pub lists: bool,
    /// The error with which the coordinator refuses to tell the group's offsets of these partitions, if it does.
    pub refused: Option<Code>,
    /// New partitions whose positions it asks for before it has called its listener, in versions that do so.
    pub early: Vec<Place>,
    /// Whether it already has the group's offsets of these partitions, and lacks only their leaders.
    pub are_committed: bool,
    /// Whether it has already sent a request to the brokers of its partitions.
    pub are_near: bool,
}

impl Positions {
    /// Whether they are found by `now`, a millisecond before the records. If the brokers' answer comes at this instant, an
    /// application that has waited for longer goes first.
    pub(super) fn are_found(&self, now: i64) -> bool {
        self.at.is_none_or(|at| at <= now + i64::from(!self.lists))
    }
}

/// A consumer.
#[derive(Clone, Debug)]
pub(super) struct Client {
    /// Its configuration at its latest start.
    pub config: Option<Arc<Consumer>>,
    pub alive: bool,
    /// How many times it has started. Answers to an earlier start are dropped.
    pub start: u32,
    pub app: Application,
    /// As which version of kafka-clients a KIP-848 consumer lives.
    pub version: Version,
    /// When it has found the group's coordinator.
    pub finds_at: i64,
    /// Its member ID, once it has one.
    pub id: Name,
    /// Its generation, or its member epoch with KIP-848.
    pub generation: i32,
    pub topics: Arc<[u32]>,
    /// The subscription that it last told the coordinator.
    pub told_topics: Option<Arc<[u32]>>,
    /// Its assigned partitions (`SubscriptionState.assignedPartitions`), sorted.
    pub owned: Vec<Place>,
    /// The assigned partitions whose records it no longer returns, sorted: they are pending revocation, or it has
    /// unsubscribed from their topics.
    pub held_back: Vec<Place>,
    /// Whether its `poll()` finds records, and so returns at once.
    pub is_busy: bool,
    /// Whether a KIP-848 consumer's buffer of fetched records holds only records that no `poll()` will return. Their
    /// fetch has woken the buffer (`FetchBuffer.awaitWakeup`), so the next wait for records ends at once.
    pub has_stale_records: bool,
    /// The positions that a KIP-848 consumer has to find.
    pub positions: Positions,
    /// The assignment that `sticky` remembers, and its generation.
    pub memory: (Arc<[Place]>, i32),
    /// Answers that neither thread of a classic consumer has handled yet.
    pub inbox: VecDeque<(Asked, u32, Answer)>,
    /// When the application next makes a pass that has something to do, and that pass's number.
    pub pass: Option<(i64, u64)>,
    /// The number of the heartbeat that was scheduled last. Earlier ones no longer count.
    pub beat: u64,
    /// The number of the look at the topics that was scheduled last. Earlier ones no longer count.
    pub look: u64,
    /// When its timer of automatic commits started.
    pub commits_since: Option<i64>,
    /// All that it read up to this time is committed.
    pub committed: i64,
    /// By topic, how many partitions it has seen; `None` for topics that it has not seen.
    pub seen: Vec<Option<u32>>,
    /// When it began to close, and whether it then tells the coordinator that it leaves. If this is not specified, the
    /// default of `close()` decides.
    pub closes_as: Option<(i64, Option<bool>)>,
    /// An error that the application sees at its next pass.
    pub error: Option<Code>,
    pub classic: ClassicMember,
    /// If a classic leader looks at the topics before it assigns: when that look ends, and its answer to `JoinGroup`.
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
            version: Version::default(),
            finds_at: 0,
            id: "".into(),
            generation: -1,
            topics: Arc::new([]),
            told_topics: None,
            owned: Vec::new(),
            held_back: Vec::new(),
            is_busy: false,
            has_stale_records: false,
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

    /// The first time at or after `from` when one of a classic client's threads has the network.
    pub(super) fn has_network(&self, from: i64) -> i64 {
        if !self.is_busy && from < self.app.end_of(self.app.last_poll(from)) {
            return from;
        }
        let look = self.classic.looks_since.map(|since| self.app.next_look(since, from, self.is_busy));
        look.unwrap_or(i64::MAX).min(self.app.next_poll(from))
    }

    /// Whether a busy application is the first to wake, if its heartbeat thread wakes at the same instant: whoever has
    /// waited for longer is.
    pub(super) fn wakes_first(&self) -> bool {
        let poll_ms = self.app.poll_ms();
        poll_ms > RETRY_BACKOFF_MS || poll_ms == RETRY_BACKOFF_MS && self.classic.is_woken_by_app
    }

    /// Whether `enable.auto.commit` is true.
    pub(super) fn auto_commits(&self) -> bool {
        self.config.as_ref().is_some_and(|config| config.auto_commit_interval_ms.is_some())
    }

    /// When it last committed automatically, at or before `at`. It commits in the first `poll()` after
    /// `auto.commit.interval.ms` has passed; with KIP-848, in the first of which its network thread is told.
    pub(super) fn last_auto_commit(&self, at: i64) -> Option<i64> {
        let interval = self.config.as_ref().and_then(|config| config.auto_commit_interval_ms)?.max(1);
        let due = self.commits_since? + interval;
        let (first, every, at) = if self.app.calls_a_telling > 0 {
            let (first, step) = self.app.first_told(due, self.is_busy);
            (first, interval + (-interval).rem_euclid(step.max(1)), self.last_pass(at).min(at))
        } else {
            let first = self.app.in_rhythm(due);
            (first, self.app.in_rhythm(first + interval) - first, at)
        };
        (first <= at).then(|| first + (at - first) / every.max(1) * every.max(1))
    }

    /// Notes the commits that it has made by itself before `at`.
    pub(super) fn notes_commits(&mut self, at: i64) {
        if let Some(last) = self.last_auto_commit(at - 1) {
            (self.commits_since, self.committed) = (Some(last), self.committed.max(last));
        }
    }

    /// Notes that a commit that is due at `at` has not been sent, however the consumer polls from now on.
    pub(super) fn owes_commit(&mut self, at: i64) {
        let interval_ms = self.config.as_ref().and_then(|config| config.auto_commit_interval_ms);
        if let Some((since, interval_ms)) = self.commits_since.zip(interval_ms) {
            self.commits_since = Some(since.max(at - interval_ms));
        }
    }

    /// Up to when its reads are committed, if it vanishes at `at` without another request.
    pub(super) fn committed_by(&self, at: i64) -> i64 {
        self.last_auto_commit(at).map_or(self.committed, |last| last.max(self.committed))
    }

    /// How long its listener's callbacks take; `None` if it has no listener.
    pub(super) fn listener_ms(&self) -> Option<i64> {
        self.config.as_ref().and_then(|config| config.listener_ms)
    }

    pub(super) fn max_poll_interval_ms(&self) -> i64 {
        self.config.as_ref().map_or(i64::MAX, |config| config.max_poll_interval_ms)
    }

    /// Notes how long the call of `poll()` that a classic client is in at `now` lasts: the next one begins after that,
    /// also if this one is outside its rhythm.
    pub(super) fn stays_inside(&mut self, now: i64) {
        let call = self.app.last_poll(now);
        self.app.stays_inside(call, if self.is_busy { now } else { self.app.end_of(call) });
    }

    /// Whether its application is inside the call of `poll()` that began at `call`, if that finds no records.
    pub(super) fn is_in_call(&self, call: i64, at: i64) -> bool {
        self.app.last_poll(at) == call && at < self.app.end_of(call)
    }

    /// The last pass of its application at or before `at`.
    pub(super) fn last_pass(&self, at: i64) -> i64 {
        self.app.last_pass(at, self.is_busy)
    }

    /// From when `max.poll.interval.ms` counts for a classic client at `at`.
    pub(super) fn last_polled(&self, at: i64) -> i64 {
        self.last_pass(at).max(self.classic.polled)
    }

    /// The last pass at or before `at` of which KIP-848's network thread was told.
    pub(super) fn last_told(&self, at: i64) -> i64 {
        self.app.last_told(at, self.is_busy)
    }

    /// When the network thread will decide that the application polls too seldom, by what it has heard up to `at`.
    pub(super) fn polls_by(&self, at: i64) -> i64 {
        self.last_told(at).saturating_add(self.max_poll_interval_ms())
    }

    /// Notes new partitions. A KIP-848 consumer does not ask for their positions yet.
    pub(super) fn initializes(&mut self, added: &[Place]) {
        let positions = &mut self.positions;
        let early = std::mem::take(&mut positions.early);
        positions.unknown.retain(|place| self.owned.binary_search(place).is_ok());
        let added = beyond(added, &early);
        if !added.is_empty() {
            positions.unknown.extend_from_slice(&added);
            positions.unknown.sort_unstable();
            positions.are_committed = false;
        }
    }

    /// Notes partitions that it will have when its listener has been called.
    pub(super) fn initializes_early(&mut self, places: &[Place]) {
        let early = beyond(places, &self.owned);
        let positions = &mut self.positions;
        positions.unknown.extend(beyond(&early, &positions.unknown));
        positions.unknown.sort_unstable();
        (positions.early, positions.are_committed) = (early, false);
    }

    /// The partitions whose positions it has yet to find (`initializingPartitions`).
    pub(super) fn initializing(&self) -> impl Iterator<Item = Place> {
        let unknown = self.positions.unknown.iter().copied();
        unknown.filter(|place| self.held_back.binary_search(place).is_err())
    }

    /// Whether its metadata contains a partition.
    pub(super) fn knows_leader(&self, (topic, partition): Place) -> bool {
        self.seen[topic as usize].is_some_and(|count| partition < count.cast_signed())
    }

    /// Whether its application goes round inside of `poll()` at least each `retry.backoff.ms`.
    pub(super) fn goes_round_often(&self) -> bool {
        let has_none = !self.version.waits_for_thread() && self.owned.is_empty();
        self.version.goes_round_often() || has_none || self.initializing().next().is_some()
    }

    /// Whether it has anything to commit: `allConsumed` is not empty.
    pub(super) fn has_consumed(&self) -> bool {
        self.owned.len() > self.positions.unknown.len()
    }

    /// Whether a classic consumer knows the position of any of its partitions: `allConsumed` is not empty.
    pub(super) fn has_positions(&self, now: i64) -> bool {
        self.owned.len() > self.classic.unpositioned.len()
            || self.classic.records_at.is_some() && self.classic.knows_at <= now
    }

    /// Whether the network thread has sent a fetch that brings no records.
    pub(super) fn fetches_in_vain(&self) -> bool {
        let fetches = |place| {
            self.held_back.binary_search(place).is_err()
                && self.positions.unknown.binary_search(place).is_err()
        };
        !self.is_busy && self.owned.iter().any(fetches)
    }

    /// Whether its application polls too seldom for the group, even if nothing holds it up.
    pub(super) fn polls_too_seldom(&self) -> bool {
        // KIP-848's network thread hears only of every second call.
        2 * self.app.poll_ms() >= self.max_poll_interval_ms()
    }

    /// Whether its subscription is the one that it told the coordinator, in any order.
    pub(super) fn is_subscribed_as_told(&self) -> bool {
        let sorted = |topics: &[u32]| topics.iter().copied().collect::<BTreeSet<u32>>();
        let same =
            |told: &Arc<[u32]>| Arc::ptr_eq(told, &self.topics) || sorted(told) == sorted(&self.topics);
        self.told_topics.as_ref().is_some_and(same)
    }

    /// Whether it subscribes to a topic. Most consumers subscribe to all topics in order, so that a topic's index in
    /// the list is its number.
    pub(super) fn subscribes(&self, topic: u32) -> bool {
        self.topics.get(topic as usize) == Some(&topic) || self.topics.contains(&topic)
    }

    /// Whether it returns records of a topic whose partitions it has.
    pub(super) fn returns_records_of(&self, topic: u32) -> bool {
        self.version.reads_unsubscribed() || self.subscribes(topic)
    }

    pub(super) fn is_static(&self) -> bool {
        self.config.as_ref().is_some_and(|config| config.instance.is_some())
    }

    pub(super) fn instance(&self) -> Option<String> {
        self.config.as_ref().and_then(|config| config.instance.clone())
    }
}

/// The partitions of one sorted list that another lacks.
pub(super) fn beyond(list: &[Place], other: &[Place]) -> Vec<Place> {
    if other.is_empty() {
        return list.to_vec();
    }
    list.iter().copied().filter(|place| other.binary_search(place).is_err()).collect()
}

//! From where a KIP-848 member reads new partitions (`OffsetsRequestManager`), and the topics that it has seen.

use super::super::super::consumer::Place;
use super::super::subscription_state::beyond;
use super::{ConsumerMember, ConsumerStep, Fact, Timer};

/// How long a broker takes to answer: to connect, to tell the topics (`Metadata`) or a first offset (`ListOffsets`), or
/// to send the first records (`Fetch`).
const ANSWERS_MS: i64 = 1;
/// How soon a member asks for the topics again if one that it wants is missing: `retry.backoff.max.ms`.
const ASKS_AGAIN_MS: i64 = 1_000;
/// How soon it asks if a topic that it reads is gone: `retry.backoff.ms`.
const MISSES_MS: i64 = 100;

/// How far a member has got in finding out from where to read.
#[derive(Clone, Debug, Default)]
pub(super) struct Positions {
    /// The partitions whose positions it has asked for.
    asked: Vec<Place>,
    /// When it will know these, and have records.
    pub comes_at: Option<i64>,
    /// The partitions that it will have once it has called its listener, if it locates them before.
    early: Vec<Place>,
    /// Those of them that it has located.
    located_early: Vec<Place>,
    /// Whether it already has the group's offsets of these partitions, and lacks only their leaders.
    are_committed: bool,
    /// Whether it is connected to the brokers of its partitions.
    is_connected: bool,
}

impl Positions {
    /// Whether it lacks no positions that are under way.
    pub(super) fn are_found(&self, now: i64) -> bool {
        self.comes_at.is_none_or(|at| at <= now)
    }

    /// Whether it locates partitions that it does not have yet.
    pub(super) fn are_early(&self) -> bool {
        !self.early.is_empty()
    }

    fn connects_ms(&self) -> i64 {
        if self.is_connected { 0 } else { ANSWERS_MS }
    }
}

impl ConsumerMember {
    /// From now on, it has exactly these partitions, which are sorted.
    pub(super) fn assign(&mut self, places: Vec<Place>, step: &mut ConsumerStep<'_>) {
        let added = self.subscriptions.assign(places, self.progress(step.now), step);
        self.positions.early.clear();
        self.subscriptions.locate(&std::mem::take(&mut self.positions.located_early));
        self.positions.are_committed &= added.is_empty();
        self.see_records(step);
    }

    /// It will have these partitions when its listener has been called, and finds out from where to read them before.
    pub(super) fn locate_early(&mut self, places: &[Place]) {
        self.positions.early = beyond(places, &self.subscriptions.assigned);
        self.positions.are_committed = false;
    }

    /// The partitions whose positions it has yet to find.
    pub(super) fn initializing(&self) -> impl Iterator<Item = Place> {
        let assigned = self.subscriptions.initializing.iter().copied();
        assigned
            .filter(|place| self.subscriptions.returns(*place))
            .chain(beyond(&self.positions.early, &self.positions.located_early))
    }

    fn knows_leader(&self, (topic, partition): Place) -> bool {
        self.seen[topic as usize].is_some_and(|count| partition < count.cast_signed())
    }

    /// `updateFetchPositions`: asks for the positions of new partitions: for the group's offsets, and for the brokers'
    /// first ones, as the group may have none. Then it fetches.
    pub(super) fn update_fetch_positions(&mut self, step: &mut ConsumerStep<'_>) {
        let asked: Vec<Place> = self.initializing().collect();
        if asked.is_empty() || self.positions.comes_at.is_some() {
            return;
        }
        let offsets_ms = if self.positions.are_committed { 0 } else { step.latency_ms };
        let mut comes_at = step.now + offsets_ms;
        if asked.iter().any(|place| self.knows_leader(*place)) {
            // `ListOffsets`, and `Fetch` unless the partitions' callback is due.
            let requests = if self.positions.are_early() { 1 } else { 2 };
            comes_at += self.positions.connects_ms() + requests * ANSWERS_MS;
        }
        (self.positions.asked, self.positions.comes_at) = (asked, Some(comes_at));
        step.wake(Timer::Positions, comes_at);
        // A turn that sends something does not wait.
        self.end_turn(step.now);
    }

    /// The member knows its positions and has records, so a `poll()` that waits for records returns.
    pub(super) fn find_positions(&mut self, step: &mut ConsumerStep<'_>) {
        let now = step.now;
        if self.positions.comes_at.is_none_or(|at| at > now) {
            return;
        }
        if self.next_pass == Some(now) && !self.is_so(Fact::WAITS_FOR_THREAD) {
            // The application has waited for longer, so it goes first.
            step.wake(Timer::Positions, now);
            return;
        }
        self.positions.comes_at = None;
        let asked = std::mem::take(&mut self.positions.asked);
        let (located, unknown): (Vec<Place>, Vec<Place>) =
            asked.into_iter().partition(|place| self.knows_leader(*place));
        self.subscriptions.locate(&located);
        if !unknown.is_empty() {
            // `Leader for partition is unknown`: it asks for newer metadata, and tries again with the next event.
            if !std::mem::replace(&mut self.positions.are_committed, true) {
                self.ask_for_topics_after(1, step);
            }
        }
        if located.is_empty() {
            self.go_on(step);
            return;
        }
        let is_new = |place: &Place| self.subscriptions.assigned.binary_search(place).is_err();
        self.positions.located_early.extend(located.into_iter().filter(is_new));
        self.positions.is_connected = true;
        // Whether the application waits for records. A callback that keeps it simply goes on.
        let awaits = !self.is_busy && self.app.in_callback(now).is_none();
        self.see_records(step);
        if awaits && self.is_busy {
            self.call_next(now + 1, step);
        } else {
            self.go_on(step);
        }
    }

    /// It sees the cluster's topics as they are, and will ask again when its metadata is too old.
    pub(super) fn see_topics(&mut self, step: &mut ConsumerStep<'_>) {
        self.seen = step.cluster.counts(|_| true);
        let misses = self.subscriptions.topics.iter().any(|topic| self.seen[*topic as usize].is_none());
        let age_ms = self.config.metadata_max_age_ms;
        self.ask_for_topics_after(if misses { age_ms.min(ASKS_AGAIN_MS) } else { age_ms }, step);
    }

    fn ask_for_topics_after(&mut self, after_ms: i64, step: &mut ConsumerStep<'_>) {
        // The first answer comes just before it asks for the group's coordinator.
        let starts = step.now < self.finds_coordinator_at;
        let connects_ms = if starts { 0 } else { self.positions.connects_ms() };
        let answered = (step.now + ANSWERS_MS + connects_ms).max(self.finds_coordinator_at - ANSWERS_MS);
        step.wake(Timer::Metadata, answered + after_ms.max(1));
    }

    /// A topic is deleted. Whoever reads it learns that from its next fetch.
    pub(super) fn miss_topic(&mut self, topic: u32, step: &mut ConsumerStep<'_>) {
        if self.subscriptions.assigned.iter().any(|place| place.0 == topic) {
            self.ask_for_topics_after(MISSES_MS, step);
            self.see_records(step);
        }
    }

    /// The topics' metadata is due. The request wakes the network thread, and so does its answer; each time, the thread
    /// sees to everything else, too. Nothing else is sent before that request (`NetworkClient.isReady`), which waits for
    /// a connection.
    pub(super) fn ask_for_topics(&mut self, step: &mut ConsumerStep<'_>) {
        self.see_topics(step);
        let connects_ms = self.positions.connects_ms();
        if connects_ms == 0 {
            self.run_once(step);
        } else {
            step.wake(Timer::Connected, step.now + connects_ms);
        }
    }
}

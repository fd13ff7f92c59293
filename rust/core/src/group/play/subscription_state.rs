//! What a consumer subscribes to, and its partitions (`SubscriptionState`).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::consumer::Place;
use super::member::{Member, Progress, Step};

/// A consumer's subscription and partitions.
#[derive(Clone, Debug)]
pub(super) struct SubscriptionState {
    pub topics: Arc<[u32]>,
    /// The subscription that the coordinator was last sent, unless it has forgotten that.
    pub sent: Option<Arc<[u32]>>,
    /// Its partitions, sorted.
    pub assigned: Vec<Place>,
    /// Those of them whose records it does not return, sorted: they are pending revocation, or their topics are no
    /// longer subscribed to.
    held_back: Vec<Place>,
    /// Those of them of which it does not know yet from where to read, sorted (`initializingPartitions`).
    pub initializing: Vec<Place>,
    /// Whether it returns records of topics that it does not subscribe to. No consumer has done so since 4.1.
    returns_all: bool,
}

impl SubscriptionState {
    pub(super) fn new(topics: Arc<[u32]>, returns_all: bool) -> Self {
        let (assigned, held_back, initializing) = (Vec::new(), Vec::new(), Vec::new());
        Self { topics, sent: None, assigned, held_back, initializing, returns_all }
    }

    /// Whether it subscribes to a topic. Most consumers subscribe to all topics in order, so that a topic's index in
    /// the list is its number.
    pub(super) fn subscribes(&self, topic: u32) -> bool {
        self.topics.get(topic as usize) == Some(&topic) || self.topics.contains(&topic)
    }

    /// Notes that the coordinator is sent the subscription.
    pub(super) fn send(&mut self) -> Arc<[u32]> {
        self.sent = Some(Arc::clone(&self.topics));
        Arc::clone(&self.topics)
    }

    /// Whether the coordinator knows the subscription, in any order.
    pub(super) fn is_sent(&self) -> bool {
        let sorted = |topics: &[u32]| topics.iter().copied().collect::<BTreeSet<u32>>();
        let same =
            |sent: &Arc<[u32]>| Arc::ptr_eq(sent, &self.topics) || sorted(sent) == sorted(&self.topics);
        self.sent.as_ref().is_some_and(same)
    }

    /// Subscribes to other topics. Records of the others are not returned any more; those of a topic that comes anew are,
    /// if `reads_again`, even while their partitions were still the consumer's.
    pub(super) fn subscribe<M: Member>(
        &mut self,
        topics: Arc<[u32]>,
        reads_again: bool,
        progress: Progress,
        step: &mut Step<'_, M>,
    ) {
        let before = std::mem::replace(&mut self.topics, topics);
        let held_back = std::mem::take(&mut self.held_back);
        let is_new = |place: &Place| self.subscribes(place.0) && !before.contains(&place.0);
        let (again, held): (Vec<Place>, Vec<Place>) = held_back.into_iter().partition(is_new);
        self.held_back = held;
        if reads_again {
            step.read(again);
        }
        let foreign: Vec<Place> =
            self.assigned.iter().copied().filter(|place| !self.returns_records_of(place.0)).collect();
        self.hold_back(&foreign, progress, step);
    }

    fn returns_records_of(&self, topic: u32) -> bool {
        self.returns_all || self.subscribes(topic)
    }

    /// From now on, it has exactly these partitions, which are sorted. Returns those that are new.
    pub(super) fn assign<M: Member>(
        &mut self,
        places: Vec<Place>,
        progress: Progress,
        step: &mut Step<'_, M>,
    ) -> Vec<Place> {
        let gone = beyond(&self.assigned, &places);
        step.stop(beyond(&gone, &self.held_back), progress);
        let added = beyond(&places, &self.assigned);
        let keep = |place: &Place| places.binary_search(place).is_ok();
        self.held_back.retain(keep);
        self.initializing.retain(keep);
        self.assigned = places;
        if added.is_empty() {
            return added;
        }
        let foreign: Vec<Place> =
            added.iter().copied().filter(|place| !self.returns_records_of(place.0)).collect();
        insert(&mut self.initializing, added.clone());
        step.read(beyond(&added, &foreign));
        insert(&mut self.held_back, foreign);
        added
    }

    /// Stops returning records of some of its partitions.
    pub(super) fn hold_back<M: Member>(
        &mut self,
        places: &[Place],
        progress: Progress,
        step: &mut Step<'_, M>,
    ) {
        let new = beyond(places, &self.held_back);
        step.stop(new.clone(), progress);
        insert(&mut self.held_back, new);
    }

    /// Stops returning records of any of its partitions.
    pub(super) fn hold_back_all<M: Member>(&mut self, progress: Progress, step: &mut Step<'_, M>) {
        if self.held_back.len() < self.assigned.len() {
            self.hold_back(&self.assigned.clone(), progress, step);
        }
    }

    /// Whether it returns records of one of its partitions, once it knows from where to read it.
    pub(super) fn returns(&self, place: Place) -> bool {
        self.assigned.binary_search(&place).is_ok() && self.held_back.binary_search(&place).is_err()
    }

    /// It knows from where to read some of its partitions.
    pub(super) fn locate(&mut self, places: &[Place]) {
        self.initializing.retain(|place| places.binary_search(place).is_err());
    }

    /// Whether it knows the position of any of its partitions, and so has something to commit (`allConsumed`).
    pub(super) fn has_positions(&self) -> bool {
        self.assigned.len() > self.initializing.len()
    }

    /// The partitions that it fetches (`fetchablePartitions`).
    pub(super) fn fetchable(&self) -> impl Iterator<Item = Place> {
        let is_in = |list: &[Place], place: &Place| !list.is_empty() && list.binary_search(place).is_ok();
        let none =
            self.held_back.len() == self.assigned.len() || self.initializing.len() == self.assigned.len();
        let assigned = if none { &[] } else { &self.assigned[..] };
        assigned
            .iter()
            .copied()
            .filter(move |place| !is_in(&self.held_back, place) && !is_in(&self.initializing, place))
    }

    /// Whether it fetches any partition in which records come.
    pub(super) fn has_records<M: Member>(&self, step: &Step<'_, M>) -> bool {
        self.fetchable().any(|place| step.cluster.has_records(place.0) && !step.ledger.is_leaderless(place))
    }
}

/// The partitions of one sorted list that another lacks.
pub(super) fn beyond(list: &[Place], other: &[Place]) -> Vec<Place> {
    if other.is_empty() {
        return list.to_vec();
    }
    if list == other {
        return Vec::new();
    }
    list.iter().copied().filter(|place| other.binary_search(place).is_err()).collect()
}

/// Adds partitions to a sorted list that lacks them.
fn insert(list: &mut Vec<Place>, places: Vec<Place>) {
    if list.is_empty() {
        *list = places;
    } else if !places.is_empty() {
        list.extend(places);
        list.sort_unstable();
    }
}

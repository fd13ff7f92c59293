//! What a producer keeps between records: the rule's state for each topic, and the state for all topics.

use super::built_in::BuiltIn;
use super::draws::Draws;
use super::old_null_key::OldNullKey;
use super::round_robin::{BegunAt, Counter};
use super::sticky_cache::StickyCache;
use super::topic::Topic;

/// The state of all topics.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) topics: Vec<TopicState>,
    pub(super) draws: Draws,
    pub(super) begun_at: BegunAt,
    pub(super) old_null_key: OldNullKey,
}

/// A topic and its state; a strategy uses one of these.
#[derive(Clone, Debug)]
pub(super) struct TopicState {
    pub(super) topic: Topic,
    pub(super) counter: Counter,
    pub(super) sticky: StickyCache,
    pub(super) built_in: BuiltIn,
}

impl State {
    pub(super) fn new(topics: Vec<Topic>, draws: Draws) -> Self {
        let topics = topics.into_iter().map(TopicState::new).collect();
        Self { topics, draws, begun_at: BegunAt::default(), old_null_key: OldNullKey::default() }
    }
}

impl TopicState {
    /// The state of a topic to which nothing was sent yet.
    pub(super) fn new(topic: Topic) -> Self {
        Self {
            topic,
            counter: Counter::default(),
            sticky: StickyCache::default(),
            built_in: BuiltIn::default(),
        }
    }
}

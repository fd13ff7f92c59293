//! When a classic member asks for the topics, and what it has seen of them (`ConsumerMetadata`).

use super::super::cluster::Cluster;
use super::{ClassicMember, ClassicStep, Timer};

/// How soon a member asks again if a topic that it wants is missing: `retry.backoff.max.ms`.
const ASKS_AGAIN_MS: i64 = 1_000;
/// How soon it asks if a topic that it reads is gone: `retry.backoff.ms`. So does a leader whose group misses one.
const MISSES_MS: i64 = 100;
/// How long a broker takes to answer.
pub(super) const ANSWERS_MS: i64 = 1;

/// What a member knows of the topics.
#[derive(Clone, Debug, Default)]
pub(super) struct Metadata {
    /// By topic, how many partitions it has seen; `None` for topics that it has not seen.
    pub seen: Vec<Option<u32>>,
    /// If it leads, the topics that its group subscribes to and it does not (from `groupSubscription`): it asks for them,
    /// too.
    pub group_topics: Vec<u32>,
    stage: Stage,
}

/// How far it has got with asking.
#[derive(Clone, Debug, Default)]
enum Stage {
    #[default]
    Rests,
    /// Whichever thread has the network next asks.
    Expired,
    /// The answer comes at this time. Whichever thread has the network next sees it.
    Asked(MetadataAnswer),
}

/// An answer under way.
#[derive(Clone, Debug)]
pub(super) struct MetadataAnswer {
    seen: Vec<Option<u32>>,
    pub comes_at: i64,
}

impl ClassicMember {
    /// Whether it asks for a topic: it subscribes to it, or leads a group that does.
    fn asks_for(&self, topic: u32) -> bool {
        self.subscriptions.subscribes(topic) || self.metadata.group_topics.contains(&topic)
    }

    fn counts(&self, cluster: &Cluster) -> Vec<Option<u32>> {
        cluster.counts(|topic| self.asks_for(topic))
    }

    /// Whether it has seen all that it asks for as it is.
    pub(super) fn has_seen_all(&self, cluster: &Cluster) -> bool {
        let topics = (0..).zip(cluster.topics.iter().zip(&self.metadata.seen));
        topics.into_iter().all(|(topic, ((_, count), seen))| count == seen || !self.asks_for(topic))
    }

    /// It has a new subscription, and sees the topics at once.
    pub(super) fn refresh_metadata(&mut self, step: &mut ClassicStep<'_>) {
        (self.metadata.seen, self.metadata.stage) = (self.counts(step.cluster), Stage::Rests);
        self.ask_later(step);
    }

    /// It will ask when its metadata is too old, or sooner if it misses a topic (`Metadata.requestUpdate`).
    fn ask_later(&mut self, step: &mut ClassicStep<'_>) {
        let age_ms = self.config.metadata_max_age_ms;
        let again_ms = if self.is_leader { MISSES_MS } else { ASKS_AGAIN_MS };
        self.ask_after(if self.misses_topics() { age_ms.min(again_ms) } else { age_ms }, step);
    }

    /// Whether a topic that it wants does not exist, so that it asks again and again.
    fn misses_topics(&self) -> bool {
        let mut topics = self.subscriptions.topics.iter().chain(&self.metadata.group_topics);
        topics.any(|topic| self.metadata.seen[*topic as usize].is_none())
    }

    fn ask_after(&mut self, after_ms: i64, step: &mut ClassicStep<'_>) {
        // The first answer comes just before it asks for the group's coordinator.
        let answered = step.now.max(self.finds_coordinator_at - ANSWERS_MS);
        step.wake(Timer::Metadata, answered + after_ms.max(1));
    }

    /// `Metadata.requestUpdate`, as it misses a partition.
    pub(super) fn request_update(&mut self, step: &mut ClassicStep<'_>) {
        self.ask_after(ANSWERS_MS, step);
    }

    /// A topic is deleted. Whoever reads it learns that from its next fetch.
    pub(super) fn miss_topic(&mut self, topic: u32, step: &mut ClassicStep<'_>) {
        if self.subscriptions.assigned.iter().any(|place| place.0 == topic) {
            self.ask_after(MISSES_MS, step);
            self.see_records(step);
        }
    }

    /// The next stage of asking is due: it asks, or sees the answer, once one of its threads has the network.
    pub(super) fn ask_for_metadata(&mut self, step: &mut ClassicStep<'_>) {
        let network_at = self.has_network_at(step.now);
        match &self.metadata.stage {
            Stage::Asked(_) => {
                self.let_thread_look(step);
                self.see_metadata(step);
            }
            Stage::Rests | Stage::Expired if network_at > step.now => {
                self.metadata.stage = Stage::Expired;
                step.wake(Timer::Metadata, network_at);
            }
            Stage::Rests | Stage::Expired => {
                let comes_at = step.now + ANSWERS_MS;
                if self.app.last_poll(step.now) < step.now {
                    self.let_thread_look(step);
                }
                self.metadata.stage =
                    Stage::Asked(MetadataAnswer { seen: self.counts(step.cluster), comes_at });
                step.wake(Timer::Metadata, self.has_network_at(comes_at));
            }
        }
    }

    /// It sees the answer to its request. If it leads and the topics have changed, it rejoins.
    pub(super) fn see_metadata(&mut self, step: &mut ClassicStep<'_>) {
        let Stage::Asked(answer) = std::mem::take(&mut self.metadata.stage) else { return };
        let before = std::mem::replace(&mut self.metadata.seen, answer.seen);
        self.ask_later(step);
        if self.watches_topics && before != self.metadata.seen {
            self.has_seen_changes = true;
            // An idle application that waits inside `poll()` goes round at once. A busy one has already had the pass of
            // this instant, unless that pass has asked.
            let asked_at = answer.comes_at - ANSWERS_MS;
            let has_polled = self.is_busy && self.app.next_poll(asked_at) != asked_at;
            if self.waits_inside(step.now) {
                self.poll_at(step.now, step);
            } else {
                self.poll_next(step.now + i64::from(has_polled), step);
            }
        }
    }

    /// The answer for which a leader waits before it assigns: that of a request under way, or of a new one if it `wants`
    /// to see topics anew. Returns when it comes.
    pub(super) fn await_metadata(
        &mut self,
        under_way: Option<MetadataAnswer>,
        wants: bool,
        step: &mut ClassicStep<'_>,
    ) -> Option<i64> {
        let comes_at = step.now + ANSWERS_MS;
        let answer = match under_way {
            Some(answer) => MetadataAnswer { comes_at: answer.comes_at.max(step.now), ..answer },
            None if wants => MetadataAnswer { seen: self.counts(step.cluster), comes_at },
            None => return None,
        };
        let comes_at = answer.comes_at;
        self.metadata.stage = Stage::Asked(answer);
        step.rest(Timer::Metadata);
        Some(comes_at)
    }

    /// The request under way, if there is one, as of before a leader asks for more topics. If it misses a topic, it has
    /// sent that request in an earlier `poll()`, and sends another one.
    pub(super) fn take_metadata_under_way(&mut self, step: &ClassicStep<'_>) -> Option<MetadataAnswer> {
        match std::mem::take(&mut self.metadata.stage) {
            _ if self.misses_topics() => None,
            Stage::Rests => None,
            Stage::Expired => {
                Some(MetadataAnswer { seen: self.counts(step.cluster), comes_at: step.now + ANSWERS_MS })
            }
            Stage::Asked(answer) => Some(answer),
        }
    }
}

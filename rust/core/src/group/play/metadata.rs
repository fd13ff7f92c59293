//! When a client asks for the topics' metadata, and what it has seen of them since.

use super::classic_member::Metadata;
use super::client::Client;
use super::ledger::Reader;
use super::world::{Todo, World};

/// So soon a client looks again where a topic that it wants is missing: `retry.backoff.max.ms`.
const LOOKS_AGAIN_MS: i64 = 1_000;
/// So soon it looks where a topic is gone that it reads: `retry.backoff.ms`.
const MISSES_MS: i64 = 100;
/// So long the answer of a broker that is not the coordinator is on its way, and that to `ApiVersions` before the first.
pub(super) const NEAR_MS: i64 = 1;

impl Client {
    /// How long a classic client waits for what it asks a broker other than the coordinator.
    pub(super) fn asks_near_ms(&self) -> i64 {
        if self.classic.is_connected { NEAR_MS } else { 2 * NEAR_MS }
    }
}

impl World {
    /// A client looks at the topics, and comes back to it later.
    pub(super) fn look(&mut self, reader: Reader) {
        if self.is_classic() && !self.is_answered(reader) {
            return;
        }
        let client = &self.clients[reader as usize];
        let by_itself = match client.classic.metadata {
            Metadata::Answered(_, comes) => client.app.next_poll(comes - NEAR_MS) == comes - NEAR_MS,
            _ => false,
        };
        let before = client.seen.clone();
        if let Metadata::Answered(seen, _) =
            std::mem::take(&mut self.clients[reader as usize].classic.metadata)
        {
            self.clients[reader as usize].seen = seen;
            let client = &mut self.clients[reader as usize];
            client.classic.is_connected = true;
            if !client.is_busy {
                client.classic.waits_since = self.now;
            }
        } else {
            self.refresh(reader);
        }
        self.look_later(reader);
        self.changed_topics(reader, &before, by_itself);
    }

    /// Whether a classic client has its answer, which is not handled before one of its threads has the network.
    fn is_answered(&mut self, reader: Reader) -> bool {
        let client = &self.clients[reader as usize];
        let (stage, at) = match client.classic.metadata {
            Metadata::Answered(..) => return true,
            Metadata::Rests if client.has_network(self.now) > self.now => {
                (Metadata::Expired, client.has_network(self.now))
            }
            Metadata::Rests | Metadata::Expired => {
                let comes = self.now + client.asks_near_ms();
                (Metadata::Answered(self.topics_of(reader), comes), client.has_network(comes))
            }
        };
        self.clients[reader as usize].classic.metadata = stage;
        self.look_after(reader, at - self.now);
        false
    }

    /// A client looks again when its metadata is old, and sooner where it misses a topic (`Metadata.requestUpdate`).
    pub(super) fn look_later(&mut self, reader: Reader) {
        let client = &mut self.clients[reader as usize];
        let age_ms = client.config.as_ref().map_or(0, |config| config.metadata_max_age_ms);
        let lacks = |topics: &[u32]| topics.iter().any(|&topic| client.seen[topic as usize].is_none());
        let misses = lacks(&client.topics) || lacks(&client.classic.group_topics);
        client.classic.misses_topics = misses;
        // What others than a leader see of it is not missed.
        let again_ms = if client.classic.is_leader { MISSES_MS } else { LOOKS_AGAIN_MS };
        self.look_after(reader, if misses { age_ms.min(again_ms) } else { age_ms });
    }

    /// `Metadata.requestUpdate`, of an application that is inside of `poll()`: it asks at once, or once it is connected. If the
    /// poll is over first, that takes the other thread two looks.
    pub(super) fn request_update(&mut self, reader: Reader) {
        let client = &self.clients[reader as usize];
        let connects_at = client.has_network(self.now + NEAR_MS);
        let (stage, at) = if client.classic.is_connected {
            (Metadata::Answered(self.topics_of(reader), self.now + NEAR_MS), connects_at)
        } else if connects_at == self.now + NEAR_MS {
            (Metadata::Expired, connects_at)
        } else {
            (Metadata::Expired, client.has_network(connects_at + 1))
        };
        let client = &mut self.clients[reader as usize];
        (client.classic.metadata, client.classic.is_connected) = (stage, true);
        self.look_after(reader, at - self.now);
    }

    pub(super) fn look_after(&mut self, reader: Reader, after_ms: i64) {
        let (look, is_classic) = (self.numbered, self.is_classic());
        let starts = self.now < self.clients[reader as usize].finds_at;
        let connects_ms = if starts { 0 } else { self.connects_ms(reader) };
        let client = &mut self.clients[reader as usize];
        client.look = look;
        // It has its first answer just before it asks for the group's coordinator; each other one of KIP-848's comes in a
        // millisecond.
        let answered = if is_classic { self.now } else { self.now + NEAR_MS + connects_ms };
        let answered = answered.max(client.finds_at - 1);
        self.later(answered + after_ms.max(1), Todo::Metadata(reader, look));
    }

    /// Whoever reads a topic that is gone is told so by its next fetch.
    pub(super) fn miss(&mut self, topic: u32) {
        for reader in 0..self.clients.len() {
            let client = &self.clients[reader];
            if client.alive && client.owned.iter().any(|place| place.0 == topic) {
                let reader = u32::try_from(reader).unwrap_or(u32::MAX);
                self.look_after(reader, MISSES_MS);
                self.sees_records(reader);
            }
        }
    }

    /// What a client is told of the topics that it asks for. A classic one asks for no others than those to which it or, where
    /// it leads, its group is subscribed.
    pub(super) fn topics_of(&self, reader: Reader) -> Vec<Option<u32>> {
        let is_classic = self.is_classic();
        let client = &self.clients[reader as usize];
        let asks = |topic: u32| {
            !is_classic || client.subscribes(topic) || client.classic.group_topics.contains(&topic)
        };
        (0..).zip(&self.topics).map(|(topic, (_, count))| count.filter(|_| asks(topic))).collect()
    }

    /// What a client knows of the topics is as new as can be.
    pub(super) fn refresh(&mut self, reader: Reader) {
        self.clients[reader as usize].seen = self.topics_of(reader);
        self.clients[reader as usize].classic.metadata = Metadata::Rests;
    }
}

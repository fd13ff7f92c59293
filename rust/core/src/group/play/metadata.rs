//! When a client asks for the topics' metadata, and what it has seen of them since.

use super::client::Client;
use super::ledger::Reader;
use super::world::{Todo, World};

/// So soon a client looks again where a topic that it wants is missing: `retry.backoff.max.ms`.
const LOOKS_AGAIN_MS: i64 = 1_000;
/// So soon it looks where a topic is gone that it reads: `retry.backoff.ms`.
const MISSES_MS: i64 = 100;

impl World {
    /// A client looks at the topics, and comes back to it later.
    pub(super) fn look(&mut self, reader: Reader) {
        let before = std::mem::take(&mut self.clients[reader as usize].seen);
        self.refresh(reader);
        self.look_later(reader);
        self.changed_topics(reader, &before);
    }

    /// A client looks again when its metadata is old, and sooner where it misses a topic (`Metadata.requestUpdate`).
    pub(super) fn look_later(&mut self, reader: Reader) {
        let client = &self.clients[reader as usize];
        let age_ms = client.config.as_ref().map_or(0, |config| config.metadata_max_age_ms);
        let lacks = |topics: &[u32]| topics.iter().any(|&topic| client.seen[topic as usize].is_none());
        let led = |other: &Client| client.leads && other.alive && lacks(&other.topics);
        let misses = lacks(&client.topics) || self.clients.iter().any(led);
        self.look_after(reader, if misses { age_ms.min(LOOKS_AGAIN_MS) } else { age_ms });
    }

    fn look_after(&mut self, reader: Reader, after_ms: i64) {
        let look = self.numbered;
        self.clients[reader as usize].look = look;
        self.later(self.now + after_ms.max(1), Todo::Metadata(reader, look));
    }

    /// Whoever reads a topic that is gone is told so by its next fetch.
    pub(super) fn miss(&mut self, topic: u32) {
        for reader in 0..self.clients.len() {
            let client = &self.clients[reader];
            if client.alive && client.reading.iter().any(|place| place.0 == topic) {
                self.look_after(u32::try_from(reader).unwrap_or(u32::MAX), MISSES_MS);
            }
        }
    }

    /// What a client knows of the topics is as new as can be.
    pub(super) fn refresh(&mut self, reader: Reader) {
        self.clients[reader as usize].seen = self.topics.iter().map(|(_, count)| *count).collect();
    }
}

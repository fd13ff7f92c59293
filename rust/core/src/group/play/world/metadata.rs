//! When a client requests the topics' metadata, and what it has seen of the topics since.

use super::classic_member::Metadata;
use super::client::Client;
use super::ledger::Reader;
use super::{Todo, World};

/// How soon a client looks again if a topic that it wants is missing: `retry.backoff.max.ms`.
const LOOKS_AGAIN_MS: i64 = 1_000;
/// How soon a client looks if a topic that it reads is gone: `retry.backoff.ms`.
const MISSES_MS: i64 = 100;
/// Each broker other than the coordinator takes this long to answer, and also to answer the `ApiVersions`
/// before the first request.
pub(super) const NEAR_MS: i64 = 1;

impl Client {
    /// How long a classic client waits for an answer from a broker other than the coordinator.
    pub(super) fn asks_near_ms(&self) -> i64 {
        if self.classic.is_connected { NEAR_MS } else { 2 * NEAR_MS }
    }

    /// When a classic client may send a request to the coordinator. A request for the topics' metadata that is due goes
    /// first (`NetworkClient.isReady`).
    pub(super) fn is_ready_at(&self, now: i64) -> i64 {
        match self.classic.metadata {
            Metadata::Connects(at) => self.has_network(at.max(now)),
            Metadata::Expired if !self.classic.is_connected => self.has_network(now + NEAR_MS),
            _ => now,
        }
    }
}

impl World {
    /// A client looks at the topics, and schedules its next look.
    pub(super) fn look(&mut self, reader: Reader) {
        if self.is_classic() {
            self.goes_round(reader);
            if !self.is_answered(reader) {
                return;
            }
            // A leader that is about to assign sends `SyncGroup` before it lets go of the network.
            if self.clients[reader as usize].elected.is_none() {
                self.lets_look(reader);
            }
        }
        self.see(reader);
    }

    /// A client sees the answer to its look.
    pub(super) fn see(&mut self, reader: Reader) {
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

    /// Whether a classic client has its answer. An answer is not handled before one of the client's threads
    /// has the network.
    fn is_answered(&mut self, reader: Reader) -> bool {
        let client = &self.clients[reader as usize];
        let (stage, at) = match client.classic.metadata {
            Metadata::Answered(..) => return true,
            Metadata::Rests if client.has_network(self.now) > self.now => {
                (Metadata::Expired, client.has_network(self.now))
            }
            Metadata::Rests | Metadata::Expired if !client.classic.is_connected => {
                let connects = client.has_network(self.now + NEAR_MS);
                (Metadata::Connects(connects), connects)
            }
            Metadata::Rests | Metadata::Expired | Metadata::Connects(_) => {
                let comes = self.now + NEAR_MS;
                (Metadata::Answered(self.topics_of(reader), comes), client.has_network(comes))
            }
        };
        // An idle application that asks, or that has waited for the connection, lets go of the network.
        if client.app.last_poll(self.now) < self.now {
            self.lets_look(reader);
        }
        let client = &mut self.clients[reader as usize];
        client.classic.is_connected |= matches!(client.classic.metadata, Metadata::Connects(_));
        client.classic.metadata = stage;
        self.look_after(reader, at - self.now);
        false
    }

    /// Schedules a client's next look for when its metadata is too old, or sooner if it misses a topic
    /// (`Metadata.requestUpdate`).
    pub(super) fn look_later(&mut self, reader: Reader) {
        let client = &mut self.clients[reader as usize];
        let age_ms = client.config.as_ref().map_or(0, |config| config.metadata_max_age_ms);
        let lacks = |topics: &[u32]| topics.iter().any(|&topic| client.seen[topic as usize].is_none());
        let misses = lacks(&client.topics) || lacks(&client.classic.group_topics);
        client.classic.misses_topics = misses;
        // Only a leader's view of a missing topic matters, so other members may look less often.
        let again_ms = if client.classic.is_leader { MISSES_MS } else { LOOKS_AGAIN_MS };
        self.look_after(reader, if misses { age_ms.min(again_ms) } else { age_ms });
    }

    /// `Metadata.requestUpdate` by an application inside `poll()`. It sends the request at once, or as soon
    /// as it is connected. If the poll ends first, the other thread needs two looks for that.
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
        // The first answer comes just before the client asks for the group's coordinator. With KIP-848, each
        // later answer takes a millisecond.
        let answered = if is_classic { self.now } else { self.now + NEAR_MS + connects_ms };
        let answered = answered.max(client.finds_at - 1);
        let looks_at = answered + after_ms.max(1);
        client.classic.looks_at = looks_at;
        self.later(looks_at, Todo::Metadata(reader, look));
    }

    /// Each client that reads a deleted topic learns that from its next fetch.
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

    /// The partition counts that a client is told for the topics it requests. A classic client requests only
    /// the topics that it subscribes to and, if it leads, those that its group subscribes to.
    pub(super) fn topics_of(&self, reader: Reader) -> Vec<Option<u32>> {
        let is_classic = self.is_classic();
        let client = &self.clients[reader as usize];
        let asks = |topic: u32| {
            !is_classic || client.subscribes(topic) || client.classic.group_topics.contains(&topic)
        };
        (0..).zip(&self.topics).map(|(topic, (_, count))| count.filter(|_| asks(topic))).collect()
    }

    /// Brings a client's view of the topics up to date.
    pub(super) fn refresh(&mut self, reader: Reader) {
        self.clients[reader as usize].seen = self.topics_of(reader);
        self.clients[reader as usize].classic.metadata = Metadata::Rests;
    }
}

//! How a classic member starts on new partitions: from which offset (`OffsetFetch`), and when records come.

use super::super::super::consumer::Place;
use super::World;
use super::classic_member::MemberState;
use super::client::Client;
use super::ledger::Reader;
use super::metadata::NEAR_MS;
use crate::Result;

/// How long a fetch takes.
const FETCH_MS: i64 = 1;

impl Client {
    /// The client has new partitions, and needs an offset for each.
    pub(super) fn seeks_positions(&mut self, added: &[Place]) {
        let places = &mut self.classic.unpositioned;
        let before = places.len();
        places.retain(|place| self.owned.binary_search(place).is_ok());
        let lost = places.len() < before;
        if !added.is_empty() || places.is_empty() {
            places.extend_from_slice(added);
            places.sort_unstable();
            (self.classic.positions_at, self.classic.records_at) = (None, None);
        } else if lost && self.classic.records_at.is_none() {
            self.classic.positions_at = None;
        }
    }
}

impl World {
    /// `updateFetchPositions`: requests the positions of new partitions. It waits for the answer if that
    /// comes before `poll()` ends.
    pub(super) fn update_classic_positions(&mut self, reader: Reader) {
        let (now, latency_ms) = (self.now, self.latency_ms);
        let client = &mut self.clients[reader as usize];
        if client.classic.unpositioned.is_empty() || client.classic.records_at.is_some() {
            return;
        }
        // An answer is of use only in the generation in which it was asked for, and for the same partitions
        // (`ConsumerCoordinator.PendingCommittedOffsetRequest.sameRequest`).
        let (generation, member) = (client.generation, &mut client.classic);
        if member.positions_of != generation {
            (member.positions_at, member.positions_of) = (None, generation);
        }
        let comes_at = *member.positions_at.get_or_insert(now + latency_ms);
        if comes_at <= now {
            self.take_positions(reader);
            return;
        }
        let ends = client.app.end_of(client.app.last_poll(now));
        self.keeps_network(reader, comes_at.min(ends));
        self.pass_with_positions(reader, comes_at);
    }

    /// Schedules the pass that goes on from the answer about its positions.
    fn pass_with_positions(&mut self, reader: Reader, comes_at: i64) {
        let app = &self.clients[reader as usize].app;
        let ends = app.end_of(app.last_poll(self.now));
        let at = if comes_at <= ends { comes_at } else { app.next_poll(self.now + 1) };
        self.pass_at(reader, at);
    }

    /// Whether an idle application, in a `poll()` that has just begun, looks for its positions before it reads the answers
    /// that have come meanwhile: it does if it knows of no rebalance yet. Until it has the positions it reads answers, and
    /// does nothing else.
    pub(super) fn awaits_positions(&mut self, reader: Reader) -> Result<bool> {
        let client = &self.clients[reader as usize];
        let begins = client.app.last_poll(self.now) == self.now && client.app.callback_of(self.now).is_none();
        if begins && client.classic.state == MemberState::Stable && !self.rejoin_needed_or_pending(reader) {
            self.update_classic_positions(reader);
        }
        let member = &self.clients[reader as usize].classic;
        let Some(comes_at) = member.positions_at.filter(|_| self.now < member.keeps_network_until) else {
            return Ok(false);
        };
        self.poll_network(reader)?;
        self.pass_with_positions(reader, comes_at);
        Ok(true)
    }

    /// Whether the application has waited inside `poll()` for its positions until now. It then goes on from there.
    pub(super) fn finds_positions(&mut self, reader: Reader) -> bool {
        let member = &self.clients[reader as usize].classic;
        let finds = member.positions_at == Some(self.now) && member.records_at.is_none();
        if finds {
            self.take_positions(reader);
            self.limit_polls(reader);
            if !self.goes_round(reader) {
                self.pass_next(reader, self.now + 1);
            }
        }
        finds
    }

    /// The client knows its positions and requests records, which arrive with a later fetch. If it has not
    /// seen a partition yet, it looks at the topics.
    fn take_positions(&mut self, reader: Reader) {
        let now = self.now;
        // The application releases the lock that the heartbeat thread waits for.
        self.lets_look(reader);
        let client = &self.clients[reader as usize];
        let is_seen = |&(topic, partition): &Place| {
            client.seen[topic as usize].is_some_and(|count| partition.cast_unsigned() < count)
        };
        if !client.classic.unpositioned.iter().all(is_seen) {
            self.request_update(reader);
        }
        // Where the group has committed nothing, it asks the brokers for the first offset (`ListOffsets`).
        let client = &self.clients[reader as usize];
        let is_committed = |place: &Place| self.ledger.is_committed(*place);
        let knows_at = if client.classic.unpositioned.iter().any(is_committed) {
            now
        } else {
            let connects_ms = if client.classic.is_connected { 0 } else { NEAR_MS };
            client.has_network(client.has_network(now + connects_ms) + NEAR_MS)
        };
        let client = &mut self.clients[reader as usize];
        client.classic.waits_since = now;
        (client.classic.is_connected, client.classic.knows_at) = (true, knows_at);
        let ends = client.app.end_of(client.app.last_poll(knows_at));
        if knows_at < ends {
            client.classic.polled = knows_at;
        }
        let fetched = knows_at + FETCH_MS;
        let at = if fetched < ends { fetched } else { client.app.next_poll(fetched) + FETCH_MS };
        client.classic.records_at = Some(at);
        self.pass_at(reader, at);
    }

    /// Whether an idle `poll()` now returns the first records of new partitions.
    pub(super) fn has_records(&mut self, reader: Reader) -> bool {
        let client = &mut self.clients[reader as usize];
        let comes = client.classic.records_at.is_some_and(|at| at <= self.now);
        if comes {
            let member = &mut client.classic;
            member.unpositioned.clear();
            (member.positions_at, member.records_at) = (None, None);
            self.sees_records(reader);
            self.clients[reader as usize].stays_inside(self.now);
        }
        // What it already gives up again has none.
        let client = &self.clients[reader as usize];
        comes && client.is_busy && client.app.next_poll(self.now) > self.now
    }
}

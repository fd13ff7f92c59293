//! The partitions that a client owns and returns records of, and what becomes of them when it ends.

use std::collections::BTreeSet;

use super::super::super::consumer::Place;
use super::super::super::error_code::Code;
use super::World;
use super::client::beyond;
use super::ledger::Reader;

impl World {
    /// From now on, a client owns exactly these partitions, which must be sorted.
    pub(super) fn own(&mut self, reader: Reader, wanted: Vec<Place>) {
        let client = &self.clients[reader as usize];
        let (gone, added) = (beyond(&client.owned, &wanted), beyond(&wanted, &client.owned));
        self.hold_back(reader, &gone);
        let is_classic = self.is_classic();
        let client = &mut self.clients[reader as usize];
        client.held_back.retain(|place| wanted.binary_search(place).is_ok());
        let strange: Vec<Place> =
            added.iter().copied().filter(|&(topic, _)| !client.returns_records_of(topic)).collect();
        client.owned = wanted;
        if is_classic {
            client.seeks_positions(&added);
        } else {
            client.initializes(&added);
        }
        for &place in added.iter().filter(|place| !strange.contains(place)) {
            if let Some(other) = self.ledger.reader(place).filter(|other| *other != reader) {
                self.displaced.insert(place, other);
            }
            self.takes(place, reader);
        }
        self.hold_back(reader, &strange);
    }

    /// A client begins to read a partition.
    fn takes(&mut self, place: Place, reader: Reader) {
        self.ledger.take(place, reader, self.members[reader as usize], self.now);
        if self.clients[reader as usize].positions.unknown.binary_search(&place).is_ok() {
            self.ledger.locate(place, reader, i64::MAX);
        }
    }

    /// A client stops returning records of some of its partitions.
    pub(super) fn hold_back(&mut self, reader: Reader, places: &[Place]) {
        let read = self.read_by(reader);
        let client = &mut self.clients[reader as usize];
        let committed = client.committed_by(read);
        if !places.is_empty() {
            client.held_back.extend_from_slice(places);
            client.held_back.sort_unstable();
            client.held_back.dedup();
        }
        for &place in places {
            self.release(place, reader, read, committed);
        }
        self.sees_records(reader);
    }

    /// A client stops reading a partition. If it displaced a reader that still owns it, that reader reads on.
    fn release(&mut self, place: Place, reader: Reader, read: i64, committed: i64) {
        let reads = self.ledger.reader(place) == Some(reader);
        self.ledger.release(place, reader, read, committed, self.now);
        let Some(other) = self.displaced.remove(&place).filter(|other| reads && *other != reader) else {
            return;
        };
        let client = &self.clients[other as usize];
        let owns = |list: &[Place]| list.binary_search(&place).is_ok();
        if client.alive && owns(&client.owned) && !owns(&client.held_back) {
            self.takes(place, other);
        }
    }

    /// Notes in the ledger that a client reads nothing more, although the client itself has not noticed yet.
    pub(super) fn stop_reading(&mut self, reader: Reader) {
        let read = self.read_by(reader);
        let client = &self.clients[reader as usize];
        let committed = client.committed_by(read);
        for place in client.owned.clone() {
            self.release(place, reader, read, committed);
        }
    }

    /// A client subscribes anew to topics while it still owns partitions of them, so it returns their records again. A
    /// classic one that has lost its membership does not.
    pub(super) fn returns_again(&mut self, reader: Reader, before: &[u32]) {
        let is_classic = self.is_classic();
        let client = &mut self.clients[reader as usize];
        let is_new = |topic: u32| client.subscribes(topic) && !before.contains(&topic);
        let (again, held): (Vec<Place>, Vec<Place>) =
            client.held_back.iter().partition(|place| is_new(place.0));
        client.held_back = held;
        if !is_classic || client.generation >= 0 {
            for place in again {
                self.takes(place, reader);
            }
        }
        self.sees_records(reader);
    }

    pub(super) fn hold_back_all(&mut self, reader: Reader) {
        let owned = self.clients[reader as usize].owned.clone();
        self.hold_back(reader, &owned);
    }

    /// Updates whether a client's `poll()` finds records.
    pub(super) fn sees_records(&mut self, reader: Reader) {
        let client = &self.clients[reader as usize];
        let has_records =
            |topic: u32| !self.idle_topics.contains(&topic) && self.topics[topic as usize].1.is_some();
        let is_busy = client.owned.iter().any(|place| {
            client.held_back.binary_search(place).is_err()
                && client.classic.unpositioned.binary_search(place).is_err()
                && client.positions.unknown.binary_search(place).is_err()
                && has_records(place.0)
                && !self.ledger.is_leaderless(*place)
        });
        let is_classic = self.is_classic();
        if is_busy != self.clients[reader as usize].is_busy {
            if is_classic {
                self.lets_look(reader);
                let client = &mut self.clients[reader as usize];
                client.is_busy = is_busy;
                client.classic.is_woken_by_app &= is_busy;
                // A busy member commits when it begins to poll, and goes on with that.
                client.app.commits = None;
                self.beat_anew(reader);
            } else {
                let client = &mut self.clients[reader as usize];
                client.notes_commits(self.now);
                client.owes_commit(self.now);
                client.app.changes(self.now, !is_busy);
                client.has_stale_records = !is_busy;
            }
        }
        self.clients[reader as usize].is_busy = is_busy;
    }

    /// Partitions lose their leader or get a new one. Their readers then read on from the same place.
    pub(super) fn change_leaders(&mut self, places: &[Place], has_leader: bool) {
        for &place in places {
            if has_leader {
                self.ledger.find_leader(place, self.now);
            } else {
                self.ledger.lose_leader(place, self.now);
            }
        }
        let readers: BTreeSet<Reader> =
            places.iter().filter_map(|&place| self.ledger.reader(place)).collect();
        for reader in readers {
            self.sees_records(reader);
        }
    }

    /// The time up to which a client has read. If it stalls or closes, that is when it began to.
    pub(super) fn read_by(&self, reader: Reader) -> i64 {
        let client = &self.clients[reader as usize];
        let stalls = client.app.stall().map_or(self.now, |(since, _)| since);
        client.closes_as.map_or(stalls, |(since, _)| stalls.min(since))
    }

    /// Calls a client's listener, if it has one. Returns whether the callback keeps the application.
    pub(super) fn call_back(&mut self, reader: Reader) -> bool {
        let client = &mut self.clients[reader as usize];
        let takes_ms = client.listener_ms().unwrap_or(0);
        if takes_ms > 0 {
            client.app.calls_back(self.now, self.now + takes_ms);
            if self.is_classic() {
                self.beat_anew(reader);
            }
        }
        takes_ms > 0
    }

    /// Ends a client with an error that its application sees.
    pub(super) fn fail(&mut self, reader: Reader, code: Code) {
        self.gone(reader);
        self.failures.push((self.now, reader, code));
    }

    /// Ends a client, with all that it owned.
    pub(super) fn gone(&mut self, reader: Reader) {
        self.hold_back_all(reader);
        let client = &mut self.clients[reader as usize];
        client.alive = false;
        client.closes_as = None;
        client.owned.clear();
        client.held_back.clear();
    }
}

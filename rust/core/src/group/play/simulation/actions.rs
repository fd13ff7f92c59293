//! What the script does to the members and to the cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::super::consumer::Place;
use super::super::coordinator::Coordinator;
use super::super::ledger::Reader;
use super::super::member::{Event, Member, Start};
use super::super::script::{Action, MemberAction};
use super::{Simulation, Slot};
use crate::Result;
use crate::index::{Ix, indices};

impl<M: Member> Simulation<M> {
    /// Carries out an action of the script.
    pub(super) fn follow(&mut self, action: Action) -> Result<()> {
        match action {
            Action::Join(reader, config, topics) => {
                let reader = self.successor(self.latest[reader]);
                let topics = self.subscription(topics);
                let slot = &mut self.members[reader];
                slot.start += 1;
                slot.timers.clear();
                let start = Start { reader: self.owners[reader], number: slot.start, config, topics };
                let (member, effects) = self.sees(|step| M::new(start, step));
                let slot = &mut self.members[reader];
                (slot.member, slot.is_alive) = (Some(Box::new(member)), true);
                self.carry_out(reader, effects)?;
                self.step(reader, Event::Start)
            }
            Action::Member(reader, mut action) => {
                if let MemberAction::Subscribe(topics) = &mut action {
                    *topics = self.subscription(Arc::clone(topics));
                }
                self.step(self.latest[reader], Event::Script(action))
            }
            Action::Topic(topic, count) => self.change_topic(topic, count),
            Action::Move => {
                self.network.move_group(self.now, &self.ids)?;
                self.send_answers();
                Ok(())
            }
            Action::Leaders(places, has_leader) => self.change_leaders(&places, has_leader),
            Action::Beside => Ok(()),
        }
    }

    /// The consumer that a member starts as: the one that it was, or a new one if that is still closing.
    fn successor(&mut self, reader: Reader) -> Reader {
        let Slot { is_alive, start, .. } = self.members[reader];
        if !is_alive {
            return reader;
        }
        let (owner, successor) = (self.owners[reader], self.members.len());
        self.members.push(Slot::new(start));
        self.owners.push(owner);
        self.latest[owner] = Reader::at(successor);
        self.latest[owner]
    }

    /// Returns the shared list for a subscription: thousands of members may each subscribe to thousands of topics.
    fn subscription(&mut self, topics: Arc<[u32]>) -> Arc<[u32]> {
        if let Some(known) = self.subscriptions.get(&topics) {
            return Arc::clone(known);
        }
        self.subscriptions.insert(Arc::clone(&topics));
        topics
    }

    fn change_topic(&mut self, topic: u32, count: Option<u32>) -> Result<()> {
        let before = self.cluster.topics[topic as usize].1.unwrap_or(0);
        self.cluster.topics[topic as usize].1 = count;
        for partition in before..count.unwrap_or(0) {
            self.ledger.make((topic, partition.cast_signed()), self.now);
        }
        if count.is_none() {
            for reader in indices(self.members.len()) {
                self.step(reader, Event::Delete(topic))?;
            }
        }
        for partition in count.unwrap_or(0)..before {
            self.ledger.delete((topic, partition.cast_signed()), self.now);
        }
        self.tell_topics()
    }

    /// A broker learns at once of the cluster's topics.
    pub(super) fn tell_topics(&mut self) -> Result<()> {
        M::Coordinator::topics(&self.cluster.topics).map_or(Ok(()), |request| self.hand_over(request))
    }

    /// Partitions lose their leader or get a new one. Their readers then read on from the same place.
    fn change_leaders(&mut self, places: &[Place], has_leader: bool) -> Result<()> {
        for &place in places {
            if has_leader {
                self.ledger.find_leader(place, self.now);
            } else {
                self.ledger.lose_leader(place, self.now);
            }
        }
        let readers: BTreeSet<Reader> =
            places.iter().filter_map(|&place| self.ledger.reader(place)).collect();
        readers.into_iter().try_for_each(|reader| self.step(reader, Event::Leaders))
    }
}

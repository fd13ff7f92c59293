//! KRaft's placement: `org.apache.kafka.metadata.placement.StripedReplicaPlacer`, exact to kafka-metadata 4.4.0.
//!
//! Each partition is a stripe over the racks. It begins one rack further than the one before, takes each rack's next
//! broker, and is led by a broker that is alive. A rack gives fenced brokers only if it has no others left. After as
//! many stripes as there are live brokers, everything would repeat, so racks and brokers are shuffled.
//!
//! Draws are taken in the order of Java's `HashMap` of racks, so that order is part of the answer.

use std::collections::HashMap;

use super::{PlacementDraws, room};
use crate::java::hash_map::walk;
use crate::java::strings::{compare, hash_code};
use crate::{Error, Result};

/// A broker as Kafka's controller sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KraftBroker<'a> {
    /// Its `node.id`.
    pub id: i32,
    /// Its `broker.rack`; brokers without one form a rack of their own, the first one.
    pub rack: Option<&'a str>,
    /// Whether it is registered but not alive: it leads no partition.
    pub fenced: bool,
}

/// The replicas of a new topic. The brokers' order counts only if racks' hash codes meet in one bin of Java's
/// `HashMap`. If more than eight racks have one hash code, and there are 48 racks, Java orders them by memory address,
/// and this function by name.
///
/// ```
/// use partwright_core::placement::{PlacementDraws, kraft::{KraftBroker, striped}};
/// let brokers: Vec<_> = (0..4).map(|id| KraftBroker { id, rack: None, fenced: false }).collect();
/// let placed = striped(&brokers, 5, 3, &mut PlacementDraws::seeded(7))?;
/// assert_eq!(placed, [2, 3, 0, 3, 0, 1, 0, 1, 2, 1, 2, 3, 1, 2, 3]);
/// # Ok::<(), partwright_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::Placement`] for no replicas, more than brokers, or no broker that is alive; [`Error::Draw`] for a recorded draw
/// that is missing or not below its bound; [`Error::Memory`].
pub fn striped(
    brokers: &[KraftBroker<'_>],
    partitions: usize,
    replicas: usize,
    draws: &mut PlacementDraws,
) -> Result<Vec<i32>> {
    let mut placed = room(partitions, replicas, brokers.len())?;
    let mut racks = RackBrokers::new(brokers, draws)?;
    for _ in 0..partitions {
        racks.place(replicas, draws, &mut placed)?;
    }
    Ok(placed)
}

/// Some brokers of a rack (`BrokerList`), visited once in each epoch, starting with another one each time.
#[derive(Debug, Default)]
struct Brokers {
    ids: Vec<i32>,
    epoch: usize,
    offset: usize,
    used: usize,
}

impl Brokers {
    /// The next one in this epoch.
    fn next(&mut self, epoch: usize) -> Option<i32> {
        let count = self.ids.len();
        if count > 0 && self.epoch != epoch {
            self.epoch = epoch;
            self.used = 0;
            self.offset = (self.offset + 1) % count;
        }
        if self.used >= count {
            return None;
        }
        let broker = self.ids[(self.used + self.offset) % count];
        self.used += 1;
        Some(broker)
    }
}

/// A rack's brokers.
#[derive(Debug, Default)]
struct Rack {
    fenced: Brokers,
    alive: Brokers,
}

impl Rack {
    fn lists(&mut self) -> [&mut Brokers; 2] {
        [&mut self.fenced, &mut self.alive]
    }
}

/// All racks (`RackList`), and the rack where the next partition begins.
#[derive(Debug)]
struct RackBrokers {
    /// By name; brokers without a rack first.
    by_name: Vec<Rack>,
    /// In the order of Java's map.
    walk: Vec<u32>,
    /// In the order of a stripe.
    stripe: Vec<usize>,
    /// How many brokers are alive.
    alive: usize,
    epoch: usize,
    offset: usize,
}

impl RackBrokers {
    fn new(brokers: &[KraftBroker<'_>], draws: &mut PlacementDraws) -> Result<Self> {
        let alive = brokers.iter().filter(|broker| !broker.fenced).count();
        if alive == 0 {
            let reason = "all brokers are fenced: at least one must be alive to lead a partition";
            return Err(Error::Placement(reason.to_owned()));
        }
        let mut names: Vec<Option<&str>> = brokers.iter().map(|broker| broker.rack).collect();
        names.sort_unstable_by(|one, other| match (one, other) {
            (Some(one), Some(other)) => compare(one, other),
            _ => one.is_some().cmp(&other.is_some()),
        });
        names.dedup();
        let numbers: HashMap<Option<&str>, u32> = names.iter().copied().zip(0..).collect();
        let mut racks: Vec<Rack> = names.iter().map(|_| Rack::default()).collect();
        let mut met = Vec::with_capacity(names.len());
        for broker in brokers {
            let number = numbers[&broker.rack];
            let rack = &mut racks[number as usize];
            if rack.fenced.ids.is_empty() && rack.alive.ids.is_empty() {
                met.push(number);
            }
            let list = if broker.fenced { &mut rack.fenced } else { &mut rack.alive };
            list.ids.push(broker.id);
        }
        // `Optional.hashCode`: that of its value, and 0 without one.
        let hashes: Vec<i32> = names.iter().map(|name| name.map_or(0, hash_code)).collect();
        let walk = walk(&hashes, &met);
        for &number in &walk {
            for list in racks[number as usize].lists() {
                list.ids.sort_unstable();
                if !list.ids.is_empty() {
                    list.offset = draws.below(list.ids.len())?;
                }
            }
        }
        let stripe: Vec<usize> = (0..names.len()).collect();
        let offset = draws.below(stripe.len())?;
        Ok(Self { by_name: racks, walk, stripe, alive, epoch: 0, offset })
    }

    /// The brokers of the next partition.
    fn place(&mut self, replicas: usize, draws: &mut PlacementDraws, placed: &mut Vec<i32>) -> Result<()> {
        if self.epoch == self.alive && self.alive > 1 {
            self.shuffle(draws)?;
        }
        let count = self.stripe.len();
        if self.offset == count {
            self.offset = 0;
        }
        // Both loops end: a list with nothing left in this epoch was visited completely, and after a shuffle the lists
        // start over, which is enough for the next partition.
        let mut first = self.offset;
        let leader = loop {
            if let Some(leader) = self.by_name[self.stripe[first]].alive.next(self.epoch) {
                break leader;
            }
            first = (first + 1) % count;
        };
        placed.push(leader);
        let (mut missing, mut place, mut leader_place) = (replicas - 1, self.offset, Some(first));
        while missing > 0 {
            if leader_place == Some(place) {
                // The leader's rack has already given a broker, so it is skipped once.
                leader_place = None;
            } else {
                let Rack { fenced, alive } = &mut self.by_name[self.stripe[place]];
                if let Some(broker) = alive.next(self.epoch).or_else(|| fenced.next(self.epoch)) {
                    placed.push(broker);
                    missing -= 1;
                }
            }
            place = (place + 1) % count;
        }
        self.epoch += 1;
        self.offset += 1;
        Ok(())
    }

    /// Shuffles racks and brokers.
    fn shuffle(&mut self, draws: &mut PlacementDraws) -> Result<()> {
        draws.shuffle(&mut self.stripe)?;
        for &number in &self.walk {
            for list in self.by_name[number as usize].lists() {
                draws.shuffle(&mut list.ids)?;
            }
        }
        self.epoch = 0;
        Ok(())
    }
}

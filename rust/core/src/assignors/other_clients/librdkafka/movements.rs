//! Which partitions have moved from whom to whom (`PartitionMovements_t`), with librdkafka's use of memory.
//!
//! Its maps keep pointers into lists that change and are freed meanwhile. What is read through them is part of the
//! answer as long as the memory is allocated; once it is freed, librdkafka may die, which is an error here.

use std::collections::HashMap;

use super::dies;
use crate::Result;
use crate::index::{MemberIx, PartitionIx, TopicIx};

/// How many partitions a new list has room for, and by how many it grows.
const ROOM: usize = 16;
const GROWTH: usize = 32;

/// A partition that shall move.
#[derive(Clone, Copy)]
pub(super) struct Moved {
    pub(super) topic: TopicIx,
    pub(super) partition: PartitionIx,
    pub(super) from: MemberIx,
    pub(super) to: MemberIx,
}

/// A pointer to a partition.
#[derive(Clone, Copy)]
pub(super) enum Pointer {
    /// Into a list that does not change.
    Lasting(PartitionIx),
    /// To the first partition of a list of movements, valid as long as the list does not move in memory.
    First { list: usize, moves: usize },
}

/// A pointer to a topic's name.
#[derive(Clone, Copy)]
enum TopicName {
    Lasting,
    /// The name of a partition in a list of movements.
    Of(usize),
}

/// The partitions that have moved from one member to another.
struct MovementList {
    /// Each with the number of its copy of the topic's name.
    partitions: Vec<(PartitionIx, usize)>,
    room: usize,
    /// How often it has moved in memory.
    moves: usize,
    is_freed: bool,
}

/// A topic's movements: by source and destination the pair that the entry's key points to, and the list.
struct OfTopic {
    name: TopicName,
    ways: HashMap<(MemberIx, MemberIx), (usize, usize)>,
}

/// An entry of `partitionMovements`.
struct MovedEntry {
    key: Pointer,
    pair: usize,
}

/// The movements of one balancing.
#[derive(Default)]
pub(super) struct PointerMovements {
    /// By the partition whose hash code an entry has; the newest entry is last.
    moved: HashMap<PartitionIx, Vec<MovedEntry>>,
    topics: HashMap<TopicIx, OfTopic>,
    /// Source and destination, and whether the pair has been freed.
    pairs: Vec<((MemberIx, MemberIx), bool)>,
    lists: Vec<MovementList>,
    /// By number, whether a copy of a topic's name has been freed.
    names: Vec<bool>,
}

impl PointerMovements {
    /// `PartitionMovements_getTheActualPartitionToBeMoved`.
    pub(super) fn instead(&self, moved: Moved) -> Result<Pointer> {
        let lasting = Pointer::Lasting(moved.partition);
        let Some(topic) = self.topic(moved.topic)? else { return Ok(lasting) };
        if let Some(entry) = self.entry(moved.partition)?
            && self.pairs[entry.pair].0.1 != moved.from
        {
            return Err(ended_elsewhere());
        }
        // Java looks for the way back to where the partition came from.
        Ok(match self.way(topic, (moved.to, moved.from))? {
            Some(list) => Pointer::First { list, moves: self.lists[list].moves },
            None => lasting,
        })
    }

    /// The partition that a pointer leads to.
    pub(super) fn read(&self, pointer: Pointer) -> Result<PartitionIx> {
        match pointer {
            Pointer::Lasting(partition) => Ok(partition),
            Pointer::First { list, moves } => {
                let list = &self.lists[list];
                match list.partitions.first() {
                    Some(&(partition, _)) if !list.is_freed && list.moves == moves => Ok(partition),
                    _ => Err(freed()),
                }
            }
        }
    }

    /// `PartitionMovements_movePartition`; returns the partition to which the pointer finally leads.
    pub(super) fn record(
        &mut self,
        pointer: Pointer,
        topic: TopicIx,
        from: MemberIx,
        to: MemberIx,
    ) -> Result<PartitionIx> {
        let Some(entry) = self.entry(self.read(pointer)?)? else {
            self.add(pointer, topic, (from, to))?;
            return self.read(pointer);
        };
        let pair = entry.pair;
        self.remove(pointer, topic, pair)?;
        let (source, destination) = self.pairs[pair].0;
        if destination != from {
            return Err(ended_elsewhere());
        }
        if source != to {
            self.add(pointer, topic, (source, to))?;
        }
        self.read(pointer)
    }

    /// `PartitionMovements_removeMovementRecordOfPartition`, which leaves the partition's own entry.
    fn remove(&mut self, pointer: Pointer, topic: TopicIx, pair: usize) -> Result<()> {
        let partition = self.read(pointer)?;
        let way = self.pairs[pair].0;
        let Some(of_topic) = self.topic(topic)? else {
            return Err(dies(
                "a partition that had moved back moves again, upon which librdkafka follows a null pointer",
            ));
        };
        let Some(list) = self.way(of_topic, way)? else {
            return Err(dies(
                "a partition that had moved back moves again, upon which librdkafka fails an assertion",
            ));
        };
        let partitions = &mut self.lists[list].partitions;
        if let Some(place) = partitions.iter().position(|&(other, _)| other == partition) {
            let (_, name) = partitions.remove(place);
            self.names[name] = true;
        }
        if self.lists[list].partitions.is_empty() {
            self.lists[list].is_freed = true;
            if let Some(of_topic) = self.topics.get_mut(&topic) {
                of_topic.ways.remove(&way);
            }
        }
        if self.topics.get(&topic).is_some_and(|of_topic| of_topic.ways.is_empty()) {
            // The topic's name is read from the partition, and compared with the entry's.
            self.read(pointer)?;
            self.topic(topic)?;
            self.topics.remove(&topic);
        }
        Ok(())
    }

    /// `PartitionMovements_addPartitionMovementRecord`.
    fn add(&mut self, pointer: Pointer, topic: TopicIx, way: (MemberIx, MemberIx)) -> Result<()> {
        let partition = self.read(pointer)?;
        let pair = self.pairs.len();
        self.pairs.push((way, false));
        match self.entry_place(partition)? {
            Some(place) => {
                let old = self
                    .moved
                    .get_mut(&partition)
                    .map(|entries| std::mem::replace(&mut entries[place].pair, pair));
                if let Some(old) = old {
                    self.pairs[old].1 = true;
                }
            }
            None => self.moved.entry(partition).or_default().push(MovedEntry { key: pointer, pair }),
        }
        if self.topic(topic)?.is_none() {
            let name = match pointer {
                Pointer::Lasting(_) => TopicName::Lasting,
                Pointer::First { list, .. } => self.lists[list]
                    .partitions
                    .first()
                    .map_or(TopicName::Lasting, |&(_, name)| TopicName::Of(name)),
            };
            self.topics.insert(topic, OfTopic { name, ways: HashMap::new() });
        }
        let known = match self.topics.get(&topic) {
            Some(of_topic) => self.way(of_topic, way)?,
            None => None,
        };
        let list = known.unwrap_or(self.lists.len());
        if known.is_none() {
            self.lists.push(MovementList { partitions: Vec::new(), room: ROOM, moves: 0, is_freed: false });
            if let Some(of_topic) = self.topics.get_mut(&topic) {
                of_topic.ways.insert(way, (pair, list));
            }
        }
        let name = self.names.len();
        self.names.push(false);
        let list = &mut self.lists[list];
        if list.partitions.len() == list.room {
            list.room += GROWTH;
            list.moves += 1;
        }
        list.partitions.push((partition, name));
        Ok(())
    }

    /// The newest entry whose key leads to a partition.
    fn entry(&self, partition: PartitionIx) -> Result<Option<&MovedEntry>> {
        let place = self.entry_place(partition)?;
        Ok(place.and_then(|place| self.moved.get(&partition)?.get(place)))
    }

    fn entry_place(&self, partition: PartitionIx) -> Result<Option<usize>> {
        let entries = self.moved.get(&partition).map_or(&[][..], Vec::as_slice);
        for (place, entry) in entries.iter().enumerate().rev() {
            if self.read(entry.key)? == partition {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    fn topic(&self, topic: TopicIx) -> Result<Option<&OfTopic>> {
        match self.topics.get(&topic) {
            Some(OfTopic { name: TopicName::Of(name), .. }) if self.names[*name] => Err(freed()),
            found => Ok(found),
        }
    }

    fn way(&self, topic: &OfTopic, way: (MemberIx, MemberIx)) -> Result<Option<usize>> {
        match topic.ways.get(&way) {
            Some(&(pair, _)) if self.pairs[pair].1 => Err(freed()),
            found => Ok(found.map(|&(_, list)| list)),
        }
    }
}

fn freed() -> crate::Error {
    dies(
        "partitions of one topic have moved to and fro, upon which librdkafka reads memory that it has freed",
    )
}

fn ended_elsewhere() -> crate::Error {
    dies("a partition's last move did not end at its owner, upon which librdkafka fails an assertion")
}

//! What members say that they own, as the sticky assignors up to Kafka 2.8 read it: a claim of the newest generation
//! counts, and the previous one is remembered (`prepopulateCurrentAssignments`).

use std::collections::BTreeMap;

use crate::assignors::client::group::JavaGroup;
use crate::assignors::client::owned_partitions::{as_sent, by_topic};
use crate::assignors::lists::Lists;
use crate::index::{Ix, MemberIx, PartitionIx, TopicIx};
use crate::java::hash_map::Walker;
use crate::java::strings::hash_code;
use crate::java::topic_partition::partition_hash;

/// The members' claims, including those to partitions of missing topics, which affect the size of Java's maps.
pub(super) struct LegacyClaims {
    /// Each member's claims, in the order in which they reach the assignor. Partitions of missing topics are numbered
    /// after all others.
    pub(super) lists: Lists<PartitionIx>,
    /// By partition, `TopicPartition.hashCode`.
    hashes: Vec<i32>,
}

/// The owners that result from the claims.
pub(super) struct Owners {
    /// The claimed partitions, in the order in which Java walks their map.
    pub(super) walk: Vec<PartitionIx>,
    /// By partition, who claims it in the newest generation of all claims.
    pub(super) owner: Vec<MemberIx>,
    /// By partition, who claims it in the next older generation, and which one that is.
    pub(super) previous: Vec<Option<(MemberIx, i32)>>,
}

impl LegacyClaims {
    pub(super) fn new(group: &JavaGroup<'_>, cooperative: bool) -> Self {
        let known = group.row.len();
        let mut beyond_topics = Vec::new();
        let mut numbers = BTreeMap::new();
        let mut absent = group.absent.iter();
        let number = |&(topic, partition): &(TopicIx, PartitionIx)| {
            if partition != PartitionIx::NONE {
                return partition;
            }
            let place = (topic, absent.next().copied().unwrap_or_default());
            *numbers.entry(place).or_insert_with(|| {
                beyond_topics.push(place);
                PartitionIx::at(known + beyond_topics.len() - 1)
            })
        };
        let partitions: Vec<_> = group.owned.values.iter().map(number).collect();
        let topics: Vec<_> = group.topics.iter().map(|topic| hash_code(topic)).collect();
        let mut hashes = Vec::with_capacity(known + beyond_topics.len());
        for (partition, topic) in group.row.topics() {
            hashes.push(partition_hash(topics[topic], group.number(partition)));
        }
        hashes.extend(beyond_topics.iter().map(|&(topic, number)| partition_hash(topics[topic], number)));
        let lists = if cooperative { as_sent(group, &partitions) } else { by_topic(group, &partitions) };
        Self { lists, hashes }
    }

    /// A walker over maps of partitions.
    pub(super) fn walker(&self) -> Walker {
        Walker::new(self.hashes.iter().copied())
    }

    /// Who owns what, by the generation that each member names; members without one are ignored. Of two members that
    /// claim a partition in one generation, the first in Java's map owns it.
    pub(super) fn owners(&self, group: &JavaGroup<'_>, generations: &[Option<i32>]) -> Owners {
        let mut newest: Vec<Option<(MemberIx, i32)>> = vec![None; self.hashes.len()];
        let mut previous = newest.clone();
        let mut claimed = Vec::new();
        for &member in &group.walk {
            let Some(generation) = generations[member] else { continue };
            for &partition in self.lists.get(member) {
                let (first, second) = (&mut newest[partition], &mut previous[partition]);
                let claim = Some((member, generation));
                match (*first, *second) {
                    (None, _) => {
                        *first = claim;
                        claimed.push(partition);
                    }
                    (Some((_, known)), _) if generation > known => *second = std::mem::replace(first, claim),
                    (Some((_, known)), _) if generation == known => {}
                    (_, Some((_, known))) if generation <= known => {}
                    _ => *second = claim,
                }
            }
        }
        Owners {
            walk: self.walker().walk(&claimed),
            owner: newest
                .into_iter()
                .map(|claim| claim.map_or(MemberIx::NONE, |(member, _)| member))
                .collect(),
            previous,
        }
    }
}

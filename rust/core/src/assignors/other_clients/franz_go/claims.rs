//! What members say that they own, and who keeps what (`parseMemberMetadata`, `tryRestickyStales`).

use super::FranzVersion;
use super::balancer::{Balancer, NOBODY, Owner};
use crate::assignors::other_clients::go_group::GoGroup;
use crate::go::draws::GoDraws;
use crate::go::map::GoMap;
use crate::index::{MemberIx, PartitionIx, numbered};

/// A generation that is known.
const KNOWN: u32 = 1 << 31;

impl Balancer {
    /// `parseMemberMetadata`: the newest claim on each partition, and the members with the second newest, by partition
    /// in the order of Go's map.
    pub(super) fn take_claims(
        &mut self,
        group: &GoGroup<'_>,
        members: &[MemberIx],
        draws: &mut GoDraws,
    ) -> Vec<(PartitionIx, MemberIx)> {
        let topics = self.topics(group);
        let mut claims = vec![[(0, NOBODY); 2]; self.row.len()];
        let believed = numbered(members).filter(|(_, member)| !group.is_disbelieved(**member));
        for (number, &member) in believed {
            // Generation -1 counts as 0.
            let generation = KNOWN | group.generations[member].max(0).cast_unsigned();
            let owned = group.owned.get(member).iter();
            for partition in owned.filter_map(|&(name, number)| self.row.at(topics[name]?, number)) {
                let claim = &mut claims[partition];
                if generation > claim[0].0 {
                    *claim = [(generation, number), claim[0]];
                } else if generation > claim[1].0 {
                    claim[1] = (generation, number);
                }
            }
        }
        let mut stales = GoMap::new(draws, 0);
        for (partition, [(newest, member), (older, _)]) in numbered(&claims) {
            if *newest != 0 {
                self.plan[*member].push(partition);
            }
            if *older != 0 {
                stales.put(partition);
            }
        }
        stales.walk(draws).into_iter().map(|partition| (partition, claims[partition][1].1)).collect()
    }

    /// `dropUnwantedPartitions`; before 1.22 a list is walked while it shrinks.
    pub(super) fn drop_unwanted(&mut self, version: FranzVersion) -> Option<()> {
        for (member, list) in numbered(&mut self.plan) {
            let (subscribers, row) = (&self.subscribers, &self.row);
            let reads =
                |partition: PartitionIx| subscribers[row.topic(partition)].binary_search(&member).is_ok();
            if version >= FranzVersion::V1_22 {
                list.retain(|&partition| reads(partition));
            }
            let mut left = list.len();
            for place in 0..list.len() {
                let partition = list[place];
                if reads(partition) {
                    self.owner[partition] = Owner { member, original: member };
                } else {
                    let found = list[..left].iter().position(|&other| other == partition).unwrap_or(0);
                    left = left.checked_sub(1)?;
                    list[found] = list[left];
                }
            }
            list.truncate(left);
        }
        Some(())
    }

    /// `tryRestickyStales`: an older claim counts if the newer claim's member gave up the topic, or has more.
    pub(super) fn give_back_stales(
        &mut self,
        stales: &[(PartitionIx, MemberIx)],
        version: FranzVersion,
    ) -> Option<()> {
        for &(partition, member) in stales {
            let topic = self.row.topic(partition);
            if self.subscribers[topic].binary_search(&member).is_err() {
                if version < FranzVersion::V1_21 {
                    return Some(());
                }
                continue;
            }
            let owner = self.owner[partition].member;
            if owner == NOBODY {
                if version < FranzVersion::V1_21 {
                    return None;
                }
            } else if self.plan[member].len() + 1 < self.plan[owner].len() {
                self.remove(owner, partition)?;
            } else {
                continue;
            }
            self.plan[member].push(partition);
            if version >= FranzVersion::V1_21 {
                self.owner[partition] = Owner { member, original: member };
            }
        }
        Some(())
    }
}

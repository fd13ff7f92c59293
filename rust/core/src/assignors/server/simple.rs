//! `SimpleAssignor`, for share groups, whose members share partitions if there are more members than partitions:
//! `SimpleHomogeneousAssignmentBuilder` over all partitions, `SimpleHeterogeneousAssignmentBuilder` topic by topic.

use std::collections::HashMap;
use std::hash::Hash;

use super::group::ServerGroup;
use super::owned_partitions::{OwnedWalk, walked};
use super::partition_runs::PartitionRun;
use super::shared_partitions::{Sharing, in_table_order, shares};
use crate::Result;
use crate::assignors::lists::Lists;
use crate::index::{Ix, MemberIx, PartitionIx, TopicIx, indices};
use crate::java::uuid::IdWalker;

/// What each member reads.
pub(super) fn assign(group: &ServerGroup) -> Result<Lists<PartitionRun>> {
    if group.subscribed.values.is_empty() {
        // Nobody reads anything, and nobody keeps anything.
        return Ok(Lists::dealt::<MemberIx>(group.members(), &[]));
    }
    let shares = if group.homogeneous { share_all(group)? } else { share_by_topic(group)? };
    Ok(Lists::dealt(group.members(), &shares))
}

/// A member, and a partition.
type Share = (MemberIx, PartitionRun);

/// All members subscribe to the same topics.
fn share_all(group: &ServerGroup) -> Result<Vec<Share>> {
    let (mut first, mut existing) = (vec![None; group.counts.len()], Vec::new());
    for topic in IdWalker::new(&group.ids).walk(&group.first) {
        first[topic] = Some(existing.len().number());
        existing.extend((0..group.counts[topic]).map(|partition| (topic, partition)));
    }
    let partitions = existing.len();
    let mut numbers = SharedNumbers { partitions: existing, claimed: HashMap::new() };
    let mut claims = Vec::with_capacity(group.owned.values.len());
    let mut walk = OwnedWalk::new(&group.ids);
    for member in in_table_order(group.everybody().collect()) {
        for (topic, owned) in walk.topics(group.owned.get(member)) {
            let Some(first) = first[topic] else { continue };
            let count = group.counts[topic];
            for number in walked(owned) {
                let existing = (number < count).then(|| PartitionIx(first + number));
                claims.push((member, existing.unwrap_or_else(|| numbers.of_claimed((topic, number)))));
            }
        }
    }
    let (members, share_of) = shares(group.members(), partitions);
    let hash = |&(topic, partition): &(TopicIx, u32)| {
        let id = group.ids[topic].hash_code();
        id.wrapping_mul(31).wrapping_add(partition.cast_signed())
    };
    let hashes = numbers.partitions.iter().map(hash).collect();
    let shared = Sharing { hashes, partitions, members, share_of: share_of.collect() }.share(&claims)?;
    let run = |(member, place): (MemberIx, PartitionIx)| {
        let (topic, partition) = numbers.partitions[place];
        (member, PartitionRun::of_one(topic, partition))
    };
    Ok(shared.into_iter().map(run).collect())
}

/// The partitions in the numbers that [`Sharing`] takes: the existing ones, and after them those that are only claimed.
struct SharedNumbers<P> {
    partitions: Vec<P>,
    claimed: HashMap<P, PartitionIx>,
}

impl<P: Copy + Eq + Hash> SharedNumbers<P> {
    /// The number of a partition that does not exist.
    fn of_claimed(&mut self, partition: P) -> PartitionIx {
        *self.claimed.entry(partition).or_insert_with(|| {
            self.partitions.push(partition);
            PartitionIx::at(self.partitions.len() - 1)
        })
    }
}

/// Each topic by itself. Members keep their partitions of topics that nobody subscribes to.
fn share_by_topic(group: &ServerGroup) -> Result<Vec<Share>> {
    let subscribers = group.subscribers_by_topic();
    let mut owned = Vec::new();
    for member in in_table_order(group.everybody().collect()) {
        for partitions in group.owned.get(member).chunk_by(|one, other| one.0 == other.0) {
            owned.push((partitions[0].0, (member, partitions)));
        }
    }
    let owned = Lists::dealt(group.counts.len(), &owned);
    let mut dealt = Vec::new();
    for topic in indices(group.counts.len()) {
        let (subscribers, owned) = (subscribers.get(topic), owned.get(topic));
        let run = |(member, number): (MemberIx, u32)| (member, PartitionRun::of_one(topic, number));
        if subscribers.is_empty() {
            let kept = owned
                .iter()
                .flat_map(|&(member, those)| those.iter().map(move |&(_, number)| (member, number)));
            dealt.extend(kept.map(run));
        } else {
            let shared = share_topic(group.members(), group.counts[topic], subscribers, owned)?;
            dealt.extend(shared.into_iter().map(run));
        }
    }
    Ok(dealt)
}

fn share_topic(
    everybody: usize,
    count: u32,
    subscribers: &[MemberIx],
    owned: &[(MemberIx, &[(TopicIx, u32)])],
) -> Result<Vec<(MemberIx, u32)>> {
    let mut numbers = SharedNumbers { partitions: (0..count).collect(), claimed: HashMap::new() };
    let mut claims = Vec::new();
    for &(member, owned) in owned {
        for number in walked(owned) {
            let key = if number < count { PartitionIx(number) } else { numbers.of_claimed(number) };
            claims.push((member, key));
        }
    }
    let (members, shares) = shares(subscribers.len(), count as usize);
    let mut share_of = vec![0; everybody];
    for (&member, share) in subscribers.iter().zip(shares) {
        share_of[member] = share;
    }
    let hashes = numbers.partitions.iter().map(|number| number.cast_signed()).collect();
    let dealt = Sharing { hashes, partitions: count as usize, members, share_of }.share(&claims)?;
    Ok(dealt.into_iter().map(|(member, key)| (member, numbers.partitions[key])).collect())
}

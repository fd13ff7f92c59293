//! The sticky algorithm for members with different subscriptions: assign, balance, and revert if nothing was gained
//! (`AbstractStickyAssignor.GeneralAssignmentBuilder`).

use super::balance::{Balance, BalanceRules};
use super::group::JavaGroup;
use super::owned_partitions::Claims;
use super::rack_awareness;
use super::subscriptions::TopicReaders;
use crate::Result;
use crate::assignors::lists::MemberLists;
use crate::index::{MemberIx, PartitionIx, TopicIx};

/// What each member reads.
pub(crate) fn assign(group: &JavaGroup<'_>, claims: &Claims) -> Result<MemberLists> {
    let topics = TopicReaders::new(group);
    let by_rack = rack_awareness::matter(group, group.walk.iter().copied(), group.partitions());
    let kept = Kept::new(group, claims, &topics, by_rack);
    let all = topics.partitions(group);
    let unassigned = kept.unassigned(group, &topics, &all);
    let previous = previous_owners(group, claims);
    let balance = Balance::new(group, &topics, kept.lists, previous, BalanceRules::Kafka39);
    balance.run(&unassigned, &all, by_rack, !kept.revoked)
}

/// What members own and may keep.
struct Kept {
    lists: MemberLists,
    /// Whether a member had to give up something that still exists.
    revoked: bool,
}

impl Kept {
    fn new(group: &JavaGroup<'_>, claims: &Claims, topics: &TopicReaders, by_rack: bool) -> Self {
        let mut kept = Self { lists: Vec::with_capacity(group.members()), revoked: false };
        for member in group.by_id() {
            let mut list: Vec<PartitionIx> = claims.believed(member).collect();
            let owned = list.len();
            list.retain(|&partition| {
                topics.reads(member, group.row.topic(partition))
                    && !(by_rack && rack_awareness::mismatch(group, member, partition))
            });
            kept.revoked |= list.len() < owned;
            kept.lists.push(list);
        }
        kept
    }

    /// Partitions that nobody keeps. Kafka looks for kept ones in the order of the dealing, and never gets past one
    /// beyond its topic's count: everything after that counts as unassigned again.
    fn unassigned(
        &self,
        group: &JavaGroup<'_>,
        topics: &TopicReaders,
        all: &[PartitionIx],
    ) -> Vec<PartitionIx> {
        let mut kept = vec![false; group.row.len()];
        let mut stop: Option<(usize, TopicIx, i32)> = None;
        for &partition in self.lists.iter().flatten() {
            kept[partition] = true;
            if group.is_beyond(partition) {
                let topic = group.row.topic(partition);
                let place = (topics.readers[topic], topic, group.number(partition));
                stop = Some(stop.map_or(place, |stop| stop.min(place)));
            }
        }
        let behind = |partition: PartitionIx| {
            let topic = group.row.topic(partition);
            stop.is_some_and(|stop| stop < (topics.readers[topic], topic, group.number(partition)))
        };
        all.iter().copied().filter(|&partition| !kept[partition] || behind(partition)).collect()
    }
}

/// By partition, who owned it in an older generation than the newest, and in which one: the newest of those, and the
/// first on ties.
fn previous_owners(group: &JavaGroup<'_>, claims: &Claims) -> Vec<Option<(MemberIx, i32)>> {
    let mut previous = vec![None; group.row.len()];
    for &member in &group.walk {
        let generation = group.generations[member];
        if generation < claims.newest {
            for &partition in claims.of(member) {
                let known: &mut Option<(MemberIx, i32)> = &mut previous[partition];
                if known.is_none_or(|(_, other)| generation > other) {
                    *known = Some((member, generation));
                }
            }
        }
    }
    previous
}

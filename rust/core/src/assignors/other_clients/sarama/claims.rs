//! What members say that they own, and who is believed (`prepopulateCurrentAssignments`).

use crate::assignors::lists::MemberLists;
use std::collections::BTreeMap;

use crate::assignors::other_clients::client_group::ClientGroup;
use crate::go_map::{GoDraws, GoMap};
use crate::index::{Ix, MemberIx, PartitionIx, TopicIx};

/// What the members own at first. Partitions that the brokers do not have are numbered after all others.
pub(super) struct SaramaClaims {
    /// Members that own something, the keys of `currentAssignment`.
    pub(super) owners: GoMap<MemberIx>,
    /// By member, what it owns.
    pub(super) owned: MemberLists,
    /// By partition, who owned it before its owner.
    pub(super) previous: BTreeMap<PartitionIx, MemberIx>,
}

impl SaramaClaims {
    /// From members in the order of their map. Among a generation's claims on a partition, the first one counts; among
    /// generations, the newest.
    pub(super) fn new(
        group: &ClientGroup<'_>,
        members: &[MemberIx],
        cooperative: bool,
        draws: &mut GoDraws,
    ) -> Self {
        let mut beyond = BTreeMap::new();
        let mut claims: BTreeMap<PartitionIx, BTreeMap<i32, MemberIx>> = BTreeMap::new();
        let mut order = GoMap::new(draws, 0);
        for &member in members {
            let generation = group.generations[member];
            for (topic, number) in claims_in_order(group, member, cooperative, draws) {
                let partition = group.row.at(topic, number).unwrap_or_else(|| {
                    let next = group.row.len() + beyond.len();
                    *beyond.entry((topic, number)).or_insert_with(|| PartitionIx::at(next))
                });
                order.put(partition);
                claims.entry(partition).or_default().entry(generation).or_insert(member);
            }
        }
        let mut owned = vec![Vec::new(); group.members()];
        let (mut owners, mut previous) = (GoMap::new(draws, 0), BTreeMap::new());
        for partition in order.walk(draws) {
            let mut newest = claims[&partition].values().rev();
            if let Some(&owner) = newest.next() {
                owners.put(owner);
                owned[owner].push(partition);
            }
            if let Some(&before) = newest.next() {
                previous.insert(partition, before);
            }
        }
        Self { owners, owned, previous }
    }
}

/// A member's claims in the order in which the leader reads them; for `sticky`, they are sent in two maps by topic.
fn claims_in_order(
    group: &ClientGroup<'_>,
    member: MemberIx,
    cooperative: bool,
    draws: &mut GoDraws,
) -> Vec<(TopicIx, i32)> {
    let owned = group.owned.get(member);
    let mut topics = GoMap::of(draws, 0, owned.iter().map(|&(topic, _)| topic));
    let mut order = Vec::new();
    if cooperative {
        let mut seen = vec![false; group.topics().len()];
        order.extend(owned.iter().map(|&(topic, _)| topic));
        order.retain(|&topic| !std::mem::replace(&mut seen[topic], true));
    } else {
        for _ in 0..2 {
            order = topics.walk(draws);
            topics = GoMap::of(draws, order.len(), order.iter().copied());
        }
    }
    let of = |topic| owned.iter().copied().filter(move |&(other, _)| other == topic);
    order.into_iter().flat_map(of).collect()
}

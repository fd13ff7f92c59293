//! What members own, as their clients send it and the leader believes it.

use crate::assignors::lists::MemberLists;
use std::collections::HashMap;

use crate::assignors::Input;
use crate::assignors::other_clients::client_group::ClientGroup;
use crate::index::MemberIx;

/// A member's claims as the leader reads them: a topic's place in the input, and a partition.
pub(super) struct MemberClaims {
    pub(super) generation: i32,
    pub(super) partitions: Vec<(u32, i32)>,
}

/// `StickyAssignorUserData`, member by member in the order given: by topic, in the order in which the topics first come.
pub(super) fn user_data(input: &Input<'_>) -> Vec<MemberClaims> {
    (0..input.members.len())
        .map(|member| MemberClaims {
            generation: input.generations[member],
            partitions: by_topic(input, member).concat(),
        })
        .collect()
}

/// `OwnedPartitions` of subscription version 1, which has no generation: by topic, the partitions sorted.
pub(super) fn owned_partitions(input: &Input<'_>) -> Vec<MemberClaims> {
    if input.options.as_read {
        return user_data(input);
    }
    let sorted = |member| {
        let mut topics = by_topic(input, member);
        for pairs in &mut topics {
            pairs.sort_unstable();
        }
        MemberClaims { generation: -1, partitions: topics.concat() }
    };
    (0..input.members.len()).map(sorted).collect()
}

fn by_topic(input: &Input<'_>, member: usize) -> Vec<Vec<(u32, i32)>> {
    let (mut places, mut lists): (HashMap<u32, usize>, Vec<Vec<_>>) = Default::default();
    for &(topic, partition) in input.owned.get(member) {
        let place = *places.entry(topic).or_insert_with(|| {
            lists.push(Vec::new());
            lists.len() - 1
        });
        lists[place].push((topic, partition));
    }
    lists
}

/// Who owned what (`_init_current_assignments`).
pub(super) struct EarlierOwners {
    /// Whether nobody claims anything, not even a missing partition.
    pub(super) is_fresh: bool,
    /// By member, its partitions in the order in which they were first claimed by anybody.
    pub(super) lists: MemberLists,
    /// By partition, who had it in the generation before.
    pub(super) previous: Vec<Option<MemberIx>>,
}

impl EarlierOwners {
    pub(super) fn new(group: &ClientGroup<'_>, claims: &[MemberClaims]) -> Self {
        let mut claimants: Vec<Vec<(i32, MemberIx)>> = vec![Vec::new(); group.row.len()];
        let mut order = Vec::new();
        for (&member, MemberClaims { generation, partitions }) in group.joined.iter().zip(claims) {
            for partition in partitions.iter().filter_map(|&pair| group.partition(pair)) {
                let known = &mut claimants[partition];
                if known.is_empty() {
                    order.push(partition);
                }
                match known.iter_mut().find(|(other, _)| other == generation) {
                    // Generation 0 is false in Python, so the last one that claims it counts.
                    Some(known) if *generation == 0 => known.1 = member,
                    Some(_) => {}
                    None => known.push((*generation, member)),
                }
            }
        }
        let mut before = Self {
            is_fresh: claims.iter().all(|claims| claims.partitions.is_empty()),
            lists: vec![Vec::new(); group.members()],
            previous: vec![None; group.row.len()],
        };
        for partition in order {
            let known = &mut claimants[partition];
            known.sort_by_key(|&(generation, _)| std::cmp::Reverse(generation));
            before.lists[known[0].1].push(partition);
            before.previous[partition] = known.get(1).map(|&(_, member)| member);
        }
        before
    }
}

//! What members own, as librdkafka's leader believes it (`prepopulateCurrentAssignments`).

use crate::assignors::lists::MemberLists;
use std::collections::HashMap;

use super::LibrdkafkaVersion;
use super::leader::Leader;
use crate::index::{Ix, MemberIx, PartitionIx};

/// Partitions that members own; missing ones are numbered after the existing ones.
pub(super) struct LibrdkafkaClaims {
    /// By member, its claims, in its order.
    pub(super) of: MemberLists,
    /// The missing partitions: a topic's place in the input, and a number.
    pub(super) absent: Vec<(u32, i32)>,
    /// By member, what it had in the highest generation.
    pub(super) lists: MemberLists,
    /// By partition, who had it in the generation before.
    pub(super) previous: HashMap<PartitionIx, MemberIx>,
    /// By partition, its last claimant in the order of members, unless two claim it in one generation.
    pub(super) owner: HashMap<PartitionIx, MemberIx>,
}

impl LibrdkafkaClaims {
    pub(super) fn new(leader: &Leader<'_>) -> Self {
        let group = &leader.group;
        let mut claims = Self {
            of: vec![Vec::new(); group.members()],
            absent: Vec::new(),
            lists: vec![Vec::new(); group.members()],
            previous: HashMap::new(),
            owner: HashMap::new(),
        };
        let mut numbers = HashMap::new();
        let mut order = Vec::new();
        let mut claimants: HashMap<PartitionIx, Vec<(i32, MemberIx)>> = HashMap::new();
        for &member in &leader.members {
            let place = group.place(member);
            for &pair in group.input.owned.get(place) {
                let partition = group.partition(pair).unwrap_or_else(|| {
                    *numbers.entry(pair).or_insert_with(|| {
                        claims.absent.push(pair);
                        PartitionIx::at(group.row.len() + claims.absent.len() - 1)
                    })
                });
                claims.of[member].push(partition);
                if leader.version == LibrdkafkaVersion::UpTo16 {
                    // It looks at the new assignment, which is still empty.
                    continue;
                }
                claims.owner.insert(partition, member);
                let known = claimants.entry(partition).or_default();
                if known.is_empty() {
                    order.push(partition);
                }
                known.push((group.input.generations[place], member));
            }
        }
        // Its maps are walked newest entry first.
        for partition in order.into_iter().rev() {
            let known = claimants.entry(partition).or_default();
            if !leader.version.has_racks() {
                // Without any generation, the first claimant has it, and the second counts as its previous owner.
                if let [(_, first), later @ ..] = &known[..] {
                    claims.lists[*first].push(partition);
                    claims.previous.extend(later.first().map(|&(_, second)| (partition, second)));
                }
                continue;
            }
            known.sort_by_key(|&(generation, _)| generation);
            if known.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                claims.owner.remove(&partition);
                continue;
            }
            if let [.., (_, previous), _] = known[..] {
                claims.previous.insert(partition, previous);
            }
            if let Some(&(_, member)) = known.last() {
                claims.lists[member].push(partition);
            }
        }
        claims
    }
}

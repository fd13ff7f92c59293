//! What a cooperative group gets now, and what is withheld (`rd_kafka_cooperative_protocol_adjust_assignment`).

use crate::assignors::lists::MemberLists;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use super::claims::LibrdkafkaClaims;
use super::leader::Leader;
use crate::index::{MemberIx, PartitionIx};

/// What members keep, then what nobody owns, then what is owned but assigned to nobody, which goes back to its claimant
/// even if that no longer reads the topic. The last claimant in the order of members counts as the owner.
pub(super) fn adjust(
    leader: &Leader<'_>,
    claims: &LibrdkafkaClaims,
    lists: &[Vec<PartitionIx>],
) -> MemberLists {
    let pairs = |lists: &[Vec<PartitionIx>]| -> Vec<(PartitionIx, MemberIx)> {
        let of =
            |&member: &MemberIx| lists[member].iter().map(move |&partition| (partition, member)).collect();
        leader.members.iter().map(of).collect::<Vec<Vec<_>>>().concat()
    };
    let (mut assigned, claimed) = (pairs(lists), pairs(&claims.of));
    // If a partition is in two lists, its map has it at the place of the first and with the member of the last.
    let last: HashMap<PartitionIx, MemberIx> = assigned.iter().copied().collect();
    let mut known = HashSet::new();
    assigned.retain_mut(|(partition, member)| {
        *member = last[partition];
        known.insert(*partition)
    });
    let owner: HashMap<PartitionIx, MemberIx> = claimed.iter().copied().collect();
    let mut adjusted = vec![Vec::new(); lists.len()];
    for &(partition, member) in &assigned {
        if let Some(&owner) = owner.get(&partition)
            && leader.compare(member, owner) == Ordering::Equal
        {
            adjusted[owner].push(partition);
        }
    }
    for &(partition, member) in assigned.iter().filter(|(partition, _)| !owner.contains_key(partition)) {
        adjusted[member].push(partition);
    }
    for (partition, _) in claimed {
        if known.insert(partition) {
            adjusted[owner[&partition]].push(partition);
        }
    }
    adjusted
}

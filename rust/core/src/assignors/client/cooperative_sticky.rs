//! `CooperativeStickyAssignor`: partitions that change hands are withheld until the next rebalance, when their owner
//! has given them up.

use super::group::JavaGroup;
use crate::index::{MemberIx, PartitionIx, numbered};

/// Takes partitions that one member gains and another loses from the gaining member's list
/// (`computePartitionsTransferringOwnership`); the constrained algorithm keeps its own record instead.
pub(crate) fn withhold(group: &JavaGroup<'_>, lists: &mut [Vec<PartitionIx>]) {
    let partitions = group.row.len();
    let (mut gaining, mut lost) = (vec![MemberIx::NONE; partitions], vec![false; partitions]);
    let (mut owned_by, mut read_by) = (vec![MemberIx::NONE; partitions], vec![MemberIx::NONE; partitions]);
    for &member in &group.second_walk {
        let owned = group.owned.get(member).iter().map(|&(_, partition)| partition);
        let owned = owned.filter(|&partition| partition != PartitionIx::NONE);
        for partition in owned.clone() {
            owned_by[partition] = member;
        }
        for &partition in &lists[member] {
            read_by[partition] = member;
            if owned_by[partition] != member {
                gaining[partition] = member;
            }
        }
        for partition in owned {
            if read_by[partition] != member {
                lost[partition] = true;
            }
        }
    }
    for (member, list) in numbered(lists) {
        list.retain(|&partition| !(lost[partition] && gaining[partition] == member));
    }
}

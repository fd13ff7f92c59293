//! `CooperativeStickyAssignor`: partitions that change hands are withheld until the next rebalance, when their owner
//! has given them up.

use super::group::JavaGroup;
use crate::index::{MemberIx, PartitionIx, numbered};

/// `computePartitionsTransferringOwnership`; the constrained algorithm keeps its own record instead.
pub(crate) fn withhold_transferred(group: &JavaGroup<'_>, lists: &mut [Vec<PartitionIx>]) {
    let claims = |member: MemberIx| {
        let owned = group.owned.get(member).iter().map(|&(_, partition)| partition);
        owned.filter(|&partition| partition != PartitionIx::NONE)
    };
    withhold(lists, group.row.len(), group.second_walk.iter().copied(), claims, |_, _| true);
}

/// Takes partitions that one member gains and another loses from the gaining member's list. Members come in an order;
/// `owns` says whether a member's claim makes it the owner.
pub(crate) fn withhold<C: Iterator<Item = PartitionIx>>(
    lists: &mut [Vec<PartitionIx>],
    partitions: usize,
    members: impl Iterator<Item = MemberIx>,
    claims: impl Fn(MemberIx) -> C,
    owns: impl Fn(MemberIx, PartitionIx) -> bool,
) {
    let (mut gaining, mut lost) = (vec![MemberIx::NONE; partitions], vec![false; partitions]);
    let (mut owned_by, mut read_by) = (vec![MemberIx::NONE; partitions], vec![MemberIx::NONE; partitions]);
    for member in members {
        for partition in claims(member).filter(|&partition| owns(member, partition)) {
            owned_by[partition] = member;
        }
        for &partition in &lists[member] {
            read_by[partition] = member;
            if owned_by[partition] != member {
                gaining[partition] = member;
            }
        }
        for partition in claims(member) {
            lost[partition] |= read_by[partition] != member;
        }
    }
    for (member, list) in numbered(lists) {
        list.retain(|&partition| !(lost[partition] && gaining[partition] == member));
    }
}

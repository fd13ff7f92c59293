//! `CooperativeStickyAssignor`: partitions that change hands are withheld until the next rebalance, when their owner
//! has given them up.

use super::group::JavaGroup;
use crate::assignors::input::NONE;

/// Takes partitions that one member gains and another loses from the gaining member's list
/// (`computePartitionsTransferringOwnership`); the constrained algorithm keeps its own record instead.
pub(crate) fn withhold(group: &JavaGroup<'_>, lists: &mut [Vec<u32>]) {
    let partitions = group.partitions_and_beyond();
    let (mut gaining, mut lost) = (vec![NONE; partitions], vec![false; partitions]);
    let (mut owned_by, mut read_by) = (vec![NONE; partitions], vec![NONE; partitions]);
    for &member in &group.second_walk {
        let owned = group.owned.get(member as usize).iter().map(|&(_, partition)| partition);
        let owned = owned.filter(|&partition| partition != NONE);
        for partition in owned.clone() {
            owned_by[partition as usize] = member;
        }
        for &partition in &lists[member as usize] {
            read_by[partition as usize] = member;
            if owned_by[partition as usize] != member {
                gaining[partition as usize] = member;
            }
        }
        for partition in owned {
            if read_by[partition as usize] != member {
                lost[partition as usize] = true;
            }
        }
    }
    for (member, list) in (0..).zip(lists) {
        list.retain(|&partition| !(lost[partition as usize] && gaining[partition as usize] == member));
    }
}

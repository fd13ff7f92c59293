//! Which racks matter to an assignment (KIP-881: `AbstractPartitionAssignor.useRackAwareAssignment`).

use super::group::JavaGroup;
use crate::index::{MemberIx, PartitionIx};

/// Whether members of these racks are assigned by rack: some rack has members and replicas, and not every partition
/// is in every rack that has replicas.
pub(crate) fn matter(
    group: &JavaGroup<'_>,
    members: impl Iterator<Item = MemberIx>,
    partitions: impl Iterator<Item = PartitionIx> + Clone,
) -> bool {
    if !group.has_racks() {
        return false;
    }
    let mut all = Vec::new();
    for partition in partitions.clone() {
        for rack in group.racks(partition) {
            if !all.contains(rack) {
                all.push(*rack);
            }
        }
    }
    let mut racks = members.filter_map(|member| group.member_racks[member]);
    racks.any(|rack| all.contains(&rack))
        && partitions.into_iter().any(|partition| group.racks(partition).len() != all.len())
}

/// Whether racks matter and a member is not in a partition's racks.
pub(crate) fn mismatch(group: &JavaGroup<'_>, member: MemberIx, partition: PartitionIx) -> bool {
    group.member_racks[member].is_some_and(|rack| !group.racks(partition).contains(&rack))
}

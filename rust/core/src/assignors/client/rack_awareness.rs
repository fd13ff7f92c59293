//! Which racks matter to an assignment (KIP-881: `AbstractPartitionAssignor.useRackAwareAssignment`).

use super::group::JavaGroup;

/// Whether members of these racks are assigned by rack: some rack has members and replicas, and not every partition
/// is in every rack that has replicas.
pub(crate) fn matter(
    group: &JavaGroup<'_>,
    members: impl Iterator<Item = u32>,
    partitions: impl Iterator<Item = u32> + Clone,
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
    let mut racks = members.filter_map(|member| group.member_racks[member as usize]);
    racks.any(|rack| all.contains(&rack))
        && partitions.into_iter().any(|partition| group.racks(partition).len() != all.len())
}

/// Whether racks matter and a member is not in a partition's racks.
pub(crate) fn mismatch(group: &JavaGroup<'_>, member: u32, partition: u32) -> bool {
    group.member_racks[member as usize].is_some_and(|rack| !group.racks(partition).contains(&rack))
}

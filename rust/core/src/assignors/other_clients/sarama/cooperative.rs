//! `adjustCooperativeAssignment`: what one member gains and another loses waits for the next rebalance.

use crate::assignors::other_clients::go_group::GoGroup;
use crate::index::{MemberIx, PartitionIx, numbered};

/// Takes from the lists what its owner has to give up first.
pub(super) fn withhold(group: &GoGroup<'_>, lists: &mut [Vec<PartitionIx>]) {
    let mut reader: Vec<Option<MemberIx>> = vec![None; group.row.len()];
    for (member, list) in numbered(lists.iter()) {
        for &partition in list {
            reader[partition] = Some(member);
        }
    }
    let (mut kept, mut lost) = (vec![false; reader.len()], vec![false; reader.len()]);
    for member in group.by_id() {
        for &(topic, number) in group.owned.get(member) {
            if let Some(partition) = group.row.at(topic, number) {
                let keeps = reader[partition].is_some_and(|reader| reader == member);
                kept[partition] |= keeps;
                lost[partition] |= !keeps;
            }
        }
    }
    for list in lists {
        list.retain(|&partition| kept[partition] || !lost[partition]);
    }
}

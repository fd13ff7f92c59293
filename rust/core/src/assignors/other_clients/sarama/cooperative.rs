//! `adjustCooperativeAssignment`: what one member gains and another loses waits for the next rebalance.

use crate::assignors::other_clients::go_group::GoGroup;

/// Takes from the lists what its owner has to give up first.
pub(super) fn withhold(group: &GoGroup<'_>, lists: &mut [Vec<u32>]) {
    let mut reader = vec![None; group.topic_of.len()];
    for (member, list) in (0_u32..).zip(lists.iter()) {
        for &partition in list {
            reader[partition as usize] = Some(member);
        }
    }
    let (mut kept, mut lost) = (vec![false; reader.len()], vec![false; reader.len()]);
    for member in 0..group.members() {
        for &(topic, number) in group.owned.get(member) {
            if let Some(partition) = group.partition(topic, number) {
                let keeps = reader[partition as usize].is_some_and(|reader| reader as usize == member);
                kept[partition as usize] |= keeps;
                lost[partition as usize] |= !keeps;
            }
        }
    }
    for list in lists {
        list.retain(|&partition| kept[partition as usize] || !lost[partition as usize]);
    }
}

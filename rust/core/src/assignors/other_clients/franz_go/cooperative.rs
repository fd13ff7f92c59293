//! `AdjustCooperative`: what one member gains and another loses waits for the next rebalance.

use super::FranzVersion;
use crate::assignors::other_clients::go_group::GoGroup;
use crate::index::PartitionIx;

/// Takes from the lists what its owner has to give up first. Since 1.21.4, a claim counts as owning only if nobody
/// claims the same partition in a later generation.
pub(super) fn withhold(group: &GoGroup<'_>, version: FranzVersion, lists: &mut [Vec<PartitionIx>]) {
    let mut newest = vec![i32::MIN; group.row.len()];
    let claims = |member: usize| {
        let owned = group.owned.get(member).iter();
        owned.filter_map(|&(topic, number)| group.row.at(topic, number))
    };
    for member in 0..lists.len() {
        for partition in claims(member) {
            let newest = &mut newest[partition];
            *newest = (*newest).max(group.generations[member]);
        }
    }
    let mut lost = vec![false; group.row.len()];
    let (mut reads, mut owns) = (vec![usize::MAX; lost.len()], vec![usize::MAX; lost.len()]);
    // Before 1.21.4 a bug could give a partition to two members; the last one is the one that gains.
    let mut gains = reads.clone();
    for (member, list) in lists.iter().enumerate() {
        for partition in claims(member) {
            if version < FranzVersion::V1_21 || group.generations[member] >= newest[partition] {
                owns[partition] = member;
            }
        }
        for &partition in list {
            reads[partition] = member;
            if owns[partition] != member {
                gains[partition] = member;
            }
        }
        for partition in claims(member) {
            lost[partition] |= reads[partition] != member;
        }
    }
    for (member, list) in lists.iter_mut().enumerate() {
        list.retain(|&partition| !(lost[partition] && gains[partition] == member));
    }
}

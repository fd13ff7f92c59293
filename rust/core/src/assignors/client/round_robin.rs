//! `RoundRobinAssignor`: all partitions in turn over the members, skipping those that do not subscribe.

use super::group::JavaGroup;
use crate::assignors::lists::Lists;
use crate::index::{MemberIx, PartitionIx, numbered};
use crate::{Error, Result};

/// What each member reads.
pub(crate) fn assign(group: &JavaGroup<'_>) -> Result<Lists<PartitionIx>> {
    if group.members() == 0 {
        return Err(Error::throws("IllegalArgumentException", "a group without members"));
    }
    let circle = group.static_first();
    let places = places(group, &circle);
    let mut dealt = Vec::with_capacity(group.partitions().len());
    let mut next = 0;
    for (topic, places) in numbered(&places) {
        let mut turn = places.partition_point(|&place| place < next);
        for partition in group.row.of(topic) {
            turn = if turn < places.len() { turn } else { 0 };
            next = places[turn] + 1;
            dealt.push((circle[places[turn]], partition));
            turn += 1;
        }
    }
    Ok(Lists::dealt(group.members(), &dealt))
}

/// By topic, the places of its subscribers in a circle of members.
pub(crate) fn places(group: &JavaGroup<'_>, circle: &[MemberIx]) -> Vec<Vec<usize>> {
    let mut places = vec![Vec::new(); group.topics.len()];
    for (place, &member) in circle.iter().enumerate() {
        for &topic in group.subscribed.get(member) {
            let places: &mut Vec<usize> = &mut places[topic];
            if places.last() != Some(&place) {
                places.push(place);
            }
        }
    }
    places
}

//! `RangeAssignor`: each topic's partitions in ranges over its members, by rack first if racks matter (KIP-881).

use std::collections::BTreeMap;
use std::iter::repeat_n;
use std::sync::Arc;

use super::group::JavaGroup;
use super::rack_awareness;
use crate::assignors::lists::Lists;
use crate::assignors::range_topic::{Dealt, RangeTopic, deal_together};
use crate::index::{MemberIx, PartitionIx, TopicIx};

/// What each member reads.
pub(crate) fn assign(group: &JavaGroup<'_>) -> Lists<PartitionIx> {
    let members = members(group, group.static_first());
    if !group.has_racks() {
        return in_ranges(group, &members, group.topic_walk());
    }
    // The existing topics, in the order in which Java walks them, each with whether its racks matter.
    let topic = |topic: TopicIx| {
        let by_rack = rack_awareness::matter(group, members[topic].iter().copied(), group.row.of(topic));
        (RangeTopic::new(Arc::clone(&members[topic]), group.row.numbers(topic)), by_rack)
    };
    let mut topics: Vec<_> = group.topic_walk().into_iter().map(topic).collect();
    let mut dealt = Vec::with_capacity(group.partitions().len());
    let by_rack = topics.iter().any(|(_, by_rack)| *by_rack);
    if by_rack {
        match_racks(group, &mut topics, &mut dealt);
    }
    for (topic, _) in &mut topics {
        topic.deal_ranges(&mut dealt);
    }
    if by_rack {
        dealt.sort_unstable();
    }
    Lists::dealt(group.members(), &dealt)
}

/// Without racks: the first of each topic's members get one more partition if the numbers do not divide.
pub(crate) fn in_ranges(
    group: &JavaGroup<'_>,
    members: &[Arc<[MemberIx]>],
    topics: impl IntoIterator<Item = TopicIx>,
) -> Lists<PartitionIx> {
    let mut dealt = Vec::with_capacity(group.partitions().len());
    for topic in topics {
        let members = &members[topic];
        let partitions = group.row.of(topic);
        let (each, extra) = (partitions.len() / members.len(), partitions.len() % members.len());
        let room =
            members.iter().enumerate().map(|(place, &member)| (member, each + usize::from(place < extra)));
        let members =
            room.take_while(|&(_, room)| room > 0).flat_map(|(member, room)| repeat_n(member, room));
        dealt.extend(members.zip(partitions));
    }
    Lists::dealt(group.members(), &dealt)
}

/// By topic, those of the sorted members that subscribe to it. If all members subscribe to the same topics, those share one list.
pub(crate) fn members(group: &JavaGroup<'_>, sorted: Vec<MemberIx>) -> Vec<Arc<[MemberIx]>> {
    if group.subscribed.distinct() <= 1 {
        return vec![sorted.into(); group.topics.len()];
    }
    let mut members = vec![Vec::new(); group.topics.len()];
    for member in sorted {
        for &topic in group.subscribed.get(member) {
            let members: &mut Vec<MemberIx> = &mut members[topic];
            if members.last() != Some(&member) {
                members.push(member);
            }
        }
    }
    members.into_iter().map(Arc::from).collect()
}

/// Deals partitions to members in their racks. Topics with the same members and the same number of partitions are dealt
/// together.
fn match_racks(group: &JavaGroup<'_>, topics: &mut [(RangeTopic, bool)], dealt: &mut Dealt) {
    let matches = |member: MemberIx, partition: PartitionIx| {
        group.member_racks[member].is_none_or(|rack| group.racks(partition).contains(&rack))
    };
    let mut alike = BTreeMap::<_, (bool, Vec<_>)>::new();
    for (topic, by_rack) in topics {
        if topic.members.iter().any(|&member| group.member_racks[member].is_some()) {
            let (any_by_rack, topics) =
                alike.entry((Arc::clone(&topic.members), topic.partitions())).or_default();
            *any_by_rack |= *by_rack;
            topics.push(topic);
        }
    }
    for (by_rack, mut topics) in alike.into_values() {
        match &mut topics[..] {
            [topic] if by_rack => topic.deal_matching(matches, dealt),
            [_] => {}
            topics => deal_together(topics, matches, dealt),
        }
    }
}

//! `RangeAssignor`: each topic's partitions in ranges over its members, by rack first if racks matter (KIP-881).

use std::collections::BTreeMap;
use std::iter::repeat_n;
use std::sync::Arc;

use super::group::JavaGroup;
use super::rack_awareness;
use crate::assignors::lists::Lists;
use crate::assignors::quotas::Quota;
use crate::index::{Ix, MemberIx, PartitionIx, TopicIx};

/// What each member reads.
pub(crate) fn assign(group: &JavaGroup<'_>) -> Lists<PartitionIx> {
    if !group.has_racks() {
        return in_ranges(group);
    }
    let mut topics = topics(group);
    let mut dealt = Vec::with_capacity(group.partitions().len());
    let by_rack = topics.iter().any(|topic| topic.by_rack);
    if by_rack {
        match_racks(&mut topics, &mut dealt);
    }
    for topic in &mut topics {
        topic.deal_ranges(&mut dealt);
    }
    if by_rack {
        dealt.sort_unstable();
    }
    Lists::dealt(group.members(), &dealt)
}

/// Without racks: the first of each topic's members get one more partition if the numbers do not divide.
fn in_ranges(group: &JavaGroup<'_>) -> Lists<PartitionIx> {
    let members = members(group);
    let mut dealt = Vec::with_capacity(group.partitions().len());
    for topic in group.topic_walk() {
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

/// By topic, its members, sorted. If all members subscribe to the same topics, those share one list.
fn members(group: &JavaGroup<'_>) -> Vec<Arc<[MemberIx]>> {
    let sorted = group.static_first();
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

/// A topic while it is dealt out (`TopicAssignmentState`).
struct RangeTopic<'a> {
    group: &'a JavaGroup<'a>,
    /// Its members, sorted.
    members: Arc<[MemberIx]>,
    /// Its first partition.
    first: PartitionIx,
    /// By partition, whether it has been dealt.
    dealt: Vec<bool>,
    /// By place in `members`, how many partitions it has.
    taken: Vec<usize>,
    each: usize,
    /// How many members may still get one more than `each`.
    extra: usize,
    /// Whether its racks matter.
    by_rack: bool,
}

/// The existing topics, in the order in which Java walks them.
fn topics<'a>(group: &'a JavaGroup<'a>) -> Vec<RangeTopic<'a>> {
    let members = members(group);
    let state = |topic: TopicIx| {
        let members = Arc::clone(&members[topic]);
        let count = group.row.count(topic) as usize;
        let quota = Quota::of_counts(count, members.len());
        RangeTopic {
            by_rack: rack_awareness::matter(group, members.iter().copied(), group.row.of(topic)),
            first: PartitionIx(group.row.numbers(topic).start),
            dealt: vec![false; count],
            taken: vec![0; members.len()],
            each: quota.least as usize,
            extra: quota.extra as usize,
            members,
            group,
        }
    };
    group.topic_walk().into_iter().map(state).collect()
}

/// Deals partitions to members in their racks. Topics with the same members and the same number of partitions are dealt
/// together, so that they stay co-partitioned.
fn match_racks(topics: &mut [RangeTopic<'_>], dealt: &mut Vec<(MemberIx, PartitionIx)>) {
    let mut alike = BTreeMap::<_, Vec<_>>::new();
    for topic in topics.iter_mut() {
        let racked = topic.members.iter().any(|&member| topic.group.member_racks[member].is_some());
        let partitions = if racked { topic.dealt.len() } else { 0 };
        alike.entry((Arc::clone(&topic.members), partitions)).or_default().push(topic);
    }
    for ((members, partitions), mut topics) in alike {
        if let [topic] = &mut topics[..] {
            if topic.by_rack {
                topic.deal_matching(dealt);
            }
        } else {
            deal_together(&members, partitions, &mut topics, dealt);
        }
    }
}

/// Deals each partition number to the first member that is in its racks in every topic.
fn deal_together(
    members: &[MemberIx],
    partitions: usize,
    topics: &mut [&mut RangeTopic<'_>],
    dealt: &mut Vec<(MemberIx, PartitionIx)>,
) {
    let mut open: Vec<usize> = (0..members.len()).collect();
    for partition in 0..partitions {
        let matching = open.iter().position(|&place| {
            topics.iter().all(|topic| topic.matches(members[place], partition) && topic.room(place) > 0)
        });
        let Some(matching) = matching else { continue };
        let place = open[matching];
        for topic in topics.iter_mut() {
            topic.deal(place, partition, dealt);
            topic.count(place, 1);
        }
        if topics.iter().all(|topic| topic.room(place) == 0) {
            open.remove(matching);
        }
    }
}

impl RangeTopic<'_> {
    /// How many partitions a member may still get.
    fn room(&self, place: usize) -> usize {
        (self.each + usize::from(self.extra > 0)).saturating_sub(self.taken[place])
    }

    /// A partition of the topic, by its number.
    fn partition(&self, number: usize) -> PartitionIx {
        PartitionIx::at(self.first.place() + number)
    }

    fn matches(&self, member: MemberIx, partition: usize) -> bool {
        let rack = self.group.member_racks[member];
        rack.is_none_or(|rack| self.group.racks(self.partition(partition)).contains(&rack))
    }

    fn deal(&mut self, place: usize, partition: usize, dealt: &mut Vec<(MemberIx, PartitionIx)>) {
        self.dealt[partition] = true;
        dealt.push((self.members[place], self.partition(partition)));
    }

    /// A member got several at once.
    fn count(&mut self, place: usize, partitions: usize) {
        self.taken[place] += partitions;
        if self.taken[place] > self.each {
            self.extra = self.extra.saturating_sub(1);
        }
    }

    /// Deals each member as many partitions in its rack as it may get.
    fn deal_matching(&mut self, dealt: &mut Vec<(MemberIx, PartitionIx)>) {
        for place in 0..self.members.len() {
            let (room, member) = (self.room(place), self.members[place]);
            let open = (0..self.dealt.len()).filter(|&partition| !self.dealt[partition]);
            let matching: Vec<_> =
                open.filter(|&partition| self.matches(member, partition)).take(room).collect();
            for &partition in &matching {
                self.deal(place, partition, dealt);
            }
            if !matching.is_empty() {
                self.count(place, matching.len());
            }
        }
    }

    /// Deals the rest in ranges.
    fn deal_ranges(&mut self, dealt: &mut Vec<(MemberIx, PartitionIx)>) {
        let mut partition = 0;
        for place in 0..self.members.len() {
            let room = self.room(place);
            let mut got = 0;
            while got < room && partition < self.dealt.len() {
                if !self.dealt[partition] {
                    self.deal(place, partition, dealt);
                    got += 1;
                }
                partition += 1;
            }
            if got > 0 {
                self.count(place, got);
            }
        }
    }
}

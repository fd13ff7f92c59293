//! A topic's partitions in ranges over its members, by rack first if racks matter (KIP-881): `TopicAssignmentState` of
//! Java's `RangeAssignor`, and librdkafka's `rd_kafka_topic_assignment_state_t`.

use std::ops::Range;
use std::sync::Arc;

use super::quotas::Quota;
use crate::index::{MemberIx, PartitionIx};

/// Which partition was dealt to whom, in the order of the dealing.
pub(super) type Dealt = Vec<(MemberIx, PartitionIx)>;

/// A topic while it is dealt out.
pub(super) struct RangeTopic {
    /// Its members, sorted.
    pub(super) members: Arc<[MemberIx]>,
    /// Its first partition.
    first: u32,
    /// By partition, whether it has been dealt.
    is_dealt: Vec<bool>,
    /// By place in `members`, how many partitions it has.
    taken: Vec<usize>,
    each: usize,
    /// How many members may still get one more than `each`.
    extra: usize,
}

impl RangeTopic {
    pub(super) fn new(members: Arc<[MemberIx]>, partitions: Range<u32>) -> Self {
        let quota = Quota::of_counts(partitions.len(), members.len());
        Self {
            first: partitions.start,
            is_dealt: vec![false; partitions.len()],
            taken: vec![0; members.len()],
            each: quota.least as usize,
            extra: quota.extra as usize,
            members,
        }
    }

    /// How many partitions it has.
    pub(super) fn partitions(&self) -> usize {
        self.is_dealt.len()
    }

    /// How many partitions a member may still get.
    fn room(&self, place: usize) -> usize {
        (self.each + usize::from(self.extra > 0)).saturating_sub(self.taken[place])
    }

    /// The partitions that nobody has yet.
    fn open(&self) -> impl Iterator<Item = PartitionIx> {
        (self.first..)
            .zip(&self.is_dealt)
            .filter(|&(_, &is_dealt)| !is_dealt)
            .map(|(number, _)| PartitionIx(number))
    }

    fn deal(&mut self, place: usize, partition: PartitionIx, dealt: &mut Dealt) {
        dealt.push((self.members[place], partition));
        self.is_dealt[(partition.0 - self.first) as usize] = true;
        self.taken[place] += 1;
        if self.taken[place] > self.each {
            self.extra = self.extra.saturating_sub(1);
        }
    }

    /// Deals each member as many partitions as it may get, of those that match it.
    pub(super) fn deal_matching(
        &mut self,
        matches: impl Fn(MemberIx, PartitionIx) -> bool,
        dealt: &mut Dealt,
    ) {
        for place in 0..self.members.len() {
            let (room, member) = (self.room(place), self.members[place]);
            let matching = self.open().filter(|&partition| matches(member, partition));
            for partition in matching.take(room).collect::<Vec<_>>() {
                self.deal(place, partition, dealt);
            }
        }
    }

    /// Deals the rest in ranges.
    pub(super) fn deal_ranges(&mut self, dealt: &mut Dealt) {
        let mut open = self.open().collect::<Vec<_>>().into_iter();
        for place in 0..self.members.len() {
            for partition in open.by_ref().take(self.room(place)) {
                self.deal(place, partition, dealt);
            }
        }
    }
}

/// Deals topics with the same members and the same number of partitions, so that they stay co-partitioned: each
/// partition number goes to the first member that it matches in every topic.
pub(super) fn deal_together(
    topics: &mut [&mut RangeTopic],
    matches: impl Fn(MemberIx, PartitionIx) -> bool,
    dealt: &mut Dealt,
) {
    let Some(first) = topics.first() else { return };
    let (members, partitions) = (Arc::clone(&first.members), (0_u32..).take(first.partitions()));
    let mut open: Vec<usize> = (0..members.len()).collect();
    for number in partitions {
        let matching = open.iter().position(|&place| {
            let takes = |topic: &&mut RangeTopic| matches(members[place], PartitionIx(topic.first + number));
            topics.iter().all(|topic| takes(topic) && topic.room(place) > 0)
        });
        let Some(matching) = matching else { continue };
        let place = open[matching];
        for topic in topics.iter_mut() {
            topic.deal(place, PartitionIx(topic.first + number), dealt);
        }
        if topics.iter().all(|topic| topic.room(place) == 0) {
            open.remove(matching);
        }
    }
}

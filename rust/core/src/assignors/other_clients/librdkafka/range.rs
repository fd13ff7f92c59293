//! `range`: each topic's partitions in ranges over its members, by rack first if racks matter (KIP-881).

use super::leader::{Leader, ReadTopic};
use super::version::LibrdkafkaVersion;
use crate::Result;
use crate::assignors::{Assignment, Input};
use crate::index::PartitionIx;

/// `rd_kafka_range_assignor_assign_cb`.
pub(super) fn assign(input: &Input<'_>, version: LibrdkafkaVersion) -> Result<Assignment> {
    let mut leader = Leader::new(input, version)?;
    let mut topics = std::mem::take(&mut leader.topics);
    for topic in &mut topics {
        topic.members = leader.sorted(&topic.members);
    }
    if version.has_racks() {
        // Topics with the same members and equally many partitions are together.
        topics.sort_by(|one, other| {
            let count = |topic: &ReadTopic| leader.count(topic.topic);
            one.members.cmp(&other.members).then_with(|| count(one).cmp(&count(other)))
        });
    }
    let mut states: Vec<_> = topics.iter().map(|topic| DealtTopic::new(&leader, topic)).collect();
    let mut lists = vec![Vec::new(); leader.group.members()];
    let alike = |one: &DealtTopic<'_>, other: &DealtTopic<'_>| {
        one.topic.members == other.topic.members && one.is_left.len() == other.is_left.len()
    };
    for bucket in states.chunk_by_mut(alike) {
        match bucket {
            [state] => {
                if leader.has_racks(std::slice::from_ref(state.topic)) {
                    state.deal_ranges(&mut lists, true);
                }
            }
            several => deal_co_partitioned(several, &mut lists),
        }
    }
    for state in &mut states {
        state.deal_ranges(&mut lists, false);
    }
    Ok(leader.group.answer(&lists, None))
}

/// A topic while it is dealt out (`rd_kafka_topic_assignment_state_t`).
struct DealtTopic<'a> {
    leader: &'a Leader<'a>,
    topic: &'a ReadTopic,
    /// By partition, whether nobody has it yet.
    is_left: Vec<bool>,
    /// How many partitions each of the topic's members has.
    counts: Vec<usize>,
    share: usize,
    /// How many members may have one more partition.
    extra: usize,
}

impl<'a> DealtTopic<'a> {
    fn new(leader: &'a Leader<'a>, topic: &'a ReadTopic) -> Self {
        let (count, members) = (leader.count(topic.topic), topic.members.len());
        Self {
            leader,
            topic,
            is_left: vec![true; count],
            counts: vec![0; members],
            share: count / members,
            extra: count % members,
        }
    }

    /// How many more partitions a member, by its place among the topic's, may have.
    fn room(&self, place: usize) -> usize {
        (self.share + usize::from(self.extra > 0)).saturating_sub(self.counts[place])
    }

    fn is_near(&self, place: usize, number: usize) -> Option<bool> {
        let rack = self.leader.rack(self.topic.members[place])?;
        Some(self.leader.racks(self.topic.topic, number).contains(&rack))
    }

    fn give(&mut self, place: usize, number: usize, lists: &mut [Vec<PartitionIx>]) {
        let partition = self.leader.group.row.numbers(self.topic.topic).nth(number).map(PartitionIx);
        lists[self.topic.members[place]].extend(partition);
        self.is_left[number] = false;
        self.counts[place] += 1;
        if self.counts[place] > self.share {
            self.extra = self.extra.saturating_sub(1);
        }
    }

    /// `rd_kafka_assign_ranges`: by rack, a member without one takes any partition.
    fn deal_ranges(&mut self, lists: &mut [Vec<PartitionIx>], by_rack: bool) {
        for place in 0..self.topic.members.len() {
            let room = self.room(place);
            let may = |number: &usize| {
                self.is_left[*number] && (!by_rack || self.is_near(place, *number).unwrap_or(true))
            };
            let numbers: Vec<_> = (0..self.is_left.len()).filter(may).take(room).collect();
            for number in numbers {
                self.give(place, number, lists);
            }
        }
    }
}

/// `rd_kafka_assign_co_partitioned`: a partition number of all the topics goes to the first member that is near all of
/// them and has room in each; a member without a rack is near none.
fn deal_co_partitioned(states: &mut [DealtTopic<'_>], lists: &mut [Vec<PartitionIx>]) {
    let Some(first) = states.first() else { return };
    let (count, members) = (first.is_left.len(), first.topic.members.len());
    for number in 0..count {
        let takes = |place: &usize| {
            states.iter().all(|state| state.is_near(*place, number) == Some(true) && state.room(*place) > 0)
        };
        if let Some(place) = (0..members).find(takes) {
            for state in &mut *states {
                state.give(place, number, lists);
            }
        }
    }
}

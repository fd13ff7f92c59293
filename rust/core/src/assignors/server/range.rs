//! `RangeAssignor` of the broker: each topic's partitions in ranges over its members, and no member keeps anything.

use super::group::ServerGroup;
use super::partition_runs::PartitionRun;
use crate::assignors::assignment::Assignment;
use crate::assignors::quotas::Quota;
use crate::index::{MemberIx, TopicIx};

/// A topic while it is dealt out (`TopicMetadata`).
#[derive(Clone, Copy)]
struct ServerTopic {
    count: u32,
    next: u32,
    each: u32,
    /// How many members get one more partition.
    extra: u32,
}

impl ServerTopic {
    fn new(count: u32, members: u32) -> Self {
        // A topic without members is not dealt.
        let quota = Quota::of(count, members.max(1));
        Self { count, next: 0, each: quota.least, extra: quota.extra }
    }

    /// The next member's range.
    fn deal(&mut self, topic: TopicIx) -> PartitionRun {
        let from = self.next;
        self.next += self.each;
        if self.extra > 0 {
            self.extra -= 1;
            self.next += 1;
        }
        PartitionRun { topic, from, to: self.next }
    }

    fn is_dealt(&self) -> bool {
        self.next == self.count
    }
}

/// What each member reads.
///
/// The length of each member's list must be known before the first range is written. With many members, most ranges
/// have one partition, and keeping them until then would take more time than dealing twice.
pub(super) fn assign(group: &ServerGroup) -> Assignment {
    let (mut assignment, mut places) = group.room(&lengths(group));
    deal(group, |member, run| group.write(&mut assignment, &mut places[member], run));
    assignment
}

/// The topics before anything is dealt.
fn all(group: &ServerGroup) -> impl Iterator<Item = ServerTopic> {
    group.counts.iter().zip(&group.subscribers).map(|(&count, &members)| ServerTopic::new(count, members))
}

/// How many partitions each member gets.
fn lengths(group: &ServerGroup) -> Vec<usize> {
    let mut lengths = vec![0; group.members()];
    if !group.homogeneous {
        deal(group, |member, run| lengths[member] += run.len());
        return lengths;
    }
    // All members have turns at all topics; those whose turn comes later get one from fewer topics.
    let topics = || all(group).map(|topic| (topic.each as usize, topic.extra as usize));
    let mut turns = vec![0; group.members() + 1];
    topics().for_each(|(_, extra)| turns[extra] += 1);
    let mut length = topics().map(|(each, _)| each).sum();
    for (turn, &member) in group.static_first.iter().enumerate().rev() {
        length += turns[turn + 1];
        lengths[member] = length;
    }
    lengths
}

/// Gives `take` each member's ranges, those of one member in the order of their topics.
fn deal(group: &ServerGroup, mut take: impl FnMut(MemberIx, PartitionRun)) {
    let mut topics: Vec<ServerTopic> = all(group).collect();
    let mut open = topics.iter().filter(|topic| !topic.is_dealt()).count();
    for &member in &group.static_first {
        if open == 0 {
            break;
        }
        for topic in group.subscribed.get(member).iter().copied().map(TopicIx) {
            let state = &mut topics[topic];
            if !state.is_dealt() {
                take(member, state.deal(topic));
                open -= usize::from(state.is_dealt());
            }
        }
    }
}

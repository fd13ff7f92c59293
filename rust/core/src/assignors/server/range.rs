//! `RangeAssignor` of the broker: each topic's partitions in ranges over its members, and no member keeps anything.

use super::super::Assignment;
use super::group::Group;
use super::runs::Run;

/// A topic while it is dealt out (`TopicMetadata`).
#[derive(Clone, Copy)]
struct Topic {
    count: u32,
    next: u32,
    each: u32,
    /// How many members get one partition more.
    extra: u32,
}

impl Topic {
    fn new(count: u32, members: u32) -> Self {
        // Nobody is dealt anything of a topic without members.
        let members = members.max(1);
        Self { count, next: 0, each: count / members, extra: count % members }
    }

    /// The next member's range.
    fn deal(&mut self, topic: u32) -> Run {
        let from = self.next;
        self.next += self.each;
        if self.extra > 0 {
            self.extra -= 1;
            self.next += 1;
        }
        Run { topic, from, to: self.next }
    }

    fn is_dealt(&self) -> bool {
        self.next == self.count
    }
}

/// What each member reads.
///
/// Dealt twice, first to know how long each member's list is: with many members most ranges are of one partition, and
/// to keep them until then takes more time than to deal them again.
pub(super) fn assign(group: &Group) -> Assignment {
    let mut lengths = vec![0; group.members()];
    deal(group, |member, run| lengths[member as usize] += run.len());
    let (mut assignment, mut places) = group.room(&lengths);
    deal(group, |member, run| group.write(&mut assignment, &mut places[member as usize], run));
    assignment
}

/// Gives `take` each member's ranges, those of one member in the order of their topics.
fn deal(group: &Group, mut take: impl FnMut(u32, Run)) {
    let counts = group.counts.iter().zip(&group.subscribers);
    let mut topics: Vec<Topic> = counts.map(|(&count, &members)| Topic::new(count, members)).collect();
    let mut open = topics.iter().filter(|topic| !topic.is_dealt()).count();
    for &member in &group.static_first {
        if open == 0 {
            break;
        }
        for &number in group.subscribed.get(member as usize) {
            let topic = &mut topics[number as usize];
            if !topic.is_dealt() {
                take(member, topic.deal(number));
                open -= usize::from(topic.is_dealt());
            }
        }
    }
}

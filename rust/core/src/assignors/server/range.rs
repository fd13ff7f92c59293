//! `RangeAssignor` of the broker: each topic's partitions in ranges over its members, and no member keeps anything.

use super::super::lists::Lists;
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
pub(super) fn assign(group: &Group) -> Lists<Run> {
    let counts = group.counts.iter().zip(&group.subscribers);
    let mut topics: Vec<Topic> =
        counts.clone().map(|(&count, &members)| Topic::new(count, members)).collect();
    let mut open = topics.iter().filter(|topic| !topic.is_dealt()).count();
    let most = counts.map(|(&count, &members)| count.min(members) as usize).sum();
    let mut runs = Vec::with_capacity(most);
    // Where each member's runs begin and end.
    let mut places = vec![(0, 0); group.members()];
    for &member in &group.static_first {
        if open == 0 {
            break;
        }
        let start = runs.len();
        for &number in group.subscribed.get(member as usize) {
            let topic = &mut topics[number as usize];
            if !topic.is_dealt() {
                runs.push(topic.deal(number));
                open -= usize::from(topic.is_dealt());
            }
        }
        places[member as usize] = (start, runs.len());
    }
    Lists::picked(&runs, &places)
}

//! `kafka.consumer.RangeAssignor` of Kafka 0.10: each topic by itself, in ranges over its consumer threads, which are a group's
//! members here.

use crate::assignors::client::group::Group;
use crate::assignors::client::round_robin::places;
use crate::assignors::lists::Lists;

/// Each thread's list is by topic.
pub(crate) fn assign(group: &Group<'_>) -> Lists<u32> {
    let threads = group.by_id();
    let mut dealt = Vec::with_capacity(group.partitions() as usize);
    for (topic, readers) in places(group, &threads).into_iter().enumerate() {
        let partitions: Vec<_> = (group.starts[topic]..group.starts[topic + 1]).collect();
        let (mut rest, count) = (&partitions[..], readers.len());
        for (place, thread) in readers.into_iter().enumerate() {
            let extra = usize::from(place < partitions.len() % count);
            let (range, left) = rest.split_at(partitions.len() / count + extra);
            dealt.extend(range.iter().map(|&partition| (threads[thread], partition)));
            rest = left;
        }
    }
    Lists::dealt(group.members(), &dealt)
}

//! `kafka.consumer.RangeAssignor` of Kafka 0.10: each topic by itself, in ranges over its consumer threads, which are a group's
//! members here.

use crate::assignors::client::group::JavaGroup;
use crate::assignors::client::round_robin::places;
use crate::assignors::lists::Lists;
use crate::assignors::quotas::Quota;

/// Each thread's list is by topic.
pub(crate) fn assign(group: &JavaGroup<'_>) -> Lists<u32> {
    let threads = group.by_id();
    let mut dealt = Vec::with_capacity(group.partitions() as usize);
    for (topic, readers) in places(group, &threads).into_iter().enumerate() {
        let partitions: Vec<_> = (group.starts[topic]..group.starts[topic + 1]).collect();
        let (mut left_over, quota) = (&partitions[..], Quota::of_counts(partitions.len(), readers.len()));
        for (place, thread) in readers.into_iter().enumerate() {
            let length = quota.least as usize + usize::from(place < quota.extra as usize);
            let (range, left) = left_over.split_at(length);
            dealt.extend(range.iter().map(|&partition| (threads[thread], partition)));
            left_over = left;
        }
    }
    Lists::dealt(group.members(), &dealt)
}

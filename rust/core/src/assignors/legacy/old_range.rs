//! `kafka.consumer.RangeAssignor` of Kafka 0.10: each topic by itself, in ranges over its consumer threads, which are a group's
//! members here.

use crate::assignors::client::group::JavaGroup;
use crate::assignors::client::round_robin::places;
use crate::assignors::lists::Lists;
use crate::assignors::quotas::Quota;
use crate::index::{PartitionIx, numbered};

/// Each thread's list is by topic.
pub(crate) fn assign(group: &JavaGroup<'_>) -> Lists<PartitionIx> {
    let threads: Vec<_> = group.by_id().collect();
    let mut dealt = Vec::with_capacity(group.partitions().len());
    for (topic, readers) in numbered(places(group, &threads)) {
        let partitions: Vec<_> = (group.row.of(topic)).collect();
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

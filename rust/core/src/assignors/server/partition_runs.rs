//! Consecutive partitions of a topic: members' partitions are kept in runs that are as long as possible.

use crate::assignors::lists::Lists;
use crate::index::TopicIx;

/// The partitions `from..to` of a topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PartitionRun {
    pub(super) topic: TopicIx,
    pub(super) from: u32,
    pub(super) to: u32,
}

impl PartitionRun {
    pub(super) fn of_one(topic: TopicIx, partition: u32) -> Self {
        Self { topic, from: partition, to: partition.saturating_add(1) }
    }

    pub(super) fn len(self) -> usize {
        (self.to - self.from) as usize
    }
}

/// Appends a run to the list that begins at `start`, or extends its last run if it continues that.
pub(super) fn push(runs: &mut Vec<PartitionRun>, start: usize, run: PartitionRun) {
    match runs[start..].last_mut() {
        Some(last) if last.topic == run.topic && last.to == run.from => last.to = run.to,
        _ => runs.push(run),
    }
}

/// Sorts each list, and removes duplicates.
pub(super) fn sort(lists: &mut Lists<PartitionRun>) {
    let mut is_sorted = true;
    for list in 0..lists.len() {
        let list = &mut lists.values[lists.offsets[list]..lists.offsets[list + 1]];
        if !is_apart(list) {
            list.sort_unstable();
            is_sorted &= is_apart(list);
        }
    }
    if !is_sorted {
        *lists = without_overlaps(lists);
    }
}

fn is_apart(runs: &[PartitionRun]) -> bool {
    runs.windows(2).all(|pair| (pair[0].topic.0, pair[0].to) <= (pair[1].topic.0, pair[1].from))
}

fn without_overlaps(lists: &Lists<PartitionRun>) -> Lists<PartitionRun> {
    let mut apart: Lists<PartitionRun> = Lists::default();
    for list in 0..lists.len() {
        let start = apart.values.len();
        for &run in lists.get(list) {
            let before = match apart.values[start..].last() {
                Some(last) if last.topic == run.topic => last.to,
                _ => 0,
            };
            if run.to > before {
                apart.values.push(PartitionRun { from: run.from.max(before), ..run });
            }
        }
        apart.end();
    }
    apart
}

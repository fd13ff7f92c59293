//! Whether a group is balanced: whether a member could still gain a partition from one that has more.

use super::numbered::Numbered;
use crate::assignors::client::sorted_members::SortedMembers;
use crate::index::{Indices, Ix, MemberIx, PartitionIx, TopicIx};

/// Who has what during the moves, and who may read what.
pub(super) struct Gains<'a> {
    pub(super) group: &'a Numbered<'a>,
    /// By member, its partitions.
    pub(super) lists: &'a [Vec<PartitionIx>],
    /// By partition, its owner.
    pub(super) owner: &'a [MemberIx],
    pub(super) readers: &'a Readers,
}

/// Who may read what.
pub(super) struct Readers {
    /// By topic, its readers.
    pub(super) of_topic: Vec<Vec<MemberIx>>,
    /// By member, its topics, sorted, each once.
    pub(super) topics: Vec<Vec<TopicIx>>,
    /// By member, how many partitions it may have.
    pub(super) most: Vec<usize>,
}

impl Readers {
    pub(super) fn reads(&self, member: MemberIx, topic: TopicIx) -> bool {
        self.topics[member].binary_search(&topic).is_ok()
    }
}

impl Gains<'_> {
    /// A member that could gain, and the partition; `last` is the previous result, which usually still holds.
    pub(super) fn find(
        &self,
        sorted: &SortedMembers,
        last: Option<(MemberIx, PartitionIx)>,
    ) -> Option<(MemberIx, PartitionIx)> {
        if last.is_some_and(|(member, partition)| self.gains(member, partition)) {
            return last;
        }
        let heaviest = |topic| self.group.of_topic(topic).max_by_key(|&partition| self.load(partition));
        let heaviest: Vec<_> = Indices::first(self.group.topics.len()).map(heaviest).collect();
        sorted.iter().find_map(|(_, member)| {
            let topics = self.readers.topics[member].iter();
            let mut found = topics.filter_map(|&topic| heaviest[topic]);
            found.find(|&partition| self.gains(member, partition)).map(|partition| (member, partition))
        })
    }

    /// How many partitions a partition's owner has.
    pub(super) fn load(&self, partition: PartitionIx) -> usize {
        self.lists.get(self.owner[partition].place()).map_or(0, Vec::len)
    }

    fn gains(&self, member: MemberIx, partition: PartitionIx) -> bool {
        let count = self.lists[member].len();
        count != self.readers.most[member] && self.load(partition) > count
    }
}

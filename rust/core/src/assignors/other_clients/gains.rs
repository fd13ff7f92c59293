//! Whether a group is balanced: whether a member could still gain a partition from one that has more.

use super::numbered::Numbered;
use crate::assignors::client::sorted_members::SortedMembers;

/// Who has what during the moves, and who may read what.
pub(super) struct Gains<'a> {
    pub(super) group: &'a Numbered<'a>,
    /// By member, its partitions.
    pub(super) lists: &'a [Vec<u32>],
    /// By partition, its owner.
    pub(super) owner: &'a [u32],
    /// By member, its topics, each once.
    pub(super) topics: &'a [Vec<u32>],
    /// By member, how many partitions it may have.
    pub(super) most: &'a [usize],
}

impl Gains<'_> {
    /// A member that could gain, and the partition; `last` is the previous result, which usually still holds.
    pub(super) fn find(&self, sorted: &SortedMembers, last: Option<(u32, u32)>) -> Option<(u32, u32)> {
        if last.is_some_and(|(member, partition)| self.gains(member, partition)) {
            return last;
        }
        let heaviest = |topic| self.group.of_topic(topic).max_by_key(|&partition| self.load(partition));
        let heaviest: Vec<_> = (0..).take(self.group.topics.len()).map(heaviest).collect();
        sorted.iter().find_map(|(_, member)| {
            let topics = self.topics[member as usize].iter();
            let mut found = topics.filter_map(|&topic| heaviest[topic as usize]);
            found.find(|&partition| self.gains(member, partition)).map(|partition| (member, partition))
        })
    }

    /// How many partitions a partition's owner has.
    pub(super) fn load(&self, partition: u32) -> usize {
        self.lists.get(self.owner[partition as usize] as usize).map_or(0, Vec::len)
    }

    fn gains(&self, member: u32, partition: u32) -> bool {
        let count = self.lists[member as usize].len();
        count != self.most[member as usize] && self.load(partition) > count
    }
}

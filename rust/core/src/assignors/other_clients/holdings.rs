//! Who has what while partitions move, and whether a member could still gain one from a member that has more.

use super::client_group::ClientGroup;
use crate::assignors::client::sorted_members::SortedMembers;
use crate::assignors::lists::MemberLists;
use crate::index::{Ix, MemberIx, PartitionIx, TopicIx};

/// Who has what during the moves, and who may read what.
pub(super) struct Holdings<'a> {
    pub(super) group: &'a ClientGroup<'a>,
    pub(super) readers: Readers,
    /// By member, its partitions.
    pub(super) lists: MemberLists,
    /// By partition, its owner.
    pub(super) owner: Vec<MemberIx>,
    /// Members that do not take part, and are not in `sorted`.
    pub(super) fixed: Vec<bool>,
    /// By number of partitions, then by id.
    pub(super) sorted: SortedMembers,
    /// The last found member that could gain, and the partition.
    gaining: Option<(MemberIx, PartitionIx)>,
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

impl<'a> Holdings<'a> {
    /// Nobody owns anything yet, and nobody is sorted.
    pub(super) fn new(group: &'a ClientGroup<'a>, readers: Readers, lists: MemberLists) -> Self {
        Self {
            group,
            readers,
            lists,
            owner: vec![MemberIx::NONE; group.row.len()],
            fixed: vec![false; group.members()],
            sorted: SortedMembers::new(&[], |_| false),
            gaining: None,
        }
    }

    /// Sorts the members that take part.
    pub(super) fn sort_members(&mut self) {
        let counts: Vec<_> = self.lists.iter().map(Vec::len).collect();
        self.sorted = SortedMembers::new(&counts, |member| self.fixed[member]);
    }

    /// Sets aside members that have everything they could have, and nothing that another could have.
    pub(super) fn set_fixed_aside(&mut self) {
        for member in self.group.by_id() {
            let list = &self.lists[member];
            let has_all = list.len() >= self.readers.most[member];
            self.fixed[member] |= has_all && !list.iter().any(|&partition| self.is_shared(partition));
        }
        self.sort_members();
    }

    /// Whether a partition's topic has several readers.
    pub(super) fn is_shared(&self, partition: PartitionIx) -> bool {
        self.readers.of_topic[self.group.row.topic(partition)].len() >= 2
    }

    /// Whether a member reads a partition's topic.
    pub(super) fn reads(&self, member: MemberIx, partition: PartitionIx) -> bool {
        self.readers.reads(member, self.group.row.topic(partition))
    }

    /// The first member that reads a partition and still has fewer than its owner if it takes it; the owner has so many.
    pub(super) fn taker(&self, partition: PartitionIx, has: usize) -> Option<MemberIx> {
        let mut fewer = self.sorted.iter().take_while(|&(count, _)| count + 1 < has);
        fewer.find(|&(_, member)| self.reads(member, partition)).map(|(_, member)| member)
    }

    pub(super) fn give(&mut self, partition: PartitionIx, member: MemberIx) {
        self.lists[member].push(partition);
        self.owner[partition] = member;
        self.sorted.up(member);
    }

    /// Whether no two members that take part differ by more than one partition.
    pub(super) fn is_even(&self) -> bool {
        self.sorted.bounds().is_none_or(|(least, most)| least + 1 >= most)
    }

    /// Whether no member could gain. The member that could the last time usually still can.
    pub(super) fn is_balanced(&mut self) -> bool {
        if !self.gaining.is_some_and(|(member, partition)| self.gains(member, partition)) {
            self.gaining = self.find_gaining();
        }
        self.gaining.is_none()
    }

    /// A member that could gain, and the partition.
    fn find_gaining(&self) -> Option<(MemberIx, PartitionIx)> {
        let heaviest = |topic| self.group.row.of(topic).max_by_key(|&partition| self.load(partition));
        let heaviest: Vec<_> = self.group.topics().map(heaviest).collect();
        self.sorted.iter().find_map(|(_, member)| {
            let topics = self.readers.topics[member].iter();
            let mut found = topics.filter_map(|&topic| heaviest[topic]);
            found.find(|&partition| self.gains(member, partition)).map(|partition| (member, partition))
        })
    }

    /// How many partitions a partition's owner has.
    fn load(&self, partition: PartitionIx) -> usize {
        self.lists.get(self.owner[partition].place()).map_or(0, Vec::len)
    }

    fn gains(&self, member: MemberIx, partition: PartitionIx) -> bool {
        let count = self.lists[member].len();
        count != self.readers.most[member] && self.load(partition) > count
    }
}

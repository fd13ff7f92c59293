//! What is balanced: topics, partitions and members as numbers, and who has what.

use crate::assignors::other_clients::go_group::GoGroup;
use crate::assignors::topic_partitions::TopicPartitions;
use crate::index::{MemberIx, PartitionIx, TopicIx, numbered};

/// No member.
pub(super) const NOBODY: MemberIx = MemberIx::NONE;

/// The state of a balancing. Partitions are numbered anew, topic after topic.
pub(super) struct Balancer {
    /// By topic, its place among the group's.
    pub(super) names: Vec<TopicIx>,
    pub(super) row: TopicPartitions,
    /// By topic, the members who read it.
    pub(super) subscribers: Vec<Vec<MemberIx>>,
    /// What each member has.
    pub(super) plan: Vec<Vec<PartitionIx>>,
    /// Whether members read different topics.
    pub(super) complex: bool,
    pub(super) owner: Vec<Owner>,
    /// Who had each partition before this balancing.
    pub(super) original: Vec<MemberIx>,
    pub(super) racks: Option<RackNumbers>,
}

/// Who has a partition, and who had it at first.
#[derive(Clone, Copy)]
pub(super) struct Owner {
    pub(super) member: MemberIx,
    pub(super) original: MemberIx,
}

/// Racks as numbers; 0 stands for no rack.
pub(super) struct RackNumbers {
    pub(super) members: Vec<u32>,
    pub(super) partitions: Vec<u32>,
    pub(super) count: usize,
}

impl Balancer {
    pub(super) fn new(group: &GoGroup<'_>, members: &[MemberIx], names: Vec<TopicIx>) -> Option<Self> {
        // A part of the group's topics.
        let row = TopicPartitions::of_counts(names.iter().map(|&name| group.row.count(name))).ok()?;
        let nobody = Owner { member: NOBODY, original: NOBODY };
        Some(Self {
            names,
            subscribers: Vec::new(),
            plan: vec![Vec::new(); members.len()],
            complex: false,
            owner: vec![nobody; row.len()],
            original: Vec::new(),
            racks: None,
            row,
        })
    }

    /// By a topic's place among the group's, its number here.
    pub(super) fn topics(&self, group: &GoGroup<'_>) -> Vec<Option<TopicIx>> {
        let mut topics = vec![None; group.topics().len()];
        for (topic, &name) in numbered(&self.names) {
            topics[name] = Some(topic);
        }
        topics
    }

    /// The partitions that nobody has.
    pub(super) fn unowned(&self) -> Vec<PartitionIx> {
        let unowned = numbered(&self.owner).filter(|(_, owner)| owner.member == NOBODY);
        unowned.map(|(partition, _)| partition).collect()
    }

    pub(super) fn give(&mut self, partition: PartitionIx, member: MemberIx) {
        self.plan[member].push(partition);
        self.owner[partition].member = member;
    }

    /// `memberPartitions.remove`: the last partition takes the place; if the partition is missing, the first one goes.
    pub(super) fn remove(&mut self, member: MemberIx, partition: PartitionIx) -> Option<()> {
        let list = &mut self.plan[member];
        let place = list.iter().position(|&other| other == partition).unwrap_or(0);
        (!list.is_empty()).then(|| {
            list.swap_remove(place);
        })
    }

    /// The plan in the group's numbers.
    pub(super) fn named(&self, group: &GoGroup<'_>, members: &[MemberIx]) -> Vec<Vec<PartitionIx>> {
        let mut lists = vec![Vec::new(); members.len()];
        for (list, &member) in self.plan.iter().zip(members) {
            lists[member] = list.iter().map(|&partition| self.in_group(group, partition)).collect();
        }
        lists
    }

    pub(super) fn in_group(&self, group: &GoGroup<'_>, partition: PartitionIx) -> PartitionIx {
        let first = group.row.numbers(self.names[self.row.topic(partition)]).start;
        PartitionIx(first + self.row.number(partition))
    }
}

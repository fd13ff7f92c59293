//! What is balanced: topics, partitions and members as numbers, and who has what.

use crate::assignors::other_clients::go_group::GoGroup;

/// No member.
pub(super) const NOBODY: u32 = u32::MAX;

/// The state of a balancing. Partitions are numbered anew, topic after topic.
pub(super) struct Balancer {
    /// By topic, its place among the group's.
    pub(super) names: Vec<u32>,
    /// The first partition of each topic, and the end of the last one's.
    pub(super) starts: Vec<u32>,
    pub(super) topic_of: Vec<u32>,
    /// By topic, the members who read it.
    pub(super) subscribers: Vec<Vec<u32>>,
    /// What each member has.
    pub(super) plan: Vec<Vec<u32>>,
    /// Whether members read different topics.
    pub(super) complex: bool,
    pub(super) owner: Vec<Owner>,
    /// Who had each partition before this balancing.
    pub(super) original: Vec<u32>,
    pub(super) racks: Option<RackNumbers>,
}

/// Who has a partition, and who had it at first.
#[derive(Clone, Copy)]
pub(super) struct Owner {
    pub(super) member: u32,
    pub(super) original: u32,
}

/// Racks as numbers; 0 stands for no rack.
pub(super) struct RackNumbers {
    pub(super) members: Vec<u32>,
    pub(super) partitions: Vec<u32>,
    pub(super) count: usize,
}

impl Balancer {
    pub(super) fn new(group: &GoGroup<'_>, members: &[u32], names: Vec<u32>) -> Self {
        let (mut starts, mut topic_of) = (vec![0], Vec::new());
        for (topic, &name) in (0..).zip(&names) {
            topic_of.resize(topic_of.len() + group.partitions(name as usize).len(), topic);
            starts.push(u32::try_from(topic_of.len()).unwrap_or(NOBODY));
        }
        let nobody = Owner { member: NOBODY, original: NOBODY };
        Self {
            names,
            starts,
            subscribers: Vec::new(),
            plan: vec![Vec::new(); members.len()],
            complex: false,
            owner: vec![nobody; topic_of.len()],
            original: Vec::new(),
            racks: None,
            topic_of,
        }
    }

    /// The partitions that nobody has.
    pub(super) fn unowned(&self) -> Vec<u32> {
        (0..)
            .zip(&self.owner)
            .filter(|(_, owner)| owner.member == NOBODY)
            .map(|(partition, _)| partition)
            .collect()
    }

    pub(super) fn give(&mut self, partition: u32, member: u32) {
        self.plan[member as usize].push(partition);
        self.owner[partition as usize].member = member;
    }

    /// `memberPartitions.remove`: the last partition takes the place; if the partition is missing, the first one goes.
    pub(super) fn remove(&mut self, member: u32, partition: u32) -> Option<()> {
        let list = &mut self.plan[member as usize];
        let place = list.iter().position(|&other| other == partition).unwrap_or(0);
        (!list.is_empty()).then(|| {
            list.swap_remove(place);
        })
    }

    /// The plan in the group's numbers.
    pub(super) fn named(&self, group: &GoGroup<'_>, members: &[u32]) -> Vec<Vec<u32>> {
        let mut lists = vec![Vec::new(); members.len()];
        for (list, &member) in self.plan.iter().zip(members) {
            lists[member as usize] = list.iter().map(|&partition| self.in_group(group, partition)).collect();
        }
        lists
    }

    pub(super) fn in_group(&self, group: &GoGroup<'_>, partition: u32) -> u32 {
        let topic = self.topic_of[partition as usize] as usize;
        group.starts[self.names[topic] as usize] + partition - self.starts[topic]
    }
}

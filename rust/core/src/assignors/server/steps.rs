//! What an assignor does to each member's map, step by step.

use std::ops::Range;

use super::group::ServerGroup;
use super::partition_runs::PartitionRun;
use crate::assignors::lists::Lists;
use crate::index::MemberIx;

/// Partitions of a topic that a member gets (it may have had them before), or that are taken from it.
#[derive(Clone, Debug)]
pub struct Step {
    /// Whether they are given to the member.
    pub is_given: bool,
    /// Their topic, as a place in the input.
    pub topic: u32,
    /// Their numbers.
    pub partitions: Range<i32>,
}

/// A partition, its previous owner if any, and the member that gets it.
pub(super) type Gift = (Option<MemberIx>, MemberIx, PartitionRun);

/// The steps of each member.
pub struct MemberSteps<'a> {
    group: &'a ServerGroup,
    /// By a member's place in the input, its number.
    numbers: Vec<MemberIx>,
    /// By number, runs that are given to the member, or taken from it.
    runs: Lists<(bool, PartitionRun)>,
}

impl<'a> MemberSteps<'a> {
    /// The steps of members that get their lists.
    pub(super) fn of_lists(group: &'a ServerGroup, lists: &Lists<PartitionRun>) -> Self {
        let values = lists.values.iter().map(|&run| (true, run)).collect();
        Self { group, numbers: group.numbers(), runs: Lists { offsets: lists.offsets.clone(), values } }
    }

    /// The steps of partitions that go from one member, or from nobody, to another.
    pub(super) fn of_gifts(group: &'a ServerGroup, gifts: &[Gift]) -> Self {
        let mut dealt = Vec::with_capacity(2 * gifts.len());
        for &(from, to, run) in gifts {
            dealt.extend(from.filter(|&from| from != to).map(|from| (from, (false, run))));
            dealt.push((to, (true, run)));
        }
        Self { group, numbers: group.numbers(), runs: Lists::dealt(group.members(), &dealt) }
    }

    /// The steps of a member, by its place in the input.
    pub fn of(&self, member: usize) -> impl Iterator<Item = Step> {
        let runs = self.runs.get(self.numbers[member]);
        runs.iter().map(|&(is_given, run)| Step {
            is_given,
            topic: self.group.topic_place(run.topic),
            partitions: run.from.cast_signed()..run.to.cast_signed(),
        })
    }
}

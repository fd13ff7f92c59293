//! `UniformHomogeneousAssignmentBuilder`: all members subscribe to the same topics. Each keeps what it owns up to its
//! quota, and fills up with partitions that nobody has.

use super::group::ServerGroup;
use super::owned_partitions::{OwnedWalk, walked};
use super::partition_runs::{PartitionRun, push};
use crate::assignors::lists::Lists;
use crate::assignors::quotas::Quota;
use crate::index::{Ix, MemberIx, TopicIx, marked};
use crate::java::hash_set::bins_for_copy;
use crate::java::uuid::IdWalker;
use crate::{Error, Result};

/// What each member reads.
pub(super) fn assign(group: &ServerGroup) -> Result<Lists<PartitionRun>> {
    let mut builder = HomogeneousBuilder::new(group);
    let mut kept = Lists::default();
    let mut missing = Vec::with_capacity(group.members());
    for member in group.everybody() {
        missing.push(builder.keep(member, &mut kept.values));
        kept.end();
    }
    builder.deal(&kept, &missing)
}

struct HomogeneousBuilder<'a> {
    group: &'a ServerGroup,
    /// By topic, whether it is subscribed to.
    subscribed: Vec<bool>,
    walk: OwnedWalk,
    /// Partitions that nobody has, in the order in which they are dealt out.
    unassigned: Vec<PartitionRun>,
    /// How many partitions every member gets.
    each: usize,
    /// How many of the remaining members get one more.
    extra: usize,
}

impl<'a> HomogeneousBuilder<'a> {
    fn new(group: &'a ServerGroup) -> Self {
        let mut walker = IdWalker::new(&group.ids);
        let first = walker.walk(&group.first);
        let topics = walker.walk_from(bins_for_copy(first.len()), &first);
        let total: usize = topics.iter().map(|&topic| group.counts[topic] as usize).sum();
        let quota = Quota::of_counts(total, group.members().max(1));
        Self {
            group,
            subscribed: marked(group.counts.len(), topics.iter().copied()),
            walk: OwnedWalk::new(&group.ids),
            unassigned: unclaimed(group, &topics),
            each: quota.least as usize,
            extra: quota.extra as usize,
        }
    }

    /// Appends the partitions that a member keeps; returns how many more it gets.
    fn keep(&mut self, member: MemberIx, kept: &mut Vec<PartitionRun>) -> usize {
        let owned = self.group.owned.get(member);
        let mut has_extra = self.extra > 0;
        let quota = self.each + usize::from(has_extra);
        let held = owned.iter().filter(|&&(topic, _)| self.subscribed[topic]).count();
        let mut missing = quota.saturating_sub(held);
        if held <= quota {
            let start = kept.len();
            for &(topic, partition) in owned {
                if self.subscribed[topic] {
                    push(kept, start, PartitionRun::of_one(topic, partition));
                }
            }
        } else {
            self.keep_a_part(owned, quota, kept);
        }
        // A member that does not have the extra partition yet leaves it to another, as long as enough members remain.
        if missing > 0 && has_extra && self.group.members() - member.place() > self.extra {
            missing -= 1;
            has_extra = false;
        }
        self.extra -= usize::from(has_extra);
        missing
    }

    /// For a member that owns more than its quota: it keeps what comes first in Java's maps and sets.
    fn keep_a_part(&mut self, owned: &[(TopicIx, u32)], mut quota: usize, kept: &mut Vec<PartitionRun>) {
        let start = kept.len();
        for (topic, partitions) in self.walk.topics(owned) {
            if !self.subscribed[topic] {
                continue;
            }
            for (place, partition) in walked(partitions).into_iter().enumerate() {
                let run = PartitionRun::of_one(topic, partition);
                if place < quota {
                    push(kept, start, run);
                } else {
                    push(&mut self.unassigned, 0, run);
                }
            }
            quota = quota.saturating_sub(partitions.len());
        }
    }

    /// The partitions that members keep, followed by the ones that they take from those that nobody has.
    fn deal(self, kept: &Lists<PartitionRun>, missing: &[usize]) -> Result<Lists<PartitionRun>> {
        let mut lists = Lists::default();
        let mut left = self.unassigned.into_iter();
        let mut next = None;
        for (member, &missing) in missing.iter().enumerate() {
            lists.values.extend_from_slice(kept.get(member));
            let mut missing = u32::try_from(missing).unwrap_or(u32::MAX);
            while missing > 0 {
                let Some(run) = next.take().or_else(|| left.next()) else { break };
                let to = run.to.min(run.from.saturating_add(missing));
                lists.values.push(PartitionRun { to, ..run });
                missing -= to - run.from;
                next = (to < run.to).then_some(PartitionRun { from: to, ..run });
            }
            lists.end();
        }
        if next.is_some() || left.next().is_some() {
            return Err(Error::throws(
                "PartitionAssignorException",
                "members that own a partition twice or past its topic's count, which leaves others to nobody",
            ));
        }
        Ok(lists)
    }
}

/// Partitions of these topics that no member says it owns.
fn unclaimed(group: &ServerGroup, topics: &[TopicIx]) -> Vec<PartitionRun> {
    let whole = topics.iter().map(|&topic| PartitionRun { topic, from: 0, to: group.counts[topic] });
    let whole: Vec<_> = whole.filter(|run| run.to > 0).collect();
    if group.owned.values.is_empty() {
        return whole;
    }
    let starts = group.starts();
    let mut claimed = vec![false; starts[starts.len() - 1]];
    for &(topic, partition) in &group.owned.values {
        if partition < group.counts[topic] {
            claimed[starts[topic] + partition as usize] = true;
        }
    }
    let mut runs = Vec::new();
    for run in whole {
        for partition in run.from..run.to {
            if !claimed[starts[run.topic] + partition as usize] {
                push(&mut runs, 0, PartitionRun::of_one(run.topic, partition));
            }
        }
    }
    runs
}

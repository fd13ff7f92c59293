//! The sticky algorithm of Kafka 2.8 for members with equal subscriptions: those with too few take from those with the
//! most (`AbstractStickyAssignor.constrainedAssign`).

use crate::assignors::lists::MemberLists;
use std::collections::VecDeque;

use super::owned_partitions::LegacyClaims;
use crate::Result;
use crate::assignors::client::constrained_assignment::uneven;
use crate::assignors::client::group::JavaGroup;
use crate::assignors::quotas::Quota;
use crate::index::{Ix, MemberIx, PartitionIx, numbered};

/// What each member reads; if `cooperative`, without what changes hands.
pub(super) fn assign(group: &JavaGroup<'_>, claims: &LegacyClaims, cooperative: bool) -> Result<MemberLists> {
    let mut dealing = Dealing::new(group, claims, cooperative);
    dealing.keep_owned();
    let unassigned = dealing.fill_up();
    dealing.take_from_full()?;
    dealing.deal_rest(&unassigned)?;
    if cooperative {
        dealing.withhold();
    }
    Ok(dealing.lists.into_iter().map(Vec::from).collect())
}

struct Dealing<'a> {
    group: &'a JavaGroup<'a>,
    /// Each member gets this many partitions, or one more.
    least: usize,
    most: usize,
    /// What each member owns, as far as it is believed.
    owned: MemberLists,
    lists: Vec<VecDeque<PartitionIx>>,
    /// By partition, whether a member keeps it, had to give it up, or shares its claim with another member.
    kept: Vec<bool>,
    changing: Vec<bool>,
    /// Members that have fewer than `least` partitions.
    under: Vec<MemberIx>,
    /// Members that have `least`, and those that have `most`, in the order in which they reached that.
    at_least: VecDeque<MemberIx>,
    at_most: VecDeque<MemberIx>,
    /// By partition, who gets it from another member.
    transferred: Vec<MemberIx>,
}

impl<'a> Dealing<'a> {
    fn new(group: &'a JavaGroup<'a>, claims: &LegacyClaims, cooperative: bool) -> Self {
        let (partitions, members) = (group.partitions().len(), group.members());
        let (owned, changing) = believed(group, claims, cooperative);
        // Java divides by zero members as well, in floating point; there are no partitions then.
        let quota = Quota::of_counts(partitions, members.max(1));
        Self {
            least: quota.least as usize,
            most: quota.most() as usize,
            owned,
            lists: vec![VecDeque::new(); members],
            kept: vec![false; group.row.len()],
            changing,
            under: Vec::new(),
            at_least: VecDeque::new(),
            at_most: VecDeque::new(),
            transferred: vec![MemberIx::NONE; group.row.len()],
            group,
        }
    }

    /// Each member keeps the first of its partitions, up to a member's most.
    fn keep_owned(&mut self) {
        for &member in &self.group.second_walk {
            let owned = std::mem::take(&mut self.owned[member]);
            let keep = owned.len().min(self.most);
            for &partition in &owned[..keep] {
                self.kept[partition] = true;
            }
            for &partition in &owned[keep..] {
                self.changing[partition] = true;
            }
            self.lists[member].extend(&owned[..keep]);
            if owned.len() < self.least {
                self.under.push(member);
                continue;
            }
            if keep == self.least {
                self.at_least.push_back(member);
            }
            if keep == self.most {
                self.at_most.push_back(member);
            }
        }
        self.under.sort_unstable();
    }

    /// Deals one partition at a time to the members with too few, in rounds; returns the remaining partitions.
    fn fill_up(&mut self) -> Vec<PartitionIx> {
        let open = self.group.partitions().filter(|&partition| !self.kept[partition]);
        let unassigned: Vec<_> = open.collect();
        let mut next = 0;
        while !self.under.is_empty() && next < unassigned.len() {
            let mut open = Vec::with_capacity(self.under.len());
            for member in std::mem::take(&mut self.under) {
                if let Some(&partition) = unassigned.get(next) {
                    next += 1;
                    self.deal(member, partition);
                    if self.lists[member].len() == self.least {
                        self.at_least.push_back(member);
                        continue;
                    }
                }
                open.push(member);
            }
            self.under = open;
        }
        unassigned[next..].to_vec()
    }

    /// If partitions run out, members with the most give up their first one each.
    fn take_from_full(&mut self) -> Result<()> {
        for member in std::mem::take(&mut self.under) {
            for _ in self.lists[member].len()..self.least {
                let full = self.at_most.pop_front();
                let first = full.and_then(|full| self.lists[full].pop_front());
                let Some(partition) = first else {
                    return Err(uneven(false));
                };
                self.lists[member].push_back(partition);
                self.transferred[partition] = member;
            }
            self.at_least.push_back(member);
        }
        Ok(())
    }

    /// One more partition for each member that has `least`.
    fn deal_rest(&mut self, unassigned: &[PartitionIx]) -> Result<()> {
        for &partition in unassigned {
            let Some(member) = self.at_least.pop_front() else {
                return Err(uneven(true));
            };
            self.deal(member, partition);
        }
        Ok(())
    }

    fn deal(&mut self, member: MemberIx, partition: PartitionIx) {
        self.lists[member].push_back(partition);
        if self.changing[partition] {
            self.transferred[partition] = member;
        }
    }

    /// Takes partitions that change hands from their new owner.
    fn withhold(&mut self) {
        for (member, list) in numbered(&mut self.lists) {
            list.retain(|&partition| self.transferred[partition] != member);
        }
    }
}

/// What each member is believed to own, and by partition, whether two members claim it. Only members of the newest
/// generation count. Cooperative members always name one.
fn believed(group: &JavaGroup<'_>, claims: &LegacyClaims, cooperative: bool) -> (MemberLists, Vec<bool>) {
    let generation = |member: MemberIx| {
        let names = cooperative || group.sends[member];
        names.then(|| group.generations[member])
    };
    let newest = group.walk.iter().filter_map(|&member| generation(member)).max();
    let partitions = group.row.len();
    let mut owned = vec![Vec::new(); group.members()];
    let (mut claimed, mut contested) = (vec![false; partitions], vec![false; partitions]);
    for &member in group.walk.iter().filter(|&&member| generation(member) == newest) {
        let known = claims.lists.get(member).iter().filter(|&&partition| (partition.place()) < partitions);
        for &partition in known {
            if std::mem::replace(&mut claimed[partition], true) {
                contested[partition] = true;
            } else {
                owned[member].push(partition);
            }
        }
    }
    for list in &mut owned {
        list.retain(|&partition| !contested[partition]);
    }
    (owned, contested)
}

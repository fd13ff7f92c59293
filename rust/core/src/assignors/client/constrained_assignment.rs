//! The sticky algorithm for members with equal subscriptions: quotas
//! (`AbstractStickyAssignor.ConstrainedAssignmentBuilder`).

use std::collections::BTreeMap;

use super::group::JavaGroup;
use super::owned_partitions::Claims;
use super::rack_awareness;
use crate::assignors::lists::Lists;
use crate::assignors::quotas::Quota;
use crate::index::{Ix, MemberIx, PartitionIx};
use crate::{Error, Result};

/// What each member reads; if `cooperative`, without what changes hands.
pub(crate) fn assign(
    group: &JavaGroup<'_>,
    claims: &Claims,
    cooperative: bool,
) -> Result<Lists<PartitionIx>> {
    if group.members() == 0 {
        let reason = "a group without members";
        return Err(Error::throws("ArithmeticException", reason));
    }
    let mut quotas = QuotaDealing::new(group, claims, cooperative);
    quotas.keep_owned();
    let mut unassigned = quotas.unassigned();
    quotas.under.sort_unstable();
    quotas.exact.sort_unstable();
    if quotas.by_rack {
        unassigned = quotas.deal_by_rack(unassigned);
    }
    quotas.deal_round_robin(&unassigned)?;
    Ok(Lists::dealt(group.members(), &quotas.dealt))
}

struct QuotaDealing<'a> {
    group: &'a JavaGroup<'a>,
    claims: &'a Claims,
    cooperative: bool,
    by_rack: bool,
    /// Each member gets this many partitions, or one more.
    least: usize,
    most: usize,
    /// How many members shall have more than `least`, and how many have.
    expected_over: usize,
    over: usize,
    /// Members that have fewer than `least` partitions.
    under: Vec<MemberIx>,
    /// Members that have exactly `least`, and may get one more.
    exact: Vec<MemberIx>,
    /// How many partitions each member has.
    taken: Vec<usize>,
    /// By partition, the member from which it may have been taken.
    taken_from: Vec<MemberIx>,
    /// Member and partition, in the order of the dealing.
    dealt: Vec<(MemberIx, PartitionIx)>,
}

impl<'a> QuotaDealing<'a> {
    fn new(group: &'a JavaGroup<'a>, claims: &'a Claims, cooperative: bool) -> Self {
        let (partitions, members) = (group.partitions().len(), group.members());
        let quota = Quota::of_counts(partitions, members);
        Self {
            by_rack: rack_awareness::matter(group, group.walk.iter().copied(), group.partitions()),
            least: quota.least as usize,
            most: quota.most() as usize,
            expected_over: quota.extra as usize,
            over: 0,
            under: Vec::new(),
            exact: Vec::new(),
            taken: vec![0; members],
            taken_from: vec![MemberIx::NONE; group.row.len()],
            dealt: Vec::with_capacity(partitions),
            group,
            claims,
            cooperative,
        }
    }

    /// Each member keeps what it owns, by number of partition and then by topic, up to a quota. The order of Java's map
    /// decides which members may keep one more.
    fn keep_owned(&mut self) {
        let group = self.group;
        let mut owned = Vec::new();
        for &member in &group.second_walk {
            owned.clear();
            for partition in self.claims.believed(member) {
                if self.by_rack && rack_awareness::mismatch(group, member, partition) {
                    self.taken_from[partition] = member;
                } else if !self.claims.contested[partition] {
                    let number = group.number(partition);
                    owned.push((number, group.row.topic(partition), partition));
                }
            }
            owned.sort_unstable();
            let keep = if owned.len() < self.least {
                self.under.push(member);
                owned.len()
            } else if owned.len() >= self.most && self.over < self.expected_over {
                self.over += 1;
                if self.over == self.expected_over {
                    self.exact.clear();
                }
                self.most
            } else {
                if self.over < self.expected_over {
                    self.exact.push(member);
                }
                self.least
            };
            self.dealt.extend(owned[..keep].iter().map(|&(_, _, partition)| (member, partition)));
            self.taken[member] = keep;
            for &(_, _, partition) in &owned[keep..] {
                self.taken_from[partition] = member;
            }
        }
    }

    /// Partitions that nobody keeps. Kafka looks for kept ones in the order of topics and numbers, and never gets past
    /// one beyond its topic's count: everything after that counts as unassigned again.
    fn unassigned(&self) -> Vec<PartitionIx> {
        let group = self.group;
        let mut kept = vec![false; group.row.len()];
        let mut end = group.partitions().len().number();
        for &(_, partition) in &self.dealt {
            kept[partition] = true;
            if group.is_beyond(partition) {
                let numbers = group.row.numbers(group.row.topic(partition));
                end = end.min(if group.number(partition) >= 0 { numbers.end } else { numbers.start });
            }
        }
        group.partitions().filter(|&partition| partition.0 >= end || !kept[partition]).collect()
    }

    /// Deals partitions to members in their racks, first those that the fewest members can take; returns the rest.
    fn deal_by_rack(&mut self, mut unassigned: Vec<PartitionIx>) -> Vec<PartitionIx> {
        let group = self.group;
        let mut members = BTreeMap::new();
        for rack in group.member_racks.iter().flatten() {
            *members.entry(rack).or_insert(0_usize) += 1;
        }
        let able = |rack| members.get(rack).copied().unwrap_or(0);
        unassigned.sort_by_cached_key(|&partition| group.racks(partition).iter().map(able).sum::<usize>());
        let mut next = 0;
        unassigned.retain(|&partition| {
            let member = if let Some(place) = self.in_rack(partition, &self.under, next) {
                let member = self.under[place];
                next = place + 1;
                if self.taken[member] + 1 >= self.least {
                    self.under.remove(place);
                    next = place;
                    if self.taken[member] + 1 < self.most && self.over < self.expected_over {
                        self.exact.push(member);
                    }
                }
                next = if self.under.is_empty() { 0 } else { next % self.under.len() };
                member
            } else if let Some(place) = self.in_rack(partition, &self.exact, 0) {
                let member = self.exact[place];
                if self.taken[member] + 1 == self.most {
                    self.exact.remove(place);
                    self.over += 1;
                    if self.over == self.expected_over {
                        self.exact.clear();
                    }
                }
                member
            } else {
                return true;
            };
            self.deal(member, partition);
            false
        });
        unassigned
    }

    /// The first of some members, in a circle from a given place, whose rack has a replica.
    fn in_rack(&self, partition: PartitionIx, members: &[MemberIx], first: usize) -> Option<usize> {
        let racks = self.group.racks(partition);
        let places = (0..members.len()).map(|step| (first + step) % members.len());
        places
            .into_iter()
            .find(|&place| self.group.member_racks[members[place]].is_some_and(|rack| racks.contains(&rack)))
    }

    /// One partition each to the members that have too few, round and round, then one each to those that have `least`.
    fn deal_round_robin(&mut self, unassigned: &[PartitionIx]) -> Result<()> {
        let mut under = std::mem::take(&mut self.under);
        let mut unassigned = unassigned.iter().copied();
        while !under.is_empty() {
            let mut open = Vec::with_capacity(under.len());
            for (place, &member) in under.iter().enumerate() {
                let Some(partition) = unassigned.next() else {
                    return Err(uneven(open.len() + under.len() == place));
                };
                if self.deal(member, partition) == self.least {
                    self.exact.push(member);
                } else {
                    open.push(member);
                }
            }
            under = open;
        }
        let mut exact = std::mem::take(&mut self.exact).into_iter();
        for partition in unassigned {
            let Some(member) = exact.next() else { return Err(uneven(true)) };
            self.deal(member, partition);
        }
        Ok(())
    }

    /// Deals a partition; returns how many the member has now.
    fn deal(&mut self, member: MemberIx, partition: PartitionIx) -> usize {
        let from = self.taken_from[partition];
        let in_transfer = (from != MemberIx::NONE && from != member) || self.claims.contested[partition];
        if !(self.cooperative && in_transfer) {
            self.dealt.push((member, partition));
        }
        self.taken[member] += 1;
        self.taken[member]
    }
}

/// Kafka's quotas do not add up if there are partitions beyond a topic's count.
pub(crate) fn uneven(left: bool) -> Error {
    let reason = if left {
        "a group whose members own partitions past their topic's count: more are left than the quotas allow"
    } else {
        "a group whose members own partitions past their topic's count: too few are left to fill the quotas"
    };
    Error::throws("IllegalStateException", reason)
}

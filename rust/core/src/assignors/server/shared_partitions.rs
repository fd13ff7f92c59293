//! How members of a share group share partitions: the steps that both builders of `SimpleAssignor` take. Java
//! has a set of members by partition and a set of partitions by member, and takes a surplus from the front of
//! those sets.

use crate::assignors::lists::Lists;
use crate::index::{MemberIx, PartitionIx, indices};
use crate::java::hash_map::{FIRST_BINS, Walker, bins_for, spread};
use crate::java::hash_set::walk_integers;
use crate::{Error, Result};

/// A member, and a partition that it owns or gets.
pub(super) type Claim = (MemberIx, PartitionIx);

/// The partitions to share, by number.
pub(super) struct Sharing {
    /// The hash codes of the partitions as keys of Java's map, the existing ones first.
    pub(super) hashes: Vec<i32>,
    /// How many partitions exist; the following ones are only claimed.
    pub(super) partitions: usize,
    /// How many members each partition should have.
    pub(super) members: usize,
    /// How many partitions each member should have.
    pub(super) share_of: Vec<usize>,
}

impl Sharing {
    /// Who reads what: pairs of a member and a partition. `claims` are what members own, in the order in which Java
    /// walks it: member by member, each in the order of its own map.
    pub(super) fn share(&self, claims: &[Claim]) -> Result<Vec<Claim>> {
        let mut is_kept = vec![true; claims.len()];
        self.limit_members(claims, &mut is_kept);
        self.limit_partitions(claims, &mut is_kept);
        let kept = claims.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
        let mut shared: Vec<_> = kept.map(|(&claim, _)| claim).collect();
        let dealt = self.deal(&self.walk(claims), &shared)?;
        shared.extend(dealt);
        Ok(shared)
    }

    /// Takes partitions from members that own too many (`revokeOverfilledMembers`).
    fn limit_members(&self, claims: &[Claim], is_kept: &mut [bool]) {
        let mut start = 0;
        for owned in claims.chunk_by(|one, other| one.0 == other.0) {
            let surplus = owned.len().saturating_sub(self.share_of[owned[0].0]);
            if surplus > 0 {
                let hashes = owned.iter().map(|&(_, partition)| self.hashes[partition]);
                let places: Vec<u32> = (0..).take(owned.len()).collect();
                for place in Walker::new(hashes).walk(&places).into_iter().take(surplus) {
                    is_kept[start + place as usize] = false;
                }
            }
            start += owned.len();
        }
    }

    /// Takes members from partitions that too many of them own (`revokeOversharedPartitions`).
    fn limit_partitions(&self, claims: &[Claim], is_kept: &mut [bool]) {
        let by_partition: Vec<(PartitionIx, usize)> =
            claims.iter().zip(0..).map(|(&(_, partition), claim)| (partition, claim)).collect();
        let by_partition = Lists::dealt(self.hashes.len(), &by_partition);
        let mut places = vec![0; self.share_of.len()];
        for partition in 0..by_partition.len() {
            let those = by_partition.get(partition);
            let left = those.iter().filter(|&&claim| is_kept[claim]).count();
            let Some(surplus) = left.checked_sub(self.members).filter(|&surplus| surplus > 0) else {
                continue;
            };
            let members: Vec<u32> = those.iter().map(|&claim| claims[claim].0.0).collect();
            for &claim in those {
                places[claims[claim].0] = claim;
            }
            // Java's set has grown with all of them, before the members' own surplus was taken out. (A bin of it that has
            // become a tree may then be walked in another order: that takes nine members in one bin of 64 or more.)
            let walked =
                walk_integers(FIRST_BINS, &members).into_iter().map(|member| places[member as usize]);
            for claim in walked.filter(|&claim| is_kept[claim]).take(surplus).collect::<Vec<_>>() {
                is_kept[claim] = false;
            }
        }
    }

    /// The order in which Java walks the map of partitions, which is filled with the claimed ones first.
    fn walk(&self, claims: &[Claim]) -> Vec<PartitionIx> {
        let mut walker = Walker::new(self.hashes.iter().copied());
        let mut is_there = vec![false; self.hashes.len()];
        walker.begin_with(bins_for(self.partitions));
        for partition in claims.iter().map(|&(_, partition)| partition).chain(indices(self.partitions)) {
            walker.compute_if_absent(partition, !std::mem::replace(&mut is_there[partition], true));
        }
        walker.walked()
    }

    /// Gives partitions with too few members to members with too few partitions, which take turns
    /// (`assignRemainingPartitions`).
    fn deal(&self, order: &[PartitionIx], kept: &[Claim]) -> Result<Vec<Claim>> {
        let mut held = vec![0; self.share_of.len()];
        for &(member, _) in kept {
            held[member] += 1;
        }
        let by_partition: Vec<_> = kept.iter().map(|&(member, partition)| (partition, member)).collect();
        let holders = Lists::dealt(self.hashes.len(), &by_partition);
        let unfilled = indices(held.len()).filter(|&member: &MemberIx| held[member] < self.share_of[member]);
        let mut circle = Circle::new(in_table_order(unfilled.collect()));
        // For each member, the last partition that was found to be its own already, and the last one that it
        // was given.
        let (mut has, mut got) = (vec![PartitionIx::NONE; held.len()], vec![PartitionIx::NONE; held.len()]);
        let mut dealt = Vec::new();
        for &partition in order {
            if circle.is_empty() {
                break;
            }
            let holders = holders.get(partition);
            let mut missing = self.members.saturating_sub(holders.len());
            if missing > 0 {
                for &member in holders {
                    has[member] = partition;
                }
            }
            while missing > 0 {
                if !circle.has_next() {
                    if !circle.has_dealt {
                        break;
                    }
                    circle.restart();
                }
                let member = circle.next().ok_or(NOBODY)?;
                if has[member] == partition {
                    continue;
                }
                // A member whose turn comes again within one partition gets nothing more, but is counted.
                if got[member] != partition {
                    got[member] = partition;
                    dealt.push((member, partition));
                    held[member] += 1;
                }
                missing -= 1;
                circle.has_dealt = true;
                if held[member] >= self.share_of[member] {
                    circle.remove();
                }
            }
        }
        Ok(dealt)
    }
}

const NOBODY: Error = Error::throws(
    "NoSuchElementException",
    "members that own partitions past a topic's count, which leaves no member for others",
);

/// How many members each partition shall have, and how many partitions each of these members, in order.
pub(super) fn shares(members: usize, partitions: usize) -> (usize, impl Iterator<Item = usize>) {
    let sharing = if partitions == 0 { 0 } else { members.div_ceil(partitions) };
    let double = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    let each = double(sharing * partitions) / double(members);
    // With Java's rounding, the sum may be one too high.
    let up_to = move |member: usize| (each * double(member)).ceil();
    (sharing, (0..members).map(move |member| whole(up_to(member + 1) - up_to(member))))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number, and not a large one"
)]
fn whole(number: f64) -> usize {
    number as usize
}

/// The order of members in a set or map that Java made for all of them, with a bin for each.
pub(super) fn in_table_order(mut members: Vec<MemberIx>) -> Vec<MemberIx> {
    members.sort_by_key(|&member| spread(member.0.cast_signed()));
    members
}

/// A cyclic walk over members, some of which drop out: an iterator of a `HashSet`, and a new one at its end.
struct Circle {
    members: Vec<MemberIx>,
    next: usize,
    /// How many of the visited members are still in.
    kept: usize,
    /// Whether anything was dealt in this round.
    has_dealt: bool,
}

impl Circle {
    fn new(members: Vec<MemberIx>) -> Self {
        Self { members, next: 0, kept: 0, has_dealt: false }
    }

    fn is_empty(&self) -> bool {
        self.kept == 0 && !self.has_next()
    }

    fn has_next(&self) -> bool {
        self.next < self.members.len()
    }

    fn next(&mut self) -> Option<MemberIx> {
        let member = *self.members.get(self.next)?;
        self.members[self.kept] = member;
        self.next += 1;
        self.kept += 1;
        Some(member)
    }

    /// The member that was just visited.
    fn remove(&mut self) {
        self.kept -= 1;
    }

    fn restart(&mut self) {
        self.members.truncate(self.kept);
        (self.next, self.kept, self.has_dealt) = (0, 0, false);
    }
}

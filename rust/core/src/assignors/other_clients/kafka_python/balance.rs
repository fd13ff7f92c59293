//! Partitions given to members and moved between them until that is balanced (`StickyAssignmentExecutor.balance`).

use super::claims::EarlierOwners;
use super::sticky::HashOrder;
use crate::assignors::client::balance::pair_differences;
use crate::assignors::lists::MemberLists;
use crate::assignors::movements::Movements;
use crate::assignors::other_clients::client_group::ClientGroup;
use crate::assignors::other_clients::holdings::{Holdings, Readers};
use crate::index::{MemberIx, PartitionIx, numbered};
use crate::{Error, Result};

/// From this round on, it checks whether rounds repeat.
const LONG: u64 = 8;

/// The state of one balancing.
pub(super) struct KafkaPythonBalance<'a> {
    now: Holdings<'a>,
    hashes: HashOrder,
    /// Whether a substitute that moved earlier moves back together with the partition, or moves on alone.
    undoes_both: bool,
    previous: Vec<Option<MemberIx>>,
    /// Fixed members that Python's `defaultdict` created again, without partitions, when it was asked for them.
    ghosts: Vec<bool>,
    movements: Movements<Vec<PartitionIx>>,
    revokes: bool,
}

impl<'a> KafkaPythonBalance<'a> {
    pub(super) fn new(
        group: &'a ClientGroup<'a>,
        before: EarlierOwners,
        readers: Readers,
        hashes: HashOrder,
        undoes_both: bool,
    ) -> Self {
        let mut now = Holdings::new(group, readers, before.lists);
        let mut revokes = false;
        for (member, list) in numbered(&mut now.lists) {
            let count = list.len();
            list.retain(|&partition| now.readers.reads(member, group.row.topic(partition)));
            revokes |= list.len() < count;
            for &partition in &*list {
                now.owner[partition] = member;
            }
        }
        now.sort_members();
        Self {
            now,
            hashes,
            undoes_both,
            previous: before.previous,
            ghosts: vec![false; group.members()],
            movements: Movements::new(group.row.len()),
            revokes,
        }
    }

    /// Balances; the argument has all partitions in the order in which they are considered.
    pub(super) fn run(mut self, mut partitions: Vec<PartitionIx>) -> Result<(MemberLists, HashOrder)> {
        let mut unassigned: Vec<PartitionIx> =
            partitions.iter().copied().filter(|&each| self.now.owner[each] == MemberIx::NONE).collect();
        let is_initial = self.now.sorted.bounds().is_none_or(|(_, most)| most == 0);
        for &partition in &unassigned {
            if let Some(member) = self.now.taker(partition, usize::MAX) {
                self.now.give(partition, member);
            }
        }
        partitions.retain(|&partition| self.now.is_shared(partition));
        unassigned.retain(|&partition| self.now.is_shared(partition));
        self.now.set_fixed_aside();
        let before = (self.now.lists.clone(), self.score(&self.now.lists));
        if !self.revokes {
            self.reassign(&unassigned)?;
        }
        if self.reassign(&partitions)? && !is_initial && self.score(&self.now.lists) >= before.1 {
            self.now.lists = before.0;
        }
        Ok((self.now.lists, self.hashes))
    }

    /// Moves partitions until a round moves none; returns whether any has moved. Repeating rounds never end.
    fn reassign(&mut self, partitions: &[PartitionIx]) -> Result<bool> {
        let mut moved = false;
        let mut seen = None;
        for round in 1_u64.. {
            let state = (&self.now.lists, &self.movements);
            if seen.as_ref().is_some_and(|(lists, movements)| state == (lists, movements)) {
                let reason = "the client moves its partitions in a circle, for ever".to_owned();
                return Err(Error::client_fails(reason));
            }
            if round >= LONG && round.is_power_of_two() {
                seen = Some((self.now.lists.clone(), self.movements.clone()));
            }
            let mut changed = false;
            for &partition in partitions {
                if self.now.is_even() || self.now.is_balanced() {
                    break;
                }
                changed |= self.move_on(partition)?;
            }
            moved |= changed;
            if !changed {
                break;
            }
        }
        Ok(moved)
    }

    fn move_on(&mut self, partition: PartitionIx) -> Result<bool> {
        let has = self.now.lists[self.now.owner[partition]].len();
        if let Some(previous) = self.previous[partition] {
            let is_fixed = self.now.fixed[previous];
            self.ghosts[previous] |= is_fixed;
            let count = if is_fixed { 0 } else { self.now.lists[previous].len() };
            if has > count + 1 {
                if is_fixed {
                    let member = self.now.group.member_name(previous);
                    let reason = format!(
                        "member {member:?} owned in an older generation what it cannot get back, upon which the client \
                         throws KeyError"
                    );
                    return Err(Error::client_fails(reason));
                }
                self.move_to(partition, previous);
                return Ok(true);
            }
        }
        let taker = self.now.taker(partition, has);
        if let Some(member) = taker {
            self.move_to(partition, member);
        }
        Ok(taker.is_some())
    }

    fn move_to(&mut self, partition: PartitionIx, member: MemberIx) {
        let owner = self.now.owner[partition];
        let opposite = self.movements.opposite(self.now.group.row.topic(partition), partition, owner, member);
        let substitute = opposite.and_then(|set| self.hashes.first(set)).unwrap_or(partition);
        let other = self.now.owner[substitute];
        if self.undoes_both && other != owner {
            self.process(partition, other);
        }
        self.process(substitute, member);
    }

    fn process(&mut self, partition: PartitionIx, member: MemberIx) {
        let owner = self.now.owner[partition];
        let leave = |set: &mut Vec<PartitionIx>| {
            set.retain(|&other| other != partition);
            set.is_empty()
        };
        let topic = self.now.group.row.topic(partition);
        if let Some(set) = self.movements.record(topic, partition, (owner, member), leave, Vec::new) {
            set.push(partition);
        }
        self.now.lists[owner].retain(|&other| other != partition);
        self.now.sorted.down(owner);
        self.now.give(partition, member);
    }

    /// `_get_balance_score`: the differences of all pairs of members.
    fn score(&self, lists: &[Vec<PartitionIx>]) -> i64 {
        let counted = lists.iter().zip(self.now.fixed.iter().zip(&self.ghosts));
        let counts = counted.filter_map(|(list, (&fixed, &ghost))| match (fixed, ghost) {
            (false, _) => i64::try_from(list.len()).ok(),
            (true, true) => Some(0),
            (true, false) => None,
        });
        pair_differences(counts.collect())
    }
}

//! Partitions given to members and moved between them until that is balanced (`StickyAssignmentExecutor.balance`).

use super::ClientRules;
use super::claims::EarlierOwners;
use super::hash_order::HashOrder;
use crate::assignors::client::balance::pair_differences;
use crate::assignors::client::sorted_members::SortedMembers;
use crate::assignors::movements::Movements;
use crate::assignors::other_clients::gains::{Gains, Readers};
use crate::assignors::other_clients::numbered::Numbered;
use crate::index::{Ix, MemberIx, PartitionIx, TopicIx, numbered};
use crate::{Error, Result};

/// From this round on, it checks whether rounds repeat.
const LONG: u64 = 8;

/// The state of one balancing.
pub(super) struct KafkaPythonBalance<'a> {
    group: &'a Numbered<'a>,
    readers: Readers,
    hashes: HashOrder,
    rules: ClientRules,
    /// By member, its partitions.
    lists: Vec<Vec<PartitionIx>>,
    /// By partition, its owner.
    owner: Vec<MemberIx>,
    previous: Vec<Option<MemberIx>>,
    /// Members that do not take part, and are no longer in `sorted`.
    fixed: Vec<bool>,
    /// Fixed members that Python's `defaultdict` created again, without partitions, when it was asked for them.
    ghosts: Vec<bool>,
    /// By number of partitions, then by id.
    sorted: SortedMembers,
    movements: Movements<Vec<PartitionIx>>,
    /// The last found member that could gain, and the partition.
    gaining: Option<(MemberIx, PartitionIx)>,
    revokes: bool,
}

impl<'a> KafkaPythonBalance<'a> {
    pub(super) fn new(
        group: &'a Numbered<'a>,
        before: EarlierOwners,
        readers: Readers,
        hashes: HashOrder,
        rules: ClientRules,
    ) -> Self {
        let mut balance = Self {
            group,
            hashes,
            rules,
            lists: before.lists,
            owner: vec![MemberIx::NONE; group.partitions()],
            previous: before.previous,
            fixed: vec![false; group.members()],
            ghosts: vec![false; group.members()],
            sorted: SortedMembers::new(&[], |_| false),
            movements: Movements::new(group.partitions()),
            gaining: None,
            revokes: false,
            readers,
        };
        for (member, list) in numbered(&mut balance.lists) {
            let count = list.len();
            list.retain(|&partition| balance.readers.reads(member, group.topic(partition)));
            balance.revokes |= list.len() < count;
            for &partition in &*list {
                balance.owner[partition] = member;
            }
        }
        balance.sorted = balance.sorted_members();
        balance
    }

    /// The members that take part.
    fn sorted_members(&self) -> SortedMembers {
        let counts: Vec<_> = self.lists.iter().map(Vec::len).collect();
        SortedMembers::new(&counts, |member| self.fixed[member])
    }

    /// Balances; the argument has all partitions in the order in which they are considered.
    pub(super) fn run(
        mut self,
        mut partitions: Vec<PartitionIx>,
    ) -> Result<(Vec<Vec<PartitionIx>>, HashOrder)> {
        let mut unassigned: Vec<PartitionIx> =
            partitions.iter().copied().filter(|&each| self.owner[each] == MemberIx::NONE).collect();
        let is_initial = self.sorted.bounds().is_none_or(|(_, most)| most == 0);
        for &partition in &unassigned {
            let topic = self.topic(partition);
            let reader = self.sorted.iter().find(|&(_, member)| self.readers.reads(member, topic));
            if let Some((_, member)) = reader {
                self.give(partition, member);
            }
        }
        partitions.retain(|&partition| self.is_shared(partition));
        unassigned.retain(|&partition| self.is_shared(partition));
        for member in self.group.by_id() {
            let list = &self.lists[member];
            let has_all = list.len() >= self.readers.most[member];
            self.fixed[member] = has_all && !list.iter().any(|&partition| self.is_shared(partition));
        }
        self.sorted = self.sorted_members();
        let before = (self.lists.clone(), self.score(&self.lists));
        if !self.revokes {
            self.reassign(&unassigned)?;
        }
        if self.reassign(&partitions)? && !is_initial && self.score(&self.lists) >= before.1 {
            self.lists = before.0;
        }
        Ok((self.lists, self.hashes))
    }

    fn topic(&self, partition: PartitionIx) -> TopicIx {
        self.group.topic(partition)
    }

    fn is_shared(&self, partition: PartitionIx) -> bool {
        self.readers.of_topic[self.topic(partition)].len() >= 2
    }

    /// Moves partitions until a round moves none; returns whether any has moved. Repeating rounds never end.
    fn reassign(&mut self, partitions: &[PartitionIx]) -> Result<bool> {
        let mut moved = false;
        let mut seen = None;
        for round in 1_u64.. {
            let now = (&self.lists, &self.movements);
            if seen.as_ref().is_some_and(|(lists, movements)| now == (lists, movements)) {
                let reason = "the client moves its partitions in a circle, for ever".to_owned();
                return Err(Error::ClientFails { assignor: self.rules.assignor, reason });
            }
            if round >= LONG && round.is_power_of_two() {
                seen = Some((self.lists.clone(), self.movements.clone()));
            }
            let mut changed = false;
            for &partition in partitions {
                if self.is_balanced() {
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
        let has = self.lists[self.owner[partition.place()]].len();
        if let Some(previous) = self.previous[partition] {
            let is_fixed = self.fixed[previous];
            self.ghosts[previous] |= is_fixed;
            let count = if is_fixed { 0 } else { self.lists[previous].len() };
            if has > count + 1 {
                if is_fixed {
                    let member = self.group.id(previous);
                    let reason = format!(
                        "member {member:?} owned in an older generation what it cannot get back, upon which the client \
                         throws KeyError"
                    );
                    return Err(Error::ClientFails { assignor: self.rules.assignor, reason });
                }
                self.move_to(partition, previous);
                return Ok(true);
            }
        }
        let topic = self.topic(partition);
        let reads = |&(_, member): &(usize, MemberIx)| self.readers.reads(member, topic);
        let fewer = self.sorted.iter().take_while(|&(count, _)| count + 1 < has).find(reads);
        let Some((_, member)) = fewer else { return Ok(false) };
        self.move_to(partition, member);
        Ok(true)
    }

    fn move_to(&mut self, partition: PartitionIx, member: MemberIx) {
        let owner = self.owner[partition];
        let opposite = self.movements.opposite(self.topic(partition), partition, owner, member);
        let substitute = opposite.and_then(|set| self.hashes.first(set)).unwrap_or(partition);
        let other = self.owner[substitute];
        if self.rules.undoes_both && other != owner {
            self.process(partition, other);
        }
        self.process(substitute, member);
    }

    fn process(&mut self, partition: PartitionIx, member: MemberIx) {
        let owner = self.owner[partition];
        let leave = |set: &mut Vec<PartitionIx>| {
            set.retain(|&other| other != partition);
            set.is_empty()
        };
        let topic = self.topic(partition);
        if let Some(set) = self.movements.record(topic, partition, (owner, member), leave, Vec::new) {
            set.push(partition);
        }
        self.lists[owner].retain(|&other| other != partition);
        self.sorted.down(owner);
        self.give(partition, member);
    }

    fn give(&mut self, partition: PartitionIx, member: MemberIx) {
        self.lists[member].push(partition);
        self.owner[partition] = member;
        self.sorted.up(member);
    }

    /// `_is_balanced`.
    fn is_balanced(&mut self) -> bool {
        if self.sorted.bounds().is_none_or(|(least, most)| least + 1 >= most) {
            return true;
        }
        let gains =
            Gains { group: self.group, lists: &self.lists, owner: &self.owner, readers: &self.readers };
        self.gaining = gains.find(&self.sorted, self.gaining);
        self.gaining.is_none()
    }

    /// `_get_balance_score`: the differences of all pairs of members.
    fn score(&self, lists: &[Vec<PartitionIx>]) -> i64 {
        let counted = lists.iter().zip(self.fixed.iter().zip(&self.ghosts));
        let counts = counted.filter_map(|(list, (&fixed, &ghost))| match (fixed, ghost) {
            (false, _) => i64::try_from(list.len()).ok(),
            (true, true) => Some(0),
            (true, false) => None,
        });
        pair_differences(counts.collect())
    }
}

//! Moving partitions between members with different subscriptions until nobody gains by another move.

use super::group::JavaGroup;
use super::partition_set::PartitionSet;
use super::rack_awareness;
use super::sorted_members::SortedMembers;
use super::subscriptions::TopicReaders;
use crate::assignors::lists::MemberLists;
use crate::assignors::movements::Movements;
use crate::index::{Ix, MemberIx, PartitionIx, numbered};
use crate::java::hash_map::spread;
use crate::java::strings::hash_code;
use crate::java::topic_partition::partition_hash;
use crate::{Error, Result};

/// The versions of the balancing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BalanceRules {
    /// Up to Kafka 2.8.
    Kafka28,
    Kafka39,
}

/// How to find out, before each step, whether Kafka considers the whole balanced and stops.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BalanceCheck {
    /// By the fewest and the most partitions that members have. Whether a member could gain shows with the partition
    /// of the step just as well.
    Bounds,
    /// By looking for a member that could gain: with claims of old generations, partitions beyond a topic's count or
    /// topics named twice, that answer may differ from the one for the partition of the step.
    Members,
    /// The same if some partition is in two lists, which partitions beyond a topic's count can cause.
    MembersWithSharedPartitions,
}

/// From this round on, rounds are checked for a circle; nearly all groups are balanced after fewer rounds.
const LONG: u64 = 16;

/// An assignment during its balancing.
pub(crate) struct Balance<'a> {
    group: &'a JavaGroup<'a>,
    topics: &'a TopicReaders,
    rules: BalanceRules,
    /// Each member's partitions in the order in which it got them.
    lists: MemberLists,
    /// By partition, who got it last.
    owner: Vec<MemberIx>,
    /// Who owned it in an older generation.
    previous: Vec<Option<(MemberIx, i32)>>,
    /// Members by how many partitions they have, then by ID.
    sorted: SortedMembers,
    /// Members that cannot exchange anything.
    fixed: Vec<bool>,
    movements: Movements<PartitionSet>,
    /// By topic, the hash code of its name.
    hashes: Vec<i32>,
    check: BalanceCheck,
    /// The last found member that could gain, and the partition.
    gaining: Option<(MemberIx, PartitionIx)>,
}

impl<'a> Balance<'a> {
    pub(crate) fn new(
        group: &'a JavaGroup<'a>,
        topics: &'a TopicReaders,
        lists: MemberLists,
        previous: Vec<Option<(MemberIx, i32)>>,
        rules: BalanceRules,
    ) -> Self {
        let mut owner = vec![MemberIx::NONE; group.row.len()];
        for (member, list) in numbered(&lists) {
            for &partition in list {
                owner[partition] = member;
            }
        }
        let beyond = group.row.len() > group.partitions().len();
        let differs = previous.iter().any(Option::is_some)
            || (rules == BalanceRules::Kafka39 && (beyond || topics.named_twice));
        Self {
            check: if differs { BalanceCheck::Members } else { BalanceCheck::Bounds },
            rules,
            gaining: None,
            sorted: sorted(&lists, |_| false),
            fixed: vec![false; lists.len()],
            movements: Movements::new(group.row.len()),
            hashes: group.topics.iter().map(|topic| hash_code(topic)).collect(),
            group,
            topics,
            lists,
            owner,
            previous,
        }
    }

    /// Deals out what nobody keeps, then moves partitions, first only those if `unassigned_first`, and takes the moves
    /// back if what members have is no more even than before.
    pub(crate) fn run(
        mut self,
        unassigned: &[PartitionIx],
        all: &[PartitionIx],
        by_rack: bool,
        unassigned_first: bool,
    ) -> Result<MemberLists> {
        let initializing = self.lists.iter().all(Vec::is_empty);
        self.assign(unassigned, by_rack);
        self.set_fixed_aside();
        let before = self.lists.clone();
        let (group, topics) = (self.group, self.topics);
        let movable = |partitions: &[PartitionIx]| -> Vec<PartitionIx> {
            let shared = |partition: &PartitionIx| topics.shared(group.row.topic(*partition));
            partitions.iter().copied().filter(shared).collect()
        };
        if unassigned_first {
            self.reassign(&movable(unassigned))?;
        }
        let moved = self.reassign(&movable(all))?;
        Ok(if !initializing && moved && self.score(&self.lists) >= self.score(&before) {
            before
        } else {
            self.lists
        })
    }

    /// Gives each partition to the member with the fewest that reads its topic; if racks matter, first to those in its
    /// racks.
    fn assign(&mut self, unassigned: &[PartitionIx], by_rack: bool) {
        let mut left = Vec::new();
        if by_rack {
            for &partition in unassigned {
                let group = self.group;
                match self.fewest(partition, |member| !rack_awareness::mismatch(group, member, partition)) {
                    Some(member) => self.give(partition, member),
                    None => left.push(partition),
                }
            }
        }
        for &partition in if by_rack { &left[..] } else { unassigned } {
            if let Some(member) = self.fewest(partition, |_| true) {
                self.give(partition, member);
            }
        }
    }

    /// Sets aside members that have everything they could have, and nothing that another could have.
    fn set_fixed_aside(&mut self) {
        for (member, list) in numbered(&self.lists) {
            let shared = |&partition: &PartitionIx| self.topics.shared(self.group.row.topic(partition));
            self.fixed[member] = list.len() >= self.most(member) && !list.iter().any(shared);
        }
        self.sorted = sorted(&self.lists, |member| self.fixed[member]);
        let owned = self.owner.iter().filter(|&&owner| owner != MemberIx::NONE).count();
        if self.check == BalanceCheck::Members && self.lists.iter().map(Vec::len).sum::<usize>() > owned {
            self.check = BalanceCheck::MembersWithSharedPartitions;
        }
    }

    /// Moves partitions until a round moves none; returns whether any has moved. A round depends only on what every
    /// member has and on earlier moves. If both are as they once were, Kafka moves partitions in a circle and never
    /// ends. This can happen because a partition may move instead of another one, from a member that has few.
    fn reassign(&mut self, partitions: &[PartitionIx]) -> Result<bool> {
        let mut moved = false;
        let mut seen = None;
        for round in 1_u64.. {
            let now = (&self.lists, &self.movements);
            if seen.as_ref().is_some_and(|(lists, movements)| now == (lists, movements)) {
                return Err(Error::endless());
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

    /// Moves a partition, or another one instead, to its earlier owner or to the member with the fewest, if that has
    /// two fewer.
    fn move_on(&mut self, partition: PartitionIx) -> Result<bool> {
        let has = self.lists[self.owner[partition]].len();
        if let Some((previous, _)) = self.previous[partition] {
            if self.fixed[previous] {
                let reason = "a group in which a member that can neither gain nor lose a partition owned something in an older \
                              generation";
                return Err(Error::throws("NullPointerException", reason));
            }
            if has > self.lists[previous].len() + 1 {
                self.move_to(partition, previous);
                return Ok(true);
            }
        }
        let topic = self.group.row.topic(partition);
        let fewer_than = has.saturating_sub(1);
        let Some(member) = self.sorted.first(self.topics.readers_of(topic), fewer_than, |_| true) else {
            return Ok(false);
        };
        self.move_to(partition, member);
        Ok(true)
    }

    fn move_to(&mut self, partition: PartitionIx, member: MemberIx) {
        let topic = self.group.row.topic(partition);
        let opposite = self.movements.opposite(topic, partition, self.owner[partition], member);
        let partition = opposite.and_then(PartitionSet::first).unwrap_or(partition);
        let owner = self.owner[partition];
        let leave = |set: &mut PartitionSet| set.remove(partition);
        let set = self.movements.record(topic, partition, (owner, member), leave, PartitionSet::new);
        if let Some(set) = set {
            let hash = partition_hash(self.hashes[topic], self.group.number(partition));
            set.insert(spread(hash), partition);
        }
        let list = &mut self.lists[owner];
        if let Some(place) = list.iter().position(|&other| other == partition) {
            list.remove(place);
            self.sorted.down(owner);
        }
        self.give(partition, member);
    }

    fn give(&mut self, partition: PartitionIx, member: MemberIx) {
        self.lists[member].push(partition);
        self.owner[partition] = member;
        self.sorted.up(member);
    }

    /// The first of the sorted members that reads a partition's topic and meets a condition.
    fn fewest(&self, partition: PartitionIx, meets: impl Fn(MemberIx) -> bool) -> Option<MemberIx> {
        let topic = self.group.row.topic(partition);
        self.sorted.first(self.topics.readers_of(topic), usize::MAX, meets)
    }

    /// Whether Kafka considers the whole balanced, and stops.
    fn is_balanced(&mut self) -> bool {
        let Some((least, most)) = self.sorted.bounds() else { return true };
        if least + 1 >= most {
            return true;
        }
        match self.check {
            BalanceCheck::Bounds => false,
            BalanceCheck::Members => {
                let gains = |&(member, partition): &(MemberIx, PartitionIx)| self.gains(member, partition);
                if !self.gaining.as_ref().is_some_and(gains) {
                    self.gaining = self.find_gaining();
                }
                self.gaining.is_none()
            }
            BalanceCheck::MembersWithSharedPartitions => {
                !self.sorted.iter().any(|(count, member)| self.gains_by_last_owner(count, member))
            }
        }
    }

    fn gains(&self, member: MemberIx, partition: PartitionIx) -> bool {
        let count = self.lists[member].len();
        // Kafka 2.8 looks for a member that has one partition more, which moves nothing.
        let load = self.load(partition) + usize::from(self.rules == BalanceRules::Kafka28);
        load > count + 1 && count != self.most(member)
    }

    /// The most partitions that a member could have.
    fn most(&self, member: MemberIx) -> usize {
        match self.rules {
            BalanceRules::Kafka28 => self.topics.named(self.group, member),
            BalanceRules::Kafka39 => self.topics.most(self.group, member),
        }
    }

    /// How many partitions a partition's owner has.
    fn load(&self, partition: PartitionIx) -> usize {
        self.lists.get(self.owner[partition].place()).map_or(0, Vec::len)
    }

    /// A member that could gain, and the partition.
    fn find_gaining(&self) -> Option<(MemberIx, PartitionIx)> {
        let group = self.group;
        let heaviest = |topic| group.row.of(topic).max_by_key(|&partition| self.load(partition));
        let heaviest: Vec<_> = group.by_name().map(heaviest).collect();
        self.sorted.iter().find_map(|(_, member)| {
            let topics = self.topics.of.get(member).iter();
            let mut found = topics.filter_map(|&topic| heaviest[topic]);
            found.find(|&partition| self.gains(member, partition)).map(|partition| (member, partition))
        })
    }

    /// The same check if a partition may be in two lists: in Java, the member that is walked last counts as its owner.
    fn gains_by_last_owner(&self, count: usize, member: MemberIx) -> bool {
        let mut owner = vec![MemberIx::NONE; self.owner.len()];
        for &member in self.group.second_walk.iter().filter(|&&member| !self.fixed[member]) {
            for &partition in &self.lists[member] {
                owner[partition] = member;
            }
        }
        let mut partitions = self.topics.of.get(member).iter().flat_map(|&topic| self.group.row.of(topic));
        count != self.most(member)
            && partitions.any(|partition| {
                !self.lists[member].contains(&partition)
                    && self.lists.get(owner[partition].place()).map_or(0, Vec::len) > count + 1
            })
    }

    /// How uneven an assignment is: the differences of all pairs of members, in Java's 32 bits.
    fn score(&self, lists: &[Vec<PartitionIx>]) -> i32 {
        let counted = lists.iter().zip(&self.fixed).filter(|(_, fixed)| !**fixed);
        in_32_bits(pair_differences(counted.filter_map(|(list, _)| i64::try_from(list.len()).ok()).collect()))
    }
}

/// The sum of the differences of all pairs of counts.
pub(crate) fn pair_differences(mut counts: Vec<i64>) -> i64 {
    counts.sort_unstable();
    let (mut score, mut sum) = (0_i64, 0_i64);
    for (members, count) in (0_i64..).zip(counts) {
        score = score.wrapping_add(count * members - sum);
        sum += count;
    }
    score
}

/// A sum that Java and C count in 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "Java's and C's sums overflow the same way")]
pub(crate) fn in_32_bits(sum: i64) -> i32 {
    sum as i32
}

/// Members by how many partitions they have, except those that are left out.
fn sorted(lists: &[Vec<PartitionIx>], left_out: impl Fn(MemberIx) -> bool) -> SortedMembers {
    SortedMembers::new(&lists.iter().map(Vec::len).collect::<Vec<_>>(), left_out)
}

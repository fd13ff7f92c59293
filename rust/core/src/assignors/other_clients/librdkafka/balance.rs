//! Partitions given to members and moved between them until that is balanced (`balance`).

use super::claims::Claims;
use super::fails::{NAME, dies};
use super::leader::Leader;
use super::movements::{Moved, Movements};
use super::readers::Readers;
use crate::assignors::client::sorted_members::SortedMembers;
use crate::assignors::given::NONE;
use crate::{Error, Result};

/// More rounds than any group takes that comes to an end.
const MOST_ROUNDS: u32 = 1 << 16;

/// The state of one balancing.
pub(super) struct Balance<'a> {
    leader: &'a Leader<'a>,
    claims: &'a Claims,
    readers: Readers,
    /// By member its partitions.
    lists: Vec<Vec<u32>>,
    /// By partition its owner, which at first is its last claimant and need not have it in its list.
    owner: Vec<u32>,
    /// By partition whether it is in a list.
    is_listed: Vec<bool>,
    /// Whether a partition may be in the lists of two members.
    is_doubled: bool,
    /// Members that take no part, and do not stand in `sorted`: those that the leader could not read among them.
    fixed: Vec<bool>,
    /// By number of partitions, then by id.
    sorted: SortedMembers,
    movements: Movements,
    /// A member that could gain, and the partition, as they were found last.
    gaining: Option<(u32, u32)>,
    by_rack: bool,
    revokes: bool,
}

impl<'a> Balance<'a> {
    pub(super) fn new(leader: &'a Leader<'a>, claims: &'a Claims, readers: Readers) -> Self {
        let partitions = leader.group.partitions();
        let mut balance = Self {
            lists: claims.lists.clone(),
            owner: vec![NONE; partitions],
            is_listed: vec![false; partitions],
            is_doubled: false,
            fixed: vec![true; leader.group.members()],
            sorted: SortedMembers::new(&[], |_| false),
            movements: Movements::default(),
            gaining: None,
            by_rack: leader.has_racks(&leader.topics),
            revokes: false,
            leader,
            claims,
            readers,
        };
        for &member in &leader.members {
            balance.fixed[member as usize] = false;
            let mut list = std::mem::take(&mut balance.lists[member as usize]);
            list.retain(|&partition| (partition as usize) < partitions);
            let count = list.len();
            list.retain(|&partition| {
                balance.readers.reads(member, balance.topic(partition))
                    && (!balance.by_rack || balance.is_near(member, partition))
            });
            balance.revokes |= list.len() < count;
            for &partition in &list {
                balance.is_listed[partition as usize] = true;
                let owner = claims.owner.get(&partition).copied().unwrap_or(member);
                balance.owner[partition as usize] = owner;
                balance.is_doubled |= owner != member;
            }
            balance.lists[member as usize] = list;
        }
        balance.sorted = balance.sorted_members();
        balance
    }

    /// The members that take part.
    fn sorted_members(&self) -> SortedMembers {
        let counts: Vec<_> = self.lists.iter().map(Vec::len).collect();
        SortedMembers::new(&counts, |member| self.fixed[member as usize])
    }

    /// Balances; the argument is all partitions in the order in which they are looked at.
    pub(super) fn run(mut self, mut partitions: Vec<u32>) -> Result<Vec<Vec<u32>>> {
        let mut unassigned: Vec<u32> =
            partitions.iter().copied().filter(|&each| !self.is_listed[each as usize]).collect();
        let is_initial = self.sorted.bounds().is_none_or(|(_, most)| most == 0);
        let mut left = unassigned.clone();
        if self.by_rack {
            left.retain(|&partition| !self.assign(partition, true));
        }
        for partition in left {
            self.assign(partition, false);
        }
        partitions.retain(|&partition| self.is_shared(partition));
        unassigned.retain(|&partition| self.is_shared(partition));
        for member in 0..self.lists.len() {
            let list = &self.lists[member];
            let has_all = list.len() >= self.readers.most[member];
            self.fixed[member] |= has_all && !list.iter().any(|&partition| self.is_shared(partition));
        }
        self.sorted = self.sorted_members();
        let before = (self.lists.clone(), self.score(&self.lists));
        if !self.revokes {
            self.reassign(&unassigned)?;
        }
        if self.reassign(&partitions)? && !is_initial && self.score(&self.lists) >= before.1 {
            self.lists = before.0;
        }
        Ok(self.lists)
    }

    fn topic(&self, partition: u32) -> u32 {
        self.leader.group.topic_of[partition as usize]
    }

    /// Whether a member's rack has a replica; a member without a rack is near to none.
    fn is_near(&self, member: u32, partition: u32) -> bool {
        let (topic, number) = (self.topic(partition), self.leader.group.pair(partition).1);
        let racks = self.leader.racks(topic, usize::try_from(number).unwrap_or(usize::MAX));
        self.leader.rack(member).is_some_and(|rack| racks.contains(&rack))
    }

    fn is_shared(&self, partition: u32) -> bool {
        self.readers.of_topic[self.topic(partition) as usize].len() >= 2
    }

    /// `maybeAssignPartition`.
    fn assign(&mut self, partition: u32, by_rack: bool) -> bool {
        let topic = self.topic(partition);
        let takes = |&(_, member): &(usize, u32)| {
            self.readers.reads(member, topic) && (!by_rack || self.is_near(member, partition))
        };
        let found = self.sorted.iter().find(takes).map(|(_, member)| member);
        if let Some(member) = found {
            self.give(partition, member);
        }
        found.is_some()
    }

    /// `performReassignments`: moves partitions until a round moves none; whether any has moved.
    fn reassign(&mut self, partitions: &[u32]) -> Result<bool> {
        for round in 0..MOST_ROUNDS {
            let mut changed = false;
            for &partition in partitions {
                if self.is_balanced() {
                    break;
                }
                changed |= self.move_on(partition)?;
            }
            if !changed {
                return Ok(round > 0);
            }
        }
        let reason = "librdkafka moves its partitions in a circle, for ever".to_owned();
        Err(Error::ClientFails { assignor: NAME, reason })
    }

    fn move_on(&mut self, partition: u32) -> Result<bool> {
        let owner = self.owner[partition as usize];
        self.refuse_fixed(owner)?;
        let has = self.lists[owner as usize].len();
        if let Some(&previous) = self.claims.previous.get(&partition) {
            self.refuse_fixed(previous)?;
            if has > self.lists[previous as usize].len() + 1 {
                self.move_to(partition, previous)?;
                return Ok(true);
            }
        }
        let topic = self.topic(partition);
        let reads = |&(_, member): &(usize, u32)| self.readers.reads(member, topic);
        let fewer = self.sorted.iter().take_while(|&(count, _)| count + 1 < has).find(reads);
        let Some((_, member)) = fewer else { return Ok(false) };
        self.move_to(partition, member)?;
        Ok(true)
    }

    /// Its map has fixed members no more.
    fn refuse_fixed(&self, member: u32) -> Result<()> {
        if !self.fixed[member as usize] {
            return Ok(());
        }
        let member = self.leader.group.given.members[self.leader.group.places[member as usize] as usize];
        Err(dies(&format!(
            "member {member:?} has nothing to exchange and claims what somebody else has, upon which librdkafka follows a \
             null pointer"
        )))
    }

    fn move_to(&mut self, partition: u32, member: u32) -> Result<()> {
        let topic = self.topic(partition);
        let owner = self.owner[partition as usize];
        let moved = Moved { topic, partition, from: owner, to: member };
        let substitute = self.movements.instead(moved)?;
        let owner = self.owner[self.movements.read(substitute)? as usize];
        // Once it is off its list, the same place in that may hold another one.
        let partition = self.movements.record(substitute, topic, owner, member)?;
        let list = &mut self.lists[owner as usize];
        if let Some(place) = list.iter().position(|&other| other == partition) {
            list.remove(place);
            self.sorted.down(owner);
        }
        self.give(partition, member);
        Ok(())
    }

    fn give(&mut self, partition: u32, member: u32) {
        self.lists[member as usize].push(partition);
        self.owner[partition as usize] = member;
        self.sorted.up(member);
    }

    /// `isBalanced`.
    fn is_balanced(&mut self) -> bool {
        if self.sorted.bounds().is_none_or(|(least, most)| least + 1 >= most) {
            return true;
        }
        if self.is_doubled {
            return !self.gains_doubled();
        }
        if self.gaining.is_some_and(|(member, partition)| self.gains(member, partition)) {
            return false;
        }
        self.gaining = self.find_gaining();
        self.gaining.is_none()
    }

    fn gains(&self, member: u32, partition: u32) -> bool {
        let count = self.lists[member as usize].len();
        count != self.readers.most[member as usize] && self.load(partition) > count
    }

    /// How many partitions a partition's owner has.
    fn load(&self, partition: u32) -> usize {
        self.lists.get(self.owner[partition as usize] as usize).map_or(0, Vec::len)
    }

    fn find_gaining(&self) -> Option<(u32, u32)> {
        let group = &self.leader.group;
        let heaviest = |topic| group.of_topic(topic).max_by_key(|&partition| self.load(partition));
        let heaviest: Vec<_> = (0..).take(group.topics.len()).map(heaviest).collect();
        self.sorted.iter().find_map(|(_, member)| {
            let topics = self.readers.topics[member as usize].iter();
            let mut found = topics.filter_map(|&topic| heaviest[topic as usize]);
            found.find(|&partition| self.gains(member, partition)).map(|partition| (member, partition))
        })
    }

    /// Whether a member could gain where a partition may be in two lists: the first of the members that has it counts.
    fn gains_doubled(&self) -> bool {
        let mut loads = vec![0; self.owner.len()];
        let members = self.leader.members.iter().rev().filter(|&&member| !self.fixed[member as usize]);
        for list in members.map(|&member| &self.lists[member as usize]) {
            for &partition in list {
                loads[partition as usize] = list.len();
            }
        }
        self.sorted.iter().any(|(count, member)| {
            let topics = self.readers.topics[member as usize].iter();
            let mut partitions = topics.flat_map(|&topic| self.leader.group.of_topic(topic));
            count != self.readers.most[member as usize]
                && partitions.any(|partition| {
                    loads[partition as usize] > count && !self.lists[member as usize].contains(&partition)
                })
        })
    }

    /// `getBalanceScore`: the differences of all pairs of members, in C's 32 bits.
    fn score(&self, lists: &[Vec<u32>]) -> i32 {
        let counted = self.leader.members.iter().filter(|&&member| !self.fixed[member as usize]);
        let mut counts: Vec<i64> =
            counted.filter_map(|&member| i64::try_from(lists[member as usize].len()).ok()).collect();
        counts.sort_unstable();
        let (mut score, mut sum) = (0_i64, 0_i64);
        for (members, count) in (0_i64..).zip(counts) {
            score = score.wrapping_add(count * members - sum);
            sum += count;
        }
        #[expect(clippy::cast_possible_truncation, reason = "C's sum overflows the same way")]
        let score = score as i32;
        score
    }
}

//! Partitions given to members and moved between them until that is balanced (`balance`).

use super::claims::LibrdkafkaClaims;
use super::fails::{NAME, dies};
use super::leader::Leader;
use super::movements::{Moved, PointerMovements};
use super::version::LibrdkafkaVersion;
use crate::assignors::NoRack;
use crate::assignors::client::sorted_members::SortedMembers;
use crate::assignors::other_clients::gains::Readers;
use crate::index::{Ix, MemberIx, PartitionIx, TopicIx};
use crate::{Error, Result};

/// More rounds than any group needs whose balancing ever ends.
const MOST_ROUNDS: u32 = 1 << 16;

/// The state of one balancing.
pub(super) struct LibrdkafkaBalance<'a> {
    pub(super) leader: &'a Leader<'a>,
    claims: &'a LibrdkafkaClaims,
    pub(super) readers: Readers,
    /// By member, its partitions.
    pub(super) lists: Vec<Vec<PartitionIx>>,
    /// By partition, its owner, which at first is its last claimant and may not have it in its list.
    pub(super) owner: Vec<MemberIx>,
    /// By partition, whether it is in a list.
    is_listed: Vec<bool>,
    /// Whether a partition may be in the lists of two members.
    pub(super) is_doubled: bool,
    /// Members that do not take part and are not in `sorted`, including those that the leader could not read.
    pub(super) fixed: Vec<bool>,
    /// By number of partitions, then by id.
    pub(super) sorted: SortedMembers,
    movements: PointerMovements,
    /// The last found member that could gain, and the partition.
    pub(super) gaining: Option<(MemberIx, PartitionIx)>,
    by_rack: bool,
    revokes: bool,
}

impl<'a> LibrdkafkaBalance<'a> {
    pub(super) fn new(leader: &'a Leader<'a>, claims: &'a LibrdkafkaClaims, readers: Readers) -> Self {
        let partitions = leader.group.partitions();
        let mut balance = Self {
            lists: claims.lists.clone(),
            owner: vec![MemberIx::NONE; partitions],
            is_listed: vec![false; partitions],
            is_doubled: false,
            fixed: vec![true; leader.group.members()],
            sorted: SortedMembers::new(&[], |_| false),
            movements: PointerMovements::default(),
            gaining: None,
            by_rack: leader.has_racks(&leader.topics),
            revokes: false,
            leader,
            claims,
            readers,
        };
        for &member in &leader.members {
            balance.fixed[member] = false;
            let mut list = std::mem::take(&mut balance.lists[member]);
            list.retain(|&partition| partition.place() < partitions);
            let count = list.len();
            list.retain(|&partition| {
                balance.readers.reads(member, balance.topic(partition))
                    && (!balance.by_rack || balance.is_near(member, partition))
            });
            balance.revokes |= list.len() < count;
            for &partition in &list {
                balance.is_listed[partition] = true;
                let owner = claims.owner.get(&partition).copied().unwrap_or(member);
                balance.owner[partition] = owner;
                balance.is_doubled |= owner != member;
            }
            balance.lists[member] = list;
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
    pub(super) fn run(mut self, mut partitions: Vec<PartitionIx>) -> Result<Vec<Vec<PartitionIx>>> {
        let mut unassigned: Vec<PartitionIx> =
            partitions.iter().copied().filter(|&each| !self.is_listed[each]).collect();
        // 1.6 looks up the count under the member's ID.
        let is_initial = self.leader.version > LibrdkafkaVersion::UpTo16
            && self.sorted.bounds().is_none_or(|(_, most)| most == 0);
        let mut left = unassigned.clone();
        if self.by_rack {
            left.retain(|&partition| !self.assign(partition, true));
        }
        for partition in left {
            self.assign(partition, false);
        }
        partitions.retain(|&partition| self.is_shared(partition));
        unassigned.retain(|&partition| self.is_shared(partition));
        for member in self.leader.group.by_id() {
            let list = &self.lists[member];
            let has_all = list.len() >= self.readers.most[member];
            self.fixed[member] |= has_all && !list.iter().any(|&partition| self.is_shared(partition));
        }
        self.sorted = self.sorted_members();
        let before = self.lists.clone();
        if !self.revokes {
            self.reassign(&unassigned)?;
        }
        if self.reassign(&partitions)? && !is_initial && self.is_no_better(&before) {
            self.lists = before;
        }
        Ok(self.lists)
    }

    fn topic(&self, partition: PartitionIx) -> TopicIx {
        self.leader.group.topic(partition)
    }

    /// Whether a member's rack has a replica: never for an empty rack, always for a null one.
    fn is_near(&self, member: MemberIx, partition: PartitionIx) -> bool {
        if self.leader.rack(member).is_none() {
            return self.leader.no_rack(member) == NoRack::Null;
        }
        let (topic, number) = (self.topic(partition), self.leader.group.pair(partition).1);
        let racks = self.leader.racks(topic, usize::try_from(number).unwrap_or(usize::MAX));
        self.leader.rack(member).is_some_and(|rack| racks.contains(&rack))
    }

    fn is_shared(&self, partition: PartitionIx) -> bool {
        self.readers.of_topic[self.topic(partition)].len() >= 2
    }

    /// `maybeAssignPartition`.
    fn assign(&mut self, partition: PartitionIx, by_rack: bool) -> bool {
        let topic = self.topic(partition);
        let takes = |&(_, member): &(usize, MemberIx)| {
            self.readers.reads(member, topic) && (!by_rack || self.is_near(member, partition))
        };
        let found = self.sorted.iter().find(takes).map(|(_, member)| member);
        if let Some(member) = found {
            self.give(partition, member);
        }
        found.is_some()
    }

    /// `performReassignments`: moves partitions until a round moves none; returns whether any has moved.
    fn reassign(&mut self, partitions: &[PartitionIx]) -> Result<bool> {
        for round in 0..MOST_ROUNDS {
            let mut changed = false;
            for &partition in partitions {
                if self.is_balanced()? {
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

    fn move_on(&mut self, partition: PartitionIx) -> Result<bool> {
        let owner = self.owner[partition];
        self.refuse_fixed(owner)?;
        let has = self.lists[owner].len();
        if let Some(&previous) = self.claims.previous.get(&partition) {
            self.refuse_fixed(previous)?;
            if has > self.lists[previous].len() + 1 {
                self.move_to(partition, previous)?;
                return Ok(true);
            }
        }
        let topic = self.topic(partition);
        let reads = |&(_, member): &(usize, MemberIx)| self.readers.reads(member, topic);
        let fewer = self.sorted.iter().take_while(|&(count, _)| count + 1 < has).find(reads);
        let Some((_, member)) = fewer else { return Ok(false) };
        self.move_to(partition, member)?;
        Ok(true)
    }

    /// Its map no longer has fixed members.
    fn refuse_fixed(&self, member: MemberIx) -> Result<()> {
        if !self.fixed[member] {
            return Ok(());
        }
        let member = self.leader.group.id(member);
        Err(dies(&format!(
            "member {member:?} can neither gain nor lose a partition, and claims what somebody else has, \
             upon which librdkafka follows a null pointer"
        )))
    }

    fn move_to(&mut self, partition: PartitionIx, member: MemberIx) -> Result<()> {
        let topic = self.topic(partition);
        let owner = self.owner[partition];
        let moved = Moved { topic, partition, from: owner, to: member };
        let substitute = self.movements.instead(moved)?;
        let owner = self.owner[self.movements.read(substitute)?];
        // Once it is off its list, its place may hold another one.
        let partition = self.movements.record(substitute, topic, owner, member)?;
        let list = &mut self.lists[owner];
        if let Some(place) = list.iter().position(|&other| other == partition) {
            list.remove(place);
            self.sorted.down(owner);
        }
        self.give(partition, member);
        Ok(())
    }

    fn give(&mut self, partition: PartitionIx, member: MemberIx) {
        self.lists[member].push(partition);
        self.owner[partition] = member;
        self.sorted.up(member);
    }
}

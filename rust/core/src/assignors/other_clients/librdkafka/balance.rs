//! Partitions given to members and moved between them until that is balanced (`balance`).

use super::LibrdkafkaVersion;
use super::claims::LibrdkafkaClaims;
use super::dies;
use super::leader::Leader;
use super::movements::{Moved, PointerMovements};
use crate::assignors::NoRack;
use crate::assignors::lists::MemberLists;
use crate::assignors::other_clients::holdings::{Holdings, Readers};
use crate::index::{Ix, MemberIx, PartitionIx};
use crate::{Error, Result};

/// More rounds than any group needs whose balancing ever ends.
const MOST_ROUNDS: u32 = 1 << 16;

/// The state of one balancing.
pub(super) struct LibrdkafkaBalance<'a> {
    pub(super) leader: &'a Leader<'a>,
    claims: &'a LibrdkafkaClaims,
    /// At first, a partition's owner is its last claimant, and may not have it in its list. Members that the leader could
    /// not read are fixed.
    pub(super) now: Holdings<'a>,
    /// By partition, whether it is in a list.
    is_listed: Vec<bool>,
    /// Whether a partition may be in the lists of two members.
    pub(super) is_doubled: bool,
    movements: PointerMovements,
    by_rack: bool,
    revokes: bool,
}

impl<'a> LibrdkafkaBalance<'a> {
    pub(super) fn new(leader: &'a Leader<'a>, claims: &'a LibrdkafkaClaims, readers: Readers) -> Self {
        let partitions = leader.group.row.len();
        let mut balance = Self {
            now: Holdings::new(&leader.group, readers, claims.lists.clone()),
            is_listed: vec![false; partitions],
            is_doubled: false,
            movements: PointerMovements::default(),
            by_rack: leader.has_racks(&leader.topics),
            revokes: false,
            leader,
            claims,
        };
        balance.now.fixed.fill(true);
        for &member in &leader.members {
            balance.now.fixed[member] = false;
            let mut list = std::mem::take(&mut balance.now.lists[member]);
            list.retain(|&partition| partition.place() < partitions);
            let count = list.len();
            list.retain(|&partition| {
                balance.now.reads(member, partition)
                    && (!balance.by_rack || balance.is_near(member, partition))
            });
            balance.revokes |= list.len() < count;
            for &partition in &list {
                balance.is_listed[partition] = true;
                let owner = claims.owner.get(&partition).copied().unwrap_or(member);
                balance.now.owner[partition] = owner;
                balance.is_doubled |= owner != member;
            }
            balance.now.lists[member] = list;
        }
        balance.now.sort_members();
        balance
    }

    /// Balances; the argument has all partitions in the order in which they are considered.
    pub(super) fn run(mut self, mut partitions: Vec<PartitionIx>) -> Result<MemberLists> {
        let mut unassigned: Vec<PartitionIx> =
            partitions.iter().copied().filter(|&each| !self.is_listed[each]).collect();
        // 1.6 looks up the count under the member's ID.
        let is_initial = self.leader.version > LibrdkafkaVersion::UpTo16
            && self.now.sorted.bounds().is_none_or(|(_, most)| most == 0);
        let mut left = unassigned.clone();
        if self.by_rack {
            left.retain(|&partition| !self.assign(partition, true));
        }
        for partition in left {
            self.assign(partition, false);
        }
        partitions.retain(|&partition| self.now.is_shared(partition));
        unassigned.retain(|&partition| self.now.is_shared(partition));
        self.now.set_fixed_aside();
        let before = self.now.lists.clone();
        if !self.revokes {
            self.reassign(&unassigned)?;
        }
        if self.reassign(&partitions)? && !is_initial && self.is_no_better(&before) {
            self.now.lists = before;
        }
        Ok(self.now.lists)
    }

    /// Whether a member's rack has a replica: never for an empty rack, always for a null one.
    fn is_near(&self, member: MemberIx, partition: PartitionIx) -> bool {
        if self.leader.rack(member).is_none() {
            return self.leader.no_rack(member) == NoRack::Null;
        }
        let (topic, number) = (self.leader.group.row.topic(partition), self.leader.group.pair(partition).1);
        let racks = self.leader.racks(topic, usize::try_from(number).unwrap_or(usize::MAX));
        self.leader.rack(member).is_some_and(|rack| racks.contains(&rack))
    }

    /// `maybeAssignPartition`.
    fn assign(&mut self, partition: PartitionIx, by_rack: bool) -> bool {
        let takes = |&(_, member): &(usize, MemberIx)| {
            self.now.reads(member, partition) && (!by_rack || self.is_near(member, partition))
        };
        let found = self.now.sorted.iter().find(takes).map(|(_, member)| member);
        if let Some(member) = found {
            self.now.give(partition, member);
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
        Err(Error::client_fails("librdkafka moves its partitions in a circle, for ever"))
    }

    fn move_on(&mut self, partition: PartitionIx) -> Result<bool> {
        let owner = self.now.owner[partition];
        self.refuse_fixed(owner)?;
        let has = self.now.lists[owner].len();
        if let Some(&previous) = self.claims.previous.get(&partition) {
            self.refuse_fixed(previous)?;
            if has > self.now.lists[previous].len() + 1 {
                self.move_to(partition, previous)?;
                return Ok(true);
            }
        }
        let taker = self.now.taker(partition, has);
        if let Some(member) = taker {
            self.move_to(partition, member)?;
        }
        Ok(taker.is_some())
    }

    /// Its map no longer has fixed members.
    fn refuse_fixed(&self, member: MemberIx) -> Result<()> {
        if !self.now.fixed[member] {
            return Ok(());
        }
        let member = self.leader.group.member_name(member);
        Err(dies(&format!(
            "member {member:?} can neither gain nor lose a partition, and claims what somebody else has, \
             upon which librdkafka follows a null pointer"
        )))
    }

    fn move_to(&mut self, partition: PartitionIx, member: MemberIx) -> Result<()> {
        let topic = self.leader.group.row.topic(partition);
        let owner = self.now.owner[partition];
        let moved = Moved { topic, partition, from: owner, to: member };
        let substitute = self.movements.instead(moved)?;
        let owner = self.now.owner[self.movements.read(substitute)?];
        // Once it is off its list, its place may hold another one.
        let partition = self.movements.record(substitute, topic, owner, member)?;
        let list = &mut self.now.lists[owner];
        if let Some(place) = list.iter().position(|&other| other == partition) {
            list.remove(place);
            self.now.sorted.down(owner);
        }
        self.now.give(partition, member);
        Ok(())
    }
}

//! The steps of a sticky balancing (`sticky.go`), over numbers: topics in one of the orders of Go's map, members as the
//! leader sorts them.

use crate::assignors::lists::MemberLists;
use std::collections::BTreeMap;

use super::steal_graph::StealGraph;
use super::{FranzVersion, repair, static_first, unassigned};
use crate::assignors::client::cooperative_sticky::withhold;
use crate::assignors::other_clients::client_group::ClientGroup;
use crate::assignors::topic_partitions::TopicPartitions;
use crate::go_map::{GoDraws, GoMap};
use crate::index::{Ix, MemberIx, PartitionIx, TopicIx, indices, numbered};

/// No member.
pub(super) const NOBODY: MemberIx = MemberIx::NONE;
/// A generation that is known.
const KNOWN: u32 = 1 << 31;

/// What each member reads in one of the possible orders of Go's maps; nothing if an old franz-go panics.
pub(super) fn assign(
    group: &ClientGroup<'_>,
    version: FranzVersion,
    racks: bool,
    cooperative: bool,
    draws: &mut GoDraws,
) -> Option<MemberLists> {
    let members = static_first(group);
    let mut topics = GoMap::new(draws, 0);
    for &member in &members {
        let mut subscribed = group.subscribed.get(member).to_vec();
        subscribed.sort_unstable();
        for topic in subscribed {
            topics.put(topic);
        }
    }
    let mut known = topics.walk(draws);
    let hint = known.len();
    known.retain(|&topic| group.row.count(topic) > 0);
    let counts = GoMap::of(draws, hint, known);
    let mut balancer = Balancer::new(group, version, members, counts.walk(draws))?;
    if balancer.row.len() > 0 {
        if racks {
            let order = counts.walk(draws);
            let order = GoMap::of(draws, order.len(), order).walk(draws);
            balancer.racks = RackNumbers::new(&balancer, &order);
        }
        balancer.balance(draws)?;
    }
    let mut lists = balancer.named();
    if cooperative {
        adjust_cooperative(group, version, &mut lists);
    }
    Some(super::sorted(lists))
}

/// `AdjustCooperative`: what one member gains and another loses waits for the next rebalance. Since 1.21.4, a claim
/// counts as owning only if nobody claims the same partition in a later generation. Before that, a bug could give a
/// partition to two members; the last one is the one that gains.
fn adjust_cooperative(group: &ClientGroup<'_>, version: FranzVersion, lists: &mut [Vec<PartitionIx>]) {
    let mut newest = vec![i32::MIN; group.row.len()];
    let claims = |member: MemberIx| {
        let owned = group.owned.get(member).iter();
        owned.filter_map(|&(topic, number)| group.row.at(topic, number))
    };
    for member in group.by_id() {
        for partition in claims(member) {
            newest[partition] = newest[partition].max(group.generations[member]);
        }
    }
    let owns = |member: MemberIx, partition: PartitionIx| {
        version < FranzVersion::V1_21 || group.generations[member] >= newest[partition]
    };
    withhold(lists, group.row.len(), group.by_id(), claims, owns);
}

/// Whether the order of Go's maps may matter: if members read several topics with partitions.
pub(super) fn has_choice(group: &ClientGroup<'_>) -> bool {
    let stale = group.owned.offsets.windows(2).filter(|bounds| bounds[0] < bounds[1]).count() > 1;
    let topics = group.topics().filter(|&topic| group.row.count(topic) > 0).count();
    topics > 1 || (stale && doubly_claimed(group) > 1)
}

/// How many partitions are claimed by more than one member.
pub(super) fn doubly_claimed(group: &ClientGroup<'_>) -> usize {
    let (mut once, mut twice) = (vec![false; group.row.len()], vec![false; group.row.len()]);
    for member in group.by_id() {
        for &(topic, number) in group.owned.get(member) {
            if let Some(partition) = group.row.at(topic, number) {
                twice[partition] |= std::mem::replace(&mut once[partition], true);
            }
        }
    }
    twice.into_iter().filter(|&twice| twice).count()
}

/// The state of a balancing. Members, topics and partitions are numbered anew.
pub(super) struct Balancer<'a> {
    group: &'a ClientGroup<'a>,
    pub(super) version: FranzVersion,
    /// By member, its number in the group.
    members: Vec<MemberIx>,
    /// By topic, its place among the group's.
    names: Vec<TopicIx>,
    pub(super) row: TopicPartitions,
    /// By topic, the members who read it.
    pub(super) subscribers: Vec<Vec<MemberIx>>,
    /// What each member has.
    pub(super) plan: MemberLists,
    /// Whether members read different topics.
    pub(super) complex: bool,
    pub(super) owner: Vec<Owner>,
    pub(super) racks: Option<RackNumbers>,
}

/// Who has a partition, and who had it before this balancing.
#[derive(Clone, Copy)]
pub(super) struct Owner {
    pub(super) member: MemberIx,
    pub(super) original: MemberIx,
}

/// Racks as numbers; 0 stands for no rack.
pub(super) struct RackNumbers {
    pub(super) members: Vec<u32>,
    pub(super) partitions: Vec<u32>,
    pub(super) count: usize,
}

impl RackNumbers {
    /// `initRacks`, if members and leaders have racks; topics come in the order of a map of their own.
    fn new(balancer: &Balancer<'_>, topics: &[TopicIx]) -> Option<Self> {
        let (group, mut known) = (balancer.group, Vec::<u32>::new());
        let mut number = |rack: Option<u32>| {
            let Some(rack) = rack else { return 0 };
            let place = known.iter().position(|&other| other == rack).unwrap_or_else(|| {
                known.push(rack);
                known.len() - 1
            });
            u32::try_from(place + 1).unwrap_or(0)
        };
        let members: Vec<u32> =
            balancer.members.iter().map(|&member| number(group.member_racks[member])).collect();
        let mut partitions = vec![0; balancer.row.len()];
        for &name in topics {
            let topic = TopicIx::at(balancer.names.iter().position(|&other| other == name)?);
            for partition in balancer.row.of(topic) {
                partitions[partition] = number(group.leader_racks[balancer.in_group(partition)]);
            }
        }
        let some = |racks: &[u32]| racks.iter().any(|&rack| rack != 0);
        (some(&members) && some(&partitions)).then_some(Self { members, partitions, count: known.len() })
    }
}

impl<'a> Balancer<'a> {
    fn new(
        group: &'a ClientGroup<'a>,
        version: FranzVersion,
        members: Vec<MemberIx>,
        names: Vec<TopicIx>,
    ) -> Option<Self> {
        // A part of the group's topics.
        let row = TopicPartitions::of_counts(names.iter().map(|&name| group.row.count(name))).ok()?;
        Some(Self {
            group,
            version,
            subscribers: vec![Vec::new(); names.len()],
            plan: vec![Vec::new(); members.len()],
            complex: false,
            owner: vec![Owner { member: NOBODY, original: NOBODY }; row.len()],
            racks: None,
            members,
            names,
            row,
        })
    }

    /// By a topic's place among the group's, its number here.
    fn topics(&self) -> Vec<Option<TopicIx>> {
        let mut topics = vec![None; self.group.topics().len()];
        for (topic, &name) in numbered(&self.names) {
            topics[name] = Some(topic);
        }
        topics
    }

    /// The plan in the group's numbers.
    fn named(&self) -> MemberLists {
        let mut lists = vec![Vec::new(); self.members.len()];
        for (list, &member) in self.plan.iter().zip(&self.members) {
            lists[member] = list.iter().map(|&partition| self.in_group(partition)).collect();
        }
        lists
    }

    fn in_group(&self, partition: PartitionIx) -> PartitionIx {
        let first = self.group.row.numbers(self.names[self.row.topic(partition)]).start;
        PartitionIx(first + self.row.number(partition))
    }

    /// The partitions that nobody has.
    pub(super) fn unowned(&self) -> Vec<PartitionIx> {
        let unowned = numbered(&self.owner).filter(|(_, owner)| owner.member == NOBODY);
        unowned.map(|(partition, _)| partition).collect()
    }

    pub(super) fn give(&mut self, partition: PartitionIx, member: MemberIx) {
        self.plan[member].push(partition);
        self.owner[partition].member = member;
    }

    /// `memberPartitions.remove`: the last partition takes the place; if the partition is missing, the first one goes.
    fn remove(&mut self, member: MemberIx, partition: PartitionIx) -> Option<()> {
        let list = &mut self.plan[member];
        let place = list.iter().position(|&other| other == partition).unwrap_or(0);
        (!list.is_empty()).then(|| {
            list.swap_remove(place);
        })
    }

    fn balance(&mut self, draws: &mut GoDraws) -> Option<()> {
        let stales = self.take_claims(draws);
        self.take_subscriptions();
        self.drop_unwanted()?;
        self.give_back_stales(&stales)?;
        if self.version < FranzVersion::V1_22 {
            for member in indices::<MemberIx>(self.plan.len()) {
                self.sort_by_number(member);
            }
        }
        unassigned::assign(self);
        let mut levels = Levels::new(&self.plan);
        if self.complex {
            self.steal(&mut levels)?;
        } else {
            self.level(&mut levels);
        }
        if self.version >= FranzVersion::V1_22 {
            repair::run(self);
        }
        Some(())
    }

    /// `parseMemberMetadata`: the newest claim on each partition, and the members with the second newest, by partition
    /// in the order of Go's map.
    fn take_claims(&mut self, draws: &mut GoDraws) -> Vec<(PartitionIx, MemberIx)> {
        let (group, topics) = (self.group, self.topics());
        let mut claims = vec![[(0, NOBODY); 2]; self.row.len()];
        let believed = numbered(&self.members).filter(|(_, member)| !group.is_disbelieved(**member));
        for (number, &member) in believed {
            // Generation -1 counts as 0.
            let generation = KNOWN | group.generations[member].max(0).cast_unsigned();
            let owned = group.owned.get(member).iter();
            for partition in owned.filter_map(|&(name, number)| self.row.at(topics[name]?, number)) {
                let claim = &mut claims[partition];
                if generation > claim[0].0 {
                    *claim = [(generation, number), claim[0]];
                } else if generation > claim[1].0 {
                    claim[1] = (generation, number);
                }
            }
        }
        let mut stales = GoMap::new(draws, 0);
        for (partition, [(newest, member), (older, _)]) in numbered(&claims) {
            if *newest != 0 {
                self.plan[*member].push(partition);
            }
            if *older != 0 {
                stales.put(partition);
            }
        }
        stales.walk(draws).into_iter().map(|partition| (partition, claims[partition][1].1)).collect()
    }

    /// `dropUnwantedPartitions`; before 1.22 a list is walked while it shrinks.
    fn drop_unwanted(&mut self) -> Option<()> {
        for (member, list) in numbered(&mut self.plan) {
            let (subscribers, row) = (&self.subscribers, &self.row);
            let reads =
                |partition: PartitionIx| subscribers[row.topic(partition)].binary_search(&member).is_ok();
            if self.version >= FranzVersion::V1_22 {
                list.retain(|&partition| reads(partition));
            }
            let mut left = list.len();
            for place in 0..list.len() {
                let partition = list[place];
                if reads(partition) {
                    self.owner[partition] = Owner { member, original: member };
                } else {
                    let found = list[..left].iter().position(|&other| other == partition).unwrap_or(0);
                    left = left.checked_sub(1)?;
                    list[found] = list[left];
                }
            }
            list.truncate(left);
        }
        Some(())
    }

    /// `tryRestickyStales`: an older claim counts if the newer claim's member gave up the topic, or has more.
    fn give_back_stales(&mut self, stales: &[(PartitionIx, MemberIx)]) -> Option<()> {
        for &(partition, member) in stales {
            let topic = self.row.topic(partition);
            if self.subscribers[topic].binary_search(&member).is_err() {
                if self.version < FranzVersion::V1_21 {
                    return Some(());
                }
                continue;
            }
            let owner = self.owner[partition].member;
            if owner == NOBODY {
                if self.version < FranzVersion::V1_21 {
                    return None;
                }
            } else if self.plan[member].len() + 1 < self.plan[owner].len() {
                self.remove(owner, partition)?;
            } else {
                continue;
            }
            self.plan[member].push(partition);
            if self.version >= FranzVersion::V1_21 {
                self.owner[partition] = Owner { member, original: member };
            }
        }
        Some(())
    }

    /// `topicPotentials`; before 1.22, a member that names a topic twice counts as two.
    fn take_subscriptions(&mut self) {
        let topics = self.topics();
        for (number, &member) in numbered(&self.members) {
            for topic in self.group.subscribed.get(member).iter().filter_map(|&name| topics[name]) {
                let subscribers = &mut self.subscribers[topic];
                if self.version < FranzVersion::V1_22 || subscribers.last() != Some(&number) {
                    subscribers.push(number);
                }
            }
        }
        self.complex = self.subscribers.iter().any(|subscribers| subscribers.len() != self.members.len());
    }

    /// `sortMemberByLiteralPartNum`: by the partition's number, then by topic.
    fn sort_by_number(&mut self, member: MemberIx) {
        let (row, names) = (&self.row, &self.names);
        self.plan[member]
            .sort_unstable_by_key(|&partition| (row.number(partition), names[row.topic(partition)]));
    }

    /// `balance` where all read the same: from the most loaded to the least loaded.
    fn level(&mut self, levels: &mut Levels) {
        if levels.highest() <= levels.lowest() + 1 {
            return;
        }
        if self.version >= FranzVersion::V1_22 {
            for member in indices::<MemberIx>(self.plan.len()) {
                if self.plan[member].len() > levels.lowest() + 1 {
                    self.sort_by_number(member);
                }
            }
        }
        while levels.highest() > levels.lowest() + 1 {
            for (to, from) in levels.meet() {
                let partition = self.plan[from].pop();
                self.plan[to].extend(partition);
            }
        }
    }

    /// `balanceComplex`: the least loaded take from others, who may take from others again.
    fn steal(&mut self, levels: &mut Levels) -> Option<()> {
        let mut graph = StealGraph::new(self);
        while levels.len() > 1 {
            let (low, high) = (levels.lowest(), levels.highest());
            if high <= low + 1 {
                break;
            }
            while let Some(member) = levels.first(low) {
                let path = graph.path(self, member);
                if path.is_empty() {
                    // This member will never have more.
                    levels.remove(low, member);
                    continue;
                }
                for (from, to, partition) in path {
                    let loads = [from, to].map(|member| self.plan[member].len());
                    self.remove(from, partition)?;
                    self.plan[to].push(partition);
                    for (member, load) in [from, to].into_iter().zip(loads) {
                        levels.remove(load, member);
                        levels.add(self.plan[member].len(), member);
                    }
                    let (topic, owner) = (self.row.topic(partition), self.owner[partition].member);
                    graph.change_owner(topic, partition, owner, to);
                    self.owner[partition].member = to;
                }
                if !levels.has(high) {
                    break;
                }
            }
        }
        Some(())
    }
}

/// Members by how many partitions they have (`planByNumPartitions`), in the order in which they came there; only levels
/// that have members.
struct Levels(BTreeMap<usize, Vec<MemberIx>>);

impl Levels {
    fn new(plan: &[Vec<PartitionIx>]) -> Self {
        let mut levels = Self(BTreeMap::new());
        for (member, list) in numbered(plan) {
            levels.add(list.len(), member);
        }
        levels
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn lowest(&self) -> usize {
        self.0.first_key_value().map_or(0, |(&level, _)| level)
    }

    fn highest(&self) -> usize {
        self.0.last_key_value().map_or(0, |(&level, _)| level)
    }

    /// The member that came first to a level.
    fn first(&self, level: usize) -> Option<MemberIx> {
        self.0.get(&level).map(|members| members[0])
    }

    fn has(&self, level: usize) -> bool {
        self.0.contains_key(&level)
    }

    fn add(&mut self, level: usize, member: MemberIx) {
        self.0.entry(level).or_default().push(member);
    }

    /// Removes a member; the last one takes its place.
    fn remove(&mut self, level: usize, member: MemberIx) {
        let Some(members) = self.0.get_mut(&level) else { return };
        if let Some(place) = members.iter().position(|&other| other == member) {
            members.swap_remove(place);
        }
        if members.is_empty() {
            self.0.remove(&level);
        }
    }

    /// Pairs the first members of the lowest and the highest level, which get one level closer to each other.
    fn meet(&mut self) -> Vec<(MemberIx, MemberIx)> {
        let (low, high) = (self.lowest(), self.highest());
        let count =
            [low, high].map(|level| self.0.get(&level).map_or(0, Vec::len)).into_iter().min().unwrap_or(0);
        let [up, down] = [low, high].map(|level| {
            let members = self.0.get_mut(&level).map(|members| members.drain(..count).collect::<Vec<_>>());
            members.unwrap_or_default()
        });
        for (level, members) in [(low + 1, &up), (high - 1, &down)] {
            self.0.entry(level).or_default().extend(members);
        }
        self.0.retain(|_, members| !members.is_empty());
        up.into_iter().zip(down).collect()
    }
}

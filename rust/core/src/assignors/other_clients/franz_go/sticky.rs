//! The steps of a sticky balancing (`sticky.go`), over numbers: topics in one of the orders of Go's map, members as the
//! leader sorts them.

use super::balancer::{Balancer, NOBODY, RackNumbers};
use super::levels::Levels;
use super::steal_graph::StealGraph;
use super::{FranzVersion, cooperative, repair, static_first, steal_graph_1_21, unassigned};
use crate::assignors::other_clients::go_group::GoGroup;
use crate::go::draws::GoDraws;
use crate::go::map::GoMap;

/// What each member reads in one of the possible orders of Go's maps; nothing if an old franz-go panics.
pub(super) fn assign(
    group: &GoGroup<'_>,
    version: FranzVersion,
    racks: bool,
    cooperative: bool,
    draws: &mut GoDraws,
) -> Option<Vec<Vec<u32>>> {
    let members = static_first(group);
    let mut topics = GoMap::new(draws, 0);
    for &member in &members {
        let mut subscribed = group.subscribed.get(member as usize).to_vec();
        subscribed.sort_unstable();
        for topic in subscribed {
            topics.put(topic);
        }
    }
    let mut known = topics.walk(draws);
    let hint = known.len();
    known.retain(|&topic| !group.partitions(topic as usize).is_empty());
    let counts = GoMap::of(draws, hint, known);
    let mut balancer = Balancer::new(group, &members, counts.walk(draws));
    if !balancer.topic_of.is_empty() {
        if racks {
            let order = counts.walk(draws);
            let order = GoMap::of(draws, order.len(), order).walk(draws);
            balancer.racks = RackNumbers::new(&balancer, group, &members, &order);
        }
        balancer.balance(group, &members, version, draws)?;
    }
    let mut lists = balancer.named(group, &members);
    if cooperative {
        cooperative::withhold(group, version, &mut lists);
    }
    Some(super::sorted(lists))
}

/// Whether the order of Go's maps may matter: if members read several topics with partitions.
pub(super) fn has_choice(group: &GoGroup<'_>) -> bool {
    let stale = group.owned.offsets.windows(2).filter(|bounds| bounds[0] < bounds[1]).count() > 1;
    let topics = (0..group.topics()).filter(|&topic| !group.partitions(topic).is_empty()).count();
    topics > 1 || (stale && doubly_claimed(group) > 1)
}

/// How many partitions are claimed by more than one member.
pub(super) fn doubly_claimed(group: &GoGroup<'_>) -> usize {
    let mut claims = vec![NOBODY; group.topic_of.len()];
    let mut twice = vec![false; claims.len()];
    for member in 0..group.members() {
        for &(topic, number) in group.owned.get(member) {
            if let Some(partition) = group.partition(topic, number) {
                let claim = &mut claims[partition as usize];
                twice[partition as usize] |= *claim != NOBODY;
                *claim = 0;
            }
        }
    }
    twice.into_iter().filter(|&twice| twice).count()
}

impl Balancer {
    fn balance(
        &mut self,
        group: &GoGroup<'_>,
        members: &[u32],
        version: FranzVersion,
        draws: &mut GoDraws,
    ) -> Option<()> {
        let stales = self.take_claims(group, members, draws);
        self.take_subscriptions(group, members, version);
        self.drop_unwanted(version)?;
        self.give_back_stales(&stales, version)?;
        self.original = self.owner.iter().map(|owner| owner.original).collect();
        if version < FranzVersion::V1_22 {
            for member in 0..self.plan.len() {
                self.sort_by_number(member);
            }
        }
        unassigned::assign(self, version);
        let mut levels = Levels::new(&self.plan);
        if self.complex {
            self.steal(&mut levels, version)?;
        } else {
            self.level(&mut levels, version);
        }
        if version >= FranzVersion::V1_22 {
            repair::run(self);
        }
        Some(())
    }

    /// `topicPotentials`; before 1.22, a member that names a topic twice counts as two.
    fn take_subscriptions(&mut self, group: &GoGroup<'_>, members: &[u32], version: FranzVersion) {
        let mut topics = vec![None; group.topics()];
        for (topic, &name) in self.names.iter().enumerate() {
            topics[name as usize] = Some(topic);
        }
        self.subscribers = vec![Vec::new(); self.names.len()];
        for (number, &member) in (0..).zip(members) {
            for topic in
                group.subscribed.get(member as usize).iter().filter_map(|&name| topics[name as usize])
            {
                let subscribers = &mut self.subscribers[topic];
                if version < FranzVersion::V1_22 || subscribers.last() != Some(&number) {
                    subscribers.push(number);
                }
            }
        }
        self.complex = self.subscribers.iter().any(|subscribers| subscribers.len() != members.len());
    }

    /// `sortMemberByLiteralPartNum`: by the partition's number, then by topic.
    fn sort_by_number(&mut self, member: usize) {
        let (starts, topic_of, names) = (&self.starts, &self.topic_of, &self.names);
        self.plan[member].sort_unstable_by_key(|&partition| {
            let topic = topic_of[partition as usize] as usize;
            (partition - starts[topic], names[topic])
        });
    }

    /// `balance` where all read the same: from the most loaded to the least loaded.
    fn level(&mut self, levels: &mut Levels, version: FranzVersion) {
        if levels.highest() <= levels.lowest() + 1 {
            return;
        }
        if version >= FranzVersion::V1_22 {
            for member in 0..self.plan.len() {
                if self.plan[member].len() > levels.lowest() + 1 {
                    self.sort_by_number(member);
                }
            }
        }
        while levels.highest() > levels.lowest() + 1 {
            for (to, from) in levels.meet() {
                let partition = self.plan[from as usize].pop();
                self.plan[to as usize].extend(partition);
            }
        }
    }

    /// `balanceComplex`: the least loaded take from others, who may take from others again.
    fn steal(&mut self, levels: &mut Levels, version: FranzVersion) -> Option<()> {
        let mut graph = StealGraph::new(self);
        while levels.len() > 1 {
            let (low, high) = (levels.lowest(), levels.highest());
            if high <= low + 1 {
                break;
            }
            while let Some(member) = levels.first(low) {
                let path = if version < FranzVersion::V1_22 {
                    steal_graph_1_21::path(self, &graph, member)
                } else {
                    graph.path(self, member)
                };
                if path.is_empty() {
                    // This member will never have more.
                    levels.remove(low, member);
                    continue;
                }
                for (from, to, partition) in path {
                    let loads = [from, to].map(|member| self.plan[member as usize].len());
                    self.remove(from, partition)?;
                    self.plan[to as usize].push(partition);
                    for (member, load) in [from, to].into_iter().zip(loads) {
                        levels.remove(load, member);
                        levels.add(self.plan[member as usize].len(), member);
                    }
                    graph.change_owner(&self.topic_of, partition, self.owner[partition as usize].member, to);
                    self.owner[partition as usize].member = to;
                }
                if !levels.has(high) {
                    break;
                }
            }
        }
        Some(())
    }
}

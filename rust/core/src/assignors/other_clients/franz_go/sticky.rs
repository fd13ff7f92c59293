//! The steps of a sticky balancing (`sticky.go`), over numbers: topics in one of the orders of Go's map, members as the
//! leader sorts them.

use super::balancer::{Balancer, RackNumbers};
use super::levels::Levels;
use super::steal_graph::StealGraph;
use super::{FranzVersion, cooperative, repair, static_first, steal_graph_1_21, unassigned};
use crate::assignors::other_clients::go_group::GoGroup;
use crate::go::draws::GoDraws;
use crate::go::map::GoMap;
use crate::index::{MemberIx, PartitionIx, indices, numbered};

/// What each member reads in one of the possible orders of Go's maps; nothing if an old franz-go panics.
pub(super) fn assign(
    group: &GoGroup<'_>,
    version: FranzVersion,
    racks: bool,
    cooperative: bool,
    draws: &mut GoDraws,
) -> Option<Vec<Vec<PartitionIx>>> {
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
    let mut balancer = Balancer::new(group, &members, counts.walk(draws))?;
    if balancer.row.len() > 0 {
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
    let topics = group.topics().filter(|&topic| group.row.count(topic) > 0).count();
    topics > 1 || (stale && doubly_claimed(group) > 1)
}

/// How many partitions are claimed by more than one member.
pub(super) fn doubly_claimed(group: &GoGroup<'_>) -> usize {
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

impl Balancer {
    fn balance(
        &mut self,
        group: &GoGroup<'_>,
        members: &[MemberIx],
        version: FranzVersion,
        draws: &mut GoDraws,
    ) -> Option<()> {
        let stales = self.take_claims(group, members, draws);
        self.take_subscriptions(group, members, version);
        self.drop_unwanted(version)?;
        self.give_back_stales(&stales, version)?;
        self.original = self.owner.iter().map(|owner| owner.original).collect();
        if version < FranzVersion::V1_22 {
            for member in indices::<MemberIx>(self.plan.len()) {
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
    fn take_subscriptions(&mut self, group: &GoGroup<'_>, members: &[MemberIx], version: FranzVersion) {
        let topics = self.topics(group);
        self.subscribers = vec![Vec::new(); self.names.len()];
        for (number, &member) in numbered(members) {
            for topic in group.subscribed.get(member).iter().filter_map(|&name| topics[name]) {
                let subscribers = &mut self.subscribers[topic];
                if version < FranzVersion::V1_22 || subscribers.last() != Some(&number) {
                    subscribers.push(number);
                }
            }
        }
        self.complex = self.subscribers.iter().any(|subscribers| subscribers.len() != members.len());
    }

    /// `sortMemberByLiteralPartNum`: by the partition's number, then by topic.
    fn sort_by_number(&mut self, member: MemberIx) {
        let (row, names) = (&self.row, &self.names);
        self.plan[member]
            .sort_unstable_by_key(|&partition| (row.number(partition), names[row.topic(partition)]));
    }

    /// `balance` where all read the same: from the most loaded to the least loaded.
    fn level(&mut self, levels: &mut Levels, version: FranzVersion) {
        if levels.highest() <= levels.lowest() + 1 {
            return;
        }
        if version >= FranzVersion::V1_22 {
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
                    let loads = [from, to].map(|member| self.plan[member].len());
                    self.remove(from, partition)?;
                    self.plan[to].push(partition);
                    for (member, load) in [from, to].into_iter().zip(loads) {
                        levels.remove(load, member);
                        levels.add(self.plan[member].len(), member);
                    }
                    graph.change_owner(
                        self.row.topic(partition),
                        partition,
                        self.owner[partition].member,
                        to,
                    );
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

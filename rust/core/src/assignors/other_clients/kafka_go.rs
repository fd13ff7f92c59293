//! The assignors of kafka-go 0.4.51 (`groupbalancer.go`): each topic by itself, over its readers sorted by
//! ID.

use crate::assignors::lists::MemberLists;
use std::collections::BTreeMap;

use super::ClientAssignor;
use super::client_group::{ClientGroup, MAP_ORDER};
use crate::Result;
use crate::assignors::{Assignment, Chance, Input};
use crate::go_map::{GoDraws, GoMap};
use crate::index::{MemberIx, PartitionIx, TopicIx, numbered};

/// Its assignors.
pub(super) const ASSIGNORS: &[ClientAssignor] = &[
    ClientAssignor::new("kafka-go:range", |input| certain(input, range)),
    ClientAssignor::new("kafka-go:roundrobin", |input| certain(input, round_robin)),
    ClientAssignor::new("kafka-go:rack-affinity", |input| {
        let group = ClientGroup::new(input)?;
        let lists = rack_affinity(&group, &mut group.draws());
        let chance = Chance { why: MAP_ORDER, same: &[] };
        Ok(group.named(lists, has_choice(&group).then_some(chance)))
    }),
];

/// An answer that leaves nothing to chance.
fn certain(input: &Input<'_>, assign: fn(&ClientGroup<'_>) -> MemberLists) -> Result<Assignment> {
    let group = ClientGroup::new(input)?;
    Ok(group.named(assign(&group), None))
}

/// `RangeGroupBalancer`: member i of m reads from i·n/m to (i+1)·n/m, so the last members get the remainder.
fn range(group: &ClientGroup<'_>) -> MemberLists {
    group.in_ranges(group.subscribers(), |place, partitions, members| place * partitions / members)
}

/// `RoundRobinGroupBalancer`: each topic starts again with the first member.
fn round_robin(group: &ClientGroup<'_>) -> MemberLists {
    let mut lists = vec![Vec::new(); group.members()];
    for (topic, members) in numbered(group.subscribers()) {
        for (place, &member) in members.iter().enumerate() {
            let numbers = group.row.numbers(topic).skip(place).step_by(members.len());
            lists[member].extend(numbers.map(PartitionIx));
        }
    }
    lists
}

/// `RackAffinityGroupBalancer`: each member gets its fair share in the rack of the partitions' leaders, and
/// the rest goes to anybody. Members are in the order in which they joined; Go's order of racks decides who
/// gets the remainders.
fn rack_affinity(group: &ClientGroup<'_>, draws: &mut GoDraws) -> MemberLists {
    let mut lists = vec![Vec::new(); group.members()];
    for (topic, members) in numbered(group.subscribers_of(group.joined.iter().copied())) {
        if !members.is_empty() {
            for (member, list) in assign_topic(group, topic, &members, draws) {
                lists[member].extend(list);
            }
        }
    }
    lists
}

/// Whether the order of racks may matter: if a topic has partitions in several racks.
fn has_choice(group: &ClientGroup<'_>) -> bool {
    group.topics().any(|topic| {
        let mut racks = group.row.of(topic).map(|partition| group.leader_racks[partition]);
        let first = racks.next();
        racks.any(|rack| Some(rack) != first)
    })
}

/// `assignTopic`.
fn assign_topic(
    group: &ClientGroup<'_>,
    topic: TopicIx,
    members: &[MemberIx],
    draws: &mut GoDraws,
) -> BTreeMap<MemberIx, Vec<PartitionIx>> {
    // A rack's key is its number plus 1; members and leaders without a rack have the empty name, which counts
    // as a rack too.
    let key = |rack: Option<u32>| rack.map_or(0, |rack| rack + 1);
    let mut zones: BTreeMap<u32, Vec<PartitionIx>> = BTreeMap::new();
    let mut order = GoMap::new(draws, 0);
    for partition in group.row.of(topic) {
        let zone = key(group.leader_racks[partition]);
        zones.entry(zone).or_default().push(partition);
        order.put(zone);
    }
    let mut consumers: BTreeMap<u32, Vec<MemberIx>> = BTreeMap::new();
    for &member in members {
        consumers.entry(key(group.member_racks[member])).or_default().push(member);
    }
    let count = group.row.count(topic) as usize;
    let (target, mut remainder) = (count / members.len(), count % members.len());
    let mut lists: BTreeMap<MemberIx, Vec<PartitionIx>> = BTreeMap::new();
    for zone in order.walk(draws) {
        let (Some(partitions), Some(consumers)) = (zones.get_mut(&zone), consumers.get(&zone)) else {
            continue;
        };
        let each = (partitions.len() / consumers.len()).min(target);
        for consumer in consumers {
            lists.entry(*consumer).or_default().extend(partitions.drain(..each));
        }
        let mut left = partitions.len();
        if each == target {
            left = left.min(remainder).min(consumers.len());
            remainder -= left;
        }
        for (consumer, partition) in consumers.iter().zip(partitions.drain(..left)) {
            lists.entry(*consumer).or_default().push(partition);
        }
        if partitions.is_empty() {
            order.remove(zone);
        }
    }
    let mut left = order.walk(draws).into_iter().flat_map(|zone| zones.remove(&zone).unwrap_or_default());
    for member in members {
        let list = lists.entry(*member).or_default();
        let mut missing = target.saturating_sub(list.len());
        if target >= list.len() && remainder > 0 {
            missing += 1;
            remainder -= 1;
        }
        list.extend(left.by_ref().take(missing));
    }
    lists
}

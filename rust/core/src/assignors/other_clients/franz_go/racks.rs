//! Racks of members and of partitions' leaders (`initRacks`).

use super::balancer::{Balancer, RackNumbers};
use crate::assignors::other_clients::go_group::GoGroup;
use crate::index::{Ix, MemberIx, TopicIx};

impl RackNumbers {
    /// `initRacks`, if members and leaders have racks; topics come in the order of a map of their own.
    pub(super) fn new(
        balancer: &Balancer,
        group: &GoGroup<'_>,
        members: &[MemberIx],
        topics: &[TopicIx],
    ) -> Option<Self> {
        let mut known: Vec<u32> = Vec::new();
        let mut number = |rack: Option<u32>| {
            let Some(rack) = rack else { return 0 };
            let place = known.iter().position(|&other| other == rack).unwrap_or_else(|| {
                known.push(rack);
                known.len() - 1
            });
            u32::try_from(place + 1).unwrap_or(0)
        };
        let of_members: Vec<u32> = members.iter().map(|&member| number(group.member_racks[member])).collect();
        let mut partitions = vec![0; balancer.row.len()];
        for &name in topics {
            let topic = TopicIx::at(balancer.names.iter().position(|&other| other == name)?);
            for partition in balancer.row.of(topic) {
                let leader = group.leader_racks[balancer.in_group(group, partition)];
                partitions[partition] = number(leader);
            }
        }
        let some = |racks: &[u32]| racks.iter().any(|&rack| rack != 0);
        (some(&of_members) && some(&partitions)).then_some(Self {
            members: of_members,
            partitions,
            count: known.len(),
        })
    }
}

//! Partitions that nobody had go to the least loaded member that reads the topic, by heaps as in franz-go.

use super::FranzVersion;
use super::sticky::{Balancer, RackNumbers};
use crate::index::{MemberIx, PartitionIx, TopicIx};

/// Gives every partition that nobody has to a member.
pub(super) fn assign(balancer: &mut Balancer<'_>) {
    if balancer.complex {
        if balancer.version < FranzVersion::V1_22 {
            by_scanning(balancer);
        } else {
            by_heaps(balancer);
        }
        return;
    }
    if balancer.racks.is_some() {
        in_their_racks(balancer);
    }
    let mut heap = balancer.subscribers[0].clone();
    initialize(&mut heap, &balancer.plan);
    for partition in balancer.unowned() {
        balancer.give(partition, heap[0]);
        sift_down(&mut heap, 0, &balancer.plan);
    }
}

/// `assignRackAware`: to the least loaded member in the rack of the partition's leader, up to an even share.
fn in_their_racks(balancer: &mut Balancer<'_>) {
    let Some(racks) = balancer.racks.take() else { return };
    let (partitions, members) = (balancer.row.len(), balancer.plan.len());
    let is_old = balancer.version < FranzVersion::V1_22;
    let most = if is_old { partitions.div_ceil(members) } else { partitions / members };
    let mut heaps = by_rack(&racks, &balancer.subscribers[0]);
    for heap in &mut heaps {
        initialize(heap, &balancer.plan);
    }
    for partition in balancer.unowned() {
        let rack = racks.partitions[partition];
        let heap = &mut heaps[rack as usize];
        let candidate = heap.first().copied().filter(|&member| balancer.plan[member].len() < most);
        if let Some(member) = candidate.filter(|_| rack != 0) {
            balancer.give(partition, member);
            sift_down(heap, 0, &balancer.plan);
            if is_old {
                balancer.owner[partition].original = member;
            }
        }
    }
    balancer.racks = Some(racks);
}

/// `assignUnassignedComplex`: a heap for each topic, or with racks for each topic and rack.
fn by_heaps(balancer: &mut Balancer<'_>) {
    let racks = balancer.racks.take();
    let (mut heaps, mut topic) = (Vec::new(), TopicIx::NONE);
    for partition in balancer.unowned() {
        let own = balancer.row.topic(partition);
        if own != topic {
            topic = own;
            let subscribers = &balancer.subscribers[topic];
            heaps =
                racks.as_ref().map_or_else(|| vec![subscribers.clone()], |racks| by_rack(racks, subscribers));
            for heap in &mut heaps {
                initialize(heap, &balancer.plan);
            }
        }
        let load = |heap: &Vec<MemberIx>| heap.first().map(|&member| balancer.plan[member].len());
        let Some(least) = heaps.iter().filter_map(load).min() else { continue };
        let own = racks.as_ref().map_or(0, |racks| racks.partitions[partition] as usize);
        let best = if own != 0 && load(&heaps[own]) == Some(least) {
            Some(own)
        } else {
            heaps.iter().position(|heap| load(heap) == Some(least))
        };
        if let Some(heap) = best.map(|best| &mut heaps[best]) {
            balancer.give(partition, heap[0]);
            sift_down(heap, 0, &balancer.plan);
        }
    }
    balancer.racks = racks;
}

/// The same before 1.22: the first one of the least loaded, or the first one in the rack of the partition's leader.
fn by_scanning(balancer: &mut Balancer<'_>) {
    for partition in balancer.unowned() {
        let topic = balancer.row.topic(partition);
        let rack = balancer.racks.as_ref().map_or(0, |racks| racks.partitions[partition]);
        let elsewhere = |member: MemberIx| {
            rack == 0 || balancer.racks.as_ref().is_none_or(|racks| racks.members[member] != rack)
        };
        let subscribers = balancer.subscribers[topic].iter().copied();
        let best = subscribers.min_by_key(|&member| (balancer.plan[member].len(), elsewhere(member)));
        if let Some(member) = best {
            balancer.give(partition, member);
        }
    }
}

/// Members by rack; rack 0 has those without one.
fn by_rack(racks: &RackNumbers, members: &[MemberIx]) -> Vec<Vec<MemberIx>> {
    let mut heaps = vec![Vec::new(); racks.count + 1];
    for &member in members {
        heaps[racks.members[member] as usize].push(member);
    }
    heaps
}

/// `membersByPartitions.init`: a heap by how many partitions members have.
fn initialize(heap: &mut [MemberIx], plan: &[Vec<PartitionIx>]) {
    for node in (0..heap.len() / 2).rev() {
        sift_down(heap, node, plan);
    }
}

/// `membersByPartitions.down`.
fn sift_down(heap: &mut [MemberIx], mut node: usize, plan: &[Vec<PartitionIx>]) {
    let load = |member: MemberIx| plan[member].len();
    loop {
        let (left, right) = (2 * node + 1, 2 * node + 2);
        if left >= heap.len() {
            return;
        }
        let child = if right < heap.len() && load(heap[right]) < load(heap[left]) { right } else { left };
        if load(heap[node]) <= load(heap[child]) {
            return;
        }
        heap.swap(node, child);
        node = child;
    }
}

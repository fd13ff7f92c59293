//! `cooperative-sticky`: the general algorithm of KIP-54 for every group.

use std::collections::BinaryHeap;

use super::adjustment::adjust;
use super::balance::Balance;
use super::claims::Claims;
use super::fails::dies;
use super::leader::Leader;
use super::readers::Readers;
use crate::Result;
use crate::assignors::other_clients::answer;
use crate::assignors::{Assignment, Given};

/// `rd_kafka_sticky_assignor_assign_cb` and the adjustment.
pub(super) fn assign(given: &Given<'_>) -> Result<Assignment> {
    let leader = Leader::new(given)?;
    if leader.members.is_empty() {
        return Err(dies(
            "no member has a subscription that it can read, upon which librdkafka reads past its list",
        ));
    }
    let mut claims = Claims::new(&leader);
    let readers = Readers::new(&leader);
    let sorted = sorted_partitions(&leader, &mut claims, &readers);
    let lists = Balance::new(&leader, &claims, readers).run(sorted)?;
    let adjusted = adjust(&leader, &claims, &lists);
    let pair = |&partition: &u32| match (partition as usize).checked_sub(leader.group.partitions()) {
        Some(absent) => claims.absent[absent],
        None => leader.group.pair(partition),
    };
    let of = |&number: &u32| adjusted[number as usize].iter().map(pair).collect();
    Ok(answer(&leader.group.numbers.iter().map(of).collect::<Vec<_>>(), None))
}

/// `areSubscriptionsIdentical`: as far as topics have partitions.
fn are_identical(leader: &Leader<'_>) -> bool {
    let mut there = leader.topics.iter().filter(|topic| leader.count(topic.topic) > 0);
    there.all(|topic| topic.members.len() == leader.members.len())
}

/// `sortPartitions`: the order in which partitions are looked at.
fn sorted_partitions(leader: &Leader<'_>, claims: &mut Claims, readers: &Readers) -> Vec<u32> {
    let group = &leader.group;
    if !are_identical(leader) {
        let mut all: Vec<u32> = (0..).take(group.partitions()).collect();
        all.sort_by_key(|&partition| readers.of_topic[group.topic_of[partition as usize] as usize].len());
        return all;
    }
    let is_there = |partition: &u32| (*partition as usize) < group.partitions();
    let mut lists: Vec<Vec<u32>> = claims
        .lists
        .iter_mut()
        .map(|list| {
            list.sort_unstable();
            list.iter().copied().filter(is_there).collect()
        })
        .collect();
    let (mut sorted, mut taken) = (Vec::new(), vec![false; group.partitions()]);
    let mut heap: BinaryHeap<_> = (0_u32..).zip(&lists).map(|(member, list)| (list.len(), member)).collect();
    while let Some((_, member)) = heap.pop() {
        let list = &mut lists[member as usize];
        if list.is_empty() {
            continue;
        }
        let back = list.iter().position(|partition| claims.previous.contains_key(partition));
        let partition = list.remove(back.unwrap_or(0));
        taken[partition as usize] = true;
        sorted.push(partition);
        heap.push((list.len(), member));
    }
    let was_empty = sorted.is_empty();
    // Its map is walked newest entry first, and was filled topic by topic of the Metadata response.
    for topic in leader.topics.iter().rev() {
        sorted.extend(group.of_topic(topic.topic).rev().filter(|&partition| !taken[partition as usize]));
    }
    if was_empty {
        sorted.sort_unstable();
    }
    sorted
}

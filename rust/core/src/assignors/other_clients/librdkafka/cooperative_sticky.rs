//! `cooperative-sticky`: the general algorithm of KIP-54 for every group.

use std::collections::BinaryHeap;

use super::adjustment::adjust;
use super::balance::Balance;
use super::claims::Claims;
use super::leader::Leader;
use crate::assignors::other_clients::answer;
use crate::assignors::{Assignment, Given};
use crate::{Error, Result};

/// Its name.
pub(super) const NAME: &str = "librdkafka:cooperative-sticky";

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

/// The leader's process dies.
pub(super) fn dies(reason: &str) -> Error {
    let reason = format!("{reason} and dies (since 1.6.0, and 2.16.0 still does)");
    Error::ClientFails { assignor: NAME, reason }
}

/// Who may read what.
pub(super) struct Readers {
    /// By topic its readers in the order of members.
    pub(super) of_topic: Vec<Vec<u32>>,
    /// By member its topics, sorted, each once.
    pub(super) topics: Vec<Vec<u32>>,
    /// By member how many partitions its topics have.
    pub(super) most: Vec<usize>,
}

impl Readers {
    fn new(leader: &Leader<'_>) -> Self {
        let mut readers = Self {
            of_topic: vec![Vec::new(); leader.group.topics.len()],
            topics: vec![Vec::new(); leader.group.members()],
            most: vec![0; leader.group.members()],
        };
        let mut topics: Vec<_> = leader.topics.iter().collect();
        topics.sort_by_key(|topic| topic.topic);
        for topic in topics {
            for &member in &topic.members {
                readers.topics[member as usize].push(topic.topic);
                readers.most[member as usize] += leader.count(topic.topic);
            }
            readers.of_topic[topic.topic as usize].clone_from(&topic.members);
        }
        readers
    }

    pub(super) fn reads(&self, member: u32, topic: u32) -> bool {
        self.topics[member as usize].binary_search(&topic).is_ok()
    }
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

//! `roundrobin`: all partitions in turn.

use super::leader::Leader;
use super::version::LibrdkafkaVersion;
use crate::Result;
use crate::assignors::{Assignment, Input};

/// `rd_kafka_roundrobin_assignor_assign_cb`.
pub(super) fn assign(input: &Input<'_>) -> Result<Assignment> {
    let leader = Leader::new(input, LibrdkafkaVersion::Today)?;
    let mut lists = vec![Vec::new(); leader.group.members()];
    let mut topics: Vec<_> = leader.topics.iter().map(|topic| topic.topic).collect();
    topics.sort_unstable();
    let mut turns = leader.sorted(&leader.members).into_iter().cycle();
    for topic in topics {
        for partition in leader.group.row.of(topic) {
            let member = turns.find(|&member| leader.group.subscribed[member].contains(&topic));
            if let Some(member) = member {
                lists[member].push(partition);
            }
        }
    }
    Ok(leader.group.answer(&lists, None))
}

//! `range`: each topic's partitions in ranges over its members, by rack first if racks matter (KIP-881).

use super::LibrdkafkaVersion;
use super::leader::{Leader, ReadTopic};
use crate::Result;
use crate::assignors::range_topic::{RangeTopic, deal_together};
use crate::assignors::{Assignment, Input};
use crate::index::{MemberIx, PartitionIx};

/// `rd_kafka_range_assignor_assign_cb`.
pub(super) fn assign(input: &Input<'_>, version: LibrdkafkaVersion) -> Result<Assignment> {
    let mut leader = Leader::new(input, version)?;
    let mut topics = std::mem::take(&mut leader.topics);
    for topic in &mut topics {
        topic.members = leader.sorted(&topic.members);
    }
    if version.has_racks() {
        // Topics with the same members and equally many partitions are together.
        topics.sort_by(|one, other| {
            let count = |topic: &ReadTopic| leader.count(topic.topic);
            one.members.cmp(&other.members).then_with(|| count(one).cmp(&count(other)))
        });
    }
    let mut states: Vec<_> = topics
        .iter()
        .map(|topic| RangeTopic::new((&topic.members[..]).into(), leader.group.row.numbers(topic.topic)))
        .collect();
    let is_near = |member: MemberIx, partition: PartitionIx| {
        let (topic, number) = (leader.group.row.topic(partition), leader.group.row.number(partition));
        leader.rack(member).map(|rack| leader.racks(topic, number as usize).contains(&rack))
    };
    let (mut dealt, mut place) = (Vec::new(), 0);
    let alike = |one: &RangeTopic, other: &RangeTopic| {
        one.members == other.members && one.partitions() == other.partitions()
    };
    for bucket in states.chunk_by_mut(alike) {
        let topic = std::slice::from_ref(&topics[place]);
        place += bucket.len();
        match bucket {
            // `rd_kafka_assign_ranges`: by rack, a member without one takes any partition.
            [state] if leader.has_racks(topic) => {
                state.deal_matching(
                    |member, partition| is_near(member, partition).unwrap_or(true),
                    &mut dealt,
                );
            }
            [_] => {}
            // `rd_kafka_assign_co_partitioned`: a member without a rack is near none.
            several => {
                let mut several: Vec<_> = several.iter_mut().collect();
                deal_together(
                    &mut several,
                    |member, partition| is_near(member, partition) == Some(true),
                    &mut dealt,
                );
            }
        }
    }
    for state in &mut states {
        state.deal_ranges(&mut dealt);
    }
    let mut lists = vec![Vec::new(); leader.group.members()];
    for (member, partition) in dealt {
        lists[member].push(partition);
    }
    Ok(leader.group.answer(&lists, None))
}

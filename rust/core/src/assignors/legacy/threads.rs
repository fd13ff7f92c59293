//! The assignors of the consumers before Kafka 0.11: partitions go to consumer threads, by their names. A member of the
//! group is a thread here.

use crate::assignors::group::Group;
use crate::assignors::java_order::hash_code;
use crate::assignors::lists::Lists;
use crate::assignors::round_robin::places;

/// `kafka.consumer.RangeAssignor`: each topic by itself, in ranges over its threads. Each thread's list is by topic.
pub(super) fn range(group: &Group<'_>) -> Lists<u32> {
    let threads = by_name(group);
    let mut dealt = Vec::with_capacity(group.partitions() as usize);
    for (topic, readers) in places(group, &threads).into_iter().enumerate() {
        let partitions: Vec<_> = (group.starts[topic]..group.starts[topic + 1]).collect();
        let (mut rest, count) = (&partitions[..], readers.len());
        for (place, thread) in readers.into_iter().enumerate() {
            let extra = usize::from(place < partitions.len() % count);
            let (range, left) = rest.split_at(partitions.len() / count + extra);
            dealt.extend(range.iter().map(|&partition| (threads[thread], partition)));
            rest = left;
        }
    }
    Lists::dealt(group.members(), &dealt)
}

/// `kafka.consumer.RoundRobinAssignor`: all partitions in turn over the threads, who are passed over where they do not
/// subscribe. Partitions come by the hash code of their texts, or as `order` has them; so is each thread's list.
pub(super) fn round_robin(group: &Group<'_>) -> Lists<u32> {
    let threads = by_name(group);
    let places = places(group, &threads);
    let mut next = 0;
    let deal = |partition: u32| {
        let readers = &places[group.topic_of[partition as usize] as usize];
        let turn = readers.partition_point(|&place| place < next);
        let place = readers.get(turn).or(readers.first()).copied().unwrap_or_default();
        next = place + 1;
        (threads[place], partition)
    };
    let dealt: Vec<_> = order(group).into_iter().map(deal).collect();
    Lists::dealt(group.members(), &dealt)
}

/// The threads are numbered by their names.
fn by_name(group: &Group<'_>) -> Vec<u32> {
    (0..).take(group.members()).collect()
}

/// All partitions in the order in which they are dealt. Of two whose texts have one hash code that one comes first whose
/// topic does; in Kafka the order of Scala's map of topics decides there, which is filled in no order of its own.
fn order(group: &Group<'_>) -> Vec<u32> {
    if group.order.is_empty() {
        let mut partitions: Vec<u32> = (0..group.partitions()).collect();
        let text = |partition: u32| {
            let topic = group.topics[group.topic_of[partition as usize] as usize];
            format!("[{topic},{}]", group.number(partition))
        };
        partitions.sort_by_cached_key(|&partition| hash_code(&text(partition)));
        return partitions;
    }
    group.order.iter().copied().filter(|&partition| partition < group.partitions()).collect()
}

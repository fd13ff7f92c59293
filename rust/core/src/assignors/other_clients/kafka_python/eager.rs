//! `RangePartitionAssignor` and `RoundRobinPartitionAssignor`.

use crate::assignors::other_clients::{answer, in_byte_order};
use crate::assignors::{Assignment, Input};
use crate::index::marked;
use crate::{Error, Result};

/// Sorts members, as places in the input, into the order of their turns.
pub(super) type MemberOrder = fn(&Input<'_>, &[u32]) -> Vec<u32>;

/// By their IDs only.
pub(super) fn by_id(input: &Input<'_>, members: &[u32]) -> Vec<u32> {
    let mut sorted = members.to_vec();
    sorted.sort_by_key(|&member| input.members[member as usize]);
    sorted
}

/// Static members first, by instance ID, then the others by ID. If one kind forms several runs in the input, only the
/// last run survives, because `itertools.groupby` groups neighbours and a `dict` keeps the last group of a key.
pub(super) fn last_runs(input: &Input<'_>, members: &[u32]) -> Vec<u32> {
    let is_static = |member: &u32| input.instance_ids[*member as usize].is_some();
    let mut runs = [Vec::new(), Vec::new()];
    for run in members.chunk_by(|one, other| is_static(one) == is_static(other)) {
        runs[usize::from(!is_static(&run[0]))] = run.to_vec();
    }
    for run in &mut runs {
        run.sort_by_key(|&member| (input.instance_ids[member as usize], input.members[member as usize]));
    }
    runs.concat()
}

/// `RangePartitionAssignor.assign`. A member that names a topic twice is in its row twice, and its last range counts.
pub(super) fn range(input: &Input<'_>, order: MemberOrder) -> Assignment {
    let mut readers = vec![Vec::new(); input.topics.len()];
    for member in 0..input.members.len() {
        for &topic in input.subscribed.get(member) {
            readers[topic as usize].push(u32::try_from(member).unwrap_or(u32::MAX));
        }
    }
    let mut lists = vec![Vec::new(); input.members.len()];
    for topic in in_byte_order(&input.topics) {
        let row = order(input, &readers[topic as usize]);
        if row.is_empty() {
            continue;
        }
        let count = input.partitions[topic as usize] as usize;
        let (each, extra) = (count / row.len(), count % row.len());
        for (place, &member) in row.iter().enumerate() {
            if row[place + 1..].contains(&member) {
                continue;
            }
            let start = each * place + place.min(extra);
            let end = start + each + usize::from(place < extra);
            let numbers = (0_i32..).skip(start).take(end - start);
            lists[member as usize].extend(numbers.map(|number| (topic, number)));
        }
    }
    answer(&lists, None)
}

/// `RoundRobinPartitionAssignor.assign`. If it `raises`, it takes a static member's pair of IDs for an ID as
/// soon as a member has to be skipped.
pub(super) fn round_robin(input: &Input<'_>, order: MemberOrder, raises: bool) -> Result<Assignment> {
    let members: Vec<u32> = (0..).take(input.members.len()).collect();
    let mut turns = order(input, &members).into_iter().cycle();
    let mut lists = vec![Vec::new(); input.members.len()];
    let is_read = marked(input.topics.len(), input.subscribed.values.iter().copied());
    for topic in in_byte_order(&input.topics) {
        let count = if is_read[topic as usize] { input.partitions[topic as usize] } else { 0 };
        for number in 0..count.cast_signed() {
            let reads = |member: u32| input.subscribed.get(member as usize).contains(&topic);
            for member in turns.by_ref() {
                if reads(member) {
                    lists[member as usize].push((topic, number));
                    break;
                }
                if raises {
                    let (member, topic) = (input.members[member as usize], input.topics[topic as usize]);
                    let reason = format!(
                        "member {member:?} is in turn for topic {topic:?} and does not subscribe to it, upon which \
                         kafka-python 2.3.0 and later throws KeyError, and so does whoever leads next"
                    );
                    return Err(Error::client_fails(reason));
                }
            }
        }
    }
    Ok(answer(&lists, None))
}

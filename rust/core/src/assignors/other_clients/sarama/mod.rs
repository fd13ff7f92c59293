//! The assignors of sarama 1.61.1 (`balance_strategy.go`), and what `range` and `roundrobin` were before.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `sticky` | `sticky` and `cooperative-sticky`: Java's algorithm of 2.3, in the order of Go's maps |
//! | `claims` | what members say that they own, and who is believed |

mod claims;
mod sticky;

use super::ClientAssignor;
use super::client_group::{ClientGroup, MAP_ORDER};
use crate::assignors::lists::MemberLists;
use crate::assignors::lists::take_turn;
use crate::assignors::{Assignment, Chance, Input};
use crate::index::{MemberIx, PartitionIx, numbered};
use crate::{Error, Result};

/// Its assignors.
pub(super) const ASSIGNORS: &[ClientAssignor] = &[
    ClientAssignor::new("sarama:range", |input| assigned(input, range)),
    ClientAssignor::new("sarama:range@1.34.0", |input| assigned(input, range_until_1_34)),
    ClientAssignor::new("sarama:roundrobin", |input| {
        if input.subscribed.values.is_empty() {
            let reason =
                "no member reads a topic, and sarama answers \"members and topics are not provided\"";
            return Err(Error::client_fails(reason));
        }
        assigned(input, round_robin)
    }),
    ClientAssignor::new("sarama:roundrobin@1.27", |input| assigned(input, round_robin_until_1_27)),
    ClientAssignor::new("sarama:sticky", |input| sticky(input, false)),
    ClientAssignor::new("sarama:cooperative-sticky", |input| sticky(input, true)),
];

fn assigned(input: &Input<'_>, lists: fn(&ClientGroup<'_>) -> MemberLists) -> Result<Assignment> {
    let group = known(input)?;
    Ok(group.named(lists(&group), None))
}

fn sticky(input: &Input<'_>, cooperative: bool) -> Result<Assignment> {
    let group = known(input)?;
    let lists = sticky::assign(&group, cooperative, &mut group.draws()).ok_or_else(|| {
        let reason = "sarama moves its partitions in a circle, for ever";
        Error::client_fails(reason)
    })?;
    let chance = Chance { why: MAP_ORDER, same: &[] };
    Ok(group.named(lists, (group.members() > 1 || group.row.len() > 1).then_some(chance)))
}

/// A group all of whose topics the brokers know: sarama asks for the partitions of each before it assigns any.
fn known<'a>(input: &'a Input<'a>) -> Result<ClientGroup<'a>> {
    let unknown = input.subscribed.values.iter().find(|&&topic| input.partitions[topic as usize] == 0);
    if let Some(&topic) = unknown {
        let name = input.topics[topic as usize];
        let reason = format!(
            "topic {name:?} has no partitions, so the leader's client fails with ErrUnknownTopicOrPartition before it \
             assigns any; create the topic or take it out of the subscriptions"
        );
        return Err(Error::client_fails(reason));
    }
    ClientGroup::new(input)
}

/// `NewBalanceStrategyRange`: each topic by itself; the first members get the remainder.
fn range(group: &ClientGroup<'_>) -> MemberLists {
    let mut subscribers = group.subscribers();
    subscribers.iter_mut().for_each(Vec::dedup);
    group.in_ranges(subscribers, |place, partitions, members| {
        place * (partitions / members) + place.min(partitions % members)
    })
}

/// The same up to 1.34.0: members in the order of a hash of topic and id, and bounds that are rounded.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sarama works out the bounds in floating point"
)]
fn range_until_1_34(group: &ClientGroup<'_>) -> MemberLists {
    group.in_ranges(subscribers_by_hash(group), |place, partitions, members| {
        (place as f64 * (partitions as f64 / members as f64) + 0.5).floor() as usize
    })
}

/// `NewBalanceStrategyRoundRobin`: all partitions in turn, in the order of the text of topic and number, where 10
/// comes before 2.
fn round_robin(group: &ClientGroup<'_>) -> MemberLists {
    let mut lists = vec![Vec::new(); group.members()];
    let text = |(partition, topic)| {
        (format!("{}-{}", group.topic_name(topic), group.row.number(partition)), partition)
    };
    let mut partitions: Vec<(String, PartitionIx)> = group.row.topics().map(text).collect();
    // The sort is stable. Texts could be equal only if topic `a` had a partition `1-0` next to partition `0` of topic
    // `a-1`.
    partitions.sort_by(|(one, _), (other, _)| one.cmp(other));
    let places = group.subscribers();
    let mut next = 0;
    for (_, partition) in partitions {
        lists[take_turn(&places[group.row.topic(partition)], &mut next)].push(partition);
    }
    lists
}

/// The same up to 1.27: each topic by itself, over its members in the order of a hash of topic and id.
fn round_robin_until_1_27(group: &ClientGroup<'_>) -> MemberLists {
    let mut lists = vec![Vec::new(); group.members()];
    for (topic, members) in numbered(subscribers_by_hash(group)) {
        for (&member, partition) in members.iter().cycle().zip(group.row.of(topic)) {
            lists[member].push(partition);
        }
    }
    lists
}

/// By topic its subscribers as `balanceStrategySortable` sorts them.
fn subscribers_by_hash(group: &ClientGroup<'_>) -> Vec<Vec<MemberIx>> {
    let mut subscribers = group.subscribers();
    for (topic, members) in numbered(&mut subscribers) {
        let hash = |member: &MemberIx| {
            let letters = group.topic_name(topic).chars().chain(group.member_name(*member).chars());
            letters
                .fold(2_166_136_261_u32, |hash, letter| (hash ^ u32::from(letter)).wrapping_mul(16_777_619))
        };
        members.sort_by_cached_key(hash);
    }
    subscribers
}

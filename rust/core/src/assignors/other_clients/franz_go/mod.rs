//! The assignors of franz-go (`pkg/kgo/group_balancer.go`, `pkg/kgo/internal/sticky`): 1.22.2, and two older ones.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `sticky` | the steps of a sticky balancing, and what members own |
//! | `unassigned` | who gets what nobody had |
//! | `steal_graph` | who takes a partition from whom, where members read different topics |
//! | `repair` | the fewest moves among all answers of the same sizes, since 1.22 |

mod repair;
mod steal_graph;
mod sticky;
mod unassigned;

use super::ClientAssignor;
use super::client_group::{ClientGroup, MAP_ORDER};
use crate::assignors::lists::MemberLists;
use crate::assignors::lists::take_turn;
use crate::assignors::{Assignment, Chance, Input};
use crate::index::{MemberIx, numbered};
use crate::java::strings::sort_static_first;
use crate::{Error, Result};

/// Its assignors.
pub(super) const ASSIGNORS: &[ClientAssignor] = &[
    ClientAssignor::new("franz-go:range", |input| ranged(input, FranzVersion::V1_22)),
    ClientAssignor::new("franz-go:range@1.21", |input| ranged(input, FranzVersion::V1_21)),
    ClientAssignor::new("franz-go:roundrobin", |input| {
        let group = ClientGroup::new(input)?;
        Ok(group.named(round_robin(&group), None))
    }),
    ClientAssignor::new("franz-go:sticky", |input| balanced(input, FranzVersion::V1_22, false)),
    ClientAssignor::new("franz-go:sticky@1.21", |input| balanced(input, FranzVersion::V1_21, false)),
    ClientAssignor::new("franz-go:sticky@1.20", |input| balanced(input, FranzVersion::V1_20, false)),
    ClientAssignor::new("franz-go:cooperative-sticky", |input| balanced(input, FranzVersion::V1_22, true)),
    ClientAssignor::new("franz-go:cooperative-sticky@1.21", |input| {
        balanced(input, FranzVersion::V1_21, true)
    }),
    ClientAssignor::new("franz-go:cooperative-sticky@1.20", |input| {
        balanced(input, FranzVersion::V1_20, true)
    }),
];

/// Which franz-go leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FranzVersion {
    /// Before 1.21: no racks.
    V1_20,
    /// 1.21, from 1.21.4 on: racks if members have them.
    V1_21,
    /// 1.22 and later: racks only with `BalanceRacks`, and the fewest moves.
    V1_22,
}

impl FranzVersion {
    /// The group, and whether racks matter.
    fn group<'a>(self, input: &'a Input<'a>) -> Result<(ClientGroup<'a>, bool)> {
        let balance_racks = input.options.balance_racks;
        if balance_racks && self < Self::V1_22 {
            let reason = "BalanceRacks is there since franz-go 1.22.0 (1.21 balances by rack wherever members have one); \
                          leave balance_racks out";
            return Err(Error::client_fails(reason));
        }
        Ok((ClientGroup::new(input)?, balance_racks || self == Self::V1_21))
    }
}

fn ranged(input: &Input<'_>, version: FranzVersion) -> Result<Assignment> {
    let (group, racks) = version.group(input)?;
    Ok(group.named(range(&group, racks), None))
}

fn balanced(input: &Input<'_>, version: FranzVersion, cooperative: bool) -> Result<Assignment> {
    let (group, racks) = version.group(input)?;
    let lists = sticky::assign(&group, version, racks, cooperative, &mut group.draws()).ok_or_else(|| {
        let reason = "a partition that a member of an older generation claims has lost its owner, upon which franz-go \
                      before 1.21.4 panics (index out of range) in some orders of its maps";
        Error::client_fails(reason)
    })?;
    // The order decides what a partition's second claimant gets back, and withheld partitions change the sizes.
    let (newest, clear) = (version == FranzVersion::V1_22, sticky::doubly_claimed(&group) == 0);
    let same: &[_] = match (cooperative, newest, clear) {
        (false, true, true) => &["sizes", "moves"],
        (false, true, false) | (false, false, true) => &["sizes"],
        (true, true, true) => &["moves"],
        _ => &[],
    };
    let chance = Chance { why: MAP_ORDER, same };
    Ok(group.named(lists, sticky::has_choice(&group).then_some(chance)))
}

/// Members in the leader's order: first those with an instance ID, by that, then the others by their IDs.
fn static_first(group: &ClientGroup<'_>) -> Vec<MemberIx> {
    let mut members = group.joined.clone();
    sort_static_first(&mut members, |member| group.instances[member], |member| member.0);
    members
}

/// `RangeBalancer`: each topic by itself; with racks, first the partitions whose leaders are in a member's rack.
fn range(group: &ClientGroup<'_>, racks: bool) -> MemberLists {
    let mut lists = vec![Vec::new(); group.members()];
    for (topic, members) in numbered(group.subscribers_of(static_first(group).into_iter())) {
        let mut left: Vec<_> = group.row.of(topic).collect();
        let share = |place| left.len() / members.len() + usize::from(place < left.len() % members.len());
        let mut missing: Vec<usize> = (0..members.len()).map(share).collect();
        for (&member, missing) in members.iter().zip(&mut missing) {
            let rack = group.member_racks[member];
            if racks && rack.is_some() {
                left.retain(|&partition| {
                    let takes = *missing > 0 && group.leader_racks[partition] == rack;
                    if takes {
                        lists[member].push(partition);
                        *missing -= 1;
                    }
                    !takes
                });
            }
        }
        let mut left = left.into_iter();
        for (&member, missing) in members.iter().zip(missing) {
            lists[member].extend(left.by_ref().take(missing));
        }
    }
    sorted(lists)
}

/// `RoundRobinBalancer`: all partitions in turn over the members, skipping those that do not subscribe.
fn round_robin(group: &ClientGroup<'_>) -> MemberLists {
    let members = static_first(group);
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); group.topics().len()];
    for (place, &member) in members.iter().enumerate() {
        for &topic in group.subscribed.get(member) {
            places[topic].push(place);
        }
    }
    let mut lists = vec![Vec::new(); group.members()];
    let mut next = 0;
    for (partition, topic) in group.row.topics() {
        lists[members[take_turn(&places[topic], &mut next)]].push(partition);
    }
    lists
}

/// Lists as they are sent (`IntoSyncAssignment`).
fn sorted(mut lists: MemberLists) -> MemberLists {
    for list in &mut lists {
        list.sort_unstable();
    }
    lists
}

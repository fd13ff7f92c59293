//! The sticky algorithm up to Kafka 2.8 for members that may have different subscriptions: assign, balance, and revert
//! if nothing was gained (`generalAssign` of 2.8, and all of 2.3's `StickyAssignor.assign`).

use super::owned_partitions::{LegacyClaims, Owners};
use super::sticky_2_3_order;
use crate::assignors::client::balance::{Balance, BalanceRules};
use crate::assignors::client::group::JavaGroup;
use crate::assignors::client::subscriptions::TopicReaders;
use crate::assignors::lists::MemberLists;
use crate::index::{MemberIx, PartitionIx, marked};
use crate::{Error, Result};

/// What each member reads under Kafka 2.8, which has already looked at some members when it finds unequal
/// subscriptions. It has read their user data to the end, and finds nothing there the second time: members of
/// `StickyAssignor` lose what they own, `cooperative` members lose their generation.
pub(super) fn assign(
    group: &JavaGroup<'_>,
    claims: &LegacyClaims,
    looked_at: &[MemberIx],
    cooperative: bool,
) -> Result<MemberLists> {
    let topics = TopicReaders::new(group);
    let mut generations: Vec<_> = group.generations.iter().copied().map(Some).collect();
    for &member in looked_at {
        generations[member] = cooperative.then_some(-1);
    }
    let owners = claims.owners(group, &generations);
    let sorted = topics.partitions(group);
    balance(group, &topics, owners, &sorted, true)
}

/// What each member reads under Kafka 2.3, which deals owned partitions in another order.
pub(super) fn assign_as_2_3(group: &JavaGroup<'_>, claims: &LegacyClaims) -> Result<MemberLists> {
    if group.members() == 0 {
        return Err(Error::throws("NoSuchElementException", "a group without members"));
    }
    let topics = TopicReaders::new(group);
    let generations: Vec<_> = group.generations.iter().copied().map(Some).collect();
    let owners = claims.owners(group, &generations);
    let sorted = sticky_2_3_order::sorted(group, claims, &topics, &owners);
    balance(group, &topics, owners, &sorted, false)
}

/// Keeps, assigns and balances. Kafka 2.8 first balances what nobody owned and then all partitions, unless some member
/// had to give one up.
fn balance(
    group: &JavaGroup<'_>,
    topics: &TopicReaders,
    owners: Owners,
    sorted: &[PartitionIx],
    unowned_first: bool,
) -> Result<MemberLists> {
    let (lists, revoked) = kept(group, topics, &owners);
    let is_kept = marked(group.row.len(), lists.iter().flatten().copied());
    let unassigned: Vec<_> = sorted.iter().copied().filter(|&partition| !is_kept[partition]).collect();
    let balance = Balance::new(group, topics, lists, owners.previous, BalanceRules::Kafka28);
    balance.run(&unassigned, sorted, false, unowned_first && !revoked)
}

/// What each member owns and may keep, in the order of Java's map of all claims; and whether a member had to give up
/// something that still exists.
fn kept(group: &JavaGroup<'_>, topics: &TopicReaders, owners: &Owners) -> (MemberLists, bool) {
    let mut lists = vec![Vec::new(); group.members()];
    let mut revoked = false;
    for &partition in owners.walk.iter().filter(|&&partition| !group.is_beyond(partition)) {
        let owner = owners.owner[partition];
        if topics.reads(owner, group.row.topic(partition)) {
            lists[owner].push(partition);
        } else {
            revoked = true;
        }
    }
    (lists, revoked)
}

//! Assignors that Kafka no longer has, exact to the last version that had them.
//!
//! | file | what it knows | exact to |
//! | --- | --- | --- |
//! | `sticky_2_8_constrained` | the sticky algorithm for equal subscriptions | kafka-clients 2.8.2 |
//! | `sticky_general` | the sticky algorithm for unequal ones, and 2.3's for all | kafka-clients 2.3.1 and 2.8.2 |
//! | `sticky_2_3_order` | the order in which 2.3 deals partitions | kafka-clients 2.3.1 |
//! | `owned_partitions` | what members say they own, and who is believed | kafka-clients 2.3.1 and 2.8.2 |
//! | `old_round_robin`, and `old_range` here | round robin and range by consumer thread | kafka_2.11 0.10.2.2 |

pub(super) mod old_round_robin;
mod owned_partitions;
mod sticky_2_3_order;
mod sticky_2_8_constrained;
mod sticky_general;

use super::client::group::JavaGroup;
use super::client::owned_partitions::first_unequal;
use super::client::{cooperative_sticky, range};
use super::lists::Lists;
use crate::Result;
use crate::index::PartitionIx;

/// `StickyAssignor`, and if `cooperative` `CooperativeStickyAssignor`, of Kafka 2.8.
pub(super) fn sticky_2_8(group: &JavaGroup<'_>, cooperative: bool) -> Result<Lists<PartitionIx>> {
    let claims = owned_partitions::LegacyClaims::new(group, cooperative);
    let lists = if let Some(place) = first_unequal(group) {
        let mut lists = sticky_general::assign(group, &claims, &group.walk[..place], cooperative)?;
        if cooperative {
            cooperative_sticky::withhold_transferred(group, &mut lists);
        }
        lists
    } else {
        sticky_2_8_constrained::assign(group, &claims, cooperative)?
    };
    Ok(Lists::of(&lists))
}

/// `StickyAssignor` of Kafka 2.3.
pub(super) fn sticky_2_3(group: &JavaGroup<'_>) -> Result<Lists<PartitionIx>> {
    let claims = owned_partitions::LegacyClaims::new(group, false);
    Ok(Lists::of(&sticky_general::assign_as_2_3(group, &claims)?))
}

/// `kafka.consumer.RangeAssignor` of Kafka 0.10: each topic by itself, in ranges over its consumer threads, which are a
/// group's members here. Each thread's list is by topic.
pub(super) fn old_range(group: &JavaGroup<'_>) -> Lists<PartitionIx> {
    let topics = group.by_name().filter(|&topic| group.row.count(topic) > 0);
    range::in_ranges(group, &range::members(group, group.by_id().collect()), topics)
}

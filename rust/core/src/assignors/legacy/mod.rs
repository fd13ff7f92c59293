//! Assignors that Kafka has no more, exact to the last version that had them.
//!
//! | file | what it knows | exact to |
//! | --- | --- | --- |
//! | `claims` | what members say they own, and who is believed | kafka-clients 2.3.1 and 2.8.2 |
//! | `constrained` | the sticky algorithm for equal subscriptions | kafka-clients 2.8.2 |
//! | `general`, `order` | the sticky algorithm for unequal ones, and 2.3's for all | kafka-clients 2.3.1 and 2.8.2 |
//! | `threads` | range and round robin by consumer thread | kafka_2.11 0.10.2.2 |

mod claims;
mod constrained;
mod general;
mod order;
mod threads;

use super::claims::first_unequal;
use super::cooperative;
use super::group::Group;
use super::lists::Lists;
use crate::Result;

/// `StickyAssignor`, and if `cooperative` `CooperativeStickyAssignor`, of Kafka 2.8.
pub(super) fn sticky_2_8(group: &Group<'_>, assignor: &'static str, cooperative: bool) -> Result<Lists<u32>> {
    let claims = claims::Claims::new(group, cooperative);
    let lists = if let Some(place) = first_unequal(group) {
        let mut lists = general::assign(group, &claims, &group.walk[..place], assignor, cooperative)?;
        if cooperative {
            cooperative::withhold(group, &mut lists);
        }
        lists
    } else {
        constrained::assign(group, &claims, assignor, cooperative)?
    };
    Ok(Lists::of(&lists))
}

/// `StickyAssignor` of Kafka 2.3.
pub(super) fn sticky_2_3(group: &Group<'_>, assignor: &'static str) -> Result<Lists<u32>> {
    let claims = claims::Claims::new(group, false);
    Ok(Lists::of(&general::assign_as_2_3(group, &claims, assignor)?))
}

/// `kafka.consumer.RangeAssignor` of Kafka 0.10.
pub(super) fn old_range(group: &Group<'_>) -> Lists<u32> {
    threads::range(group)
}

/// `kafka.consumer.RoundRobinAssignor` of Kafka 0.10.
pub(super) fn old_round_robin(group: &Group<'_>) -> Lists<u32> {
    threads::round_robin(group)
}

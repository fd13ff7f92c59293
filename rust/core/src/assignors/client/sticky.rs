//! `StickyAssignor` and `CooperativeStickyAssignor`, by `AbstractStickyAssignor.assignPartitions`: one algorithm if all
//! members subscribe to the same topics, another one if they do not.

use super::group::JavaGroup;
use super::owned_partitions::Claims;
use super::{constrained_assignment, cooperative_sticky, general_assignment};
use crate::Result;
use crate::assignors::Lists;
use crate::index::PartitionIx;

/// What each member reads; if `cooperative`, without partitions that their owner has to give up first.
pub(crate) fn assign(group: &JavaGroup<'_>, cooperative: bool) -> Result<Lists<PartitionIx>> {
    let claims = Claims::new(group, cooperative);
    if claims.equal_subscriptions {
        return constrained_assignment::assign(group, &claims, cooperative);
    }
    let mut lists = general_assignment::assign(group, &claims)?;
    if cooperative {
        cooperative_sticky::withhold_transferred(group, &mut lists);
    }
    Ok(Lists::of(&lists))
}

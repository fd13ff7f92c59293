//! `StickyAssignor` and `CooperativeStickyAssignor`, by `AbstractStickyAssignor.assignPartitions`: one algorithm where all members
//! subscribe to the same topics, another where they do not.

use super::group::Group;
use super::owned_partitions::Claims;
use super::{constrained_assignment, cooperative_sticky, general_assignment};
use crate::Result;
use crate::assignors::Lists;

/// What each member reads, and if `cooperative` less what its owner has to let go first.
pub(crate) fn assign(group: &Group<'_>, assignor: &'static str, cooperative: bool) -> Result<Lists<u32>> {
    let claims = Claims::new(group, cooperative);
    if claims.equal_subscriptions {
        return constrained_assignment::assign(group, &claims, cooperative);
    }
    let mut lists = general_assignment::assign(group, &claims, assignor)?;
    if cooperative {
        cooperative_sticky::withhold(group, &mut lists);
    }
    Ok(Lists::of(&lists))
}

//! The broker's own assignors: those of KIP-848's consumer groups, and that of share groups.
//!
//! Exact to `org.apache.kafka.coordinator.group.assignor` of kafka-group-coordinator 4.0.2 to 4.4.0 (`UniformAssignor`,
//! `RangeAssignor`; `SimpleAssignor` from 4.2.1), for a group that is put together as the broker does it. Topics have
//! ids here, and Java's answer hangs on them: on how a `HashMap` of ids is walked, and on the ids' own order.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `group` | a group as the broker hands it to an assignor |
//! | `subscribers` | who subscribes to each topic |
//! | `runs` | partitions in a row, which is what most members get |
//! | `owned` | the order of what a member owns |
//! | `range` | ranges of each topic |
//! | `homogeneous` | `uniform` for equal subscriptions |
//! | `heterogeneous`, `loads` | `uniform` for unequal ones |
//! | `simple`, `sharing` | what members of a share group read together |

mod group;
mod heterogeneous;
mod homogeneous;
mod loads;
mod owned;
mod range;
mod runs;
mod sharing;
mod simple;
mod subscribers;

pub use group::Group;

use super::Assignment;
use crate::Result;

/// Which of the broker's assignors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `UniformAssignor`: balanced, and as much as possible stays where it is.
    Uniform,
    /// `RangeAssignor`: each topic by itself, in ranges.
    Range,
    /// `SimpleAssignor`, of share groups: members may read partitions together.
    Simple,
}

impl Kind {
    /// partwright's name for it: the broker's own has another meaning on a client.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "server-uniform",
            Self::Range => "server-range",
            Self::Simple => "server-simple",
        }
    }
}

/// Who reads what: sorted lists, for the broker's are sets.
///
/// # Errors
///
/// [`crate::Error::Unassigned`] where Kafka's own assignor throws.
pub fn assign(kind: Kind, group: &Group) -> Result<Assignment> {
    let lists = match kind {
        Kind::Uniform if group.homogeneous => homogeneous::assign(group)?,
        Kind::Uniform => heterogeneous::assign(group)?,
        Kind::Range => return Ok(range::assign(group)),
        Kind::Simple => simple::assign(group)?,
    };
    Ok(group.named(lists))
}

//! The broker's own assignors: the ones of KIP-848's consumer groups, and the one of share groups.
//!
//! Exact to `org.apache.kafka.coordinator.group.assignor` of kafka-group-coordinator 4.0.2 to 4.4.0 (`UniformAssignor`,
//! `RangeAssignor`; `SimpleAssignor` from 4.2.1), for a group that is built as the broker builds it. Topics have IDs
//! here, and Java's answer depends on them: on the order of a `HashMap` of IDs, and on the IDs' own order.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `group` | a group as the broker passes it to an assignor |
//! | `subscribers` | who subscribes to each topic |
//! | `partition_runs` | runs of consecutive partitions, which most members get |
//! | `owned_partitions` | the order of what a member owns |
//! | `range` | `RangeAssignor`: ranges of each topic |
//! | `uniform_homogeneous` | `UniformAssignor` for equal subscriptions |
//! | `uniform_heterogeneous`, `members_by_load` | `UniformAssignor` for unequal ones |
//! | `simple`, `shared_partitions` | `SimpleAssignor`: what members of a share group read together |
//! | `steps` | what an assignor does to each member, step by step |
//! | `records` | the order in which the broker reads back what it has assigned |

mod group;
mod members_by_load;
mod owned_partitions;
mod partition_runs;
mod range;
mod records;
mod shared_partitions;
mod simple;
mod steps;
mod subscribers;
mod uniform_heterogeneous;
mod uniform_homogeneous;

pub use group::ServerGroup;
pub use records::AssignmentRecords;
pub use steps::{MemberSteps, Step};

use super::assignment::Assignment;
use crate::Result;
use crate::names::named;

named! {
    /// One of the broker's assignors, by partwright's names: the broker's own mean other assignors on a client.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
        /// `UniformAssignor`: balanced, and as much as possible stays where it is.
        Uniform = "server-uniform",
        /// `RangeAssignor`: each topic by itself, in ranges.
        Range = "server-range",
        /// `SimpleAssignor`, for share groups: members may share partitions.
        Simple = "server-simple",
    }
}

/// Who reads what, as sorted lists, because the broker's are sets.
///
/// # Errors
///
/// [`crate::Error::Unassigned`] if Kafka's own assignor throws.
pub fn assign(kind: Kind, group: &ServerGroup) -> Result<Assignment> {
    let lists = match kind {
        Kind::Uniform if group.homogeneous => uniform_homogeneous::assign(group),
        Kind::Uniform => uniform_heterogeneous::assign(group, false).map(|(lists, _)| lists),
        Kind::Range => return Ok(range::assign(group)),
        Kind::Simple => simple::assign(group),
    };
    Ok(group.named(lists.map_err(|error| error.of_assignor(kind.name()))?))
}

/// The same, with what `uniform` has done to each member.
///
/// # Errors
///
/// Those of [`assign`].
pub fn assign_step_by_step(kind: Kind, group: &ServerGroup) -> Result<(Assignment, MemberSteps<'_>)> {
    let assigned = match kind {
        Kind::Uniform if group.homogeneous => uniform_homogeneous::assign(group).map(|lists| {
            let steps = MemberSteps::of_lists(group, &lists);
            (lists, steps)
        }),
        Kind::Uniform => uniform_heterogeneous::assign(group, true)
            .map(|(lists, gifts)| (lists, MemberSteps::of_gifts(group, &gifts))),
        Kind::Range | Kind::Simple => return Ok((assign(kind, group)?, MemberSteps::of_gifts(group, &[]))),
    };
    let (lists, steps) = assigned.map_err(|error| error.of_assignor(kind.name()))?;
    Ok((group.named(lists), steps))
}

//! Kafka's client-side assignors: which member of a group reads which partitions, in the order of Kafka's own lists.
//!
//! Exact to `org.apache.kafka.clients.consumer` of kafka-clients 3.9.0 to 4.4.0 (`RangeAssignor`,
//! `RoundRobinAssignor`, `StickyAssignor`, `CooperativeStickyAssignor`), ties and quirks included. Names become numbers
//! at the door ([`Group::new`]), in the orders that Java gives them; the algorithms know numbers alone.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `java_order`, `java_tree` | the orders of Java's strings and maps |
//! | `group` | a group as numbers |
//! | `range`, `round_robin` | the assignors that remember nothing |
//! | `claims` | what members say they own, and who is believed |
//! | `constrained` | the sticky algorithm for equal subscriptions |
//! | `general`, `balance`, `movements` | the sticky algorithm for unequal ones |
//! | `cooperative` | what is withheld for the second rebalance |
//! | `racks` | which racks matter (KIP-881) |
//! | `legacy` | assignors that Kafka has no more |

mod balance;
mod claims;
mod constrained;
mod cooperative;
mod general;
mod group;
pub mod java_order;
mod java_tree;
mod legacy;
mod lists;
mod movements;
mod racks;
mod range;
mod round_robin;

use std::str::FromStr;

pub use group::{Given, Group, MOST_PARTITIONS};
pub use lists::Lists;

use crate::names::nearest;
use crate::{Error, Result};

/// An assignor under its wire name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assignor {
    /// `RangeAssignor`: each topic by itself, in ranges.
    Range,
    /// `RoundRobinAssignor`: all partitions in turn.
    RoundRobin,
    /// `StickyAssignor`: balanced, and as much as possible stays where it is.
    Sticky,
    /// `CooperativeStickyAssignor`: the same, and what changes hands is withheld until its owner has let go.
    CooperativeSticky,
    /// `StickyAssignor` of Kafka 2.8.
    Sticky28,
    /// `CooperativeStickyAssignor` of Kafka 2.8.
    CooperativeSticky28,
    /// `StickyAssignor` of Kafka 2.3.
    Sticky23,
    /// `kafka.consumer.RangeAssignor` of Kafka 0.10, by consumer thread.
    OldRange,
    /// `kafka.consumer.RoundRobinAssignor` of Kafka 0.10, by consumer thread.
    OldRoundRobin,
}

impl Assignor {
    /// All assignors.
    pub const ALL: [Self; 9] = [
        Self::Range,
        Self::RoundRobin,
        Self::Sticky,
        Self::CooperativeSticky,
        Self::Sticky28,
        Self::CooperativeSticky28,
        Self::Sticky23,
        Self::OldRange,
        Self::OldRoundRobin,
    ];

    /// The name by which members of a group agree on it; of an older one, with its version.
    pub fn name(self) -> &'static str {
        match self {
            Self::Range => "range",
            Self::RoundRobin => "roundrobin",
            Self::Sticky => "sticky",
            Self::CooperativeSticky => "cooperative-sticky",
            Self::Sticky28 => "sticky@2.8",
            Self::CooperativeSticky28 => "cooperative-sticky@2.8",
            Self::Sticky23 => "sticky@2.3",
            Self::OldRange => "old-range",
            Self::OldRoundRobin => "old-roundrobin",
        }
    }

    /// Who reads what: a list of partitions for each member, in the order of Kafka's own list.
    ///
    /// ```
    /// use partwright_core::assignors::{Assignor, Given, Group, Lists};
    /// let given = Given {
    ///     topics: vec!["t"],
    ///     partitions: vec![3],
    ///     members: vec!["c1", "c2"],
    ///     instance_ids: vec![None; 2],
    ///     member_racks: vec![None; 2],
    ///     subscribed: Lists { offsets: vec![0, 1, 2], values: vec![0, 0] },
    ///     sends: vec![false; 2],
    ///     owned: Lists { offsets: vec![0; 3], values: vec![] },
    ///     generations: vec![-1; 2],
    ///     racks: Lists::default(),
    ///     order: vec![],
    /// };
    /// let assignment = Assignor::Range.assign(&Group::new(&given)?)?;
    /// assert_eq!((assignment.offsets, assignment.partitions), (vec![0, 2, 3], vec![0, 1, 2]));
    /// # Ok::<(), partwright_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unassigned`] where Kafka's own assignor throws.
    pub fn assign(self, group: &Group<'_>) -> Result<Assignment> {
        let lists = match self {
            Self::Range => range::assign(group),
            Self::RoundRobin => round_robin::assign(group)?,
            Self::Sticky | Self::CooperativeSticky => {
                let cooperative = self == Self::CooperativeSticky;
                let claims = claims::Claims::new(group, cooperative);
                if claims.equal_subscriptions {
                    constrained::assign(group, &claims, cooperative)?
                } else {
                    let mut lists = general::assign(group, &claims, self.name())?;
                    if cooperative {
                        cooperative::withhold(group, &mut lists);
                    }
                    Lists::of(&lists)
                }
            }
            Self::Sticky28 | Self::CooperativeSticky28 => {
                legacy::sticky_2_8(group, self.name(), self == Self::CooperativeSticky28)?
            }
            Self::Sticky23 => legacy::sticky_2_3(group, self.name())?,
            Self::OldRange => legacy::old_range(group),
            Self::OldRoundRobin => legacy::old_round_robin(group),
        };
        Ok(group.named(&lists))
    }
}

impl FromStr for Assignor {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|assignor| assignor.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).to_vec();
            Error::UnknownAssignor { name: name.to_owned(), nearest: nearest(name, &known), known }
        })
    }
}

/// An assignment in the numbers of what was given: a member's list is `offsets[member]..offsets[member + 1]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Where each member's list begins, and the last one's end.
    pub offsets: Vec<usize>,
    /// The topic of each partition, as a place in [`Given::topics`].
    pub topics: Vec<u32>,
    /// The partition's number in its topic.
    pub partitions: Vec<i32>,
}

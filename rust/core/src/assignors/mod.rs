//! Kafka's assignors: which member of a group reads which partitions, in the order of Kafka's own lists.
//!
//! Exact to `org.apache.kafka.clients.consumer` of kafka-clients 3.9.0 to 4.4.0 (`RangeAssignor`, `RoundRobinAssignor`,
//! `StickyAssignor`, `CooperativeStickyAssignor`), ties and quirks included. Names become numbers in [`JavaGroup::new`], in
//! Java's orders; the algorithms know only numbers.
//!
//! | where | what it knows |
//! | --- | --- |
//! | `input`, `assignment`, `lists` | an assignor's input and answer |
//! | `topic_partitions` | the partitions of all topics in one row |
//! | `quotas` | how many partitions are a member's share |
//! | `range_topic` | a topic while it is dealt in ranges |
//! | `movements` | which partitions have moved from whom to whom |
//! | `client` | the assignors of a consumer group's leader |
//! | [`server`] | the broker's own assignors (KIP-848, KIP-932) |
//! | `legacy` | assignors that Kafka no longer has |
//! | [`other_clients`] | the assignors of other clients than Java's |

mod assignment;
mod client;
mod input;
mod legacy;
mod lists;
mod movements;
pub mod other_clients;
mod quotas;
mod range_topic;
pub mod server;
mod topic_partitions;

use std::str::FromStr;

pub use assignment::{Assignment, Chance};
pub use client::group::JavaGroup;
use client::{range, round_robin, sticky};
pub use input::{Input, MOST_PARTITIONS, NoRack, Options};
pub use lists::Lists;
pub use quotas::Quota;

use crate::index::PartitionIx;
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
    /// `CooperativeStickyAssignor`: the same, but partitions that change hands are withheld until their owner gave them
    /// up.
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
    /// One of the broker's own, which need topic IDs and return sorted lists.
    Server(server::Kind),
    /// One of another client than Java's.
    OtherClient(&'static other_clients::ClientAssignor),
}

impl Assignor {
    /// All of Kafka's own; [`Self::of_other_clients`] has the rest.
    pub const ALL: [Self; 12] = [
        Self::Range,
        Self::RoundRobin,
        Self::Sticky,
        Self::CooperativeSticky,
        Self::Sticky28,
        Self::CooperativeSticky28,
        Self::Sticky23,
        Self::OldRange,
        Self::OldRoundRobin,
        Self::Server(server::Kind::Uniform),
        Self::Server(server::Kind::Range),
        Self::Server(server::Kind::Simple),
    ];

    /// Those of other clients than Java's, client by client.
    pub fn of_other_clients() -> impl Iterator<Item = Self> {
        other_clients::all().map(Self::OtherClient)
    }

    /// The name on which members of a group agree; with the version for an older one, and with the client for another
    /// client's.
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
            Self::Server(kind) => kind.name(),
            Self::OtherClient(assignor) => assignor.name(),
        }
    }

    /// Whether what changes hands is withheld until its owner has let go.
    #[must_use]
    pub fn is_cooperative(self) -> bool {
        match self {
            Self::CooperativeSticky | Self::CooperativeSticky28 => true,
            Self::OtherClient(assignor) => assignor.wire_name() == "cooperative-sticky",
            _ => false,
        }
    }

    /// Whether its members tell, or tell in the order of, what they were given last.
    #[must_use]
    pub fn remembers(self) -> bool {
        matches!(self, Self::Sticky | Self::Sticky28 | Self::Sticky23 | Self::OtherClient(_))
    }

    /// Who reads what: a list of partitions for each member, in the order of Kafka's own list.
    ///
    /// ```
    /// use partwright_core::assignors::{Assignor, Input, Lists};
    /// let input = Input {
    ///     topics: vec!["t"],
    ///     partitions: vec![3],
    ///     members: vec!["c1", "c2"],
    ///     instance_ids: vec![None; 2],
    ///     member_racks: vec![None; 2],
    ///     subscribed: Lists { offsets: vec![0, 1, 2], values: vec![0, 0] },
    ///     sends: vec![false; 2],
    ///     owned: Lists { offsets: vec![0; 3], values: vec![] },
    ///     generations: vec![-1; 2],
    ///     ..Input::default()
    /// };
    /// let assignment = Assignor::Range.assign(&input)?;
    /// assert_eq!((assignment.offsets, assignment.partitions), (vec![0, 2, 3], vec![0, 1, 2]));
    /// # Ok::<(), partwright_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unassigned`] if Kafka's own assignor throws, [`Error::ClientFails`] if another client does, and those
    /// of [`JavaGroup::new`].
    pub fn assign(self, input: &Input<'_>) -> Result<Assignment> {
        let assigned = match self {
            Self::Range => on_the_client(input, |group| Ok(range::assign(group))),
            Self::RoundRobin => on_the_client(input, round_robin::assign),
            Self::Sticky => on_the_client(input, |group| sticky::assign(group, false)),
            Self::CooperativeSticky => on_the_client(input, |group| sticky::assign(group, true)),
            Self::Sticky28 => on_the_client(input, |group| legacy::sticky_2_8(group, false)),
            Self::CooperativeSticky28 => on_the_client(input, |group| legacy::sticky_2_8(group, true)),
            Self::Sticky23 => on_the_client(input, legacy::sticky_2_3),
            Self::OldRange => on_the_client(input, |group| Ok(legacy::old_range(group))),
            Self::OldRoundRobin => on_the_client(input, |group| Ok(legacy::old_round_robin::assign(group))),
            Self::Server(kind) => server::assign(kind, &server::ServerGroup::new(input)?),
            Self::OtherClient(assignor) => assignor.assign(input),
        };
        assigned.map_err(|error| error.of_assignor(self.name()))
    }
}

fn on_the_client(
    input: &Input<'_>,
    assign: impl FnOnce(&JavaGroup<'_>) -> Result<Lists<PartitionIx>>,
) -> Result<Assignment> {
    let group = JavaGroup::new(input)?;
    Ok(group.named(&assign(&group)?))
}

impl FromStr for Assignor {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        if name.contains(':') {
            return other_clients::parse(name);
        }
        let known = Self::ALL.into_iter().find(|assignor| assignor.name() == name);
        known.ok_or_else(|| Error::unknown("assignor", name, Self::ALL.into_iter().map(Self::name)))
    }
}

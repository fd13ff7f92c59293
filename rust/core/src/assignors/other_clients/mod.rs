//! The assignors of other clients than Java's, each under `CLIENT:ASSIGNOR[@VERSION]`, exact to the client's own.
//!
//! An assignor here is a function from what that client's leader sees ([`Input`]) to its answer ([`Assignment`]).
//! Orders count: members are in the order of the `JoinGroup` response, topics in that of the Metadata response, and
//! each subscription is as its member sent it. Each client has a file or a folder, whose `ASSIGNORS` are its rows of
//! the one table of names.

mod client_group;
mod franz_go;
mod holdings;
mod kafka_go;
mod kafka_python;
mod kafkajs;
mod librdkafka;
mod sarama;

use super::lists::offsets;
use super::{Assignment, Assignor, Chance, Input};
use crate::names::nearest;
use crate::{Error, Result};

/// An assignor of another client than Java's.
#[derive(Debug)]
pub struct ClientAssignor {
    /// `CLIENT:ASSIGNOR`, with `@VERSION` if that version answers differently from today's.
    name: &'static str,
    assign: fn(&Input<'_>) -> Result<Assignment>,
}

impl ClientAssignor {
    const fn new(name: &'static str, assign: fn(&Input<'_>) -> Result<Assignment>) -> Self {
        Self { name, assign }
    }

    /// `CLIENT:ASSIGNOR[@VERSION]`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The client: `librdkafka` of `librdkafka:range@2.1`.
    pub fn client(&self) -> &'static str {
        client(self.name)
    }

    /// The name by which members of a group agree on it: `range` of `librdkafka:range@2.1`.
    pub fn wire_name(&self) -> &'static str {
        wire_name(self.name)
    }

    pub(super) fn assign(&self, input: &Input<'_>) -> Result<Assignment> {
        (self.assign)(input)
    }
}

/// Each name is in the table once.
impl PartialEq for ClientAssignor {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for ClientAssignor {}

/// All of them, client by client.
pub(super) fn all() -> impl Iterator<Item = &'static ClientAssignor> {
    [
        librdkafka::ASSIGNORS,
        sarama::ASSIGNORS,
        kafka_go::ASSIGNORS,
        franz_go::ASSIGNORS,
        kafkajs::ASSIGNORS,
        kafka_python::ASSIGNORS,
        kafka_python::AIOKAFKA,
    ]
    .into_iter()
    .flatten()
}

/// The assignor of a name with a colon; those of `java` are Java's own.
pub(super) fn parse(name: &str) -> Result<Assignor> {
    let others = all().map(|assignor| (assignor.name, Assignor::OtherClient(assignor)));
    let known: Vec<_> = JAVA.into_iter().chain(others).collect();
    if let Some((_, found)) = known.iter().find(|(known, _)| *known == name) {
        return Ok(*found);
    }
    let (client_name, wire) = name.split_once(':').unwrap_or((name, ""));
    let wire = wire.split_once('@').map_or(wire, |(wire, _)| wire);
    let known: Vec<_> = known.into_iter().map(|(known, _)| known).collect();
    let of_client: Vec<_> = known.iter().copied().filter(|known| client(known) == client_name).collect();
    let versions: Vec<_> = of_client.iter().copied().filter(|known| wire_name(known) == wire).collect();
    let (reason, among) = if of_client.is_empty() {
        let clients = distinct(known.iter().map(|known| client(known)));
        (format!("the clients with assignors are {}", clients.join(", ")), known)
    } else if versions.is_empty() {
        let wires = distinct(of_client.iter().map(|known| wire_name(known)));
        (format!("{client_name} has {}", wires.join(", ")), of_client)
    } else {
        (format!("of {client_name}:{wire} there are {}", versions.join(", ")), Vec::new())
    };
    let nearest = nearest(name, &among);
    Err(Error::UnknownClientAssignor { name: name.to_owned(), reason, nearest })
}

/// Java's own assignors, under the names that a mixed group uses.
const JAVA: [(&str, Assignor); 7] = [
    ("java:range", Assignor::Range),
    ("java:roundrobin", Assignor::RoundRobin),
    ("java:sticky", Assignor::Sticky),
    ("java:cooperative-sticky", Assignor::CooperativeSticky),
    ("java:sticky@2.8", Assignor::Sticky28),
    ("java:cooperative-sticky@2.8", Assignor::CooperativeSticky28),
    ("java:sticky@2.3", Assignor::Sticky23),
];

/// An assignor's answer: for each member, in the order given, a list of topics (as places in the input) and partitions.
fn answer(lists: &[Vec<(u32, i32)>], chance: Option<Chance>) -> Assignment {
    let pairs = || lists.iter().flatten();
    Assignment {
        offsets: offsets(lists.iter().map(Vec::len)),
        topics: pairs().map(|&(topic, _)| topic).collect(),
        partitions: pairs().map(|&(_, partition)| partition).collect(),
        chance,
    }
}

/// The places of names in the order of their bytes, which C, Go and Python sort by.
fn in_byte_order(names: &[&str]) -> Vec<u32> {
    let mut places: Vec<u32> = (0..).take(names.len()).collect();
    places.sort_by_key(|&place| names[place as usize]);
    places
}

fn client(name: &'static str) -> &'static str {
    name.split_once(':').map_or(name, |(client, _)| client)
}

fn wire_name(name: &'static str) -> &'static str {
    let wire = name.split_once(':').map_or(name, |(_, wire)| wire);
    wire.split_once('@').map_or(wire, |(wire, _)| wire)
}

fn distinct(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut seen = Vec::new();
    names.for_each(|name| {
        if !seen.contains(&name) {
            seen.push(name);
        }
    });
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_or_refused_with_those_there_are() {
        for assignor in all() {
            assert_eq!(parse(assignor.name), Ok(Assignor::OtherClient(assignor)));
            assert_eq!(format!("{}:", assignor.client()), assignor.name[..=assignor.client().len()]);
        }
        assert_eq!(parse("java:range"), Ok(Assignor::Range));
        assert_eq!(parse("java:sticky@2.3"), Ok(Assignor::Sticky23));
        let refusal = |name| parse(name).err().map(|error| error.to_string()).unwrap_or_default();
        let unknown = refusal("aiokafak:range");
        assert!(
            unknown.starts_with(
                "there is no assignor \"aiokafak:range\": the clients with assignors are java, "
            )
        );
        assert!(unknown.ends_with("; did you mean aiokafka:range?"), "{unknown}");
        let slip = refusal("aiokafka:rnge");
        assert!(
            slip.starts_with("there is no assignor \"aiokafka:rnge\": aiokafka has range, roundrobin"),
            "{slip}"
        );
        assert!(slip.ends_with("; did you mean aiokafka:range?"), "{slip}");
        assert_eq!(
            refusal("java:sticky@2.4"),
            "there is no assignor \"java:sticky@2.4\": of java:sticky there are java:sticky, java:sticky@2.8, \
             java:sticky@2.3"
        );
    }
}

//! The assignors of kafka-python and of aiokafka, which began as the same code.

mod balance;
mod claims;
mod eager;
mod hash_order;
mod sticky;

use super::ClientAssignor;

/// What differs between kafka-python, its versions and aiokafka.
#[derive(Clone, Copy)]
struct ClientRules {
    assignor: &'static str,
    /// Whether a substitute that moved earlier moves back together with the partition, or moves on alone.
    undoes_both: bool,
}

/// Those of kafka-python: 2.3.0 added static members, 3.0.0 `cooperative-sticky`, and 3.0.12 stopped circles.
pub(super) const ASSIGNORS: &[ClientAssignor] = &[
    ClientAssignor::new("kafka-python:range", |input, _| Ok(eager::range(input, eager::last_runs))),
    ClientAssignor::new("kafka-python:range@2.2", |input, _| Ok(eager::range(input, eager::by_id))),
    ClientAssignor::new("kafka-python:roundrobin", |input, name| {
        eager::round_robin(input, eager::last_runs, Some(name))
    }),
    ClientAssignor::new("kafka-python:roundrobin@2.2", |input, _| {
        eager::round_robin(input, eager::by_id, None)
    }),
    ClientAssignor::new("kafka-python:sticky", |input, assignor| {
        sticky::sticky(input, ClientRules { assignor, undoes_both: true })
    }),
    ClientAssignor::new("kafka-python:sticky@3.0.11", |input, assignor| {
        sticky::sticky(input, ClientRules { assignor, undoes_both: false })
    }),
    ClientAssignor::new("kafka-python:cooperative-sticky", |input, assignor| {
        sticky::cooperative(input, ClientRules { assignor, undoes_both: true })
    }),
    ClientAssignor::new("kafka-python:cooperative-sticky@3.0.11", |input, assignor| {
        sticky::cooperative(input, ClientRules { assignor, undoes_both: false })
    }),
];

/// Those of aiokafka.
pub(super) const AIOKAFKA: &[ClientAssignor] = &[
    ClientAssignor::new("aiokafka:range", |input, _| Ok(eager::range(input, eager::by_id))),
    ClientAssignor::new("aiokafka:roundrobin", |input, _| eager::round_robin(input, eager::by_id, None)),
    ClientAssignor::new("aiokafka:sticky", |input, assignor| {
        sticky::sticky(input, ClientRules { assignor, undoes_both: false })
    }),
];

//! The assignors of kafka-python and of aiokafka, which began as the same code.

mod balance;
mod claims;
mod eager;
mod sticky;

use super::ClientAssignor;

/// Those of kafka-python: 2.3.0 added static members, 3.0.0 `cooperative-sticky`, and 3.0.12 stopped circles.
pub(super) const ASSIGNORS: &[ClientAssignor] = &[
    ClientAssignor::new("kafka-python:range", |input| Ok(eager::range(input, eager::last_runs))),
    ClientAssignor::new("kafka-python:range@2.2", |input| Ok(eager::range(input, eager::by_id))),
    ClientAssignor::new("kafka-python:roundrobin", |input| eager::round_robin(input, eager::last_runs, true)),
    ClientAssignor::new("kafka-python:roundrobin@2.2", |input| {
        eager::round_robin(input, eager::by_id, false)
    }),
    ClientAssignor::new("kafka-python:sticky", |input| sticky::sticky(input, true)),
    ClientAssignor::new("kafka-python:sticky@3.0.11", |input| sticky::sticky(input, false)),
    ClientAssignor::new("kafka-python:cooperative-sticky", |input| sticky::cooperative(input, true)),
    ClientAssignor::new("kafka-python:cooperative-sticky@3.0.11", |input| sticky::cooperative(input, false)),
];

/// Those of aiokafka.
pub(super) const AIOKAFKA: &[ClientAssignor] = &[
    ClientAssignor::new("aiokafka:range", |input| Ok(eager::range(input, eager::by_id))),
    ClientAssignor::new("aiokafka:roundrobin", |input| eager::round_robin(input, eager::by_id, false)),
    ClientAssignor::new("aiokafka:sticky", |input| sticky::sticky(input, false)),
];

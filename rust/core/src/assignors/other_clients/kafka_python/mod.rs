//! The assignors of kafka-python and of aiokafka, which began as the same code.

mod eager;

use super::ClientAssignor;

/// Those of kafka-python. Until 2.2 static membership was not known.
pub(super) const ASSIGNORS: &[ClientAssignor] = &[
    ClientAssignor::new("kafka-python:range", |given| Ok(eager::range(given, eager::last_runs))),
    ClientAssignor::new("kafka-python:range@2.2", |given| Ok(eager::range(given, eager::by_id))),
    ClientAssignor::new("kafka-python:roundrobin", |given| {
        eager::round_robin(given, eager::last_runs, Some("kafka-python:roundrobin"))
    }),
    ClientAssignor::new("kafka-python:roundrobin@2.2", |given| eager::round_robin(given, eager::by_id, None)),
];

/// Those of aiokafka.
pub(super) const AIOKAFKA: &[ClientAssignor] = &[
    ClientAssignor::new("aiokafka:range", |given| Ok(eager::range(given, eager::by_id))),
    ClientAssignor::new("aiokafka:roundrobin", |given| eager::round_robin(given, eager::by_id, None)),
];

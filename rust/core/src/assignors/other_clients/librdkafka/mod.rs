//! The assignors of librdkafka, and so of Confluent's .NET, Python, Go and JavaScript clients, rust-rdkafka and php-rdkafka.
//!
//! Exact to librdkafka 2.15.1 with glibc, whose `qsort` is a merge sort: its comparison of members is not transitive where
//! static and other members mix.

mod adjustment;
mod balance;
mod claims;
mod cooperative_sticky;
mod fails;
mod leader;
mod movements;
mod range;
mod readers;
mod round_robin;

use super::ClientAssignor;

/// Its assignors.
pub(super) const ASSIGNORS: &[ClientAssignor] = &[
    ClientAssignor::new("librdkafka:range", range::assign),
    ClientAssignor::new("librdkafka:roundrobin", round_robin::assign),
    ClientAssignor::new("librdkafka:cooperative-sticky", cooperative_sticky::assign),
];

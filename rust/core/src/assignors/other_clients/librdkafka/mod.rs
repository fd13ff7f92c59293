//! The assignors of librdkafka, and so of Confluent's .NET, Python, Go and JavaScript clients, rust-rdkafka and php-rdkafka.
//!
//! Exact to librdkafka 2.15.1 with glibc, whose `qsort` is a merge sort: its comparison of members is not transitive if
//! static and other members mix. Under `@VERSION` exact to 1.6.1, 2.1.1 and 2.6.0.

mod adjustment;
mod balance;
mod balance_check;
mod claims;
mod cooperative_sticky;
mod fails;
mod leader;
mod movements;
mod range;
mod round_robin;
mod version;

use super::ClientAssignor;
use version::LibrdkafkaVersion;

/// Its assignors.
pub(super) const ASSIGNORS: &[ClientAssignor] = &[
    ClientAssignor::new("librdkafka:range", |input, _| range::assign(input, LibrdkafkaVersion::Today)),
    ClientAssignor::new("librdkafka:range@2.1", |input, _| range::assign(input, LibrdkafkaVersion::UpTo21)),
    ClientAssignor::new("librdkafka:roundrobin", |input, _| round_robin::assign(input)),
    ClientAssignor::new("librdkafka:cooperative-sticky", |input, name| {
        cooperative_sticky::assign(input, LibrdkafkaVersion::Today, name)
    }),
    ClientAssignor::new("librdkafka:cooperative-sticky@2.6.0", |input, name| {
        cooperative_sticky::assign(input, LibrdkafkaVersion::UpTo260, name)
    }),
    ClientAssignor::new("librdkafka:cooperative-sticky@2.1", |input, name| {
        cooperative_sticky::assign(input, LibrdkafkaVersion::UpTo21, name)
    }),
    ClientAssignor::new("librdkafka:cooperative-sticky@1.6", |input, name| {
        cooperative_sticky::assign(input, LibrdkafkaVersion::UpTo16, name)
    }),
];

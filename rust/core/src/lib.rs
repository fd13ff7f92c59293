//! Kafka's rules as pure functions: where a record goes, and who reads it.
//!
//! | module | what it knows |
//! | --- | --- |
//! | [`assignors`] | who reads what: the assignors of a consumer group, the client's and the broker's |
//! | [`batching`] | what a producer's batches look like before it runs |
//! | [`group`] | the life of a consumer group: rebalances, generations, sessions, fencing |
//! | [`hashing`] | key bytes, each client's hash and the step from hash to partition |
//! | [`java`] | the orders of Java's strings, maps and sets, and its random numbers |
//! | [`placement`] | which brokers get a new topic's replicas: Kafka's two placers |
//! | [`producer`] | where a record goes if its key does not decide: the strategies of Kafka's producers |
//! | `columnar` (feature `arrow`) | the same rules over Arrow columns, read without copying |
//!
//! Nothing here does I/O, reads a clock, starts a thread or draws a random number: times and random numbers are
//! arguments. Without the feature `arrow` the crate has only the rules, over byte slices.

mod error;

pub mod assignors;
pub mod batching;
#[cfg(feature = "arrow")]
pub mod columnar;
mod go_map;
pub mod group;
pub mod hashing;
mod index;
mod interned;
pub mod java;
mod names;
pub mod placement;
pub mod producer;

pub use error::{Error, Known, RefusedValue, Result};
pub use names::counted;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

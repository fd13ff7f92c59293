//! Where a producer puts a record that its key does not place: the strategies of Kafka's clients, of all versions.
//!
//! Everything that varies is an argument: the metadata ([`Topic`]), the random numbers ([`Draws`]), the time of a record.

pub(crate) mod appending;
pub(crate) mod batches;
mod built_in;
mod draws;
mod records;
mod runs;
mod settings;
pub(crate) mod sizes;
mod sticky_cache;
pub(crate) mod strategy;
mod topic;

pub use built_in::Queues;
pub use draws::Draws;
pub use records::{Producer, Record};
pub use settings::{Among, Otherwise, Settings};
pub use sizes::headers_size;
pub use strategy::Strategy;
pub use topic::{Partition, Topic};

//! Kafka's placement rules as pure functions: key bytes to hash, hash to partition.
//!
//! | module | what it knows |
//! | --- | --- |
//! | [`hashing`] | key bytes, each client's hash and the step from hash to partition |
//! | `columnar` (feature `arrow`) | the same over Arrow columns, read where they lie |
//!
//! Nothing here does I/O, reads a clock, starts a thread or draws a random number: what varies is an argument.
//! Without the feature `arrow` the crate is the rules alone, over byte slices.

mod error;

#[cfg(feature = "arrow")]
pub mod columnar;
pub mod hashing;
mod names;

pub use error::{Error, Result};

//! Where a producer puts a record that its key does not place: the strategies of Kafka's clients, of all versions.
//!
//! Everything that varies is an argument: the metadata ([`Topic`]), the random numbers ([`Draws`]), and the times of
//! records.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `place`, `record_runs` | one record's way to its partition, and that of a column of them |
//! | `strategy`, `versions` | the strategies, each with its rule; which one a name or a version of Kafka means |
//! | `round_robin`, `random`, `sticky_cache`, `built_in`, `leader`, `old_null_key`, `old_round_robin`, `fallback` | a rule each |
//! | `on_new_batch` | strategies that are asked again before a batch begins |
//! | `state` | what is kept between records |
//! | `append`, `open_batches`, `sizes` | the batches that stand open, what an append does to one, and bytes |
//! | `record`, `topic`, `settings`, `draws` | what goes in |

pub(crate) mod append;
mod built_in;
mod draws;
mod fallback;
mod leader;
mod old_null_key;
mod old_round_robin;
mod on_new_batch;
pub(crate) mod open_batches;
mod place;
mod random;
mod record;
mod record_runs;
mod round_robin;
mod settings;
pub(crate) mod sizes;
mod state;
mod sticky_cache;
pub(crate) mod strategy;
mod topic;
mod versions;

pub use built_in::Queues;
pub use draws::Draws;
pub use place::Producer;
pub use record::Record;
pub use settings::{Among, Fallback, Settings};
pub use sizes::headers_size;
pub use strategy::Strategy;
pub use topic::{Partition, Topic};

//! Consumer groups as they live: who joins, who leads, what is fenced, and who reads what for how long.
//!
//! | module | what it knows |
//! | --- | --- |
//! | [`classic`] | the coordinator's side of `JoinGroup`, `SyncGroup`, `Heartbeat` and `LeaveGroup` |
//! | [`consumer`] | the same of `ConsumerGroupHeartbeat` (KIP-848) |
//! | [`play`] | consumers that behave as Kafka's own do, a script, and the timeline that comes of it |
//!
//! A coordinator is a value, and what happens to it is a function: `step(group, event) -> (group, effects)`, with the
//! time in the event.

pub mod classic;
pub mod consumer;
mod error_code;
mod event_queue;
pub mod play;
mod timers;

pub use crate::interned::Name;
pub use error_code::Code;

/// Maps of names, tags and partitions that a script's own author has chosen: nobody has to be kept from choosing them badly,
/// and a group of thousands is looked up in all the time.
type Map<K, V> = rustc_hash::FxHashMap<K, V>;
type Set<K> = rustc_hash::FxHashSet<K>;

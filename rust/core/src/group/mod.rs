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
mod code;
pub mod consumer;
mod java_map;
pub mod play;
mod timers;

pub use code::Code;
pub use java_map::Name;

//! The life of consumer groups: who joins, who leads, who is fenced, and who reads which partition for how long.
//!
//! | module | what it knows |
//! | --- | --- |
//! | [`classic`] | the coordinator's side of `JoinGroup`, `SyncGroup`, `Heartbeat` and `LeaveGroup` |
//! | [`consumer`] | the coordinator's side of `ConsumerGroupHeartbeat` (KIP-848) |
//! | [`play`] | consumers that behave as Kafka's own do, a script, and the timeline that results |
//!
//! A coordinator is a value. A function computes the next one: `step(group, event) -> (group, effects)`. The event
//! holds the time.

pub mod classic;
pub mod consumer;
mod error_code;
mod event_queue;
pub mod play;
mod timers;

pub use crate::interned::Name;
pub use error_code::Code;

/// A request to a coordinator, and its time.
#[derive(Clone, Debug)]
pub struct GroupEvent<R> {
    /// The time, in milliseconds; never before the previous event.
    pub at: i64,
    /// Identifies the answer.
    pub tag: u32,
    /// The request.
    pub request: R,
}

/// A coordinator's answer, and its time.
#[derive(Clone, Debug)]
pub struct GroupEffect<A> {
    /// The time.
    pub at: i64,
    /// The request's.
    pub tag: u32,
    /// The answer.
    pub answer: A,
}

/// The hash map for names, tags and partitions. The author of the script chose them, so the hash need not withstand
/// keys chosen to collide, and it must be fast: a group of thousands of members is looked up constantly.
type Map<K, V> = rustc_hash::FxHashMap<K, V>;
type Set<K> = rustc_hash::FxHashSet<K>;

//! One of the partitions whose leader is where it should be, for example in the producer's rack. Kafka has no such
//! partitioner.
//!
//! Among several, the settings choose ([`Among`]): the first, a drawn one, one after the other, or the key's partition
//! modulo their number. Without such a leader, the settings' `fallback` decides.

use super::draws::Draws;
use super::fallback::fall_back;
use super::round_robin::Counter;
use super::settings::{Among, Settings};
use super::topic::Topic;
use crate::Result;

/// The partition of a record, `keyed` if it has a key.
#[inline(never)]
pub(super) fn partition(
    keyed: Option<i32>,
    counter: &mut Counter,
    topic: &Topic,
    settings: &Settings,
    draws: &mut Draws,
) -> Result<i32> {
    if topic.near.is_empty() {
        let why = ("leader", "no leader is where it should be");
        return fall_back(settings.fallback, why, counter, topic, draws);
    }
    let number = match (settings.among, keyed) {
        (Among::First, _) => 0,
        (Among::Random, _) => draws.positive()?,
        (Among::Key, Some(keyed)) => keyed.cast_unsigned(),
        (Among::RoundRobin | Among::Key, _) => counter.count(),
    };
    Ok(Topic::one_of(&topic.near, number))
}

//! Any partition, by a draw for each record, whatever its key. No class of Kafka's Java clients does this, but clients in
//! other languages do.
//!
//! It draws among all partitions, with a leader or without; with `available_only`, among those with a leader, or among
//! all if none has one.

use super::draws::Draws;
use super::topic::Topic;
use crate::Result;

/// The partition of a record.
#[inline]
pub(super) fn partition(topic: &Topic, available_only: bool, draws: &mut Draws) -> Result<i32> {
    let number = draws.positive()?;
    match (available_only, &topic.all[..]) {
        (false, all @ [_, ..]) => Ok(Topic::one_of(all, number)),
        _ => topic.one(number),
    }
}

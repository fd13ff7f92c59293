//! Round robin from a random start, for records without a key (`DefaultPartitioner` of Kafka 0.9 to 2.3; exact to 2.3.1).
//!
//! A record with a key goes to its key's partition. For the others, a topic's counter begins with a draw, and counts on
//! as in `RoundRobinPartitioner`.

use super::draws::Draws;
use super::round_robin::Counter;
use super::topic::Topic;
use crate::Result;

/// The partition of a record, `keyed` if it has a key.
#[inline]
pub(super) fn partition(
    keyed: Option<i32>,
    counter: &mut Counter,
    topic: &Topic,
    draws: &mut Draws,
) -> Result<i32> {
    if let Some(partition) = keyed {
        return Ok(partition);
    }
    if counter.is_unset() {
        counter.set(draws.next_int()?);
    }
    counter.partition(topic)
}

//! What happens to a record for which a strategy has no answer: `explicit` without a partition, `field` with a null,
//! `leader` if no leader is where it should be.

use super::draws::Draws;
use super::round_robin::Counter;
use super::settings::Fallback;
use super::topic::Topic;
use crate::{Error, Result};

/// The record's partition, or the refusal, with the strategy's name and the reason.
#[inline(never)]
pub(super) fn fall_back(
    how: Fallback,
    (strategy, why): (&str, &str),
    counter: &mut Counter,
    topic: &Topic,
    draws: &mut Draws,
) -> Result<i32> {
    match how {
        Fallback::RoundRobin => counter.partition(topic),
        Fallback::Random => topic.one(draws.positive()?),
        Fallback::Fail => Err(Error::Producer(format!(
            "the strategy {strategy} has no partition for a record: {why}; set the config otherwise to round-robin or random"
        ))),
    }
}

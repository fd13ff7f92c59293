//! A strategy that is told of batches (`Partitioner.onNewBatch`, Kafka 2.4 to 3.9): a record that would begin a batch is not
//! appended (`abortOnNewBatch`), the strategy hears of it, and is asked once more.

use super::append::{Appends, append_or_begin};
use super::record::Record;
use super::settings::Settings;
use super::state::State;
use super::strategy::Strategy;
use crate::Result;

/// Appends a record where the strategy says at last; its partition.
#[inline]
pub(super) fn place(
    strategy: Strategy,
    state: &mut State,
    settings: &Settings,
    record: &Record,
    batches: &mut impl Appends,
) -> Result<i32> {
    let previous = own_or_chosen(strategy, state, settings, record)?;
    if batches.append(previous).is_some() {
        return Ok(previous);
    }
    // That of 2.8's round robin does nothing, and of an even number of partitions each record comes here (KAFKA-9965).
    if strategy != Strategy::RoundRobin28 {
        let from = state.topics[record.topic].sticky.get();
        strategy.on_new_batch(state, record.topic, previous)?;
        if let (Some(from), Some(to)) = (from, state.topics[record.topic].sticky.get())
            && from != to
        {
            batches.switched(from, to);
        }
    }
    let partition = own_or_chosen(strategy, state, settings, record)?;
    append_or_begin(partition, batches);
    Ok(partition)
}

#[inline]
fn own_or_chosen(strategy: Strategy, state: &mut State, settings: &Settings, record: &Record) -> Result<i32> {
    if let Some(partition) = record.partition {
        return Ok(partition);
    }
    let chosen = strategy.partition(state, settings, record)?;
    chosen.ok_or_else(|| strategy.has_no("partition"))
}

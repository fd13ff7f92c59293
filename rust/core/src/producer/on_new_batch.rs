//! A strategy that is told about batches (`Partitioner.onNewBatch`, Kafka 2.4 to 3.9). A record that would begin a
//! batch is not appended (`abortOnNewBatch`); the strategy is told, and asked again.

use super::append::{Appends, append_or_begin};
use super::record::Record;
use super::settings::Settings;
use super::state::State;
use super::strategy::Strategy;
use crate::Result;

/// Appends a record where the strategy finally puts it, and returns the partition.
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
    // For 2.8's round robin this call does nothing, so it counts twice for a record that begins a batch (KAFKA-9965).
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
    let partition = strategy.partition(state, settings, record)?;
    partition.ok_or_else(|| strategy.has_no("partition"))
}

//! A simulation of batches over columns: record batches in, tables out.

use std::sync::Arc;

use super::records::RecordColumns;
use super::timeline::struct_of;
use crate::Result;
use crate::batching::{EventReport, Rows, Simulation, Why};
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, ListArray, StringArray, StructArray,
};

/// Appends the records of a batch to a simulation; the columns are those of [`place`](super::place). `headers` may be a list of
/// int32, too, the sizes of a record's header values, null for a null value; the headers' names are `h0`, `h1` and so on.
///
/// # Errors
/// [`KeyType`](crate::Error::KeyType) if a column has another type; [`Value`](crate::Error::Value) with the first row
/// that Kafka refuses.
pub fn append_records(
    simulation: &mut Simulation,
    records: &dyn Array,
    report: &mut impl EventReport,
) -> Result<()> {
    RecordColumns::of(records)?.each_block(|records| {
        records.iter().enumerate().try_for_each(|(number, record)| {
            simulation.append(record, report).map_err(|error| (number, error))
        })
    })
}

/// The results of a simulation, as four tables.
pub struct BatchTables {
    /// `partition`, `batch`, `waited_ms`: how long each record waited until its batch was first sent; null if it never
    /// was.
    pub records: StructArray,
    /// `batch`, `partition`, `first_record`, `records`, `bytes`, `fill`, `opened_ms`, `closed_ms`, `why`, `requests`, `sent_ms`,
    /// `acked_ms`, `tries`.
    pub batches: StructArray,
    /// `request`, `broker`, `sent_ms`, `done_ms`, `ok`, `bytes`, `batches`.
    pub requests: StructArray,
    /// `record`, `at_ms`, `from`, `to`.
    pub switches: StructArray,
}

impl BatchTables {
    /// The tables of a simulation whose `batch.size` is this.
    pub fn of(rows: &Rows, batch_size: i32) -> Self {
        Self {
            records: records(rows),
            batches: batches(rows, batch_size),
            requests: requests(rows),
            switches: switches(rows),
        }
    }
}

fn records(rows: &Rows) -> StructArray {
    let sent_ms =
        |batch: u64| rows.batches.get(usize::try_from(batch).ok()?)?.sends.first().map(|&(_, at)| at);
    let placed = &rows.placed;
    struct_of(vec![
        ("partition", Arc::new(placed.iter().map(|row| row.0).collect::<Int32Array>())),
        ("batch", Arc::new(placed.iter().map(|row| long(row.1)).collect::<Int64Array>())),
        (
            "waited_ms",
            Arc::new(placed.iter().map(|row| Some(sent_ms(row.1)? - row.2)).collect::<Int64Array>()),
        ),
    ])
}

fn batches(rows: &Rows, batch_size: i32) -> StructArray {
    let rows = &rows.batches;
    // A batch is a Java array of at most 2^31 - 1 bytes.
    let whole = |bytes: i64| f64::from(i32::try_from(bytes).unwrap_or(i32::MAX));
    let fill = |bytes: i64| whole(bytes) / f64::from(batch_size.max(1));
    struct_of(vec![
        ("batch", numbers(rows.len())),
        ("partition", Arc::new(rows.iter().map(|row| row.partition).collect::<Int32Array>())),
        ("first_record", Arc::new(rows.iter().map(|row| long(row.first_record)).collect::<Int64Array>())),
        ("records", Arc::new(rows.iter().map(|row| row.records).collect::<Int32Array>())),
        ("bytes", Arc::new(rows.iter().map(|row| row.bytes).collect::<Int64Array>())),
        ("fill", Arc::new(rows.iter().map(|row| fill(row.bytes)).collect::<Float64Array>())),
        ("opened_ms", Arc::new(rows.iter().map(|row| row.opened_ms).collect::<Int64Array>())),
        ("closed_ms", Arc::new(rows.iter().map(|row| row.closed_ms).collect::<Int64Array>())),
        ("why", Arc::new(rows.iter().map(|row| row.why.map(Why::name)).collect::<StringArray>())),
        ("requests", lists(rows.iter().map(|row| row.sends.iter().map(|&(request, _)| long(request))))),
        ("sent_ms", lists(rows.iter().map(|row| row.sends.iter().map(|&(_, at)| at)))),
        ("acked_ms", Arc::new(rows.iter().map(|row| row.acked_ms).collect::<Int64Array>())),
        ("tries", Arc::new(rows.iter().map(|row| count(row.sends.len())).collect::<Int32Array>())),
    ])
}

fn requests(rows: &Rows) -> StructArray {
    let rows = &rows.requests;
    struct_of(vec![
        ("request", numbers(rows.len())),
        ("broker", Arc::new(rows.iter().map(|row| row.node).collect::<Int32Array>())),
        ("sent_ms", Arc::new(rows.iter().map(|row| row.sent_ms).collect::<Int64Array>())),
        ("done_ms", Arc::new(rows.iter().map(|row| row.done_ms).collect::<Int64Array>())),
        ("ok", Arc::new(rows.iter().map(|row| Some(row.is_ok)).collect::<BooleanArray>())),
        ("bytes", Arc::new(rows.iter().map(|row| row.bytes).collect::<Int64Array>())),
        ("batches", lists(rows.iter().map(|row| row.batches.iter().map(|&batch| long(batch))))),
    ])
}

fn switches(rows: &Rows) -> StructArray {
    let rows = &rows.switches;
    struct_of(vec![
        ("record", Arc::new(rows.iter().map(|row| long(row.record)).collect::<Int64Array>())),
        ("at_ms", Arc::new(rows.iter().map(|row| row.at_ms).collect::<Int64Array>())),
        ("from", Arc::new(rows.iter().map(|row| row.from).collect::<Int32Array>())),
        ("to", Arc::new(rows.iter().map(|row| row.to).collect::<Int32Array>())),
    ])
}

fn numbers(count: usize) -> ArrayRef {
    Arc::new((0..).take(count).collect::<Int64Array>())
}

fn lists(lists: impl Iterator<Item = impl Iterator<Item = i64>>) -> ArrayRef {
    Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists.map(|list| Some(list.map(Some)))))
}

/// Numbers of records, batches and requests, which always fit.
fn long(number: u64) -> i64 {
    number.cast_signed()
}

fn count(tries: usize) -> i32 {
    i32::try_from(tries).unwrap_or(i32::MAX)
}

//! A table of records, and the partition of each: the column form of `producer`.

use arrow_array::builder::Int32Builder;
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type};
use arrow_array::{Array, Int32Array, PrimitiveArray, StructArray};

use crate::producer::{Producer, Record};
use crate::{Error, Result};

/// The partition of each record, in the order of the rows; null where there is neither a key nor a strategy for records
/// without. Each column but the last may be missing, and is null for each row then.
///
/// | column | holds |
/// | --- | --- |
/// | `topic`: int32 | the place of the record's topic among the producer's; 0 where the column is missing |
/// | `partition`: int32 | the partition that the record names |
/// | `keyed`: int32 | that of its key, or of its field |
/// | `key_size`, `value_size`: int32 | how many bytes these have; null for a null |
/// | `time`: int64 | when it is sent, in milliseconds; 0 where the column is missing |
///
/// # Errors
/// [`Error::KeyType`] where a column is of another type; [`Error::Value`] with the first row that has no partition: the
/// records before it have been placed.
pub fn place(producer: &mut Producer, records: &dyn Array) -> Result<Int32Array> {
    let records = records.as_any().downcast_ref::<StructArray>();
    let records = records.ok_or_else(|| Error::KeyType("records are a record batch".to_owned()))?;
    let rows = records.len();
    let (topic, partition, keyed) = (
        Numbers::<Int32Type>::of(records, "topic")?,
        Numbers::<Int32Type>::of(records, "partition")?,
        Numbers::<Int32Type>::of(records, "keyed")?,
    );
    let (key_size, value_size, time) = (
        Numbers::<Int32Type>::of(records, "key_size")?,
        Numbers::<Int32Type>::of(records, "value_size")?,
        Numbers::<Int64Type>::of(records, "time")?,
    );
    let mut placed = Int32Builder::with_capacity(rows);
    for row in 0..rows {
        let record = Record {
            topic: topic.get(row).map_or(0, place_of),
            partition: partition.get(row),
            keyed: keyed.get(row),
            key_size: key_size.get(row).unwrap_or(NULL),
            value_size: value_size.get(row).unwrap_or(NULL),
            at: time.get(row).unwrap_or_default(),
        };
        let found =
            producer.place(&record).map_err(|error| Error::Value { row, reason: error.to_string() })?;
        placed.append_option(found);
    }
    Ok(placed.finish())
}

/// The size of what is null.
const NULL: i32 = -1;

/// A column of numbers that may be missing.
struct Numbers<'a, T: ArrowPrimitiveType>(Option<&'a PrimitiveArray<T>>);

impl<'a, T: ArrowPrimitiveType> Numbers<'a, T> {
    fn of(records: &'a StructArray, name: &str) -> Result<Self> {
        let Some(column) = records.column_by_name(name) else { return Ok(Self(None)) };
        let column = column.as_any().downcast_ref();
        let of_type = || Error::KeyType(format!("the records' column {name:?} is no {}", T::DATA_TYPE));
        column.map(|column| Self(Some(column))).ok_or_else(of_type)
    }

    #[inline]
    fn get(&self, row: usize) -> Option<T::Native> {
        self.0.filter(|column| column.is_valid(row)).map(|column| column.value(row))
    }
}

/// What the caller has counted from 0.
fn place_of(topic: i32) -> usize {
    usize::try_from(topic).unwrap_or_default()
}

//! A table of records, and the partition of each: the column form of `producer`.

use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type};
use arrow_array::{Array, Int32Array, ListArray, PrimitiveArray, StructArray};
use arrow_buffer::{NullBuffer, NullBufferBuilder};

use crate::producer::{Producer, Record, headers_size};
use crate::{Error, Result};

/// The partition of each record, in the order of the rows; null if there is neither a key nor a strategy for records
/// without one. Each column may be missing; it is then null in each row.
///
/// | column | holds |
/// | --- | --- |
/// | `topic`: int32 | the place of the record's topic among the producer's; 0 if the column is missing |
/// | `partition`: int32 | the partition that the record names |
/// | `keyed`: int32 | the partition of its key, or of its field |
/// | `key_size`, `value_size`: int32 | how many bytes these have; null for a null |
/// | `time`: int64 | when it is sent, in milliseconds; 0 if the column is missing |
/// | `headers`: list of structs `name_size`, `value_size`: int32 | how many bytes each header's name and value have; null for a null value |
///
/// # Errors
/// [`Error::KeyType`] if a column has another type; [`Error::Value`] with the first row without a partition; the
/// records before it have been placed.
pub fn place(producer: &mut Producer, records: &dyn Array) -> Result<Int32Array> {
    let columns = RecordColumns::of(records)?;
    let mut placed = Vec::with_capacity(columns.rows);
    // No bitmap is written as long as there is no null.
    let mut valid = NullBufferBuilder::new(columns.rows);
    columns.each_block(|records| {
        producer.place_each(records, |partition| {
            placed.push(partition.unwrap_or_default());
            valid.append(partition.is_some());
        })
    })?;
    Ok(Int32Array::new(placed.into(), valid.finish()))
}

/// The size of a null.
const NULL: i32 = -1;
/// This many records at a time fit into the processor's nearest cache.
const BLOCK: usize = 256;

/// The columns of a batch of records.
pub(super) struct RecordColumns<'a> {
    rows: usize,
    topic: NumberColumn<'a, Int32Type>,
    partition: NumberColumn<'a, Int32Type>,
    keyed: NumberColumn<'a, Int32Type>,
    key_size: NumberColumn<'a, Int32Type>,
    value_size: NumberColumn<'a, Int32Type>,
    headers: Option<Headers<'a>>,
    time: NumberColumn<'a, Int64Type>,
}

impl<'a> RecordColumns<'a> {
    pub(super) fn of(records: &'a dyn Array) -> Result<Self> {
        let records = records.as_any().downcast_ref::<StructArray>();
        let records = records.ok_or_else(|| Error::KeyType("records are a record batch".to_owned()))?;
        Ok(Self {
            rows: records.len(),
            topic: NumberColumn::of(records, "topic")?,
            partition: NumberColumn::of(records, "partition")?,
            keyed: NumberColumn::of(records, "keyed")?,
            key_size: NumberColumn::of(records, "key_size")?,
            value_size: NumberColumn::of(records, "value_size")?,
            headers: Headers::of(records)?,
            time: NumberColumn::of(records, "time")?,
        })
    }

    /// Passes on the records, some at a time, up to the first refused one; returns its number and why.
    ///
    /// # Errors
    /// [`Error::Value`] with that row.
    pub(super) fn each_block(
        &self,
        mut take: impl FnMut(&[Record]) -> std::result::Result<(), (usize, Error)>,
    ) -> Result<()> {
        let mut block = [Record { key_size: NULL, value_size: NULL, ..Record::default() }; BLOCK];
        for first in (0..self.rows).step_by(BLOCK) {
            let block = &mut block[..BLOCK.min(self.rows - first)];
            let read = self.read(first, block);
            let whole = read.as_ref().err().map_or(block.len(), |(number, _)| *number);
            take(&block[..whole])
                .and(read)
                .map_err(|(number, error)| Error::Value { row: first + number, reason: error.to_string() })?;
        }
        Ok(())
    }

    /// Column by column, each a loop without branches. Missing columns change nothing.
    fn read(&self, first: usize, block: &mut [Record]) -> std::result::Result<(), (usize, Error)> {
        self.topic.read(first, block, |record, topic| record.topic = topic.map_or(0, place_of));
        self.partition.read(first, block, |record, partition| record.partition = partition);
        self.keyed.read(first, block, |record, keyed| record.keyed = keyed);
        self.key_size.read(first, block, |record, size| record.key_size = size.unwrap_or(NULL));
        self.value_size.read(first, block, |record, size| record.value_size = size.unwrap_or(NULL));
        self.time.read(first, block, |record, time| record.at = time.unwrap_or_default());
        let Some(headers) = &self.headers else { return Ok(()) };
        for (number, record) in block.iter_mut().enumerate() {
            record.headers_size = headers.size(first + number).map_err(|error| (number, error))?;
        }
        Ok(())
    }
}

/// The sizes of each record's headers.
struct Headers<'a> {
    lists: &'a ListArray,
    /// The sizes of their names; without them, the names are `h0`, `h1` and so on.
    names: Option<&'a [i32]>,
    values: &'a Int32Array,
}

impl<'a> Headers<'a> {
    fn of(records: &'a StructArray) -> Result<Option<Self>> {
        let Some(column) = records.column_by_name("headers") else { return Ok(None) };
        let headers = column.as_any().downcast_ref::<ListArray>().and_then(Self::of_lists);
        headers.map(Some).ok_or_else(|| {
            Error::KeyType(
                "the records' column \"headers\" is a list neither of Int32 nor of name_size and value_size"
                    .to_owned(),
            )
        })
    }

    fn of_lists(lists: &'a ListArray) -> Option<Self> {
        let inner = lists.values().as_any();
        if let Some(values) = inner.downcast_ref() {
            return Some(Self { lists, names: None, values });
        }
        let pairs: &StructArray = inner.downcast_ref()?;
        let sizes = |name| pairs.column_by_name(name)?.as_any().downcast_ref::<Int32Array>();
        Some(Self { lists, names: Some(sizes("name_size")?.values()), values: sizes("value_size")? })
    }

    /// The size of a record's headers.
    fn size(&self, row: usize) -> Result<i32> {
        if self.lists.is_null(row) {
            return Ok(0);
        }
        let [first, end] = [row, row + 1].map(|place| self.lists.value_offsets()[place]).map(place_of);
        let bytes =
            headers_size((first..end).map(|place| (self.name(place, place - first), self.value(place))));
        i32::try_from(bytes).map_err(|_| {
            Error::Producer(format!("its headers are {bytes} bytes, and no Java array is as long"))
        })
    }

    fn name(&self, place: usize, number: usize) -> i32 {
        let own = || number.checked_ilog10().unwrap_or_default().cast_signed() + 2;
        self.names.map_or_else(own, |names| names[place])
    }

    fn value(&self, place: usize) -> i32 {
        if self.values.is_valid(place) { self.values.value(place) } else { NULL }
    }
}

/// A column of numbers that may be missing.
struct NumberColumn<'a, T: ArrowPrimitiveType> {
    values: Option<&'a [T::Native]>,
    nulls: Option<&'a NullBuffer>,
}

impl<'a, T: ArrowPrimitiveType> NumberColumn<'a, T> {
    fn of(records: &'a StructArray, name: &str) -> Result<Self> {
        let Some(column) = records.column_by_name(name) else {
            return Ok(Self { values: None, nulls: None });
        };
        let column = column.as_any().downcast_ref::<PrimitiveArray<T>>().ok_or_else(|| {
            Error::KeyType(format!("the records' column {name:?} is not of type {}", T::DATA_TYPE))
        })?;
        Ok(Self { values: Some(column.values()), nulls: column.nulls() })
    }

    /// Sets this column's value in each record.
    #[inline]
    fn read(&self, first: usize, block: &mut [Record], set: impl Fn(&mut Record, Option<T::Native>)) {
        let Some(values) = self.values else { return };
        let values = &values[first..first + block.len()];
        let rows = block.iter_mut().zip(values);
        match self.nulls {
            None => rows.for_each(|(record, &value)| set(record, Some(value))),
            Some(nulls) => {
                let nulls = nulls.slice(first, values.len());
                rows.zip(&nulls).for_each(|((record, &value), valid)| set(record, valid.then_some(value)));
            }
        }
    }
}

/// What is counted from 0.
fn place_of(number: i32) -> usize {
    usize::try_from(number).unwrap_or_default()
}

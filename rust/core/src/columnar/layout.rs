//! A column of key bytes by how they lie in memory: six layouts stand for every type of key column.

use arrow_array::{Array, ArrayRef, Int32Array, OffsetSizeTrait, downcast_integer_array};
use arrow_buffer::{ArrowNativeType, BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};

use super::type_name::type_name;
use crate::{Error, Result};

/// The key bytes of a column, row by row, without a copy of them where the column's own bytes are the key's.
#[derive(Clone, Debug)]
pub struct KeyColumn {
    pub(super) layout: Layout,
    /// Which rows have a key; shared with the column that they came from. A dictionary's are those of its indices: the
    /// value that an index points at may be null too.
    pub(super) nulls: Option<NullBuffer>,
    pub(super) rows: usize,
    /// How many bytes at each key's start do not belong to it.
    pub(super) skip: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Layout {
    /// No row has a key.
    Null,
    /// `Utf8`, `Binary`.
    Offsets(OffsetBuffer<i32>, Buffer),
    /// `LargeUtf8`, `LargeBinary`.
    LargeOffsets(OffsetBuffer<i64>, Buffer),
    /// `Utf8View`, `BinaryView`.
    Views(ScalarBuffer<u128>, Vec<Buffer>),
    /// `FixedSizeBinary`, and whatever had to be encoded: so many bytes a row.
    Fixed(usize, Buffer),
    /// `Dictionary`: an integer array of indices into the values.
    Dictionary(ArrayRef, Box<KeyColumn>),
}

impl KeyColumn {
    /// How many rows the column has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Where in memory the buffer with the keys' bytes begins, `None` for a column without one: a test's means to see
    /// that keys are read in place.
    pub fn address(&self) -> Option<usize> {
        match &self.layout {
            Layout::Null => None,
            Layout::Offsets(_, data) | Layout::LargeOffsets(_, data) | Layout::Fixed(_, data) => {
                Some(data.as_ptr().addr())
            }
            Layout::Views(views, buffers) => {
                let data = buffers.iter().find(|buffer| !buffer.is_empty());
                Some(data.unwrap_or_else(|| views.inner()).as_ptr().addr())
            }
            Layout::Dictionary(_, values) => values.address(),
        }
    }

    /// One result a row from each key's bytes, null where the key is null; each value of a dictionary is taken once.
    ///
    /// The validity bitmap of the result is the column's own, unless a row of a dictionary has a null value.
    ///
    /// # Errors
    /// [`Error::Malformed`] where the column's offsets point outside of its data, [`Error::Memory`].
    pub fn map<F: Fn(&[u8]) -> i32>(&self, rule: &F) -> Result<Int32Array> {
        match &self.layout {
            Layout::Null => {
                // Asked for first: where Arrow itself gets no memory, it ends the process.
                drop(room::<i32>(self.rows)?);
                Ok(Int32Array::new_null(self.rows))
            }
            Layout::Offsets(offsets, data) => self.fill(rule, |row| between(offsets, data, row)),
            Layout::LargeOffsets(offsets, data) => self.fill(rule, |row| between(offsets, data, row)),
            Layout::Views(views, buffers) => self.fill(rule, |row| view(views, buffers, row)),
            Layout::Fixed(width, data) => self.fill(rule, |row| fixed(*width, data, row)),
            Layout::Dictionary(indices, values) => self.look_up(indices, &values.map(rule)?),
        }
    }

    fn fill<'a>(
        &self,
        rule: impl Fn(&[u8]) -> i32,
        key: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> Result<Int32Array> {
        let one = |row: usize| -> Result<i32> {
            let bytes = key(row).and_then(|bytes| bytes.get(self.skip..)).ok_or(Error::Malformed { row })?;
            Ok(rule(bytes))
        };
        let mut results = room(self.rows)?;
        match &self.nulls {
            None => {
                for row in 0..self.rows {
                    results.push(one(row)?);
                }
            }
            // What stands under a null is not looked at: Arrow lets it be anything.
            Some(nulls) => {
                for (row, valid) in nulls.iter().enumerate() {
                    results.push(if valid { one(row)? } else { 0 });
                }
            }
        }
        Ok(Int32Array::new(results.into(), self.nulls.clone()))
    }

    /// The result of each row's value, where `values` are the results of a dictionary's.
    fn look_up(&self, indices: &dyn Array, values: &Int32Array) -> Result<Int32Array> {
        let nulls = self.nulls.as_ref();
        let (mut results, mut any_null_value) = (room(self.rows)?, false);
        each_index(indices, nulls, |row, index| {
            let Some(index) = index else {
                results.push(0);
                return Ok(());
            };
            results.push(*values.values().get(index).ok_or(Error::Malformed { row })?);
            any_null_value |= values.is_null(index);
            Ok(())
        })?;
        if !any_null_value {
            return Ok(Int32Array::new(results.into(), self.nulls.clone()));
        }
        let mut valid = BooleanBufferBuilder::new(self.rows);
        each_index(indices, nulls, |_, index| {
            valid.append(index.is_some_and(|index| values.is_valid(index)));
            Ok(())
        })?;
        Ok(Int32Array::new(results.into(), Some(NullBuffer::new(valid.finish()))))
    }

    /// The key of one row, `None` where it is null and beyond the last row.
    ///
    /// # Errors
    /// [`Error::Malformed`] where the row's offsets point outside of the column's data.
    pub fn key(&self, row: usize) -> Result<Option<&[u8]>> {
        if row >= self.rows || self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return Ok(None);
        }
        let bytes = match &self.layout {
            Layout::Null => return Ok(None),
            Layout::Offsets(offsets, data) => between(offsets, data, row),
            Layout::LargeOffsets(offsets, data) => between(offsets, data, row),
            Layout::Views(views, buffers) => view(views, buffers, row),
            Layout::Fixed(width, data) => fixed(*width, data, row),
            Layout::Dictionary(indices, values) => {
                let index = index(indices, row).filter(|index| *index < values.rows);
                let key = values.key(index.ok_or(Error::Malformed { row })?);
                return key.map_err(|_| Error::Malformed { row });
            }
        };
        bytes.and_then(|bytes| bytes.get(self.skip..)).map(Some).ok_or(Error::Malformed { row })
    }
}

/// An empty vector with room for one item a row.
pub(super) fn room<T>(rows: usize) -> Result<Vec<T>> {
    let mut items = Vec::new();
    items.try_reserve_exact(rows).map_err(|_| Error::Memory { rows })?;
    Ok(items)
}

/// The bytes between two offsets.
#[inline]
pub(super) fn between<'a, O: OffsetSizeTrait>(
    offsets: &OffsetBuffer<O>,
    data: &'a Buffer,
    row: usize,
) -> Option<&'a [u8]> {
    data.as_slice().get(offsets[row].to_usize()?..offsets[row + 1].to_usize()?)
}

/// The bytes of a view, whose low 4 bytes are the length: up to 12 bytes follow it, more stand in a buffer.
#[inline]
fn view<'a>(views: &'a ScalarBuffer<u128>, buffers: &'a [Buffer], row: usize) -> Option<&'a [u8]> {
    const WIDTH: usize = size_of::<u128>();
    let bytes = fixed(WIDTH, views.inner(), row)?;
    let field = |place: usize| -> Option<usize> {
        let bytes: [u8; 4] = bytes.get(place..place + 4)?.try_into().ok()?;
        usize::try_from(i32::from_le_bytes(bytes)).ok()
    };
    let length = field(0)?;
    if length <= WIDTH - 4 {
        return bytes.get(4..4 + length);
    }
    let (buffer, offset) = (field(8)?, field(12)?);
    buffers.get(buffer)?.as_slice().get(offset..offset + length)
}

#[inline]
fn fixed(width: usize, data: &Buffer, row: usize) -> Option<&[u8]> {
    data.as_slice().get(row * width..(row + 1) * width)
}

/// The index in one row, `None` where it is negative.
fn index(indices: &dyn Array, row: usize) -> Option<usize> {
    downcast_integer_array!(
        indices => indices.value(row).to_usize(),
        _other => None,
    )
}

/// Gives `take` each row and its index, `None` where `nulls` says so.
pub(super) fn each_index(
    indices: &dyn Array,
    nulls: Option<&NullBuffer>,
    mut take: impl FnMut(usize, Option<usize>) -> Result<()>,
) -> Result<()> {
    downcast_integer_array!(
        indices => indices.values().iter().enumerate().try_for_each(|(row, index)| {
            if nulls.is_some_and(|nulls| nulls.is_null(row)) {
                return take(row, None);
            }
            take(row, Some(index.to_usize().ok_or(Error::Malformed { row })?))
        }),
        other => Err(Error::KeyType(format!("a dictionary's indices are integers, not {}", type_name(other)))),
    )
}

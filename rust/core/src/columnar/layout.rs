//! A column of key bytes by how they lie in memory: six layouts stand for every type of key column.

use arrow_array::{Array, ArrayRef, Int32Array, OffsetSizeTrait, downcast_integer_array};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};

use crate::{Error, Result};

/// The key bytes of a column, row by row, without a copy of them where the column's own bytes are the key's.
#[derive(Clone, Debug)]
pub struct KeyColumn {
    pub(super) layout: Layout,
    /// Which rows have a key; shared with the column that they came from. A dictionary's are those of its indices.
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
                Some(buffers.first().unwrap_or_else(|| views.inner()).as_ptr().addr())
            }
            Layout::Dictionary(_, values) => values.address(),
        }
    }

    /// One result a row from each key's bytes, null where the key is null; each value of a dictionary is taken once.
    ///
    /// # Errors
    /// [`Error::Malformed`] where the column's offsets point outside of its data.
    pub fn map<F: Fn(&[u8]) -> i32>(&self, rule: &F) -> Result<Int32Array> {
        match &self.layout {
            Layout::Null => Ok(Int32Array::new_null(self.rows)),
            Layout::Offsets(offsets, data) => self.fill(rule, |row| between(offsets, data, row)),
            Layout::LargeOffsets(offsets, data) => self.fill(rule, |row| between(offsets, data, row)),
            Layout::Views(views, buffers) => self.fill(rule, |row| view(views, buffers, row)),
            Layout::Fixed(width, data) => self.fill(rule, |row| fixed(*width, data, row)),
            Layout::Dictionary(indices, values) => {
                let values = values.map(rule)?;
                let mut results = Int32Array::builder(self.rows);
                each_index(indices.as_ref(), |row, index| {
                    match index {
                        Some(index) if index >= values.len() => return Err(Error::Malformed { row }),
                        Some(index) if values.is_valid(index) => results.append_value(values.value(index)),
                        _ => results.append_null(),
                    }
                    Ok(())
                })?;
                Ok(results.finish())
            }
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
        let mut results = Vec::with_capacity(self.rows);
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

    /// Gives `take` the key of each row in turn, `None` where it is null.
    ///
    /// # Errors
    /// [`Error::Malformed`] where the column's offsets point outside of its data, and those of `take`.
    pub(super) fn each(&self, mut take: impl FnMut(Option<&[u8]>) -> Result<()>) -> Result<()> {
        if let Layout::Dictionary(indices, values) = &self.layout {
            return each_index(indices.as_ref(), |row, index| match index {
                Some(index) if index >= values.rows => Err(Error::Malformed { row }),
                Some(index) => take(values.key(index).map_err(|_| Error::Malformed { row })?),
                None => take(None),
            });
        }
        (0..self.rows).try_for_each(|row| take(self.key(row)?))
    }

    /// The key of one row of a column that is no dictionary: Arrow does not nest them.
    pub(super) fn key(&self, row: usize) -> Result<Option<&[u8]>> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return Ok(None);
        }
        let bytes = match &self.layout {
            Layout::Null => return Ok(None),
            Layout::Offsets(offsets, data) => between(offsets, data, row),
            Layout::LargeOffsets(offsets, data) => between(offsets, data, row),
            Layout::Views(views, buffers) => view(views, buffers, row),
            Layout::Fixed(width, data) => fixed(*width, data, row),
            Layout::Dictionary(..) => None,
        };
        bytes.and_then(|bytes| bytes.get(self.skip..)).map(Some).ok_or(Error::Malformed { row })
    }
}

/// The bytes between two offsets.
#[inline]
fn between<'a, O: OffsetSizeTrait>(
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

/// Gives `take` each row and its index, `None` where that is null.
pub(super) fn each_index(
    indices: &dyn Array,
    mut take: impl FnMut(usize, Option<usize>) -> Result<()>,
) -> Result<()> {
    downcast_integer_array!(
        indices => indices.iter().enumerate().try_for_each(|(row, index)| match index {
            None => take(row, None),
            Some(index) => take(row, Some(index.to_usize().ok_or(Error::Malformed { row })?)),
        }),
        other => Err(Error::KeyType(format!("a dictionary's indices are integers, not {other}"))),
    )
}

//! A column of key bytes by its memory layout: six layouts cover every type of key column.

use std::ops::Range;

use arrow_array::{Array, ArrayRef, Int32Array, downcast_integer_array};
use arrow_buffer::{ArrowNativeType, BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};

use super::type_name::type_name;
use super::workers::{Job, Workers};
use crate::hashing::lanes::{
    Finish, Fixed, Keys, Lanes, Offset, Offsets, Piece, Validity, Views, each, filled,
};
use crate::{Error, Result};

/// The key bytes of a column, row by row, without a copy if the column's own bytes are the keys.
#[derive(Clone, Debug)]
pub struct KeyColumn {
    pub(super) layout: Layout,
    /// Which rows have a key; shared with the original column. For a dictionary, this is about its indices; the value
    /// at an index may also be null.
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
    /// `FixedSizeBinary`, and everything that had to be encoded: a fixed number of bytes per row.
    Fixed(usize, Buffer),
    /// `Dictionary`: an integer array of indices into the values.
    Dictionary(ArrayRef, Box<KeyColumn>),
}

impl KeyColumn {
    /// How many rows the column has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The address of the buffer with the keys' bytes, `None` for a column without one. Tests use it to see that keys
    /// are read in place.
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

    /// One result per row, null for a null key; each value of a dictionary is used once.
    ///
    /// The validity bitmap of the result is the column's own, unless a row of a dictionary has a null value.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the column's offsets point outside its data, [`Error::Memory`].
    pub(super) fn map<M: KeyMap>(&self, map: &M, workers: &dyn Workers) -> Result<Int32Array> {
        match &self.layout {
            Layout::Null => {
                // Allocated first, because Arrow itself aborts the process if it gets no memory.
                drop(room::<i32>(self.rows)?);
                Ok(Int32Array::new_null(self.rows))
            }
            Layout::Offsets(offsets, data) => self.fill(map, workers, &self.between(offsets, data)),
            Layout::LargeOffsets(offsets, data) => self.fill(map, workers, &self.between(offsets, data)),
            Layout::Views(views, buffers) => self.fill(map, workers, &self.viewed(views, buffers)),
            Layout::Fixed(width, data) => self.fill(map, workers, &self.fixed(*width, data)),
            Layout::Dictionary(indices, values) => self.look_up(indices, &values.map(map, workers)?),
        }
    }

    fn fill<'a, M: KeyMap, K: Keys<'a>>(
        &self,
        map: &M,
        workers: &dyn Workers,
        keys: &K,
    ) -> Result<Int32Array> {
        let results = room(self.rows)?;
        let validity = self.nulls.as_ref().map(|nulls| {
            let bits = nulls.inner();
            Validity { bits: bits.values(), offset: bits.offset() }
        });
        let piece = self.rows.div_ceil(workers.pieces(self.rows).max(1));
        let (mut broken, mut all_broken) = (None, Vec::new());
        let filled = filled(results, self.rows, piece, |pieces| {
            // The value under a null is not read, because in Arrow it may be anything.
            if let [whole] = pieces {
                broken = map.map(keys, Piece { rows: 0..self.rows, validity, answers: whole }).err();
                return;
            }
            all_broken.resize(pieces.len(), None);
            let jobs = pieces.iter_mut().zip(&mut all_broken).enumerate().map(|(number, (space, broken))| {
                let rows = number * piece..self.rows.min((number + 1) * piece);
                Box::new(move || *broken = map.map(keys, Piece { rows, validity, answers: space }).err())
                    as Job<'_>
            });
            workers.work(jobs.collect());
        });
        // The pieces are in the order of the rows.
        let row = broken.or_else(|| all_broken.into_iter().flatten().next());
        let results = filled.filter(|_| row.is_none()).ok_or(Error::Malformed { row: row.unwrap_or(0) })?;
        Ok(Int32Array::new(results.into(), self.nulls.clone()))
    }

    pub(super) fn between<'a, O: Offset + ArrowNativeType>(
        &self,
        offsets: &'a OffsetBuffer<O>,
        data: &'a Buffer,
    ) -> Offsets<'a, O> {
        Offsets { data, places: offsets, skip: self.skip }
    }

    fn viewed<'a>(&self, views: &'a ScalarBuffer<u128>, buffers: &'a [Buffer]) -> Views<'a, Buffer> {
        Views { heads: views.inner(), buffers, skip: self.skip }
    }

    fn fixed<'a>(&self, width: usize, data: &'a Buffer) -> Fixed<'a> {
        Fixed { data, width, skip: self.skip }
    }

    /// The result of each row's value, if `values` are the results of a dictionary's values.
    fn look_up(&self, indices: &dyn Array, values: &Int32Array) -> Result<Int32Array> {
        let results = downcast_integer_array!(
            indices => self.looked_up(indices.values(), values.values()),
            other => Err(Error::KeyType(format!("a dictionary's indices are integers, not {}", type_name(other)))),
        )?;
        if values.null_count() == 0 {
            return Ok(Int32Array::new(results.into(), self.nulls.clone()));
        }
        let (mut valid, mut any_null_value) = (BooleanBufferBuilder::new(self.rows), false);
        each_index(indices, self.nulls.as_ref(), |_, index| {
            let is_valid = index.is_some_and(|index| values.is_valid(index));
            any_null_value |= !is_valid && index.is_some();
            valid.append(is_valid);
            Ok(())
        })?;
        let nulls = if any_null_value { Some(NullBuffer::new(valid.finish())) } else { self.nulls.clone() };
        Ok(Int32Array::new(results.into(), nulls))
    }

    /// The value at each index; the number under a null may not be a valid index.
    fn looked_up<I: ArrowNativeType>(&self, indices: &[I], values: &[i32]) -> Result<Vec<i32>> {
        let mut results = room(self.rows)?;
        let mut all_there = true;
        // A negative index becomes one beyond all values.
        results.extend(indices.iter().map(|index| {
            let value = values.get(index.as_usize());
            all_there &= value.is_some();
            value.copied().unwrap_or(0)
        }));
        let nulls = self.nulls.as_ref();
        if !all_there || nulls.is_some() {
            for (row, index) in indices.iter().enumerate() {
                if nulls.is_some_and(|nulls| nulls.is_null(row)) {
                    results[row] = 0;
                } else if index.as_usize() >= values.len() {
                    return Err(Error::Malformed { row });
                }
            }
        }
        Ok(results)
    }

    /// The key of one row; `None` if it is null or beyond the last row.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the row's offsets point outside the column's data.
    pub fn key(&self, row: usize) -> Result<Option<&[u8]>> {
        let mut key = None;
        if row < self.rows {
            self.each(row..row + 1, |_, each| key = each)?;
        }
        Ok(key)
    }

    /// Hands some rows over with their keys, `None` for a null; the layout is asked for only once.
    ///
    /// # Errors
    /// [`Error::Malformed`] for the first row whose offsets point outside the column's data.
    pub(super) fn each<'a>(
        &'a self,
        rows: Range<usize>,
        mut take: impl FnMut(usize, Option<&'a [u8]>),
    ) -> Result<()> {
        match &self.layout {
            Layout::Offsets(offsets, data) => self.each_of(&self.between(offsets, data), rows, take)?,
            Layout::LargeOffsets(offsets, data) => self.each_of(&self.between(offsets, data), rows, take)?,
            Layout::Views(views, buffers) => self.each_of(&self.viewed(views, buffers), rows, take)?,
            Layout::Fixed(width, data) => self.each_of(&self.fixed(*width, data), rows, take)?,
            Layout::Null => rows.for_each(|row| take(row, None)),
            Layout::Dictionary(indices, values) => {
                for row in rows {
                    take(row, self.looked_up_key(indices, values, row)?);
                }
            }
        }
        Ok(())
    }

    /// The key of one row of a dictionary.
    fn looked_up_key<'a>(
        &self,
        indices: &dyn Array,
        values: &'a KeyColumn,
        row: usize,
    ) -> Result<Option<&'a [u8]>> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return Ok(None);
        }
        let index = index(indices, row).filter(|index| *index < values.rows);
        values.key(index.ok_or(Error::Malformed { row })?).map_err(|_| Error::Malformed { row })
    }

    fn each_of<'a, K: Keys<'a>>(
        &self,
        keys: &K,
        rows: Range<usize>,
        mut take: impl FnMut(usize, Option<&'a [u8]>),
    ) -> Result<()> {
        for row in rows {
            let is_null = self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
            let key = if is_null { None } else { keys.key(row) };
            if key.is_none() && !is_null {
                return Err(Error::Malformed { row });
            }
            take(row, key);
        }
        Ok(())
    }
}

/// A way from keys to results.
pub(super) trait KeyMap: Sync {
    /// Writes a result for each row of a piece, and 0 where there is no key.
    ///
    /// # Errors
    /// The first row whose key is outside its buffer.
    fn map<'a>(&self, keys: &impl Keys<'a>, piece: Piece<'_, '_>) -> std::result::Result<(), usize>;
}

/// A rule for one key after the other.
pub(super) struct Each<F>(pub(super) F);

impl<F: Fn(&[u8]) -> i32 + Sync> KeyMap for Each<F> {
    fn map<'a>(&self, keys: &impl Keys<'a>, piece: Piece<'_, '_>) -> std::result::Result<(), usize> {
        each(keys, piece, &self.0)
    }
}

/// murmur2 and the step after it, for as many keys at once as the processor can handle.
impl KeyMap for Finish {
    fn map<'a>(&self, keys: &impl Keys<'a>, piece: Piece<'_, '_>) -> std::result::Result<(), usize> {
        Lanes::widest().hash(keys, piece, *self)
    }
}

/// An empty vector with room for one item per row.
pub(super) fn room<T>(rows: usize) -> Result<Vec<T>> {
    let mut items = Vec::new();
    items.try_reserve_exact(rows).map_err(|_| Error::Memory { rows })?;
    Ok(items)
}

/// The bytes of some rows one after the other, and their offsets.
pub(super) fn in_a_row<B: AsRef<[u8]>>(
    rows: usize,
    mut bytes_of: impl FnMut(usize) -> Result<Option<B>>,
) -> Result<(OffsetBuffer<i32>, Buffer)> {
    let (mut offsets, mut data) = (room(rows.saturating_add(1))?, Vec::new());
    offsets.push(0);
    for row in 0..rows {
        if let Some(bytes) = bytes_of(row)? {
            data.try_reserve(bytes.as_ref().len()).map_err(|_| Error::Memory { rows })?;
            data.extend_from_slice(bytes.as_ref());
        }
        offsets.push(i32::try_from(data.len()).map_err(|_| Error::TooLarge { rows })?);
    }
    Ok((OffsetBuffer::new(offsets.into()), data.into()))
}

/// The index in one row; `None` if it is negative.
fn index(indices: &dyn Array, row: usize) -> Option<usize> {
    downcast_integer_array!(
        indices => indices.value(row).to_usize(),
        _other => None,
    )
}

/// Calls `take` with each row and its index, `None` where `nulls` says so.
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

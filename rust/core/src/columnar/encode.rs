//! Columns of values to columns of key bytes.

use std::sync::Arc;

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::{Array, ArrayRef, BinaryArray, BinaryViewArray, GenericBinaryArray, OffsetSizeTrait};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer};

use super::keys::key_column;
use super::layout::{KeyColumn, Layout, in_a_row, room};
use crate::hashing::KeyType;
use crate::hashing::lanes::{Keys, Offset};
use crate::{Error, Result};

/// The key bytes of each value as a binary column; null for a null.
///
/// Text and binary share their bytes with the resulting column, which is `LargeBinary` for the large types,
/// `BinaryView` for the views and `Binary` for all others.
///
/// ```
/// use arrow_array::{Int64Array, cast::AsArray};
/// use partwright_core::columnar::encode;
/// use partwright_core::hashing::KeyType;
/// let keys = encode(&Int64Array::from(vec![42]), Some(KeyType::JavaLong))?;
/// assert_eq!(keys.as_binary::<i32>().value(0), [0, 0, 0, 0, 0, 0, 0, 42]);
/// # Ok::<(), partwright_core::Error>(())
/// ```
///
/// # Errors
/// Those of [`key_column`], [`Error::Malformed`], and [`Error::TooLarge`] if newly made key bytes are more than 2^31-1.
pub fn encode(values: &dyn Array, key_type: Option<KeyType>) -> Result<ArrayRef> {
    let keys = key_column(values, key_type)?;
    match &keys.layout {
        Layout::Offsets(offsets, data) if keys.skip == 0 => shared(&keys, offsets.clone(), data),
        Layout::LargeOffsets(offsets, data) if keys.skip == 0 => shared(&keys, offsets.clone(), data),
        Layout::Fixed(width, data) if keys.skip == 0 => shared(&keys, steps(*width, keys.rows)?, data),
        Layout::Views(views, buffers) if keys.skip == 0 => {
            match BinaryViewArray::try_new(views.clone(), buffers.clone(), keys.nulls.clone()) {
                Ok(shared) => Ok(Arc::new(shared)),
                // Arrow's check looks under nulls too, where a view may be anything.
                Err(_) => views_of_valid(&keys),
            }
        }
        Layout::Null => {
            drop(room::<i32>(keys.rows.saturating_add(1))?);
            Ok(Arc::new(BinaryArray::new_null(keys.rows)))
        }
        _ => written(&keys),
    }
}

/// The column over the same bytes. Its offsets are checked first, also under nulls, because readers rely on them.
fn shared<O: OffsetSizeTrait + Offset>(
    keys: &KeyColumn,
    offsets: OffsetBuffer<O>,
    data: &Buffer,
) -> Result<ArrayRef> {
    let between = keys.between(&offsets, data);
    match (0..keys.rows).find(|row| between.key(*row).is_none()) {
        Some(row) => Err(Error::Malformed { row }),
        // The only offset of an empty slice may point beyond the data that came with it.
        None if keys.rows == 0 => Ok(Arc::new(GenericBinaryArray::<O>::from_vec(Vec::new()))),
        None => GenericBinaryArray::try_new(offsets, data.clone(), keys.nulls.clone())
            .map(|array| Arc::new(array) as ArrayRef)
            .map_err(|_| Error::Malformed { row: 0 }),
    }
}

/// The offsets of keys that are all `width` bytes long.
fn steps(width: usize, rows: usize) -> Result<OffsetBuffer<i32>> {
    let end = rows.checked_mul(width).and_then(|end| i32::try_from(end).ok());
    let end = end.ok_or(Error::TooLarge { rows })?;
    let mut offsets = room(rows.saturating_add(1))?;
    // No offset is beyond the end, which fits.
    offsets.extend((0..=rows).map(|row| i32::try_from(row * width).unwrap_or(end)));
    Ok(OffsetBuffer::new(offsets.into()))
}

/// The keys in views of their own, empty under nulls.
fn views_of_valid(keys: &KeyColumn) -> Result<ArrayRef> {
    let mut written = BinaryViewBuilder::with_capacity(keys.rows);
    for row in 0..keys.rows {
        written.append_option(keys.key(row)?);
    }
    Ok(Arc::new(written.finish()))
}

/// The keys one after the other in a buffer of their own.
fn written(keys: &KeyColumn) -> Result<ArrayRef> {
    let mut valid = BooleanBufferBuilder::new(keys.rows);
    let (offsets, data) = in_a_row(keys.rows, |row| {
        let key = keys.key(row)?;
        valid.append(key.is_some());
        Ok(key)
    })?;
    let nulls = match keys.layout {
        Layout::Dictionary(..) => Some(NullBuffer::new(valid.finish())),
        _ => keys.nulls.clone(),
    };
    BinaryArray::try_new(offsets, data, nulls)
        .map(|array| Arc::new(array) as ArrayRef)
        .map_err(|_| Error::Malformed { row: 0 })
}

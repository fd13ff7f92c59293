//! Columns of values to columns of key bytes.

use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray};
use arrow_schema::ArrowError;

use super::keys::key_column;
use super::layout::{KeyColumn, Layout};
use crate::hashing::KeyType;
use crate::{Error, Result};

/// The key bytes of each value as a binary column, null where the value is null.
///
/// Text and binary share their bytes with the column that comes out, which is `LargeBinary` for the large types,
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
/// Those of [`key_column`], [`Error::Malformed`], and [`Error::TooLarge`] where what had to be written anew is more than
/// 2^31-1 bytes.
pub fn encode(values: &dyn Array, key_type: Option<KeyType>) -> Result<ArrayRef> {
    let keys = key_column(values, key_type)?;
    let shared = if keys.skip == 0 { share(&keys) } else { None };
    shared.unwrap_or_else(|| write(&keys))
}

/// The column over the same bytes; `None` where its layout is none of a binary column's.
fn share(keys: &KeyColumn) -> Option<Result<ArrayRef>> {
    fn array<A: Array + 'static>(made: std::result::Result<A, ArrowError>) -> Result<ArrayRef> {
        made.map(|array| Arc::new(array) as ArrayRef).map_err(|_| Error::Malformed { row: 0 })
    }
    let nulls = keys.nulls.clone();
    match keys.layout.clone() {
        Layout::Offsets(offsets, data) => Some(array(BinaryArray::try_new(offsets, data, nulls))),
        Layout::LargeOffsets(offsets, data) => Some(array(LargeBinaryArray::try_new(offsets, data, nulls))),
        Layout::Views(views, buffers) => Some(array(BinaryViewArray::try_new(views, buffers, nulls))),
        Layout::Null | Layout::Fixed(..) | Layout::Dictionary(..) => None,
    }
}

/// The column over bytes of its own.
fn write(keys: &KeyColumn) -> Result<ArrayRef> {
    let limit = usize::try_from(i32::MAX).unwrap_or(usize::MAX);
    let mut written = BinaryBuilder::with_capacity(keys.rows, 0);
    let mut size = 0;
    keys.each(|key| {
        size += key.map_or(0, <[u8]>::len);
        if size > limit {
            return Err(Error::TooLarge { rows: keys.rows });
        }
        written.append_option(key);
        Ok(())
    })?;
    Ok(Arc::new(written.finish()))
}

//! The replicas of partitions as a column: the column form of `placement`.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Int32Type};
use arrow_array::{FixedSizeListArray, Int32Array};
use arrow_schema::Field;

use crate::{Error, Result};

/// One row per partition, each with a number of broker IDs.
///
/// # Errors
/// [`Error::Placement`] if there are no replicas, or more of each partition than Arrow's lists hold.
pub fn replicas(placed: Vec<i32>, of_each: usize) -> Result<FixedSizeListArray> {
    let size = i32::try_from(of_each).ok().filter(|&size| size > 0);
    let size = size.ok_or_else(|| Error::Placement(format!("a partition cannot have {of_each} replicas")))?;
    let item = Arc::new(Field::new("item", Int32Type::DATA_TYPE, false));
    Ok(FixedSizeListArray::new(item, size, Arc::new(Int32Array::from(placed)), None))
}

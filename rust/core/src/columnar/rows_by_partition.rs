//! Rows counted, or added up, by partition.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array, StructArray};
use rustc_hash::FxBuildHasher;

use super::key_sums::numbers;
use super::timeline::struct_of;
use crate::Result;

/// Numbers below this have a place of their own, and no hash table is needed.
const NEAR: usize = 1 << 20;

/// How many rows each partition, or another whole number, has: `partition` and `rows`, both int64, the smallest
/// partition first. Null partitions and those whose rows add up to nothing are left out.
///
/// `rows` says how many rows each row stands for, never null; by default one.
///
/// ```
/// use arrow_array::Int64Array;
/// use partwright_core::columnar::rows_by_partition;
/// let partitions = Int64Array::from(vec![Some(8), Some(4), None, Some(8)]);
/// let counts = rows_by_partition(&partitions, Some(&Int64Array::from(vec![1, 2, 3, 4])))?;
/// assert_eq!(**counts.column(0), Int64Array::from(vec![4, 8]));
/// assert_eq!(**counts.column(1), Int64Array::from(vec![2, 5]));
/// # Ok::<(), partwright_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::KeyType`](crate::Error::KeyType) for a column that is not int64, or for two of different lengths.
pub fn rows_by_partition(partitions: &dyn Array, rows: Option<&dyn Array>) -> Result<StructArray> {
    let rows = rows.map(|rows| numbers(rows, partitions.len())).transpose()?;
    let (mut near, mut far) = (Vec::new(), HashMap::<i64, i64, FxBuildHasher>::default());
    for (row, partition) in numbers(partitions, partitions.len())?.iter().enumerate() {
        let Some(partition) = partition else { continue };
        let more = rows.map_or(1, |rows| rows.value(row));
        let sum = match usize::try_from(partition).ok().filter(|&place| place < NEAR) {
            Some(place) => {
                if place >= near.len() {
                    near.resize(place + 1, 0);
                }
                &mut near[place]
            }
            None => far.entry(partition).or_default(),
        };
        *sum = i64::wrapping_add(*sum, more);
    }
    let mut counts: Vec<(i64, i64)> = (0..).zip(near).chain(far).filter(|&(_, rows)| rows != 0).collect();
    counts.sort_unstable();
    let (partitions, rows): (Vec<_>, Vec<_>) = counts.into_iter().unzip();
    let column = |values| -> ArrayRef { Arc::new(Int64Array::from(values)) };
    Ok(struct_of(vec![("partition", column(partitions)), ("rows", column(rows))]))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn some_number() -> impl Strategy<Value = Option<i64>> {
        let edge = i64::try_from(NEAR).unwrap_or(0);
        prop_oneof![
            Just(None),
            (0_i64..60).prop_map(Some),
            (edge - 2..edge + 2).prop_map(Some),
            any::<i64>().prop_map(Some),
            (-3_i64..0).prop_map(Some),
        ]
    }

    proptest! {
        #[test]
        fn rows_are_those_of_a_map(pairs in prop::collection::vec((some_number(), 0_i64..4), 0..200)) {
            let mut expected = [BTreeMap::new(), BTreeMap::new()];
            for &(partition, rows) in &pairs {
                for (expected, rows) in expected.iter_mut().zip([1, rows]) {
                    if let Some(partition) = partition.filter(|_| rows > 0) {
                        *expected.entry(partition).or_insert(0) += rows;
                    }
                }
            }
            let partitions: Int64Array = pairs.iter().map(|&(partition, _)| partition).collect();
            let rows: Int64Array = pairs.iter().map(|&(_, rows)| Some(rows)).collect();
            for (rows, expected) in [None, Some(&rows as &dyn Array)].into_iter().zip(expected) {
                let counts = rows_by_partition(&partitions, rows)?;
                prop_assert_eq!(&**counts.column(0), &Int64Array::from_iter_values(expected.keys().copied()) as &dyn Array);
                prop_assert_eq!(&**counts.column(1), &Int64Array::from_iter_values(expected.values().copied()) as &dyn Array);
            }
        }
    }

    #[test]
    fn a_column_of_another_type_or_length_is_refused() {
        let numbers = Int64Array::from(vec![1, 2]);
        assert!(rows_by_partition(&arrow_array::Int32Array::from(vec![1]), None).is_err());
        assert!(rows_by_partition(&numbers, Some(&Int64Array::from(vec![1]))).is_err());
    }
}

//! Python's view of `partwright_core::columnar::KeySums`, and of rows by partition.

use partwright_core::columnar;
use pyo3::prelude::*;

use crate::arrow::{ArrowColumn, to_pyarrow};
use crate::error::{Returned, detached};

/// Counts of records by key and partition; each column is one chunk.
#[pyclass(module = "partwright._core")]
pub(crate) struct KeySums(columnar::KeySums);

#[pymethods]
impl KeySums {
    #[new]
    fn new() -> Self {
        Self(columnar::KeySums::default())
    }

    /// The number of (key, partition) pairs.
    #[getter]
    fn pairs(&self) -> usize {
        self.0.pairs()
    }

    /// The number of bytes in their keys.
    #[getter]
    fn key_bytes(&self) -> usize {
        self.0.key_bytes()
    }

    /// Adds some rows: single records, or sums with the number of records in each.
    #[pyo3(signature = (keys, partitions, sums, rows=None))]
    fn add(
        &mut self,
        py: Python<'_>,
        keys: ArrowColumn,
        partitions: ArrowColumn,
        sums: [Option<ArrowColumn>; 5],
        rows: Option<ArrowColumn>,
    ) -> Returned<()> {
        let (keys, partitions, rows) = (keys.only(), partitions.only(), rows.map(ArrowColumn::only));
        let sums = sums.map(|column| column.map(ArrowColumn::only));
        let measures =
            columnar::Measures { rows: rows.as_deref(), sums: sums.each_ref().map(Option::as_deref) };
        detached(py, || self.0.add(&keys, &partitions, &measures))
    }

    /// Adds those pairs of another `KeySums` whose keys have one of the `below` smallest hashes.
    fn merge(&mut self, py: Python<'_>, other: &Bound<'_, Self>, below: u64) -> Returned<()> {
        let other = other.try_borrow().map_err(PyErr::from)?;
        let other = &other.0;
        detached(py, || self.0.merge(other, below))
    }

    /// Keeps only those pairs.
    fn keep(&mut self, py: Python<'_>, below: u64) -> Returned<()> {
        detached(py, || {
            self.0.keep(below);
            Ok(())
        })
    }

    /// At most this many pairs, those with the most rows, after how many rows each has got less.
    fn heaviest(&self, py: Python<'_>, most: usize) -> Returned<(i64, Self)> {
        let (less, heaviest) = detached(py, || self.0.heaviest(most))?;
        Ok((less, Self(heaviest)))
    }

    /// Removes all pairs.
    fn clear(&mut self) {
        self.0.clear();
    }

    /// All pairs, in batches as structs.
    fn batches(&self, py: Python<'_>) -> Returned<Vec<Py<PyAny>>> {
        let batches = detached(py, || self.0.batches())?;
        batches.into_iter().map(|batch| to_pyarrow(py, batch)).collect()
    }
}

/// How many rows each partition has; each column is one chunk.
#[pyfunction]
#[pyo3(signature = (partitions, rows=None))]
pub(crate) fn rows_by_partition(
    py: Python<'_>,
    partitions: ArrowColumn,
    rows: Option<ArrowColumn>,
) -> Returned {
    let (partitions, rows) = (partitions.only(), rows.map(ArrowColumn::only));
    let batch = detached(py, || columnar::rows_by_partition(&partitions, rows.as_deref()))?;
    to_pyarrow(py, batch)
}

//! Arrow arrays in from Python and out to pyarrow; the only file that knows `pyo3_arrow`.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{Field, FieldRef};
use partwright_core::Result as CoreResult;
use pyo3::prelude::*;
use pyo3_arrow::input::AnyArray;
use pyo3_arrow::{PyArray, PyChunkedArray};

use crate::error::{BoundaryError, detached};

/// A column as Python gave it: one array, or the chunks of a stream.
pub(crate) struct Column {
    chunks: Vec<ArrayRef>,
    chunked: bool,
}

impl TryFrom<AnyArray> for Column {
    type Error = BoundaryError;

    fn try_from(given: AnyArray) -> Result<Self, BoundaryError> {
        Ok(match given {
            AnyArray::Array(array) => Self { chunks: vec![array.into_inner().0], chunked: false },
            AnyArray::Stream(stream) => {
                let (chunks, _field) = stream.into_chunked_array()?.into_inner();
                Self { chunks, chunked: true }
            }
        })
    }
}

impl Column {
    /// `rule` of each chunk without the GIL, as a `pyarrow.Array` or a `pyarrow.ChunkedArray` of the same chunks.
    ///
    /// `empty` is what the rule gives for no rows: the type of a stream without chunks.
    pub(crate) fn map<A: Array + 'static>(
        &self,
        py: Python<'_>,
        empty: &A,
        rule: impl Fn(&dyn Array) -> CoreResult<A> + Send + Sync,
    ) -> Result<Py<PyAny>, BoundaryError> {
        let results = detached(py, || {
            let mut rows = 0;
            let mut results: Vec<ArrayRef> = Vec::with_capacity(self.chunks.len());
            for chunk in &self.chunks {
                results.push(Arc::new(rule(chunk).map_err(|error| error.below(rows))?));
                rows += chunk.len();
            }
            Ok(results)
        })?;
        export(py, results, self.chunked, empty)
    }

    /// Where the key bytes of each chunk begin in memory, as the core sees them.
    pub(crate) fn addresses(&self) -> CoreResult<Vec<Option<usize>>> {
        let address = |chunk: &ArrayRef| Ok(partwright_core::columnar::key_column(chunk, None)?.address());
        self.chunks.iter().map(address).collect()
    }
}

fn export(
    py: Python<'_>,
    mut results: Vec<ArrayRef>,
    chunked: bool,
    empty: &dyn Array,
) -> Result<Py<PyAny>, BoundaryError> {
    let data_type =
        results.first().map_or_else(|| empty.data_type().clone(), |first| first.data_type().clone());
    let field: FieldRef = Arc::new(Field::new("", data_type, true));
    match results.pop() {
        Some(only) if !chunked => Ok(PyArray::new(only, field).to_pyarrow(py)?.unbind()),
        last => {
            results.extend(last);
            Ok(PyChunkedArray::try_new(results, field)?.into_pyarrow(py)?.unbind())
        }
    }
}

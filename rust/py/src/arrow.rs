//! Takes Arrow arrays from Python and returns them to pyarrow. Only this file uses `pyo3_arrow`.

use std::slice;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int32Array, new_empty_array};
use arrow_schema::{DataType, Field};
use partwright_core::hashing::KeyType;
use partwright_core::{Error as CoreError, Result as CoreResult, columnar};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyCapsule;
use pyo3_arrow::PyChunkedArray;
use pyo3_arrow::ffi::to_array_pycapsules;

use crate::capsule::{import_array, import_pyarrow, import_stream, int32_to_pyarrow};
use crate::error::{BoundaryError, Returned, caught, detached, unreadable};

/// A column as Python gave it.
pub(crate) struct ArrowColumn {
    chunks: Chunks,
    /// To Arrow a column of UUIDs is binary.
    of_uuids: bool,
}

enum Chunks {
    One(ArrayRef),
    /// The arrays of a stream, all of one type.
    Stream(Vec<ArrayRef>, DataType),
}

impl<'py> FromPyObject<'_, 'py> for ArrowColumn {
    type Error = PyErr;

    /// Takes over the buffers behind the capsules. Arrow's import panics on some arrays that are valid under the
    /// interface.
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let imported = caught(|| Self::import(object))
            .unwrap_or_else(|_| Err(PyTypeError::new_err("Arrow's import of arrays stopped at it")));
        imported.map_err(|error| unreadable(object.py(), error))
    }
}

impl ArrowColumn {
    fn import(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        if let Some(array) = import_pyarrow(object)? {
            return Ok(Self { chunks: Chunks::One(array), of_uuids: false });
        }
        if let Some(export) = object.getattr_opt(intern!(py, "__arrow_c_array__"))? {
            let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = export
                .call0()?
                .extract()
                .map_err(|_| PyTypeError::new_err("__arrow_c_array__ gives no pair of capsules"))?;
            let (array, field) = import_array(&schema, &array)?;
            return Ok(Self { chunks: Chunks::One(array), of_uuids: is_of_uuids(&field) });
        }
        let stream = object.getattr(intern!(py, "__arrow_c_stream__"))?.call0()?;
        let stream =
            stream.cast().map_err(|_| PyTypeError::new_err("__arrow_c_stream__ gives no capsule"))?;
        let (chunks, field) = import_stream(stream)?;
        let of_uuids = is_of_uuids(&field);
        Ok(Self { chunks: Chunks::Stream(chunks, field.data_type().clone()), of_uuids })
    }

    /// Applies `rule` to each chunk without the GIL. The result is a `pyarrow.Array`, or a `pyarrow.ChunkedArray` with
    /// the same chunks.
    pub(crate) fn map<A: Array + 'static>(
        self,
        py: Python<'_>,
        key_type: Option<KeyType>,
        rule: impl Fn(&dyn Array) -> CoreResult<A> + Send + Sync,
    ) -> Returned {
        let (chunks, data_type) = match &self.chunks {
            Chunks::One(array) => {
                let result = detached(py, || {
                    self.refuse_uuids(key_type)?;
                    rule(array)
                })?;
                return to_pyarrow(py, result);
            }
            Chunks::Stream(chunks, data_type) => (chunks, data_type),
        };
        let (results, field) = detached(py, || {
            self.refuse_uuids(key_type)?;
            let (mut results, mut rows) = (Vec::<ArrayRef>::with_capacity(chunks.len()), 0);
            for chunk in chunks {
                results.push(Arc::new(rule(chunk).map_err(|error| error.below(rows))?));
                rows += chunk.len();
            }
            let data_type = match results.first() {
                Some(first) => first.data_type().clone(),
                // A column without chunks still has a type, which may be refused.
                None => rule(&new_empty_array(data_type))?.data_type().clone(),
            };
            Ok((results, Arc::new(Field::new("", data_type, true))))
        })?;
        let column = PyChunkedArray::try_new(results, field)?;
        Ok(column.into_pyarrow(py)?.unbind())
    }

    /// Applies `rule` to two columns of one chunk each, without the GIL. The result is a `pyarrow.Array`.
    pub(crate) fn with<A: Array + 'static>(
        self,
        py: Python<'_>,
        other: Self,
        rule: impl FnOnce(&dyn Array, &dyn Array) -> CoreResult<A> + Send,
    ) -> Returned {
        let (one, other) = (self.only(), other.only());
        to_pyarrow(py, detached(py, || rule(&one, &other))?)
    }

    /// The one chunk of a column.
    pub(crate) fn only(self) -> ArrayRef {
        match self.chunks {
            Chunks::One(array) => array,
            Chunks::Stream(chunks, data_type) => {
                chunks.into_iter().next().unwrap_or_else(|| new_empty_array(&data_type))
            }
        }
    }

    fn chunks(&self) -> &[ArrayRef] {
        match &self.chunks {
            Chunks::One(array) => slice::from_ref(array),
            Chunks::Stream(chunks, _) => chunks,
        }
    }

    /// The key bytes of the first row. A single value comes as a column with only this row.
    pub(crate) fn first(self, py: Python<'_>, key_type: Option<KeyType>) -> Returned<Option<Vec<u8>>> {
        let key = detached(py, || {
            self.refuse_uuids(key_type)?;
            let Some(chunk) = self.chunks().first() else { return Ok(None) };
            Ok(columnar::key_column(chunk, key_type)?.key(0)?.map(<[u8]>::to_vec))
        });
        key.map_err(|error| match error {
            BoundaryError::Core(CoreError::Value { reason, .. }) => BoundaryError::Single(reason),
            other => other,
        })
    }

    /// The address at which the core reads the key bytes of each chunk.
    pub(crate) fn addresses(self, py: Python<'_>) -> Returned<Vec<Option<usize>>> {
        let address = |chunk: &ArrayRef| Ok(columnar::key_column(chunk, None)?.address());
        detached(py, || self.chunks().iter().map(address).collect())
    }

    /// Refuses UUIDs unless the key type is given: they are binary, but producers usually do not write the 16 bytes.
    fn refuse_uuids(&self, key_type: Option<KeyType>) -> CoreResult<()> {
        if key_type.is_none() && self.of_uuids {
            return Err(CoreError::NoKeyType {
                kind: "uuid".to_owned(),
                choice: "java:uuid (36 characters) or bytes (16)",
            });
        }
        Ok(())
    }
}

fn is_of_uuids(field: &Field) -> bool {
    field.extension_type_name() == Some("arrow.uuid")
}

/// Turns one array into a `pyarrow.Array`. The result is that of `pyarrow.array` on its capsules, without that
/// function's checks for other kinds of input.
pub(crate) fn to_pyarrow<A: Array + 'static>(py: Python<'_>, array: A) -> Returned {
    static IMPORT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if let Some(array) = array.as_any().downcast_ref::<Int32Array>() {
        return Ok(int32_to_pyarrow(py, array.clone())?);
    }
    let field = Arc::new(Field::new("", array.data_type().clone(), true));
    let import = IMPORT.get_or_try_init(py, || -> PyResult<Py<PyAny>> {
        Ok(py.import("pyarrow")?.getattr("Array")?.getattr("_import_from_c_capsule")?.unbind())
    })?;
    Ok(import.call1(py, to_array_pycapsules(py, field, &array, None).map_err(PyErr::from)?)?)
}

//! pyarrow's own functions to export and import arrays of plain types. They need no schema and no capsule, and take a
//! fraction of the instructions.
//!
//! Spark's worker calls once a batch. By then the code and data of the last call have left the processor's caches, so
//! the cost of a call is the memory that it touches, not what it computes.

use arrow_array::ffi::FFI_ArrowArray;
use arrow_array::types::{BinaryType, LargeBinaryType, LargeUtf8Type, Utf8Type};
use arrow_array::{ArrayRef, Int32Array};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::{bytes_of, exported};

type ImportPlain = fn(FFI_ArrowArray) -> PyResult<ArrayRef>;

/// The functions and classes of pyarrow, looked up once.
struct PyarrowFunctions {
    /// The classes of the arrays that are read without a schema, and how.
    classes: Vec<(Py<PyAny>, ImportPlain)>,
    export: Py<PyAny>,
    import: Py<PyAny>,
    int32: Py<PyAny>,
}

impl PyarrowFunctions {
    fn of(py: Python<'_>) -> PyResult<&'static Self> {
        static FUNCTIONS: PyOnceLock<PyarrowFunctions> = PyOnceLock::new();
        FUNCTIONS.get_or_try_init(py, || {
            let pyarrow = py.import("pyarrow")?;
            let class = |name: &str| pyarrow.getattr(name).map(Bound::unbind);
            let array = pyarrow.getattr("Array")?;
            let mut classes: Vec<(_, ImportPlain)> = vec![
                (class("StringArray")?, bytes_of::<Utf8Type>),
                (class("BinaryArray")?, bytes_of::<BinaryType>),
                (class("LargeStringArray")?, bytes_of::<LargeUtf8Type>),
                (class("LargeBinaryArray")?, bytes_of::<LargeBinaryType>),
            ];
            if knows_other_devices(py)? {
                // The import through capsules asks each array on which device it is, and refuses memory that the
                // processor cannot read.
                classes.clear();
            }
            Ok(Self {
                classes,
                export: array.getattr("_export_to_c")?.unbind(),
                import: array.getattr("_import_from_c")?.unbind(),
                int32: pyarrow.getattr("int32")?.call0()?.unbind(),
            })
        })
    }
}

/// Whether this pyarrow was built with support for the memory of other devices. To ask each array would take longer
/// than everything else in a call.
fn knows_other_devices(py: Python<'_>) -> PyResult<bool> {
    let found = py.import("importlib.util")?.getattr("find_spec")?.call1(("pyarrow._cuda",))?;
    Ok(!found.is_none())
}

/// The array of a `pyarrow.Array` whose class determines its type; `None` for everything else.
pub(crate) fn import_pyarrow(object: Borrowed<'_, '_, PyAny>) -> PyResult<Option<ArrayRef>> {
    let py = object.py();
    let functions = PyarrowFunctions::of(py)?;
    let class = object.get_type();
    let Some((_, import_plain)) = functions.classes.iter().find(|(known, _)| class.is(known)) else {
        return Ok(None);
    };
    let mut array = FFI_ArrowArray::empty();
    functions.export.call1(py, (object, (&raw mut array).expose_provenance()))?;
    import_plain(array).map(Some)
}

/// Turns an array of ints into a `pyarrow.Array`.
pub(crate) fn int32_to_pyarrow(py: Python<'_>, array: Int32Array) -> PyResult<Py<PyAny>> {
    let functions = PyarrowFunctions::of(py)?;
    // pyarrow takes ownership of what it imports. If it refuses, the structure is released here.
    let mut array = exported(array);
    functions.import.call1(py, ((&raw mut array).expose_provenance(), &functions.int32))
}

//! pyarrow's own doors for arrays of plain types: no schema, no capsule, and a fraction of the instructions.
//!
//! Spark's worker calls once a batch. By then, what a call runs and reads is in no cache any more, and so a call costs what
//! it touches, not what it computes.

use arrow_array::ffi::FFI_ArrowArray;
use arrow_array::{ArrayRef, Int32Array};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::{Plain, exported, import_plain};

/// What is asked of pyarrow, looked up once.
struct Doors {
    /// The classes whose arrays are read without their schema.
    classes: Vec<(Py<PyAny>, Plain)>,
    export: Py<PyAny>,
    import: Py<PyAny>,
    int32: Py<PyAny>,
}

impl Doors {
    fn of(py: Python<'_>) -> PyResult<&'static Self> {
        static DOORS: PyOnceLock<Doors> = PyOnceLock::new();
        DOORS.get_or_try_init(py, || {
            let pyarrow = py.import("pyarrow")?;
            let class = |name: &str| pyarrow.getattr(name).map(Bound::unbind);
            let array = pyarrow.getattr("Array")?;
            let mut classes = vec![
                (class("StringArray")?, Plain::Text),
                (class("BinaryArray")?, Plain::Binary),
                (class("LargeStringArray")?, Plain::LargeText),
                (class("LargeBinaryArray")?, Plain::LargeBinary),
            ];
            if knows_other_devices(py)? {
                // The way over capsules asks each array where it is, and refuses what no processor can read.
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

/// Whether this pyarrow was built to know memory that is not the processor's own; to ask each array takes longer than all
/// the rest.
fn knows_other_devices(py: Python<'_>) -> PyResult<bool> {
    let found = py.import("importlib.util")?.getattr("find_spec")?.call1(("pyarrow._cuda",))?;
    Ok(!found.is_none())
}

/// The array of a `pyarrow.Array` whose class says its type, `None` of everything else.
pub(crate) fn import_pyarrow(given: Borrowed<'_, '_, PyAny>) -> PyResult<Option<ArrayRef>> {
    let py = given.py();
    let doors = Doors::of(py)?;
    let class = given.get_type();
    let Some((_, plain)) = doors.classes.iter().find(|(known, _)| class.is(known)) else { return Ok(None) };
    let mut array = FFI_ArrowArray::empty();
    doors.export.call1(py, (given, (&raw mut array).expose_provenance()))?;
    import_plain(array, *plain).map(Some)
}

/// An array of ints as a `pyarrow.Array`.
pub(crate) fn int32_to_pyarrow(py: Python<'_>, array: Int32Array) -> PyResult<Py<PyAny>> {
    let doors = Doors::of(py)?;
    // pyarrow moves out what it takes. What it does not take is released here.
    let mut array = exported(array);
    doors.import.call1(py, ((&raw mut array).expose_provenance(), &doors.int32))
}

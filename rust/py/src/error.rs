//! How refusals become Python exceptions, and how a panic is kept from ever becoming one.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::{PyException, PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Either side's failure, so that `?` works on both.
pub(crate) enum BoundaryError {
    Core(partwright_core::Error),
    /// The core refused the value of a column that was made for it alone: its row says nothing.
    Single(String),
    Python(PyErr),
    /// A defect of partwright itself.
    Panic,
}

impl From<partwright_core::Error> for BoundaryError {
    fn from(error: partwright_core::Error) -> Self {
        Self::Core(error)
    }
}

impl From<PyErr> for BoundaryError {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<BoundaryError> for PyErr {
    fn from(error: BoundaryError) -> Self {
        match error {
            BoundaryError::Python(error) => error,
            BoundaryError::Core(partwright_core::Error::KeyType(sentence)) => raise("KeyTypeError", sentence),
            BoundaryError::Core(error) => refusal(error.to_string()),
            BoundaryError::Single(reason) => refusal(reason),
            BoundaryError::Panic => refusal(
                "partwright's core stopped at a defect of its own: please report it with the column's type"
                    .to_owned(),
            ),
        }
    }
}

/// Runs `work` without the GIL; a panic in it comes back as a value.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> partwright_core::Result<T> + Send,
) -> Result<T, BoundaryError> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work))).map_err(|_| BoundaryError::Panic)?.map_err(Into::into)
}

/// What Arrow's import, or the Python object behind it, raised, as a refusal in one sentence. What asks the program to
/// stop passes as it is.
pub(crate) fn unreadable(py: Python<'_>, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyMemoryError>(py) || !error.is_instance_of::<PyException>(py) {
        return error;
    }
    let class = if error.is_instance_of::<PyTypeError>(py) { "KeyTypeError" } else { "PartwrightError" };
    let said = error.value(py).to_string();
    let reason = said.lines().next().unwrap_or_default();
    let refusal = raise(class, format!("the keys cannot be read as an Arrow column: {reason}"));
    refusal.set_cause(py, Some(error));
    refusal
}

/// A `PartwrightError` with this sentence.
pub(crate) fn refusal(sentence: String) -> PyErr {
    raise("PartwrightError", sentence)
}

/// An exception of `partwright.errors`, which are Python classes because one of them has two bases.
fn raise(class: &str, sentence: String) -> PyErr {
    Python::attach(|py| match exception(py, class) {
        Ok(class) => PyErr::from_type(class, sentence),
        Err(_) => PyValueError::new_err(sentence),
    })
}

fn exception<'py>(py: Python<'py>, class: &str) -> PyResult<Bound<'py, PyType>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("partwright.errors").map(Bound::unbind))?;
    Ok(module.bind(py).getattr(class)?.cast_into()?)
}

//! Turns refusals into Python exceptions. A panic becomes an ordinary exception too, which asks the user to report it.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use partwright_core::{Known, RefusedValue};
use pyo3::exceptions::{PyException, PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// A failure of the core or of Python, so that `?` works on both.
pub(crate) enum BoundaryError {
    Core(partwright_core::Error),
    /// The core refused a single value. It was passed as a column of one row, so the row says nothing.
    Single(String),
    Python(PyErr),
    /// A defect of partwright itself, with the panic's message.
    Panic(String),
}

/// What a function of the module returns: by default a Python object.
pub(crate) type Returned<T = Py<PyAny>> = Result<T, BoundaryError>;

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
            BoundaryError::Core(error) => {
                use partwright_core::Error::{KeyType, NoKeyType};
                if matches!(error, NoKeyType { .. }) {
                    let sentence = format!("{error}, with {}", spelled("key_type"));
                    let known = Known { reason: Some(sentence.clone()), ..error.known() };
                    return raise("KeyTypeError", sentence, known, None);
                }
                let class = if matches!(error, KeyType(_)) { "KeyTypeError" } else { "PartwrightError" };
                raise(class, error.to_string(), error.known(), None)
            }
            BoundaryError::Single(reason) => {
                let known = Known { reason: Some(reason.clone()), ..Known::default() };
                raise("PartwrightError", reason, known, None)
            }
            BoundaryError::Panic(message) => refusal(format!(
                "partwright's core stopped at a defect of its own ({message}): please report it with the column's type"
            )),
        }
    }
}

/// Runs `work` without the GIL; a panic in it comes back as a value.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> partwright_core::Result<T> + Send,
) -> Returned<T> {
    py.detach(|| caught(work)).map_err(BoundaryError::Panic)?.map_err(Into::into)
}

/// The result of `work`, or its panic's message in one line.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(|| quiet(work))).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        text.and_then(|text| text.lines().next()).unwrap_or("it said nothing").to_owned()
    })
}

/// Runs `work` without printing its panic, which the caller catches. The panics of other threads are printed as before.
pub(crate) fn quiet<T>(work: impl FnOnce() -> T) -> T {
    struct Restored(bool);
    impl Drop for Restored {
        fn drop(&mut self) {
            QUIET.set(self.0);
        }
    }
    HOOK.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                print(panic);
            }
        }));
    });
    let _before = Restored(QUIET.replace(true));
    work()
}

/// Sets the panic hook of this library. Other extension modules have their own.
static HOOK: Once = Once::new();

thread_local! {
    /// Whether a panic of this thread is caught.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Turns an exception of Arrow's import, or of the Python object behind it, into a refusal in one sentence. An
/// exception that asks the program to stop is passed on unchanged.
pub(crate) fn unreadable(py: Python<'_>, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyMemoryError>(py) || !error.is_instance_of::<PyException>(py) {
        return error;
    }
    let class = if error.is_instance_of::<PyTypeError>(py) { "KeyTypeError" } else { "PartwrightError" };
    let message = error.value(py).to_string();
    let reason = message.lines().next().unwrap_or_default();
    let sentence = format!("the keys cannot be read as an Arrow column: {reason}");
    let refusal = raise(class, sentence, Known::default(), None);
    refusal.set_cause(py, Some(error));
    refusal
}

/// Makes a `PartwrightError` with this sentence.
pub(crate) fn refusal(sentence: String) -> PyErr {
    raise("PartwrightError", sentence, Known::default(), None)
}

/// Makes a `PartwrightError` about an argument.
pub(crate) fn refused_argument(
    field: &'static str,
    object: &Bound<'_, PyAny>,
    what: &str,
    reason: String,
) -> PyErr {
    let sentence = format!("{what} {reason}");
    let known = Known { field: Some(field), reason: Some(reason), ..Known::default() };
    raise("PartwrightError", sentence, known, Some(object))
}

/// An argument as a sentence names it, which in a command is an option.
fn spelled(argument: &str) -> String {
    Python::attach(|py| {
        let words = py.import("partwright._check")?.getattr("spelled")?.call1((argument,))?;
        words.extract::<String>()
    })
    .unwrap_or_else(|_| format!("{argument}="))
}

/// Makes an exception of `partwright.errors` with all its facts. These are Python classes, because one of them has two
/// bases. `object` is the refused value if it is a Python object.
fn raise(class: &str, sentence: String, known: Known, object: Option<&Bound<'_, PyAny>>) -> PyErr {
    Python::attach(|py| {
        let made =
            exception(py, class).and_then(|class| class.call((&sentence,), Some(&parts(py, known, object)?)));
        made.map_or_else(|_| PyValueError::new_err(sentence), PyErr::from_value)
    })
}

fn parts<'py>(
    py: Python<'py>,
    known: Known,
    object: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let parts = PyDict::new(py);
    let Known { row, field, value, reason } = known;
    parts.set_item("row", row)?;
    parts.set_item("field", field)?;
    match value {
        Some(RefusedValue::Number(number)) => parts.set_item("value", number)?,
        Some(RefusedValue::Text(text)) => parts.set_item("value", text)?,
        None => parts.set_item("value", object)?,
    }
    parts.set_item("reason", reason)?;
    Ok(parts)
}

fn exception<'py>(py: Python<'py>, class: &str) -> PyResult<Bound<'py, PyType>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("partwright.errors").map(Bound::unbind))?;
    Ok(module.bind(py).getattr(class)?.cast_into()?)
}

//! Structs of the core out of Python's dicts, and the core's answers into dicts: an item for each field.

use partwright_core::group::Name;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// One item of a Python dict, or of anything that has items.
pub(crate) fn item<'py, T: FromPyObjectOwned<'py>>(fields: &Bound<'py, PyAny>, name: &str) -> PyResult<T> {
    same(&fields.get_item(name)?)
}

/// The key and the value of a Python dict with one item.
pub(crate) fn only_item<'py>(fields: &Bound<'py, PyAny>) -> PyResult<(String, Bound<'py, PyAny>)> {
    fields.cast::<PyDict>()?.items().get_item(0)?.extract()
}

/// A value that the core has in the same form.
pub(crate) fn same<'py, T: FromPyObjectOwned<'py>>(value: &Bound<'py, PyAny>) -> PyResult<T> {
    value.extract().map_err(Into::into)
}

/// A text.
pub(crate) fn text(value: &Bound<'_, PyAny>) -> PyResult<Name> {
    Ok(value.extract::<String>()?.into())
}

/// Texts.
pub(crate) fn texts(values: &Bound<'_, PyAny>) -> PyResult<Vec<Name>> {
    Ok(values.extract::<Vec<String>>()?.into_iter().map(Into::into).collect())
}

/// Values by name.
pub(crate) fn by_name<'py, T: FromPyObjectOwned<'py>, C: FromIterator<(Name, T)>>(
    values: &Bound<'py, PyAny>,
) -> PyResult<C> {
    let values: Vec<(String, T)> = values.extract()?;
    Ok(values.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

/// For each struct of the core, the type that takes it from a Python dict, field by field under the core's own names. After
/// a semicolon come fields that Python knows by other names or in another form, with the functions that read them.
macro_rules! from_items {
    ($($(#[$doc:meta])+ $name:ident: $core:ty {
        $($field:ident),* $(; $($other:ident: $read:path = $item:literal),+)?
    })+) => {$(
        $(#[$doc])+
        pub(crate) struct $name(pub(crate) $core);

        impl<'py> FromPyObject<'_, 'py> for $name {
            type Error = PyErr;

            fn extract(fields: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
                type Core = $core;
                Ok(Self(Core {
                    $($field: crate::items::item(&fields, stringify!($field))?,)*
                    $($($other: $read(&fields.get_item($item)?)?,)+)?
                }))
            }
        }
    )+};
}

/// A Python dict with these items, or a dict to which they are added.
macro_rules! to_items {
    ($py:expr, { $($name:ident: $value:expr),+ $(,)? }) => {
        to_items!($py, pyo3::types::PyDict::new($py), { $($name: $value),+ })
    };
    ($py:expr, $dict:expr, { $($name:ident: $value:expr),+ $(,)? }) => {{
        let dict = $dict;
        $(dict.set_item(pyo3::intern!($py, stringify!($name)), $value)?;)+
        dict
    }};
}

/// An answer; or where the first wrong value is, as two numbers.
#[derive(IntoPyObject)]
pub(crate) enum OrOdd<T> {
    Answer(T),
    Odd((usize, usize)),
}

pub(crate) use {from_items, to_items};

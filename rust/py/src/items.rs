//! Structs of the core out of Python's dicts, which have an item for each field.

use pyo3::prelude::*;

/// One item of a Python dict, or of anything that has items.
pub(crate) fn item<'py, T: FromPyObjectOwned<'py>>(fields: &Bound<'py, PyAny>, name: &str) -> PyResult<T> {
    fields.get_item(name)?.extract().map_err(Into::into)
}

/// For each struct of the core, the type that takes it from a Python dict, field by field under the core's own names. After
/// a semicolon come fields that Python knows by other names, with the types that read them.
macro_rules! from_items {
    ($($(#[$doc:meta])+ $name:ident: $($core:ident)::+ {
        $($field:ident),+ $(; $($other:ident: $python:ident = $item:literal),+)?
    })+) => {$(
        $(#[$doc])+
        pub(crate) struct $name(pub(crate) $($core)::+);

        impl<'py> FromPyObject<'_, 'py> for $name {
            type Error = PyErr;

            fn extract(fields: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
                Ok(Self($($core)::+ {
                    $($field: crate::items::item(&fields, stringify!($field))?,)+
                    $($($other: crate::items::item::<$python>(&fields, $item)?.0,)+)?
                }))
            }
        }

        impl From<$name> for $($core)::+ {
            fn from(python: $name) -> Self {
                python.0
            }
        }
    )+};
}

pub(crate) use from_items;

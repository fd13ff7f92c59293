//! Checks arguments from Python, once. A refusal is a `PartwrightError` with the value that was given.

use std::str::FromStr;

use partwright_core::assignors;
use partwright_core::hashing::{self, KeyType, Partitions};
use partwright_core::producer;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::error::{BoundaryError, refused_argument};

/// A number of partitions: a whole number (`__index__`), neither a bool nor a float.
#[derive(Clone, Copy)]
pub(crate) struct PartitionCount(pub(crate) Partitions);

impl<'py> FromPyObject<'_, 'py> for PartitionCount {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match whole::<i64>(object) {
            Some(number) => Ok(Self(Partitions::new(number).map_err(BoundaryError::from)?)),
            None => Err(refused_argument(
                "n",
                &object,
                "n, the number of partitions,",
                format!("must be a whole number from 1 to 2147483647, not {}", shown(object)),
            )),
        }
    }
}

/// The most threads that may work: a whole number of at least 1.
#[derive(Clone, Copy)]
pub(crate) struct Threads(pub(crate) usize);

impl<'py> FromPyObject<'_, 'py> for Threads {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        whole::<usize>(object).filter(|number| *number > 0).map(Self).ok_or_else(|| {
            let reason = format!("must be a whole number from 1 on, not {}", shown(object));
            refused_argument("threads", &object, "the number of threads", reason)
        })
    }
}

/// A whole number that fits, which a bool is not.
fn whole<'py, T: FromPyObjectOwned<'py>>(object: Borrowed<'_, 'py, PyAny>) -> Option<T> {
    if object.is_instance_of::<PyBool>() { None } else { object.extract().ok() }
}

macro_rules! by_name {
    ($($(#[$doc:meta])+ $name:ident($of:ty), $what:literal, $field:literal;)+) => {$(
        $(#[$doc])+
        #[derive(Clone, Copy)]
        pub(crate) struct $name(pub(crate) $of);

        impl<'py> FromPyObject<'_, 'py> for $name {
            type Error = PyErr;

            fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
                named(object, $what, $field).map(Self)
            }
        }
    )+};
}

by_name! {
    /// A client profile by its name.
    Client(hashing::Client), "client", "client";
    /// A key type by its name.
    Encoding(KeyType), "key type", "key_type";
    /// An assignor by its name.
    Assignor(assignors::Assignor), "assignor", "assignor";
    /// A strategy by one of its names.
    Strategy(producer::Strategy), "strategy", "strategy";
}

/// A way to choose one of several partitions.
pub(crate) fn among(name: &Bound<'_, PyAny>) -> PyResult<producer::Among> {
    named(name.as_borrowed(), "way to choose", "among")
}

/// What happens to a record for which a strategy has no answer.
pub(crate) fn fallback(name: &Bound<'_, PyAny>) -> PyResult<producer::Fallback> {
    named(name.as_borrowed(), "way out", "otherwise")
}

fn named<T: FromStr<Err = partwright_core::Error>>(
    object: Borrowed<'_, '_, PyAny>,
    what: &str,
    field: &'static str,
) -> PyResult<T> {
    let text = object.cast::<PyString>().ok();
    let Some(name) = text.as_ref().and_then(|text| text.to_str().ok()) else {
        let reason = format!("is named by text, not {}", shown(object));
        return Err(refused_argument(field, &object, &format!("{} {what}", article(what)), reason));
    };
    Ok(name.parse().map_err(BoundaryError::from)?)
}

fn article(what: &str) -> &'static str {
    if what.starts_with('a') { "an" } else { "a" }
}

/// An argument for the end of a sentence: its repr if that is short, otherwise its type.
fn shown(object: Borrowed<'_, '_, PyAny>) -> String {
    const LONGEST: usize = 80;
    match object.repr().map(|text| text.to_string_lossy().into_owned()) {
        Ok(text) if text.chars().count() <= LONGEST => text,
        _ => object
            .get_type()
            .name()
            .map_or_else(|_| "this object".to_owned(), |name| format!("a value of type {name}")),
    }
}

//! Python's view of `partwright_core::hashing`, for columns and for one key.

use partwright_core::{columnar, hashing};
use pyo3::prelude::*;

use crate::arguments::{Client, Count, Encoding};
use crate::arrow::Column;
use crate::error::BoundaryError;

/// murmur2 of each key.
#[pyfunction]
#[pyo3(signature = (keys, key_type=None))]
pub(crate) fn murmur2(
    py: Python<'_>,
    keys: Column,
    key_type: Option<Encoding>,
) -> Result<Py<PyAny>, BoundaryError> {
    let key_type = key_type.map(|key_type| key_type.0);
    keys.map(py, key_type, |keys| columnar::murmur2(keys, key_type))
}

/// The partition of each key.
#[pyfunction]
#[pyo3(signature = (keys, n, client, key_type=None))]
pub(crate) fn partition_for_key(
    py: Python<'_>,
    keys: Column,
    n: Count,
    client: Client,
    key_type: Option<Encoding>,
) -> Result<Py<PyAny>, BoundaryError> {
    let key_type = key_type.map(|key_type| key_type.0);
    keys.map(py, key_type, |keys| columnar::partition_for_key(keys, n.0, client.0, key_type))
}

/// The key bytes of each value.
#[pyfunction]
#[pyo3(signature = (values, key_type=None))]
pub(crate) fn encode(
    py: Python<'_>,
    values: Column,
    key_type: Option<Encoding>,
) -> Result<Py<PyAny>, BoundaryError> {
    let key_type = key_type.map(|key_type| key_type.0);
    values.map(py, key_type, |values| columnar::encode(values, key_type))
}

/// The key bytes of one value, which comes as a column of one row.
#[pyfunction]
#[pyo3(signature = (value, key_type=None))]
pub(crate) fn encode_one(
    py: Python<'_>,
    value: Column,
    key_type: Option<Encoding>,
) -> Result<Option<Vec<u8>>, BoundaryError> {
    value.first(py, key_type.map(|key_type| key_type.0))
}

/// murmur2 of one key.
#[pyfunction]
pub(crate) fn murmur2_of_bytes(key: &[u8]) -> i32 {
    hashing::murmur2(key)
}

/// The partition of one key.
#[pyfunction]
pub(crate) fn partition_for_bytes(key: &[u8], n: Count, client: Client) -> i32 {
    client.0.partition_for_key(key, n.0)
}

/// Refuses settings that no column could have, before there is a column.
#[pyfunction]
#[pyo3(signature = (n, client, key_type=None))]
pub(crate) fn check(n: Count, client: Client, key_type: Option<Encoding>) {
    // The arguments have been checked by becoming what they are.
    let _ = (n, client, key_type);
}

/// Where the key bytes of each chunk begin in memory, as the core sees them: the proof that nothing was copied.
#[pyfunction]
pub(crate) fn key_addresses(py: Python<'_>, keys: Column) -> Result<Vec<Option<usize>>, BoundaryError> {
    keys.addresses(py)
}

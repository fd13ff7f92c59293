//! Python's view of `partwright_core::hashing`, for columns and for one key.

use partwright_core::hashing::{KeyType, Partitions};
use partwright_core::{columnar, hashing};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::arguments::{Client, Count, Encoding, Threads};
use crate::arrow::Column;
use crate::error::{BoundaryError, detached};

/// murmur2 of each key.
#[pyfunction]
#[pyo3(signature = (keys, key_type, threads))]
pub(crate) fn murmur2(
    py: Python<'_>,
    keys: Column,
    key_type: Option<Encoding>,
    threads: Threads,
) -> Result<Py<PyAny>, BoundaryError> {
    let key_type = key_type.map(|key_type| key_type.0);
    keys.map(py, key_type, |keys| columnar::murmur2_by(&threads, keys, key_type))
}

/// The partition of each key.
#[pyfunction]
#[pyo3(signature = (keys, n, client, key_type, threads))]
pub(crate) fn partition_for_key(
    py: Python<'_>,
    keys: Column,
    n: Count,
    client: Client,
    key_type: Option<Encoding>,
    threads: Threads,
) -> Result<Py<PyAny>, BoundaryError> {
    let key_type = key_type.map(|key_type| key_type.0);
    keys.map(py, key_type, |keys| columnar::partition_for_key_by(&threads, keys, n.0, client.0, key_type))
}

/// A rule with its settings, which are checked once.
#[pyclass(frozen, module = "partwright._core")]
pub(crate) struct Placer {
    n: Partitions,
    client: hashing::Client,
    key_type: Option<KeyType>,
}

#[pymethods]
impl Placer {
    #[new]
    #[pyo3(signature = (n, client, key_type))]
    fn new(n: Count, client: Client, key_type: Option<Encoding>) -> Result<Self, BoundaryError> {
        let key_type = key_type.map(|key_type| key_type.0);
        client.0.check_key_type(key_type)?;
        Ok(Self { n: n.0, client: client.0, key_type })
    }

    /// The partition of each key.
    fn place(&self, py: Python<'_>, keys: Column) -> Result<Py<PyAny>, BoundaryError> {
        keys.map(py, self.key_type, |keys| {
            columnar::partition_for_key(keys, self.n, self.client, self.key_type)
        })
    }

    /// What it is made of again, in another process.
    fn __getnewargs__(&self) -> (u32, &'static str, Option<&'static str>) {
        (self.n.get(), self.client.profile().name, self.key_type.map(KeyType::name))
    }
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

/// The partition of one key of bytes or text, `None` where the client goes by something else; `NotImplemented` for
/// whatever else there is, and for text that has no UTF-8.
#[pyfunction]
pub(crate) fn partition_for_one<'py>(
    key: &Bound<'py, PyAny>,
    n: Count,
    client: Client,
) -> Result<Bound<'py, PyAny>, BoundaryError> {
    let py = key.py();
    let bytes = match key.cast_exact::<PyBytes>() {
        Ok(bytes) => Some(bytes.as_bytes()),
        Err(_) => key.cast_exact::<PyString>().ok().and_then(|text| text.to_str().ok()).map(str::as_bytes),
    };
    let Some(bytes) = bytes else { return Ok(py.NotImplemented().into_bound(py)) };
    let partition = client.0.partition_for_key(Some(bytes), n.0)?;
    Ok(partition.into_pyobject(py).map_err(PyErr::from)?)
}

/// The partition of one key's bytes, `None` where the client goes by something else.
#[pyfunction]
pub(crate) fn partition_for_bytes(
    key: Option<&[u8]>,
    n: Count,
    client: Client,
) -> Result<Option<i32>, BoundaryError> {
    Ok(client.0.partition_for_key(key, n.0)?)
}

/// How many keys have a partition that the client determines, and for each number of partitions how many of them are
/// where the client puts them, `None` where a key stops it; both are columns of one chunk.
#[pyfunction]
pub(crate) fn following(
    py: Python<'_>,
    keys: Column,
    partitions: Column,
    client: Client,
    numbers: Vec<Count>,
) -> Result<(usize, Vec<Option<usize>>), BoundaryError> {
    let (keys, partitions) = (keys.only(), partitions.only());
    let numbers: Vec<Partitions> = numbers.into_iter().map(|number| number.0).collect();
    let found = detached(py, || columnar::following(&keys, &partitions, client.0, &numbers))?;
    Ok((found.determined, found.follow))
}

/// The partition of its internal topic that a group or a transaction has by each id.
#[pyfunction]
pub(crate) fn coordinator_partition(
    py: Python<'_>,
    ids: Column,
    n: Count,
) -> Result<Py<PyAny>, BoundaryError> {
    ids.map(py, None, |ids| columnar::partition_for_key(ids, n.0, hashing::Client::COORDINATOR, None))
}

/// That of one id.
#[pyfunction]
pub(crate) fn coordinator_partition_of_bytes(
    name: Option<&[u8]>,
    n: Count,
) -> Result<Option<i32>, BoundaryError> {
    Ok(hashing::Client::COORDINATOR.partition_for_key(name, n.0)?)
}

/// How a client comes to the partition of one key: its hash, what is divided, the remainder and the partition; `None`
/// where it does not hash the key, or not keys of this type.
#[pyfunction]
#[pyo3(signature = (key, n, client, key_type=None))]
pub(crate) fn steps(
    key: Option<&[u8]>,
    n: Count,
    client: Client,
    key_type: Option<Encoding>,
) -> Option<(i64, i64, i64, i32)> {
    client.0.check_key_type(key_type.map(|key_type| key_type.0)).ok()?;
    let steps = client.0.profile().rule.steps(client.0.hashed(key)?, n.0)?;
    Some((steps.hash, steps.dividend, steps.remainder, steps.partition))
}

/// Refuses settings that no column could have, before there is a column.
#[pyfunction]
#[pyo3(signature = (n, client, key_type=None))]
pub(crate) fn check(n: Count, client: Client, key_type: Option<Encoding>) -> Result<(), BoundaryError> {
    // The count has been checked by becoming one.
    let _ = n;
    Ok(client.0.check_key_type(key_type.map(|key_type| key_type.0))?)
}

/// One row of the table of clients, a dict to Python.
#[derive(IntoPyObject)]
pub(crate) struct ClientRow {
    client: &'static str,
    hash: &'static str,
    sign: &'static str,
    null_key: &'static str,
    empty_key: &'static str,
    agrees_with_java: bool,
    setting: Option<&'static str>,
    library: &'static str,
    version: &'static str,
    source: &'static str,
}

/// The table of clients.
#[pyfunction]
pub(crate) fn clients() -> Vec<ClientRow> {
    let row = |client: hashing::Client| {
        let profile = client.profile();
        ClientRow {
            client: profile.name,
            hash: profile.rule.hash(),
            sign: profile.rule.sign(),
            null_key: profile.null_key.words(),
            empty_key: profile.empty_key.words(),
            agrees_with_java: client.agrees_with_java(),
            setting: profile.setting,
            library: profile.library,
            version: profile.version,
            source: profile.source,
        }
    };
    hashing::Client::all().map(row).collect()
}

/// The names of the key types.
#[pyfunction]
pub(crate) fn key_types() -> Vec<&'static str> {
    KeyType::ALL.iter().map(|key_type| key_type.name()).collect()
}

/// Where the key bytes of each chunk begin in memory, as the core sees them: the proof that nothing was copied.
#[pyfunction]
pub(crate) fn key_addresses(py: Python<'_>, keys: Column) -> Result<Vec<Option<usize>>, BoundaryError> {
    keys.addresses(py)
}

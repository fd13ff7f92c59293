//! Python's view of `partwright_core::hashing`, for columns and for one key.

use partwright_core::hashing::{KeyType, Partitions};
use partwright_core::{columnar, hashing};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use crate::arguments::{Client, Encoding, PartitionCount, Threads};
use crate::arrow::ArrowColumn;
use crate::error::{BoundaryError, Returned, detached};
use crate::items::to_items;

/// murmur2 of each key.
#[pyfunction]
pub(crate) fn murmur2(
    py: Python<'_>,
    keys: ArrowColumn,
    key_type: Option<Encoding>,
    threads: Threads,
) -> Returned {
    let key_type = key_type.map(|key_type| key_type.0);
    keys.map(py, key_type, |keys| columnar::murmur2_by(&threads, keys, key_type))
}

/// The partition of each key.
#[pyfunction]
pub(crate) fn partition_for_key(
    py: Python<'_>,
    keys: ArrowColumn,
    n: PartitionCount,
    client: Client,
    key_type: Option<Encoding>,
    threads: Threads,
) -> Returned {
    let key_type = key_type.map(|key_type| key_type.0);
    keys.map(py, key_type, |keys| columnar::partition_for_key_by(&threads, keys, n.0, client.0, key_type))
}

/// A rule with its settings, which are checked only once.
#[pyclass(frozen, module = "partwright._core")]
pub(crate) struct Placer {
    n: Partitions,
    client: hashing::Client,
    key_type: Option<KeyType>,
}

#[pymethods]
impl Placer {
    #[new]
    fn new(n: PartitionCount, client: Client, key_type: Option<Encoding>) -> Returned<Self> {
        let key_type = key_type.map(|key_type| key_type.0);
        client.0.check_key_type(key_type)?;
        Ok(Self { n: n.0, client: client.0, key_type })
    }

    /// The partition of each key.
    fn place(&self, py: Python<'_>, keys: ArrowColumn) -> Returned {
        keys.map(py, self.key_type, |keys| {
            columnar::partition_for_key(keys, self.n, self.client, self.key_type)
        })
    }

    /// The arguments from which another process builds it again (pickle).
    fn __getnewargs__(&self) -> (u32, &'static str, Option<&'static str>) {
        (self.n.get(), self.client.profile().name, self.key_type.map(KeyType::name))
    }
}

/// The key bytes of each value.
#[pyfunction]
#[pyo3(signature = (values, key_type=None))]
pub(crate) fn encode(py: Python<'_>, values: ArrowColumn, key_type: Option<Encoding>) -> Returned {
    let key_type = key_type.map(|key_type| key_type.0);
    values.map(py, key_type, |values| columnar::encode(values, key_type))
}

/// The key bytes of one value, given as a column of one row.
#[pyfunction]
#[pyo3(signature = (value, key_type=None))]
pub(crate) fn encode_one(
    py: Python<'_>,
    value: ArrowColumn,
    key_type: Option<Encoding>,
) -> Returned<Option<Vec<u8>>> {
    value.first(py, key_type.map(|key_type| key_type.0))
}

/// murmur2 of one key.
#[pyfunction]
pub(crate) fn murmur2_of_bytes(key: &[u8]) -> i32 {
    hashing::murmur2(key)
}

/// `partition_for_key`. It answers for one key of bytes or text itself, since the mere call of a Python function takes
/// as long as the answer. All other calls go to the Python function, whose name, signature and docstring it has.
#[pyclass(frozen, dict, weakref, module = "partwright._core")]
pub(crate) struct OneKeyFirst {
    function: Py<PyAny>,
}

#[pymethods]
impl OneKeyFirst {
    #[new]
    fn new(function: Py<PyAny>) -> Self {
        Self { function }
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match one_key(args, kwargs)? {
            Some(partition) => Ok(partition),
            None => self.function.bind(py).call(args, kwargs),
        }
    }

    /// As an attribute of a class it becomes a method, like every function; `inspect` and `help` recognize functions by
    /// that.
    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        instance: &Bound<'py, PyAny>,
        _owner: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if instance.is_none() {
            return Ok(slf.as_any().clone());
        }
        slf.py().import("types")?.getattr("MethodType")?.call1((slf, instance))
    }

    /// Pickled by its name, like every function.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.function.bind(py).getattr("__qualname__")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.function.bind(py).repr()?.to_string())
    }
}

/// The partition, if the arguments are a key of bytes or text, a number of partitions and at most a client.
fn one_key<'py>(
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let client = match (args.len(), kwargs) {
        (2, None) => None,
        (3, None) => Some(args.get_item(2)?),
        (2, Some(kwargs)) if kwargs.len() == 1 => match kwargs.get_item(intern!(args.py(), "client"))? {
            None => return Ok(None),
            client => client,
        },
        _ => return Ok(None),
    };
    let key = args.get_borrowed_item(0)?;
    let Some(key) = bytes_of(&key) else { return Ok(None) };
    let n: PartitionCount = args.get_borrowed_item(1)?.extract()?;
    let client: Client = client.map_or(Ok(Client(hashing::Client::JAVA)), |client| client.extract())?;
    let partition = client.0.partition_for_key(Some(key), n.0).map_err(BoundaryError::from)?;
    Ok(Some(partition.into_pyobject(args.py())?))
}

/// The bytes of one key of bytes or text; `None` for any other object, and for text without valid UTF-8.
fn bytes_of<'key>(key: &'key Bound<'_, PyAny>) -> Option<&'key [u8]> {
    match key.cast_exact::<PyBytes>() {
        Ok(bytes) => Some(bytes.as_bytes()),
        Err(_) => key.cast_exact::<PyString>().ok().and_then(|text| text.to_str().ok()).map(str::as_bytes),
    }
}

/// The partition of one key's bytes; `None` if the client does not decide by the key bytes alone.
#[pyfunction]
pub(crate) fn partition_for_bytes(
    key: Option<&[u8]>,
    n: PartitionCount,
    client: Client,
) -> Returned<Option<i32>> {
    Ok(client.0.partition_for_key(key, n.0)?)
}

/// The number of keys whose partition the client determines, and for each number of partitions how many of them are on
/// the partition that the client computes; `None` if the client fails on a key. Both are columns of one chunk.
#[pyfunction]
pub(crate) fn following(
    py: Python<'_>,
    keys: ArrowColumn,
    partitions: ArrowColumn,
    client: Client,
    numbers: Vec<PartitionCount>,
) -> Returned<(usize, Vec<Option<usize>>)> {
    let (keys, partitions) = (keys.only(), partitions.only());
    let numbers: Vec<Partitions> = numbers.into_iter().map(|number| number.0).collect();
    let following = detached(py, || columnar::following(&keys, &partitions, client.0, &numbers))?;
    Ok((following.determined, following.follow))
}

/// For each id of a group or transaction, its partition of Kafka's internal topic.
#[pyfunction]
pub(crate) fn coordinator_partition(py: Python<'_>, ids: ArrowColumn, n: PartitionCount) -> Returned {
    ids.map(py, None, |ids| columnar::partition_for_key(ids, n.0, hashing::Client::COORDINATOR, None))
}

/// The same for one id.
#[pyfunction]
pub(crate) fn coordinator_partition_of_bytes(
    name: Option<&[u8]>,
    n: PartitionCount,
) -> Returned<Option<i32>> {
    Ok(hashing::Client::COORDINATOR.partition_for_key(name, n.0)?)
}

/// For each group's ID, its partition of Redpanda's internal topic.
#[pyfunction]
pub(crate) fn redpanda_coordinator(py: Python<'_>, ids: ArrowColumn, n: PartitionCount) -> Returned {
    ids.map(py, None, |ids| columnar::redpanda_coordinator(ids, n.0))
}

/// The same for one ID.
#[pyfunction]
pub(crate) fn redpanda_coordinator_of_bytes(name: Option<&[u8]>, n: PartitionCount) -> Option<i32> {
    name.map(|name| hashing::redpanda_coordinator(name, n.0))
}

/// How a client computes the partition of one key: the hash, the number that is divided, the remainder and the
/// partition; `None` if the client does not hash the key, or not keys of this type.
#[pyfunction]
#[pyo3(signature = (key, n, client, key_type=None))]
pub(crate) fn steps(
    key: Option<&[u8]>,
    n: PartitionCount,
    client: Client,
    key_type: Option<Encoding>,
) -> Option<(i128, i128, i128, i32)> {
    client.0.check_key_type(key_type.map(|key_type| key_type.0)).ok()?;
    let steps = client.0.steps(key, n.0)?;
    Some((steps.hash, steps.dividend, steps.remainder, steps.partition))
}

/// Refuses settings that are wrong for every column, before there is a column; returns the key type's whole name.
#[pyfunction]
#[pyo3(signature = (n, client, key_type=None))]
pub(crate) fn check(
    n: PartitionCount,
    client: Client,
    key_type: Option<Encoding>,
) -> Returned<Option<&'static str>> {
    // The conversion has checked the count.
    let _ = n;
    let key_type = key_type.map(|key_type| key_type.0);
    client.0.check_key_type(key_type)?;
    Ok(key_type.map(KeyType::name))
}

/// The table of clients; each row is a dict.
#[pyfunction]
pub(crate) fn clients(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |client: hashing::Client| {
        let profile = client.profile();
        Ok(to_items!(py, {
            client: profile.name, hash: profile.rule.hash.name(), sign: profile.rule.sign.words(),
            sign_name: profile.rule.sign.name(), form: profile.form.name(),
            null_key: profile.null_key.words(), empty_key: profile.empty_key.words(),
            agrees_with_java: client.agrees_with_java(), setting: profile.setting, library: profile.library,
            version: profile.version, source: profile.source, is_library: profile.product.is_none(),
            stands_for: profile.product.as_ref().and_then(|product| product.stands_for),
            key_bytes: profile.product.as_ref().map(|product| product.key_bytes),
            evidence: profile.product.as_ref().map(|product| product.evidence.words()),
        }))
    };
    hashing::Client::all().map(row).collect()
}

/// The names of the key types.
#[pyfunction]
pub(crate) fn key_types() -> Vec<&'static str> {
    KeyType::ALL.iter().map(|key_type| key_type.name()).collect()
}

/// The address at which the core reads the key bytes of each chunk. It proves that nothing was copied.
#[pyfunction]
pub(crate) fn key_addresses(py: Python<'_>, keys: ArrowColumn) -> Returned<Vec<Option<usize>>> {
    keys.addresses(py)
}

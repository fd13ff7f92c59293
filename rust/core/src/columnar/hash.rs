//! Columns of keys to columns of hashes and of partitions.

use arrow_array::{Array, Int32Array};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};

use super::keys::key_column;
use super::layout::{Each, KeyColumn};
use super::workers::{Alone, Workers};
use crate::hashing::lanes::Finish;
use crate::hashing::{self, Client, KeyForm, KeyType, Keyless, Partitions, Rule};
use crate::{Error, Result};

/// Kafka's murmur2 of each key; null for a null key.
///
/// ```
/// use arrow_array::{Int32Array, StringArray};
/// use partwright_core::columnar::murmur2;
/// let keys = StringArray::from(vec![Some("21"), None, Some("foobar")]);
/// assert_eq!(murmur2(&keys, None)?, Int32Array::from(vec![Some(-973932308), None, Some(-790332482)]));
/// # Ok::<(), partwright_core::Error>(())
/// ```
///
/// # Errors
/// Those of [`key_column`], and [`crate::Error::Malformed`].
pub fn murmur2(keys: &dyn Array, key_type: Option<KeyType>) -> Result<Int32Array> {
    murmur2_by(&Alone, keys, key_type)
}

/// The same, done by `workers`.
///
/// # Errors
/// Those of [`murmur2`].
pub fn murmur2_by(workers: &dyn Workers, keys: &dyn Array, key_type: Option<KeyType>) -> Result<Int32Array> {
    key_column(keys, key_type)?.map(&Finish::Hash, workers)
}

/// The partition that `client` gives each key among `n`; null if it chooses without the key.
///
/// ```
/// use arrow_array::{Int32Array, StringArray};
/// use partwright_core::columnar::partition_for_key;
/// use partwright_core::hashing::{Client, Partitions};
/// let keys = StringArray::from(vec![Some("TT0124"), Some(""), None]);
/// let (n, librdkafka) = (Partitions::new(15)?, "librdkafka".parse()?);
/// let partitions = partition_for_key(&keys, n, Client::JAVA, None)?;
/// assert_eq!(partitions, Int32Array::from(vec![Some(10), Some(6), None]));
/// assert_eq!(partition_for_key(&keys, n, librdkafka, None)?, Int32Array::from(vec![Some(9), None, None]));
/// # Ok::<(), partwright_core::Error>(())
/// ```
///
/// # Errors
/// Those of [`key_column`], [`Error::Malformed`], and of a client that hashes text: [`Error::KeyType`] for a key type
/// that is not text, and for `java:string-hash` [`Error::Value`] if Java itself has no partition.
pub fn partition_for_key(
    keys: &dyn Array,
    n: Partitions,
    client: Client,
    key_type: Option<KeyType>,
) -> Result<Int32Array> {
    partition_for_key_by(&Alone, keys, n, client, key_type)
}

/// The same, done by `workers`.
///
/// # Errors
/// Those of [`partition_for_key`].
pub fn partition_for_key_by(
    workers: &dyn Workers,
    keys: &dyn Array,
    n: Partitions,
    client: Client,
    key_type: Option<KeyType>,
) -> Result<Int32Array> {
    client.check_key_type(key_type)?;
    let keys = key_column(keys, key_type)?;
    // An arm for each rule that is frequent, so that it is compiled into a loop of its own.
    macro_rules! placed {
        ($($rule:ident),*) => {
            match client.profile().rule {
                _ if client.profile().form != KeyForm::AsIs => keys.map(&Each(|key: &[u8]| client.partition(key, n)), workers),
                Rule::MURMUR2 => keys.map(&Finish::partition(n), workers),
                $(Rule::$rule => keys.map(&Each(|key: &[u8]| Rule::$rule.partition(key, n)), workers),)*
                rule => keys.map(&Each(|key: &[u8]| rule.partition(key, n)), workers),
            }
        };
    }
    let placed = placed!(CRC32, FNV1A, FNV1A_REFERENCE, KAFKAJS_LEGACY, STRING_HASH, OLD_STRING_HASH)?;
    let of_no_bytes = client.partition(&[], n);
    let placed = match client.profile().null_key {
        Keyless::Hashed => nulls_as(placed, of_no_bytes),
        Keyless::First => nulls_as(placed, 0),
        Keyless::Chosen(_) => placed,
    };
    let placed = if client.may_have_none() && placed.values().iter().any(|partition| *partition < 0) {
        without_negative(client, &keys, n, &placed)?
    } else {
        placed
    };
    match client.profile().empty_key {
        Keyless::Hashed | Keyless::First => Ok(placed),
        Keyless::Chosen(_) => empty_as_null(&keys, placed, of_no_bytes),
    }
}

/// The partition of each group's ID in Redpanda; see [`hashing::redpanda_coordinator`].
///
/// ```
/// use arrow_array::{Int32Array, StringArray};
/// use partwright_core::columnar::redpanda_coordinator;
/// use partwright_core::hashing::Partitions;
/// let ids = StringArray::from(vec![Some("panda3"), None]);
/// assert_eq!(redpanda_coordinator(&ids, Partitions::new(16)?)?, Int32Array::from(vec![Some(13), None]));
/// # Ok::<(), partwright_core::Error>(())
/// ```
///
/// # Errors
/// Those of [`key_column`], and [`Error::Malformed`].
pub fn redpanda_coordinator(ids: &dyn Array, n: Partitions) -> Result<Int32Array> {
    key_column(ids, None)?.map(&Each(|id: &[u8]| hashing::redpanda_coordinator(id, n)), &Alone)
}

/// Replaces each null by `partition`.
fn nulls_as(placed: Int32Array, partition: i32) -> Int32Array {
    let (_, mut values, nulls) = placed.into_parts();
    let Some(nulls) = nulls else { return Int32Array::new(values, None) };
    values = nulls.iter().zip(&values).map(|(valid, value)| if valid { *value } else { partition }).collect();
    Int32Array::new(values, None)
}

/// Replaces the answer of each empty key by null; all empty keys went to `of_no_bytes`.
fn empty_as_null(keys: &KeyColumn, placed: Int32Array, of_no_bytes: i32) -> Result<Int32Array> {
    let mut empty = Vec::new();
    for (row, partition) in placed.values().iter().enumerate() {
        if *partition == of_no_bytes && keys.key(row)? == Some(&[]) {
            empty.push(row);
        }
    }
    if empty.is_empty() {
        return Ok(placed);
    }
    let mut valid = BooleanBufferBuilder::new(placed.len());
    match placed.nulls() {
        Some(nulls) => valid.append_buffer(nulls.inner()),
        None => valid.append_n(placed.len(), true),
    }
    for row in empty {
        valid.set_bit(row, false);
    }
    let (_, values, _) = placed.into_parts();
    Ok(Int32Array::new(values, Some(NullBuffer::new(valid.finish()))))
}

/// Replaces a partition that is none by null; for a library it is an error.
fn without_negative(
    client: Client,
    keys: &KeyColumn,
    n: Partitions,
    placed: &Int32Array,
) -> Result<Int32Array> {
    let mut answers = Vec::with_capacity(placed.len());
    for (row, partition) in placed.iter().enumerate() {
        answers.push(match partition {
            Some(partition) if partition < 0 && !client.gives_none() => {
                let key = keys.key(row)?.unwrap_or_default();
                return Err(Error::Value { row, reason: Client::refusal(key, n, partition) });
            }
            other => other.filter(|partition| *partition >= 0),
        });
    }
    Ok(answers.into())
}

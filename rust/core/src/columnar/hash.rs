//! Columns of keys to columns of hashes and of partitions.

use arrow_array::{Array, Int32Array};

use super::keys::key_column;
use crate::Result;
use crate::hashing::{self, Client, KeyType, Partitions};

/// Kafka's murmur2 of each key, null where the key is null.
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
    key_column(keys, key_type)?.map(&hashing::murmur2)
}

/// The partition that `client` gives each key among `n`, null where the key is null and the client does not hash it.
///
/// ```
/// use arrow_array::{Int32Array, StringArray};
/// use partwright_core::columnar::partition_for_key;
/// use partwright_core::hashing::{Client, Partitions};
/// let keys = StringArray::from(vec![Some("TT0124"), None]);
/// let partitions = partition_for_key(&keys, Partitions::new(15)?, Client::Java, None)?;
/// assert_eq!(partitions, Int32Array::from(vec![Some(10), None]));
/// # Ok::<(), partwright_core::Error>(())
/// ```
///
/// # Errors
/// Those of [`key_column`], and [`crate::Error::Malformed`].
pub fn partition_for_key(
    keys: &dyn Array,
    n: Partitions,
    client: Client,
    key_type: Option<KeyType>,
) -> Result<Int32Array> {
    let keys = key_column(keys, key_type)?;
    match client {
        Client::Java => keys.map(&|key: &[u8]| hashing::partition_for_key(key, n)),
    }
}

//! How many keys are where a client puts them, for many numbers of partitions, hashing each key once.

use arrow_array::{Array, Int64Array};

use super::keys::key_column;
use crate::hashing::{Client, Partitions, Sign};
use crate::{Error, Result};

/// How keys and their partitions fit a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Following {
    /// How many keys have a partition, and get one from the client.
    pub determined: usize,
    /// For each number of partitions, how many of these are where the client puts them; `None` if a key makes such a
    /// client fail, as under `java:string-hash`.
    pub follow: Vec<Option<usize>>,
}

/// How many of `keys` are in the partition that `client` gives them, among each of `numbers` of partitions.
///
/// ```
/// use arrow_array::{BinaryArray, Int64Array};
/// use partwright_core::columnar::following;
/// use partwright_core::hashing::{Client, Partitions};
/// let keys = BinaryArray::from(vec![&b"TT0124"[..], b"N14228"]);
/// let numbers = [Partitions::new(1)?, Partitions::new(15)?];
/// let answer = following(&keys, &Int64Array::from(vec![Some(10), None]), Client::JAVA, &numbers)?;
/// assert_eq!((answer.determined, answer.follow), (1, vec![Some(0), Some(1)]));
/// # Ok::<(), partwright_core::Error>(())
/// ```
///
/// # Errors
/// Those of [`key_column`], [`Error::Malformed`], and [`Error::KeyType`] for partitions that are not int64 or not as
/// many as the keys.
pub fn following(
    keys: &dyn Array,
    partitions: &dyn Array,
    client: Client,
    numbers: &[Partitions],
) -> Result<Following> {
    let partitions = partitions.as_any().downcast_ref::<Int64Array>();
    let partitions = partitions.filter(|partitions| partitions.len() == keys.len()).ok_or_else(|| {
        Error::KeyType("the partitions of keys are a column of int64 as long as theirs".to_owned())
    })?;
    let keys = key_column(keys, None)?;
    let mut hashes = Vec::with_capacity(partitions.len());
    for (row, partition) in partitions.iter().enumerate() {
        let Some(key) = client.hashed(keys.key(row)?) else { continue };
        let Some(hash) = client.hash(key) else {
            // Not text: such a client cannot have written this for any number of partitions.
            return Ok(Following { determined: 0, follow: vec![None; numbers.len()] });
        };
        hashes.push((hash, partition));
    }
    let determined = hashes.iter().filter(|(_, partition)| partition.is_some()).count();
    // What is checked again for each number: a key in no partition may make the client fail, and agrees with no number.
    let hashes: Vec<(u64, i64)> =
        hashes.into_iter().map(|(hash, partition)| (hash, partition.unwrap_or(NOWHERE))).collect();
    let follow = numbers.iter().map(|n| count(client.profile().rule.sign, &hashes, *n)).collect();
    Ok(Following { determined, follow })
}

/// Equal to no partition of 32 bits.
const NOWHERE: i64 = i64::MIN;

fn count(sign: Sign, hashes: &[(u64, i64)], n: Partitions) -> Option<usize> {
    let mut follow = 0;
    for (hash, partition) in hashes {
        let placed = sign.partition(*hash, n);
        if placed < 0 {
            return None;
        }
        follow += usize::from(i64::from(placed) == *partition);
    }
    Some(follow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::BinaryArray;

    /// Each number gives what `partition_for_key` gives, also with missing keys and keys in no partition.
    #[test]
    fn each_number_is_as_a_column_of_partitions_has_it() -> Result<()> {
        // Keys of all lengths from none on, some of them null.
        let texts: Vec<String> = (0..200).map(|row| format!("user-{row}")).collect();
        let key = |(row, text): (usize, &String)| {
            (row % 9 != 8).then(|| text.get(row % 9..).unwrap_or_default().to_owned())
        };
        let keys: BinaryArray = texts.iter().enumerate().map(key).collect();
        let partitions: Int64Array =
            (0..200).map(|row| (row % 11 != 3).then_some(row * row % 5 - i64::from(row == 77))).collect();
        let numbers = [1, 2, 3, 5, 7, 12, 1 << 20, (1 << 31) - 1].map(Partitions::new);
        let numbers = numbers.into_iter().collect::<Result<Vec<_>>>()?;
        for client in Client::libraries() {
            let answer = following(&keys, &partitions, client, &numbers)?;
            for (n, follow) in numbers.iter().zip(answer.follow) {
                let placed = super::super::partition_for_key(&keys, *n, client, None)?;
                let both: Vec<(i64, i64)> = placed
                    .iter()
                    .zip(&partitions)
                    .filter_map(|(placed, partition)| Some((placed?.into(), partition?)))
                    .collect();
                assert_eq!(answer.determined, both.len(), "{client}");
                assert_eq!(
                    follow,
                    Some(both.iter().filter(|(placed, partition)| placed == partition).count())
                );
            }
        }
        Ok(())
    }

    /// `polygenelubricants` has the smallest hashCode, which has a partition only among powers of two.
    #[test]
    fn a_key_stops_a_client_by_the_number_of_partitions() -> Result<()> {
        let numbers = [Partitions::new(2)?, Partitions::new(3)?];
        let client = "java:string-hash".parse()?;
        let keys = BinaryArray::from(vec![&b"polygenelubricants"[..], b"a"]);
        let answer = following(&keys, &Int64Array::from(vec![None, Some(1)]), client, &numbers)?;
        assert_eq!(answer, Following { determined: 1, follow: vec![Some(1), None] });
        let keys = BinaryArray::from(vec![&b"\xff"[..], b"a"]);
        let answer = following(&keys, &Int64Array::from(vec![Some(0), Some(1)]), client, &numbers)?;
        assert_eq!(answer.follow, [None, None]);
        let short = Int64Array::from(vec![1]);
        assert!(following(&keys, &short, client, &numbers).is_err());
        Ok(())
    }
}

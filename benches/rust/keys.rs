//! The cases of `cases.json` as Arrow columns: the same bytes, row by row, that the other layers make.

use std::env;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, DictionaryArray, FixedSizeBinaryArray, Int64Array, LargeStringArray,
    StringArray, StringViewArray,
};
use partwright_core::columnar;
use partwright_core::hashing::{self, Client, KeyType, Partitions};
use serde::Deserialize;

use crate::Outcome;

const SEED_NAME: &str = "PARTWRIGHT_BENCH_SEED";

/// Keys as a program without Arrow holds them: each in memory of its own.
pub(crate) type Scattered = Vec<Option<Vec<u8>>>;

#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    seed: u64,
    key_type: Option<String>,
    pub(crate) layouts: Vec<Layout>,
    checksum: i64,
    #[serde(flatten)]
    kind: Kind,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Kind {
    Text { shortest: u64, longest: u64, null_per_mille: u64 },
    Uuid,
    Tails { values: u64 },
    Long,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Layout {
    Utf8,
    LargeUtf8,
    Utf8View,
    Binary,
    Fixed,
    Dictionary,
    Int64,
}

impl Case {
    pub(crate) fn key_type(&self) -> Outcome<Option<KeyType>> {
        Ok(self.key_type.as_deref().map(str::parse).transpose()?)
    }

    pub(crate) fn keys(&self, rows: usize) -> Outcome<Scattered> {
        let seed = self.seed()?;
        (0..u64::try_from(rows)?).map(|row| self.key(seed, row)).collect()
    }

    /// The key bytes of one row, null where the case says so.
    fn key(&self, seed: u64, row: u64) -> Outcome<Option<Vec<u8>>> {
        let choice = word(seed, row, 0);
        Ok(match self.kind {
            Kind::Text { null_per_mille, .. } if (choice & 0xffff_ffff) % 1000 < null_per_mille => None,
            Kind::Text { shortest, longest, .. } => {
                let length = shortest + (choice >> 32) % (longest - shortest + 1);
                Some(text(seed, row, usize::try_from(length)?))
            }
            Kind::Uuid => {
                let bytes: Vec<u8> = bytes(seed, row).take(16).collect();
                Some(hashing::serializer::uuid(bytes.as_slice().try_into()?).to_vec())
            }
            Kind::Tails { values } => {
                let mut tail = text(seed, (choice >> 32) % values, 6);
                tail[0] = b'N';
                Some(tail)
            }
            Kind::Long => Some(word(seed, row, 1).to_be_bytes().to_vec()),
        })
    }

    /// The sum of the first partitions; fails if it differs from the known sum, which holds only for one seed.
    pub(crate) fn check(&self, column: &ArrayRef, rows: usize, n: Partitions) -> Outcome<i64> {
        let found = columnar::partition_for_key(&column.slice(0, rows), n, Client::JAVA, self.key_type()?)?;
        let sum: i64 = found.iter().flatten().map(i64::from).sum();
        if sum != self.checksum && run_seed()? == 0 {
            let (name, checksum) = (&self.name, self.checksum);
            return Err(
                format!("{name}: the partitions' sum is {sum}, and cases.json says {checksum}").into()
            );
        }
        Ok(sum)
    }

    fn seed(&self) -> Outcome<u64> {
        Ok(self.seed ^ run_seed()?)
    }
}

/// The seed that a run mixes into each case's seed: 0, for which the checksums hold, unless the environment names one.
pub(crate) fn run_seed() -> Outcome<u64> {
    match env::var(SEED_NAME) {
        Ok(said) => said.parse().map_err(|_| {
            format!("{SEED_NAME} is '{said}': say a whole number from 0 to 18446744073709551615.").into()
        }),
        Err(_) => Ok(0),
    }
}

impl Layout {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf8",
            Self::LargeUtf8 => "large_utf8",
            Self::Utf8View => "utf8_view",
            Self::Binary => "binary",
            Self::Fixed => "fixed",
            Self::Dictionary => "dictionary",
            Self::Int64 => "int64",
        }
    }

    pub(crate) fn column(self, keys: &Scattered) -> Outcome<ArrayRef> {
        let binary = || keys.iter().map(Option::as_deref);
        let texts = || -> Outcome<Vec<Option<&str>>> {
            binary().map(|key| Ok(key.map(str::from_utf8).transpose()?)).collect()
        };
        Ok(match self {
            Self::Utf8 => Arc::new(StringArray::from(texts()?)),
            Self::LargeUtf8 => Arc::new(LargeStringArray::from(texts()?)),
            Self::Utf8View => Arc::new(StringViewArray::from(texts()?)),
            Self::Binary => Arc::new(binary().collect::<BinaryArray>()),
            Self::Fixed => {
                let width = binary().flatten().next().map_or(0, <[u8]>::len);
                let array =
                    FixedSizeBinaryArray::try_from_sparse_iter_with_size(binary(), i32::try_from(width)?);
                Arc::new(array?)
            }
            Self::Dictionary => Arc::new(texts()?.into_iter().collect::<DictionaryArray<Int32Type>>()),
            Self::Int64 => {
                let number = |key: &[u8]| -> Outcome<i64> { Ok(i64::from_be_bytes(key.try_into()?)) };
                let numbers: Outcome<Int64Array> = binary().map(|key| key.map(number).transpose()).collect();
                Arc::new(numbers?)
            }
        })
    }
}

fn text(seed: u64, row: u64, length: usize) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
    bytes(seed, row).take(length).map(|byte| ALPHABET[usize::from(byte & 63)]).collect()
}

fn bytes(seed: u64, row: u64) -> impl Iterator<Item = u8> {
    (1..).flat_map(move |place| word(seed, row, place).to_le_bytes())
}

/// `SplitMix64`, by its position instead of its state, so that numpy can make the same words all at once.
fn word(seed: u64, row: u64, place: u64) -> u64 {
    let position = row * 16 + place + 1;
    let mut word = seed.wrapping_add(position.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

//! The order of Kafka's `Uuid`, by which a broker identifies topics: its text and hash code, the ID of a name
//! (`java.util.UUID.nameUUIDFromBytes`), and how `java.util.HashMap` walks them.

use std::fmt;
use std::str::FromStr;

use md5::{Digest, Md5};

use super::hash_map::{FIRST_BINS, Walker};
use super::strings::{by, inverse};
use crate::index::Ix;
use crate::{Error, Result};

/// The letters of URL-safe base64, by their value.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// How many letters 16 bytes take, without padding.
const LENGTH: usize = 22;

/// `Uuid`, ordered by `Uuid.compareTo`: as two signed longs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicId {
    most: i64,
    least: i64,
}

impl TopicId {
    /// The ID of a topic without a given one: `UUID.nameUUIDFromBytes` of its name in UTF-8.
    ///
    /// ```
    /// use partwright_core::java::uuid::TopicId;
    /// assert_eq!(TopicId::of_name("t").to_string(), "41jvpIn1MGKxDdcxa2Vkng");
    /// ```
    pub fn of_name(name: &str) -> Self {
        let mut bytes = <[u8; 16]>::from(Md5::digest(name.as_bytes()));
        // Version 3, in the variant of UUIDs that has versions.
        bytes[6] = bytes[6] & 0x0f | 0x30;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Self::of_bits(u128::from_be_bytes(bytes))
    }

    /// `Uuid.hashCode`.
    pub fn hash_code(self) -> i32 {
        let bits = (self.most ^ self.least).cast_unsigned();
        let half = |shift: u32| u32::try_from(bits >> shift & u64::from(u32::MAX)).unwrap_or(0);
        (half(32) ^ half(0)).cast_signed()
    }

    fn of_bits(bits: u128) -> Self {
        let half =
            |shift: u32| u64::try_from(bits >> shift & u128::from(u64::MAX)).unwrap_or(0).cast_signed();
        Self { most: half(64), least: half(0) }
    }

    fn bits(self) -> u128 {
        u128::from(self.most.cast_unsigned()) << 64 | u128::from(self.least.cast_unsigned())
    }
}

/// `Uuid.toString`: base64 without padding.
impl fmt::Display for TopicId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Four zero bits fill up the last letter.
        let bits = self.bits();
        let letter = |place: usize| {
            let value = if place == LENGTH - 1 { bits << 4 } else { bits >> (122 - 6 * place) };
            char::from(LETTERS[usize::try_from(value & 63).unwrap_or(0)])
        };
        f.write_str(&(0..LENGTH).map(letter).collect::<String>())
    }
}

/// `Uuid.fromString`, of the 22 letters that Kafka writes.
impl FromStr for TopicId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let value = |letter: u8| LETTERS.iter().position(|&known| known == letter);
        let values: Option<Vec<usize>> = text.bytes().map(value).collect();
        match values {
            Some(values) if values.len() == LENGTH => {
                let bits = |bits: u128, &value: &usize| bits << 6 | value as u128;
                let first = values[..LENGTH - 1].iter().fold(0, bits);
                // Java ignores the last letter's four extra bits.
                Ok(Self::of_bits(first << 2 | (values[LENGTH - 1] >> 4) as u128))
            }
            _ => Err(Error::TopicId { value: text.to_owned() }),
        }
    }
}

/// The order in which Java walks a `new HashSet<>()` or `new HashMap<>()` of topic IDs, which are put in the order of
/// `inserted`, each once; the numbers are places in `ids`.
pub fn walk_ids(ids: &[TopicId], inserted: &[u32]) -> Vec<u32> {
    IdWalker::new(ids).walk(inserted)
}

/// A [`Walker`] for IDs in any order; it needs them sorted.
pub(crate) struct IdWalker {
    walker: Walker,
    /// The places of the IDs in sorted order, and each place's number in that order.
    places: Vec<u32>,
    numbers: Vec<u32>,
}

impl IdWalker {
    pub(crate) fn new(ids: &[TopicId]) -> Self {
        let mut places: Vec<u32> = (0..).take(ids.len()).collect();
        places.sort_unstable_by_key(|&place| ids[place as usize]);
        let walker = Walker::new(places.iter().map(|&place| ids[place as usize].hash_code()));
        Self { walker, numbers: inverse(&places), places }
    }

    /// The order of a map into which ids were `put`, each once.
    pub(crate) fn walk<I: Ix>(&mut self, inserted: &[I]) -> Vec<I> {
        self.walk_from(FIRST_BINS, inserted)
    }

    /// The same for a map that begins with a given number of bins.
    pub(crate) fn walk_from<I: Ix>(&mut self, bins: usize, inserted: &[I]) -> Vec<I> {
        let walked = self.walker.walk_from(bins, &by(inserted, &self.numbers));
        walked.into_iter().map(|number| I::new(self.places[number as usize])).collect()
    }
}

//! A topic's number of partitions, and how a hash loses its sign on the way to one of them.

use crate::{Error, Result};

/// A topic's number of partitions: 1 to 2^31-1, as in Java's `int`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partitions(u32);

impl Partitions {
    /// Checks a count.
    ///
    /// # Errors
    /// [`Error::Partitions`] if `value` is below 1 or above 2^31-1.
    pub fn new(value: i64) -> Result<Self> {
        match u32::try_from(value) {
            Ok(count) if count >= 1 && count <= i32::MAX.cast_unsigned() => Ok(Self(count)),
            _ => Err(Error::Partitions { value }),
        }
    }

    /// The count itself.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// Clears the sign bit, as `Utils.toPositive` does; this is not an absolute value.
///
/// ```
/// use partwright_core::hashing::to_positive;
/// assert_eq!(to_positive(-1), 0x7fff_ffff);
/// assert_eq!(to_positive(i32::MIN), 0);
/// ```
#[inline]
pub fn to_positive(hash: i32) -> u32 {
    hash.cast_unsigned() & TO_POSITIVE
}

/// All bits but the sign.
pub(super) const TO_POSITIVE: u32 = 0x7fff_ffff;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_of_partitions_is_a_positive_java_int() {
        for value in [i64::MIN, -1, 0, 1 << 31, i64::MAX] {
            assert_eq!(Partitions::new(value), Err(Error::Partitions { value }));
        }
        for value in [1, 12, (1 << 31) - 1] {
            assert_eq!(Partitions::new(value).map(|n| i64::from(n.get())), Ok(value));
        }
    }
}

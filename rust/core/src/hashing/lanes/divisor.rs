//! A modulo without a division.

use crate::hashing::Partitions;

/// A count n of partitions that numbers below 2^31 are divided by: with `n <= 2^k`, `2 * number * multiplier >> (32 + k)`
/// is the quotient, because the multiplier exceeds `2^(31+k) / n` by less than 1, so the result exceeds
/// `number / n` by less than `number / 2^(31+k) < 1 / n`. The number is doubled so that the quotient is the
/// upper half of the product, shifted by `k` bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    pub(super) n: u32,
    pub(super) multiplier: u32,
    /// `k`.
    pub(super) shift: u32,
}

impl Divisor {
    pub(super) fn new(n: Partitions) -> Self {
        let n = n.get();
        let shift = n.next_power_of_two().ilog2();
        #[expect(clippy::cast_possible_truncation, reason = "2^(31+k) / n < 2^32, since n > 2^(k-1)")]
        let multiplier = ((1_u64 << (31 + shift)) / u64::from(n) + 1) as u32;
        Self { n, multiplier, shift }
    }

    #[inline]
    pub(super) fn remainder(self, number: u32) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "a quotient is not larger than what is divided")]
        let quotient = ((u64::from(2 * number) * u64::from(self.multiplier)) >> (32 + self.shift)) as u32;
        number - quotient * self.n
    }
}

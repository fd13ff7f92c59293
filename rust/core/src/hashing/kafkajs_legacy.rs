//! The murmur2 of kafkajs before 2.0, computed in JavaScript's doubles, which gives other hashes than Kafka's.

use super::blocks::filled;
use super::murmur2::{MULTIPLIER, SEED};

/// The hash of kafkajs' `LegacyPartitioner` (`legacy/murmur2.js` in 2.2.4, the default before 2.0.0).
///
/// It was meant to be Kafka's murmur2. But it rounds a product of two 32-bit numbers to the 53 bits of a double, and
/// mixes in the bytes after the last whole block twice: once as a block filled up with zeros.
///
/// ```
/// use partwright_core::hashing::kafkajs_legacy;
/// assert_eq!(kafkajs_legacy(b"0"), 272173970);
/// assert_eq!(kafkajs_legacy(b"170859375"), 102939717);
/// ```
#[inline]
pub fn kafkajs_legacy(key: &[u8]) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "a Node.js Buffer has at most 2^31-1 bytes here")]
    let mut hash = (SEED ^ key.len() as u32).cast_signed();
    let (blocks, tail) = key.as_chunks::<4>();
    for block in blocks {
        hash = to_int32(times(hash)) ^ mixed(*block);
    }
    if !tail.is_empty() {
        let block = filled(tail);
        hash = to_int32(times(hash)) ^ mixed(block);
        hash = to_int32(times(hash ^ i32::from_le_bytes(block)));
    }
    hash = shifted(hash, 13);
    shifted(to_int32(times(hash)), 15)
}

/// One block's part of the hash: multiplied, its high byte folded in, multiplied.
fn mixed(block: [u8; 4]) -> i32 {
    to_int32(times(shifted(to_int32(times(i32::from_le_bytes(block))), 24)))
}

/// JavaScript's `x ^ (x >>> by)`.
fn shifted(number: i32, by: u32) -> i32 {
    number ^ (number.cast_unsigned() >> by).cast_signed()
}

/// JavaScript's `x * M`: a double, whose 53 bits do not hold every product.
fn times(number: i32) -> f64 {
    f64::from(number) * f64::from(MULTIPLIER)
}

/// JavaScript's `ToInt32` of a product, whose magnitude is below 2^62.
#[expect(clippy::cast_possible_truncation, reason = "the low 32 bits are what ToInt32 keeps")]
fn to_int32(product: f64) -> i32 {
    product as i64 as i32
}

//! Kafka's murmur2 of one key: the definition against which every faster form is tested.

pub(super) const SEED: u32 = 0x9747_b28c;
pub(super) const MULTIPLIER: u32 = 0x5bd1_e995;

/// The 32-bit `MurmurHash2` of `Utils.murmur2` (kafka-clients 0.8.2 to 4.4.0), as Java's signed int.
///
/// Blocks of 4 bytes, little endian, whatever the machine; all arithmetic wraps as Java's does.
///
/// ```
/// use partwright_core::hashing::murmur2;
/// assert_eq!(murmur2(b"21"), -973932308);
/// assert_eq!(murmur2(b"foobar"), -790332482);
/// assert_eq!(murmur2(b""), 275646681);
/// ```
#[inline]
pub fn murmur2(key: &[u8]) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "a Java array has at most 2^31-1 bytes")]
    let mut hash = SEED ^ key.len() as u32;
    let (blocks, tail) = key.as_chunks::<4>();
    for block in blocks {
        let mut mixed = u32::from_le_bytes(*block).wrapping_mul(MULTIPLIER);
        mixed ^= mixed >> 24;
        hash = hash.wrapping_mul(MULTIPLIER) ^ mixed.wrapping_mul(MULTIPLIER);
    }
    if !tail.is_empty() {
        for (position, byte) in tail.iter().enumerate() {
            hash ^= u32::from(*byte) << (8 * position);
        }
        hash = hash.wrapping_mul(MULTIPLIER);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(MULTIPLIER);
    (hash ^ (hash >> 15)).cast_signed()
}

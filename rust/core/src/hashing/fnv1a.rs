//! FNV-1a of 32 bits, the hash of Go's `hash/fnv` that sarama made the default of the Go clients.

const OFFSET: u32 = 0x811c_9dc5;
const PRIME: u32 = 0x0100_0193;

/// FNV-1a, 32 bits: Go's `fnv.New32a`, librdkafka's `rd_fnv1a` before it takes the absolute value.
///
/// ```
/// use partwright_core::hashing::fnv1a;
/// assert_eq!(fnv1a(b""), 0x811c_9dc5);
/// assert_eq!(fnv1a(b"a"), 0xe40c_292c);
/// ```
#[inline]
pub fn fnv1a(key: &[u8]) -> u32 {
    key.iter().fold(OFFSET, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(PRIME))
}

//! Java's `String.hashCode` of text that comes as UTF-8, and what is like it.

use crate::java::strings::hash_code;

/// `String.hashCode` (Java 8 to 25): `s[0]*31^(n-1) + ... + s[n-1]` over UTF-16 code units, wrapping; `None` if the
/// bytes are not UTF-8, and so not a Java string.
///
/// ```
/// use partwright_core::hashing::string_hash;
/// assert_eq!(string_hash(b"abc"), Some(96354));
/// assert_eq!(string_hash(b"polygenelubricants"), Some(i32::MIN));
/// assert_eq!(string_hash(b"\xff"), None);
/// ```
pub fn string_hash(text: &[u8]) -> Option<i32> {
    str::from_utf8(text).ok().map(hash_code)
}

/// `Arrays.hashCode` of signed bytes: like `String.hashCode`, but it begins with 1.
///
/// ```
/// use partwright_core::hashing::array_hash;
/// assert_eq!(array_hash(b""), 1);
/// assert_eq!(array_hash(&[255]), 30);
/// ```
pub fn array_hash(bytes: &[u8]) -> i32 {
    bytes.iter().fold(1, |hash: i32, byte| hash.wrapping_mul(31).wrapping_add(byte.cast_signed().into()))
}

/// The hash of kafka-node's `KeyedPartitioner` (5.0.0): `String.hashCode` that loses its sign at each step, and 1 where
/// that is 0; `None` if the bytes are not UTF-8.
///
/// ```
/// use partwright_core::hashing::kafka_node;
/// assert_eq!(kafka_node("köln-7".as_bytes()), Some(1_146_346_263));
/// assert_eq!(kafka_node(b""), Some(1));
/// ```
pub fn kafka_node(text: &[u8]) -> Option<i32> {
    // A lost sign changes nothing lower: multiplication and addition carry upwards only.
    string_hash(text).map(|hash| (hash & i32::MAX).max(1))
}

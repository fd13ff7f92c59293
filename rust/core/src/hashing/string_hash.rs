//! Java's `String.hashCode` of text that comes as UTF-8.

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

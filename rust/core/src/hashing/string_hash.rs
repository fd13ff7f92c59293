//! Java's `String.hashCode` of text that comes as UTF-8.

/// `String.hashCode` (Java 8 to 25): `s[0]*31^(n-1) + ... + s[n-1]` over UTF-16 code units, wrapping; `None` where the
/// bytes are no UTF-8, and so no Java string.
///
/// ```
/// use partwright_core::hashing::string_hash;
/// assert_eq!(string_hash(b"abc"), Some(96354));
/// assert_eq!(string_hash(b"polygenelubricants"), Some(i32::MIN));
/// assert_eq!(string_hash(b"\xff"), None);
/// ```
pub fn string_hash(text: &[u8]) -> Option<i32> {
    let units = str::from_utf8(text).ok()?.encode_utf16();
    Some(units.fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit))))
}

//! The bytes that Kafka's own serializers write (`org.apache.kafka.common.serialization`, kafka-clients 4.4.0).

/// `ShortSerializer`.
pub fn short(value: i16) -> [u8; 2] {
    value.to_be_bytes()
}

/// `IntegerSerializer`.
pub fn int(value: i32) -> [u8; 4] {
    value.to_be_bytes()
}

/// `LongSerializer`.
pub fn long(value: i64) -> [u8; 8] {
    value.to_be_bytes()
}

/// `FloatSerializer`: `floatToRawIntBits`, which keeps the bits of a NaN.
pub fn float(value: f32) -> [u8; 4] {
    value.to_bits().to_be_bytes()
}

/// `DoubleSerializer`: `doubleToLongBits`, which has only one NaN.
pub fn double(value: f64) -> [u8; 8] {
    if value.is_nan() { [0x7f, 0xf8, 0, 0, 0, 0, 0, 0] } else { value.to_bits().to_be_bytes() }
}

/// `BooleanSerializer`.
pub fn boolean(value: bool) -> [u8; 1] {
    [u8::from(value)]
}

/// `UUIDSerializer` of a UUID's 16 bytes: its 36 characters.
///
/// ```
/// use partwright_core::hashing::serializer::uuid;
/// assert_eq!(&uuid(&[0xab; 16]), b"abababab-abab-abab-abab-abababababab");
/// ```
pub fn uuid(bytes: &[u8; 16]) -> [u8; 36] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [b'-'; 36];
    let places = (0..36).filter(|place| !UUID_HYPHENS.contains(place));
    for (digit, place) in places.enumerate() {
        let byte = bytes[digit / 2];
        text[place] = DIGITS[usize::from(if digit % 2 == 0 { byte >> 4 } else { byte & 15 })];
    }
    text
}

/// `UUIDSerializer` of a UUID's text: lower case; `None` if the text is not 36 characters of the form
/// 8-4-4-4-12.
///
/// ```
/// use partwright_core::hashing::serializer::uuid_text;
/// let text = b"0188C0F2-7A93-7000-8000-00000000ABCD";
/// assert_eq!(uuid_text(text), Some(*b"0188c0f2-7a93-7000-8000-00000000abcd"));
/// assert_eq!(uuid_text(b"0188C0F2"), None);
/// ```
pub fn uuid_text(text: &[u8]) -> Option<[u8; 36]> {
    let mut lower: [u8; 36] = text.try_into().ok()?;
    lower.make_ascii_lowercase();
    let well_formed = lower.iter().enumerate().all(|(place, character)| {
        if UUID_HYPHENS.contains(&place) { *character == b'-' } else { character.is_ascii_hexdigit() }
    });
    well_formed.then_some(lower)
}

/// The positions of the hyphens in a UUID's text.
const UUID_HYPHENS: [usize; 4] = [8, 13, 18, 23];

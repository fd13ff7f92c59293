//! The key types: how a value becomes the bytes that a record's key has on the wire.

use std::str::FromStr;

use crate::names::named;
use crate::{Error, Result};

named! {
    /// How a value becomes key bytes. Hashing is of bytes, never of values: 42 as a long and "42" are different keys.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum KeyType {
        /// Text as UTF-8; the default for text.
        Utf8 = "utf8",
        /// Binary as it is; the default for binary.
        Bytes = "bytes",
        /// `ShortSerializer`: 2 bytes, big endian.
        JavaShort = "java:short",
        /// `IntegerSerializer`: 4 bytes, big endian.
        JavaInt = "java:int",
        /// `LongSerializer`: 8 bytes, big endian.
        JavaLong = "java:long",
        /// `FloatSerializer`: IEEE 754, 4 bytes, big endian; the bits of a NaN are kept.
        JavaFloat = "java:float",
        /// `DoubleSerializer`: IEEE 754, 8 bytes, big endian; each NaN becomes Java's one.
        JavaDouble = "java:double",
        /// `BooleanSerializer`: 1 byte, 1 or 0.
        JavaBoolean = "java:boolean",
        /// `UUIDSerializer`: the 36 characters of the UUID's text, lower case.
        JavaUuid = "java:uuid",
        /// `StringSerializer` with its default encoding, UTF-8.
        JavaString = "java:string",
        /// Binary whose first 5 bytes, a schema registry's header, are cut off before hashing.
        ConfluentStripId = "confluent:strip-id",
        /// Whole numbers as text: `42`.
        Digits = "digits",
        /// Decimals as text, with all digits of the scale: `19.90`.
        Decimal = "decimal",
        /// Dates as text: `2024-01-31`.
        IsoDate = "iso-date",
        /// Timestamps as text, in UTC: `2024-01-31T12:00:00Z`.
        IsoTimestamp = "iso-timestamp",
    }
}

impl KeyType {
    /// Whether its key bytes are certainly text; those of `bytes` may be.
    pub fn may_be_text(self) -> bool {
        use KeyType as K;
        matches!(
            self,
            K::Utf8 | K::Bytes | K::JavaString | K::Digits | K::Decimal | K::IsoDate | K::IsoTimestamp
        )
    }

    /// What it takes, for an error message.
    pub fn takes(self) -> &'static str {
        match self {
            Self::Utf8 | Self::JavaString => "text",
            Self::Bytes | Self::ConfluentStripId => "binary",
            Self::JavaShort | Self::JavaInt | Self::JavaLong | Self::Digits => "whole numbers",
            Self::JavaFloat | Self::JavaDouble => "floating-point numbers",
            Self::JavaBoolean => "booleans",
            Self::JavaUuid => "text of 36 characters or binary of 16 bytes",
            Self::Decimal => "decimals",
            Self::IsoDate => "dates",
            Self::IsoTimestamp => "timestamps",
        }
    }
}

impl FromStr for KeyType {
    type Err = Error;

    /// A key type by its name, or by the part of it that no other key type has: `long` is `java:long`.
    fn from_str(name: &str) -> Result<Self> {
        Self::named(name)
            .or_else(|| only_one_with(name))
            .ok_or_else(|| Error::unknown("key_type", name, Self::ALL.iter().map(|key_type| key_type.name())))
    }
}

/// What stands before the short names.
const PREFIXES: [&str; 3] = ["java:", "confluent:", "iso-"];

/// The key type with this short name, if there is one and no other.
fn only_one_with(short: &str) -> Option<KeyType> {
    let is_meant = |key_type: &KeyType| {
        PREFIXES.iter().any(|prefix| key_type.name().strip_prefix(prefix) == Some(short))
    };
    let mut meant = KeyType::ALL.iter().copied().filter(is_meant);
    meant.next().filter(|_| meant.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_stands_for_the_only_key_type_with_it() {
        let cases = [
            ("java:long", Some(KeyType::JavaLong)),
            ("long", Some(KeyType::JavaLong)),
            ("uuid", Some(KeyType::JavaUuid)),
            ("strip-id", Some(KeyType::ConfluentStripId)),
            ("date", Some(KeyType::IsoDate)),
            ("bytes", Some(KeyType::Bytes)),
            ("java", None),
            ("", None),
            ("integer", None),
        ];
        for (name, meant) in cases {
            assert_eq!(name.parse().ok(), meant, "{name}");
        }
    }

    #[test]
    fn no_two_key_types_have_one_short_name() {
        for key_type in KeyType::ALL {
            for short in PREFIXES.iter().filter_map(|prefix| key_type.name().strip_prefix(prefix)) {
                assert_eq!(only_one_with(short), Some(*key_type), "{short}");
                assert!(KeyType::ALL.iter().all(|other| other.name() != short), "{short}");
            }
        }
    }
}

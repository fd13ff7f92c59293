//! The key types: how a value becomes the bytes that a record's key has on the wire.

use std::fmt;
use std::str::FromStr;

use crate::names::nearest;
use crate::{Error, Result};

/// How a value becomes key bytes. Hashing is of bytes, never of values: 42 as a long and "42" are different keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyType {
    /// Text as UTF-8; the default for text.
    Utf8,
    /// Binary as it is; the default for binary.
    Bytes,
    /// `ShortSerializer`: 2 bytes, big endian.
    JavaShort,
    /// `IntegerSerializer`: 4 bytes, big endian.
    JavaInt,
    /// `LongSerializer`: 8 bytes, big endian.
    JavaLong,
    /// `FloatSerializer`: IEEE 754, 4 bytes, big endian; the bits of a NaN are kept.
    JavaFloat,
    /// `DoubleSerializer`: IEEE 754, 8 bytes, big endian; each NaN becomes Java's one.
    JavaDouble,
    /// `BooleanSerializer`: 1 byte, 1 or 0.
    JavaBoolean,
    /// `UUIDSerializer`: the 36 characters of the UUID's text, lower case.
    JavaUuid,
    /// `StringSerializer` with its default encoding, UTF-8.
    JavaString,
    /// Binary whose first 5 bytes, a schema registry's header, are cut off before hashing.
    ConfluentStripId,
    /// Whole numbers as text: `42`.
    Digits,
    /// Decimals as text, with all digits of the scale: `19.90`.
    Decimal,
    /// Dates as text: `2024-01-31`.
    IsoDate,
    /// Timestamps as text, in UTC: `2024-01-31T12:00:00Z`.
    IsoTimestamp,
}

impl KeyType {
    /// Every key type.
    pub const ALL: &[Self] = &[
        Self::Utf8,
        Self::Bytes,
        Self::JavaShort,
        Self::JavaInt,
        Self::JavaLong,
        Self::JavaFloat,
        Self::JavaDouble,
        Self::JavaBoolean,
        Self::JavaUuid,
        Self::JavaString,
        Self::ConfluentStripId,
        Self::Digits,
        Self::Decimal,
        Self::IsoDate,
        Self::IsoTimestamp,
    ];

    /// Its name everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf8",
            Self::Bytes => "bytes",
            Self::JavaShort => "java:short",
            Self::JavaInt => "java:int",
            Self::JavaLong => "java:long",
            Self::JavaFloat => "java:float",
            Self::JavaDouble => "java:double",
            Self::JavaBoolean => "java:boolean",
            Self::JavaUuid => "java:uuid",
            Self::JavaString => "java:string",
            Self::ConfluentStripId => "confluent:strip-id",
            Self::Digits => "digits",
            Self::Decimal => "decimal",
            Self::IsoDate => "iso-date",
            Self::IsoTimestamp => "iso-timestamp",
        }
    }

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

impl fmt::Display for KeyType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for KeyType {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|key_type| key_type.name() == name).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|key_type| key_type.name()).collect();
            Error::UnknownKeyType { name: name.to_owned(), nearest: nearest(name, &known), known }
        })
    }
}

//! The clients whose rule from key bytes to partition is known, by the names they go by.

use std::fmt;
use std::str::FromStr;

use super::Partitions;
use crate::names::nearest;
use crate::{Error, Result};

/// A client profile: one client's rule from key bytes to partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Client {
    /// The Java producer's `BuiltInPartitioner`: murmur2, the sign bit cleared, modulo; a null key is not hashed.
    Java,
}

impl Client {
    /// Every profile there is.
    pub const ALL: &[Self] = &[Self::Java];

    /// The name it goes by everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Java => "java",
        }
    }

    /// The partition that this client gives a record with these key bytes.
    pub fn partition_for_key(self, key: &[u8], n: Partitions) -> i32 {
        match self {
            Self::Java => super::partition_for_key(key, n),
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Client {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|client| client.name() == name).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|client| client.name()).collect();
            Error::UnknownClient { name: name.to_owned(), nearest: nearest(name, &known), known }
        })
    }
}

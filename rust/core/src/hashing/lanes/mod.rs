//! Kafka's murmur2 over many keys at once, with the widest lanes that the processor has; the core's only unsafe code.
//!
//! A register holds the hashes of as many keys as it has lanes, and each step applies to all of them: 4 with NEON, 8
//! with AVX2, 16 with AVX-512. A lane whose key has ended keeps its hash while the others go on. Key bytes are loaded
//! 16 at a time from where the keys are (a last block of 4 bytes is gathered if that is fast), perhaps past a key's end
//! but never past its buffer's end. Keys too close to that end, rows that do not fill a register, and other processors
//! use the scalar way, one key after the other.

#![expect(
    unsafe_code,
    reason = "vectors are loaded from where keys lie, by functions that a processor may lack"
)]
#![cfg_attr(
    not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))),
    expect(dead_code, reason = "where there are no lanes, nothing is grouped")
)]

mod answers;
mod divisor;
mod group;
mod keys;
mod offset;

#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
#[macro_use]
mod kernel;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;

pub(crate) use answers::{AnswerSpace, Piece, filled};
use divisor::Divisor;
pub(crate) use keys::{Fixed, Keys, Offsets, Validity, Views};
pub(crate) use offset::Offset;

use super::{Partitions, murmur2, to_positive};

/// What happens to a hash.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Finish {
    /// The hash is the answer.
    Hash,
    /// The answer is `toPositive(hash) % n`.
    Partition(Divisor),
}

impl Finish {
    /// The step from a hash to one of `n` partitions.
    pub(crate) fn partition(n: Partitions) -> Self {
        Self::Partition(Divisor::new(n))
    }

    /// The answer for one key, the scalar way.
    #[inline]
    fn of(self, key: &[u8]) -> i32 {
        let hash = murmur2(key);
        match self {
            Self::Hash => hash,
            Self::Partition(n) => n.remainder(to_positive(hash)).cast_signed(),
        }
    }
}

/// The ways to hash many keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lanes {
    /// One key after the other.
    Scalar,
    /// 4 keys at once.
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Neon(neon::Here),
    /// 8 keys at once.
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Here),
    /// 16 keys at once.
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Here),
}

impl Lanes {
    /// The widest lanes that this processor has.
    pub(crate) fn widest() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let wide = avx512::Here::detect().map(Self::Avx512);
            wide.or_else(|| avx2::Here::detect().map(Self::Avx2)).unwrap_or(Self::Scalar)
        }
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        {
            neon::Here::detect().map_or(Self::Scalar, Self::Neon)
        }
        #[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
        Self::Scalar
    }

    /// Writes an answer for each key of a piece, and 0 where there is no key.
    ///
    /// # Errors
    /// The first row whose key lies outside of its buffer.
    pub(crate) fn hash<'a>(
        self,
        keys: &impl Keys<'a>,
        piece: Piece<'_, '_>,
        finish: Finish,
    ) -> Result<(), usize> {
        match self {
            Self::Scalar => each(keys, piece, |key| finish.of(key)),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Self::Neon(here) => neon::hash(here, keys, piece, finish),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(here) => avx2::hash(here, keys, piece, finish),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(here) => avx512::hash(here, keys, piece, finish),
        }
    }
}

/// Writes the answer of `rule` for each key of a piece, and 0 where there is no key.
///
/// # Errors
/// The first row whose key lies outside of its buffer.
#[inline]
pub(crate) fn each<'a>(
    keys: &impl Keys<'a>,
    piece: Piece<'_, '_>,
    rule: impl Fn(&[u8]) -> i32,
) -> Result<(), usize> {
    for row in piece.rows {
        let is_valid = piece.validity.is_none_or(|validity| validity.is_valid(row));
        piece.answers.push(if is_valid { rule(keys.key(row).ok_or(row)?) } else { 0 });
    }
    Ok(())
}

#[cfg(test)]
mod tests;

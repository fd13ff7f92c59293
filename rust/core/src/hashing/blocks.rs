//! What hashes over blocks of bytes share.

/// A broken block, filled up with zeros.
pub(super) fn filled<const N: usize>(tail: &[u8]) -> [u8; N] {
    let mut block = [0; N];
    block[..tail.len()].copy_from_slice(tail);
    block
}

/// A length as hashes of 32 bits take it: its low bits.
#[expect(clippy::cast_possible_truncation, reason = "the hashes are defined on the low 32 bits")]
pub(super) fn low_bits(len: usize) -> u32 {
    len as u32
}

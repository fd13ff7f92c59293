//! Murmur3, as it is published for 32 bits, and the early form for 64 bits that Java's products took over.

use super::blocks::{filled, low_bits};

/// `MurmurHash3_x86_32` of Austin Appleby.
///
/// ```
/// use partwright_core::hashing::murmur3;
/// assert_eq!(murmur3(b"order-1001", 25342), 403_731_859);
/// ```
#[inline]
pub fn murmur3(key: &[u8], seed: u32) -> u32 {
    let mixed = |block: [u8; 4]| {
        u32::from_le_bytes(block).wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
    };
    let (blocks, tail) = key.as_chunks::<4>();
    let mut hash = blocks.iter().fold(seed, |hash, block| {
        (hash ^ mixed(*block)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    if !tail.is_empty() {
        hash ^= mixed(filled(tail));
    }
    hash ^= low_bits(key.len());
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// The upper 32 bits of an early `MurmurHash3_x64`, whose constants change from block to block: Infinispan's
/// `MurmurHash3`, from which Debezium (seed 9001) and Pinot (seed 0) have it.
///
/// ```
/// use partwright_core::hashing::murmur3_early;
/// assert_eq!(murmur3_early(b"order-1001", 9001), 1_724_967_665);
/// ```
pub fn murmur3_early(key: &[u8], seed: u32) -> u32 {
    let mut state = Early {
        h1: 0x9368_e53c_2f6a_f274 ^ u64::from(seed),
        h2: 0x586d_cd20_8f7c_d3fd ^ u64::from(seed),
        c1: 0x87c3_7b91_1142_53d5,
        c2: 0x4cf5_ad43_2745_937f,
    };
    let (words, tail) = key.as_chunks::<8>();
    let (pairs, odd) = words.as_chunks::<2>();
    for [first, second] in pairs {
        state.mix(u64::from_le_bytes(*first), u64::from_le_bytes(*second));
    }
    if !odd.is_empty() || !tail.is_empty() {
        let after = &key[pairs.len() * 16..];
        let (first, second) = after.split_at(after.len().min(8));
        state.mix(signed_word(first), signed_word(second));
    }
    state.finish(key.len() as u64)
}

struct Early {
    h1: u64,
    h2: u64,
    c1: u64,
    c2: u64,
}

impl Early {
    fn mix(&mut self, k1: u64, k2: u64) {
        self.h1 ^= k1.wrapping_mul(self.c1).rotate_left(23).wrapping_mul(self.c2);
        self.h1 = self.h1.wrapping_add(self.h2);
        self.h2 = self.h2.rotate_left(41);
        self.h2 ^= k2.wrapping_mul(self.c2).rotate_left(23).wrapping_mul(self.c1);
        self.h2 = self.h2.wrapping_add(self.h1);
        self.h1 = self.h1.wrapping_mul(3).wrapping_add(0x52dc_e729);
        self.h2 = self.h2.wrapping_mul(3).wrapping_add(0x3849_5ab5);
        self.c1 = self.c1.wrapping_mul(5).wrapping_add(0x7b7d_159c);
        self.c2 = self.c2.wrapping_mul(5).wrapping_add(0x6bce_6396);
    }

    fn finish(mut self, len: u64) -> u32 {
        self.h2 ^= len;
        self.h1 = self.h1.wrapping_add(self.h2);
        self.h2 = self.h2.wrapping_add(self.h1);
        (finalised(self.h1).wrapping_add(finalised(self.h2)) >> 32) as u32
    }
}

fn finalised(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// At most eight bytes as a word, the first lowest. Java's bytes are signed, and spread their sign over all higher bits.
fn signed_word(bytes: &[u8]) -> u64 {
    let shifted = |(place, byte): (usize, &u8)| i64::from(byte.cast_signed()).cast_unsigned() << (8 * place);
    bytes.iter().enumerate().map(shifted).fold(0, |word, byte| word ^ byte)
}

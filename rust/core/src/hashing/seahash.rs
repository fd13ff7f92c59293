//! `SeaHash`, by which Materialize places records.

use super::blocks::filled;

const SEEDS: [u64; 4] =
    [0x16f1_1fe8_9b0d_677c, 0xb480_a793_d8e6_c86c, 0x6fe2_e5aa_f078_ebc9, 0x14f9_94a4_c525_9381];
const PRIME: u64 = 0x6eed_0e9d_a4d9_4a4f;

/// `SeaHash` 4 with its own seeds: the crate seahash 4.1.0.
///
/// ```
/// use partwright_core::hashing::seahash;
/// assert_eq!(seahash(b"order-1001"), 5_316_304_151_814_004_921);
/// ```
pub fn seahash(key: &[u8]) -> u64 {
    let mut lanes = SEEDS;
    for (place, bytes) in key.chunks(8).enumerate() {
        let lane = &mut lanes[place % SEEDS.len()];
        *lane = diffused(*lane ^ u64::from_le_bytes(filled(bytes)));
    }
    diffused(lanes.iter().fold(key.len() as u64, |hash, lane| hash ^ lane))
}

fn diffused(mut word: u64) -> u64 {
    word = word.wrapping_mul(PRIME);
    word ^= (word >> 32) >> (word >> 60);
    word.wrapping_mul(PRIME)
}

//! `java.util.SplittableRandom`, which is `SplitMix64`.

/// `SplittableRandom.GOLDEN_GAMMA`: by how much the state grows with each number.
pub(crate) const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A `new SplittableRandom(seed)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SplittableRandom(u64);

impl SplittableRandom {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// `nextLong()`.
    pub(crate) fn next_long(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        mix64(self.0)
    }

    /// `nextInt()`.
    pub(crate) fn next_int(&mut self) -> i32 {
        self.0 = self.0.wrapping_add(GAMMA);
        mix32(self.0)
    }
}

/// `SplittableRandom.mix64`.
pub(crate) fn mix64(state: u64) -> u64 {
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// `SplittableRandom.mix32`.
fn mix32(state: u64) -> i32 {
    let mixed = (state ^ (state >> 33)).wrapping_mul(0x62a9_d9ed_7997_05f5);
    let mixed = (mixed ^ (mixed >> 28)).wrapping_mul(0xcb24_d0a5_c88c_35b3) >> 32;
    let upper = mixed as u32;
    upper.cast_signed()
}

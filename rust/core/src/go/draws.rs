//! Go's random choices for its maps, from a seed.

/// By how much the state of `SplitMix64` grows with each number.
pub(crate) const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Go's random choices, from a seed (`SplitMix64`).
#[derive(Clone, Debug)]
pub(crate) struct GoDraws(u64);

impl GoDraws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        mixed(self.0)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.draw() % bound.max(1) as u64).unwrap_or(0)
    }
}

/// The finalizer of `SplitMix64`.
pub(crate) fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

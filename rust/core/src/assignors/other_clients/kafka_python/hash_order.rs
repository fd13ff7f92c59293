//! The order of Python's sets of partitions, which differs from process to process (PYTHONHASHSEED).

use crate::assignors::Chance;

/// The order for a seed.
pub(super) struct HashOrder {
    seed: u64,
    has_chosen: bool,
}

impl HashOrder {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, has_chosen: false }
    }

    /// The partition that a set of these yields first.
    pub(super) fn first(&mut self, set: &[u32]) -> Option<u32> {
        self.has_chosen |= set.len() > 1;
        set.iter().copied().min_by_key(|&partition| self.hash(partition))
    }

    /// What was left to chance.
    pub(super) fn chance(&self) -> Option<Chance> {
        let why = "the order of Python's sets, which PYTHONHASHSEED decides";
        self.has_chosen.then_some(Chance { why, same: &[] })
    }

    /// The finalizer of `SplitMix64`.
    fn hash(&self, partition: u32) -> u64 {
        let mut mixed =
            self.seed.wrapping_add((u64::from(partition) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

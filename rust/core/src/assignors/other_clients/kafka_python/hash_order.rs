//! The order of Python's sets of partitions, which differs from process to process (PYTHONHASHSEED).

use crate::assignors::Chance;
use crate::go::draws::{GAMMA, mixed};
use crate::index::PartitionIx;

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
    pub(super) fn first(&mut self, set: &[PartitionIx]) -> Option<PartitionIx> {
        self.has_chosen |= set.len() > 1;
        set.iter().copied().min_by_key(|&partition| self.hash(partition))
    }

    /// What was left to chance.
    pub(super) fn chance(&self) -> Option<Chance> {
        let why = "the order of Python's sets, which PYTHONHASHSEED decides";
        self.has_chosen.then_some(Chance { why, same: &[] })
    }

    fn hash(&self, partition: PartitionIx) -> u64 {
        mixed(self.seed.wrapping_add((u64::from(partition.0) + 1).wrapping_mul(GAMMA)))
    }
}

//! A set of small numbers, walked in ascending order: which few of many queues hold anything.

/// The set.
#[derive(Clone, Debug, Default)]
pub(super) struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// An empty set of numbers below that.
    pub(super) fn new(end: usize) -> Self {
        Self { words: vec![0; end.div_ceil(64)] }
    }

    /// Adds or removes a number.
    #[inline]
    pub(super) fn set(&mut self, number: usize, is_in: bool) {
        let bit = 1 << (number % 64);
        if is_in {
            self.words[number / 64] |= bit;
        } else {
            self.words[number / 64] &= !bit;
        }
    }

    /// The first that is not below `from`.
    #[inline]
    pub(super) fn next(&self, from: usize) -> Option<usize> {
        let mut place = from / 64;
        let mut word = self.words.get(place)? & (u64::MAX << (from % 64));
        while word == 0 {
            place += 1;
            word = *self.words.get(place)?;
        }
        Some(place * 64 + word.trailing_zeros() as usize)
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        std::iter::successors(self.next(0), |&number| self.next(number + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_in_their_order() {
        let mut bits = BitSet::new(130);
        for number in [129, 64, 63, 5, 0, 128] {
            bits.set(number, true);
        }
        bits.set(5, false);
        bits.set(6, false);
        assert_eq!(bits.iter().collect::<Vec<_>>(), [0, 63, 64, 128, 129]);
        assert_eq!(
            [1, 63, 64, 65, 129, 130, 200].map(|from| bits.next(from)),
            [Some(63), Some(63), Some(64), Some(128), Some(129), None, None]
        );
        assert_eq!(BitSet::default().iter().next(), None);
    }
}

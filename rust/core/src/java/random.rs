//! `java.util.Random`: a linear congruential generator of 48 bits, whose documentation fixes every number.

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;
const MASK: u64 = (1 << 48) - 1;

/// A `new Random(seed)`.
///
/// ```
/// use partwright_core::java::random::Random;
/// let mut random = Random::new(42);
/// let drawn: Vec<_> = (0..8).map(|_| random.next_int(10)).collect();
/// assert_eq!(drawn, [0, 3, 8, 4, 0, 5, 5, 8]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Of a seed.
    pub fn new(seed: i64) -> Self {
        Self { state: (seed.cast_unsigned() ^ MULTIPLIER) & MASK }
    }

    /// `nextInt(bound)`: a number from 0 to the bound minus 1; 0 for a bound of 0, which Java refuses.
    pub fn next_int(&mut self, bound: u32) -> u32 {
        let bound = bound.clamp(1, i32::MAX.cast_unsigned());
        if bound.is_power_of_two() {
            return int((u64::from(bound) * u64::from(self.next_31())) >> 31);
        }
        loop {
            let bits = self.next_31();
            let drawn = bits % bound;
            // The last part of the range is shorter than the bound, so Java draws again; its int would be below 0.
            if (bits - drawn + (bound - 1)).cast_signed() >= 0 {
                return drawn;
            }
        }
    }

    /// `next(31)`.
    fn next_31(&mut self) -> u32 {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & MASK;
        int(self.state >> 17)
    }
}

/// Java's cast of a long to an int, of 31 bits here.
#[expect(clippy::cast_possible_truncation, reason = "Java's int")]
fn int(bits: u64) -> u32 {
    bits as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_beyond_the_last_whole_part_is_drawn_again() {
        // Nearly half of all numbers of 31 bits are beyond the one part that this bound has.
        let bound = (1 << 30) + 1;
        let (mut random, mut bits) = (Random::new(42), Random::new(42));
        let mut again = 0;
        for _ in 0..1000 {
            let mut expected = bits.next_31();
            while expected >= bound {
                expected = bits.next_31();
                again += 1;
            }
            assert_eq!(random.next_int(bound), expected);
        }
        assert!(again > 500, "{again} were drawn again");
    }

    #[test]
    fn a_bound_that_is_a_power_of_two_takes_the_upper_bits() {
        let mut random = Random::new(-1);
        let mut bits = Random::new(-1);
        for shift in 0..31 {
            assert_eq!(random.next_int(1 << shift), bits.next_31() >> (31 - shift), "2^{shift}");
        }
    }

    #[test]
    fn any_seed_and_any_bound_has_an_answer() {
        for seed in [i64::MIN, -1, 0, i64::MAX] {
            for bound in [0, 1, 2, 3, i32::MAX.cast_unsigned(), u32::MAX] {
                assert!(Random::new(seed).next_int(bound) < bound.max(1));
            }
        }
    }
}

//! How many partitions are a member's share: the one place of the assignors' arithmetic.

/// Partitions shared out among members as evenly as whole numbers allow: `extra` members have one more than `least`.
///
/// It is `minQuota`, `maxQuota` and `expectedNumMembersWithOverMinQuotaPartitions` of `AbstractStickyAssignor`, and the
/// `numPartitionsPerConsumer` and `consumersWithExtraPartition` of `RangeAssignor`.
///
/// ```
/// use partwright_core::assignors::Quota;
/// let quota = Quota::of(8, 3);
/// assert_eq!((quota.least, quota.most(), quota.extra), (2, 3, 2));
/// assert_eq!([0, 1, 2].map(|member| (quota.start(member), quota.length(member))), [(0, 3), (3, 3), (6, 2)]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// The number that every member has at least.
    pub least: u32,
    /// How many members have one more.
    pub extra: u32,
}

impl Quota {
    /// The shares of some members. Both numbers fit into Java's `int`. Without members, the shares mean nothing, but
    /// there is no panic.
    #[inline]
    pub fn of(partitions: u32, members: u32) -> Self {
        let least = quotient(partitions, members);
        Self { least, extra: partitions.wrapping_sub(least.wrapping_mul(members)) }
    }

    /// The same for numbers that were counted in memory.
    pub(super) fn of_counts(partitions: usize, members: usize) -> Self {
        let count = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Self::of(count(partitions), count(members))
    }

    /// The most that a member has.
    #[inline]
    pub fn most(self) -> u32 {
        self.least.wrapping_add(u32::from(self.extra > 0))
    }

    /// Where a member's range begins, given how many members come before it.
    #[inline]
    pub fn start(self, before: u32) -> u32 {
        before.wrapping_mul(self.least).wrapping_add(before.min(self.extra))
    }

    /// How long the range of that member is.
    #[inline]
    pub fn length(self, before: u32) -> u32 {
        self.least.wrapping_add(u32::from(before < self.extra))
    }
}

/// The whole part of a division of two numbers of Java's `int`, in floating point: processors divide several doubles at
/// once, and whole numbers one by one.
///
/// It is exact. With `a = q * b + r`, `(a + 0.5) / b - 0.5` lies at least `0.5 / b` away from the middle between two whole
/// numbers, and what rounding adds is smaller as long as `a` is below 2^51. So the nearest whole number is `q`. Doubles
/// around [`WHOLE`] have no fraction, so the sum is rounded to it; its low bits are `q`.
#[inline]
fn quotient(a: u32, b: u32) -> u32 {
    // 2^52 + 2^51: below 2^52 a double still has halves.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    let middle = (f64::from(a.cast_signed()) + 0.5) / f64::from(b.cast_signed()) - 0.5;
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are the number")]
    let low = (middle + WHOLE).to_bits() as u32;
    low
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MOST: u32 = i32::MAX as u32;

    /// Compares the results with the definitions in whole numbers.
    fn is_exact(partitions: u32, members: u32) {
        let quota = Quota::of(partitions, members);
        assert_eq!(quota.least, partitions / members, "{partitions} / {members}");
        assert_eq!(quota.extra, partitions % members, "{partitions} % {members}");
        assert_eq!(quota.most(), partitions.div_ceil(members), "{partitions} / {members}");
    }

    #[test]
    fn small_numbers_and_ends_are_exact() {
        for partitions in 0..300 {
            for members in 1..300 {
                is_exact(partitions, members);
            }
        }
        for near in [MOST, MOST - 1, MOST / 2, MOST / 2 + 1, 1 << 30, 46_340, 46_341] {
            for members in (1..2_000).chain([MOST, MOST - 1, MOST / 2, MOST / 2 + 1, near]) {
                is_exact(near, members);
                // A multiple, and its neighbours.
                let multiple = near / members * members;
                is_exact(multiple, members);
                is_exact(multiple.saturating_sub(1), members);
                is_exact((multiple + 1).min(MOST), members);
            }
        }
    }

    #[test]
    fn ranges_lie_one_behind_the_other() {
        for (partitions, members) in [(0, 3), (2, 5), (8, 3), (9, 3), (1_000, 7)] {
            let quota = Quota::of(partitions, members);
            let mut next = 0;
            for member in 0..members {
                assert_eq!(quota.start(member), next);
                next += quota.length(member);
            }
            assert_eq!(next, partitions);
        }
    }

    #[test]
    fn no_members_are_no_panic() {
        for partitions in [0, 1, MOST] {
            let quota = Quota::of(partitions, 0);
            let _ = (quota.most(), quota.start(MOST), quota.length(MOST));
        }
    }

    proptest! {
        #[test]
        fn any_numbers_are_exact(partitions in 0..=MOST, members in 1..=MOST) {
            is_exact(partitions, members);
        }

        #[test]
        fn multiples_and_their_neighbours_are_exact(members in 1..=MOST, share in 0..=MOST) {
            let multiple = u32::try_from(u64::from(members) * u64::from(share) % u64::from(MOST)).unwrap() / members * members;
            for partitions in [multiple.saturating_sub(1), multiple, multiple + 1] {
                is_exact(partitions, members);
            }
        }
    }
}

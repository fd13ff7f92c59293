//! The primitives for 4 lanes, with the NEON of 64-bit ARM.

#[cfg_attr(
    not(test),
    expect(clippy::wildcard_imports, reason = "most of what is said here is said in these words")
)]
use std::arch::aarch64::*;

use super::divisor::Divisor;

const LANES: usize = 4;
type Vector = uint32x4_t;

/// The four words at each lane's address: the first of all lanes, the second, the third and the fourth. Unsafe: 16
/// bytes must be readable from each address. A macro, as with AVX2.
macro_rules! words {
    ($place:expr) => {{
        let place = $place;
        let key = |lane: usize| vreinterpretq_u32_u8(vld1q_u8(place(lane)));
        let (a, b, c, d) = (key(0), key(1), key(2), key(3));
        let two = |one, other| (vtrn1q_u32(one, other), vtrn2q_u32(one, other));
        let ((ab, ab_odd), (cd, cd_odd)) = (two(a, b), two(c, d));
        let wide = |vector| vreinterpretq_u64_u32(vector);
        [
            vreinterpretq_u32_u64(vtrn1q_u64(wide(ab), wide(cd))),
            vreinterpretq_u32_u64(vtrn1q_u64(wide(ab_odd), wide(cd_odd))),
            vreinterpretq_u32_u64(vtrn2q_u64(wide(ab), wide(cd))),
            vreinterpretq_u32_u64(vtrn2q_u64(wide(ab_odd), wide(cd_odd))),
        ]
    }};
}

kernel! {
    "neon",
    detected: std::arch::is_aarch64_feature_detected!("neon"),
    groups: 0,
    longer: inline,
}
no_shortcuts!("neon");

with_features! {
    "neon";

    fn splat(number: u32) -> Vector { vdupq_n_u32(number) }

    fn load(numbers: &[i32]) -> Vector {
        let numbers = &numbers[..LANES];
        // SAFETY: four numbers are as many bytes as are loaded.
        unsafe { vld1q_u32(numbers.as_ptr().cast()) }
    }

    /// Each offset's distance from the first; `None` if one does not fit into 32 unsigned bits.
    fn distances(offsets: &[i64], first: i64) -> Option<Vector> {
        let offsets = &offsets[..LANES];
        let first = vdupq_n_s64(first);
        let from_first = |two: &[i64]| {
            // SAFETY: two numbers are as many bytes as are loaded.
            let two = unsafe { vld1q_s64(two[..2].as_ptr()) };
            vreinterpretq_u32_s64(vsubq_s64(two, first))
        };
        let (low, high) = (from_first(&offsets[..2]), from_first(&offsets[2..]));
        let are_near = vmaxvq_u32(vuzp2q_u32(low, high)) == 0;
        are_near.then(|| vuzp1q_u32(low, high))
    }

    fn store(vector: Vector) -> [i32; LANES] {
        let mut numbers = [0; LANES];
        // SAFETY: four numbers are as many bytes as are stored.
        unsafe { vst1q_u32(numbers.as_mut_ptr().cast(), vector) };
        numbers
    }

    fn add(one: Vector, other: Vector) -> Vector { vaddq_u32(one, other) }
    fn sub(one: Vector, other: Vector) -> Vector { vsubq_u32(one, other) }
    fn mul(one: Vector, other: Vector) -> Vector { vmulq_u32(one, other) }
    fn xor(one: Vector, other: Vector) -> Vector { veorq_u32(one, other) }
    fn and(one: Vector, other: Vector) -> Vector { vandq_u32(one, other) }
    fn or(one: Vector, other: Vector) -> Vector { vorrq_u32(one, other) }
    fn shift_right<const BITS: u32>(vector: Vector) -> Vector { shift_right_by(vector, BITS) }

    /// ARM shifts only to the left, so a right shift is by a negative number.
    fn shift_right_by(vector: Vector, bits: u32) -> Vector {
        vshlq_u32(vector, vdupq_n_s32(-bits.cast_signed()))
    }

    /// Each lane's power of two.
    fn powers_of_two(exponents: Vector) -> Vector {
        vshlq_u32(splat(1), vreinterpretq_s32_u32(exponents))
    }

    /// The largest of numbers below 2^31.
    fn maximum(vector: Vector) -> i32 { vmaxvq_u32(vector).cast_signed() }
    fn first(vector: Vector) -> u32 { vgetq_lane_u32::<0>(vector) }

    fn where_equal(one: Vector, other: Vector, same: Vector, differing: Vector) -> Vector {
        vbslq_u32(vceqq_u32(one, other), same, differing)
    }

    fn are_equal(one: Vector, other: Vector) -> bool { vminvq_u32(vceqq_u32(one, other)) == u32::MAX }
    fn any_negative(vector: Vector) -> bool { vmaxvq_u32(vector).cast_signed() < 0 }

    /// The lanes whose bit is set, and 0 in the others.
    fn only(bits: u32, vector: Vector) -> Vector {
        // SAFETY: four numbers are as many bytes as are loaded.
        let lane = unsafe { vld1q_u32([1, 2, 4, 8].as_ptr()) };
        and(vector, vtstq_u32(splat(bits), lane))
    }

    /// The remainders of numbers below 2^31, as [`Divisor::remainder`].
    fn remainder(numbers: Vector, n: Divisor) -> Vector {
        let (twice, multiplier) = (add(numbers, numbers), splat(n.multiplier));
        let low = vmull_u32(vget_low_u32(twice), vget_low_u32(multiplier));
        let high = vmull_high_u32(twice, multiplier);
        let upper_halves = vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
        sub(numbers, mul(shift_right_by(upper_halves, n.shift), splat(n.n)))
    }

    /// Nothing is prefetched: nobody has measured that it pays here.
    fn fetch(_: *const u8) {}
}

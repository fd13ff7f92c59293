//! The primitives for 8 lanes, with AVX2.

#[cfg_attr(
    not(test),
    expect(clippy::wildcard_imports, reason = "most of what is said here is said in these words")
)]
use std::arch::x86_64::*;

use super::divisor::Divisor;

const LANES: usize = 8;
type Vector = __m256i;

/// The four words at each lane's address: the first of all lanes, the second, the third and the fourth. Unsafe: 16
/// bytes must be readable from each address. A macro, because a function this long would not be inlined, a
/// call stores registers, and a function with target features cannot be `inline(always)`.
macro_rules! words {
    ($place:expr) => {{
        let place = $place;
        let key = |lane: usize| _mm_loadu_si128(place(lane).cast());
        let pair = |lane| _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(key(lane)), key(lane + 4));
        let (a, b, c, d) = (pair(0), pair(1), pair(2), pair(3));
        let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
        let (ab_high, cd_high) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
        [
            _mm256_unpacklo_epi64(ab, cd),
            _mm256_unpackhi_epi64(ab, cd),
            _mm256_unpacklo_epi64(ab_high, cd_high),
            _mm256_unpackhi_epi64(ab_high, cd_high),
        ]
    }};
}

kernel! {
    "avx2",
    detected: is_x86_feature_detected!("avx2"),
    groups: 0,
    longer: inline,
}
no_shortcuts!("avx2");

with_features! {
    "avx2";

    fn splat(number: u32) -> Vector { _mm256_set1_epi32(number.cast_signed()) }

    fn load(numbers: &[i32]) -> Vector {
        let numbers = &numbers[..LANES];
        // SAFETY: eight numbers are as many bytes as are loaded.
        unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
    }

    /// Each offset's distance from the first; `None` if one does not fit into 32 unsigned bits.
    fn distances(offsets: &[i64], first: i64) -> Option<Vector> {
        let offsets = &offsets[..LANES];
        // SAFETY: four numbers are as many bytes as are loaded.
        let [low, high] =
            [&offsets[..4], &offsets[4..]].map(|four| unsafe { _mm256_loadu_si256(four.as_ptr().cast()) });
        let first = _mm256_set1_epi64x(first);
        let low = _mm256_castsi256_ps(_mm256_sub_epi64(low, first));
        let high = _mm256_castsi256_ps(_mm256_sub_epi64(high, first));
        let upper_halves = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(low, high));
        let lower_halves = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
        let are_near = _mm256_testz_si256(upper_halves, upper_halves) == 1;
        are_near.then(|| _mm256_permute4x64_epi64::<0b11_01_10_00>(lower_halves))
    }

    fn store(vector: Vector) -> [i32; LANES] {
        let mut numbers = [0; LANES];
        // SAFETY: eight numbers are as many bytes as are stored.
        unsafe { _mm256_storeu_si256(numbers.as_mut_ptr().cast(), vector) };
        numbers
    }

    fn add(one: Vector, other: Vector) -> Vector { _mm256_add_epi32(one, other) }
    fn sub(one: Vector, other: Vector) -> Vector { _mm256_sub_epi32(one, other) }
    fn mul(one: Vector, other: Vector) -> Vector { _mm256_mullo_epi32(one, other) }
    fn xor(one: Vector, other: Vector) -> Vector { _mm256_xor_si256(one, other) }
    fn and(one: Vector, other: Vector) -> Vector { _mm256_and_si256(one, other) }
    fn or(one: Vector, other: Vector) -> Vector { _mm256_or_si256(one, other) }

    fn shift_right<const BITS: u32>(vector: Vector) -> Vector {
        _mm256_srl_epi32(vector, _mm_cvtsi32_si128(BITS.cast_signed()))
    }

    /// Each lane's power of two.
    fn powers_of_two(exponents: Vector) -> Vector { _mm256_sllv_epi32(splat(1), exponents) }

    /// The largest of numbers below 2^31.
    fn maximum(vector: Vector) -> i32 {
        let four = _mm_max_epi32(_mm256_castsi256_si128(vector), _mm256_extracti128_si256::<1>(vector));
        let two = _mm_max_epi32(four, _mm_shuffle_epi32::<0b00_00_11_10>(four));
        let one = _mm_max_epi32(two, _mm_shuffle_epi32::<0b00_00_00_01>(two));
        _mm_cvtsi128_si32(one)
    }

    fn first(vector: Vector) -> u32 { _mm256_cvtsi256_si32(vector).cast_unsigned() }

    fn where_equal(one: Vector, other: Vector, same: Vector, differing: Vector) -> Vector {
        _mm256_blendv_epi8(differing, same, _mm256_cmpeq_epi32(one, other))
    }

    fn are_equal(one: Vector, other: Vector) -> bool {
        _mm256_movemask_epi8(_mm256_cmpeq_epi32(one, other)) == -1
    }

    fn any_negative(vector: Vector) -> bool { _mm256_movemask_ps(_mm256_castsi256_ps(vector)) != 0 }

    /// The lanes whose bit is set, and 0 in the others.
    fn only(bits: u32, vector: Vector) -> Vector {
        let lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        and(vector, _mm256_cmpeq_epi32(and(splat(bits), lane), lane))
    }

    /// The remainders of numbers below 2^31, as [`Divisor::remainder`].
    fn remainder(numbers: Vector, n: Divisor) -> Vector {
        const ODD: i32 = 0b11_11_01_01;
        let (twice, multiplier) = (add(numbers, numbers), splat(n.multiplier));
        let even = _mm256_mul_epu32(twice, multiplier);
        let odd = _mm256_mul_epu32(_mm256_shuffle_epi32::<ODD>(twice), multiplier);
        let upper_halves = _mm256_blend_epi32::<0b1010_1010>(_mm256_shuffle_epi32::<ODD>(even), odd);
        let quotients = _mm256_srlv_epi32(upper_halves, splat(n.shift));
        sub(numbers, mul(quotients, splat(n.n)))
    }

    /// Prefetches a cache line. Nothing is read: an invalid address is ignored.
    fn fetch(place: *const u8) { _mm_prefetch::<_MM_HINT_T0>(place.cast()); }
}

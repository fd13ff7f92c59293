//! The primitives for 16 lanes, with AVX-512.

#[cfg_attr(
    not(test),
    expect(clippy::wildcard_imports, reason = "most of what is said here is said in these words")
)]
use std::arch::x86_64::*;

use super::divisor::Divisor;

const LANES: usize = 16;
type Vector = __m512i;

/// The four words at each lane's address: the first of all lanes, the second, the third and the fourth. Unsafe: 16
/// bytes must be readable from each address. A macro, because a function this long would not be inlined, a
/// call stores registers, and a function with target features cannot be `inline(always)`.
macro_rules! words {
    ($place:expr) => {{
        let place = $place;
        let key = |lane: usize| _mm_loadu_si128(place(lane).cast());
        let four = |lane| {
            let one = _mm512_castsi128_si512(key(lane));
            let two = _mm512_inserti32x4::<1>(one, key(lane + 4));
            let three = _mm512_inserti32x4::<2>(two, key(lane + 8));
            _mm512_inserti32x4::<3>(three, key(lane + 12))
        };
        transposed(four(0), four(1), four(2), four(3))
    }};
}

kernel! {
    "avx512f,avx512bw,avx512vbmi",
    detected: (is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")),
    groups: 0, 1,
    longer: inline(never),
}

/// A shuffle that moves four keys, which begin this many bytes apart, to 16 bytes each.
const SPREAD: [[u8; 64]; LOAD + 1] = {
    let mut spread = [[0; 64]; LOAD + 1];
    let mut stride = 0;
    while stride <= LOAD {
        let mut byte = 0;
        while byte < 64 {
            #[expect(clippy::cast_possible_truncation, reason = "3 * 16 + 15 at most")]
            {
                spread[stride][byte] = (byte / LOAD * stride + byte % LOAD) as u8;
            }
            byte += 1;
        }
        stride += 1;
    }
    spread
};

/// Keys this close to each other are loaded four at once.
const SHORT: usize = LOAD;

with_features! {
    "avx512f,avx512bw,avx512vbmi";

    fn splat(number: u32) -> Vector { _mm512_set1_epi32(number.cast_signed()) }

    fn load(numbers: &[i32]) -> Vector {
        let numbers = &numbers[..LANES];
        // SAFETY: sixteen numbers are as many bytes as are loaded.
        unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
    }

    /// Each offset's distance from the first; `None` if one does not fit into 32 unsigned bits.
    fn distances(offsets: &[i64], first: i64) -> Option<Vector> {
        let offsets = &offsets[..LANES];
        // SAFETY: eight numbers are as many bytes as are loaded.
        let [low, high] =
            [&offsets[..8], &offsets[8..]].map(|eight| unsafe { _mm512_loadu_epi64(eight.as_ptr()) });
        let first = _mm512_set1_epi64(first);
        let (low, high) = (_mm512_sub_epi64(low, first), _mm512_sub_epi64(high, first));
        let upper_halves = _mm512_srli_epi64::<32>(_mm512_or_si512(low, high));
        let narrow = _mm512_castsi256_si512(_mm512_cvtepi64_epi32(low));
        let are_near = _mm512_test_epi64_mask(upper_halves, upper_halves) == 0;
        are_near.then(|| _mm512_inserti64x4::<1>(narrow, _mm512_cvtepi64_epi32(high)))
    }

    fn store(vector: Vector) -> [i32; LANES] {
        let mut numbers = [0; LANES];
        // SAFETY: sixteen numbers are as many bytes as are stored.
        unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), vector) };
        numbers
    }

    fn add(one: Vector, other: Vector) -> Vector { _mm512_add_epi32(one, other) }
    fn sub(one: Vector, other: Vector) -> Vector { _mm512_sub_epi32(one, other) }
    fn mul(one: Vector, other: Vector) -> Vector { _mm512_mullo_epi32(one, other) }
    fn xor(one: Vector, other: Vector) -> Vector { _mm512_xor_si512(one, other) }
    fn and(one: Vector, other: Vector) -> Vector { _mm512_and_si512(one, other) }
    fn or(one: Vector, other: Vector) -> Vector { _mm512_or_si512(one, other) }
    fn shift_right<const BITS: u32>(vector: Vector) -> Vector { _mm512_srli_epi32::<BITS>(vector) }

    /// Each lane's power of two.
    fn powers_of_two(exponents: Vector) -> Vector { _mm512_sllv_epi32(splat(1), exponents) }

    /// The largest of numbers below 2^31.
    fn maximum(vector: Vector) -> i32 { _mm512_reduce_max_epi32(vector) }

    fn first(vector: Vector) -> u32 { _mm512_cvtsi512_si32(vector).cast_unsigned() }

    fn where_equal(one: Vector, other: Vector, same: Vector, differing: Vector) -> Vector {
        _mm512_mask_blend_epi32(_mm512_cmpeq_epi32_mask(one, other), differing, same)
    }

    fn are_equal(one: Vector, other: Vector) -> bool { _mm512_cmpneq_epi32_mask(one, other) == 0 }

    fn any_negative(vector: Vector) -> bool {
        _mm512_cmplt_epi32_mask(vector, _mm512_setzero_si512()) != 0
    }

    /// The lanes whose bit is set, and 0 in the others.
    fn only(bits: u32, vector: Vector) -> Vector {
        #[expect(clippy::cast_possible_truncation, reason = "a bit for each of sixteen lanes")]
        _mm512_maskz_mov_epi32(bits as u16, vector)
    }

    /// The remainders of numbers below 2^31, as [`Divisor::remainder`].
    fn remainder(numbers: Vector, n: Divisor) -> Vector {
        const ODD: i32 = 0b11_11_01_01;
        let (twice, multiplier) = (add(numbers, numbers), splat(n.multiplier));
        let even = _mm512_mul_epu32(twice, multiplier);
        let odd = _mm512_mul_epu32(_mm512_shuffle_epi32::<ODD>(twice), multiplier);
        let upper_halves = _mm512_mask_shuffle_epi32::<ODD>(odd, 0b0101_0101_0101_0101, even);
        let quotients = _mm512_srlv_epi32(upper_halves, splat(n.shift));
        sub(numbers, mul(quotients, splat(n.n)))
    }

    /// Prefetches a cache line. Nothing is read: an invalid address is ignored.
    fn fetch(place: *const u8) { _mm_prefetch::<_MM_HINT_T0>(place.cast()); }

    /// The word at each of these distances from an address; `None` if that is slow. Gathering is slow before Sapphire
    /// Rapids, the first processor with 16-bit floating-point numbers, because of the defence against Downfall
    /// (CVE-2022-40982). Tests gather wherever possible.
    ///
    /// # Safety
    /// 4 bytes can be read at each of the distances.
    unsafe fn gathered(place: *const u8, distances: &[i32; LANES]) -> Option<Vector> {
        let is_quick = cfg!(test) || is_x86_feature_detected!("avx512fp16");
        // Safety: the caller's.
        is_quick.then(|| unsafe { _mm512_i32gather_epi32::<1>(load(distances), place.cast()) })
    }

    fn transposed(a: Vector, b: Vector, c: Vector, d: Vector) -> [Vector; 4] {
        let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
        let (ab_high, cd_high) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
        [
            _mm512_unpacklo_epi64(ab, cd),
            _mm512_unpackhi_epi64(ab, cd),
            _mm512_unpacklo_epi64(ab_high, cd_high),
            _mm512_unpackhi_epi64(ab_high, cd_high),
        ]
    }

    /// The words of keys that begin this many bytes apart; the lanes are in the order of [`in_order`].
    ///
    /// # Safety
    /// [`FOUR`] bytes can be read from each key's start.
    unsafe fn words_of_short(start: *const u8, stride: usize) -> [Vector; 4] {
        // SAFETY: 64 bytes are loaded.
        let spread = unsafe { _mm512_loadu_si512(SPREAD[stride].as_ptr().cast()) };
        let four = |lane: usize| {
            // Safety: the caller's.
            let keys = unsafe { _mm512_loadu_si512(start.wrapping_add(lane * stride).cast()) };
            _mm512_permutexvar_epi8(spread, keys)
        };
        transposed(four(0), four(4), four(8), four(12))
    }

    /// The results of [`words_of_short`], in the order of the rows.
    fn in_order(vector: Vector) -> Vector {
        let rows = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        _mm512_permutexvar_epi32(rows, vector)
    }
}

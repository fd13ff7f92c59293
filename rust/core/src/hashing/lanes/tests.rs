//! Compares every kind of lanes with the scalar definition: over all lengths, alignments, slices, layouts and ends of
//! buffers.

use std::ops::Range;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::{Finish, Fixed, Keys, Lanes, Offsets, Piece, Validity, Views, filled};
use crate::hashing::{Partitions, murmur2, to_positive};

type Outcome = Result<(), TestCaseError>;

impl Lanes {
    /// All kinds that this processor has.
    fn all() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        let wide =
            [super::avx2::Here::detect().map(Self::Avx2), super::avx512::Here::detect().map(Self::Avx512)];
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        let wide = [super::neon::Here::detect().map(Self::Neon)];
        #[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
        let wide = [None; 0];
        std::iter::once(Self::Scalar).chain(wide.into_iter().flatten()).collect()
    }
}

fn finishes() -> impl Iterator<Item = (Finish, Option<u32>)> {
    // One, powers of two and their neighbours, primes, the largest number.
    const COUNTS: [u32; 12] =
        [1, 2, 3, 4, 7, 12, 97, 1 << 16, 65_537, (1 << 30) + 1, (1 << 31) - 2, (1 << 31) - 1];
    let counts = COUNTS.into_iter().filter_map(|n| Some((Partitions::new(n.into()).ok()?, n)));
    std::iter::once((Finish::Hash, None)).chain(counts.map(|(n, count)| (Finish::partition(n), Some(count))))
}

/// The expected answers: the scalar hash, and a modulo by division.
fn expected(key: Option<&[u8]>, n: Option<u32>) -> i32 {
    match (key.map(murmur2), n) {
        (None, _) => 0,
        (Some(hash), None) => hash,
        (Some(hash), Some(n)) => (to_positive(hash) % n).cast_signed(),
    }
}

/// The answers of lanes, if the rows are in one piece.
fn answers<'a, K: Keys<'a>>(
    lanes: Lanes,
    keys: &K,
    rows: Range<usize>,
    validity: Option<Validity<'_>>,
    finish: Finish,
) -> Result<Option<Vec<i32>>, usize> {
    let mut outcome = Ok(());
    let answers = filled(Vec::with_capacity(rows.len()), rows.len(), rows.len(), |space| {
        for space in space {
            outcome = lanes.hash(keys, Piece { rows: rows.clone(), validity, answers: space }, finish);
        }
    });
    outcome.map(|()| answers)
}

/// Every kind of lanes and every finish, over all rows and over some in the middle.
fn same<'a, K: Keys<'a>>(keys: &K, expected_keys: &[Option<&[u8]>], bits: Option<(&[u8], usize)>) -> Outcome {
    let rows = expected_keys.len();
    let validity = bits.map(|(bits, offset)| Validity { bits, offset });
    for lanes in Lanes::all() {
        for (finish, n) in finishes() {
            for range in [0..rows, rows / 3..rows, rows.min(1)..rows - rows / 5] {
                let expected: Vec<i32> =
                    expected_keys[range.clone()].iter().map(|key| expected(*key, n)).collect();
                let answers = answers(lanes, keys, range, validity, finish);
                prop_assert_eq!(answers, Ok(Some(expected)), "{:?}, {:?}", lanes, finish);
            }
        }
    }
    Ok(())
}

/// Keys one after the other, in an allocation that ends with the last key, and their offsets.
fn in_a_row<O: TryFrom<usize>>(keys: &[Vec<u8>], before: usize, behind: usize) -> (Box<[u8]>, Vec<O>)
where
    O::Error: std::fmt::Debug,
{
    let mut data = vec![0xaa; before];
    let mut offsets = vec![before];
    for key in keys {
        data.extend_from_slice(key);
        offsets.push(data.len());
    }
    data.resize(data.len() + behind, 0x55);
    (data.into(), offsets.into_iter().flat_map(O::try_from).collect())
}

/// Keys as views; those of more than 12 bytes alternate between two buffers that end with their last key.
fn viewed(keys: &[Vec<u8>]) -> (Box<[u8]>, [Box<[u8]>; 2]) {
    let (mut views, mut buffers) = (Vec::new(), [vec![1, 2, 3], Vec::new()]);
    for (row, key) in keys.iter().enumerate() {
        let mut view = [0; 16];
        let length = u32::try_from(key.len()).unwrap_or(u32::MAX);
        view[..4].copy_from_slice(&length.to_le_bytes());
        if key.len() <= 12 {
            view[4..4 + key.len()].copy_from_slice(key);
        } else {
            let (buffer, start) = (row % 2, buffers[row % 2].len());
            buffers[buffer].extend_from_slice(key);
            view[4..8].copy_from_slice(&key[..4]);
            view[8..12].copy_from_slice(&u32::try_from(buffer).unwrap_or(0).to_le_bytes());
            view[12..].copy_from_slice(&u32::try_from(start).unwrap_or(0).to_le_bytes());
        }
        views.extend_from_slice(&view);
    }
    (views.into(), buffers.map(Vec::into))
}

/// The bits of a validity bitmap, some bits into it.
fn bits(valid: &[bool], offset: usize) -> Box<[u8]> {
    let mut bits = vec![0xff; (offset + valid.len()).div_ceil(8)];
    for (row, valid) in valid.iter().enumerate() {
        if !valid {
            bits[(offset + row) / 8] &= !(1 << ((offset + row) % 8));
        }
    }
    bits.into()
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..24),
        2 => prop::collection::vec(any::<u8>(), 12..=12),
        2 => prop::collection::vec(any::<u8>(), 0..100),
        1 => prop::collection::vec(prop::sample::select(vec![0x00, 0x7f, 0x80, 0xff]), 0..40),
    ]
}

/// At all distances from the buffer's end, and behind bytes that do not count. In every layout, groups of keys of one
/// length have their own code paths, and so do groups of which only a part counts.
#[test]
fn every_length_in_every_layout() -> Outcome {
    let ends = [0, 1, 15, 16, 17, 63, 64, 65].map(|behind| (0, behind));
    for (skip, behind) in ends.into_iter().chain([(5, 0), (5, 80), (17, 16), (17, 80)]) {
        for length in 0..=80 {
            let headed: Vec<Vec<u8>> = (0_u8..40)
                .map(|row| (0..skip + length).map(|at: u8| at.wrapping_mul(37) ^ row).collect())
                .collect();
            let skip = usize::from(skip);
            let expected: Vec<_> = headed.iter().map(|key| key.get(skip..)).collect();
            let (data, narrow) = in_a_row::<i32>(&headed, 3, behind);
            same(&Offsets { data: &data, places: &narrow, skip }, &expected, None)?;
            let (_, wide) = in_a_row::<i64>(&headed, 3, behind);
            same(&Offsets { data: &data, places: &wide, skip }, &expected, None)?;
            same(&Fixed { data: &data[3..], width: headed[0].len(), skip }, &expected, None)?;
            let (views, buffers) = viewed(&headed);
            same(&Views { heads: &views, buffers: &buffers, skip }, &expected, None)?;
        }
    }
    Ok(())
}

#[test]
fn answers_come_from_pieces_that_are_full() {
    // Three pieces of 2, 2 and 1; `each` is how many answers a piece gets.
    let pieces = |each: usize| {
        filled(Vec::with_capacity(5), 5, 2, |pieces| {
            for (number, piece) in (10..).step_by(10).zip(pieces) {
                (number..).take(each).for_each(|answer| piece.push(answer));
            }
        })
    };
    assert_eq!(pieces(1), None);
    assert_eq!(pieces(2), Some(vec![10, 11, 20, 21, 30]));
    assert_eq!(pieces(9), pieces(2));
    assert_eq!(filled(Vec::new(), 1, 1, |_| ()), None);
}

#[test]
fn the_quotient_is_exact_at_both_ends_of_every_step() {
    let edges = (0..31).flat_map(|bits| [(1_u32 << bits) - 1, 1 << bits, (1 << bits) + 1]);
    for n in edges.chain([12, 97, 1_000_003, (1 << 31) - 1]).filter(|n| *n > 0) {
        let Ok(divisor) = Partitions::new(n.into()).map(super::Divisor::new) else { continue };
        let largest = (1_u32 << 31) - 1;
        let most = largest / n;
        for quotient in [0, 1, most / 2, most.saturating_sub(1), most].map(|quotient| quotient.min(most)) {
            for number in [quotient * n, quotient * n + (n - 1).min(largest - quotient * n)] {
                assert_eq!(divisor.remainder(number), number % n, "{number} of {n}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn offsets_of_either_width_and_nulls(
        keys in prop::collection::vec((key(), prop::bool::weighted(0.9)), 0..120),
        before in 0_usize..20,
        behind in 0_usize..80,
        offset in 0_usize..20,
        all_valid in any::<bool>(),
    ) {
        let valid: Vec<bool> = keys.iter().map(|(_, valid)| *valid || all_valid).collect();
        let keys: Vec<Vec<u8>> = keys.into_iter().map(|(key, _)| key).collect();
        let bitmap = bits(&valid, offset);
        let expected: Vec<_> = keys.iter().zip(&valid).map(|(key, valid)| valid.then_some(key.as_slice())).collect();
        let (data, offsets) = in_a_row::<i32>(&keys, before, behind);
        same(&Offsets { data: &data, places: &offsets, skip: 0 }, &expected, Some((&bitmap, offset)))?;
        let (data, offsets) = in_a_row::<i64>(&keys, before, behind);
        same(&Offsets { data: &data, places: &offsets, skip: 0 }, &expected, Some((&bitmap, offset)))?;
    }

    #[test]
    fn first_bytes_that_do_not_belong_to_a_key(
        keys in prop::collection::vec(key(), 0..120),
        skip in 0_usize..8,
        behind in 0_usize..80,
    ) {
        let headed: Vec<Vec<u8>> =
            keys.iter().map(|key| vec![9; skip].into_iter().chain(key.iter().copied()).collect()).collect();
        let expected: Vec<_> = keys.iter().map(|key| Some(key.as_slice())).collect();
        let (data, offsets) = in_a_row::<i32>(&headed, 0, behind);
        same(&Offsets { data: &data, places: &offsets, skip }, &expected, None)?;
        let (views, buffers) = viewed(&headed);
        same(&Views { heads: &views, buffers: &buffers, skip }, &expected, None)?;
    }

    #[test]
    fn fixed_widths_of_which_a_part_is_the_key(
        width in 1_usize..50, skip in 0_usize..8, rows in 0_usize..120, behind in 0_usize..80, seed in any::<u8>(),
    ) {
        let skip = skip.min(width);
        let data: Box<[u8]> =
            (0..width * rows + behind).map(|at| at.to_le_bytes()[0].wrapping_mul(101) ^ seed).collect();
        let expected: Vec<_> = data.chunks_exact(width).take(rows).map(|key| key.get(skip..)).collect();
        same(&Fixed { data: &data, width, skip }, &expected, None)?;
    }

    /// Offsets that fall, are negative or point beyond the data: the first row with such a key is named, as the scalar
    /// way names it. What is stored under a null does not matter.
    #[test]
    fn broken_offsets_name_the_same_row(
        keys in prop::collection::vec(key(), 20..120),
        breaks in prop::collection::vec((any::<prop::sample::Index>(), any::<i32>()), 1..4),
        nulls in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        behind in 0_usize..80,
    ) {
        let (data, mut offsets) = in_a_row::<i32>(&keys, 0, behind);
        for (place, offset) in breaks {
            let place = place.index(offsets.len());
            offsets[place] = if offset % 3 == 0 { offset } else { offsets[place].wrapping_add(offset % 64) };
        }
        let mut valid = vec![true; keys.len()];
        for null in nulls {
            valid[null.index(keys.len())] = false;
        }
        let (bitmap, broken) = (bits(&valid, 0), Offsets { data: &data, places: &offsets, skip: 0 });
        let mut outcomes = Lanes::all().into_iter().map(|lanes| {
            let validity = Some(Validity { bits: &bitmap, offset: 0 });
            answers(lanes, &broken, 0..keys.len(), validity, Finish::Hash)
        });
        let scalar = outcomes.next();
        prop_assert!(scalar.is_some());
        for outcome in outcomes {
            prop_assert_eq!(Some(&outcome), scalar.as_ref());
        }
    }
}

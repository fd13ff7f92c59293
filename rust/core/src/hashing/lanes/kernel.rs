//! murmur2 over lanes, written once for every set of primitives. Each one's module says `kernel!` with the processor's
//! features, how it knows that this processor has them, how many groups are in progress at once (`groups: 0, 1` are two), and whether
//! the loop over longer keys is inlined into its caller.
//!
//! A set of primitives is a type `Vector` of `LANES` 32-bit numbers, with `splat`, `load`, `distances`, `store`, `add`,
//! `sub`, `mul`, `xor`, `and`, `or`, `shift_right`, `powers_of_two`, `maximum`, `first`, `where_equal`, `are_equal`,
//! `any_negative`, `only`, `remainder`, `fetch`, the macro `words`, `gathered`, and for keys of `SHORT` bytes at most
//! `words_of_short` and `in_order`.

/// Functions that use a processor's features, each inlined.
macro_rules! with_features {
    ($features:literal; $($function:item)+) => {
        $(#[target_feature(enable = $features)] #[inline] $function)+
    };
}

/// The primitives of a processor that gathers no words and has no shortcut for short keys.
macro_rules! no_shortcuts {
    ($features:literal) => {
        /// No key is short.
        const SHORT: usize = 0;

        with_features! {
            $features;

            /// The word at each of some distances; loading four words is as fast.
            ///
            /// # Safety
            /// None.
            unsafe fn gathered(_: *const u8, _: &[i32; LANES]) -> Option<Vector> { None }

            /// Never called, because there is no shortcut.
            ///
            /// # Safety
            /// None.
            unsafe fn words_of_short(_: *const u8, _: usize) -> [Vector; 4] { [splat(0); 4] }

            fn in_order(vector: Vector) -> Vector { vector }
        }
    };
}

macro_rules! kernel {
    ($features:literal, detected: $detected:expr, groups: $($group:literal),+, longer: $longer:meta $(,)?) => {
        use std::ops::Range;

        use super::group::{FOUR, Group, LOAD, Lengths, WORD, bytes};
        use super::offset::Places;
        use super::{AnswerSpace, Finish, Keys, Piece};
        use crate::hashing::murmur2::{MULTIPLIER, SEED};
        use crate::hashing::partitions::TO_POSITIVE;

        /// Shows that this processor has the features.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct Here(());

        impl Here {
            pub(super) fn detect() -> Option<Self> {
                $detected.then_some(Self(()))
            }
        }

        /// How many groups are in progress at once.
        const GROUPS: usize = [$($group),+].len();

        /// Keys in progress: the hashes as if every key went on; and for each key that has reached the end of
        /// its whole blocks, the hash at that point and its remaining bytes.
        #[derive(Clone, Copy)]
        struct State {
            hash: Vector,
            kept: Vector,
            /// How many blocks are done.
            block: Vector,
            /// How many whole blocks each key has.
            blocks: Vector,
            /// How many bytes of each key remain, and which bits of a word they take.
            remaining: Vector,
            of_the_key: Vector,
        }

        /// Keys that are not loaded four at once. If there are more addresses than registers, this is a
        /// function of its own, so that shorter keys do not wait until the addresses are stored.
        ///
        /// # Safety
        /// As for [`of_one_length`].
        #[target_feature(enable = $features)]
        #[$longer]
        unsafe fn of_longer(
            groups: &[impl Group<LANES>; GROUPS],
            length: usize,
            mut hashes: [Vector; GROUPS],
        ) -> [Vector; GROUPS] {
            let mut at = 0;
            loop {
                // SAFETY: the caller's, because this is at most one load from `at` on.
                if length - at <= WORD && let Some(words) = unsafe { first_words(groups, at) } {
                    return finish_tail(hashes, words, length - at).map(|hash| avalanche(hash));
                }
                // SAFETY: the caller's: for an empty key it is one load, which is shorter than `FOUR`.
                let words = [$(unsafe { words!(|lane: usize| groups[$group].start(lane).wrapping_add(at)) }),+];
                if length - at <= LOAD {
                    return finish_tail(hashes, words, length - at).map(|hash| avalanche(hash));
                }
                for word in 0..4 {
                    hashes = std::array::from_fn(|group| step(hashes[group], words[group][word]));
                }
                at += LOAD;
            }
        }

        with_features! {
            $features;

            /// The part of the hash that depends on one block alone.
            fn mixed(block: Vector) -> Vector {
                let mixed = mul(block, splat(MULTIPLIER));
                mul(xor(mixed, shift_right::<24>(mixed)), splat(MULTIPLIER))
            }

            fn step(hash: Vector, block: Vector) -> Vector {
                xor(mul(hash, splat(MULTIPLIER)), mixed(block))
            }

            fn avalanche(hash: Vector) -> Vector {
                let hash = mul(xor(hash, shift_right::<13>(hash)), splat(MULTIPLIER));
                xor(hash, shift_right::<15>(hash))
            }

            /// Keys that are all `length` bytes long. Each step waits for the one before, so several groups keep
            /// a processor busier than one.
            ///
            /// # Safety
            /// The length, rounded up to whole loads, and [`FOUR`] are not longer than the room of any group.
            unsafe fn of_one_length(groups: &[impl Group<LANES>; GROUPS], length: usize) -> [Vector; GROUPS] {
                #[expect(clippy::cast_possible_truncation, reason = "a group's lengths fit into 31 bits")]
                let hashes = [splat(SEED ^ length as u32); GROUPS];
                if let Some(stride) = groups[0].stride().filter(|stride| *stride <= SHORT) {
                    // SAFETY: the caller's: `FOUR` bytes can be read from each key's start.
                    let words = [$(unsafe { words_of_short(groups[$group].start(0), stride) }),+];
                    return finish_tail(hashes, words, length).map(|hash| in_order(avalanche(hash)));
                }
                // SAFETY: the caller's.
                unsafe { of_longer(groups, length, hashes) }
            }

            /// One word of each key; `None` if loading four words is as fast.
            ///
            /// # Safety
            /// The word's end is not beyond the room of any group.
            unsafe fn first_words(groups: &[impl Group<LANES>; GROUPS], at: usize) -> Option<[[Vector; 1]; GROUPS]> {
                Some([$({
                    let group = &groups[$group];
                    let (start, distances) = group.distances()?;
                    // AddressSanitizer does not see what an instruction gathers.
                    debug_assert!(at + WORD <= group.room());
                    debug_assert!((0..LANES).all(|lane| start.wrapping_add(bytes(distances[lane])) == group.start(lane)));
                    // SAFETY: the caller's, as each distance leads to a key's start.
                    [unsafe { gathered(start.wrapping_add(at), distances) }?]
                }),+])
            }

            /// The last bytes of keys that all have the same number of them, at most the bytes of the given
            /// words.
            fn finish_tail<const WORDS: usize>(
                mut hashes: [Vector; GROUPS],
                words: [[Vector; WORDS]; GROUPS],
                length: usize,
            ) -> [Vector; GROUPS] {
                for word in 0..WORDS {
                    let left = length.saturating_sub(4 * word);
                    if left >= 4 {
                        hashes = std::array::from_fn(|group| step(hashes[group], words[group][word]));
                    } else if left > 0 {
                        let of_the_key = splat((1 << (8 * left)) - 1);
                        hashes = std::array::from_fn(|group| {
                            mul(xor(hashes[group], and(words[group][word], of_the_key)), splat(MULTIPLIER))
                        });
                    }
                }
                hashes
            }

            /// Keys of any lengths, of which `longest` is the greatest: all lanes go on to its end.
            ///
            /// # Safety
            /// The longest, rounded up to whole loads, is not longer than the room of any group.
            unsafe fn of_any_lengths(
                groups: &[impl Group<LANES>; GROUPS],
                lengths: [Vector; GROUPS],
                longest: usize,
            ) -> [Vector; GROUPS] {
                let mut states = lengths.map(|lengths| begun(lengths));
                let mut at = 0;
                while at < longest {
                    let words: [[Vector; 4]; GROUPS] = std::array::from_fn(|group| {
                        // SAFETY: the caller's.
                        unsafe { words!(|lane: usize| groups[group].start(lane).wrapping_add(at)) }
                    });
                    states = std::array::from_fn(|group| {
                        let [first, second, ..] = words[group];
                        went_on(went_on(states[group], first), second)
                    });
                    if longest - at > LOAD / 2 {
                        states = std::array::from_fn(|group| {
                            let [.., third, fourth] = words[group];
                            went_on(went_on(states[group], third), fourth)
                        });
                    }
                    at += LOAD;
                }
                states.map(|state| ended(state))
            }

            fn begun(lengths: Vector) -> State {
                let remaining = and(lengths, splat(3));
                State {
                    hash: xor(splat(SEED), lengths),
                    kept: splat(0),
                    block: splat(0),
                    blocks: shift_right::<2>(lengths),
                    remaining,
                    of_the_key: sub(powers_of_two(mul(remaining, splat(8))), splat(1)),
                }
            }

            fn went_on(state: State, word: Vector) -> State {
                let with_rest = xor(state.hash, and(word, state.of_the_key));
                State {
                    hash: step(state.hash, word),
                    kept: where_equal(state.blocks, state.block, with_rest, state.kept),
                    block: add(state.block, splat(1)),
                    ..state
                }
            }

            fn ended(state: State) -> Vector {
                // Keys that end with a whole block may have come to its end only now.
                let kept = where_equal(state.blocks, state.block, state.hash, state.kept);
                let multiplied = mul(kept, splat(MULTIPLIER));
                avalanche(where_equal(state.remaining, splat(0), kept, multiplied))
            }

            /// The lengths of a group's keys; `None` if they are not in order.
            fn lengths_of(group: &impl Group<LANES>) -> Option<Vector> {
                let (offsets, skip, data) = match group.lengths() {
                    Lengths::One(length) => return Some(splat(length.cast_unsigned())),
                    Lengths::Each(lengths) => return Some(load(lengths)),
                    Lengths::Between { offsets, skip, data } => (offsets, skip, data),
                };
                let (from, to, last) = match offsets {
                    Places::Narrow(offsets) => {
                        (load(&offsets[..LANES]), load(&offsets[1..=LANES]), i64::from(offsets[LANES]))
                    }
                    Places::Wide(offsets) => {
                        let first = offsets[0];
                        let (from, to) = (distances(&offsets[..LANES], first)?, distances(&offsets[1..=LANES], first)?);
                        (from, to, if first < 0 { first } else { offsets[LANES] })
                    }
                };
                let whole = sub(to, from);
                let lengths = sub(whole, splat(skip.cast_unsigned()));
                let rise = !any_negative(or(or(from, to), or(whole, lengths)));
                (rise && usize::try_from(last).is_ok_and(|last| last <= data)).then_some(lengths)
            }

            /// The hashes of the keys from a row on; `None` if their lengths are not in order, one begins too
            /// close to its buffer's end, or one is so long that the others would wait for it.
            fn of_groups<'a, K: Keys<'a>>(keys: &K, row: usize) -> Option<[Vector; GROUPS]> {
                /// A key of at most this length may be longer than all others.
                const ALONE: usize = 256;
                let groups: [K::Group<LANES>; GROUPS] = [$(keys.group(row + $group * LANES)?),+];
                let mut lengths = [splat(0); GROUPS];
                let (mut room, mut span) = (usize::MAX, 0_usize);
                for (lengths, group) in lengths.iter_mut().zip(&groups) {
                    *lengths = lengths_of(group)?;
                    room = room.min(group.room());
                    span = span.saturating_add(group.span());
                    look_ahead(group);
                }
                let fits = |longest: usize| longest.next_multiple_of(LOAD).max(FOUR) <= room;
                let length = first(lengths[0]);
                if lengths.iter().all(|lengths| are_equal(*lengths, splat(length))) {
                    let length = length as usize;
                    // SAFETY: it fits, as does `FOUR`.
                    return fits(length).then(|| unsafe { of_one_length(&groups, length) });
                }
                let longest = lengths.iter().map(|lengths| bytes(maximum(*lengths))).fold(0, usize::max);
                if !fits(longest) || longest > ALONE && longest > span / 4 {
                    return None;
                }
                // SAFETY: the longest fits.
                Some(unsafe { of_any_lengths(&groups, lengths, longest) })
            }

            /// Prefetches the bytes of a later group: if keys are long, the processor's own prefetching is late.
            fn look_ahead(group: &impl Group<LANES>) {
                const LINE: usize = 64;
                const AHEAD: usize = 2048;
                let later = group.start(0).wrapping_add(group.span() + AHEAD);
                for at in (0..group.span()).step_by(LINE) {
                    fetch(later.wrapping_add(at));
                }
            }
        }

        /// [`super::Lanes::hash`].
        pub(super) fn hash<'a>(
            _: Here,
            keys: &impl Keys<'a>,
            piece: Piece<'_, '_>,
            finish: Finish,
        ) -> Result<(), usize> {
            // SAFETY: the processor has been checked.
            unsafe { of_rows(keys, piece, finish) }
        }

        /// The same, once the processor has been checked.
        #[target_feature(enable = $features)]
        fn of_rows<'a>(keys: &impl Keys<'a>, piece: Piece<'_, '_>, finish: Finish) -> Result<(), usize> {
            const ROWS: usize = GROUPS * LANES;
            let Piece { rows, validity, answers } = piece;
            let scalar = |rows: Range<usize>, answers: &mut AnswerSpace<'_>| {
                super::each(keys, Piece { rows, validity, answers }, |key| finish.of(key))
            };
            let mut row = rows.start;
            while rows.end - row >= ROWS {
                if let Some(hashes) = of_groups(keys, row) {
                    let mut hashed = match finish {
                        Finish::Hash => hashes,
                        Finish::Partition(n) => hashes.map(|hash| remainder(and(hash, splat(TO_POSITIVE)), n)),
                    };
                    if let Some(validity) = validity {
                        for (group, hashed) in hashed.iter_mut().enumerate() {
                            *hashed = only(validity.bits::<LANES>(row + group * LANES), *hashed);
                        }
                    }
                    for hashed in hashed {
                        answers.extend(&store(hashed));
                    }
                } else {
                    scalar(row..row + ROWS, answers)?;
                }
                row += ROWS;
            }
            scalar(row..rows.end, answers)
        }
    };
}

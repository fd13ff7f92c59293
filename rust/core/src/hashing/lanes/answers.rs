//! Memory for the answers, not yet written, in pieces that can be filled at the same time.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::slice::IterMut;

use super::Validity;

/// Places for a number of answers, each written once, from the first on.
pub(crate) struct AnswerSpace<'a>(IterMut<'a, MaybeUninit<i32>>);

impl AnswerSpace<'_> {
    /// Writes one more answer; does nothing if no place is left.
    #[inline]
    pub(crate) fn push(&mut self, answer: i32) {
        if let Some(answer_place) = self.0.next() {
            answer_place.write(answer);
        }
    }

    #[inline]
    pub(super) fn extend<const L: usize>(&mut self, answers: &[i32; L]) {
        if self.0.len() < L {
            for answer in answers {
                self.push(*answer);
            }
            return;
        }
        if let Some((now, later)) = std::mem::take(&mut self.0).into_slice().split_first_chunk_mut::<L>() {
            now.write_copy_of_slice(answers);
            self.0 = later.iter_mut();
        }
    }

    fn is_full(&self) -> bool {
        self.0.len() == 0
    }
}

/// Rows to answer, and the places of their answers.
pub(crate) struct Piece<'a, 's> {
    pub(crate) rows: Range<usize>,
    /// Which of them have a key; without a validity, all do.
    pub(crate) validity: Option<Validity<'a>>,
    pub(crate) answers: &'a mut AnswerSpace<'s>,
}

/// Lets `fill` write as many answers as `empty` has room for, into pieces of `piece` answers (the last one smaller);
/// `None` if it left a place free.
pub(crate) fn filled(
    mut empty: Vec<i32>,
    rows: usize,
    piece: usize,
    fill: impl FnOnce(&mut [AnswerSpace<'_>]),
) -> Option<Vec<i32>> {
    empty.clear();
    let space = empty.spare_capacity_mut().get_mut(..rows)?;
    let is_full = if piece < rows {
        let mut pieces: Vec<AnswerSpace<'_>> =
            space.chunks_mut(piece.max(1)).map(|space| AnswerSpace(space.iter_mut())).collect();
        fill(&mut pieces);
        pieces.iter().all(AnswerSpace::is_full)
    } else {
        let mut whole = AnswerSpace(space.iter_mut());
        fill(std::slice::from_mut(&mut whole));
        whole.is_full()
    };
    if !is_full {
        return None;
    }
    // SAFETY: the pieces count their written places, so all of these have been written, and they are within the
    // capacity.
    unsafe { empty.set_len(rows) };
    Some(empty)
}

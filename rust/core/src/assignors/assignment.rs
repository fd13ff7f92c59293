//! An assignor's answer, in columns.

/// An assignment in the numbers of the input: a member's list is `offsets[member]..offsets[member + 1]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Where each member's list begins, and where the last one ends.
    pub offsets: Vec<usize>,
    /// The topic of each partition, as a place in [`Input::topics`](super::Input::topics).
    pub topics: Vec<u32>,
    /// The partition's number in its topic.
    pub partitions: Vec<i32>,
    /// What the client left to chance; none if this is the only answer.
    pub chance: Option<Chance>,
}

/// Why an answer is one of several, and what all of them have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance {
    /// What differs from run to run: the order of Go's maps.
    pub why: &'static str,
    /// What all answers have in common, apart from being valid: `sizes`, how many partitions members have, sorted; or
    /// `moves`, how many partitions change hands.
    pub same: &'static [&'static str],
}

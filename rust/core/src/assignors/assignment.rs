//! What an assignor answers, in columns.

/// An assignment in the numbers of what was given: a member's list is `offsets[member]..offsets[member + 1]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Where each member's list begins, and the last one's end.
    pub offsets: Vec<usize>,
    /// The topic of each partition, as a place in [`Given::topics`](super::Given::topics).
    pub topics: Vec<u32>,
    /// The partition's number in its topic.
    pub partitions: Vec<i32>,
}

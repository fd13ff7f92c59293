//! What a coordinator is to the simulation, whichever protocol it speaks.

use std::fmt::Debug;

use super::member_ids::MemberIds;
use super::script::{Generation, Message};
use crate::Result;
use crate::interned::Name;

use super::super::error_code::Code;

/// A group as its coordinator keeps it.
pub(super) trait Coordinator {
    type Request: Debug;
    type Answer: Debug;

    /// Its timers may fire.
    const WAIT: Self::Request;

    /// Another broker takes over the group.
    const MOVE: Self::Request;

    /// Takes a request at a time, under the tag of its answer, and notes the generation that begins with it.
    ///
    /// # Errors
    ///
    /// The errors of an assignor, if the coordinator assigns.
    fn apply(
        &mut self,
        at: i64,
        tag: u32,
        request: Self::Request,
        ids: &MemberIds,
        generations: &mut Vec<Generation>,
    ) -> Result<()>;

    /// The answers since the last call, each under its request's tag.
    fn answers(&mut self) -> impl Iterator<Item = (u32, Self::Answer)>;

    /// When its next timer fires, if that is by a time.
    fn deadline(&mut self, by: i64) -> Option<i64>;

    /// The cluster's topics have changed, if it goes by them.
    fn topics(topics: &[(Name, Option<u32>)]) -> Option<Self::Request>;

    /// What a broker answers that does not coordinate the group.
    fn refused(request: &Self::Request) -> Self::Answer;

    /// A member committed at a time, which is a sign of life.
    fn heard_of(&mut self, id: &str, at: i64);

    /// An answer's error code.
    fn code(answer: &Self::Answer) -> Code;

    /// Whether it waits for nothing, and has so many members.
    fn is_at_rest(&self, size: usize) -> bool;

    /// Notes in a message what an answer says.
    fn describe(answer: &Self::Answer, message: &mut Message);
}

//! A group with members of several clients as its leader sees it, and the trait that supplies the leader's assignment.
//!
//! The core does not know what each client's members send, nor what each client's leader reads of it; the caller does.
//! In a play, every member lives like a Java consumer, whichever client it is of.

use super::super::consumer::Place;
use super::ledger::Reader;
use crate::Result;

/// A group, as the answer to `JoinGroup` describes it to its leader.
#[derive(Debug)]
pub struct JoinedGroup<'a> {
    /// When the leader assigns.
    pub at: i64,
    /// The generation to assign for.
    pub generation: i32,
    /// The leader's index in `members`.
    pub leader: usize,
    /// The assignor that the coordinator has chosen, by its wire name.
    pub assignor: &'a str,
    /// The topics that the leader sees, with their numbers of partitions.
    pub topics: Vec<(&'a str, u32)>,
    /// The members, in the order of the answer.
    pub members: Vec<JoinedMember<'a>>,
}

/// A member, and what it knew when it joined.
#[derive(Debug)]
pub struct JoinedMember<'a> {
    /// Its index in the script's list.
    pub reader: Option<Reader>,
    /// Its member ID.
    pub id: &'a str,
    /// `group.instance.id`.
    pub instance: Option<&'a str>,
    /// Its client, as the script named it.
    pub client: &'a str,
    /// The topics that it subscribes to, by their indices in the script's list.
    pub topics: &'a [u32],
    /// The partitions that it owned.
    pub owned: &'a [Place],
    /// Its generation; -1 if it had none.
    pub generation: i32,
    /// Its last assignment, in the order in which it got it, and that assignment's generation.
    pub remembers: Option<(&'a [Place], i32)>,
}

/// Supplies the assignments of leaders' clients.
pub trait LeadersClient: Send {
    /// Returns each member's partitions, in the order of the members; `None` if the leader's client fails, and the
    /// leader with it.
    ///
    /// # Errors
    ///
    /// Any error ends the play.
    fn assign(&mut self, group: &JoinedGroup<'_>) -> Result<Option<Vec<Vec<Place>>>>;
}

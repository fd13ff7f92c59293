//! A group with members of several clients as its leader is told of it, and who says what that leader's client assigns.
//!
//! What members send and what each leader reads of it is known outside of the core. Members live as Java's here, whichever
//! client they are of.

use super::super::consumer::Place;
use super::ledger::Reader;
use crate::Result;

/// A group as its leader is told of it by the answer of `JoinGroup`.
#[derive(Debug)]
pub struct Led<'a> {
    /// When.
    pub at: i64,
    /// The generation that it is to assign for.
    pub generation: i32,
    /// The leader, by its place among the members.
    pub leader: usize,
    /// The assignor that the coordinator has chosen, by its wire name.
    pub assignor: &'a str,
    /// The topics that the leader sees, with their partitions.
    pub topics: Vec<(&'a str, u32)>,
    /// The members, in the order of the answer.
    pub members: Vec<LedMember<'a>>,
}

/// A member, and what it knew when it joined.
#[derive(Debug)]
pub struct LedMember<'a> {
    /// Its place in the script's list.
    pub reader: Option<Reader>,
    /// Its member id.
    pub id: &'a str,
    /// `group.instance.id`.
    pub instance: Option<&'a str>,
    /// Its client, as the script named it.
    pub client: &'a str,
    /// What it subscribes to: topics by their places in the script's list.
    pub topics: &'a [u32],
    /// What it owned.
    pub owned: &'a [Place],
    /// Its generation; -1 where it was in none.
    pub generation: i32,
    /// What it was given last, in the order of the list that it was given, and in which generation.
    pub remembers: Option<(&'a [Place], i32)>,
}

/// Says what a leader's client assigns.
pub trait LeadersClient: Send {
    /// The partitions of each member, in the order of the members; none where the leader's client fails, and with it the
    /// leader.
    ///
    /// # Errors
    ///
    /// Whatever ends the play.
    fn assign(&mut self, group: &Led<'_>) -> Result<Option<Vec<Vec<Place>>>>;
}

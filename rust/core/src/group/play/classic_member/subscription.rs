//! What a classic member sends with `JoinGroup`, for the leader's assignor.

use std::sync::Arc;

use super::super::super::consumer::Place;
use crate::interned::Name;

/// A member's data for an assignor (`ConsumerPartitionAssignor.Subscription`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Subscription {
    pub topics: Arc<[u32]>,
    /// The partitions that it owns.
    pub owned: Arc<[Place]>,
    /// The generation as of which it owns them.
    pub generation: i32,
    /// Its last assignment and that assignment's generation, if its assignor asks for them.
    pub remembers: Option<(Arc<[Place]>, i32)>,
    /// Its client, as the script names it.
    pub client: Name,
}

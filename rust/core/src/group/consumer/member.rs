//! A member of a group of KIP-848's protocol.

use std::sync::Arc;

use super::Place;
use crate::names::named;

named! {
    /// `MemberState`, by Kafka's names.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum State {
        /// The member has its target.
        #[default]
        Stable = "STABLE",
        /// It has to give up partitions first.
        UnrevokedPartitions = "UNREVOKED_PARTITIONS",
        /// It waits for partitions that others have not given up yet.
        UnreleasedPartitions = "UNRELEASED_PARTITIONS",
    }
}

/// A member's partitions, each with the epoch since which it has it: in order, and shared by all copies of the member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldPartitions(Arc<[(Place, i32)]>);

impl HeldPartitions {
    /// The epoch since which a partition is held.
    #[must_use]
    pub fn since(&self, place: Place) -> Option<i32> {
        let found = self.0.binary_search_by_key(&place, |(held, _)| *held).ok()?;
        Some(self.0[found].1)
    }

    /// Whether a partition is held.
    #[must_use]
    pub fn has(&self, place: Place) -> bool {
        self.since(place).is_some()
    }

    /// Whether no partition is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The partitions with their epochs, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Place, i32)> {
        self.0.iter().copied()
    }

    /// The partitions, in order.
    pub fn places(&self) -> impl Iterator<Item = Place> {
        self.0.iter().map(|(place, _)| *place)
    }
}

impl FromIterator<(Place, i32)> for HeldPartitions {
    fn from_iter<I: IntoIterator<Item = (Place, i32)>>(held: I) -> Self {
        let mut held: Vec<_> = held.into_iter().collect();
        held.sort_unstable();
        Self(held.into())
    }
}

/// A member (`ConsumerGroupMember`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerGroupMember {
    /// Its epoch.
    pub epoch: i32,
    /// The previous epoch, which it may still send if an answer was lost.
    pub previous_epoch: i32,
    /// Its state.
    pub state: State,
    /// `group.instance.id`.
    pub instance: Option<String>,
    pub(super) rebalance_timeout_ms: i64,
    /// Its subscription, sorted, each topic once.
    pub(super) topics: Arc<[u32]>,
    pub(super) assignor: Option<String>,
    /// What it may read, each with the epoch since which it may read it.
    pub assigned: HeldPartitions,
    /// What it has to give up, likewise.
    pub revoking: HeldPartitions,
}

impl Default for ConsumerGroupMember {
    fn default() -> Self {
        Self {
            epoch: 0,
            previous_epoch: -1,
            state: State::Stable,
            instance: None,
            rebalance_timeout_ms: -1,
            topics: Arc::new([]),
            assignor: None,
            assigned: HeldPartitions::default(),
            revoking: HeldPartitions::default(),
        }
    }
}

impl ConsumerGroupMember {
    /// Whether it has reached the target assignment.
    pub(super) fn is_reconciled_to(&self, assignment_epoch: i32) -> bool {
        self.state == State::Stable && self.epoch == assignment_epoch
    }

    /// What nobody else may have yet: what it may read, and what it still has to give up.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> {
        self.assigned.places().chain(self.revoking.places())
    }

    /// Moves to an epoch.
    pub(super) fn go(&mut self, epoch: i32) {
        self.previous_epoch = self.epoch;
        self.epoch = epoch;
    }
}

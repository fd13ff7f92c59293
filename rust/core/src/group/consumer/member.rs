//! A member of a group of KIP-848's protocol.

use std::collections::{BTreeMap, BTreeSet};

use super::Place;

/// `MemberState`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// The member has what it is to have.
    #[default]
    Stable,
    /// It has to give up partitions first.
    UnrevokedPartitions,
    /// It waits for partitions that others have not given up.
    UnreleasedPartitions,
}

impl State {
    /// Kafka's name of the state.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stable => "STABLE",
            Self::UnrevokedPartitions => "UNREVOKED_PARTITIONS",
            Self::UnreleasedPartitions => "UNRELEASED_PARTITIONS",
        }
    }
}

/// A member, as `ConsumerGroupMember` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its epoch.
    pub epoch: i32,
    /// The one before, which it may still send where an answer was lost.
    pub previous_epoch: i32,
    /// Its state.
    pub state: State,
    /// `group.instance.id`.
    pub instance: Option<String>,
    pub(super) rebalance_timeout_ms: i64,
    pub(super) topics: BTreeSet<u32>,
    pub(super) assignor: Option<String>,
    /// What it may read, each with the epoch since which it may.
    pub assigned: BTreeMap<Place, i32>,
    /// What it has to give up, the same.
    pub revoking: BTreeMap<Place, i32>,
}

impl Default for Member {
    fn default() -> Self {
        Self {
            epoch: 0,
            previous_epoch: -1,
            state: State::Stable,
            instance: None,
            rebalance_timeout_ms: -1,
            topics: BTreeSet::new(),
            assignor: None,
            assigned: BTreeMap::new(),
            revoking: BTreeMap::new(),
        }
    }
}

impl Member {
    /// Whether it has come to where the target assignment wants it.
    pub(super) fn is_reconciled_to(&self, assignment_epoch: i32) -> bool {
        self.state == State::Stable && self.epoch == assignment_epoch
    }

    /// What nobody else may have yet: what it may read, and what it has to give up.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> {
        self.assigned.keys().chain(self.revoking.keys()).copied()
    }

    /// Goes on to an epoch.
    pub(super) fn go(&mut self, epoch: i32) {
        self.previous_epoch = self.epoch;
        self.epoch = epoch;
    }
}

//! What a consumer of the classic protocol knows of its membership (`AbstractCoordinator`'s fields).

use std::sync::Arc;

use super::super::consumer::Place;
use super::super::error_code::Code;
use super::script::Consumer;
use crate::interned::Name;

/// `AbstractCoordinator.MemberState`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MemberState {
    #[default]
    Unjoined,
    PreparingRebalance,
    CompletingRebalance,
    Stable,
}

/// What has become of a rebalance that was asked for (`joinFuture`).
#[derive(Clone, Debug, Default)]
pub(super) enum JoinFuture {
    #[default]
    None,
    Pending,
    Done(Arc<[Place]>),
    Failed(Code),
}

/// How far `onJoinPrepare` is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Prepare {
    #[default]
    Begins,
    /// The answer to its commit is awaited.
    Commits,
    /// The listener has been called back.
    CalledBack,
}

/// How far a client is with looking at the topics.
#[derive(Clone, Debug, Default)]
pub(super) enum Metadata {
    #[default]
    Rests,
    /// Its metadata has expired: whichever thread has the network next asks for it.
    Expired,
    /// What it is answered, and when the answer is there.
    Answered(Vec<Option<u32>>, i64),
}

/// What a consumer of the classic protocol is up to.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are the client's own, under its own names")]
pub(super) struct ClassicMember {
    pub state: MemberState,
    /// By which its generation and id are told apart from those that it had before.
    pub identity: u32,
    pub rejoin_needed: bool,
    /// What it tells the coordinator then of why.
    pub rejoin_reason: String,
    pub needs_join_prepare: bool,
    pub join: JoinFuture,
    pub prepare: Prepare,
    /// What its commit before a rebalance was answered.
    pub commit: Option<Code>,
    /// How many callbacks of `onJoinComplete` are through.
    pub called_back: u8,
    pub is_leader: bool,
    /// Whether the assignor is cooperative that the coordinator named last, in its answer to `JoinGroup`.
    pub is_told_cooperative: bool,
    /// Whether that one is eager and the one before was not, so that a client that goes by it has kept its partitions so far.
    pub is_downgraded: bool,
    /// What its group subscribes to, where it leads (`SubscriptionState.groupSubscription`).
    pub group_topics: Vec<u32>,
    /// Whether the topics have changed since it made the last assignment.
    pub has_seen_changes: bool,
    /// What it has of which it has no records yet, sorted: when the answer to `OffsetFetch` comes, and when records do.
    pub unpositioned: Vec<Place>,
    pub positions_at: Option<i64>,
    pub records_at: Option<i64>,
    /// How far it is with looking at the topics.
    pub metadata: Metadata,
    /// Whether it missed a topic when it last looked, and so asks over and over.
    pub misses_topics: bool,
    /// Whether it is connected to the brokers, besides the coordinator: it asks them for records and for the topics.
    pub is_connected: bool,
    /// Since when the application waits within `poll()`.
    pub waits_since: i64,
    /// When it sent the last `SyncGroup`.
    pub synced_at: i64,
    /// When the heartbeat thread looked, the last time that is known; none while it is switched off.
    pub looks_since: Option<i64>,
    /// When the next heartbeat is due.
    pub beat_due: i64,
}

impl Default for ClassicMember {
    fn default() -> Self {
        Self {
            state: MemberState::Unjoined,
            identity: 0,
            rejoin_needed: true,
            rejoin_reason: String::new(),
            needs_join_prepare: true,
            join: JoinFuture::None,
            prepare: Prepare::Begins,
            commit: None,
            called_back: 0,
            is_leader: false,
            is_told_cooperative: false,
            is_downgraded: false,
            group_topics: Vec::new(),
            unpositioned: Vec::new(),
            positions_at: None,
            records_at: None,
            metadata: Metadata::Rests,
            misses_topics: false,
            is_connected: false,
            waits_since: i64::MIN,
            synced_at: i64::MIN,
            has_seen_changes: false,
            looks_since: None,
            beat_due: 0,
        }
    }
}

impl ClassicMember {
    /// Whether it keeps its partitions while it joins. Java's consumer, and sarama's (`selectRebalanceProtocol`), know that when
    /// they start: where all of their assignors can. franz-go goes by the one that the coordinator named (`handleJoinResp`).
    pub(super) fn is_cooperative(&self, config: &Consumer) -> bool {
        if follows_coordinator(config) {
            return self.is_told_cooperative;
        }
        config.assignors.iter().all(|(_, assignor)| assignor.is_cooperative())
    }

    /// The coordinator names the assignor of a generation.
    pub(super) fn is_told(&mut self, config: &Consumer, protocol: Option<&Name>) {
        let before = self.is_told_cooperative;
        let named = config.assignors.iter().find(|(name, _)| Some(name) == protocol);
        self.is_told_cooperative = named.is_some_and(|(_, assignor)| assignor.is_cooperative());
        self.is_downgraded = follows_coordinator(config) && before && !self.is_told_cooperative;
    }

    /// `requestRejoin`.
    pub(super) fn request_rejoin(&mut self, reason: impl Into<String>) {
        self.rejoin_needed = true;
        self.rejoin_reason = reason.into();
    }
}

/// Whether a member's client is one that goes by the assignor that the coordinator named.
fn follows_coordinator(config: &Consumer) -> bool {
    config.client.split('@').next() == Some("franz-go")
}

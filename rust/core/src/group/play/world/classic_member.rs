//! A classic consumer's own view of its membership (the fields of `AbstractCoordinator`).

use std::sync::Arc;

use super::super::super::classic;
use super::super::super::consumer::Place;
use super::super::super::error_code::Code;
use super::script::Consumer;
use crate::interned::Name;

/// The data in a classic member's `JoinGroup` that an assignor reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub topics: Arc<[u32]>,
    /// The partitions that it owns.
    pub owned: Arc<[Place]>,
    /// The generation as of which it owns them.
    pub generation: i32,
    /// Its last assignment and that assignment's generation, if its assignor asks for them.
    pub remembers: Option<(Arc<[Place]>, i32)>,
    /// The generation of the last assignment by Java's `cooperative-sticky`, which sends it along but goes by
    /// `generation` (`CooperativeStickyAssignor.subscriptionUserData`). To the coordinator, another one is news.
    pub user_data: i32,
    /// Its client, as the script names it.
    pub client: Name,
}

/// A classic member's request to the coordinator.
pub(super) type ClassicRequest = classic::Request<Said, Arc<[Place]>>;

/// `AbstractCoordinator.MemberState`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MemberState {
    #[default]
    Unjoined,
    PreparingRebalance,
    CompletingRebalance,
    Stable,
}

/// The state of a rebalance that the member asked for (`joinFuture`).
#[derive(Clone, Debug, Default)]
pub(super) enum JoinFuture {
    #[default]
    None,
    Pending,
    Done(Arc<[Place]>),
    Failed(Code),
}

/// How far `onJoinPrepare` has got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Prepare {
    #[default]
    Begins,
    /// It awaits the answer to its commit.
    Commits,
    /// It has called the listener back.
    CalledBack,
}

/// How far a client has got with asking for the topics' metadata.
#[derive(Clone, Debug, Default)]
pub(super) enum Metadata {
    #[default]
    Rests,
    /// Its metadata has expired. Whichever thread has the network next asks for it again.
    Expired,
    /// It connects to a broker, which it can ask at this time.
    Connects(i64),
    /// The answer, and when it arrives.
    Answered(Vec<Option<u32>>, i64),
}

impl Metadata {
    /// Whether it is being asked for.
    pub(super) const fn is_under_way(&self) -> bool {
        !matches!(self, Self::Rests)
    }
}

/// The state of a classic consumer's membership.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are the client's own, under its own names")]
pub(super) struct ClassicMember {
    pub state: MemberState,
    /// Changes with its generation and its ID, so that answers to an earlier identity are recognized.
    pub identity: u32,
    pub rejoin_needed: bool,
    /// The reason that it gives the coordinator when it rejoins.
    pub rejoin_reason: String,
    pub needs_join_prepare: bool,
    pub join: JoinFuture,
    pub prepare: Prepare,
    /// The answer to its commit before a rebalance.
    pub commit: Option<Code>,
    /// How many callbacks of `onJoinComplete` are done.
    pub called_back: u8,
    pub is_leader: bool,
    /// Whether it watches the topics behind its last assignment: until it has joined again without leading
    /// (`ConsumerCoordinator.assignmentSnapshot`).
    pub watches_topics: bool,
    /// The generation of the last assignment by Java's `cooperative-sticky`.
    pub cooperative_generation: i32,
    /// Whether the coordinator's last answer to `JoinGroup` named a cooperative assignor.
    pub is_told_cooperative: bool,
    /// Whether that assignor is eager and the one before was cooperative. A client that follows the named assignor has
    /// then kept its partitions so far.
    pub is_downgraded: bool,
    /// If it leads, the topics that its group subscribes to and it does not (from
    /// `SubscriptionState.groupSubscription`).
    pub group_topics: Vec<u32>,
    /// Whether it has seen the topics change since it made the last assignment.
    pub has_seen_changes: bool,
    /// Its partitions of which it has no records yet, sorted.
    pub unpositioned: Vec<Place>,
    /// When the answer to `OffsetFetch` comes for them.
    pub positions_at: Option<i64>,
    /// The generation in which it asked for them.
    pub positions_of: i32,
    /// When it knows from where to read them, once that answer has come.
    pub knows_at: i64,
    /// When their first records come.
    pub records_at: Option<i64>,
    pub metadata: Metadata,
    /// When the next stage of that is due.
    pub looks_at: i64,
    /// Whether a topic was missing when it last looked, so that it asks again and again.
    pub misses_topics: bool,
    /// Whether it is connected to brokers other than the coordinator. It asks them for records and for the topics.
    pub is_connected: bool,
    /// When it last began a pass of `poll()` to do something (`Heartbeat.pollTimer`).
    pub polled: i64,
    /// When the application began to wait within `poll()`.
    pub waits_since: i64,
    /// The `SyncGroup` that it has not sent yet: its metadata goes first, and so does the callback of its `close()`.
    pub unsent: Option<ClassicRequest>,
    /// When it last closed the connection to a broker that no longer coordinates the group.
    pub disconnected: i64,
    /// Whether a busy application has an answer that it has yet to handle.
    pub has_received: bool,
    /// When its session began, with the answer to `JoinGroup`.
    pub heard: i64,
    /// When it last sent `SyncGroup`.
    pub synced_at: i64,
    /// The heartbeat thread's last known look at the network; `None` while the thread is off.
    pub looks_since: Option<i64>,
    /// Until when the application waits within `poll()` for its positions, in one go, and has the network.
    pub keeps_network_until: i64,
    /// Whether the thread goes by the calls of a busy application that has woken it.
    pub is_woken_by_app: bool,
    /// When the next heartbeat is due.
    pub beat_due: i64,
    /// How many heartbeats in a row a broker has refused that no longer coordinates the group.
    pub failed_beats: u32,
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
            watches_topics: false,
            cooperative_generation: -1,
            is_told_cooperative: false,
            is_downgraded: false,
            group_topics: Vec::new(),
            unpositioned: Vec::new(),
            positions_at: None,
            positions_of: -1,
            knows_at: i64::MIN,
            records_at: None,
            metadata: Metadata::Rests,
            looks_at: i64::MAX,
            misses_topics: false,
            is_connected: false,
            polled: i64::MIN,
            waits_since: i64::MIN,
            unsent: None,
            disconnected: i64::MIN / 2,
            has_received: false,
            heard: i64::MIN,
            synced_at: i64::MIN,
            has_seen_changes: false,
            looks_since: None,
            keeps_network_until: i64::MIN,
            is_woken_by_app: false,
            beat_due: 0,
            failed_beats: 0,
        }
    }
}

impl ClassicMember {
    /// Whether it keeps its partitions while it joins. Java's consumer and sarama's (`selectRebalanceProtocol`) decide
    /// that when they start: they do if all their assignors can. franz-go follows the assignor that the coordinator
    /// named (`handleJoinResp`).
    pub(super) fn is_cooperative(&self, config: &Consumer) -> bool {
        if follows_coordinator(config) {
            return self.is_told_cooperative;
        }
        config.assignors.iter().all(|(_, assignor)| assignor.is_cooperative())
    }

    /// Notes the assignor that the coordinator named for a generation.
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

/// Whether a member's client follows the assignor that the coordinator named.
fn follows_coordinator(config: &Consumer) -> bool {
    config.client.split('@').next() == Some("franz-go")
}

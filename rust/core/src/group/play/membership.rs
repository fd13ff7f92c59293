//! What a member of KIP-848's protocol knows of its membership (`AbstractMembershipManager`'s fields).

use super::super::consumer::Place;

/// `MemberState`. What a member passes through within one instant is left out: `PREPARE_LEAVING` and `LEAVING`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MemberState {
    #[default]
    Unsubscribed,
    Joining,
    Reconciling,
    Acknowledging,
    Stable,
    /// Its application has not polled for `max.poll.interval.ms`.
    Stale,
    Fenced,
    Fatal,
}

/// What it was told to read, numbered by itself (`LocalAssignment`): the same partitions under another number are another
/// assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocalAssignment {
    pub local_epoch: i64,
    pub places: Vec<Place>,
}

/// What the network thread has for the application, which takes it in a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BackgroundEvent {
    /// `onPartitionsRevoked` is to be called before this is taken up.
    Revoked(LocalAssignment),
    /// `onPartitionsLost` is to be called.
    Lost,
    /// This is what it reads from now on.
    Assigned(LocalAssignment),
}

/// What a consumer of KIP-848's protocol is up to.
#[derive(Clone, Debug, Default)]
pub(super) struct Membership {
    pub state: MemberState,
    /// `currentTargetAssignment`: what the coordinator says.
    pub target: Option<LocalAssignment>,
    /// `currentAssignment`: what it has taken up.
    pub current: Option<LocalAssignment>,
    /// What it is on its way to while its commit or the application is awaited (`reconciliationInProgress`).
    pub reconciling: Option<LocalAssignment>,
    pub rejoined_meanwhile: bool,
    /// Whether what it has lost waits for `onPartitionsLost`.
    pub awaits_lost: bool,
    pub events: Vec<BackgroundEvent>,
    /// What is to be taken up once the network thread hears that `onPartitionsRevoked` is through
    /// (`ConsumerRebalanceListenerCallbackCompletedEvent`).
    pub revoked: Option<LocalAssignment>,
    /// `heartbeatIntervalMs`, which it learns from the first answer.
    pub interval_ms: i64,
    /// When the call of `poll()` began in which the application had its last pass that had something to do.
    pub call: i64,
    /// When it goes round again within that call, if it does.
    pub next_pass: Option<i64>,
    /// When it last went round without a rest, and how often at that instant.
    pub rounds: (i64, u8),
    /// When the last turn of the network thread began.
    pub woke: i64,
    /// What the turn before said of how long the application may wait (`cachedMaximumTimeToWait`).
    pub maximum_time_to_wait: i64,
    /// When the network thread had its last event of a pass that had something to do.
    pub polled: i64,
    /// When a stall was last over: the poll of that instant commits what was read before.
    pub resumed: i64,
    /// Since when a heartbeat may have waited for the topics' metadata to be asked for: its interval counts from then.
    pub generated: Option<i64>,
    /// When the next heartbeat is due.
    pub due: i64,
    pub in_flight: bool,
    /// What it has told the coordinator that it has taken up.
    pub told: Option<LocalAssignment>,
}

impl Membership {
    pub(super) fn is_reconciled(&self) -> bool {
        self.current == self.target
    }

    /// `shouldSkipHeartbeat`.
    pub(super) fn skips_heartbeats(&self) -> bool {
        matches!(
            self.state,
            MemberState::Unsubscribed | MemberState::Fatal | MemberState::Stale | MemberState::Fenced
        )
    }

    /// Whether the commit of a reconciliation is under way, where there is anything to commit.
    pub(super) fn awaits_commit(&self, has_consumed: bool) -> bool {
        let is_committed = !self.events.is_empty() || self.revoked.is_some() || self.reconciling.is_none();
        has_consumed && !is_committed
    }

    /// `shouldHeartbeatNow`.
    pub(super) fn heartbeats_now(&self) -> bool {
        matches!(self.state, MemberState::Acknowledging | MemberState::Joining)
    }

    /// `maybeAbortReconciliation`.
    pub(super) fn aborts(&mut self) -> bool {
        let aborts = self.state != MemberState::Reconciling || self.rejoined_meanwhile;
        if aborts {
            self.reconciling = None;
            self.rejoined_meanwhile = false;
        }
        aborts
    }

    /// `onHeartbeatRequestGenerated`: an acknowledgement is sent.
    pub(super) fn acknowledged(&mut self) {
        if self.state == MemberState::Acknowledging {
            self.state = if self.is_reconciled() { MemberState::Stable } else { MemberState::Reconciling };
        }
    }

    /// `transitionToJoining`.
    pub(super) fn joins(&mut self) {
        self.rejoined_meanwhile = self.reconciling.is_some();
        (self.state, self.target) = (MemberState::Joining, None);
    }

    /// Whether a pass of the application has something to do.
    pub(super) fn has_work(&self) -> bool {
        !self.events.is_empty()
            || self.revoked.is_some()
            || matches!(
                self.state,
                MemberState::Unsubscribed | MemberState::Stale | MemberState::Acknowledging
            )
            || self.state == MemberState::Reconciling && self.reconciling.is_none()
    }
}

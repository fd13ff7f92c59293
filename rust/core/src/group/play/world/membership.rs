//! The state of a KIP-848 member: what it knows of its membership (`AbstractMembershipManager`'s fields).

use super::super::super::consumer::Place;

/// `MemberState`, without `PREPARE_LEAVING` and `LEAVING`: a member passes through both within one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MemberState {
    #[default]
    Unsubscribed,
    Joining,
    Reconciling,
    Acknowledging,
    Stable,
    /// The application has not polled for `max.poll.interval.ms`.
    Stale,
    Fenced,
    Fatal,
}

/// The partitions that a member was told to read, with a number that it gives itself (`LocalAssignment`). The
/// same partitions under another number are another assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocalAssignment {
    pub local_epoch: i64,
    pub places: Vec<Place>,
}

/// An event from the network thread to the application, which handles it in a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BackgroundEvent {
    /// The application must call `onPartitionsRevoked` before it takes up this assignment.
    Revoked(LocalAssignment),
    /// The application must call `onPartitionsLost`.
    Lost,
    /// The member reads these partitions from now on.
    Assigned(LocalAssignment),
}

/// The membership of a KIP-848 consumer.
#[derive(Clone, Debug, Default)]
pub(super) struct Membership {
    pub state: MemberState,
    /// `currentTargetAssignment`: the assignment that the coordinator last sent.
    pub target: Option<LocalAssignment>,
    /// `currentAssignment`: the assignment that the member has taken up.
    pub current: Option<LocalAssignment>,
    /// The assignment that is being taken up, while the member waits for its commit or for the application
    /// (`reconciliationInProgress`).
    pub reconciling: Option<LocalAssignment>,
    pub rejoined_meanwhile: bool,
    /// Whether lost partitions still wait for `onPartitionsLost`.
    pub awaits_lost: bool,
    pub events: Vec<BackgroundEvent>,
    /// The events that the application has taken, of which it has not handled all: a callback holds it up.
    pub taken: Vec<BackgroundEvent>,
    /// When a reconciliation's commit was sent, while its answer is under way (`hasInflightCommit`).
    pub committing_since: Option<i64>,
    /// The event whose callback is done, of which the network thread has yet to hear
    /// (`ConsumerRebalanceListenerCallbackCompletedEvent`).
    pub called_back: Option<BackgroundEvent>,
    /// `heartbeatIntervalMs`, which the member learns from the first answer.
    pub interval_ms: i64,
    /// The start of the `poll()` call with the application's last pass that had something to do.
    pub call: i64,
    /// When the application's next pass within that call comes, if there is one.
    pub next_pass: Option<i64>,
    /// When the application last went round without a pause, and how often at that instant.
    pub rounds: (i64, u8),
    /// When the event of an idle application's round is done, which the application still has in its next round, in
    /// versions in which it does (`inflightPoll`).
    pub has_event_of: Option<i64>,
    /// The start of the `poll()` call in which the application goes round without a rest, if it does.
    pub spins_in: Option<i64>,
    /// When the network thread's last turn began.
    pub woke: i64,
    /// When the network thread last looked at its commit timer: at an event, or at the end of a turn, as of its begin.
    pub looked: i64,
    /// How long the application may wait, as the previous turn said (`cachedMaximumTimeToWait`).
    pub maximum_time_to_wait: i64,
    /// When the network thread last got an event from a pass that had something to do.
    pub polled: i64,
    /// The time since which a heartbeat may have waited for the metadata request. Its interval counts from then.
    pub generated: Option<i64>,
    /// When the last heartbeat was sent.
    pub sent: i64,
    /// When the next heartbeat is due.
    pub due: i64,
    pub in_flight: bool,
    /// The assignment that the member has last told the coordinator it took up.
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

    /// `onHeartbeatRequestGenerated`: the member sends an acknowledgement.
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

    /// Whether the application's next pass has something to do.
    pub(super) fn has_work(&self) -> bool {
        !self.events.is_empty()
            || !self.taken.is_empty()
            || self.called_back.is_some()
            || matches!(
                self.state,
                MemberState::Unsubscribed | MemberState::Stale | MemberState::Acknowledging
            )
            || self.state == MemberState::Reconciling && self.reconciling.is_none()
    }
}

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

/// Partitions to read, with a number that the member gives them (`LocalAssignment`). The same partitions under another
/// number are another assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocalAssignment {
    pub local_epoch: i64,
    pub places: Vec<Place>,
}

/// `AbstractMembershipManager`'s own fields.
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
    rejoined_meanwhile: bool,
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

    /// `transitionToJoining`.
    pub(super) fn join(&mut self) {
        self.rejoined_meanwhile = self.reconciling.is_some();
        (self.state, self.target) = (MemberState::Joining, None);
    }

    /// `onHeartbeatSuccess`: the coordinator sends an assignment.
    pub(super) fn receive(&mut self, places: Vec<Place>) {
        if self.target.as_ref().is_none_or(|target| target.places != places) {
            let local_epoch = self.target.as_ref().map_or(0, |target| target.local_epoch + 1);
            self.target = Some(LocalAssignment { local_epoch, places });
        }
        if !self.is_reconciled() {
            self.state = MemberState::Reconciling;
        } else if matches!(self.state, MemberState::Reconciling | MemberState::Joining) {
            self.state = MemberState::Stable;
        }
    }

    /// The assignment to take up next, if one waits and no other is being taken up (`maybeReconcile`). The same partitions
    /// under another number are taken up at once.
    pub(super) fn next_assignment(&mut self) -> Option<LocalAssignment> {
        if self.state != MemberState::Reconciling || self.is_reconciled() || self.reconciling.is_some() {
            return None;
        }
        let target = self.target.clone()?;
        if self.current.as_ref().is_some_and(|current| current.places == target.places) {
            (self.current, self.state) = (Some(target), MemberState::Acknowledging);
            return None;
        }
        Some(target)
    }

    /// `markReconciliationInProgress`.
    pub(super) fn begin(&mut self, target: LocalAssignment) {
        (self.reconciling, self.rejoined_meanwhile) = (Some(target), false);
    }

    /// Whether a reconciliation is of no use any more (`maybeAbortReconciliation`).
    pub(super) fn aborts(&mut self) -> bool {
        let aborts = self.state != MemberState::Reconciling || self.rejoined_meanwhile;
        if aborts {
            (self.reconciling, self.rejoined_meanwhile) = (None, false);
        }
        aborts
    }

    /// The member has taken up an assignment, and must acknowledge it. Returns whether it has.
    pub(super) fn finish(&mut self, resolved: LocalAssignment) -> bool {
        let finishes = self.reconciling.is_some() && !self.aborts();
        if finishes {
            (self.current, self.state) = (Some(resolved), MemberState::Acknowledging);
            (self.reconciling, self.rejoined_meanwhile) = (None, false);
        }
        finishes
    }

    /// `onHeartbeatRequestGenerated`: a heartbeat sends the acknowledgement.
    pub(super) fn acknowledge(&mut self) {
        if self.state == MemberState::Acknowledging {
            self.state = if self.is_reconciled() { MemberState::Stable } else { MemberState::Reconciling };
        }
    }

    /// It has lost all partitions (`clearAssignment`). A fenced member joins again at once, without a poll.
    pub(super) fn clear(&mut self) {
        (self.target, self.current) = (None, None);
        if self.state == MemberState::Fenced {
            self.join();
        }
    }
}

//! How a KIP-848 member takes up its assignment (`AbstractMembershipManager`, `ConsumerMembershipManager`).
//!
//! The network thread begins it ([`ConsumerMember::maybe_reconcile`]) and commits; the application calls its listener
//! and takes up the assignment; the next heartbeat acknowledges it.

use std::sync::Arc;

use super::super::super::consumer::ConsumerGroupRequest as Request;
use super::super::member::Api;
use super::super::subscription_state::beyond;
use super::membership::LocalAssignment;
use super::{ConsumerMember, ConsumerStep, Fact, MemberState};

/// An event from the network thread to the application, which handles it in a pass (`BackgroundEvent`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BackgroundEvent {
    /// The application must call `onPartitionsRevoked` before it takes up this assignment.
    Revoked(LocalAssignment),
    /// The application must call `onPartitionsLost`.
    Lost,
    /// The member reads these partitions from now on.
    Assigned(LocalAssignment),
}

impl ConsumerMember {
    /// `maybeReconcile`. It may commit only while the application polls (`can_commit`).
    pub(super) fn maybe_reconcile(&mut self, can_commit: bool, step: &mut ConsumerStep<'_>) {
        let Some(target) = self.membership.next_assignment() else { return };
        let revoked = beyond(&self.subscriptions.assigned, &target.places);
        let commits = self.config.auto_commits();
        let waits_for_poll = commits || !revoked.is_empty() && !self.is_so(Fact::REVOKES_AT_ANY_TIME);
        if !can_commit && waits_for_poll {
            return;
        }
        self.membership.begin(target);
        let commits = commits && self.subscriptions.has_positions();
        if commits {
            self.commit_sent_at = Some(step.now);
            let owned = self.subscriptions.assigned.clone();
            let commit = Request::Commit(Arc::clone(&self.id), self.epoch, owned);
            step.send(self.sent(Api::OffsetCommit, step.now), commit);
        }
        self.hold_back(&revoked, step);
        if !commits {
            self.revoke_and_assign(step);
        }
    }

    /// `revokeAndAssign`, once everything is committed. The application then calls its listener, or takes up its new
    /// assignment.
    pub(super) fn revoke_and_assign(&mut self, step: &mut ConsumerStep<'_>) {
        let Some(resolved) = self.membership.reconciling.clone() else { return };
        if self.membership.aborts() {
            return;
        }
        let revokes = !beyond(&self.subscriptions.assigned, &resolved.places).is_empty();
        if revokes && self.config.listener_ms.is_some() {
            self.background_events.push(BackgroundEvent::Revoked(resolved));
        } else {
            self.assign_partitions(resolved, step);
        }
    }

    /// `assignPartitions`: the application takes up the assignment.
    fn assign_partitions(&mut self, resolved: LocalAssignment, step: &mut ConsumerStep<'_>) {
        if self.is_so(Fact::ASSIGNS_IN_THREAD) && self.config.listener_ms.is_none() {
            self.assign(resolved.places.clone(), step);
            self.finish_reconciliation(resolved);
        } else {
            if self.is_so(Fact::LOCATES_BEFORE_CALLBACK) {
                self.locate_early(&resolved.places);
            }
            self.background_events.push(BackgroundEvent::Assigned(resolved));
        }
    }

    /// The application handles the network thread's events (`processBackgroundEvents`). Returns whether a callback keeps
    /// it from the rest.
    pub(super) fn process_background_events(
        &mut self,
        events: Vec<BackgroundEvent>,
        has_polled: bool,
        step: &mut ConsumerStep<'_>,
    ) -> bool {
        let mut left = events.into_iter();
        while let Some(event) = left.next() {
            if !has_polled && !self.calls_back && matches!(event, BackgroundEvent::Assigned(_)) {
                // `ApplyAssignmentEvent` wakes the thread.
                self.run_once(step);
            }
            if !std::mem::take(&mut self.calls_back)
                && let Some(until) = self.call_back(step.now)
            {
                self.calls_back = true;
                self.taken_events = std::iter::once(event).chain(left).collect();
                self.poll_at(until, step);
                return true;
            }
            self.process(event, step);
        }
        false
    }

    /// Calls the listener, if there is one. Returns until when the callback keeps the application.
    fn call_back(&mut self, now: i64) -> Option<i64> {
        let until = now + self.config.listener_ms.filter(|ms| *ms > 0)?;
        self.app.calls_back(now, until);
        Some(until)
    }

    /// The application has called its listener about an event, and does what follows from it.
    fn process(&mut self, event: BackgroundEvent, step: &mut ConsumerStep<'_>) {
        match event {
            BackgroundEvent::Revoked(_) => self.called_back = Some(event),
            BackgroundEvent::Assigned(resolved) => {
                // New partitions return no records before `onPartitionsAssigned` has finished.
                self.assign(resolved.places.clone(), step);
                if self.config.listener_ms.is_some() {
                    self.called_back = Some(BackgroundEvent::Assigned(resolved));
                } else {
                    self.finish_reconciliation(resolved);
                }
            }
            BackgroundEvent::Lost => {
                self.clear_assignment(step);
                if self.membership.state == MemberState::Stale {
                    self.join(step);
                }
                self.run_once(step);
            }
        }
    }

    /// The network thread hears that a callback is done (`ConsumerRebalanceListenerCallbackCompletedEvent`).
    pub(super) fn hear_of_callback(&mut self, step: &mut ConsumerStep<'_>) {
        match self.called_back.take() {
            Some(BackgroundEvent::Revoked(resolved)) if !self.membership.aborts() => {
                self.assign_partitions(resolved, step);
            }
            Some(BackgroundEvent::Assigned(resolved)) => self.finish_reconciliation(resolved),
            _ => {}
        }
    }

    /// The member has taken up an assignment. The commit timer counts from the thread's last look at it.
    fn finish_reconciliation(&mut self, resolved: LocalAssignment) {
        if self.membership.finish(resolved) {
            self.commits_since = self.turns.saw_commit_timer;
        }
    }

    /// `transitionToFenced` and `transitionToStale`: the member loses all its partitions, once its listener has been
    /// called.
    pub(super) fn lose_all(&mut self, state: MemberState, step: &mut ConsumerStep<'_>) {
        let calls = self.config.listener_ms.is_some() && !self.subscriptions.assigned.is_empty();
        if !calls || !self.is_so(Fact::READS_WHAT_IT_LOSES) {
            self.subscriptions.hold_back_all(self.progress(step.now), step);
            self.see_records(step);
        }
        self.membership.state = state;
        self.awaits_lost = calls;
        if calls {
            self.background_events.push(BackgroundEvent::Lost);
        } else {
            self.clear_assignment(step);
        }
    }

    /// Drops all partitions (`clearAssignment`).
    fn clear_assignment(&mut self, step: &mut ConsumerStep<'_>) {
        self.assign(Vec::new(), step);
        self.awaits_lost = false;
        self.membership.clear();
    }

    /// It joins the group (`transitionToJoining`). A consumer keeps one ID for as long as it lives, however often it
    /// joins.
    pub(super) fn join(&mut self, step: &mut ConsumerStep<'_>) {
        if self.id.is_empty() {
            self.id = step.ids.draw(self.reader, self.start, &self.config);
        }
        self.epoch = 0;
        self.identity += 1;
        self.membership.join();
    }
}

//! How a KIP-848 member takes up its assignment (`AbstractMembershipManager`, `ConsumerMembershipManager`).

use std::sync::Arc;

use super::super::super::consumer::{Effect, Request};
use super::super::super::error_code::Code;
use super::World;
use super::client::{Asked, beyond};
use super::ledger::Reader;
use super::membership::{BackgroundEvent, LocalAssignment, MemberState};
use crate::Result;

impl World {
    /// `onHeartbeatSuccess`.
    pub(super) fn take_assignment(&mut self, reader: Reader, effect: Effect) {
        let client = &mut self.clients[reader as usize];
        let member = &mut client.membership;
        if member.skips_heartbeats() {
            // The client is no longer a member: the answer belongs to its former membership.
            return;
        }
        client.generation = effect.epoch;
        let Some(mut places) = effect.assignment else { return };
        places.sort_unstable();
        if member.target.as_ref().is_none_or(|target| target.places != places) {
            let local_epoch = member.target.as_ref().map_or(0, |target| target.local_epoch + 1);
            member.target = Some(LocalAssignment { local_epoch, places });
        }
        if !member.is_reconciled() {
            member.state = MemberState::Reconciling;
        } else if matches!(member.state, MemberState::Reconciling | MemberState::Joining) {
            member.state = MemberState::Stable;
        }
    }

    /// `maybeReconcile`. It may commit only while the application polls (`can_commit`).
    pub(super) fn maybe_reconcile(&mut self, reader: Reader, can_commit: bool) -> Result<()> {
        let client = &mut self.clients[reader as usize];
        let auto_commits = client.auto_commits();
        let member = &mut client.membership;
        if member.state != MemberState::Reconciling || member.is_reconciled() || member.reconciling.is_some()
        {
            return Ok(());
        }
        let Some(target) = member.target.clone() else { return Ok(()) };
        if member.current.as_ref().is_some_and(|current| current.places == target.places) {
            // The same partitions under another number are acknowledged without waiting for a poll.
            member.current = Some(target);
            member.state = MemberState::Acknowledging;
            return Ok(());
        }
        let revoked = beyond(&client.owned, &target.places);
        let waits_for_poll = auto_commits || !revoked.is_empty() && !client.version.revokes_at_any_time();
        if !can_commit && waits_for_poll {
            return Ok(());
        }
        member.reconciling = Some(target);
        member.rejoined_meanwhile = false;
        if auto_commits && client.has_consumed() {
            let (id, epoch) = (Arc::clone(&client.id), client.generation);
            client.membership.committing_since = Some(self.now);
            let commit = Request::Commit(id, epoch, client.owned.clone());
            self.step_consumer(commit, Some((reader, Asked::AutoCommit)))?;
            self.hold_back(reader, &revoked);
            return Ok(());
        }
        self.hold_back(reader, &revoked);
        self.revoke_and_assign(reader);
        Ok(())
    }

    /// `revokeAndAssign`, once everything is committed. The application then calls its listener, or takes up
    /// its new assignment.
    pub(super) fn revoke_and_assign(&mut self, reader: Reader) {
        let client = &mut self.clients[reader as usize];
        let has_listener = client.listener_ms().is_some();
        let member = &mut client.membership;
        let Some(resolved) = member.reconciling.clone() else { return };
        if member.aborts() {
            return;
        }
        let revokes = !beyond(&client.owned, &resolved.places).is_empty();
        if revokes && has_listener {
            member.events.push(BackgroundEvent::Revoked(resolved));
        } else {
            self.assign_partitions(reader, resolved);
        }
    }

    /// `assignPartitions`: the application takes up the assignment; in older versions the network thread does that, and
    /// the application only calls its listener.
    fn assign_partitions(&mut self, reader: Reader, resolved: LocalAssignment) {
        let client = &mut self.clients[reader as usize];
        if client.version.assigns_in_thread() && client.listener_ms().is_none() {
            self.own(reader, resolved.places.clone());
            self.assigned(reader, resolved);
        } else {
            if client.version.asks_before_callback() {
                client.initializes_early(&resolved.places);
            }
            client.membership.events.push(BackgroundEvent::Assigned(resolved));
        }
    }

    /// The network thread hears that `onPartitionsRevoked` is done, if that is the callback that is done.
    pub(super) fn hear_of_revoked(&mut self, reader: Reader) {
        let member = &self.clients[reader as usize].membership;
        if matches!(member.called_back, Some(BackgroundEvent::Revoked(_))) {
            self.hear_of_callback(reader);
        }
    }

    /// The network thread hears that a callback is done.
    pub(super) fn hear_of_callback(&mut self, reader: Reader) {
        let member = &mut self.clients[reader as usize].membership;
        match member.called_back.take() {
            Some(BackgroundEvent::Revoked(resolved)) if !member.aborts() => {
                self.assign_partitions(reader, resolved);
            }
            Some(BackgroundEvent::Assigned(resolved)) => self.assigned(reader, resolved),
            _ => {}
        }
    }

    /// The member has taken up an assignment, and must acknowledge it. The commit timer counts from the thread's last
    /// look at it.
    pub(super) fn assigned(&mut self, reader: Reader, resolved: LocalAssignment) {
        let client = &mut self.clients[reader as usize];
        let member = &mut client.membership;
        if member.reconciling.is_some() && !member.aborts() {
            member.current = Some(resolved);
            member.state = MemberState::Acknowledging;
            (member.reconciling, member.rejoined_meanwhile) = (None, false);
            client.commits_since = Some(member.looked);
        }
    }

    /// `transitionToFenced` and `transitionToStale`: the member loses all its partitions, once its listener
    /// has been told of that.
    pub(super) fn loses_all(&mut self, reader: Reader, state: MemberState) {
        let client = &self.clients[reader as usize];
        if client.classic.called_back > 0
            && let Some(BackgroundEvent::Assigned(new)) = client.membership.taken.first()
        {
            // During `onPartitionsAssigned`, it already has the new partitions.
            self.own(reader, new.places.clone());
        }
        let client = &self.clients[reader as usize];
        let calls = client.listener_ms().is_some() && !client.owned.is_empty();
        if !calls || !client.version.reads_what_it_loses() {
            self.hold_back_all(reader);
        }
        let client = &mut self.clients[reader as usize];
        client.membership.state = state;
        if calls {
            client.membership.awaits_lost = true;
            client.membership.events.push(BackgroundEvent::Lost);
        } else {
            self.lost(reader);
        }
    }

    /// Drops all partitions (`clearAssignment`). A fenced member joins again at once, without a poll.
    pub(super) fn lost(&mut self, reader: Reader) {
        self.own(reader, Vec::new());
        let member = &mut self.clients[reader as usize].membership;
        (member.target, member.current, member.awaits_lost) = (None, None, false);
        if member.state == MemberState::Fenced {
            member.joins();
        }
    }

    /// Handles a fatal error. The application sees it at its next pass.
    pub(super) fn dies(&mut self, reader: Reader, code: Code) {
        self.clients[reader as usize].error = Some(code);
        self.loses_all(reader, MemberState::Fatal);
    }
}

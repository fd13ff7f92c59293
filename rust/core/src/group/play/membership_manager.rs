//! How a member of KIP-848's protocol takes up what it is assigned (`AbstractMembershipManager`, `ConsumerMembershipManager`).

use std::sync::Arc;

use super::super::consumer::{Effect, Request};
use super::super::error_code::Code;
use super::client::{Asked, beyond};
use super::ledger::Reader;
use super::membership::{BackgroundEvent, LocalAssignment, MemberState};
use super::world::World;
use crate::Result;

impl World {
    /// `onHeartbeatSuccess`.
    pub(super) fn take_assignment(&mut self, reader: Reader, effect: Effect) {
        let client = &mut self.clients[reader as usize];
        let member = &mut client.membership;
        if member.skips_heartbeats() {
            // It is no member any more: the answer is to who it was.
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

    /// `maybeReconcile`, which may commit only where the application polls.
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
            // The same partitions under another number: they are acknowledged, and nobody has to poll for that.
            member.current = Some(target);
            member.state = MemberState::Acknowledging;
            return Ok(());
        }
        let revoked = beyond(&client.owned, &target.places);
        if !can_commit && (auto_commits || !revoked.is_empty()) {
            return Ok(());
        }
        member.reconciling = Some(target);
        member.rejoined_meanwhile = false;
        if auto_commits && client.has_consumed() {
            let (id, epoch) = (Arc::clone(&client.id), client.generation);
            let commit = Request::Commit(id, epoch, client.owned.clone());
            self.step_consumer(commit, Some((reader, Asked::AutoCommit)))?;
            self.hold_back(reader, &revoked);
            return Ok(());
        }
        self.hold_back(reader, &revoked);
        self.revoke_and_assign(reader);
        Ok(())
    }

    /// `revokeAndAssign`, once all is committed: the application is to call its listener back, or to take it up.
    pub(super) fn revoke_and_assign(&mut self, reader: Reader) {
        let client = &mut self.clients[reader as usize];
        let has_listener = client.listener_ms().is_some();
        let member = &mut client.membership;
        let Some(resolved) = member.reconciling.clone() else { return };
        if member.aborts() {
            return;
        }
        let revokes = !beyond(&client.owned, &resolved.places).is_empty();
        member.events.push(if revokes && has_listener {
            BackgroundEvent::Revoked(resolved)
        } else {
            BackgroundEvent::Assigned(resolved)
        });
    }

    /// The network thread hears that `onPartitionsRevoked` is through.
    pub(super) fn hear_of_callback(&mut self, reader: Reader) {
        let member = &mut self.clients[reader as usize].membership;
        if let Some(resolved) = member.revoked.take()
            && !member.aborts()
        {
            member.events.push(BackgroundEvent::Assigned(resolved));
        }
    }

    /// What was assigned is taken up, and is to be acknowledged.
    pub(super) fn assigned(&mut self, reader: Reader, resolved: LocalAssignment) {
        let client = &mut self.clients[reader as usize];
        let member = &mut client.membership;
        if member.reconciling.is_some() && !member.aborts() {
            member.current = Some(resolved);
            member.state = MemberState::Acknowledging;
            (member.reconciling, member.rejoined_meanwhile) = (None, false);
            // The timer counts from when the thread last looked at it.
            client.commits_since = Some(member.woke);
        }
    }

    /// `transitionToFenced` and `transitionToStale`: what it had is lost, once its listener has heard of it.
    pub(super) fn loses_all(&mut self, reader: Reader, state: MemberState) {
        self.hold_back_all(reader);
        let client = &mut self.clients[reader as usize];
        let calls = client.listener_ms().is_some() && !client.owned.is_empty();
        client.membership.state = state;
        if calls {
            client.membership.awaits_lost = true;
            client.membership.events.push(BackgroundEvent::Lost);
        } else {
            self.lost(reader);
        }
    }

    /// All is lost (`clearAssignment`); who was fenced joins again at once, and no poll is waited for.
    pub(super) fn lost(&mut self, reader: Reader) {
        self.own(reader, Vec::new());
        let member = &mut self.clients[reader as usize].membership;
        (member.target, member.current, member.awaits_lost) = (None, None, false);
        if member.state == MemberState::Fenced {
            member.joins();
        }
    }

    /// A fatal error: the application sees it at its next pass.
    pub(super) fn dies(&mut self, reader: Reader, code: Code) {
        self.clients[reader as usize].error = Some(code);
        self.loses_all(reader, MemberState::Fatal);
    }
}

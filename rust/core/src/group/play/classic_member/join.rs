//! How a classic member joins its group: `JoinGroup`, `SyncGroup`, and how it handles their answers
//! (`AbstractCoordinator`).

use std::sync::Arc;

use super::super::super::classic::{ClassicGroupRequest as Request, Join, Joined, Sender};
use super::super::super::consumer::Place;
use super::super::super::error_code::Code;
use super::super::application::RETRY_BACKOFF_MS;
use super::super::member::{Api, Effect, Sent};
use super::{ClassicMember, ClassicStep, JoinFuture, MemberState, Subscription, Timer};
use crate::Result;
use crate::assignors::Assignor;
use crate::interned::Name;

/// `request.timeout.ms`.
const REQUEST_TIMEOUT_MS: i64 = 30_000;
/// How long an application takes to find the coordinator again. It sends `FindCoordinator` twice, because it may not
/// reopen the connection before `reconnect.backoff.ms` is over.
const FINDS_AGAIN_MS: i64 = RETRY_BACKOFF_MS + 3;

impl ClassicMember {
    pub(super) fn sender(&self) -> Sender {
        let instance = self.config.instance.clone();
        Sender { member: Arc::clone(&self.id), generation: self.generation, instance }
    }

    /// `requestRejoin`.
    pub(super) fn request_rejoin(&mut self, reason: impl Into<String>) {
        self.rejoin_needed = true;
        self.rejoin_reason = reason.into();
    }

    /// `rejoinNeededOrPending`.
    fn rejoin_needed_or_pending(&mut self) -> bool {
        if !self.rejoin_needed {
            if self.has_seen_changes {
                self.request_rejoin("saw that the topics changed");
            } else if self.subscriptions.sent.is_some() && !self.subscriptions.is_sent() {
                self.request_rejoin("changed its subscription");
            }
        }
        self.rejoin_needed || !matches!(self.join_future, JoinFuture::None)
    }

    /// `joinGroupIfNeeded` with a timer of 0 ms, since no `poll()` waits for it. Returns whether it has finished.
    pub(super) fn join_group_if_needed(&mut self, step: &mut ClassicStep<'_>) -> Result<bool> {
        while self.rejoin_needed_or_pending() {
            if self.needs_join_prepare {
                self.needs_join_prepare = !self.on_join_prepare(step)?;
                if self.needs_join_prepare {
                    return Ok(false);
                }
            }
            if matches!(self.join_future, JoinFuture::None) {
                self.send_join(step);
            }
            self.handle_answers(step)?;
            match std::mem::take(&mut self.join_future) {
                JoinFuture::None => return Ok(false),
                JoinFuture::Pending => {
                    self.join_future = JoinFuture::Pending;
                    return Ok(false);
                }
                JoinFuture::Done(assignment) => {
                    let is_member = self.generation >= 0 && self.state == MemberState::Stable;
                    if !is_member && self.callbacks_done == 0 {
                        self.reset_state(true, step);
                    } else if self.on_join_complete(&assignment, step) {
                        self.needs_join_prepare = true;
                    } else {
                        self.join_future = JoinFuture::Done(assignment);
                        return Ok(false);
                    }
                }
                JoinFuture::Failed(code) => {
                    self.rejoin_needed |= code != Code::MemberIdRequired;
                    match code {
                        Code::MemberIdRequired
                        | Code::UnknownMemberId
                        | Code::IllegalGeneration
                        | Code::RebalanceInProgress => {}
                        Code::NotCoordinator => {
                            self.finds_coordinator_at = step.now + FINDS_AGAIN_MS;
                            return Ok(false);
                        }
                        code => {
                            self.end(Some(code), step);
                            return Ok(false);
                        }
                    }
                }
            }
        }
        Ok(true)
    }

    /// `sendJoinGroupRequest`.
    fn send_join(&mut self, step: &mut ClassicStep<'_>) {
        self.state = MemberState::PreparingRebalance;
        self.join_future = JoinFuture::Pending;
        // The heartbeat thread stays off until the answer comes.
        self.disable_heartbeats(step);
        let topics = self.subscriptions.send();
        let owned: Arc<[Place]> = self.subscriptions.assigned[..].into();
        let last = &self.last_assignment;
        let subscription = |(name, assignor): &(Name, Assignor)| {
            let subscription = Subscription {
                topics: Arc::clone(&topics),
                owned: Arc::clone(&owned),
                generation: self.generation,
                remembers: assignor.remembers().then(|| (Arc::clone(&last.places), last.generation)),
                client: Arc::clone(&self.config.client),
            };
            (Arc::clone(name), subscription)
        };
        let new_id = if self.id.is_empty() {
            step.ids.draw(self.reader, self.start, &self.config)
        } else {
            Arc::clone(&self.id)
        };
        let join = Join {
            member: Arc::clone(&self.id),
            new_id,
            instance: self.config.instance.clone(),
            session_timeout_ms: self.config.session_timeout_ms,
            rebalance_timeout_ms: self.config.max_poll_interval_ms,
            protocols: self.config.assignors.iter().map(subscription).collect(),
            requires_id: true,
            skips_assignment: true,
            reason: self.rejoin_reason.clone(),
        };
        step.send(self.sent(Api::JoinGroup, step.now), Request::Join(join));
    }

    /// `JoinGroupResponseHandler`.
    pub(super) fn take_joined(
        &mut self,
        sent: Sent,
        joined: Joined<Subscription>,
        step: &mut ClassicStep<'_>,
    ) -> Result<()> {
        match joined.code {
            Code::None => {}
            Code::MemberIdRequired => {
                self.becomes(joined.member, -1);
                self.join_future = JoinFuture::Failed(Code::MemberIdRequired);
                self.request_rejoin("");
                return Ok(());
            }
            code => {
                self.fail_join(sent, code, step);
                return Ok(());
            }
        }
        self.state = MemberState::CompletingRebalance;
        self.note_named_assignor(joined.protocol.as_ref());
        self.becomes(Arc::clone(&joined.member), joined.generation);
        self.enable_heartbeats(step);
        if joined.leader.as_ref() == Some(&joined.member) {
            return self.on_leader_elected(joined, step);
        }
        self.send_sync(joined.protocol, Vec::new(), step);
        Ok(())
    }

    /// Another identity: an ID, and a generation.
    fn becomes(&mut self, id: Name, generation: i32) {
        (self.id, self.generation) = (id, generation);
        self.identity += 1;
    }

    /// `sendSyncGroupRequest`. If the member leads, it sends each member's partitions along.
    pub(super) fn send_sync(
        &mut self,
        protocol: Option<Name>,
        assignments: Vec<(Name, Arc<[Place]>)>,
        step: &mut ClassicStep<'_>,
    ) {
        let request = Request::Sync { sender: self.sender(), protocol, assignments };
        step.send(self.sent(Api::SyncGroup, step.now), request);
        self.sync_due_at = step.now + REQUEST_TIMEOUT_MS + 1;
        self.await_sync(self.sync_due_at, step);
    }

    /// One timer is enough, as only the last `SyncGroup` counts.
    fn await_sync(&mut self, at: i64, step: &mut ClassicStep<'_>) {
        if !self.awaits_sync {
            self.awaits_sync = true;
            step.wake(Timer::SyncTimeout, at);
        }
    }

    /// A `SyncGroup` that has waited for `request.timeout.ms` is given up by whichever thread has the network next: it
    /// closes the connection, which is a reason to ask for the topics, too (`handleServerDisconnect`). The member then
    /// finds the coordinator again and rejoins.
    pub(super) fn give_up_sync(&mut self, step: &mut ClassicStep<'_>) {
        self.awaits_sync = false;
        let waits = self.state == MemberState::CompletingRebalance
            && matches!(self.join_future, JoinFuture::Pending)
            && self.elected.is_none();
        if !waits || self.inbox.iter().any(|(sent, _)| sent.api == Api::SyncGroup) {
            return;
        }
        let at = if step.now < self.sync_due_at { self.sync_due_at } else { self.has_network_at(step.now) };
        if at > step.now {
            self.await_sync(at, step);
            return;
        }
        step.effects.push(Effect::Disconnect);
        self.request_update(step);
        self.join_future = JoinFuture::Failed(Code::NotCoordinator);
        self.heartbeat_after(2 * RETRY_BACKOFF_MS, step);
        self.poll_next(step.now + 1, step);
    }

    /// `SyncGroupResponseHandler`.
    pub(super) fn take_synced(
        &mut self,
        sent: Sent,
        code: Code,
        assignment: Option<Arc<[Place]>>,
        step: &mut ClassicStep<'_>,
    ) {
        if code != Code::None {
            self.fail_join(sent, code, step);
        } else if self.generation < 0 || self.state != MemberState::CompletingRebalance {
            self.join_future = JoinFuture::Failed(Code::IllegalGeneration);
        } else {
            self.state = MemberState::Stable;
            (self.rejoin_needed, self.rejoin_reason) = (false, String::new());
            self.join_future = JoinFuture::Done(assignment.unwrap_or_else(|| Arc::new([])));
        }
    }

    /// Handles a refused `JoinGroup` or `SyncGroup`. A member that the coordinator no longer knows forgets its ID.
    fn fail_join(&mut self, sent: Sent, code: Code, step: &mut ClassicStep<'_>) {
        self.join_future = JoinFuture::Failed(code);
        self.reset_state_on_error(sent, code, step);
    }

    /// `resetStateOnResponseError`, if the member still has the identity with which it sent the request.
    pub(super) fn reset_state_on_error(&mut self, sent: Sent, code: Code, step: &mut ClassicStep<'_>) {
        let is_reset = matches!(code, Code::UnknownMemberId | Code::IllegalGeneration);
        if is_reset && self.identity == sent.identity {
            self.reset_state(code == Code::UnknownMemberId, step);
        }
    }

    /// `resetStateAndRejoin`. A consumer that is no longer a member returns no more records; its next `poll()` begins
    /// with `onPartitionsLost`, which stops them a second time, without effect.
    pub(super) fn reset_state(&mut self, forgets_id: bool, step: &mut ClassicStep<'_>) {
        step.stop(self.subscriptions.assigned.clone(), self.progress(step.now));
        let id = if forgets_id { "".into() } else { Arc::clone(&self.id) };
        self.becomes(id, -1);
        self.state = MemberState::Unjoined;
        self.disable_heartbeats(step);
        self.needs_join_prepare = true;
        self.request_rejoin("");
    }
}

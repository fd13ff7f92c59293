//! How a classic member joins its group: `JoinGroup`, `SyncGroup`, and how it handles their answers
//! (`AbstractCoordinator`).

use std::sync::Arc;

use super::super::super::classic::{self, Join, Request, Sender};
use super::super::super::consumer::Place;
use super::super::super::error_code::Code;
use super::application::RETRY_BACKOFF_MS;
use super::classic_member::{ClassicRequest, JoinFuture, MemberState, Said};
use super::client::{Answer, Asked, Client};
use super::leaders_client::Assigned;
use super::ledger::Reader;
use super::metadata::NEAR_MS;
use super::script::{Consumer, Generation};
use super::{Coordinator, Question, Todo, World};
use crate::Result;
use crate::assignors::Assignor;
use crate::interned::Name;

/// `request.timeout.ms`.
const REQUEST_TIMEOUT_MS: i64 = 30_000;
/// How long an application takes to find the coordinator again right after losing it. It sends `FindCoordinator` twice,
/// because it may not reopen the connection before `reconnect.backoff.ms` is over. The two are `retry.backoff.ms` apart,
/// give or take a fifth that the client draws: this is the middle.
const FINDS_AGAIN_MS: i64 = RETRY_BACKOFF_MS + 3 * NEAR_MS;

/// How long the heartbeat thread takes for the same: it goes one step further with each look.
const THREAD_FINDS_AGAIN_MS: i64 = 4 * RETRY_BACKOFF_MS;

impl Client {
    /// When a client with a `SyncGroup` under way gives the coordinator up, at or after `from`, if nothing comes: whichever
    /// thread has the network after `request.timeout.ms`, or the heartbeat thread after `session.timeout.ms` without an
    /// answer to a heartbeat (`Heartbeat.sessionTimeoutExpired`): the broker reads none before it has answered.
    fn loses_coordinator_at(&self, from: i64) -> i64 {
        let late = self.has_network(from.max(self.classic.synced_at + REQUEST_TIMEOUT_MS + 1));
        let session_ms = self.config.as_ref().map_or(i64::MAX, |config| config.session_timeout_ms);
        let over = from.max(self.classic.heard.saturating_add(session_ms));
        let looks = self.classic.looks_since.map(|since| self.app.next_look(since, over, self.is_busy));
        looks.map_or(late, |look| look.min(late))
    }

    /// An application learns in a `poll()` that a broker no longer coordinates the group.
    fn finds_coordinator_again(&mut self, now: i64) {
        let connects_ms = self.asks_near_ms() - NEAR_MS;
        self.classic.is_connected = true;
        // The heartbeat thread may have closed the connection a while ago, and may have found the coordinator since.
        let for_ms = now - self.classic.disconnected;
        if for_ms >= THREAD_FINDS_AGAIN_MS {
            return;
        }
        let finds_ms = connects_ms + (FINDS_AGAIN_MS - for_ms).max(2 * NEAR_MS);
        let finds_at = self.finds_at.max(now + finds_ms);
        // If this `poll()` ends first, the next one asks anew, and finds the connection closed.
        self.finds_at = if self.app.is_inside(finds_at) {
            finds_at
        } else {
            self.app.next_pass(finds_at, false) + 2 * NEAR_MS
        };
    }
}

impl World {
    /// Sends a request over the client's connection to the coordinator. A broker handles a connection's requests one at
    /// a time: while a `JoinGroup` or a `SyncGroup` waits for its answer, the broker reads nothing sent after it.
    pub(super) fn send_classic(&mut self, reader: Reader, asked: Asked, request: ClassicRequest) {
        let question = self.question(reader, asked);
        match self.connections.get_mut(&(question.0, question.1)) {
            Some(waiting) => waiting.push_back((question, request)),
            None => self.step_classic(request, Some(question)),
        }
    }

    /// Hands a request to the coordinator. If this answers requests that have waited, the requests queued behind them
    /// follow.
    pub(super) fn step_classic(&mut self, request: ClassicRequest, question: Option<Question>) {
        let mut next = Some((question, request));
        while let Some((question, request)) = next.take() {
            self.put_to_coordinator(request, question);
            while next.is_none()
                && let Some(connection) = self.answered_connections.pop_front()
            {
                next = self.next_of_connection(connection);
            }
        }
    }

    /// Another broker takes over the group. The old one also refuses what is queued on its connections.
    pub(super) fn move_classic(&mut self) {
        let mut queued: Vec<(Question, ClassicRequest)> =
            self.connections.values_mut().flat_map(std::mem::take).collect();
        queued.sort_by_key(|((reader, ..), _)| *reader);
        self.step_classic(Request::Move, None);
        for (question, request) in queued {
            self.takes_answer(question, Answer::Classic(request.refused()));
        }
    }

    /// Takes the next request queued on a connection. If none is left, the connection is free again.
    fn next_of_connection(
        &mut self,
        connection: (Reader, u32),
    ) -> Option<(Option<Question>, ClassicRequest)> {
        let waiting = self.connections.get_mut(&connection)?;
        let next = waiting.pop_front().map(|(question, request)| (Some(question), request));
        if next.is_none() {
            self.connections.remove(&connection);
        }
        next
    }

    fn put_to_coordinator(&mut self, request: ClassicRequest, question: Option<Question>) {
        let tag = self.ask_as(question);
        let Some(Coordinator::Classic(mut group)) = self.coordinator.take() else { return };
        let before = group.generation();
        group.apply(classic::Event { at: self.now, tag, request });
        if group.generation() > before {
            let leader = group.leader().and_then(|id| self.by_id.get(id)).copied();
            self.generations.push(Generation {
                number: group.generation(),
                at: self.now,
                why: self.named(group.reason()),
                leader: leader.filter(|_| group.phase() != classic::Phase::Empty),
                protocol: group.protocol().cloned(),
                assignment: Vec::new(),
            });
        }
        self.answered(group.effects().map(|effect| (effect.tag, Answer::Classic(effect.answer))));
        self.coordinator = Some(Coordinator::Classic(group));
        if let Some((reader, start, ..)) = self.awaited(tag) {
            self.connections.entry((reader, start)).or_default();
        }
    }

    pub(super) fn sender(&self, reader: Reader) -> Sender {
        let client = &self.clients[reader as usize];
        Sender { member: Arc::clone(&client.id), generation: client.generation, instance: client.instance() }
    }

    /// `joinGroupIfNeeded` with a timer of 0 ms, since no `poll()` waits for it. Returns whether it has finished.
    pub(super) fn join_group_if_needed(&mut self, reader: Reader) -> Result<bool> {
        while self.rejoin_needed_or_pending(reader) {
            if self.clients[reader as usize].classic.needs_join_prepare {
                self.clients[reader as usize].classic.needs_join_prepare = false;
                if !self.on_join_prepare(reader)? {
                    self.clients[reader as usize].classic.needs_join_prepare = true;
                    return Ok(false);
                }
            }
            if matches!(self.clients[reader as usize].classic.join, JoinFuture::None) {
                self.send_join(reader);
            }
            self.poll_network_once(reader)?;
            let client = &mut self.clients[reader as usize];
            match std::mem::take(&mut client.classic.join) {
                JoinFuture::None => return Ok(false),
                JoinFuture::Pending => {
                    client.classic.join = JoinFuture::Pending;
                    return Ok(false);
                }
                JoinFuture::Done(assignment) => {
                    let is_member = client.generation >= 0 && client.classic.state == MemberState::Stable;
                    if !is_member && client.classic.called_back == 0 {
                        self.reset_state(reader, true);
                    } else if self.on_join_complete(reader, &assignment) {
                        self.clients[reader as usize].classic.needs_join_prepare = true;
                    } else {
                        self.clients[reader as usize].classic.join = JoinFuture::Done(assignment);
                        return Ok(false);
                    }
                }
                JoinFuture::Failed(code) => {
                    if code != Code::MemberIdRequired {
                        client.classic.rejoin_needed = true;
                    }
                    match code {
                        Code::MemberIdRequired
                        | Code::UnknownMemberId
                        | Code::IllegalGeneration
                        | Code::RebalanceInProgress => {}
                        Code::NotCoordinator => {
                            client.finds_coordinator_again(self.now);
                            return Ok(false);
                        }
                        code => {
                            self.fail(reader, code);
                            return Ok(false);
                        }
                    }
                }
            }
        }
        Ok(true)
    }

    fn send_join(&mut self, reader: Reader) {
        let client = &mut self.clients[reader as usize];
        let Some(config) = client.config.clone() else { return };
        client.classic.state = MemberState::PreparingRebalance;
        client.classic.join = JoinFuture::Pending;
        client.app.commits = None;
        // The heartbeat thread stays off until the answer comes.
        (client.classic.looks_since, client.beat) = (None, u64::MAX);
        client.told_topics = Some(Arc::clone(&client.topics));
        let owned: Arc<[Place]> = client.owned.iter().copied().collect();
        let said = |(name, assignor): &(Name, Assignor)| {
            let said = Said {
                topics: Arc::clone(&client.topics),
                owned: Arc::clone(&owned),
                generation: client.generation,
                remembers: assignor.remembers().then(|| client.memory.clone()),
                user_data: if assignor.is_cooperative() { client.classic.cooperative_generation } else { -1 },
                client: Arc::clone(&config.client),
            };
            (Arc::clone(name), said)
        };
        let (protocols, id) = (config.assignors.iter().map(said).collect(), Arc::clone(&client.id));
        let reason = client.classic.rejoin_reason.clone();
        let join = Join {
            new_id: if id.is_empty() { self.new_id(reader, &config) } else { Arc::clone(&id) },
            member: id,
            instance: config.instance.clone(),
            session_timeout_ms: config.session_timeout_ms,
            rebalance_timeout_ms: config.max_poll_interval_ms,
            protocols,
            requires_id: true,
            skips_assignment: true,
            reason,
        };
        self.send_classic(reader, Asked::Join, Request::Join(join));
    }

    /// The ID for a client that has none: the next ID that the script gives, or else a name that no client has had yet.
    pub(super) fn new_id(&mut self, reader: Reader, config: &Consumer) -> Name {
        let start = self.clients[reader as usize].start;
        let number = if start > 1 { format!("-{start}") } else { String::new() };
        let stem = config.instance.as_deref().unwrap_or(&self.names[reader as usize]);
        let drawn = config.ids.iter().find(|id| !self.by_id.contains_key(*id)).cloned();
        let mut new_id = drawn.unwrap_or_else(|| format!("{stem}{number}").into());
        let mut again = 2;
        while self.by_id.contains_key(&new_id) {
            new_id = format!("{stem}{number}.{again}").into();
            again += 1;
        }
        self.longest_id = self.longest_id.max(new_id.len());
        self.by_id.insert(Arc::clone(&new_id), reader);
        new_id
    }

    /// `JoinGroupResponseHandler`.
    pub(super) fn take_joined(
        &mut self,
        reader: Reader,
        sent: u32,
        joined: classic::Joined<Said>,
    ) -> Result<()> {
        let client = &mut self.clients[reader as usize];
        match joined.code {
            Code::None if client.classic.state == MemberState::PreparingRebalance => {}
            Code::None => {
                // `UnjoinedGroupException`: the member tries the rebalance again.
                client.classic.join = JoinFuture::Failed(Code::NotCoordinator);
                return Ok(());
            }
            Code::MemberIdRequired => {
                client.id = joined.member;
                client.generation = -1;
                client.classic.identity += 1;
                client.classic.join = JoinFuture::Failed(Code::MemberIdRequired);
                client.classic.request_rejoin("");
                return Ok(());
            }
            code => {
                self.refused(reader, sent, code);
                return Ok(());
            }
        }
        client.classic.state = MemberState::CompletingRebalance;
        if let Some(config) = &client.config {
            client.classic.is_told(config, joined.protocol.as_ref());
        }
        client.id = Arc::clone(&joined.member);
        client.generation = joined.generation;
        client.classic.identity += 1;
        self.enable_heartbeats(reader);
        if joined.leader.as_ref() == Some(&joined.member) {
            return self.on_leader_elected(reader, joined);
        }
        self.send_sync(reader, joined.protocol, Vec::new());
        Ok(())
    }

    /// `sendSyncGroupRequest`. If the member leads, it sends each member's partitions along.
    pub(super) fn send_sync(&mut self, reader: Reader, protocol: Option<Name>, assignments: Assigned) {
        let request = Request::Sync { sender: self.sender(reader), protocol, assignments };
        let client = &mut self.clients[reader as usize];
        let ready_at = client.is_ready_at(self.now);
        if client.closes_as.is_some() || ready_at > self.now {
            client.classic.unsent = Some(request);
            let start = client.start;
            self.later(ready_at, Todo::Unsent(reader, start));
            return;
        }
        self.transmit_sync(reader, request);
    }

    /// Sends the `SyncGroup` that had to wait, unless the client closes: then that goes first.
    pub(super) fn send_unsent(&mut self, reader: Reader) {
        let client = &mut self.clients[reader as usize];
        if client.closes_as.is_none()
            && let Some(sync) = client.classic.unsent.take()
        {
            self.transmit_sync(reader, sync);
        }
    }

    pub(super) fn transmit_sync(&mut self, reader: Reader, request: ClassicRequest) {
        self.clients[reader as usize].classic.synced_at = self.now;
        self.send_classic(reader, Asked::Sync, request);
        let start = self.clients[reader as usize].start;
        if self.connections.contains_key(&(reader, start)) {
            self.later(
                self.clients[reader as usize].loses_coordinator_at(self.now),
                Todo::Overdue(reader, start),
            );
        }
    }

    /// Handles a `SyncGroup` that may have waited for too long for its answer. The client then drops the connection with
    /// all requests sent over it, finds the coordinator again, and rejoins.
    pub(super) fn overdue(&mut self, reader: Reader) {
        let client = &self.clients[reader as usize];
        let member = &client.classic;
        let waits =
            member.state == MemberState::CompletingRebalance && matches!(member.join, JoinFuture::Pending);
        // An answer that nobody has read yet has come in time (`NetworkClient.poll` looks for timeouts last).
        let has_come = client.inbox.iter().any(|(asked, ..)| *asked == Asked::Sync);
        if !waits || has_come || client.elected.is_some() {
            return;
        }
        let (start, at) = (client.start, client.loses_coordinator_at(self.now));
        if at > self.now {
            self.later(at, Todo::Overdue(reader, start));
            return;
        }
        // An answer on its way does not arrive any more.
        for ((to, of, ..), _) in &mut self.on_the_way {
            if (*to, *of) == (reader, start) {
                *of = u32::MAX;
            }
        }
        self.connections.remove(&(reader, start));
        self.asked.retain(|_, question| (question.0, question.1) != (reader, start));
        let client = &mut self.clients[reader as usize];
        client.classic.join = JoinFuture::Failed(Code::NotCoordinator);
        client.finds_at = self.now + 2 * RETRY_BACKOFF_MS;
        self.beat_later(reader, 2 * RETRY_BACKOFF_MS);
        self.pass_next(reader, self.now + 1);
    }

    /// `SyncGroupResponseHandler`.
    pub(super) fn take_synced(
        &mut self,
        reader: Reader,
        sent: u32,
        code: Code,
        assignment: Option<Arc<[Place]>>,
    ) {
        if code != Code::None {
            self.refused(reader, sent, code);
            return;
        }
        let client = &mut self.clients[reader as usize];
        let (generation, member) = (client.generation, &mut client.classic);
        if generation < 0 || member.state != MemberState::CompletingRebalance {
            member.join = JoinFuture::Failed(Code::IllegalGeneration);
            return;
        }
        member.state = MemberState::Stable;
        (member.rejoin_needed, member.rejoin_reason) = (false, String::new());
        member.join = JoinFuture::Done(assignment.unwrap_or_else(|| Arc::new([])));
    }

    /// Handles a refused `JoinGroup` or `SyncGroup`. A member that the coordinator no longer knows forgets its ID.
    fn refused(&mut self, reader: Reader, sent: u32, code: Code) {
        let member = &mut self.clients[reader as usize].classic;
        member.join = JoinFuture::Failed(code);
        if code == Code::NotCoordinator {
            member.disconnected = self.now;
        }
        self.reset_on_error(reader, sent, code);
    }

    /// `resetStateOnResponseError`, if the member still has the identity with which it sent the request.
    pub(super) fn reset_on_error(&mut self, reader: Reader, sent: u32, code: Code) {
        let is_reset = matches!(code, Code::UnknownMemberId | Code::IllegalGeneration);
        if is_reset && self.clients[reader as usize].classic.identity == sent {
            self.reset_state(reader, code == Code::UnknownMemberId);
        }
    }

    /// `resetStateAndRejoin`.
    pub(super) fn reset_state(&mut self, reader: Reader, forgets_id: bool) {
        // A consumer that is no longer a member returns no more records. Its next `poll()` begins with
        // `onPartitionsLost`.
        self.stop_reading(reader);
        let client = &mut self.clients[reader as usize];
        client.generation = -1;
        client.beat = u64::MAX;
        if forgets_id {
            client.id = "".into();
        }
        let member = &mut client.classic;
        member.identity += 1;
        member.state = MemberState::Unjoined;
        member.looks_since = None;
        member.needs_join_prepare = true;
        member.request_rejoin("");
    }
}

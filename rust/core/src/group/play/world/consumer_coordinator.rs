//! A classic member's `poll()`: its application gives up partitions, joins, and takes its assignment
//! (`ClassicKafkaConsumer`, `ConsumerCoordinator`).

use std::sync::Arc;

use super::super::super::classic::{self, Phase};
use super::super::super::consumer::Place;
use super::super::super::error_code::Code;
use super::World;
use super::classic_member::{JoinFuture, MemberState, Metadata, Prepare, Said};
use super::client::{Answer, Asked, beyond};
use super::ledger::Reader;
use crate::{Result, counted};

type Group = classic::Group<Said, Arc<[Place]>>;

impl World {
    /// A pass of `ClassicKafkaConsumer.poll()`.
    pub(super) fn pass_classic(&mut self, reader: Reader) -> Result<()> {
        self.clients[reader as usize].stays_inside(self.now);
        if self.awaits_coordinator(reader) {
            return Ok(());
        }
        if self.finds_positions(reader) {
            return Ok(());
        }
        if self.has_records(reader) {
            self.pass_next(reader, self.now + 1);
            return Ok(());
        }
        if !self.clients[reader as usize].is_busy {
            if self.awaits_positions(reader)? {
                return Ok(());
            }
            // If it was inside `poll()`, it has waited for answers since its last pass.
            self.poll_network(reader)?;
            if self.poll_ends(reader) {
                self.pass_next(reader, self.now + 1);
                return Ok(());
            }
        }
        if let Some(code) = self.clients[reader as usize].error {
            self.fail(reader, code);
            return Ok(());
        }
        let client = &mut self.clients[reader as usize];
        if self.now < client.app.end_of(client.app.last_poll(self.now)) {
            client.classic.polled = self.now;
        }
        let has_joined = self.join_group_if_needed(reader)?;
        let client = &self.clients[reader as usize];
        if !client.alive {
            return Ok(());
        }
        if !has_joined && self.awaits_coordinator(reader) {
            return Ok(());
        }
        if has_joined {
            self.update_classic_positions(reader);
        }
        self.limit_polls(reader);
        if let Some(until) = self.clients[reader as usize].app.in_callback(self.now) {
            self.pass_at(reader, until);
            return Ok(());
        }
        let client = &self.clients[reader as usize];
        let retries = matches!(client.classic.join, JoinFuture::None) && client.classic.rejoin_needed;
        if !client.is_busy && !retries {
            self.poll_network(reader)?;
        }
        let client = &mut self.clients[reader as usize];
        client.classic.waits_since = self.now;
        client.classic.has_received = client.is_busy && !client.inbox.is_empty();
        self.pass_next(reader, self.now + 1);
        Ok(())
    }

    /// `ensureCoordinatorReady`: whether the application has yet to find the coordinator. If this `poll()` ends first,
    /// the next one starts over.
    fn awaits_coordinator(&mut self, reader: Reader) -> bool {
        let client = &self.clients[reader as usize];
        let finds_at = client.finds_at;
        if finds_at <= self.now {
            return false;
        }
        let waits = client.app.is_inside(finds_at);
        self.pass_at(reader, if waits { finds_at } else { client.app.next_pass(finds_at, false) });
        true
    }

    /// Whether an idle `poll()` ends at this instant. Answers that come now are handled, but cause no further pass.
    fn poll_ends(&self, reader: Reader) -> bool {
        let app = &self.clients[reader as usize].app;
        let end = app.end_of(app.last_poll(self.now));
        self.now >= end && app.next_poll(self.now) > self.now && !app.has_called_back(self.now)
    }

    /// Whatever comes from the network, or falls due, ends a pass of an idle `poll()` (`ConsumerNetworkClient.poll`): the
    /// next one follows at once. Returns whether there is something to do in it.
    pub(super) fn goes_round(&mut self, reader: Reader) -> bool {
        let client = &self.clients[reader as usize];
        let waits = !client.is_busy
            && self.now >= client.classic.keeps_network_until
            && self.now < client.app.end_of(client.app.last_poll(self.now));
        let goes_round = waits && self.has_work_classic(reader);
        if goes_round {
            self.pass_at(reader, self.now);
        }
        goes_round
    }

    /// Whether an answer that arrives just as an idle `poll()` ends is too late to be handled. It is if the `poll()`
    /// began to wait before the answer was sent: then the wait ends first.
    fn comes_too_late(&self, reader: Reader) -> bool {
        let client = &self.clients[reader as usize];
        let call = client.app.last_poll(self.now);
        let ends = client.app.end_of(call) == self.now && client.app.next_poll(self.now) > self.now;
        ends && client.classic.waits_since.max(call) < self.now - self.latency_ms
    }

    /// Handles the answers that have come (`ConsumerNetworkClient.poll`), in either thread.
    pub(super) fn poll_network(&mut self, reader: Reader) -> Result<()> {
        self.deliver()?;
        self.sees_topics(reader);
        self.handle_answers(reader, usize::MAX)
    }

    /// The same for an application that joins. If it is busy, it polls the network only once, which brings one answer of a
    /// connection (`Selector`), and another one as its `poll()` returns (`transmitSends`), for the next time.
    pub(super) fn poll_network_once(&mut self, reader: Reader) -> Result<()> {
        if !self.clients[reader as usize].is_busy {
            return self.poll_network(reader);
        }
        self.deliver()?;
        if std::mem::take(&mut self.clients[reader as usize].classic.has_received) {
            self.handle_answers(reader, 1)?;
        }
        self.sees_topics(reader);
        self.handle_answers(reader, 1)
    }

    /// Sees the answer to its look at the topics, if that has come.
    fn sees_topics(&mut self, reader: Reader) {
        if matches!(self.clients[reader as usize].classic.metadata, Metadata::Answered(_, comes) if comes <= self.now)
        {
            self.look(reader);
        }
    }

    fn handle_answers(&mut self, reader: Reader, most: usize) -> Result<()> {
        if !self.clients[reader as usize].inbox.is_empty() {
            self.lets_look(reader);
        }
        for _ in 0..most {
            let Some((asked, sent, answer)) = self.clients[reader as usize].inbox.pop_front() else { break };
            if let Answer::Classic(answer) = answer {
                match answer {
                    classic::Response::Joined(joined) => self.take_joined(reader, sent, joined)?,
                    classic::Response::Synced { code, assignment, .. } => {
                        self.take_synced(reader, sent, code, assignment);
                    }
                    classic::Response::Done(code) if asked == Asked::AutoCommit => {
                        self.take_auto_commit(reader, sent, code);
                    }
                    classic::Response::Done(code) => self.take_beat(reader, sent, code),
                    classic::Response::Left(..) => {}
                }
            }
            self.deliver()?;
        }
        Ok(())
    }

    /// An answer reaches a classic member. Whichever of its threads looks first handles it.
    pub(super) fn arrives_classic(&mut self, reader: Reader, asked: Asked, sent: u32, answer: Answer) {
        let is_beat = asked == Asked::Heartbeat;
        let is_nothing = matches!(answer.code(), Code::None) && is_beat;
        if is_beat && matches!(answer.code(), Code::None | Code::RebalanceInProgress) {
            self.clients[reader as usize].classic.failed_beats = 0;
        }
        // Nobody reads it before the answer to `JoinGroup`, which comes after it.
        let is_read = self.clients[reader as usize].classic.looks_since.is_some();
        if is_nothing && is_read || asked == Asked::Leave {
            return;
        }
        if is_beat && answer.code() == Code::NotCoordinator {
            self.fail_heartbeat(reader);
            return;
        }
        self.clients[reader as usize].inbox.push_back((asked, sent, answer));
        // If a heartbeat is answered at once, the thread reads the answer only after its wait.
        let from = self.now + i64::from(is_beat && self.latency_ms == 0);
        let client = &self.clients[reader as usize];
        if client.is_busy && !client.wakes_first() {
            self.look_for_answers(reader, from);
        }
        let client = &self.clients[reader as usize];
        if client.app.in_callback(self.now).is_none() {
            let waits = !client.is_busy && client.app.is_inside(self.now) && !self.comes_too_late(reader);
            self.pass_at(reader, if waits { self.now } else { client.app.next_pass(from, client.is_busy) });
        }
        self.look_for_answers(reader, from);
    }

    /// `rejoinNeededOrPending`.
    pub(super) fn rejoin_needed_or_pending(&mut self, reader: Reader) -> bool {
        let client = &mut self.clients[reader as usize];
        let changed = client.told_topics.is_some() && !client.is_subscribed_as_told();
        let member = &mut client.classic;
        if !member.rejoin_needed {
            if member.has_seen_changes {
                member.request_rejoin("saw that the topics changed");
            } else if changed {
                member.request_rejoin("changed its subscription");
            }
        }
        member.rejoin_needed || !matches!(member.join, JoinFuture::None)
    }

    /// `onJoinPrepare`. It commits what has been read, awaits the answer, and then gives up partitions. A member with
    /// an eager assignor, or one that has lost its membership, gives up all of them. Any other gives up only those of
    /// topics that it has unsubscribed from. Returns whether it has finished.
    pub(super) fn on_join_prepare(&mut self, reader: Reader) -> Result<bool> {
        let client = &self.clients[reader as usize];
        let Some(config) = client.config.clone() else { return Ok(false) };
        let cooperative = client.classic.is_cooperative(&config);
        if client.classic.prepare == Prepare::Begins && client.auto_commits() {
            self.send_auto_commit(reader);
            if !cooperative {
                self.hold_back_all(reader);
            }
            self.clients[reader as usize].classic.prepare = Prepare::Commits;
        }
        if self.clients[reader as usize].classic.prepare == Prepare::Commits {
            self.poll_network_once(reader)?;
            match self.clients[reader as usize].classic.commit {
                None => return Ok(false),
                Some(Code::NotCoordinator) => {
                    self.clients[reader as usize].classic.prepare = Prepare::Begins;
                    return Ok(false);
                }
                Some(_) => {}
            }
        }
        let client = &self.clients[reader as usize];
        let is_member = client.generation >= 0 && !client.id.is_empty();
        let gone = if is_member && cooperative {
            client.owned.iter().copied().filter(|&(topic, _)| !client.subscribes(topic)).collect()
        } else {
            client.owned.clone()
        };
        let calls = is_member && !cooperative || !gone.is_empty();
        if calls && client.classic.prepare != Prepare::CalledBack {
            self.clients[reader as usize].classic.prepare = Prepare::CalledBack;
            if self.call_back(reader) {
                return Ok(false);
            }
        }
        let kept = beyond(&self.clients[reader as usize].owned, &gone);
        self.own(reader, kept);
        let member = &mut self.clients[reader as usize].classic;
        (member.prepare, member.commit, member.is_leader) = (Prepare::Begins, None, false);
        member.group_topics.clear();
        Ok(true)
    }

    /// `onJoinComplete`. Returns whether it has finished; if not, a callback holds it up.
    pub(super) fn on_join_complete(&mut self, reader: Reader, assignment: &Arc<[Place]>) -> bool {
        let now = self.now;
        let client = &mut self.clients[reader as usize];
        let Some(config) = client.config.clone() else { return true };
        client.classic.watches_topics &= client.classic.is_leader;
        client.classic.has_seen_changes &= client.classic.watches_topics;
        if assignment.iter().any(|&(topic, _)| !client.subscribes(topic)) {
            // `checkAssignmentMatchedSubscription`: a static member that returns with another subscription is given its
            // predecessor's assignment. It joins again, this time with a generation, which is news to the coordinator.
            client.classic.request_rejoin("was told to read what it does not subscribe to");
            return true;
        }
        let mut wanted = assignment.to_vec();
        wanted.sort_unstable();
        let kept_so_far = client.classic.is_downgraded;
        let revoked = if kept_so_far { client.owned.clone() } else { beyond(&client.owned, &wanted) };
        let gives_up = kept_so_far || client.classic.is_cooperative(&config);
        if client.classic.called_back == 0 && !revoked.is_empty() && gives_up {
            self.clients[reader as usize].classic.called_back = 1;
            if self.call_back(reader) {
                return false;
            }
        }
        if self.clients[reader as usize].classic.called_back <= 1 {
            let client = &mut self.clients[reader as usize];
            client.memory = (Arc::clone(assignment), client.generation);
            if client.classic.is_told_cooperative {
                client.classic.cooperative_generation = client.generation;
            }
            client.commits_since = Some(now);
            client.app.commits = config.auto_commit_interval_ms.map(|every| (now, every));
            if client.classic.called_back == 1 && !kept_so_far {
                // Others can now get the partitions that it gave up, so a second rebalance follows.
                let revoked_partitions = counted(revoked.len(), "partition", "partitions");
                client.classic.request_rejoin(format!("gave up {revoked_partitions}"));
            }
            self.own(reader, wanted);
            self.clients[reader as usize].classic.called_back = 2;
            if self.call_back(reader) {
                return false;
            }
        }
        self.clients[reader as usize].classic.called_back = 0;
        true
    }

    /// Whether a leader must rejoin, because the topics behind its last assignment have changed.
    pub(super) fn leader_must_rejoin(&self, reader: Reader, before: &[Option<u32>]) -> bool {
        let client = &self.clients[reader as usize];
        client.classic.watches_topics && client.seen != before
    }

    pub(super) fn classic_is_quiet(&self, group: &Group) -> bool {
        let settled = matches!(group.phase(), Phase::Stable | Phase::Empty)
            && group.pending() == 0
            && group.pending_sync() == 0;
        let alive = self.clients.iter().filter(|client| client.alive).count();
        if !settled || group.size() != alive {
            return false;
        }
        self.clients.iter().filter(|client| client.alive).all(|client| {
            let member = &client.classic;
            let rests = member.state == MemberState::Stable
                && !member.rejoin_needed
                && matches!(member.join, JoinFuture::None)
                && !member.has_seen_changes
                && client.is_subscribed_as_told();
            let current = client.generation == group.generation() && group.has(&client.id);
            let asks = |topic: u32| client.subscribes(topic) || member.group_topics.contains(&topic);
            let up_to_date = !member.is_leader
                || (0..)
                    .zip(self.topics.iter().zip(&client.seen))
                    .all(|(topic, ((_, count), seen))| count == seen || !asks(topic));
            rests && current && up_to_date
        })
    }
}

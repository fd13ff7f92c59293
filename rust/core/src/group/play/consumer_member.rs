//! What a consumer does in a group of KIP-848's protocol (`ConsumerMembershipManager`), and what it does in either.

use std::sync::Arc;

use super::super::consumer::{self, Effect, Heartbeat, Request};
use super::super::error_code::Code;
use super::client::{Answer, Asked};
use super::ledger::Reader;
use super::script::Generation;
use super::world::{Coordinator, World};
use crate::Result;

impl World {
    fn is_classic(&self) -> bool {
        matches!(self.coordinator, Some(Coordinator::Classic(_)))
    }

    /// Puts a request to the coordinator.
    pub(super) fn step_consumer(&mut self, request: Request, asks: Option<(Reader, Asked)>) -> Result<()> {
        let tag = self.ask(asks);
        let Some(Coordinator::Consumer(mut group)) = self.coordinator.take() else { return Ok(()) };
        let before = group.assignment_epoch();
        group.apply(consumer::Event { at: self.now, tag, request })?;
        if group.assignment_epoch() > before {
            let target = |id: &Arc<str>| Some((*self.by_id.get(id)?, group.shared_target(id)));
            self.generations.push(Generation {
                number: group.assignment_epoch(),
                at: self.now,
                why: self.named(group.reason()),
                leader: None,
                protocol: None,
                assignment: group.members().into_iter().filter_map(|(id, _)| target(id)).collect(),
            });
        }
        self.answered(group.effects().map(|effect| (effect.tag, Answer::Consumer(effect))));
        self.coordinator = Some(Coordinator::Consumer(group));
        Ok(())
    }

    /// A heartbeat: of what has not changed since the last one it says nothing (`HeartbeatState.buildRequestData`).
    fn send(&mut self, reader: Reader, epoch: i32) -> Result<()> {
        let (now, client) = (self.now, &mut self.clients[reader as usize]);
        let Some(config) = client.config.as_ref() else { return Ok(()) };
        let (joins, leaves) = (epoch == 0, epoch < 0);
        if client.in_flight && !leaves {
            client.sends_again = true;
            return Ok(());
        }
        let changed = client.told_owned.as_ref() != Some(&client.reading);
        let owned = changed.then(|| client.reading.clone());
        let subscribes = !leaves && (joins || !client.is_subscribed_as_told());
        let heartbeat = Heartbeat {
            member: Arc::clone(&client.id),
            epoch,
            instance: config.instance.clone(),
            rack: None,
            rebalance_timeout_ms: joins.then_some(config.max_poll_interval_ms),
            topics: subscribes.then(|| client.topics.to_vec()),
            assignor: if joins { config.remote_assignor.clone() } else { None },
            owned: if leaves { None } else { owned.clone() },
        };
        if subscribes {
            client.told_topics = Some(Arc::clone(&client.topics));
        }
        if !leaves {
            client.told_owned = owned.or_else(|| client.told_owned.take());
            client.in_flight = true;
        }
        client.sends_again = false;
        client.sent_at = now;
        client.beat = u64::MAX;
        let asked = if leaves { Asked::Leave } else { Asked::Heartbeat };
        self.step_consumer(Request::Heartbeat(heartbeat), Some((reader, asked)))
    }

    fn join_consumer(&mut self, reader: Reader) -> Result<()> {
        let read = self.read_by(reader);
        let client = &self.clients[reader as usize];
        let committed = client.committed_by(read);
        // A consumer has one id for as long as it lives, however often it joins.
        let id = match client.config.clone() {
            Some(config) if client.id.is_empty() => self.new_id(reader, &config),
            _ => Arc::clone(&client.id),
        };
        self.drop_all(reader, read, committed);
        let client = &mut self.clients[reader as usize];
        client.id = id;
        client.generation = 0;
        client.joining = true;
        client.rejoin = false;
        client.in_flight = false;
        (client.told_owned, client.wanted) = (None, None);
        self.send(reader, 0)
    }

    pub(super) fn take_consumer(&mut self, reader: Reader, asked: Asked, effect: Effect) -> Result<()> {
        if asked == Asked::Commit {
            self.take_commit(reader, effect.code);
            return Ok(());
        }
        if asked == Asked::Leave {
            return Ok(());
        }
        let interval_ms = self.heartbeat_interval_ms();
        let (now, client) = (self.now, &mut self.clients[reader as usize]);
        client.in_flight = false;
        if client.rejoin {
            // It is no member any more: the answer is to who it was.
            return Ok(());
        }
        match effect.code {
            Code::None => {}
            Code::FencedMemberEpoch | Code::UnknownMemberId | Code::GroupIdNotFound => {
                client.joining = false;
                if client.stalled_since.is_some() {
                    client.rejoin = true;
                    return Ok(());
                }
                return self.join_consumer(reader);
            }
            code => {
                self.fail(reader, code);
                return Ok(());
            }
        }
        if std::mem::take(&mut client.joining) {
            // How long the interval is, it learns only now.
            client.sent_at = now;
        }
        client.generation = effect.epoch;
        if effect.assignment.is_some() {
            client.wanted = effect.assignment;
        }
        // It is taken up at the next poll; heartbeats go on meanwhile.
        let polls_now = client.next_poll(reader, self.now) == self.now;
        if client.wanted.is_none() || polls_now || client.reading.is_empty() {
            return self.reconcile(reader);
        }
        self.poll_later(reader);
        self.beat_on(reader, interval_ms)
    }

    /// The next heartbeat, an interval after the last one; at once where one waits for the last one's answer.
    fn beat_on(&mut self, reader: Reader, interval_ms: i64) -> Result<()> {
        let client = &self.clients[reader as usize];
        if client.sends_again {
            let epoch = client.generation;
            return self.send(reader, epoch);
        }
        if !client.in_flight {
            let after_ms = (client.sent_at + interval_ms - self.now).max(0);
            self.beat_later(reader, after_ms);
        }
        Ok(())
    }

    /// What a client was told is taken up at the next poll: what is not its any more is given up first.
    fn reconcile(&mut self, reader: Reader) -> Result<()> {
        let interval_ms = self.heartbeat_interval_ms();
        let client = &mut self.clients[reader as usize];
        let stalls = client.stalled_since.is_some();
        let wanted = if stalls { None } else { client.wanted.take() };
        let Some(wanted) = wanted else { return self.beat_on(reader, interval_ms) };
        let before = client.reading.clone();
        self.read_these(reader, wanted);
        let client = &self.clients[reader as usize];
        if client.reading == before {
            return self.beat_on(reader, interval_ms);
        }
        // The coordinator is told at once.
        let epoch = client.generation;
        self.send(reader, epoch)
    }

    fn heartbeat_interval_ms(&self) -> i64 {
        match &self.coordinator {
            Some(Coordinator::Consumer(group)) => group.heartbeat_interval_ms(),
            _ => 5_000,
        }
    }

    pub(super) fn consumer_is_quiet(&self, group: &consumer::Group) -> bool {
        let alive = self.clients.iter().filter(|client| client.alive);
        matches!(group.state(), "Stable" | "Empty")
            && (!group.is_stale() || group.size() == 0)
            && group.size() == alive.clone().count()
            && alive.into_iter().all(|client| {
                let member = group.member(&client.id);
                client.wanted.is_none()
                    && client.is_subscribed_as_told()
                    && member.is_some_and(|member| {
                        member.epoch == client.generation
                            && member.assigned.places().eq(client.reading.iter().copied())
                    })
            })
    }

    // What is the same to the script, whatever the protocol.

    /// A client has started.
    pub(super) fn begin(&mut self, reader: Reader) -> Result<()> {
        if self.is_classic() {
            let reason = self.clients[reader as usize].rejoins_as;
            self.join_classic(reader, reason);
            return Ok(());
        }
        self.join_consumer(reader)
    }

    pub(super) fn beat(&mut self, reader: Reader) -> Result<()> {
        if self.is_classic() {
            self.beat_classic(reader);
            return Ok(());
        }
        let epoch = self.clients[reader as usize].generation;
        self.send(reader, epoch)
    }

    /// A client polls again.
    pub(super) fn resume(&mut self, reader: Reader) -> Result<()> {
        for (asked, answer) in std::mem::take(&mut self.clients[reader as usize].inbox) {
            self.take(reader, asked, answer)?;
        }
        let client = &self.clients[reader as usize];
        if client.alive && client.rejoin && !client.joining {
            return self.begin(reader);
        }
        if !self.is_classic() && client.alive && client.wanted.is_some() {
            return self.reconcile(reader);
        }
        Ok(())
    }

    /// A client has not polled for `max.poll.interval.ms`.
    pub(super) fn give_up(&mut self, reader: Reader) -> Result<()> {
        let read = self.read_by(reader);
        let committed = self.clients[reader as usize].committed_by(read);
        if self.is_classic() {
            self.give_up_classic(reader);
            // It reads nothing more of what it had, and the group will give it to others.
            self.drop_all(reader, read, committed);
            return Ok(());
        }
        let client = &mut self.clients[reader as usize];
        client.rejoin = true;
        client.beat = u64::MAX;
        client.inbox.clear();
        client.wanted = None;
        let epoch = if client.is_static() { -2 } else { -1 };
        self.drop_all(reader, read, committed);
        self.send(reader, epoch)
    }

    /// `close()`: a dynamic member says that it leaves, a static one does not unless it is told to.
    pub(super) fn close(&mut self, reader: Reader, says_so: Option<bool>) -> Result<()> {
        self.release_all(reader);
        let is_static = self.clients[reader as usize].is_static();
        let says_so = says_so.unwrap_or(!is_static);
        self.clients[reader as usize].alive = false;
        if self.is_classic() {
            self.leave_classic(reader, says_so);
            return Ok(());
        }
        if says_so || is_static {
            return self.send(reader, if says_so { -1 } else { -2 });
        }
        Ok(())
    }

    /// A client has another subscription: the classic one joins anew, the other says so with its next heartbeat.
    pub(super) fn subscribe(&mut self, reader: Reader) {
        let client = &mut self.clients[reader as usize];
        if client.is_subscribed_as_told() || !matches!(self.coordinator, Some(Coordinator::Classic(_))) {
            return;
        }
        let reason = "has changed its subscription";
        if client.stalled_since.is_some() || client.joining {
            (client.rejoin, client.rejoins_as) = (true, reason);
            return;
        }
        self.join_classic(reader, reason);
    }

    pub(super) fn commit(&mut self, reader: Reader, generation: Option<i32>) -> Result<()> {
        if self.is_classic() {
            self.commit_classic(reader, generation);
            return Ok(());
        }
        let client = &self.clients[reader as usize];
        let epoch = generation.unwrap_or(client.generation);
        let request = Request::Commit(Arc::clone(&client.id), epoch, client.reading.clone());
        self.step_consumer(request, Some((reader, Asked::Commit)))
    }

    /// A client has seen other topics than before.
    pub(super) fn changed_topics(&mut self, reader: Reader, before: &[Option<u32>]) {
        let must = match &self.coordinator {
            Some(Coordinator::Classic(group)) => self.leader_must_rejoin(reader, before, group),
            _ => false,
        };
        let (now, client) = (self.now, &mut self.clients[reader as usize]);
        if !must {
            return;
        }
        // It does so at its next poll, or when it is done with the rebalance that it leads.
        (client.rejoin, client.rejoins_as) = (true, "has seen that the topics have changed");
        if client.joining || client.stalled_since.is_some() {
            return;
        }
        if client.next_poll(reader, now) > now {
            self.poll_later(reader);
        } else {
            let reason = client.rejoins_as;
            self.join_classic(reader, reason);
        }
    }
}

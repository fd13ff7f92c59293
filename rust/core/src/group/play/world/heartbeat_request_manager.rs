//! KIP-848 heartbeats: when one is sent, what it contains, and how its answer is handled
//! (`AbstractHeartbeatRequestManager`).

use std::sync::Arc;

use super::super::super::consumer::{self, Effect, Heartbeat, Request};
use super::super::super::error_code::Code;
use super::application::RETRY_BACKOFF_MS;
use super::client::{Answer, Asked};
use super::ledger::Reader;
use super::membership::MemberState;
use super::network_thread::{CONNECTS_MS, MAX_POLL_TIMEOUT_MS};
use super::script::Generation;
use super::{Coordinator, World};
use crate::Result;

impl World {
    /// Hands a request to the coordinator, and records the target assignment if that is new.
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

    /// The member leaves because its application has polled too seldom (`max.poll.interval.ms`).
    pub(super) fn leave_stale(&mut self, reader: Reader) -> Result<()> {
        let epoch = if self.clients[reader as usize].is_static() { -2 } else { -1 };
        self.send(reader, epoch)?;
        let client = &mut self.clients[reader as usize];
        client.generation = epoch;
        let member = &mut client.membership;
        (member.in_flight, member.told, member.current) = (false, None, None);
        client.told_topics = None;
        client.beat = u64::MAX;
        self.loses_all(reader, MemberState::Stale);
        self.pass_next(reader, self.now);
        Ok(())
    }

    /// Sends a heartbeat. It omits whatever has not changed since the last one (`HeartbeatState.buildRequestData`).
    pub(super) fn send(&mut self, reader: Reader, epoch: i32) -> Result<()> {
        let (now, answered) = (self.now, self.now + self.latency_ms);
        let client = &mut self.clients[reader as usize];
        if epoch >= 0 && (now + 1..=answered).contains(&client.polls_by(now)) {
            // The answer wakes the thread, which then also checks its poll timer.
            self.wake_by(reader, answered);
        }
        let client = &mut self.clients[reader as usize];
        let Some(config) = client.config.as_ref() else { return Ok(()) };
        let leaves = epoch < 0;
        let joins = client.membership.state == MemberState::Joining && !leaves;
        let subscribes = !leaves && (joins || !client.is_subscribed_as_told());
        let member = &client.membership;
        let owns = !leaves && (joins || member.told != member.current);
        let owned = owns.then(|| member.current.as_ref().map_or_else(Vec::new, |it| it.places.clone()));
        let heartbeat = Heartbeat {
            member: Arc::clone(&client.id),
            epoch,
            instance: config.instance.clone(),
            rack: None,
            rebalance_timeout_ms: joins.then_some(config.max_poll_interval_ms),
            topics: subscribes.then(|| client.topics.to_vec()),
            assignor: if joins { config.remote_assignor.clone() } else { None },
            owned,
        };
        if subscribes {
            client.told_topics = Some(Arc::clone(&client.topics));
        }
        let member = &mut client.membership;
        if !leaves {
            member.told.clone_from(&member.current);
            member.in_flight = true;
        }
        let waited = member.generated.take().filter(|at| *at + CONNECTS_MS == now);
        member.sent = now;
        member.due = waited.unwrap_or(now) + member.interval_ms;
        member.acknowledged();
        let asked = if leaves { Asked::Leave } else { Asked::Heartbeat };
        self.step_consumer(Request::Heartbeat(heartbeat), Some((reader, asked)))
    }

    /// Handles an answer at once, in the network thread.
    pub(super) fn arrives_consumer(
        &mut self,
        reader: Reader,
        asked: Asked,
        sent: u32,
        effect: Effect,
    ) -> Result<()> {
        match asked {
            Asked::AutoCommit => {
                self.clients[reader as usize].membership.committing_since = None;
                self.revoke_and_assign(reader);
            }
            Asked::Heartbeat => self.take_heartbeat(reader, sent, effect),
            _ => return Ok(()),
        }
        self.run_once(reader)?;
        self.ends_round(reader)?;
        self.pass_next(reader, self.now + 1);
        Ok(())
    }

    fn take_heartbeat(&mut self, reader: Reader, sent: u32, effect: Effect) {
        let (now, interval_ms) = (self.now, self.heartbeat_interval_ms());
        let client = &mut self.clients[reader as usize];
        if client.classic.identity != sent {
            // The answer is for the membership that it had before it left or was fenced.
            return;
        }
        let member = &mut client.membership;
        member.in_flight = false;
        match effect.code {
            Code::None => {
                if member.interval_ms != interval_ms {
                    // Only now does it learn the interval.
                    member.interval_ms = interval_ms;
                    member.due = now + interval_ms;
                }
                self.take_assignment(reader, effect);
            }
            Code::FencedMemberEpoch | Code::UnknownMemberId => {
                client.generation = 0;
                member.told = None;
                client.told_topics = None;
                client.classic.identity += 1;
                self.loses_all(reader, MemberState::Fenced);
            }
            Code::NotCoordinator => {
                member.told = None;
                client.told_topics = None;
                member.due = now + RETRY_BACKOFF_MS;
            }
            code => self.dies(reader, code),
        }
    }

    fn heartbeat_interval_ms(&self) -> i64 {
        match &self.coordinator {
            Some(Coordinator::Consumer(group)) => group.heartbeat_interval_ms(),
            _ => MAX_POLL_TIMEOUT_MS,
        }
    }
}

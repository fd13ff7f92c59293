//! What a member is to the simulation: a state machine that takes events and returns effects.
//!
//! A member changes nothing but itself. It sees the time, the cluster's topics and who reads what, and says what it
//! does: send a request, wake at a time, read partitions, end. The simulation carries that out.

use std::fmt::Debug;
use std::sync::Arc;

use super::super::consumer::Place;
use super::super::error_code::Code;
use super::cluster::Cluster;
use super::coordinator::Coordinator;
use super::leaders_client::LeadersClient;
use super::ledger::{Ledger, Reader};
use super::member_ids::MemberIds;
use super::script::{Consumer, MemberAction, Race};
use crate::Result;

/// How long a starting consumer takes to find its group's coordinator: `ApiVersions`, `Metadata` and `FindCoordinator`,
/// each answered in 1 ms.
pub(super) const FINDS_COORDINATOR_MS: i64 = 3;

/// A consumer of the classic protocol, or of KIP-848.
pub(super) trait Member: Sized {
    /// The coordinator of its group.
    type Coordinator: Coordinator;
    /// The names of the times at which it wakes. Each is set once at most.
    type Timer: Copy + Ord + Debug;

    /// A consumer that starts now.
    fn new(start: Start, step: &mut Step<'_, Self>) -> Self;

    /// What it does at an event.
    ///
    /// # Errors
    ///
    /// The errors of an assignor, if it leads.
    fn step(&mut self, event: Event<Self>, step: &mut Step<'_, Self>) -> Result<()>;

    /// Its member ID and its generation, or its member epoch.
    fn identity(&self) -> (&Arc<str>, i32);

    /// Whether the time that an answer takes makes a difference to it.
    fn awaits(&self, sent: Sent, answer: &AnswerOf<Self>) -> bool;

    /// Whether it would read a partition if no other member did.
    fn reads(&self, place: Place) -> bool;

    /// Whether nothing will change for it by itself.
    fn is_at_rest(&self, coordinator: &Self::Coordinator, cluster: &Cluster) -> bool;
}

/// A consumer's start.
pub(super) struct Start {
    pub reader: Reader,
    /// How many times the member has started, with this one.
    pub number: u32,
    pub config: Arc<Consumer>,
    pub topics: Arc<[u32]>,
}

/// What happens to a member.
#[derive(Debug)]
pub(super) enum Event<M: Member> {
    /// Its application calls `poll()` for the first time.
    Start,
    /// The time has come for which it set a timer.
    Wake(M::Timer),
    /// The coordinator's answer has come.
    Answer(Sent, AnswerOf<M>),
    /// The script makes it do something.
    Script(MemberAction),
    /// A topic is deleted.
    Delete(u32),
    /// Partitions that it reads have lost their leader, or have one again.
    Leaders,
}

/// What a member does.
#[derive(Debug)]
pub(super) enum Effect<M: Member> {
    /// It sends a request to the coordinator.
    Send(Sent, Box<RequestOf<M>>),
    /// Wakes it at a time, and not when that timer was set for before.
    Wake(M::Timer, i64),
    /// Takes a timer back.
    Rest(M::Timer),
    /// It is given partitions, and counts as their reader from now on; it has records once it knows their positions.
    Read(Vec<Place>),
    /// It stops reading partitions, of which it has read and committed as much as this.
    Stop(Vec<Place>, Progress),
    /// All that it read up to a time is committed.
    Commit(i64),
    /// The coordinator last heard of it by a commit at this time, which is not played.
    Heard(i64),
    /// It closes its connection to the coordinator: nothing that it has sent is answered any more.
    Disconnect,
    /// It ends, with an error that its application sees or without one.
    End(Option<Code>),
}

/// How far a member has got with its partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    /// It has read all that came up to this time.
    pub read: i64,
    /// It has committed all that it had read up to this time.
    pub committed: i64,
}

/// A request as its sender remembers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub api: Api,
    /// Which of its identities the sender had: an answer to an earlier one is recognized.
    pub identity: u32,
    /// Up to when it had read its partitions, which is what a commit commits.
    pub read: i64,
}

/// The kinds of requests, by Kafka's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    JoinGroup,
    SyncGroup,
    Heartbeat,
    ConsumerGroupHeartbeat,
    LeaveGroup,
    /// An automatic commit of what the consumer has read.
    OffsetCommit,
    /// A commit that the script asks for.
    ScriptCommit,
}

impl Api {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::JoinGroup => "JoinGroup",
            Self::SyncGroup => "SyncGroup",
            Self::Heartbeat => "Heartbeat",
            Self::ConsumerGroupHeartbeat => "ConsumerGroupHeartbeat",
            Self::LeaveGroup => "LeaveGroup",
            Self::OffsetCommit | Self::ScriptCommit => "OffsetCommit",
        }
    }
}

pub(super) type RequestOf<M> = <<M as Member>::Coordinator as Coordinator>::Request;
pub(super) type AnswerOf<M> = <<M as Member>::Coordinator as Coordinator>::Answer;

/// What a member sees at an event, and what it does then.
pub(super) struct Step<'a, M: Member> {
    pub now: i64,
    /// How long the coordinator's answers take.
    pub latency_ms: i64,
    pub coordinator: &'a M::Coordinator,
    pub cluster: &'a Cluster,
    /// Who reads which partition, and which of them have no leader.
    pub ledger: &'a Ledger,
    pub ids: &'a mut MemberIds,
    pub race: &'a mut Race,
    /// Says what the client of a leader assigns, in a group whose members use several clients.
    pub leaders_client: Option<&'a mut (dyn LeadersClient + 'static)>,
    pub effects: Vec<Effect<M>>,
}

impl<M: Member> Step<'_, M> {
    pub(super) fn send(&mut self, sent: Sent, request: RequestOf<M>) {
        self.effects.push(Effect::Send(sent, Box::new(request)));
    }

    pub(super) fn wake(&mut self, timer: M::Timer, at: i64) {
        self.effects.push(Effect::Wake(timer, at.max(self.now)));
    }

    pub(super) fn rest(&mut self, timer: M::Timer) {
        self.effects.push(Effect::Rest(timer));
    }

    /// Ends the member, with an error that its application sees or without one.
    pub(super) fn end(&mut self, code: Option<Code>) {
        self.effects.push(Effect::End(code));
    }

    /// Whether the member has ended in this step.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.effects.last(), Some(Effect::End(_)))
    }

    /// All that it read up to a time is committed.
    pub(super) fn commit(&mut self, by: i64) {
        self.effects.push(Effect::Commit(by));
    }

    pub(super) fn read(&mut self, places: Vec<Place>) {
        if !places.is_empty() {
            self.effects.push(Effect::Read(places));
        }
    }

    pub(super) fn stop(&mut self, places: Vec<Place>, progress: Progress) {
        if !places.is_empty() {
            self.effects.push(Effect::Stop(places, progress));
        }
    }
}

/// The life of one member in tests, without a simulation, in a cluster with one topic of two partitions.
#[cfg(test)]
pub(super) struct Life<M: Member> {
    pub member: M,
    coordinator: M::Coordinator,
    cluster: Cluster,
    ledger: Ledger,
    ids: MemberIds,
}

/// A dynamic member that polls every 500 ms, commits nothing and has no listener.
#[cfg(test)]
pub(super) fn consumer(max_poll_interval_ms: i64) -> Consumer {
    Consumer {
        instance: None,
        ids: Vec::new(),
        session_timeout_ms: 45_000,
        heartbeat_interval_ms: 3_000,
        max_poll_interval_ms,
        auto_commit_interval_ms: None,
        poll_ms: 500,
        poll_timeout_ms: 100,
        listener_ms: None,
        metadata_max_age_ms: 300_000,
        client: "java".into(),
        assignors: Arc::new([]),
        remote_assignor: None,
    }
}

#[cfg(test)]
impl<'a, M: Member> Step<'a, M> {
    /// What a member sees at a time, where answers take 10 ms.
    fn at(
        now: i64,
        coordinator: &'a M::Coordinator,
        cluster: &'a Cluster,
        ledger: &'a Ledger,
        ids: &'a mut MemberIds,
        race: &'a mut Race,
    ) -> Self {
        let (latency_ms, leaders_client, effects) = (10, None, Vec::new());
        Self { now, latency_ms, coordinator, cluster, ledger, ids, race, leaders_client, effects }
    }
}

#[cfg(test)]
impl<M: Member> Life<M> {
    /// A member that starts.
    pub(super) fn new(coordinator: M::Coordinator, config: Consumer) -> Self {
        let start = Start { reader: Reader(0), number: 1, config: Arc::new(config), topics: Arc::new([0]) };
        let topics = vec![("t".into(), Some(2))];
        let cluster = Cluster { topics, idle_topics: super::super::Set::default() };
        let (ledger, mut ids) = (Ledger::new(true), MemberIds::new(vec!["m".into()]));
        let member =
            M::new(start, &mut Step::at(0, &coordinator, &cluster, &ledger, &mut ids, &mut Race::Slow));
        let mut life = Self { member, coordinator, cluster, ledger, ids };
        life.happens(0, Event::Start);
        life
    }

    /// What it does at an event.
    pub(super) fn happens(&mut self, at: i64, event: Event<M>) -> Vec<Effect<M>> {
        let Self { member, coordinator, cluster, ledger, ids } = self;
        let mut race = Race::Slow;
        let mut step = Step::at(at, coordinator, cluster, ledger, ids, &mut race);
        assert!(member.step(event, &mut step).is_ok());
        step.effects
    }
}

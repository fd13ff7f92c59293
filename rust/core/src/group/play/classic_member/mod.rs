//! A consumer of the classic protocol, as a state machine: `step(event)` changes it and says what it does.
//!
//! From a missed `poll()` to the next assignment: [`heartbeat_thread`] notices that `max.poll.interval.ms` is over. The
//! member leaves the group and from then on returns no records; in its own next `poll()` it gives up what it had
//! (`onPartitionsLost`) and joins as a new member. A static member does not leave: its session ends, unless it is back
//! before. The coordinator starts a rebalance, of which the other members hear by their heartbeats. In its next `poll()`,
//! each gives up partitions ([`rebalance`]) and joins ([`join`]); the leader assigns ([`leader`]); each takes its
//! assignment ([`rebalance`]), counts as its reader from then on, and finds out from where to read ([`positions`]).
//!
//! Two threads share the member: the application, in `poll()`, and the heartbeat thread. Whichever has the network first
//! handles an answer that has come. Both are played, but not which of them is first within a few milliseconds.

mod calls;
mod coordinator;
mod heartbeat_thread;
mod join;
mod leader;
mod metadata;
mod poll;
mod positions;
mod rebalance;
#[cfg(test)]
mod tests;

pub(super) use coordinator::{ClassicCoordinator, Subscription};
use heartbeat_thread::HeartbeatThread;
use leader::Elected;
use metadata::Metadata;

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::classic::Response;
use super::super::consumer::Place;
use super::super::error_code::Code;
use super::application::Application;
use super::cluster::Cluster;
use super::ledger::Reader;
use super::member::{AnswerOf, Api, Event, FINDS_COORDINATOR_MS, Member, Progress, Sent, Start, Step};
use super::script::{Consumer, MemberAction};
use super::subscription_state::SubscriptionState;
use crate::Result;
use crate::interned::Name;

/// `AbstractCoordinator.MemberState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemberState {
    Unjoined,
    PreparingRebalance,
    CompletingRebalance,
    Stable,
}

/// The state of a rebalance that the member asked for (`joinFuture`).
#[derive(Clone, Debug, Default)]
enum JoinFuture {
    #[default]
    None,
    Pending,
    Done(Arc<[Place]>),
    Failed(Code),
}

/// How far `onJoinPrepare` has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JoinPrepare {
    Begins,
    /// It awaits the answer to its commit.
    Commits,
    /// It has called the listener back.
    CalledBack,
}

/// The assignor that the coordinator named, as far as a client goes by it.
#[derive(Clone, Copy, Debug, Default)]
struct NamedAssignor {
    is_cooperative: bool,
    /// Whether it is eager and the one before was cooperative. A client that follows the named assignor has then kept its
    /// partitions so far.
    is_downgrade: bool,
}

/// An assignment and its generation.
#[derive(Clone, Debug)]
struct GenerationAssignment {
    places: Arc<[Place]>,
    generation: i32,
}

/// The times for which a classic member sets a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// The application has something to do in a pass of its `poll()`.
    Poll,
    /// The heartbeat thread sends a heartbeat.
    Heartbeat,
    /// The heartbeat thread handles the answers that have come.
    Answers,
    /// `max.poll.interval.ms` may be over.
    PollInterval,
    /// The next stage of asking for the topics is due.
    Metadata,
    /// The leader has its answer about the topics, and assigns.
    Elected,
    /// A `SyncGroup` may have waited for too long.
    SyncTimeout,
    /// A stall may be over.
    Stall,
    /// A callback ends during which the application was to close the consumer.
    Close,
    /// `close()` has committed and called the listener back.
    Closed,
}

/// A consumer of the classic protocol.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are the client's own, under its own names")]
pub(super) struct ClassicMember {
    reader: Reader,
    /// How many times the script's member has started.
    start: u32,
    config: Arc<Consumer>,
    app: Application,
    /// When the application's next pass with something to do comes.
    next_pass: Option<i64>,
    subscriptions: SubscriptionState,
    /// Whether its `poll()` finds records, and so returns at once.
    is_busy: bool,
    state: MemberState,
    /// Its member ID, once it has one.
    id: Name,
    generation: i32,
    /// Changes with its generation and its ID, so that answers to an earlier identity are recognized.
    identity: u32,
    /// When it has found the group's coordinator.
    finds_coordinator_at: i64,
    /// Answers that neither thread has handled yet.
    inbox: VecDeque<(Sent, AnswerOf<Self>)>,
    rejoin_needed: bool,
    /// The reason that it gives the coordinator when it rejoins.
    rejoin_reason: String,
    needs_join_prepare: bool,
    join_future: JoinFuture,
    join_prepare: JoinPrepare,
    /// The answer to the commit in `onJoinPrepare`.
    commit: Option<Code>,
    /// How many callbacks of `onJoinComplete` are done.
    callbacks_done: u8,
    heartbeats: HeartbeatThread,
    /// When its last `SyncGroup` is given up, and whether a timer is set for that.
    sync_due_at: i64,
    awaits_sync: bool,
    /// When the answer comes about the positions of new partitions, if it has asked for them.
    positions_at: Option<i64>,
    metadata: Metadata,
    /// If it leads and waits for an answer about the topics: its answer to `JoinGroup`.
    elected: Option<Elected>,
    is_leader: bool,
    /// Whether it watches the topics behind its last assignment: until it has joined again without leading
    /// (`assignmentSnapshot`).
    watches_topics: bool,
    /// Whether it has seen the topics change since it made the last assignment.
    has_seen_changes: bool,
    named: NamedAssignor,
    /// The last assignment, which `sticky` remembers.
    last_assignment: GenerationAssignment,
    /// When its timer of automatic commits started.
    commits_since: i64,
    /// What `close()` is to do that waits for the end of a callback.
    close_later: Option<bool>,
    /// An error that the application sees at its next pass.
    error: Option<Code>,
}

/// What a step of this member sees and does.
type ClassicStep<'a> = Step<'a, ClassicMember>;

impl Member for ClassicMember {
    type Coordinator = ClassicCoordinator;
    type Timer = Timer;

    fn new(start: Start, step: &mut ClassicStep<'_>) -> Self {
        let Start { reader, number, config, topics } = start;
        let mut member = Self {
            reader,
            start: number,
            app: Application::new(reader, step.now, config.poll_ms, config.poll_timeout_ms),
            config,
            next_pass: None,
            subscriptions: SubscriptionState::new(topics, false),
            is_busy: false,
            state: MemberState::Unjoined,
            id: "".into(),
            generation: -1,
            identity: 0,
            finds_coordinator_at: step.now + FINDS_COORDINATOR_MS,
            inbox: VecDeque::new(),
            rejoin_needed: true,
            rejoin_reason: String::new(),
            needs_join_prepare: true,
            join_future: JoinFuture::None,
            join_prepare: JoinPrepare::Begins,
            commit: None,
            callbacks_done: 0,
            sync_due_at: 0,
            awaits_sync: false,
            heartbeats: HeartbeatThread::default(),
            positions_at: None,
            metadata: Metadata::default(),
            elected: None,
            is_leader: false,
            watches_topics: false,
            has_seen_changes: false,
            named: NamedAssignor::default(),
            last_assignment: GenerationAssignment { places: Arc::new([]), generation: -1 },
            commits_since: step.now,
            close_later: None,
            error: None,
        };
        member.refresh_metadata(step);
        member
    }

    fn step(&mut self, event: Event<Self>, step: &mut ClassicStep<'_>) -> Result<()> {
        match event {
            Event::Start => return self.poll(step),
            Event::Wake(Timer::Poll) => return self.pass(step),
            Event::Wake(Timer::Heartbeat) => self.send_heartbeat(step),
            Event::Wake(Timer::Answers) => return self.look_for_answers(step),
            Event::Wake(Timer::PollInterval) => self.expire_poll_interval(step),
            Event::Wake(Timer::Metadata) => self.ask_for_metadata(step),
            Event::Wake(Timer::Elected) => return self.elected(step),
            Event::Wake(Timer::SyncTimeout) => self.give_up_sync(step),
            Event::Wake(Timer::Stall) => self.resume(step),
            Event::Wake(Timer::Close) => return self.close(self.close_later, step),
            Event::Wake(Timer::Closed) => self.closed(step),
            Event::Answer(sent, answer) => self.receive(sent, answer, step),
            Event::Script(MemberAction::Stall(for_ms)) => self.stall(for_ms, step),
            Event::Script(MemberAction::Subscribe(topics)) => self.subscribe(topics, step),
            Event::Delete(topic) => self.miss_topic(topic, step),
            Event::Leaders => self.see_records(step),
            Event::Script(MemberAction::Commit(generation)) => self.commit_for_script(generation, step),
            Event::Script(MemberAction::Close(leaves)) => return self.close(leaves, step),
            Event::Script(MemberAction::Crash) => self.crash(step),
        }
        Ok(())
    }

    fn identity(&self) -> (&Name, i32) {
        (&self.id, self.generation)
    }

    fn awaits(&self, sent: Sent, answer: &AnswerOf<Self>) -> bool {
        match answer {
            Response::Left(..) => false,
            Response::Done(code) => match sent.api {
                Api::ScriptCommit => false,
                Api::Heartbeat => *code != Code::None,
                _ => true,
            },
            Response::Joined(_) | Response::Synced { .. } => true,
        }
    }

    fn reads(&self, place: Place) -> bool {
        // One that is no longer a member keeps its partitions until its next `poll()`, and returns no records of them.
        self.generation >= 0 && self.subscriptions.returns(place)
    }

    fn is_at_rest(&self, coordinator: &ClassicCoordinator, cluster: &Cluster) -> bool {
        let waits = self.app.stall.is_some()
            || self.app.closing.is_some()
            || self.next_pass.is_some()
            || !self.inbox.is_empty();
        let rests = self.state == MemberState::Stable
            && !self.rejoin_needed
            && matches!(self.join_future, JoinFuture::None)
            && !self.has_seen_changes
            && self.subscriptions.is_sent();
        let is_current = self.generation == coordinator.group.generation() && coordinator.group.has(&self.id);
        !waits && rests && is_current && (!self.is_leader || self.has_seen_all(cluster))
    }
}

impl ClassicMember {
    /// A request as it remembers it.
    fn sent(&self, api: Api, now: i64) -> Sent {
        Sent { api, identity: self.identity, read: self.app.read_by(now) }
    }

    /// How far it has got with its partitions.
    fn progress(&self, now: i64) -> Progress {
        let read = self.app.read_by(now);
        Progress { read, committed: self.last_auto_commit(read).unwrap_or(i64::MIN) }
    }

    /// When it last committed automatically, at or before `at`. It commits in the first `poll()` after
    /// `auto.commit.interval.ms` has passed. These commits are not played one by one.
    fn last_auto_commit(&self, at: i64) -> Option<i64> {
        let interval_ms = self.config.auto_commit_interval_ms?.max(1);
        let first = self.app.in_rhythm(self.commits_since + interval_ms);
        let every_ms = (self.app.in_rhythm(first + interval_ms) - first).max(1);
        (first <= at).then(|| first + (at - first) / every_ms * every_ms)
    }

    /// From now on, it has exactly these partitions, which are sorted.
    fn assign(&mut self, places: Vec<Place>, step: &mut ClassicStep<'_>) {
        if !self.subscriptions.assign(places, self.progress(step.now), step).is_empty() {
            self.positions_at = None;
        }
        self.see_records(step);
    }

    /// Notes whether its `poll()` finds records from now on.
    fn see_records(&mut self, step: &mut ClassicStep<'_>) {
        let is_busy = self.subscriptions.has_records(step);
        if is_busy != self.is_busy {
            self.let_thread_look(step);
            self.is_busy = is_busy;
            self.heartbeats.follows_app &= is_busy;
            self.schedule_heartbeat(step);
        }
    }

    /// Calls the listener, if there is one. Returns whether the callback keeps the application.
    fn call_back(&mut self, step: &mut ClassicStep<'_>) -> bool {
        let takes_ms = self.config.listener_ms.unwrap_or(0);
        if takes_ms > 0 {
            self.app.calls_back(step.now, step.now + takes_ms);
            self.schedule_heartbeat(step);
        }
        takes_ms > 0
    }

    /// Ends with an error that the application sees, or without one.
    fn end(&mut self, code: Option<Code>, step: &mut ClassicStep<'_>) {
        self.subscriptions.hold_back_all(self.progress(step.now), step);
        step.end(code);
    }
}

//! A consumer of KIP-848, as a state machine: `step(event)` changes it and says what it does.
//!
//! From a missed `poll()` to the next assignment: the network thread notices that `max.poll.interval.ms` is over, and
//! leaves the group ([`network_thread`], [`heartbeat`]); a static member keeps its place for as long as its session lasts.
//! At the next heartbeat of any member the coordinator assigns anew, and it tells each member in the answer to its own.
//! A member that must give up partitions, or that commits automatically, begins with its next `poll()`, any other at once
//! ([`reconcile`]): it commits, the application calls its listener ([`poll`]), and a heartbeat acknowledges it. Then the
//! coordinator gives the partitions to others, which take them up in the same way, count as their readers from then on,
//! and find out from where to read ([`positions`]). The application of the member that left joins again when it polls.
//!
//! Two threads share the member: the application, in `poll()`, and the network thread, which sends and receives. Both are
//! played, but not which of them is first within a millisecond.

mod coordinator;
mod heartbeat;
mod membership;
mod network_thread;
mod poll;
mod positions;
mod reconcile;
#[cfg(test)]
mod tests;
mod version;

pub(super) use coordinator::ConsumerCoordinator;
use heartbeat::Heartbeats;
use membership::{MemberState, Membership};
use network_thread::Turns;
use poll::Rounds;
use positions::Positions;
use reconcile::BackgroundEvent;
use version::{Fact, Version};

use std::sync::Arc;

use super::super::consumer::{HeartbeatAnswer as Answer, Place};
use super::super::error_code::Code;
use super::application::Application;
use super::cluster::Cluster;
use super::ledger::Reader;
use super::member::{AnswerOf, Api, Event, FINDS_COORDINATOR_MS, Member, Progress, Sent, Start, Step};
use super::script::{Consumer, MemberAction};
use super::subscription_state::SubscriptionState;
use crate::Result;
use crate::interned::Name;

/// The times for which a KIP-848 member sets a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// The application has something to do in a pass of its `poll()`.
    Poll,
    /// The network thread wakes for its next heartbeat, at least every 5 s, and also notices then that no `poll()` came.
    Heartbeat,
    /// It knows from where to read new partitions.
    Positions,
    /// The topics' metadata is due.
    Metadata,
    /// It is connected to a broker that tells the topics.
    Connected,
    /// The answer to an automatic commit comes.
    CommitAnswer,
    /// A stall may be over.
    Stall,
    /// A callback ends during which the application was to close the consumer.
    Close,
    /// `close()` has committed and called the listener back.
    Closed,
}

/// A consumer of KIP-848.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "two threads share it, and each has its own")]
pub(super) struct ConsumerMember {
    reader: Reader,
    /// How many times the script's member has started.
    start: u32,
    config: Arc<Consumer>,
    version: Version,
    app: Application,
    /// When the application's next pass of `poll()` comes.
    next_pass: Option<i64>,
    /// Whether that is another round of the same call.
    goes_round: bool,
    /// When the last call of `poll()` began.
    call: i64,
    rounds: Rounds,
    /// When the application last told the network thread that it polls, from which `max.poll.interval.ms` counts, and
    /// how many calls ago.
    polled: i64,
    calls_since_polled: u32,
    subscriptions: SubscriptionState,
    /// Whether its `poll()` finds records, and so returns at once.
    is_busy: bool,
    /// Whether the next wait for records ends at once: a fetch of records that no `poll()` will return has woken it
    /// (`FetchBuffer.awaitWakeup`).
    is_woken: bool,
    /// Its member ID, once it has one.
    id: Name,
    /// Its member epoch.
    epoch: i32,
    /// Changes whenever it joins, so that answers to an earlier membership are recognized.
    identity: u32,
    /// When it has found the group's coordinator.
    finds_coordinator_at: i64,
    membership: Membership,
    heartbeats: Heartbeats,
    turns: Turns,
    positions: Positions,
    /// By topic, how many partitions it has seen; `None` for topics that it has not seen.
    seen: Vec<Option<u32>>,
    /// The network thread's events for the application.
    background_events: Vec<BackgroundEvent>,
    /// Those that the application has taken, and of which a callback keeps it.
    taken_events: Vec<BackgroundEvent>,
    /// Whether the application calls its listener about the first of these.
    calls_back: bool,
    /// The event whose callback is done, of which the network thread has yet to hear.
    called_back: Option<BackgroundEvent>,
    /// Whether lost partitions still wait for `onPartitionsLost`.
    awaits_lost: bool,
    /// When its timer of automatic commits started.
    commits_since: i64,
    /// When a reconciliation's commit was sent, while its answer is under way (`hasInflightCommit`).
    commit_sent_at: Option<i64>,
    /// What `close()` is to do that waits for the end of a callback.
    close_later: Option<bool>,
    /// An error that the application sees at its next pass.
    error: Option<Code>,
}

/// What a step of this member sees and does.
type ConsumerStep<'a> = Step<'a, ConsumerMember>;

impl Member for ConsumerMember {
    type Coordinator = ConsumerCoordinator;
    type Timer = Timer;

    fn new(start: Start, step: &mut ConsumerStep<'_>) -> Self {
        let Start { reader, number, config, topics } = start;
        let now = step.now;
        let version = Version::of(&config.client);
        let mut member = Self {
            reader,
            start: number,
            app: Application::new(reader, now, config.poll_ms, config.poll_timeout_ms),
            config,
            version,
            next_pass: None,
            goes_round: false,
            call: now,
            rounds: Rounds::default(),
            polled: now,
            calls_since_polled: 0,
            subscriptions: SubscriptionState::new(topics, version.has(Fact::READS_UNSUBSCRIBED)),
            is_busy: false,
            is_woken: false,
            id: "".into(),
            epoch: -1,
            identity: 0,
            finds_coordinator_at: now + FINDS_COORDINATOR_MS,
            membership: Membership::default(),
            heartbeats: Heartbeats::default(),
            turns: Turns::default(),
            positions: Positions::default(),
            seen: Vec::new(),
            background_events: Vec::new(),
            taken_events: Vec::new(),
            calls_back: false,
            called_back: None,
            awaits_lost: false,
            commits_since: now,
            commit_sent_at: None,
            close_later: None,
            error: None,
        };
        member.see_topics(step);
        member
    }

    fn step(&mut self, event: Event<Self>, step: &mut ConsumerStep<'_>) -> Result<()> {
        match event {
            Event::Start => self.poll(step),
            Event::Wake(Timer::Poll) => self.pass(step),
            Event::Wake(Timer::Heartbeat | Timer::Positions | Timer::Connected | Timer::CommitAnswer) => {
                self.run_once(step);
            }
            Event::Wake(Timer::Metadata) => self.ask_for_topics(step),
            Event::Wake(Timer::Stall) => self.resume(step),
            Event::Wake(Timer::Close) => self.close(self.close_later, step),
            Event::Wake(Timer::Closed) => self.closed(step),
            Event::Answer(sent, answer) => self.receive(sent, answer, step),
            Event::Script(MemberAction::Stall(for_ms)) => {
                step.wake(Timer::Stall, self.app.stalls(step.now, for_ms));
            }
            Event::Script(MemberAction::Subscribe(topics)) => self.subscribe(topics, step),
            Event::Delete(topic) => self.miss_topic(topic, step),
            Event::Leaders => self.see_records(step),
            Event::Script(MemberAction::Commit(epoch)) => self.commit_for_script(epoch, step),
            Event::Script(MemberAction::Close(leaves)) => self.close(leaves, step),
            Event::Script(MemberAction::Crash) => self.end(None, step),
        }
        Ok(())
    }

    fn identity(&self) -> (&Name, i32) {
        (&self.id, self.epoch)
    }

    fn awaits(&self, sent: Sent, answer: &AnswerOf<Self>) -> bool {
        let Answer { code, assignment, .. } = answer;
        // While the member takes up an assignment, its next heartbeat waits for the answer to this one.
        let reconciles = !matches!(self.membership.state, MemberState::Stable | MemberState::Unsubscribed);
        match sent.api {
            Api::ScriptCommit => false,
            Api::OffsetCommit => true,
            Api::ConsumerGroupHeartbeat if reconciles => true,
            _ => assignment.is_some() || *code != Code::None,
        }
    }

    fn reads(&self, place: Place) -> bool {
        self.subscriptions.returns(place)
    }

    fn is_at_rest(&self, coordinator: &ConsumerCoordinator, _: &Cluster) -> bool {
        // The network thread hears only of every second call.
        let polls_too_seldom = 2 * self.app.poll_ms >= self.config.max_poll_interval_ms;
        let waits = self.app.stall.is_some() || self.app.closing.is_some() || self.error.is_some();
        let hears = !self.background_events.is_empty() || self.calls_back || self.called_back.is_some();
        let rests = self.membership.state == MemberState::Stable && self.initializing().next().is_none();
        let is_current = coordinator.group.member(&self.id).is_some_and(|member| {
            let assigned = self.subscriptions.assigned.iter().copied();
            member.epoch == self.epoch && member.assigned.places().eq(assigned)
        });
        !(polls_too_seldom || waits || hears) && rests && self.subscriptions.is_sent() && is_current
    }
}

impl ConsumerMember {
    /// Whether something is so in its version.
    fn is_so(&self, fact: Fact) -> bool {
        self.version.has(fact)
    }

    /// A request as it remembers it.
    fn sent(&self, api: Api, now: i64) -> Sent {
        Sent { api, identity: self.identity, read: self.app.read_by(now) }
    }

    /// How far it has got with its partitions. It says of each commit when it makes it.
    fn progress(&self, now: i64) -> Progress {
        Progress { read: self.app.read_by(now), committed: i64::MIN }
    }

    /// Stops returning records of some of its partitions.
    fn hold_back(&mut self, places: &[Place], step: &mut ConsumerStep<'_>) {
        self.subscriptions.hold_back(places, self.progress(step.now), step);
        self.see_records(step);
    }

    /// Notes whether its `poll()` finds records from now on.
    fn see_records(&mut self, step: &mut ConsumerStep<'_>) {
        let is_busy = self.subscriptions.has_records(step);
        if is_busy != self.is_busy {
            (self.is_busy, self.is_woken) = (is_busy, !is_busy);
        }
    }

    /// Ends a stall. If the application would have polled meanwhile, it polls at once.
    fn resume(&mut self, step: &mut ConsumerStep<'_>) {
        let resumes = self.app.resumes(step.now).is_some();
        self.poll_at(if resumes { step.now } else { self.app.next_poll(step.now) }, step);
    }

    fn subscribe(&mut self, topics: Arc<[u32]>, step: &mut ConsumerStep<'_>) {
        self.subscriptions.subscribe(topics, true, self.progress(step.now), step);
        self.see_topics(step);
        self.see_records(step);
    }

    /// `close()`: commits what was read, and calls the listener back. If a callback runs, it comes after that.
    fn close(&mut self, leaves: Option<bool>, step: &mut ConsumerStep<'_>) {
        let now = step.now;
        if let Some(until) = self.app.in_callback(now) {
            self.close_later = leaves;
            step.wake(Timer::Close, until);
            return;
        }
        let read = self.app.read_by(now);
        self.app.closes(now, leaves);
        let callback_ms = self.config.listener_ms.unwrap_or(0);
        let has_any = !self.subscriptions.assigned.is_empty();
        if self.config.auto_commits() || has_any && callback_ms > 0 {
            // While the application waits for its commit or its callback, its network thread sees to everything else.
            self.run_once(step);
        }
        let mut takes_ms = 0;
        if !self.subscriptions.assigned.is_empty() {
            takes_ms += callback_ms;
            if self.config.auto_commits() && self.subscriptions.has_positions() {
                takes_ms += step.latency_ms;
                step.commit(read);
            }
        }
        if takes_ms == 0 {
            self.closed(step);
        } else {
            step.wake(Timer::Closed, now + takes_ms);
        }
    }

    /// Finishes `close()`: tells the coordinator, and ends.
    fn closed(&mut self, step: &mut ConsumerStep<'_>) {
        self.leave_on_close(self.app.closing.and_then(|closing| closing.leaves), step);
        self.end(None, step);
    }

    /// Ends with an error that the application sees, or without one.
    fn end(&mut self, code: Option<Code>, step: &mut ConsumerStep<'_>) {
        self.subscriptions.hold_back_all(self.progress(step.now), step);
        step.end(code);
    }
}

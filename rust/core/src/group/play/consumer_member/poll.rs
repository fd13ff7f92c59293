//! A KIP-848 member's `poll()`: the application's passes, and the network thread's part in them (`AsyncKafkaConsumer`).
//!
//! In a pass, the application tells the network thread that it polls, takes the thread's events, and looks for records.
//! How the thread reacts mostly shows in the next pass; if the thread is fast (`race`), it shows in this one.

use super::super::application::RETRY_BACKOFF_MS;
use super::super::script::Race;
use super::{BackgroundEvent, ConsumerMember, ConsumerStep, Fact, MemberState, Timer};

/// How often an application goes round at one instant before 1 ms passes.
const ROUNDS_AT_ONCE: u8 = 2;

/// An idle application's rounds within a call of `poll()`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    /// When the next one comes, if there is one.
    pub next: Option<i64>,
    /// When the last one was, and how many followed it without a pause.
    last: i64,
    at_once: u8,
    /// When the event of the last round is done, if the application still has it in its next round (`inflightPoll`).
    event_done_at: Option<i64>,
    /// The call in which the application goes round without a rest, if it does.
    spins_in: Option<i64>,
}

impl ConsumerMember {
    /// Schedules a pass of the application's `poll()`, unless one is already scheduled by then.
    pub(super) fn poll_at(&mut self, at: i64, step: &mut ConsumerStep<'_>) {
        if self.next_pass.is_none_or(|pass| pass > at) {
            self.next_pass = Some(at);
            step.wake(Timer::Poll, at);
        }
    }

    /// Schedules the application's next pass at or after `from`, if there is anything to do.
    pub(super) fn poll_next(&mut self, from: i64, step: &mut ConsumerStep<'_>) {
        if self.has_work() {
            self.poll_at(self.next_pass_from(from), step);
        }
    }

    /// Whether the application has something to do in a pass.
    fn has_work(&self) -> bool {
        let reconciles = match self.membership.state {
            MemberState::Unsubscribed | MemberState::Stale | MemberState::Acknowledging => true,
            MemberState::Reconciling => self.membership.reconciling.is_none(),
            _ => false,
        };
        // The network thread hears only of every second call.
        let polls_too_seldom = 2 * self.app.poll_ms() >= self.config.max_poll_interval_ms;
        let locates = self.positions.comes_at.is_none() && self.initializing().next().is_some();
        let hears = !self.background_events.is_empty() || !self.taken_events.is_empty();
        reconciles
            || hears
            || self.called_back.is_some()
            || self.error.is_some()
            || locates
            || polls_too_seldom
    }

    /// Whether an idle application goes round at least each `retry.backoff.ms`.
    fn goes_round_often(&self) -> bool {
        let has_none = !self.is_so(Fact::WaitsForThread) && self.subscriptions.assigned().is_empty();
        self.is_so(Fact::GoesRoundOften) || has_none || self.initializing().next().is_some()
    }

    fn next_pass_from(&self, from: i64) -> i64 {
        let (next, call) = (self.app.next_poll(from), self.app.last_poll(from));
        match self.rounds.next {
            _ if self.is_busy => next,
            Some(round) if call == self.call && round >= from => round.min(next),
            None if call == self.call => next,
            _ if self.is_so(Fact::GoesRoundOften) || !self.app.is_inside(from) => {
                self.app.next_pass(from, false)
            }
            _ => {
                // It has waited for what was due when it began to wait.
                let round =
                    self.goes_round_often().then(|| from + (call - from).rem_euclid(RETRY_BACKOFF_MS));
                let dues = [self.commits_at(from), Some(self.heartbeats.due), round].into_iter().flatten();
                let pass = dues.filter(|due| *due >= from && *due < self.app.end_of(call)).min();
                pass.map_or(next, |at| at.min(next))
            }
        }
    }

    /// A scheduled pass. In a stall, there is one only if the stall began inside of `poll()`, and a callback keeps the
    /// application from it.
    pub(super) fn pass(&mut self, step: &mut ConsumerStep<'_>) {
        let is_inside = self.calls_back || !self.is_busy && step.now < self.app.end_of_last(step.now);
        let is_due = self.next_pass.take() == Some(step.now);
        if !is_due || self.closing.is_some() || self.app.stall().is_some() && !is_inside {
            return;
        }
        match self.app.in_callback(step.now) {
            Some(until) => self.poll_at(until, step),
            None => self.poll(step),
        }
    }

    /// A pass of `AsyncKafkaConsumer.poll()`. One that a callback interrupted goes on where it stopped.
    pub(super) fn poll(&mut self, step: &mut ConsumerStep<'_>) {
        if let Some(code) = self.error {
            self.end(Some(code), step);
        } else if self.is_so(Fact::WaitsForThread) {
            self.poll_with_thread(step);
        } else {
            self.poll_beside_thread(step);
        }
    }

    fn begin_pass(&mut self, step: &mut ConsumerStep<'_>) {
        if self.wakes_before_poll(step.now) {
            self.run_once(step);
        }
        self.note_commits(step);
        self.call = self.app.last_poll(step.now);
    }

    /// The events of the network thread: new ones, or those of which a callback has kept the application.
    fn take_events(&mut self, begins: bool) -> Vec<BackgroundEvent> {
        std::mem::take(if begins { &mut self.background_events } else { &mut self.taken_events })
    }

    /// A pass as of 4.2, which does not wait for the thread.
    fn poll_beside_thread(&mut self, step: &mut ConsumerStep<'_>) {
        let (now, begins) = (step.now, !self.calls_back);
        let is_fast = is_fast(step.race);
        if begins {
            self.begin_pass(step);
        }
        let mut waits_ms = self.turns.maximum_time_to_wait_ms;
        let mut events = self.take_events(begins);
        // `hasPendingReconciliation`: it looks for records only after the thread has looked at the reconciliation.
        let awaits_thread =
            self.is_so(Fact::WaitsForReconciliation) && self.membership.state == MemberState::Reconciling;
        let submits = begins && !self.has_event(now) && self.submits(now);
        let mut sees_thread = submits && (is_fast || awaits_thread);
        if submits {
            self.take_poll_event(step);
            // While it looks for positions, its records wait, too. If that lasts until the next call, that call finds none
            // left.
            let locates = self.positions.comes_at.is_some();
            let calls_often = self.app.poll_ms() <= RETRY_BACKOFF_MS.min(self.app.timeout_ms());
            let finds_none = locates && self.is_busy && calls_often && !sees_thread;
            if finds_none || is_fast && !locates {
                self.poll_events.send_again(now, &self.app, self.is_busy);
            }
        }
        if is_fast && begins {
            events.append(&mut self.background_events);
        }
        let has_events = !events.is_empty();
        if has_events {
            if self.process_background_events(events, submits, step) {
                return;
            }
            // By now the thread has also handled this pass's event.
            if now > self.call && self.app.next_poll(now) == now {
                self.poll_events.send(now);
            } else if self.positions.are_found(now) {
                self.poll_events.send_again(now, &self.app, self.is_busy);
            }
            sees_thread = true;
        }
        if sees_thread {
            waits_ms = self.turns.maximum_time_to_wait_ms;
        }
        self.let_thread_run(waits_ms, step);
        let mut is_woken = std::mem::take(&mut self.is_woken);
        if self.is_so(Fact::TellsInEverySecondRound) && !self.is_busy && submits {
            let done_at = self.positions.comes_at.unwrap_or(now);
            self.rounds.event_done_at = (!has_events && !is_fast).then_some(done_at);
            is_woken |= self.positions.comes_at.is_none();
        }
        self.poll_for_fetches(waits_ms, is_woken, step);
    }

    /// Whether a pass tells the network thread that it polls (`AsyncPollEvent`). It does not while the previous event is
    /// under way, nor if that event has brought records.
    fn submits(&self, now: i64) -> bool {
        if self.is_busy || self.is_woken {
            return self.poll_events.sends(now, &self.app);
        }
        self.positions.are_found(now) || self.polled + self.app.timeout_ms() <= now
    }

    /// Whether the application still has the event of its previous round, which is done by now. It drops that event.
    fn has_event(&mut self, now: i64) -> bool {
        let has_event =
            self.rounds.event_done_at.is_some_and(|done_at| (done_at - 1..=done_at).contains(&now));
        if has_event {
            self.rounds.event_done_at = None;
            self.poll_events.send_again(now, &self.app, self.is_busy);
        }
        has_event
    }

    /// Lets the thread run after a pass. If the application goes round without a rest, the event of its next pass wakes
    /// the thread; if it rests, a callback that has ended does, and so does a fetch.
    fn let_thread_run(&mut self, waits_ms: i64, step: &mut ConsumerStep<'_>) {
        let now = step.now;
        let goes_round =
            if now < self.app.end_of(self.call) { waits_ms <= 0 } else { self.app.next_poll(now) == now };
        let hears = self.called_back.is_some() && (self.is_busy || !goes_round);
        if hears || self.is_busy && self.membership.state == MemberState::Acknowledging {
            self.run_once(step);
        }
    }

    /// `pollForFetches`: if there are no records, schedules the next round of `poll()`, at once if the wait for records
    /// `is_woken`.
    fn poll_for_fetches(&mut self, waits_ms: i64, is_woken: bool, step: &mut ConsumerStep<'_>) {
        let now = step.now;
        let end = self.app.end_of(self.call);
        self.app.stays_inside(self.call, if self.is_busy { now } else { end });
        let mut waits_ms = waits_ms.min(end - now);
        if self.goes_round_often() {
            waits_ms = waits_ms.min(RETRY_BACKOFF_MS);
        }
        let spins = self.is_so(Fact::Spins) && waits_ms <= 0 && !self.is_busy;
        if is_woken {
            waits_ms = 0;
        }
        let rounds = &mut self.rounds;
        rounds.at_once = if rounds.last == now { rounds.at_once + 1 } else { 0 };
        (rounds.last, rounds.spins_in) = (now, spins.then_some(self.call));
        let at_once = rounds.at_once < ROUNDS_AT_ONCE && !(spins && self.version.has(Fact::WaitsForThread));
        let next = now + if waits_ms <= 0 && !at_once { 1 } else { waits_ms.max(0) };
        rounds.next = Some(next).filter(|at| !self.is_busy && *at < end);
        // An answer may come while it waits.
        let awaits = self.membership.reconciling.is_some() || self.positions.comes_at.is_some();
        if self.rounds.next.is_some() && (awaits || self.has_work()) {
            self.poll_at(next, step);
        } else {
            self.poll_next(now.max(self.call + 1), step);
        }
    }

    /// The network thread hears that the application polls (`AsyncPollEvent`, up to 4.1 `PollEvent`).
    fn take_poll_event(&mut self, step: &mut ConsumerStep<'_>) {
        let now = step.now;
        self.end_turn(now);
        self.hear_of_callback(step);
        self.maybe_reconcile(true, step);
        let commits = self.maybe_auto_commit(step) || self.commit_sent_at == Some(now);
        self.poll_events.send(now);
        self.polled = now;
        if !self.is_so(Fact::WaitsForThread) {
            self.update_fetch_positions(step);
        }
        match self.membership.state {
            MemberState::Unsubscribed => self.join(step),
            MemberState::Stale if !self.awaits_lost => self.join(step),
            _ => {}
        }
        self.poll_managers(step);
        if commits {
            // A turn that sends something does not wait.
            self.end_turn(now);
        }
    }

    /// A pass up to 4.1: the network thread handles the application's event; then the application takes the thread's
    /// events, waits until its partitions have positions, and looks for records.
    fn poll_with_thread(&mut self, step: &mut ConsumerStep<'_>) {
        let begins = !self.calls_back;
        if begins {
            if self.positions.comes_at.is_some() && self.is_in_call(self.call, step.now) {
                return;
            }
            self.begin_pass(step);
            self.take_poll_event(step);
        }
        let events = self.take_events(begins);
        if !events.is_empty() {
            if self.process_background_events(events, true, step) {
                return;
            }
            // `ConsumerRebalanceListenerCallbackCompletedEvent` wakes the thread.
            self.run_once(step);
        }
        self.end_turn(step.now);
        self.look_for_positions(step);
    }

    /// `updateFetchPositions` up to 4.1, and what follows if there are none to wait for.
    fn look_for_positions(&mut self, step: &mut ConsumerStep<'_>) {
        self.update_fetch_positions(step);
        if self.positions.comes_at.is_none() {
            self.poll_for_fetches(self.turns.maximum_time_to_wait_ms, false, step);
            return;
        }
        self.rounds.next = None;
        let ends = self.app.end_of(self.call);
        self.app.stays_inside(self.call, ends);
        self.poll_next(step.now.max(ends), step);
    }

    /// Whether its application is inside the call of `poll()` that began at `call`, if that finds no records.
    fn is_in_call(&self, call: i64, at: i64) -> bool {
        self.app.last_poll(at) == call && at < self.app.end_of(call)
    }

    /// The application knows its positions, and goes on inside `poll()` if that has not ended meanwhile.
    pub(super) fn go_on(&mut self, step: &mut ConsumerStep<'_>) {
        let now = step.now;
        if self.app.in_callback(now).is_some() || !self.is_in_call(self.call, now) {
            return;
        }
        if self.is_so(Fact::WaitsForThread) {
            self.poll_for_fetches(self.turns.maximum_time_to_wait_ms, false, step);
        } else if self.positions.are_early() {
            // There is nothing to fetch, which ends the wait for records.
            self.rounds.event_done_at = Some(now);
            self.poll_at(now, step);
        }
    }

    /// An answer has come. An application that goes round without a rest has done so for the last time: the clock moves on
    /// within a round, after its event, so that the round's rest comes after the answer.
    pub(super) fn end_spin(&mut self, step: &mut ConsumerStep<'_>) {
        let now = step.now;
        let Some(call) = self.rounds.spins_in.take().filter(|call| self.is_in_call(*call, now)) else {
            return;
        };
        (self.next_pass, self.rounds.event_done_at) = (None, None);
        if self.is_so(Fact::TellsInEverySecondRound) || is_fast(step.race) {
            self.poll_at(now, step);
            return;
        }
        self.run_once(step);
        self.look_for_positions(step);
        self.app.stays_inside(call, self.app.end_of(call) + 1);
        self.next_pass = None;
    }
}

/// Whether the network thread is fast enough to react within the pass that wakes it.
fn is_fast(race: &mut Race) -> bool {
    match race {
        Race::Slow => false,
        Race::Fast => true,
        // One in ten, as seen with a real broker.
        Race::Drawn(random) => random.next_int(10) == 0,
    }
}

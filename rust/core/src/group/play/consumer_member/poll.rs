//! A KIP-848 member's `poll()`: the application's passes, and the network thread's part in them (`AsyncKafkaConsumer`).
//!
//! In a pass, the application tells the network thread that it polls, takes the thread's events, and looks for records.
//! How the thread reacts mostly shows in the next pass; if the thread is fast (`race`), it shows in this one.

use super::super::application::RETRY_BACKOFF_MS;
use super::super::script::Race;
use super::{BackgroundEvent, ConsumerMember, ConsumerStep, Fact, MemberState, Timer};

/// An idle application's rounds within a call of `poll()`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    /// When the last one was.
    last: Option<i64>,
    /// When the event of the last round is done, if the application still has it in its next round (`inflightPoll`).
    event_done_at: Option<i64>,
    /// Whether the application goes round without a rest until it has an answer.
    spin: bool,
}

impl ConsumerMember {
    /// Schedules a pass of the application's `poll()`, unless one is already scheduled by then.
    pub(super) fn poll_at(&mut self, at: i64, step: &mut ConsumerStep<'_>) {
        if self.next_pass.is_none_or(|pass| pass > at) {
            self.next_pass = Some(at);
            step.wake(Timer::Poll, at);
        }
    }

    /// Schedules the application's next call of `poll()`, at or after `from`.
    pub(super) fn call_next(&mut self, from: i64, step: &mut ConsumerStep<'_>) {
        (self.next_pass, self.goes_round) = (None, false);
        self.poll_at(self.app.next_poll(from), step);
    }

    /// Whether an idle application goes round at least each `retry.backoff.ms`.
    fn goes_round_often(&self) -> bool {
        let has_none = !self.is_so(Fact::WAITS_FOR_THREAD) && self.subscriptions.assigned.is_empty();
        self.is_so(Fact::GOES_ROUND_OFTEN) || has_none || self.initializing().next().is_some()
    }

    /// A scheduled pass. In a stall, there is one only if the stall began inside of `poll()`, and a callback keeps the
    /// application from it.
    pub(super) fn pass(&mut self, step: &mut ConsumerStep<'_>) {
        let is_inside = self.calls_back || self.goes_round;
        self.next_pass = None;
        if self.app.closing.is_some() || self.app.stall.is_some() && !is_inside {
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
        } else if self.is_so(Fact::WAITS_FOR_THREAD) {
            self.poll_with_thread(step);
        } else {
            self.poll_beside_thread(step);
        }
    }

    /// Begins a pass: a call, or another round of the last one.
    fn begin_pass(&mut self, step: &mut ConsumerStep<'_>) {
        if std::mem::take(&mut self.goes_round) {
            return;
        }
        if self.heartbeats.due == step.now && self.thread_wakes_first() {
            self.run_once(step);
        }
        (self.call, self.calls_since_polled) = (step.now, self.calls_since_polled + 1);
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
            self.is_so(Fact::WAITS_FOR_RECONCILIATION) && self.membership.state == MemberState::Reconciling;
        let submits = begins && !self.has_event(now) && self.submits(now);
        let mut sees_thread = submits && (is_fast || awaits_thread);
        if submits {
            self.take_poll_event(step);
            // While it looks for positions, its records wait, too. If that lasts until the next call, that call finds none
            // left.
            let locates = self.positions.comes_at.is_some();
            let calls_often = self.app.poll_ms <= RETRY_BACKOFF_MS.min(self.app.timeout_ms);
            if locates && self.is_busy && calls_often && !sees_thread {
                self.calls_since_polled = 1;
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
            if self.positions.are_found(now) {
                // By now the thread has also handled this pass's event, so the next call sends another one.
                self.calls_since_polled = 1;
            }
            sees_thread = true;
        }
        if sees_thread {
            waits_ms = self.turns.maximum_time_to_wait_ms;
        }
        self.let_thread_run(waits_ms, step);
        let mut is_woken = std::mem::take(&mut self.is_woken);
        if self.is_so(Fact::TELLS_IN_EVERY_SECOND_ROUND) && !self.is_busy && submits {
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
            return self.calls_since_polled.is_multiple_of(self.version.calls_an_event());
        }
        self.positions.are_found(now) || self.polled + self.app.timeout_ms <= now
    }

    /// Whether the application still has the event of its previous round, which is done by now. It drops that event.
    fn has_event(&mut self, now: i64) -> bool {
        let has_event = self.rounds.event_done_at == Some(now);
        if has_event {
            (self.rounds.event_done_at, self.calls_since_polled) = (None, 1);
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
        let mut waits_ms = waits_ms.min(end - now);
        if self.goes_round_often() {
            waits_ms = waits_ms.min(RETRY_BACKOFF_MS);
        }
        let spins = self.is_so(Fact::SPINS) && waits_ms <= 0 && !self.is_busy;
        if is_woken {
            waits_ms = 0;
        }
        if waits_ms <= 0 && (self.rounds.last == Some(now) || spins && self.is_so(Fact::WAITS_FOR_THREAD)) {
            // It goes round at once, but not for ever within one instant.
            waits_ms = 1;
        }
        (self.rounds.last, self.rounds.spin) = (Some(now), spins);
        let next = now + waits_ms.max(0);
        if self.is_busy || next >= end {
            self.call_next(if self.is_busy { now } else { end }.max(self.call + 1), step);
        } else {
            self.goes_round = true;
            self.poll_at(next, step);
        }
    }

    /// The network thread hears that the application polls (`AsyncPollEvent`, up to 4.1 `PollEvent`).
    fn take_poll_event(&mut self, step: &mut ConsumerStep<'_>) {
        let now = step.now;
        self.end_turn(now);
        self.hear_of_callback(step);
        self.maybe_reconcile(true, step);
        let commits = self.maybe_auto_commit(step) || self.commit_sent_at == Some(now);
        (self.polled, self.calls_since_polled) = (now, 0);
        if !self.is_so(Fact::WAITS_FOR_THREAD) {
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

    /// `updateFetchPositions` up to 4.1. If all positions are known, the pass goes on at once.
    fn look_for_positions(&mut self, step: &mut ConsumerStep<'_>) {
        self.update_fetch_positions(step);
        if self.positions.comes_at.is_none() {
            self.poll_for_fetches(self.turns.maximum_time_to_wait_ms, false, step);
            return;
        }
        self.call_next(step.now.max(self.app.end_of(self.call)), step);
    }

    /// The application knows its positions, and goes on inside `poll()` if that has not ended meanwhile.
    pub(super) fn go_on(&mut self, step: &mut ConsumerStep<'_>) {
        let now = step.now;
        if self.app.in_callback(now).is_some() || now >= self.app.end_of(self.call) {
            return;
        }
        if self.is_so(Fact::WAITS_FOR_THREAD) {
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
        let ends = self.app.end_of(self.call);
        if !std::mem::take(&mut self.rounds.spin) || step.now >= ends {
            return;
        }
        (self.next_pass, self.rounds.event_done_at) = (None, None);
        if self.is_so(Fact::TELLS_IN_EVERY_SECOND_ROUND) || is_fast(step.race) {
            self.goes_round = true;
            self.poll_at(step.now, step);
            return;
        }
        self.run_once(step);
        self.look_for_positions(step);
        if !self.goes_round {
            self.call_next(ends + 1, step);
        }
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

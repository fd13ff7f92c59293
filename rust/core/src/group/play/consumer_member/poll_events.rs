//! Of which calls of `poll()` the network thread is told (`AsyncPollEvent`; `PollEvent` up to 4.1).
//!
//! As of 4.2, a busy application tells it of every second call: the call in between finds the event of the call before
//! done, and the records that this event asked for. Calls with nothing else to do are not played, so they are counted
//! when that number is needed.

use super::super::application::{Application, Stall};

/// The events that an application sends its network thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct PollEvents {
    /// A busy application tells the thread once in so many calls.
    calls_an_event: i64,
    /// When the calls since the last event were last counted.
    counted_at: i64,
    calls: i64,
    /// When the last event was sent, as of then.
    sent_at: i64,
}

impl PollEvents {
    pub(super) fn new(calls_an_event: i64, at: i64) -> Self {
        Self { calls_an_event, counted_at: at, calls: 0, sent_at: at }
    }

    /// The application tells the thread that it polls.
    pub(super) fn send(&mut self, at: i64) {
        (self.counted_at, self.calls, self.sent_at) = (at, 0, at);
    }

    /// The thread has already handled this call's event, so the next call sends another one.
    pub(super) fn send_again(&mut self, at: i64, app: &Application, is_busy: bool) {
        self.sent_at = self.last(at, app, is_busy);
        (self.counted_at, self.calls) = (at, 1);
    }

    /// The application finds records from `at` on, or no longer does: that changes which of its calls send an event.
    pub(super) fn change(&mut self, at: i64, app: &Application, was_busy: bool) {
        self.sent_at = self.last(at, app, was_busy);
        if was_busy {
            (self.calls, self.counted_at) = (self.calls_by(at, app), at);
        }
    }

    /// The application calls `poll()` again after a stall. `before` is what `last` was before that.
    pub(super) fn resume(&mut self, at: i64, stall: Stall, before: i64, app: &Application) {
        self.calls = self.calls_by(stall.since - 1, app) + 1;
        (self.counted_at, self.sent_at) = (at, before);
    }

    /// Whether a busy application's call at `at` sends an event.
    pub(super) fn sends(&self, at: i64, app: &Application) -> bool {
        self.calls_by(at, app) % self.calls_an_event == 0
    }

    /// How many calls there were since the last event, up to `at`.
    fn calls_by(&self, at: i64, app: &Application) -> i64 {
        let by = app.stall().map_or(at, |stall| at.min(stall.since - 1));
        self.calls + app.calls_between(self.counted_at, by)
    }

    /// When the last event was sent, at or before `at`.
    pub(super) fn last(&self, at: i64, app: &Application, is_busy: bool) -> i64 {
        let pass = app.last_pass(at, is_busy);
        let sent = if is_busy && !self.sends(pass, app) { app.last_poll(pass - 1) } else { pass };
        if sent > self.counted_at { sent.max(self.sent_at) } else { self.sent_at }
    }

    /// The first call or pass at or after `at` that sends an event, and the time after which others do.
    pub(super) fn first(&self, at: i64, app: &Application, is_busy: bool) -> Rhythm {
        let first = app.in_rhythm(at);
        let every_ms = app.poll_ms();
        if !is_busy {
            return Rhythm { first: app.next_round(at).map_or(first, |round| round.min(first)), every_ms };
        }
        let first = if self.sends(first, app) { first } else { first + every_ms };
        Rhythm { first, every_ms: self.calls_an_event * every_ms }
    }
}

/// Events that come again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rhythm {
    pub first: i64,
    pub every_ms: i64,
}

#[cfg(test)]
mod tests {
    use super::super::super::application::Application;
    use super::{PollEvents, Rhythm};

    #[test]
    fn a_busy_application_tells_its_network_thread_of_every_second_call() {
        let mut app = Application::new(0, 0, 500, 100);
        let mut events = PollEvents::new(2, 0);
        events.send(1_000);
        assert_eq!(
            [1_400, 1_500, 1_999, 2_000].map(|at| events.last(at, &app, true)),
            [1_000, 1_000, 1_000, 2_000]
        );
        let every_second = Rhythm { first: 2_000, every_ms: 1_000 };
        assert_eq!([1_001, 1_501].map(|at| events.first(at, &app, true)), [every_second; 2]);
        assert_eq!(events.first(1_001, &app, false), Rhythm { first: 1_500, every_ms: 500 });
        // There are no calls in a stall.
        app.stalls(2_600, 10_000);
        assert_eq!((events.calls_by(2_500, &app), events.calls_by(9_000, &app)), (3, 3));
    }
}

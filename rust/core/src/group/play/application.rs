//! A consumer's application: when it calls `poll()`, how long it stays inside, and when it stalls.
//!
//! A member with records is busy: its `poll()` returns at once, and the next call comes `poll_ms` after this one began.
//! An idle member stays inside `poll()` for `poll_timeout_ms` and goes round in passes. All of this is computed on
//! demand, so an application that only reads causes no events.

use super::ledger::Reader;

/// `retry.backoff.ms`: an idle `poll()` goes round at least this often, and so does the heartbeat thread.
pub(super) const RETRY_BACKOFF_MS: i64 = 100;

/// When an application polls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Application {
    /// Where its calls fall within `poll_ms`. Each member has its own offset, so that members do not poll in step.
    phase: i64,
    /// The time from one call to the next.
    pub poll_ms: i64,
    /// How long an idle call stays inside `poll()`.
    pub timeout_ms: i64,
    /// A call outside its rhythm: the very first, or the first after a stall.
    called: i64,
    /// The call before that one.
    before_called: i64,
    pub stall: Option<Stall>,
    callback: Callback,
    pub closing: Option<Closing>,
}

/// A time in which an application does not poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stall {
    pub since: i64,
    pub until: i64,
}

/// A listener's callback, which keeps the application inside the call of `poll()` that made it.
#[derive(Clone, Copy, Debug)]
struct Callback {
    call: i64,
    until: i64,
}

/// When `close()` began, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closing {
    since: i64,
    /// Whether the member leaves the group; if this is not specified, the default of `close()` decides.
    pub leaves: Option<bool>,
}

impl Application {
    /// An application that starts at `at`, as number `reader` of its group.
    pub(super) fn new(reader: Reader, at: i64, poll_ms: i64, timeout_ms: i64) -> Self {
        // Steps of the golden ratio spread any number of members evenly.
        let offset = (i64::from(reader.0.wrapping_mul(0x9e37_79b9)) * poll_ms) >> 32;
        Self {
            phase: at + offset,
            poll_ms,
            timeout_ms,
            called: at,
            before_called: at,
            stall: None,
            callback: Callback { call: i64::MAX, until: i64::MIN },
            closing: None,
        }
    }

    /// Stalls for `for_ms`, or until the end of a longer stall that is under way. Returns until when.
    pub(super) fn stalls(&mut self, at: i64, for_ms: i64) -> i64 {
        let before = self.stall.unwrap_or(Stall { since: at, until: at });
        // A stall delays the next call; it never brings that call forward.
        let until = before.until.max(at + for_ms).max(self.next_poll(at));
        self.stall = Some(Stall { since: before.since, until });
        until
    }

    /// Ends a stall that is over. If the application would have polled meanwhile, it polls at once. Returns the stall if
    /// it does.
    pub(super) fn resumes(&mut self, at: i64) -> Option<Stall> {
        let stall = self.stall.take()?;
        let unstalled = self.next_poll(stall.since);
        if unstalled >= at {
            return None;
        }
        (self.before_called, self.called) = (self.last_poll(stall.since - 1), at);
        Some(stall)
    }

    /// It calls `close()`.
    pub(super) fn closes(&mut self, at: i64, leaves: Option<bool>) {
        self.closing = Some(Closing { since: at, leaves });
    }

    /// The time up to which it has read. If it stalls or closes, that is when it began to.
    pub(super) fn read_by(&self, now: i64) -> i64 {
        let stalls = self.stall.map_or(now, |stall| stall.since);
        self.closing.map_or(stalls, |closing| stalls.min(closing.since))
    }

    /// A callback keeps the application inside `poll()` from `at` to `until`.
    pub(super) fn calls_back(&mut self, at: i64, until: i64) {
        self.callback = Callback { call: self.last_poll(at), until };
    }

    /// Whether a callback ends at `at`, so that the application goes on within `poll()`.
    pub(super) fn has_called_back(&self, at: i64) -> bool {
        at == self.callback.until
    }

    /// When the callback that runs at `at` ends, if one runs.
    pub(super) fn in_callback(&self, at: i64) -> Option<i64> {
        Some(self.callback.until).filter(|until| at < *until)
    }

    /// The first call of `poll()` at or after `at`.
    pub(super) fn next_poll(&self, at: i64) -> i64 {
        let unstalled = |at: i64| {
            let at = at.max(self.callback.until);
            if at <= self.called { self.called } else { self.in_rhythm(at) }
        };
        match self.stall {
            Some(Stall { since, until }) => at.max(until).max(unstalled(since)),
            None => unstalled(at),
        }
    }

    /// The first call at or after `at`, if nothing disturbs the rhythm.
    pub(super) fn in_rhythm(&self, at: i64) -> i64 {
        if self.poll_ms <= 0 { at } else { at + (self.phase - at).rem_euclid(self.poll_ms) }
    }

    /// The last call of `poll()` at or before `at`.
    pub(super) fn last_poll(&self, at: i64) -> i64 {
        let by = self.stall.map_or(at, |stall| at.min(stall.since - 1));
        let Callback { call, until } = self.callback;
        if by >= call && by < self.in_rhythm(until.max(call + 1)) {
            return call;
        }
        if by < self.called {
            return self.before_called;
        }
        let in_rhythm = if self.poll_ms <= 0 { by } else { by - (by - self.phase).rem_euclid(self.poll_ms) };
        if in_rhythm < self.phase { self.called } else { in_rhythm.max(self.called) }
    }

    /// When an idle call that began at `poll` ends.
    pub(super) fn end_of(&self, poll: i64) -> i64 {
        poll + self.timeout_ms
    }

    /// When the call that is the last one at `at` ends, or would end if it were idle.
    pub(super) fn end_of_last(&self, at: i64) -> i64 {
        self.end_of(self.last_poll(at))
    }

    /// Whether an idle application is inside `poll()`. A stall does not end a call that is under way.
    pub(super) fn is_inside(&self, at: i64) -> bool {
        at >= self.called && at <= self.end_of_last(at)
    }

    /// The first pass at or after `at`.
    pub(super) fn next_pass(&self, at: i64, is_busy: bool) -> i64 {
        let next = self.next_poll(at);
        if is_busy || !self.is_inside(at) || at < self.callback.until {
            return next;
        }
        let last = self.last_poll(at);
        let pass = at.saturating_add((last - at).rem_euclid(RETRY_BACKOFF_MS));
        if pass < self.end_of(last) { pass.min(next) } else { next }
    }
}

#[cfg(test)]
mod tests {
    use super::{Application, Reader, Stall};

    #[test]
    fn polls_when_it_starts_and_then_in_its_rhythm() {
        let app = Application::new(Reader(1), 60_000, 10_000, 100);
        assert_eq!([0, 60_001, 66_181, 70_000].map(|at| app.next_poll(at)), [60_000, 66_180, 76_180, 76_180]);
        assert_eq!(
            [60_000, 66_179, 66_180, 80_000].map(|at| app.last_poll(at)),
            [60_000, 60_000, 66_180, 76_180]
        );
        assert_eq!([66_180, 66_280, 66_281].map(|at| app.is_inside(at)), [true, true, false]);
    }

    #[test]
    fn stays_inside_of_poll_while_it_is_idle() {
        let app = Application::new(Reader(0), 0, 1_000, 300);
        assert_eq!([0, 1, 150, 201, 300].map(|at| app.next_pass(at, false)), [0, 100, 200, 1_000, 1_000]);
        assert_eq!([1, 999].map(|at| app.next_pass(at, true)), [1_000, 1_000]);
        let restless = Application::new(Reader(0), 0, 0, 100);
        assert_eq!([7, 70].map(|at| restless.next_poll(at)), [7, 70]);
    }

    #[test]
    fn does_not_poll_in_a_stall_and_polls_when_it_is_over() {
        let mut app = Application::new(Reader(0), 0, 500, 100);
        assert_eq!((app.stalls(1_000, 5_200), app.stalls(2_000, 100)), (6_200, 6_200));
        let stall = Stall { since: 1_000, until: 6_200 };
        assert_eq!((app.next_poll(1_000), app.last_poll(4_000), app.stall), (6_200, 500, Some(stall)));
        assert_eq!(app.resumes(6_200), Some(stall));
        assert_eq!((app.next_poll(6_200), app.next_poll(6_201), app.last_poll(6_300)), (6_200, 6_500, 6_200));
        assert_eq!(app.last_poll(6_199), 500);
        // A stall that ends before the next call changes nothing.
        app.stalls(6_600, 100);
        assert_eq!((app.resumes(7_000), app.last_poll(6_999)), (None, 6_500));
    }
}

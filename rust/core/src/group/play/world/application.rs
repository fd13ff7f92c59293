//! A consumer's application: when it calls `poll()`, how long it stays inside, and when it stalls.
//!
//! A member with records is busy: its `poll()` returns at once, and the next call comes `poll_ms` after this one began.
//! An idle member stays inside `poll()` for `poll_timeout_ms` and goes round in passes. All of this is computed on
//! demand, so an application that only reads causes no events.

/// `retry.backoff.ms`: an idle `poll()` goes round at least this often, and so does the heartbeat thread.
pub(super) const RETRY_BACKOFF_MS: i64 = 100;

/// When an application polls.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Application {
    /// Where its calls fall within `poll_ms`. Each member has its own offset, so that members do not poll in step.
    phase: i64,
    poll_ms: i64,
    timeout_ms: i64,
    /// A call outside its rhythm: the very first, or the first after a stall.
    called: i64,
    /// The call before that one, and since when the application waited for that one.
    before_called: (i64, i64),
    /// When its stall began, and when it polls again.
    stall: Option<(i64, i64)>,
    /// When the listener's callback that keeps it inside `poll()` ends.
    callback_until: i64,
    /// When the call of `poll()` with that callback began.
    called_back: i64,
    /// Until when a call outside its rhythm stays inside `poll()`, because there are no records.
    inside_until: i64,
    /// From when on, and how often, an idle classic member commits within `poll()`.
    pub commits: Option<(i64, i64)>,
    /// How many calls go by until a busy application tells its network thread again that it polls; 0 if it has no such
    /// thread.
    pub calls_a_telling: i64,
    /// How often an idle `poll()` goes round.
    pub round_ms: i64,
    /// When it last counted the calls since it told the network thread that it polls, and that count.
    told: (i64, i64),
    /// When it had last told the network thread that it polls, as of that count.
    heard: i64,
}

impl Application {
    /// An application that starts at `at`, as number `reader` of its group.
    pub(super) fn new(reader: u32, at: i64, poll_ms: i64, timeout_ms: i64) -> Self {
        // Steps of the golden ratio spread any number of members evenly.
        let offset = (i64::from(reader.wrapping_mul(0x9e37_79b9)) * poll_ms) >> 32;
        let (phase, called_back) = (at + offset, i64::MAX);
        let (callback_until, inside_until) = (i64::MIN, i64::MIN);
        Self {
            phase,
            poll_ms,
            timeout_ms,
            called: at,
            before_called: (at, at),
            stall: None,
            callback_until,
            called_back,
            inside_until,
            commits: None,
            calls_a_telling: 0,
            round_ms: RETRY_BACKOFF_MS,
            told: (at, 0),
            heard: at,
        }
    }

    /// Stalls for `for_ms`, or until the end of a longer stall that is under way. Returns whether it polled until now.
    pub(super) fn stalls(&mut self, at: i64, for_ms: i64) -> bool {
        let (since, until) = self.stall.unwrap_or((at, at));
        let polled = self.stall.is_none();
        // A stall delays the next call; it never brings that call forward.
        self.stall = Some((since, until.max(at + for_ms).max(self.next_poll(at))));
        polled
    }

    /// When its stall began, and when it ends.
    pub(super) fn stall(&self) -> Option<(i64, i64)> {
        self.stall
    }

    /// Ends a stall. If the application would have polled meanwhile, it polls at once. Returns whether it does.
    pub(super) fn resumes(&mut self, at: i64, is_busy: bool) -> bool {
        let Some((since, _)) = self.stall.take() else { return false };
        let unstalled = self.next_poll(since);
        if unstalled >= at {
            return false;
        }
        (self.told, self.heard) =
            ((at, self.calls_since_told(since - 1) + 1), self.last_told(since - 1, is_busy));
        (self.before_called, self.called) = ((self.last_poll(since - 1), unstalled), at);
        true
    }

    /// Tells KIP-848's network thread that the application polls.
    pub(super) fn tells(&mut self, at: i64) {
        (self.told, self.heard) = ((at, 0), at);
    }

    /// Notes that the network thread has already handled this call's event, so that the next call tells it again.
    pub(super) fn tells_again(&mut self, at: i64, is_busy: bool) {
        (self.heard, self.told) = (self.last_told(at, is_busy), (at, 1));
    }

    /// Notes that this call does not tell the network thread that it polls.
    pub(super) fn tells_nothing(&mut self, at: i64) {
        (self.heard, self.told) = (self.last_told(at - 1, false), (at, self.calls_since_told(at)));
    }

    /// Whether a busy application tells the network thread of a call. It tells it of every second call: the call in
    /// between finds the previous event done, and the records that this event asked for. Older versions tell of each.
    pub(super) fn tells_of(&self, at: i64) -> bool {
        self.calls_since_told(at) % self.calls_a_telling.max(1) == 0
    }

    /// How many calls ago the application told the network thread that it polls.
    pub(super) fn calls_since_told(&self, at: i64) -> i64 {
        let (told_at, calls) = self.told;
        if self.poll_ms <= 0 {
            return 0;
        }
        let turn = |at: i64| (at - self.phase).div_euclid(self.poll_ms).max(-1);
        let by = self.stall.map_or(at, |(since, _)| at.min(since - 1));
        calls + (turn(by) - turn(told_at)).max(0)
    }

    /// When the network thread was last told that the application polls, at or before `at`.
    pub(super) fn last_told(&self, at: i64, is_busy: bool) -> i64 {
        let last = self.last_pass(at, is_busy);
        let told = if is_busy && !self.tells_of(last) { self.last_poll(last - 1) } else { last };
        if told > self.told.0 { told.max(self.heard) } else { self.heard }
    }

    /// The application finds records from `at` on, or no longer does. That changes which of its polls it tells of.
    pub(super) fn changes(&mut self, at: i64, was_busy: bool) {
        self.heard = self.last_told(at, was_busy);
        if was_busy {
            self.told = (at, self.calls_since_told(at));
        }
    }

    /// A callback keeps the application inside `poll()` from `at` to `until`.
    pub(super) fn calls_back(&mut self, at: i64, until: i64) {
        self.called_back = self.last_poll(at);
        self.callback_until = until;
    }

    /// Whether a callback ends at `at`, so that the application goes on within `poll()`.
    pub(super) fn has_called_back(&self, at: i64) -> bool {
        at == self.callback_until
    }

    /// When the callback that runs at `at` ends, if one runs.
    pub(super) fn in_callback(&self, at: i64) -> Option<i64> {
        Some(self.callback_until).filter(|until| at < *until)
    }

    /// When the callback in a call of `poll()` ends, if there is one.
    pub(super) fn callback_of(&self, poll: i64) -> Option<i64> {
        (poll == self.called_back).then_some(self.callback_until)
    }

    /// The first call of `poll()` at or after `at`.
    pub(super) fn next_poll(&self, at: i64) -> i64 {
        let unstalled = |at: i64| {
            let at = at.max(self.callback_until).max(self.inside_until);
            if at <= self.called { self.called } else { self.in_rhythm(at) }
        };
        match self.stall {
            Some((since, until)) => at.max(until).max(unstalled(since)),
            None => unstalled(at),
        }
    }

    /// The first call or pass in its rhythm at or after `at` that tells the network thread, and the time after which calls
    /// do so again.
    pub(super) fn first_told(&self, at: i64, is_busy: bool) -> (i64, i64) {
        let first = self.in_rhythm(at);
        if !is_busy {
            let call = first - self.poll_ms;
            let pass = at.saturating_add((call - at).rem_euclid(self.round_ms));
            return (if pass < self.end_of(call) { pass.min(first) } else { first }, self.poll_ms);
        }
        let first = if self.tells_of(first) { first } else { first + self.poll_ms };
        (first, self.calls_a_telling * self.poll_ms)
    }

    /// The first call at or after `at`, if nothing disturbs the rhythm.
    pub(super) fn in_rhythm(&self, at: i64) -> i64 {
        if self.poll_ms <= 0 { at } else { at + (self.phase - at).rem_euclid(self.poll_ms) }
    }

    /// The last call of `poll()` at or before `at`.
    pub(super) fn last_poll(&self, at: i64) -> i64 {
        if at >= self.called_back && at < self.in_rhythm(self.callback_until.max(self.called_back + 1)) {
            return self.called_back;
        }
        let by = self.stall.map_or(at, |(since, _)| at.min(since - 1));
        if by < self.called {
            return self.before_called.0;
        }
        let in_rhythm = if self.poll_ms <= 0 { by } else { by - (by - self.phase).rem_euclid(self.poll_ms) };
        if in_rhythm < self.phase.max(self.inside_until) { self.called } else { in_rhythm.max(self.called) }
    }

    /// Since when the application has waited for the call that begins at `at`.
    pub(super) fn waits_since(&self, at: i64, is_busy: bool) -> i64 {
        let last = self.last_poll(at - 1);
        if at == self.called {
            self.before_called.1
        } else if is_busy {
            last
        } else {
            self.end_of(last)
        }
    }

    /// The last pass within `poll()` at or before `at`. `max.poll.interval.ms` counts from it.
    pub(super) fn last_pass(&self, at: i64, is_busy: bool) -> i64 {
        let last = self.last_poll(at);
        let begins = self.callback_of(last).unwrap_or(last);
        let rounds = (at.min(self.end_of(last) - 1) - begins).max(0) / self.round_ms;
        if is_busy || rounds == 0 { last } else { begins + rounds * self.round_ms }
    }

    /// When an idle classic member commits in a call of `poll()`, if it does: that ends a pass, as the auto-commit timer
    /// limits each wait (`ConsumerCoordinator.timeToNextPoll`). Calls at other times than a multiple of the interval after
    /// the one before find the timer over when they begin.
    pub(super) fn commit_of(&self, poll: i64) -> Option<i64> {
        let (from, every) =
            self.commits.filter(|(_, every)| *every > 0 && every % self.poll_ms.max(1) == 0)?;
        let at = poll + (from - poll).rem_euclid(every);
        (at > poll && at > from && at < self.end_of(poll)).then_some(at)
    }

    /// When an idle call that began at `poll` ends.
    pub(super) fn end_of(&self, poll: i64) -> i64 {
        poll + self.timeout_ms
    }

    /// Whether an idle application is inside `poll()`. A stall does not end a call that is under way.
    pub(super) fn is_inside(&self, at: i64) -> bool {
        at >= self.called && at <= self.last_poll(at) + self.timeout_ms
    }

    /// The first pass at or after `at`.
    pub(super) fn next_pass(&self, at: i64, is_busy: bool) -> i64 {
        let next = self.next_poll(at);
        if is_busy || !self.is_inside(at) || at < self.callback_until {
            return next;
        }
        let last = self.last_poll(at);
        let pass = at.saturating_add((last - at).rem_euclid(self.round_ms));
        if pass < last + self.timeout_ms { pass.min(next) } else { next }
    }

    /// Keeps the application inside until `until`, if `call` is its call outside the rhythm.
    pub(super) fn stays_inside(&mut self, call: i64, until: i64) {
        if call == self.called {
            self.inside_until = until;
        }
    }

    /// How long an idle call stays inside `poll()`.
    pub(super) fn timeout_ms(&self) -> i64 {
        self.timeout_ms
    }

    /// The time from one call to the next.
    pub(super) fn poll_ms(&self) -> i64 {
        self.poll_ms
    }
}

#[cfg(test)]
mod tests {
    use super::Application;

    #[test]
    fn polls_when_it_starts_and_then_in_its_rhythm() {
        let app = Application::new(1, 60_000, 10_000, 100);
        assert_eq!([0, 60_001, 66_181, 70_000].map(|at| app.next_poll(at)), [60_000, 66_180, 76_180, 76_180]);
        assert_eq!(
            [60_000, 66_179, 66_180, 80_000].map(|at| app.last_poll(at)),
            [60_000, 60_000, 66_180, 76_180]
        );
        assert_eq!([66_180, 66_280, 66_281].map(|at| app.is_inside(at)), [true, true, false]);
    }

    #[test]
    fn stays_inside_of_poll_while_it_is_idle() {
        let app = Application::new(0, 0, 1_000, 300);
        assert_eq!([0, 1, 150, 201, 300].map(|at| app.next_pass(at, false)), [0, 100, 200, 1_000, 1_000]);
        assert_eq!([1, 999].map(|at| app.next_pass(at, true)), [1_000, 1_000]);
        assert_eq!([50, 299, 900].map(|at| app.last_pass(at, false)), [0, 200, 200]);
        let restless = Application::new(0, 0, 0, 100);
        assert_eq!([7, 70].map(|at| restless.next_poll(at)), [7, 70]);
    }

    #[test]
    fn does_not_poll_in_a_stall_and_polls_when_it_is_over() {
        let mut app = Application::new(0, 0, 500, 100);
        assert!(app.stalls(1_000, 5_200));
        assert!(!app.stalls(2_000, 100));
        assert_eq!(
            (app.next_poll(1_000), app.last_poll(4_000), app.stall()),
            (6_200, 500, Some((1_000, 6_200)))
        );
        app.resumes(6_200, true);
        assert_eq!((app.next_poll(6_200), app.next_poll(6_201), app.last_poll(6_300)), (6_200, 6_500, 6_200));
        assert_eq!((app.last_poll(6_199), app.waits_since(6_200, true)), (500, 1_000));
        // A stall that ends before the next call changes nothing.
        app.stalls(6_600, 100);
        assert!(!app.resumes(7_000, true));
        assert_eq!((app.last_poll(6_999), app.waits_since(7_000, true)), (6_500, 6_500));
    }

    #[test]
    fn tells_the_network_thread_of_every_second_call_while_it_is_busy() {
        let mut app = Application::new(0, 0, 500, 100);
        app.calls_a_telling = 2;
        app.tells(1_000);
        assert_eq!(
            [1_400, 1_500, 1_999, 2_000].map(|at| app.last_told(at, true)),
            [1_000, 1_000, 1_000, 2_000]
        );
        assert_eq!([1_001, 1_501].map(|at| app.first_told(at, true)), [(2_000, 1_000); 2]);
        assert_eq!(app.first_told(1_001, false), (1_500, 500));
        // There are no calls in a stall.
        app.stalls(2_600, 10_000);
        assert_eq!((app.calls_since_told(2_500), app.calls_since_told(9_000)), (3, 3));
    }
}

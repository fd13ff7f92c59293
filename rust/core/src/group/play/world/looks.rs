//! When the heartbeat thread looks at the network, which it shares with the application.
//!
//! It looks every `retry.backoff.ms`. While an idle application waits inside `poll()`, the application holds
//! `ConsumerNetworkClient`'s lock. The thread then waits until the application releases the lock: at the end
//! of a pass, or with an answer.

use super::application::{Application, RETRY_BACKOFF_MS};

impl Application {
    /// The thread's last look at or before `at`, given that it looked at `since`. Also says whether its next
    /// look is waiting for the application at that time.
    pub(super) fn last_look(&self, since: i64, at: i64, is_busy: bool) -> (i64, bool) {
        let in_step = |look: i64| at - (at - look).rem_euclid(RETRY_BACKOFF_MS);
        if is_busy {
            return (in_step(since), false);
        }
        let (mut look, poll) = (since, self.last_poll(at));
        for before in self.polls_before(poll, since) {
            look = self.look_by(look, before, self.end_of(before).min(poll));
        }
        if self.in_callback(at).is_some() {
            return (in_step(look), false);
        }
        if at >= self.end_of(poll) {
            return (in_step(self.look_by(look, poll, self.end_of(poll))), false);
        }
        let begins = self.passes_from(poll, at);
        if self.commit_of(poll) == Some(begins) {
            look = look_after(look, self.waits_from(poll), begins);
        }
        let next = next_in_step(look, begins);
        if next > at {
            return (in_step(look), false);
        }
        let passed = at - (at - begins).rem_euclid(RETRY_BACKOFF_MS);
        // If both come at once, the application gets the network first.
        if passed > begins && passed >= next { (passed, false) } else { (look, true) }
    }

    /// The thread's first look at or after `from`, given that it looked at `since`.
    pub(super) fn next_look(&self, since: i64, from: i64, is_busy: bool) -> i64 {
        let from = from.max(since);
        let (look, waits) = self.last_look(since, from, is_busy);
        if look == from {
            return from;
        }
        if waits {
            return self.pass_of(self.last_poll(from), from);
        }
        let next = next_in_step(look, from);
        if is_busy || self.in_callback(from).is_some_and(|until| next < until) {
            return next;
        }
        let poll = self.last_poll(from);
        if from < self.end_of(poll) && next < self.end_of(poll) {
            return self.pass_of(poll, next.max(from));
        }
        let poll = self.next_poll(from);
        if (poll..self.end_of(poll)).contains(&next) { self.pass_of(poll, next) } else { next }
    }

    /// The first pass at or after `at` of a poll that is under way.
    fn pass_of(&self, poll: i64, at: i64) -> i64 {
        let begins = self.passes_from(poll, at);
        let at = at.max(begins + 1);
        let ends = self.commit_of(poll).filter(|commit| *commit >= at).unwrap_or(self.end_of(poll));
        (at + (begins - at).rem_euclid(RETRY_BACKOFF_MS)).min(ends)
    }

    /// When the passes of a poll began that last at `at`: after its callback, if there was one, and after its commit.
    fn passes_from(&self, poll: i64, at: i64) -> i64 {
        let over = |until: &i64| *until <= at;
        let called_back = self.callback_of(poll).filter(over).unwrap_or(poll);
        self.commit_of(poll).filter(over).map_or(called_back, |commit| commit.max(called_back))
    }

    /// The thread's last look by the end of an idle poll, given its last look before that poll.
    fn look_by(&self, look: i64, poll: i64, end: i64) -> i64 {
        let begins = self.waits_from(poll);
        match self.commit_of(poll).filter(|commit| (begins + 1..end).contains(commit)) {
            Some(commit) => look_after(look_after(look, begins, commit), commit, end),
            None => look_after(look, begins, end),
        }
    }

    /// From when an idle poll that is over kept the network: after its callback, if there was one.
    fn waits_from(&self, poll: i64) -> i64 {
        self.callback_of(poll).unwrap_or(poll)
    }

    /// The idle polls before `poll` that may have kept the thread waiting. Polls before one of at least
    /// `retry.backoff.ms` no longer matter.
    fn polls_before(&self, poll: i64, since: i64) -> Vec<i64> {
        let mut polls = Vec::new();
        let mut before = self.last_poll(poll - 1);
        while before < poll && self.end_of(before) > since && polls.last() != Some(&before) {
            polls.push(before);
            if self.end_of(before) - before >= RETRY_BACKOFF_MS && before > since {
                break;
            }
            before = self.last_poll(before - 1);
        }
        polls.reverse();
        polls
    }
}

/// The thread's last look by the end of a row of passes, given its last look before them.
fn look_after(look: i64, poll: i64, end: i64) -> i64 {
    let next = next_in_step(look, poll);
    if next >= end {
        return look;
    }
    let passed = poll + (end - poll) / RETRY_BACKOFF_MS * RETRY_BACKOFF_MS;
    if passed >= next { passed } else { end }
}

/// The first look after `look`, at or after `from`, if nothing keeps the thread waiting.
fn next_in_step(look: i64, from: i64) -> i64 {
    let from = from.max(look + 1);
    from + (look - from).rem_euclid(RETRY_BACKOFF_MS)
}

#[cfg(test)]
mod tests {
    use super::Application;

    #[test]
    fn looks_every_100_ms_beside_a_busy_application() {
        let app = Application::new(0, 0, 500, 100);
        assert_eq!([33, 100, 133, 3_000].map(|at| app.last_look(33, at, true).0), [33, 33, 133, 2_933]);
        assert_eq!([33, 34, 133, 3_000].map(|at| app.next_look(33, at, true)), [33, 133, 133, 3_033]);
    }

    #[test]
    fn waits_for_an_idle_application_to_let_go() {
        let app = Application::new(0, 0, 500, 100);
        // The look due at 533 happens at 600, when the poll is over.
        assert!(app.last_look(33, 540, false).1);
        assert_eq!(
            [433, 520, 533, 600, 601].map(|at| app.next_look(33, at, false)),
            [433, 600, 600, 600, 700]
        );
        assert_eq!([2_150, 2_600].map(|at| app.next_look(33, at, false)), [2_200, 2_600]);
        let long = Application::new(0, 0, 5_000, 250);
        assert_eq!([4_990, 5_120, 5_201].map(|at| long.next_look(4_940, at, false)), [5_100, 5_200, 5_300]);
        let short = Application::new(0, 0, 500, 10);
        assert_eq!([505, 509].map(|at| short.next_look(8, at, false)), [510, 510]);
        assert_eq!(short.next_look(5, 501, false), 510);
    }

    #[test]
    fn looks_when_an_idle_application_commits() {
        let mut app = Application::new(0, 0, 5_000, 100);
        assert_eq!(app.next_look(4_920, 5_010, false), 5_100);
        app.commits = Some((30, 5_000));
        assert_eq!([0, 5_000, 12_500].map(|poll| app.commit_of(poll)), [None, Some(5_030), None]);
        assert_eq!([5_010, 5_031].map(|at| app.next_look(4_920, at, false)), [5_030, 5_130]);
        assert_eq!(
            [5_090, 5_200].map(|at| app.last_look(4_920, at, false)),
            [(5_030, false), (5_130, false)]
        );
    }
}

//! Carries out a script's actions, whichever protocol the group speaks.

use std::sync::Arc;

use super::super::super::consumer::{self, Place};
use super::super::super::error_code::Code;
use super::application::Application;
use super::client::{Asked, Client};
use super::ledger::Reader;
use super::script::Action;
use super::version::Version;
use super::{Coordinator, Todo, World};
use crate::Result;

/// How long a starting consumer takes to find its group's coordinator: `ApiVersions`, `Metadata` and `FindCoordinator`,
/// each answered in 1 ms.
const FINDS_COORDINATOR_MS: i64 = 3;

impl World {
    /// Carries out one action of the script.
    pub(super) fn follow(&mut self, mut action: Action) -> Result<()> {
        if let Some(reader) = action.member() {
            *reader = self.latest[*reader as usize];
        }
        match action {
            Action::Join(reader, config, topics) => {
                let subscription = self.subscription(topics);
                let reader = self.starts_as(reader)?;
                let (member, is_classic) = (self.members[reader as usize], self.is_classic());
                let client = &mut self.clients[reader as usize];
                let start = client.start + 1;
                let mut app = Application::new(member, self.now, config.poll_ms, config.poll_timeout_ms);
                let version = if is_classic { Version::default() } else { Version::of(&config.client) };
                if !version.goes_round_often() {
                    app.round_ms = i64::MAX;
                }
                app.calls_a_telling = if is_classic { 0 } else { version.calls_a_telling() };
                let finds_at = self.now + FINDS_COORDINATOR_MS;
                *client = Client { start, app, version, finds_at, alive: true, ..Client::new() };
                client.topics = subscription;
                client.commits_since = Some(self.now);
                client.seen = vec![None; self.topics.len()];
                client.config = Some(config);
                self.refresh(reader);
                self.look_later(reader);
                if is_classic { self.pass_classic(reader) } else { self.pass_consumer(reader) }
            }
            Action::Leave(reader, says_so) => self.close(reader, says_so),
            Action::Crash(reader) => {
                self.hear_of_commits(reader);
                self.gone(reader);
                Ok(())
            }
            // A member that has ended with an error neither stalls nor changes its subscription.
            Action::Stall(reader, _) | Action::Subscribe(reader, _)
                if !self.clients[reader as usize].alive =>
            {
                Ok(())
            }
            Action::Stall(reader, for_ms) => {
                let client = &mut self.clients[reader as usize];
                client.app.stalls(self.now, for_ms);
                let (start, until) = (client.start, client.app.stall().map_or(self.now, |(_, until)| until));
                self.later(until, Todo::Resume(reader, start));
                if self.is_classic() {
                    self.beat_anew(reader);
                    self.limit_polls(reader);
                }
                Ok(())
            }
            Action::Subscribe(reader, topics) => {
                let before = std::mem::replace(&mut self.clients[reader as usize].topics, Arc::new([]));
                self.clients[reader as usize].topics = self.subscription(topics);
                self.refresh(reader);
                self.look_later(reader);
                self.returns_again(reader, &before);
                // It returns no more records of other topics, even while it still owns their partitions.
                let client = &self.clients[reader as usize];
                let is_strange = |&(topic, _): &Place| !client.returns_records_of(topic);
                let strange: Vec<_> = client.owned.iter().copied().filter(is_strange).collect();
                self.hold_back(reader, &strange);
                self.pass_next(reader, self.now);
                Ok(())
            }
            Action::Topic(topic, count) => self.change_topic(topic, count),
            Action::Move => match self.coordinator {
                Some(Coordinator::Classic(_)) => {
                    self.move_classic();
                    Ok(())
                }
                _ => self.step_consumer(consumer::Request::Move, None),
            },
            Action::Leaders(places, has_leader) => {
                self.change_leaders(&places, has_leader);
                Ok(())
            }
            Action::Commit(reader, generation) => self.commit(reader, generation),
            Action::Beside => Ok(()),
        }
    }

    /// The client that a member starts as: the one that it was. A KIP-848 consumer that is still closing goes on with that
    /// next to its successor, which is another client. Any other consumer that has not finished is closed now.
    fn starts_as(&mut self, reader: Reader) -> Result<Reader> {
        let client = &mut self.clients[reader as usize];
        let closes = client.closes_as.is_some() || client.app.in_callback(self.now).is_some();
        if client.alive && closes {
            let (member, successor) = (self.members[reader as usize], self.members.len());
            self.clients.push(Client::new());
            self.names.push(Arc::clone(&self.names[reader as usize]));
            self.members.push(member);
            self.latest[member as usize] = u32::try_from(successor).unwrap_or(u32::MAX);
            return Ok(self.latest[member as usize]);
        }
        let client = &mut self.clients[reader as usize];
        client.closes_as = client.closes_as.or(Some((self.now, None)));
        self.closed(reader)?;
        Ok(reader)
    }

    fn change_topic(&mut self, topic: u32, count: Option<u32>) -> Result<()> {
        let before = self.topics[topic as usize].1.unwrap_or(0);
        self.topics[topic as usize].1 = count;
        for partition in before..count.unwrap_or(0) {
            self.ledger.make((topic, partition.cast_signed()), self.now);
        }
        if count.is_none() {
            self.miss(topic);
        }
        for partition in count.unwrap_or(0)..before {
            self.ledger.delete((topic, partition.cast_signed()), self.now);
        }
        self.tell_topics()
    }

    /// Returns the shared list for a subscription. Members with the same subscription share one list, since thousands
    /// of members may each subscribe to thousands of topics.
    fn subscription(&mut self, topics: Vec<u32>) -> Arc<[u32]> {
        if let Some(known) = self.subscriptions.get(&topics[..]) {
            return Arc::clone(known);
        }
        let new: Arc<[u32]> = topics.into();
        self.subscriptions.insert(Arc::clone(&new));
        new
    }

    /// Tells KIP-848's coordinator which topics there are. A broker learns of a change at once.
    pub(super) fn tell_topics(&mut self) -> Result<()> {
        match self.coordinator {
            Some(Coordinator::Consumer(_)) => {
                self.step_consumer(consumer::Request::Topics(self.topics.clone()), None)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn is_classic(&self) -> bool {
        matches!(self.coordinator, Some(Coordinator::Classic(_)))
    }

    /// Ends a stall: the application polls, and this poll commits what it had read before the stall.
    pub(super) fn resume(&mut self, reader: Reader, start: u32) {
        let now = self.now;
        let client = &mut self.clients[reader as usize];
        let Some((since, until)) = client.app.stall().filter(|_| client.alive && client.start == start)
        else {
            return;
        };
        if until > now {
            return;
        }
        self.make_up_turns(reader);
        let is_classic = self.is_classic();
        let client = &mut self.clients[reader as usize];
        if !client.app.resumes(now, client.is_busy) {
            self.pass_next(reader, now);
            return;
        }
        if client.auto_commits() {
            client.committed = client.committed.max(since);
            if is_classic {
                client.commits_since = Some(now);
            }
        }
        self.pass_at(reader, now);
    }

    /// `close()`: commits what was read, and calls the listener back.
    pub(super) fn close(&mut self, reader: Reader, says_so: Option<bool>) -> Result<()> {
        let (now, read, is_classic) = (self.now, self.read_by(reader), self.is_classic());
        let client = &mut self.clients[reader as usize];
        if !client.alive {
            return Ok(());
        }
        if let Some(until) = client.app.in_callback(now) {
            let start = client.start;
            self.later(until, Todo::Close(reader, start, says_so));
            return Ok(());
        }
        client.closes_as = Some((now, says_so));
        let calls_back = !client.owned.is_empty() && client.listener_ms().is_some_and(|ms| ms > 0);
        if !is_classic && (client.auto_commits() || calls_back) {
            // While the application waits for its commit or for its callback, its network thread sees to everything
            // else.
            self.run_once(reader)?;
        }
        let client = &mut self.clients[reader as usize];
        let mut takes_ms = 0;
        if !client.owned.is_empty() {
            takes_ms += client.listener_ms().unwrap_or(0);
            let has_read = if is_classic { client.has_positions(now) } else { client.has_consumed() };
            if client.auto_commits() && has_read {
                if is_classic {
                    takes_ms += self.commit_on_close(reader)?;
                } else {
                    takes_ms += self.latency_ms;
                    client.committed = read;
                }
            }
        }
        if is_classic {
            self.close_heartbeat_thread(reader);
        }
        if takes_ms == 0 {
            return self.closed(reader);
        }
        let start = self.clients[reader as usize].start;
        self.later(self.now + takes_ms, Todo::Closed(reader, start));
        Ok(())
    }

    /// Finishes `close()`. The member tells the coordinator that it leaves, or does not.
    pub(super) fn closed(&mut self, reader: Reader) -> Result<()> {
        let client = &mut self.clients[reader as usize];
        let Some((_, says_so)) = client.closes_as.filter(|_| client.alive) else { return Ok(()) };
        if self.is_classic() {
            let says_so = says_so.unwrap_or(!self.clients[reader as usize].is_static());
            self.close_classic(reader, says_so);
        } else {
            self.close_consumer(reader, says_so)?;
        }
        self.gone(reader);
        Ok(())
    }

    fn commit(&mut self, reader: Reader, generation: Option<i32>) -> Result<()> {
        if self.is_classic() {
            self.commit_classic(reader, generation);
            return Ok(());
        }
        let client = &self.clients[reader as usize];
        let epoch = generation.unwrap_or(client.generation);
        let request = consumer::Request::Commit(Arc::clone(&client.id), epoch, client.owned.clone());
        self.step_consumer(request, Some((reader, Asked::Commit)))
    }

    /// Handles the answer to a commit that the script asked for.
    pub(super) fn take_commit(&mut self, reader: Reader, code: Code) {
        if code == Code::None {
            self.clients[reader as usize].committed = self.read_by(reader);
        }
        self.commits.push((self.now, reader, code));
    }

    /// Restarts a crashing member's session as of its last automatic commit, which a classic coordinator takes as a
    /// sign of life. The play does not simulate these commits one by one, so the session is extended only here, when
    /// that matters.
    fn hear_of_commits(&mut self, reader: Reader) {
        let client = &self.clients[reader as usize];
        // In a callback it has not polled since that began.
        let calls_back = client.app.in_callback(self.now).map(|_| client.app.last_poll(self.now));
        let by = calls_back.unwrap_or(i64::MAX).min(self.read_by(reader));
        let Some(last) = client.last_auto_commit(by).filter(|_| !client.owned.is_empty()) else { return };
        if let Some(Coordinator::Classic(group)) = &mut self.coordinator {
            group.has_heard_of(&client.id, last);
        }
    }

    /// Handles a change of the topics that a client has seen. `by_itself`: its application asked in one `poll()` and
    /// has the answer in another, before any records.
    pub(super) fn changed_topics(&mut self, reader: Reader, before: &[Option<u32>], by_itself: bool) {
        if self.is_classic() && self.leader_must_rejoin(reader, before) {
            self.clients[reader as usize].classic.has_seen_changes = true;
            if self.goes_round(reader) {
                return;
            }
            // A busy application that polls at this instant has already had that pass.
            let client = &self.clients[reader as usize];
            let has_polled = i64::from(client.is_busy && !by_itself);
            self.pass_next(reader, self.now + has_polled);
        }
    }
}

//! The clock of a play: what comes next, whom it concerns, and when nothing moves any more.

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::consumer::Place;
use super::super::event_queue::Queue;
use super::super::{Map, Set};
use super::super::{classic, consumer};
use super::client::{Answer, Asked, Client, Said};
use super::ledger::{Ledger, Reader};
use super::script::{Action, Generation, Message, Protocol, Script, Timeline};
use crate::interned::Name;
use crate::{Error, Result};

/// For so long a play goes on after the script's last word, at most: the longest session, and a rebalance.
const AT_MOST_AFTER_MS: i64 = 2 * 3_600_000;
/// So many things a client may happen at one instant before it is clear that there is no end of it.
const AT_ONCE: usize = 1_000;

/// What a client does when its time comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Todo {
    /// The script's next word.
    Script,
    Heartbeat(Reader, u64),
    /// A client looks at the cluster's topics.
    Metadata(Reader, u64),
    Resume(Reader, u32),
    /// A client polls, and has something to do then.
    Poll(Reader, u32),
    /// An answer has come.
    Arrive,
    /// A client has not polled for `max.poll.interval.ms`.
    PollLimit(Reader, u32),
}

/// The coordinator of either protocol.
pub(super) enum Coordinator {
    Classic(Box<classic::Group<Said, Arc<[Place]>>>),
    Consumer(Box<consumer::Group>),
}

/// Who asks, as of which start of its, and what.
type Question = (Reader, u32, Asked);

pub(super) struct World {
    pub now: i64,
    pub coordinator: Option<Coordinator>,
    pub clients: Vec<Client>,
    pub names: Vec<Name>,
    pub topics: Vec<(Name, Option<u32>)>,
    pub ledger: Ledger,
    pub generations: Vec<Generation>,
    pub failures: Vec<(i64, Reader, super::super::Code)>,
    pub commits: Vec<(i64, Reader, super::super::Code)>,
    pub by_id: Map<Name, Reader>,
    /// How many bytes the longest of these ids has.
    pub longest_id: usize,
    /// The subscriptions that there ever were.
    subscriptions: Set<Arc<[u32]>>,
    messages: Option<Vec<Message>>,
    queue: Queue<(i64, u64), Todo>,
    actions: VecDeque<(i64, Action)>,
    until: Option<i64>,
    /// What is asked in this step, and by whom: most is answered at once.
    asking: Option<(u32, Question)>,
    /// What was asked before, by the tag of the request.
    asked: Map<u32, Question>,
    answers: VecDeque<(Question, Answer)>,
    /// Answers that are on their way: all take as long.
    on_the_way: VecDeque<(Question, Answer)>,
    latency_ms: i64,
    /// How many things were put off so far, by which they are told apart.
    pub numbered: u64,
    tags: u32,
}

impl World {
    pub(super) fn new(script: Script) -> Self {
        let coordinator = match script.protocol {
            Protocol::Classic(config) => Coordinator::Classic(Box::new(classic::Group::new(config))),
            Protocol::Consumer(config) => Coordinator::Consumer(Box::new(consumer::Group::new(config))),
        };
        let mut ledger = Ledger::new(script.keeps_spans);
        for (topic, (_, count)) in (0..).zip(&script.topics) {
            for partition in 0..count.unwrap_or(0) {
                ledger.make((topic, partition.cast_signed()), 0);
            }
        }
        let mut world = Self {
            now: 0,
            coordinator: Some(coordinator),
            clients: vec![Client::new(); script.clients.len()],
            names: script.clients,
            topics: script.topics,
            ledger,
            generations: Vec::new(),
            failures: Vec::new(),
            commits: Vec::new(),
            by_id: Map::default(),
            longest_id: 0,
            subscriptions: Set::default(),
            messages: script.keeps_messages.then(Vec::new),
            queue: Queue::default(),
            actions: script.actions.into(),
            until: script.until,
            asking: None,
            asked: Map::default(),
            answers: VecDeque::new(),
            on_the_way: VecDeque::new(),
            latency_ms: script.latency_ms,
            numbered: 0,
            tags: 0,
        };
        for place in 0..world.actions.len() {
            let at = world.actions[place].0;
            world.later(at, Todo::Script);
        }
        world
    }

    pub(super) fn play(mut self) -> Result<Timeline> {
        self.tell_topics()?;
        let last = self.actions.back().map_or(0, |(at, _)| *at);
        let limit = self.until.unwrap_or(last + AT_MOST_AFTER_MS);
        let mut at_once = 0;
        let settled = loop {
            let queued = self.queue.peek().map(|((at, _), _)| at);
            let deadline = self.deadline(queued.unwrap_or(i64::MAX));
            let next = match (queued, deadline) {
                (Some(queued), Some(deadline)) => queued.min(deadline),
                (Some(at), None) | (None, Some(at)) => at,
                (None, None) => break self.is_quiet(),
            };
            if next > self.now {
                at_once = 0;
                let settled = self.actions.is_empty() && self.is_quiet();
                // Nothing but heartbeats comes after that.
                let asks_on = self.until.is_some() && self.messages.is_some();
                if next > limit || settled && !asks_on {
                    break settled;
                }
            }
            at_once += 1;
            if at_once > AT_ONCE * (self.clients.len() + 1) {
                return Err(Error::Group(format!("the group does not settle at {next} ms")));
            }
            self.now = next;
            if deadline.is_some_and(|deadline| deadline <= next) {
                self.tick()?;
            } else if let Some((_, todo)) = self.queue.pop() {
                self.act(todo)?;
            }
            self.hand_out()?;
        };
        let ended = self.until.unwrap_or(self.now).max(self.now);
        self.ledger.close(ended);
        Ok(Timeline {
            generations: self.generations,
            ledger: self.ledger,
            failures: self.failures,
            commits: self.commits,
            messages: self.messages.unwrap_or_default(),
            ended,
            settled,
            clients: self.names,
            topics: self.topics,
        })
    }

    pub(super) fn later(&mut self, at: i64, todo: Todo) {
        self.queue.push((at, self.numbered), todo);
        self.numbered += 1;
    }

    /// When the coordinator's own time comes next, if that is by a time.
    fn deadline(&mut self, by: i64) -> Option<i64> {
        match self.coordinator.as_mut()? {
            Coordinator::Classic(group) => group.deadline(by),
            Coordinator::Consumer(group) => group.deadline(by),
        }
    }

    /// The coordinator's own time comes.
    fn tick(&mut self) -> Result<()> {
        match self.coordinator {
            Some(Coordinator::Classic(_)) => {
                self.step_classic(classic::Request::Wait, None);
                Ok(())
            }
            _ => self.step_consumer(consumer::Request::Wait, None),
        }
    }

    fn act(&mut self, todo: Todo) -> Result<()> {
        match todo {
            Todo::Script => match self.actions.pop_front() {
                Some((_, action)) => self.follow(action),
                None => Ok(()),
            },
            Todo::Heartbeat(reader, beat) => {
                let client = &self.clients[reader as usize];
                if client.alive && client.beat == beat { self.beat(reader) } else { Ok(()) }
            }
            Todo::Metadata(reader, look) => {
                let client = &self.clients[reader as usize];
                if client.alive && client.look == look {
                    self.look(reader);
                }
                Ok(())
            }
            Todo::Resume(reader, start) => {
                let client = &mut self.clients[reader as usize];
                if !client.alive || client.start != start || client.stalled_until > self.now {
                    return Ok(());
                }
                client.stalled_since = None;
                client.commits_since = self.now;
                self.resume(reader)
            }
            Todo::Poll(reader, start) => {
                let client = &self.clients[reader as usize];
                let polls = client.alive && client.start == start && client.stalled_since.is_none();
                if polls { self.resume(reader) } else { Ok(()) }
            }
            Todo::Arrive => {
                self.answers.extend(self.on_the_way.pop_front());
                Ok(())
            }
            Todo::PollLimit(reader, start) => {
                let client = &self.clients[reader as usize];
                let polls = client.stalled_since.is_none();
                if !client.alive || client.start != start || polls { Ok(()) } else { self.give_up(reader) }
            }
        }
    }

    /// A word of the script.
    fn follow(&mut self, action: Action) -> Result<()> {
        match action {
            Action::Join(reader, config, topics) => {
                let subscription = self.subscription(topics);
                let client = &mut self.clients[reader as usize];
                let start = client.start + 1;
                *client = Client { start, since: self.now, alive: true, ..Client::new() };
                client.commits_since = self.now;
                client.topics = subscription;
                client.seen = vec![None; self.topics.len()];
                client.config = Some(config);
                self.refresh(reader);
                self.look_later(reader);
                self.begin(reader)
            }
            Action::Leave(reader, says_so) => self.close(reader, says_so),
            Action::Crash(reader) => {
                let read = self.read_by(reader);
                let committed = self.clients[reader as usize].committed_by(read);
                self.drop_all(reader, read, committed);
                self.clients[reader as usize].alive = false;
                Ok(())
            }
            // Whoever has ended with an error does nothing any more.
            Action::Stall(reader, _) | Action::Subscribe(reader, _)
                if !self.clients[reader as usize].alive =>
            {
                Ok(())
            }
            Action::Stall(reader, for_ms) => {
                let (now, client) = (self.now, &mut self.clients[reader as usize]);
                // Who does not poll already does not for longer now.
                let since = *client.stalled_since.get_or_insert(now);
                let before = client.stalled_until.max(since);
                let until = before.max(now + for_ms);
                client.stalled_until = until;
                let start = client.start;
                let limit = client.config.as_ref().map_or(i64::MAX, |config| config.max_poll_interval_ms);
                if before - since <= limit && until - since > limit {
                    self.later(since + limit, Todo::PollLimit(reader, start));
                }
                self.later(until, Todo::Resume(reader, start));
                Ok(())
            }
            Action::Subscribe(reader, topics) => {
                self.clients[reader as usize].topics = self.subscription(topics);
                self.refresh(reader);
                self.look_later(reader);
                self.subscribe(reader);
                Ok(())
            }
            Action::Topic(topic, count) => {
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
            Action::Move => match self.coordinator {
                Some(Coordinator::Classic(_)) => {
                    self.step_classic(classic::Request::Move, None);
                    Ok(())
                }
                _ => self.step_consumer(consumer::Request::Move, None),
            },
            Action::Commit(reader, generation) => self.commit(reader, generation),
            Action::Beside => Ok(()),
        }
    }

    /// A list of topics: members that subscribe to the same share one, which are thousands of topics for thousands of members.
    fn subscription(&mut self, topics: Vec<u32>) -> Arc<[u32]> {
        if let Some(known) = self.subscriptions.get(&topics[..]) {
            return Arc::clone(known);
        }
        let new: Arc<[u32]> = topics.into();
        self.subscriptions.insert(Arc::clone(&new));
        new
    }

    /// A broker knows at once when the topics have changed.
    fn tell_topics(&mut self) -> Result<()> {
        match self.coordinator {
            Some(Coordinator::Consumer(_)) => {
                self.step_consumer(consumer::Request::Topics(self.topics.clone()), None)
            }
            _ => Ok(()),
        }
    }

    /// The number of a new request of a client's, under which its answer comes.
    pub(super) fn ask(&mut self, asks: Option<(Reader, Asked)>) -> u32 {
        self.tags = self.tags.wrapping_add(1);
        let question = |(reader, asked)| (reader, self.clients[reader as usize].start, asked);
        self.asking = asks.map(|asks| (self.tags, question(asks)));
        self.tags
    }

    /// What the coordinator answers in the step in which something is asked; to others, too.
    pub(super) fn answered(&mut self, answers: impl Iterator<Item = (u32, Answer)>) {
        for (tag, answer) in answers {
            let asking = self.asking.take_if(|(asking, _)| *asking == tag).map(|(_, question)| question);
            let Some(question) = asking.or_else(|| self.asked.remove(&tag)) else { continue };
            if self.latency_ms > 0 && answer.takes_time() {
                self.on_the_way.push_back((question, answer));
                self.later(self.now + self.latency_ms, Todo::Arrive);
            } else {
                self.answers.push_back((question, answer));
            }
        }
        self.asked.extend(self.asking.take());
    }

    /// A client does at its next poll what it has found out it must.
    pub(super) fn poll_later(&mut self, reader: Reader) {
        let client = &self.clients[reader as usize];
        let (at, start) = (client.next_poll(reader, self.now), client.start);
        self.later(at, Todo::Poll(reader, start));
    }

    /// Gives every answer to who asked, and those that they ask then.
    fn hand_out(&mut self) -> Result<()> {
        let mut given = 0;
        while let Some(((reader, start, asked), answer)) = self.answers.pop_front() {
            given += 1;
            if given > AT_ONCE * (self.clients.len() + 1) {
                return Err(Error::Group(format!("the group does not settle at {} ms", self.now)));
            }
            self.note(reader, asked, &answer);
            let client = &mut self.clients[reader as usize];
            let awaited = matches!(asked, Asked::Commit) || client.alive && client.start == start;
            if !awaited {
                continue;
            }
            if client.stalled_since.is_some() && asked != Asked::Commit && !matches!(asked, Asked::Heartbeat)
            {
                client.inbox.push((asked, answer));
                continue;
            }
            self.take(reader, asked, answer)?;
        }
        Ok(())
    }

    pub(super) fn take(&mut self, reader: Reader, asked: Asked, answer: Answer) -> Result<()> {
        match answer {
            Answer::Classic(answer) => self.take_classic(reader, asked, answer),
            Answer::Consumer(effect) => self.take_consumer(reader, asked, effect),
        }
    }

    fn note(&mut self, reader: Reader, asked: Asked, answer: &Answer) {
        let Some(messages) = &mut self.messages else { return };
        let client = &self.clients[reader as usize];
        let mut message = Message {
            at: self.now,
            client: reader,
            request: asked.name(),
            code: super::super::Code::None,
            generation: client.generation,
            member: Arc::clone(&client.id),
            leader: None,
            members: 0,
        };
        match answer {
            Answer::Classic(classic::Answer::Joined(joined)) => {
                message.code = joined.code;
                message.generation = joined.generation;
                message.member = Arc::clone(&joined.member);
                message.leader.clone_from(&joined.leader);
                message.members = joined.members.len();
            }
            Answer::Classic(
                classic::Answer::Synced { code, .. }
                | classic::Answer::Left(code, _)
                | classic::Answer::Done(code),
            ) => message.code = *code,
            Answer::Consumer(effect) => {
                message.request = "ConsumerGroupHeartbeat";
                message.code = effect.code;
                message.generation = effect.epoch;
            }
        }
        messages.push(message);
    }

    /// Takes all partitions from a client, which read them up to a time and has committed them up to another.
    pub(super) fn drop_all(&mut self, reader: Reader, read: i64, committed: i64) {
        for place in std::mem::take(&mut self.clients[reader as usize].reading) {
            self.ledger.release(place, reader, read, committed, self.now);
        }
    }

    /// Up to when a client reads: while it stalls, up to when it began to.
    pub(super) fn read_by(&self, reader: Reader) -> i64 {
        self.clients[reader as usize].stalled_since.unwrap_or(self.now)
    }

    /// Ends a client with an error that its application sees.
    pub(super) fn fail(&mut self, reader: Reader, code: super::super::Code) {
        let (read, client) = (self.read_by(reader), &self.clients[reader as usize]);
        let committed = client.committed_by(read);
        self.drop_all(reader, read, committed);
        self.clients[reader as usize].alive = false;
        self.failures.push((self.now, reader, code));
    }

    /// The clients behind member ids, in a sentence about them. Names may have blanks: the longest that is an id is one.
    pub(super) fn named(&self, reason: &str) -> String {
        let (mut said, mut rest) = (String::new(), reason);
        while !rest.is_empty() {
            // All members may be named at once: no more is looked at than may be an id.
            let ends = rest.match_indices([' ', ',']).map(|(end, _)| end).chain([rest.len()]);
            let ends: Vec<usize> = ends.take_while(|end| *end <= self.longest_id).collect();
            let known = ends.iter().rev().find_map(|&end| Some((end, *self.by_id.get(&rest[..end])?)));
            let end = if let Some((end, reader)) = known {
                said.push_str(&self.names[reader as usize]);
                end
            } else {
                let end = rest.find([' ', ',']).unwrap_or(rest.len());
                said.push_str(&rest[..end]);
                end
            };
            let after = rest[end..].trim_start_matches([' ', ',']);
            said.push_str(&rest[end..rest.len() - after.len()]);
            rest = after;
        }
        said
    }

    /// Whether nothing will change any more by itself.
    fn is_quiet(&self) -> bool {
        let busy = |client: &Client| {
            client.alive
                && (client.joining
                    || client.rejoin
                    || client.stalled_since.is_some()
                    || !client.inbox.is_empty())
        };
        self.on_the_way.is_empty()
            && !self.clients.iter().any(busy)
            && match &self.coordinator {
                Some(Coordinator::Classic(group)) => self.classic_is_quiet(group),
                Some(Coordinator::Consumer(group)) => self.consumer_is_quiet(group),
                None => true,
            }
    }
}

//! The clock of a play: which event comes next, which client it concerns, and when nothing moves any more.

mod abstract_coordinator;
mod actions;
mod application;
mod async_consumer;
mod classic_member;
mod client;
mod commits;
mod consumer_coordinator;
mod heartbeat_request_manager;
mod heartbeat_thread;
mod leaders_client;
mod looks;
mod membership;
mod membership_manager;
mod metadata;
mod network_thread;
mod on_leader_elected;
mod positions;
mod questions;
mod reading;
mod version;
mod waiting_poll;

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::consumer::Place;
use super::super::event_queue::EventQueue;
use super::super::{Map, Set};
use super::super::{classic, consumer};
use super::led::LeadersClient;
use super::ledger::{Ledger, Reader};
use super::script::{Action, Generation, Message, Protocol, Race, Script, Timeline};
use super::{led, ledger, script};
use crate::interned::Name;
use crate::{Error, Result};
use classic_member::{ClassicRequest, Said};
use client::{Answer, Asked, Client};

/// How long a play may go on after the script's last action: the longest session, plus a rebalance.
const AT_MOST_AFTER_MS: i64 = 2 * 3_600_000;
/// The most events one client may cause at one instant before the play is declared endless.
const AT_ONCE: usize = 1_000;

/// A scheduled event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Todo {
    /// The script's next action.
    Script,
    /// A classic client sends a heartbeat, or a KIP-848 client's network thread wakes to send one.
    Heartbeat(Reader, u64),
    /// A client's own thread looks for something other than a heartbeat.
    Look(Reader, u32),
    /// A client looks at the cluster's topics.
    Metadata(Reader, u64),
    /// A stall may be over.
    Resume(Reader, u32),
    /// An application has something to do in a pass of its `poll()`.
    Pass(Reader, u64),
    /// An answer arrives.
    Arrive,
    /// A callback ends, and the client was told to close during it.
    Close(Reader, u32, Option<bool>),
    /// A closing client has committed, and its listener has returned.
    Closed(Reader, u32),
    /// A classic leader has looked at the topics.
    Elected(Reader, u32),
    /// A classic client's `SyncGroup` may be sent.
    Unsent(Reader, u32),
    /// A classic client's `SyncGroup` may have waited for too long.
    Overdue(Reader, u32),
    /// A client may not have polled for `max.poll.interval.ms`.
    PollLimit(Reader, u32),
}

/// The coordinator of either protocol.
enum Coordinator {
    Classic(Box<classic::Group<Said, Arc<[Place]>>>),
    Consumer(Box<consumer::Group>),
}

/// A question to the coordinator: the client, the number of its start, its identity at that time, and the
/// kind of request.
type Question = (Reader, u32, u32, Asked);
/// A client's connection to the coordinator, by the client and the number of its start.
type Connection = (Reader, u32);

pub(super) struct World {
    now: i64,
    coordinator: Option<Coordinator>,
    clients: Vec<Client>,
    /// By client, its name.
    names: Vec<Name>,
    /// By client, the member of the script that it is a consumer of.
    members: Vec<Reader>,
    /// By member, the client that is its latest consumer.
    latest: Vec<Reader>,
    topics: Vec<(Name, Option<u32>)>,
    ledger: Ledger,
    generations: Vec<Generation>,
    failures: Vec<(i64, Reader, super::super::Code)>,
    commits: Vec<(i64, Reader, super::super::Code)>,
    by_id: Map<Name, Reader>,
    /// The length in bytes of the longest of these member IDs.
    longest_id: usize,
    /// All distinct subscriptions so far, so that members can share them.
    subscriptions: Set<Arc<[u32]>>,
    /// By partition, the reader that another member displaced, perhaps without a right to it. If the
    /// displaced reader still owns the partition when the other stops, it reads on.
    displaced: Map<Place, Reader>,
    /// The topics that get no records.
    idle_topics: Set<u32>,
    race: Race,
    /// Says what a leader's client assigns, in a group whose members use several clients.
    leaders_client: Option<Box<dyn LeadersClient>>,
    messages: Option<Vec<Message>>,
    queue: EventQueue<Todo>,
    actions: VecDeque<(i64, Action)>,
    until: Option<i64>,
    /// The question that is asked in this step. Most are answered at once.
    asking: Option<(u32, Question)>,
    /// Earlier questions without an answer, by the tag of the request.
    asked: Map<u32, Question>,
    /// For each connection with a request that waits for its answer, the requests sent after it.
    connections: Map<Connection, VecDeque<(Question, ClassicRequest)>>,
    /// The connections whose request has just been answered.
    answered_connections: VecDeque<Connection>,
    answers: VecDeque<(Question, Answer)>,
    /// Answers under way, in order: all take equally long.
    on_the_way: VecDeque<(Question, Answer)>,
    latency_ms: i64,
    /// How many events were scheduled so far. These numbers tell events apart.
    numbered: u64,
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
        let members: Vec<Reader> = (0..).zip(&script.clients).map(|(reader, _)| reader).collect();
        let mut world = Self {
            now: 0,
            coordinator: Some(coordinator),
            clients: vec![Client::new(); script.clients.len()],
            names: script.clients,
            latest: members.clone(),
            members,
            topics: script.topics,
            ledger,
            generations: Vec::new(),
            failures: Vec::new(),
            commits: Vec::new(),
            by_id: Map::default(),
            longest_id: 0,
            subscriptions: Set::default(),
            displaced: Map::default(),
            idle_topics: script.idle_topics.into_iter().collect(),
            race: script.race,
            leaders_client: None,
            messages: script.keeps_messages.then(Vec::new),
            queue: EventQueue::default(),
            actions: script.actions.into(),
            until: script.until,
            asking: None,
            asked: Map::default(),
            connections: Map::default(),
            answered_connections: VecDeque::new(),
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
                // Once the group has settled, only heartbeats follow. They matter only if a play with a fixed
                // end keeps messages.
                let asks_on = self.until.is_some() && self.messages.is_some();
                if next > limit || settled && !asks_on {
                    break settled;
                }
            }
            if at_once > AT_ONCE * (self.clients.len() + 1) {
                return Err(Error::Group(format!("the group does not settle at {next} ms")));
            }
            self.now = next;
            if deadline.is_some_and(|deadline| deadline <= next) {
                at_once += 1;
                self.tick()?;
            } else if let Some((_, todo)) = self.queue.pop() {
                at_once += usize::from(!self.is_outdated(todo));
                self.act(todo)?;
            }
            self.deliver()?;
        };
        let ended = self.until.unwrap_or(self.now).max(self.now);
        self.ledger.close(ended);
        if self.members.len() > self.latest.len() {
            self.name_members();
        }
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

    /// Replaces clients by their members in what the timeline says.
    fn name_members(&mut self) {
        let members = &self.members;
        let name = |reader: &mut Reader| *reader = members[*reader as usize];
        self.names.truncate(self.latest.len());
        for generation in &mut self.generations {
            generation.leader.iter_mut().for_each(name);
            generation.assignment.iter_mut().for_each(|(reader, _)| name(reader));
        }
        self.failures.iter_mut().for_each(|(_, reader, _)| name(reader));
        self.commits.iter_mut().for_each(|(_, reader, _)| name(reader));
        self.messages.iter_mut().flatten().for_each(|message| name(&mut message.client));
        self.ledger.spans.iter_mut().for_each(|span| name(&mut span.reader));
        self.ledger.readers().for_each(name);
    }

    fn later(&mut self, at: i64, todo: Todo) {
        self.queue.push((at, self.numbered), todo);
        self.numbered += 1;
    }

    /// Whether a later wake-up has replaced this one. Each poll replaces its thread's wake-up, so there may be thousands.
    fn is_outdated(&self, todo: Todo) -> bool {
        matches!(todo, Todo::Heartbeat(reader, beat) if self.clients[reader as usize].beat != beat)
    }

    /// When the coordinator's next deadline comes, if that is at or before `by`.
    fn deadline(&mut self, by: i64) -> Option<i64> {
        match self.coordinator.as_mut()? {
            Coordinator::Classic(group) => group.deadline(by),
            Coordinator::Consumer(group) => group.deadline(by),
        }
    }

    /// The coordinator's deadline has come.
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
        let current = |reader: Reader, start: u32| {
            let client = &self.clients[reader as usize];
            client.alive && client.start == start
        };
        match todo {
            Todo::Script => match self.actions.pop_front() {
                Some((_, action)) => self.follow(action),
                None => Ok(()),
            },
            Todo::Heartbeat(reader, beat) => {
                let client = &self.clients[reader as usize];
                match (client.alive && client.beat == beat, self.is_classic()) {
                    (false, _) => Ok(()),
                    (true, true) => {
                        self.beat_classic(reader);
                        Ok(())
                    }
                    (true, false) => self.wake_together(reader),
                }
            }
            Todo::Look(reader, start) if current(reader, start) => {
                if self.is_classic() {
                    self.look_classic(reader)
                } else {
                    self.run_once(reader)
                }
            }
            Todo::PollLimit(reader, start) if current(reader, start) => self.poll_limit_classic(reader),
            Todo::Close(reader, start, says_so) if current(reader, start) => self.close(reader, says_so),
            Todo::Closed(reader, start) if current(reader, start) => self.closed(reader),
            Todo::Elected(reader, start) if current(reader, start) => self.elected(reader),
            Todo::Unsent(reader, start) if current(reader, start) => {
                self.send_unsent(reader);
                Ok(())
            }
            Todo::Overdue(reader, start) if current(reader, start) => {
                self.overdue(reader);
                Ok(())
            }
            Todo::Look(..)
            | Todo::PollLimit(..)
            | Todo::Close(..)
            | Todo::Closed(..)
            | Todo::Elected(..)
            | Todo::Unsent(..)
            | Todo::Overdue(..) => Ok(()),
            Todo::Metadata(reader, look) => {
                let client = &self.clients[reader as usize];
                if !client.alive || client.look != look {
                    return Ok(());
                }
                if self.is_classic() && self.handles_answers_now(reader) {
                    // A client asks only in its next turn: answers that come now are handled before.
                    self.later(self.now, todo);
                    return Ok(());
                }
                let has_network = client.has_network(self.now);
                if self.is_classic() && client.classic.metadata.is_under_way() && has_network > self.now {
                    // A stall has begun since.
                    self.look_after(reader, has_network - self.now);
                    return Ok(());
                }
                self.look(reader);
                if self.is_classic() { Ok(()) } else { self.looks_for_all(reader) }
            }
            Todo::Resume(reader, start) => {
                self.resume(reader, start);
                Ok(())
            }
            Todo::Pass(reader, pass) => self.pass(reader, pass),
            Todo::Arrive => {
                self.answers.extend(self.on_the_way.pop_front());
                Ok(())
            }
        }
    }

    /// Whether a client still handles answers at this instant, or may: answers arrive.
    fn handles_answers_now(&self, reader: Reader) -> bool {
        let client = &self.clients[reader as usize];
        let comes = matches!(self.queue.peek(), Some(((at, _), Todo::Arrive)) if at == self.now);
        comes || !client.inbox.is_empty() && client.pass.is_some_and(|(at, _)| at == self.now)
    }

    /// If the next event is also a heartbeat at this instant, takes it off the queue and returns its client.
    fn also_wakes(&mut self) -> Option<(Reader, u64)> {
        let ((at, _), &Todo::Heartbeat(reader, beat)) = self.queue.peek()? else { return None };
        (at == self.now).then(|| self.queue.pop()).flatten().map(|_| (reader, beat))
    }

    /// Schedules a pass in which an application has something to do, unless one is already scheduled by then.
    fn pass_at(&mut self, reader: Reader, at: i64) {
        let client = &mut self.clients[reader as usize];
        if client.pass.is_none_or(|(before, _)| before > at) {
            let pass = self.numbered;
            client.pass = Some((at, pass));
            self.later(at, Todo::Pass(reader, pass));
        }
    }

    /// Schedules an application's next pass at or after `from`, if there is anything to do.
    fn pass_next(&mut self, reader: Reader, from: i64) {
        let client = &self.clients[reader as usize];
        let is_classic = self.is_classic();
        let has_work = client.alive
            && if is_classic { self.has_work_classic(reader) } else { self.has_work_consumer(reader) };
        if has_work {
            let at = if is_classic {
                client.app.next_pass(from, client.is_busy)
            } else {
                self.next_pass_consumer(reader, from)
            };
            self.pass_at(reader, at);
        }
    }

    fn pass(&mut self, reader: Reader, pass: u64) -> Result<()> {
        let client = &mut self.clients[reader as usize];
        if client.pass.is_none_or(|(_, number)| number != pass) {
            return Ok(());
        }
        client.pass = None;
        if !client.alive || client.closes_as.is_some() {
            return Ok(());
        }
        // A callback keeps a member inside `poll()`, whatever comes afterwards.
        let is_inside = if let Some(Coordinator::Consumer(_)) = self.coordinator {
            let ends = client.app.end_of(client.app.last_poll(self.now));
            client.classic.called_back > 0 || !client.is_busy && self.now < ends
        } else {
            let waits = !client.is_busy || self.now <= client.classic.keeps_network_until;
            waits && client.app.is_inside(self.now) || client.app.has_called_back(self.now)
        };
        if client.app.stall().is_some() && !is_inside {
            return Ok(());
        }
        if let Some(until) = client.app.in_callback(self.now) {
            self.pass_at(reader, until);
            return Ok(());
        }
        if self.is_classic() { self.pass_classic(reader) } else { self.pass_consumer(reader) }
    }

    /// Replaces the member IDs in a sentence with the names of their clients. An ID may contain blanks, so
    /// the longest match counts.
    fn named(&self, reason: &str) -> String {
        let (mut said, mut rest) = (String::new(), reason);
        while !rest.is_empty() {
            // A sentence may list all members, so a search goes no further than the longest ID.
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

    /// Whether nothing more will change by itself.
    fn is_quiet(&self) -> bool {
        let busy = |client: &Client| {
            let keeps = client.app.stall().is_some() || client.closes_as.is_some();
            client.alive && (keeps || client.pass.is_some() || !client.inbox.is_empty())
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

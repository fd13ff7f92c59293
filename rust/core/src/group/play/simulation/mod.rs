//! The simulation: its clock, the script, and what becomes of the members' effects. It knows no protocol.

mod actions;
mod answers;

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::Set;
use super::super::consumer::Place;
use super::super::error_code::Code;
use super::super::event_queue::EventQueue;
use super::cluster::Cluster;
use super::coordinator::Coordinator;
use super::leaders_client::LeadersClient;
use super::ledger::{Ledger, Reader};
use super::member::{Effect, Event, Member, Step};
use super::member_ids::MemberIds;
use super::network::{Network, Sender};
use super::script::{Action, MemberAction, Message, Race, Script, Timeline};
use crate::index::indices;
use crate::{Error, Result};

/// How long a play may go on after the script's last action: the longest session, plus a rebalance.
const AT_MOST_AFTER_MS: i64 = 2 * 3_600_000;
/// The most events that one member may cause at one instant before the play is declared endless.
const AT_ONCE: usize = 1_000;

/// What happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Todo<T> {
    /// The script's next action.
    Script,
    /// An answer arrives.
    Arrive,
    /// A member wakes, unless it has set that timer anew since.
    Wake(Reader, T),
}

/// A consumer.
struct Slot<M: Member> {
    /// In a box, because a step takes it out of here.
    member: Option<Box<M>>,
    is_alive: bool,
    /// How many times it has started. Answers to an earlier consumer are dropped.
    start: u32,
    /// The timers that are set, each with the number of its event.
    timers: Vec<(M::Timer, u64)>,
}

impl<M: Member> Slot<M> {
    fn new(start: u32) -> Self {
        Self { member: None, is_alive: false, start, timers: Vec::with_capacity(8) }
    }
}

/// A play under way.
pub(super) struct Simulation<M: Member> {
    now: i64,
    queue: EventQueue<Todo<M::Timer>>,
    /// How many events were scheduled so far. These numbers tell events apart.
    numbered: u64,
    actions: VecDeque<(i64, Action)>,
    until: Option<i64>,
    /// First one consumer of each member of the script, then those that started before their predecessor had closed.
    members: Vec<Slot<M>>,
    /// By consumer, its member of the script.
    owners: Vec<Reader>,
    /// By member of the script, its latest consumer.
    latest: Vec<Reader>,
    network: Network<M::Coordinator>,
    latency_ms: i64,
    cluster: Cluster,
    ledger: Ledger,
    ids: MemberIds,
    /// All distinct subscriptions so far, so that members can share them.
    subscriptions: Set<Arc<[u32]>>,
    race: Race,
    leaders_client: Option<Box<dyn LeadersClient>>,
    failures: Vec<(i64, Reader, Code)>,
    commits: Vec<(i64, Reader, Code)>,
    messages: Option<Vec<Message>>,
    /// Where steps put their effects.
    effects: Vec<Effect<M>>,
}

impl<M: Member> Simulation<M> {
    pub(super) fn new(
        script: Script,
        coordinator: M::Coordinator,
        leaders_client: Option<Box<dyn LeadersClient>>,
    ) -> Self {
        let mut ledger = Ledger::new(script.keeps_spans);
        for (topic, (_, count)) in (0..).zip(&script.topics) {
            for partition in 0..count.unwrap_or(0) {
                ledger.make((topic, partition.cast_signed()), 0);
            }
        }
        let members = script.clients.len();
        let mut simulation = Self {
            now: 0,
            queue: EventQueue::default(),
            numbered: 0,
            actions: script.actions.into(),
            until: script.until,
            members: (0..members).map(|_| Slot::new(0)).collect(),
            owners: indices(members).collect(),
            latest: indices(members).collect(),
            network: Network::new(coordinator),
            latency_ms: script.latency_ms,
            cluster: Cluster { topics: script.topics, idle_topics: script.idle_topics.into_iter().collect() },
            ledger,
            ids: MemberIds::new(script.clients),
            subscriptions: Set::default(),
            race: script.race,
            leaders_client,
            failures: Vec::new(),
            commits: Vec::new(),
            messages: script.keeps_messages.then(Vec::new),
            effects: Vec::new(),
        };
        for place in 0..simulation.actions.len() {
            simulation.later(simulation.actions[place].0, Todo::Script);
        }
        simulation
    }

    /// Plays the script to its end, or until nothing moves any more.
    pub(super) fn play(mut self) -> Result<Timeline> {
        self.tell_topics()?;
        let last = self.actions.back().map_or(0, |(at, _)| *at);
        let limit = self.until.unwrap_or(last + AT_MOST_AFTER_MS);
        let mut at_once = 0;
        let settled = loop {
            let queued = self.queue.peek().map(|((at, _), _)| at);
            let deadline = self.network.coordinator.deadline(queued.unwrap_or(i64::MAX));
            let Some(next) = queued.into_iter().chain(deadline).min() else { break self.is_at_rest() };
            if next > self.now {
                at_once = 0;
                let settled = self.actions.is_empty() && self.is_at_rest();
                // Once the group has settled, only heartbeats follow. They matter only if a play with a fixed end keeps
                // messages.
                let goes_on = self.until.is_some() && self.messages.is_some();
                if next > limit || settled && !goes_on {
                    break settled;
                }
            }
            if at_once > AT_ONCE * (self.members.len() + 1) {
                return Err(Error::Group(format!("the group does not settle at {next} ms")));
            }
            self.now = next;
            if deadline.is_some_and(|deadline| deadline <= next) {
                at_once += 1;
                self.hand_over(M::Coordinator::WAIT)?;
            } else if let Some(((_, number), todo)) = self.queue.pop() {
                at_once += usize::from(self.act(todo, number)?);
            }
            at_once += self.deliver()?;
        };
        let ended = self.until.unwrap_or(self.now).max(self.now);
        self.ledger.close(ended);
        if self.owners.len() > self.latest.len() {
            self.ledger.readers().for_each(|reader| *reader = self.owners[*reader]);
        }
        Ok(Timeline {
            generations: self.network.generations,
            ledger: self.ledger,
            failures: self.failures,
            commits: self.commits,
            messages: self.messages.unwrap_or_default(),
            ended,
            settled,
            clients: self.ids.names,
            topics: self.cluster.topics,
        })
    }

    fn later(&mut self, at: i64, todo: Todo<M::Timer>) {
        self.queue.push((at, self.numbered), todo);
        self.numbered += 1;
    }

    /// Does what is due. Returns whether that was anything.
    fn act(&mut self, todo: Todo<M::Timer>, number: u64) -> Result<bool> {
        match todo {
            Todo::Script => {
                if let Some((_, action)) = self.actions.pop_front() {
                    self.follow(action)?;
                }
            }
            Todo::Arrive => self.network.arrived.extend(self.network.under_way.pop_front()),
            Todo::Wake(reader, timer) => {
                let timers = &mut self.members[reader].timers;
                let Some(place) = timers.iter().position(|set| *set == (timer, number)) else {
                    return Ok(false);
                };
                timers.swap_remove(place);
                self.step(reader, Event::Wake(timer))?;
            }
        }
        Ok(true)
    }

    /// Lets a member see what it may, and returns what it does.
    fn sees<T>(&mut self, look: impl FnOnce(&mut Step<'_, M>) -> T) -> (T, Vec<Effect<M>>) {
        let mut step = Step {
            now: self.now,
            latency_ms: self.latency_ms,
            coordinator: &self.network.coordinator,
            cluster: &self.cluster,
            ledger: &self.ledger,
            ids: &mut self.ids,
            race: &mut self.race,
            leaders_client: self.leaders_client.as_deref_mut(),
            effects: std::mem::take(&mut self.effects),
        };
        let seen = look(&mut step);
        (seen, step.effects)
    }

    /// Something happens to a member. One that has ended notices nothing, but may still be made to commit.
    fn step(&mut self, reader: Reader, event: Event<M>) -> Result<()> {
        let slot = &mut self.members[reader];
        if !slot.is_alive && !matches!(event, Event::Script(MemberAction::Commit(_))) {
            return Ok(());
        }
        let Some(mut member) = slot.member.take() else { return Ok(()) };
        let (result, effects) = self.sees(|step| member.step(event, step));
        self.members[reader].member = Some(member);
        result?;
        self.carry_out(reader, effects)
    }

    fn carry_out(&mut self, reader: Reader, mut effects: Vec<Effect<M>>) -> Result<()> {
        for effect in effects.drain(..) {
            let slot = &mut self.members[reader];
            match effect {
                Effect::Send(sent, request) => {
                    let sender = Sender { reader, start: slot.start, sent };
                    self.network.send(self.now, sender, *request, &self.ids)?;
                    self.send_answers();
                }
                Effect::Wake(timer, at) => {
                    slot.timers.retain(|(set, _)| *set != timer);
                    slot.timers.push((timer, self.numbered));
                    self.later(at, Todo::Wake(reader, timer));
                }
                Effect::Rest(timer) => slot.timers.retain(|(set, _)| *set != timer),
                Effect::Read(places) => {
                    for place in places {
                        self.ledger.take(place, reader, self.owners[reader], self.now);
                    }
                }
                Effect::Stop(places, progress) => {
                    for place in places {
                        let displaced = self.ledger.stop(place, reader, progress, self.now);
                        if let Some(other) = displaced.filter(|other| self.reads(*other, place)) {
                            self.ledger.take(place, other, self.owners[other], self.now);
                        }
                    }
                }
                Effect::Disconnect => self.network.disconnect((reader, slot.start)),
                Effect::Commit(by) => self.ledger.commit(reader, by),
                Effect::Heard(at) => {
                    if let Some(member) = &slot.member {
                        self.network.coordinator.heard_of(member.identity().0, at);
                    }
                }
                Effect::End(code) => {
                    slot.is_alive = false;
                    slot.timers.clear();
                    self.failures.extend(code.map(|code| (self.now, self.owners[reader], code)));
                }
            }
        }
        self.effects = effects;
        Ok(())
    }

    fn reads(&self, reader: Reader, place: Place) -> bool {
        let Slot { member, is_alive, .. } = &self.members[reader];
        *is_alive && member.as_ref().is_some_and(|member| member.reads(place))
    }

    /// Hands a request to the coordinator that no member sends.
    fn hand_over(&mut self, request: <M::Coordinator as Coordinator>::Request) -> Result<()> {
        self.network.hand_over(self.now, request, None, &self.ids)?;
        self.send_answers();
        Ok(())
    }

    /// Whether nothing more will change by itself.
    fn is_at_rest(&self) -> bool {
        let mut alive =
            self.members.iter().filter(|slot| slot.is_alive).filter_map(|slot| slot.member.as_ref());
        self.network.under_way.is_empty()
            && self.network.coordinator.is_at_rest(alive.clone().count())
            && alive.all(|member| member.is_at_rest(&self.network.coordinator, &self.cluster))
    }
}

//! What a consumer does in a group of the classic protocol (`ConsumerCoordinator`, `AbstractCoordinator`).

use std::sync::Arc;

use super::super::classic::{self, Join, Phase, Request, Sender};
use super::super::consumer::Place;
use super::super::error_code::Code;
use super::client::{Answer, Asked, Said};
use super::ledger::Reader;
use super::script::{Consumer, Generation};
use super::world::{Coordinator, Todo, World};
use crate::Result;
use crate::assignors::Assignor;
use crate::interned::Name;

type Group = classic::Group<Said, Arc<[Place]>>;
type ClassicRequest = Request<Said, Arc<[Place]>>;

impl World {
    /// Puts a request to the coordinator.
    pub(super) fn step_classic(&mut self, request: ClassicRequest, asks: Option<(Reader, Asked)>) {
        let tag = self.ask(asks);
        let Some(Coordinator::Classic(mut group)) = self.coordinator.take() else { return };
        let before = group.generation();
        group.apply(classic::Event { at: self.now, tag, request });
        if group.generation() > before {
            let leader = group.leader().and_then(|id| self.by_id.get(id)).copied();
            self.generations.push(Generation {
                number: group.generation(),
                at: self.now,
                why: self.named(group.reason()),
                leader: leader.filter(|_| group.phase() != Phase::Empty),
                protocol: group.protocol().cloned(),
                assignment: Vec::new(),
            });
        }
        self.answered(group.effects().map(|effect| (effect.tag, Answer::Classic(effect.answer))));
        self.coordinator = Some(Coordinator::Classic(group));
    }

    /// `onJoinPrepare` and `JoinGroup`.
    pub(super) fn join_classic(&mut self, reader: Reader, reason: &str) {
        let read = self.read_by(reader);
        let client = &self.clients[reader as usize];
        let Some(config) = client.config.clone() else { return };
        let cooperative = is_cooperative(&config.assignors);
        if client.generation < 0 && !client.reading.is_empty() {
            // Whoever is not a member any more has lost what it read: nothing of it can be committed.
            let committed = client.committed_by(read);
            self.drop_all(reader, read, committed);
        } else if cooperative {
            let gone: Vec<Place> =
                client.reading.iter().copied().filter(|&(topic, _)| !client.subscribes(topic)).collect();
            self.release(reader, &gone);
        } else {
            self.release_all(reader);
        }
        let client = &mut self.clients[reader as usize];
        client.joining = true;
        (client.rejoin, client.rejoins_as) = (false, "");
        client.leads = false;
        client.beat = u64::MAX;
        client.told_topics = Some(Arc::clone(&client.topics));
        let owned: Arc<[Place]> = client.reading.iter().copied().collect();
        let said = |(name, assignor): &(Name, Assignor)| {
            let is_sticky = matches!(assignor, Assignor::Sticky | Assignor::Sticky28 | Assignor::Sticky23);
            let said = Said {
                topics: Arc::clone(&client.topics),
                owned: Arc::clone(&owned),
                generation: client.generation,
                remembers: is_sticky.then(|| client.memory.clone()),
            };
            (Arc::clone(name), said)
        };
        let (protocols, id) = (config.assignors.iter().map(said).collect(), Arc::clone(&client.id));
        let join = Join {
            new_id: if id.is_empty() { self.new_id(reader, &config) } else { Arc::clone(&id) },
            member: id,
            instance: config.instance.clone(),
            session_timeout_ms: config.session_timeout_ms,
            rebalance_timeout_ms: config.max_poll_interval_ms,
            protocols,
            requires_id: true,
            skips_assignment: true,
            reason: reason.to_owned(),
        };
        self.step_classic(Request::Join(join), Some((reader, Asked::Join)));
    }

    /// What becomes of a commit that the script asked for.
    pub(super) fn take_commit(&mut self, reader: Reader, code: Code) {
        if code == Code::None {
            self.clients[reader as usize].committed = self.read_by(reader);
        }
        self.commits.push((self.now, reader, code));
    }

    /// The id that a client without one is given: the script's own, or a name that nobody has had yet.
    pub(super) fn new_id(&mut self, reader: Reader, config: &Consumer) -> Name {
        let start = self.clients[reader as usize].start;
        let number = if start > 1 { format!("-{start}") } else { String::new() };
        let stem = config.instance.as_deref().unwrap_or(&self.names[reader as usize]);
        let mut new_id = config.id.clone().unwrap_or_else(|| format!("{stem}{number}").into());
        let mut again = 2;
        while self.by_id.contains_key(&new_id) {
            new_id = format!("{stem}{number}.{again}").into();
            again += 1;
        }
        self.longest_id = self.longest_id.max(new_id.len());
        self.by_id.insert(Arc::clone(&new_id), reader);
        new_id
    }

    /// Gives partitions up, with their offsets committed.
    pub(super) fn release(&mut self, reader: Reader, places: &[Place]) {
        if places.is_empty() {
            return;
        }
        let (read, committed) = self.commit_all(reader);
        self.clients[reader as usize].reading.retain(|place| places.binary_search(place).is_err());
        for &place in places {
            self.ledger.release(place, reader, read, committed, self.now);
        }
    }

    /// The same with all that a client reads.
    pub(super) fn release_all(&mut self, reader: Reader) {
        let (read, committed) = self.commit_all(reader);
        self.drop_all(reader, read, committed);
    }

    /// Up to when a client has read what it gives up by itself, and up to when that is committed.
    fn commit_all(&self, reader: Reader) -> (i64, i64) {
        let (read, client) = (self.read_by(reader), &self.clients[reader as usize]);
        let commits = client.config.as_ref().is_some_and(|config| config.auto_commit_interval_ms.is_some());
        (read, if commits { read } else { client.committed_by(read) })
    }

    /// Gives up what a client is not to read any more, and takes what it is; how many it has given up.
    pub(super) fn read_these(&mut self, reader: Reader, mut wanted: Vec<Place>) -> usize {
        wanted.sort_unstable();
        let reading = &self.clients[reader as usize].reading;
        let beyond = |these: &[Place], those: &[Place]| -> Vec<Place> {
            these.iter().copied().filter(|place| those.binary_search(place).is_err()).collect()
        };
        let (revoked, added) = (beyond(reading, &wanted), beyond(&wanted, reading));
        self.release(reader, &revoked);
        for &place in &added {
            self.ledger.take(place, reader, self.now);
        }
        self.clients[reader as usize].reading = wanted;
        revoked.len()
    }

    fn sender(&self, reader: Reader) -> Sender {
        let client = &self.clients[reader as usize];
        Sender { member: Arc::clone(&client.id), generation: client.generation, instance: client.instance() }
    }

    pub(super) fn take_classic(
        &mut self,
        reader: Reader,
        asked: Asked,
        answer: classic::Answer<Said, Arc<[Place]>>,
    ) -> Result<()> {
        match answer {
            classic::Answer::Joined(joined) => return self.take_joined(reader, joined),
            classic::Answer::Synced { code, assignment, .. } => self.take_synced(reader, code, assignment),
            classic::Answer::Done(code) if asked == Asked::Commit => self.take_commit(reader, code),
            classic::Answer::Done(code) => self.take_beat(reader, code),
            classic::Answer::Left(..) => {}
        }
        Ok(())
    }

    fn take_joined(&mut self, reader: Reader, joined: classic::Joined<Said>) -> Result<()> {
        let client = &mut self.clients[reader as usize];
        match joined.code {
            Code::None => {}
            Code::MemberIdRequired => {
                client.id = joined.member;
                self.join_classic(reader, "");
                return Ok(());
            }
            code => {
                self.refused(reader, code);
                return Ok(());
            }
        }
        client.id = Arc::clone(&joined.member);
        client.generation = joined.generation;
        client.leads = joined.leader.as_ref() == Some(&joined.member);
        let mut assignments = Vec::new();
        if client.leads && !joined.skip_assignment {
            // Topics that the leader has never looked for are looked for now, and so are those of which others have seen more
            // than it has: its assignor would throw.
            let seen = |topic: u32| client.seen.get(topic as usize).copied().flatten();
            let beyond = |&(topic, partition): &Place| {
                seen(topic).is_some_and(|count| partition.cast_unsigned() >= count)
            };
            // Members that subscribe to the same share one list, which is looked at once.
            let mut known: Option<&Arc<[u32]>> = None;
            let wants = joined.members.iter().any(|(_, _, said)| {
                let is_known = known.replace(&said.topics).is_some_and(|it| Arc::ptr_eq(it, &said.topics));
                let remembered = said.remembers.as_ref().map_or(&said.owned, |(owned, _)| owned);
                !is_known && said.topics.iter().any(|&topic| seen(topic).is_none())
                    || remembered.iter().any(beyond)
            });
            if wants {
                self.refresh(reader);
            }
            let assignor: Assignor = joined.protocol.as_deref().unwrap_or("range").parse()?;
            assignments = self.assign(assignor, &joined.members, &self.clients[reader as usize].seen)?;
            let named = |(id, list): &(_, Arc<[Place]>)| Some((*self.by_id.get(id)?, Arc::clone(list)));
            let assignment = assignments.iter().filter_map(named).collect();
            if let Some(generation) =
                self.generations.iter_mut().rev().find(|generation| generation.number == joined.generation)
            {
                generation.assignment = assignment;
            }
        }
        let request = Request::Sync { sender: self.sender(reader), protocol: joined.protocol, assignments };
        self.step_classic(request, Some((reader, Asked::Sync)));
        Ok(())
    }

    /// `onJoinComplete`.
    fn take_synced(&mut self, reader: Reader, code: Code, assignment: Option<Arc<[Place]>>) {
        if code != Code::None {
            self.refused(reader, code);
            return;
        }
        let assignment = assignment.unwrap_or_else(|| Arc::new([]));
        let client = &mut self.clients[reader as usize];
        let Some(config) = client.config.clone() else { return };
        client.joining = false;
        if assignment.iter().any(|&(topic, _)| !client.subscribes(topic)) {
            // `checkAssignmentMatchedSubscription`: a static member that is back with another subscription is told what the
            // one before it had. It joins again, and says a generation now, which is news to the coordinator.
            self.join_classic(reader, "was told to read what it does not subscribe to");
            return;
        }
        client.memory = (Arc::clone(&assignment), client.generation);
        let revoked = self.read_these(reader, assignment.to_vec());
        let client = &self.clients[reader as usize];
        if revoked > 0 && is_cooperative(&config.assignors) {
            // What was given up can be given to others now: a second rebalance.
            let many = if revoked == 1 { "" } else { "s" };
            self.join_classic(reader, &format!("has given up {revoked} partition{many}"));
        } else if client.rejoin {
            let reason = client.rejoins_as;
            self.join_classic(reader, reason);
        } else {
            self.beat_later(reader, config.heartbeat_interval_ms);
        }
    }

    pub(super) fn beat_later(&mut self, reader: Reader, after_ms: i64) {
        let beat = self.numbered;
        self.clients[reader as usize].beat = beat;
        self.later(self.now + after_ms, Todo::Heartbeat(reader, beat));
    }

    pub(super) fn beat_classic(&mut self, reader: Reader) {
        let sender = self.sender(reader);
        self.step_classic(Request::Heartbeat(sender), Some((reader, Asked::Heartbeat)));
    }

    fn take_beat(&mut self, reader: Reader, code: Code) {
        let client = &mut self.clients[reader as usize];
        if client.joining {
            return;
        }
        let interval_ms = client.config.as_ref().map_or(3_000, |config| config.heartbeat_interval_ms);
        match code {
            Code::None | Code::NotCoordinator => self.beat_later(reader, interval_ms),
            Code::RebalanceInProgress => {
                client.rejoin = true;
                self.beat_later(reader, interval_ms);
                self.poll_later(reader);
            }
            code => {
                if self.is_lost(reader, code) {
                    self.clients[reader as usize].rejoin = true;
                    self.poll_later(reader);
                }
            }
        }
    }

    /// Whether a client that is refused joins anew, with what is left of its membership; else it ends.
    fn is_lost(&mut self, reader: Reader, code: Code) -> bool {
        let client = &mut self.clients[reader as usize];
        match code {
            Code::UnknownMemberId => {
                client.id = "".into();
                client.generation = -1;
            }
            Code::IllegalGeneration => client.generation = -1,
            Code::RebalanceInProgress | Code::NotCoordinator => {}
            code => {
                self.fail(reader, code);
                return false;
            }
        }
        true
    }

    /// What a client does when the coordinator does not know it as it is.
    fn refused(&mut self, reader: Reader, code: Code) {
        let client = &mut self.clients[reader as usize];
        client.joining = false;
        if !self.is_lost(reader, code) {
            return;
        }
        let client = &mut self.clients[reader as usize];
        if client.stalled_since.is_some() {
            client.rejoin = true;
            return;
        }
        self.join_classic(reader, "");
    }

    /// A client that has stalled for too long leaves the group (KIP-62); a static one is only not heard of any more. Either
    /// forgets who it was (`resetGenerationOnLeaveGroup`).
    pub(super) fn give_up_classic(&mut self, reader: Reader) {
        let is_static = self.clients[reader as usize].is_static();
        let id = Arc::clone(&self.clients[reader as usize].id);
        let client = &mut self.clients[reader as usize];
        client.beat = u64::MAX;
        client.generation = -1;
        client.rejoin = true;
        client.joining = false;
        client.inbox.clear();
        client.id = "".into();
        if is_static {
            return;
        }
        self.step_classic(Request::Leave(vec![(id, None)]), Some((reader, Asked::Leave)));
    }

    pub(super) fn leave_classic(&mut self, reader: Reader, says_so: bool) {
        let client = &self.clients[reader as usize];
        let leaving = vec![(Arc::clone(&client.id), client.instance())];
        if says_so && !client.id.is_empty() {
            self.step_classic(Request::Leave(leaving), Some((reader, Asked::Leave)));
        }
    }

    pub(super) fn commit_classic(&mut self, reader: Reader, generation: Option<i32>) {
        let mut sender = self.sender(reader);
        sender.generation = generation.unwrap_or(sender.generation);
        self.step_classic(Request::Commit(sender), Some((reader, Asked::Commit)));
    }

    /// Whether the topics have changed that a leader's last assignment was made of.
    pub(super) fn leader_must_rejoin(&self, reader: Reader, before: &[Option<u32>], group: &Group) -> bool {
        let client = &self.clients[reader as usize];
        let read = |topic: usize| {
            self.clients.iter().any(|other| {
                other.alive && other.topics.iter().any(|&subscribed| subscribed as usize == topic)
            })
        };
        client.leads
            && group.leader() == Some(&client.id)
            && (0..client.seen.len())
                .any(|topic| before.get(topic).copied().flatten() != client.seen[topic] && read(topic))
    }

    pub(super) fn classic_is_quiet(&self, group: &Group) -> bool {
        let settled = matches!(group.phase(), Phase::Stable | Phase::Empty)
            && group.pending() == 0
            && group.pending_sync() == 0;
        let alive = self.clients.iter().filter(|client| client.alive).count();
        if !settled || group.size() != alive {
            return false;
        }
        self.clients.iter().filter(|client| client.alive).all(|client| {
            let current = client.generation == group.generation() && group.has(&client.id);
            let up_to_date =
                !client.leads || self.topics.iter().zip(&client.seen).all(|((_, count), seen)| count == seen);
            current && up_to_date
        })
    }
}

/// Whether a consumer of these assignors rebalances cooperatively: only where all of them can.
fn is_cooperative(assignors: &[(Name, Assignor)]) -> bool {
    let can = |assignor| matches!(assignor, Assignor::CooperativeSticky | Assignor::CooperativeSticky28);
    assignors.iter().all(|&(_, assignor)| can(assignor))
}

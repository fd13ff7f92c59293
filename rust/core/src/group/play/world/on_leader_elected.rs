//! The work of a group's leader: it gives what the members sent to the assignor that they have chosen.

use std::sync::Arc;

use super::super::super::classic;
use super::super::super::consumer::Place;
use super::classic_member::{Metadata, Said};
use super::leaders_client::Assigned;
use super::ledger::Reader;
use super::metadata::NEAR_MS;
use super::{Todo, World};
use crate::Result;
use crate::assignors::{Assignor, Input, Lists};
use crate::interned::Name;

impl World {
    /// `ConsumerCoordinator.onLeaderElected`: the leader assigns partitions, but first looks at the topics if
    /// it must (`ensureFreshMetadata`).
    pub(super) fn on_leader_elected(&mut self, reader: Reader, joined: classic::Joined<Said>) -> Result<()> {
        let near = self.now + self.clients[reader as usize].asks_near_ms();
        let misses = self.clients[reader as usize].classic.misses_topics;
        // An earlier request of the leader's covers only its own topics, and the leader waits for nothing
        // more. If it misses a topic, it has also requested that in its last `poll()`, and the answer is
        // there by now. A request that waits for a connection covers whatever the leader wants by then.
        let is_connected = self.clients[reader as usize].classic.is_connected;
        let mut connected = None;
        // What expires at this instant, while it waits for the answer, is not requested yet.
        let client = &self.clients[reader as usize];
        let expires =
            matches!(client.classic.metadata, Metadata::Rests) && client.classic.looks_at <= self.now;
        let polls = client.app.last_poll(self.now) == self.now;
        let asked = match std::mem::take(&mut self.clients[reader as usize].classic.metadata) {
            Metadata::Rests if !misses && expires && polls => Some((self.topics_of(reader), near)),
            Metadata::Expired if !misses && is_connected => Some((self.topics_of(reader), near)),
            Metadata::Answered(seen, comes) if !misses => Some((seen, comes.max(self.now))),
            Metadata::Expired if !misses => {
                connected = Some(near);
                None
            }
            Metadata::Connects(at) if !misses => {
                connected = Some(at.max(self.now) + NEAR_MS);
                None
            }
            _ => None,
        };
        let wants = self.update_group_subscription(reader, &joined) || expires;
        let (seen, comes) = match (asked, connected) {
            (Some(asked), _) => asked,
            (None, Some(comes)) => (self.topics_of(reader), comes),
            (None, None) if wants => (self.topics_of(reader), near),
            (None, None) => return self.lead(reader, joined),
        };
        self.look_after(reader, comes - self.now);
        let client = &mut self.clients[reader as usize];
        client.classic.metadata = Metadata::Answered(seen, comes);
        client.elected = Some((comes, joined));
        // Meanwhile the heartbeat thread waits for the lock.
        client.classic.looks_since = client.classic.looks_since.map(|since| since + comes - self.now);
        let start = client.start;
        self.later(comes, Todo::Elected(reader, start));
        self.beat_anew(reader);
        Ok(())
    }

    /// How much longer a leader will be busy with its look at the topics.
    pub(super) fn election_takes(&self, reader: Reader) -> i64 {
        self.clients[reader as usize].elected.as_ref().map_or(0, |(comes, _)| comes - self.now)
    }

    /// An elected leader has finished its look at the topics.
    pub(super) fn elected(&mut self, reader: Reader) -> Result<()> {
        let client = &mut self.clients[reader as usize];
        let Some((_, joined)) = client.elected.take() else { return Ok(()) };
        let member = &mut client.classic;
        member.is_leader = true;
        if matches!(member.metadata, Metadata::Answered(..)) {
            self.see(reader);
        }
        self.lead(reader, joined)
    }

    /// `updateGroupSubscription`: whether a leader has to look at the topics again.
    fn update_group_subscription(&mut self, reader: Reader, joined: &classic::Joined<Said>) -> bool {
        let client = &mut self.clients[reader as usize];
        // The leader looks if other members subscribe to topics that it does not. It also looks if others own more
        // partitions of a topic than it has seen and all subscribe to the same: a sticky assignor would throw
        // (`ConstrainedAssignmentBuilder`).
        let named = joined.protocol.as_deref().unwrap_or_default().parse::<Assignor>();
        let mut throws = named.is_ok_and(|it| it.remembers() || it.is_cooperative());
        let seen = |topic: u32| client.seen.get(topic as usize).copied().flatten();
        let beyond =
            |&(topic, partition): &Place| seen(topic).is_some_and(|count| partition.cast_unsigned() >= count);
        let mut group_topics = Vec::new();
        // Members with equal subscriptions share one list, so it is checked only once.
        let mut known: Option<&Arc<[u32]>> = None;
        let mut owns_more = false;
        for (_, _, said) in &joined.members {
            if !known.replace(&said.topics).is_some_and(|it| Arc::ptr_eq(it, &said.topics)) {
                let others = said.topics.iter().copied().filter(|&topic| !client.subscribes(topic));
                group_topics.extend(others);
                throws &= client.topics.iter().all(|topic| said.topics.contains(topic));
            }
            let remembered = said.remembers.as_ref().map_or(&said.owned, |(owned, _)| owned);
            owns_more |= remembered.iter().any(beyond);
        }
        group_topics.sort_unstable();
        group_topics.dedup();
        let wants = !group_topics.is_empty() || throws && owns_more;
        self.clients[reader as usize].classic.group_topics = group_topics;
        wants
    }

    /// The leader assigns partitions by what it has seen of the topics. It sends no assignment if it is told
    /// to skip that.
    fn lead(&mut self, reader: Reader, joined: classic::Joined<Said>) -> Result<()> {
        let member = &mut self.clients[reader as usize].classic;
        (member.is_leader, member.watches_topics, member.has_seen_changes) = (true, true, false);
        let assignments = if joined.skip_assignment {
            Vec::new()
        } else {
            let Some(assignments) = self.assignments(reader, &joined)? else { return Ok(()) };
            assignments
        };
        self.send_sync(reader, joined.protocol, assignments);
        Ok(())
    }

    /// Each member's partitions, by member ID; `None` if the leader's client has failed.
    fn assignments(&mut self, reader: Reader, joined: &classic::Joined<Said>) -> Result<Option<Assigned>> {
        let assignments = if self.leaders_client.is_some() {
            let Some(assignments) = self.ask_leaders_client(reader, joined)? else { return Ok(None) };
            assignments
        } else {
            let assignor: Assignor = joined.protocol.as_deref().unwrap_or("range").parse()?;
            self.assign(assignor, &joined.members, &self.clients[reader as usize].seen)?
        };
        let named = |(id, list): &(_, Arc<[Place]>)| Some((*self.by_id.get(id)?, Arc::clone(list)));
        let assignment = assignments.iter().filter_map(named).collect();
        if let Some(generation) =
            self.generations.iter_mut().rev().find(|generation| generation.number == joined.generation)
        {
            generation.assignment = assignment;
        }
        Ok(Some(assignments))
    }

    /// The assignor's result, by member ID.
    fn assign(
        &self,
        assignor: Assignor,
        members: &[(Name, Option<String>, Said)],
        seen: &[Option<u32>],
    ) -> Result<Assigned> {
        let count = |place: usize| seen.get(place).copied().flatten();
        let mut given = Input {
            topics: self.topics.iter().map(|(name, _)| &**name).collect(),
            partitions: (0..self.topics.len()).map(|place| count(place).unwrap_or(0)).collect(),
            missing: (0..self.topics.len()).map(|place| count(place).is_none()).collect(),
            racks: Lists::default(),
            ..Input::default()
        };
        for (id, instance, said) in members {
            given.members.push(id);
            given.instance_ids.push(instance.as_deref());
            given.member_racks.push(None);
            given.subscribed.values.extend_from_slice(&said.topics);
            given.subscribed.end();
            given.sends.push(true);
            let (owned, generation) =
                said.remembers.as_ref().map_or((&said.owned, said.generation), |(owned, of)| (owned, *of));
            given.owned.values.extend_from_slice(owned);
            given.owned.end();
            given.generations.push(generation);
        }
        let assignment = assignor.assign(&given)?;
        let list = |place: usize| -> Arc<[Place]> {
            let range = assignment.offsets[place]..assignment.offsets[place + 1];
            let topics = assignment.topics[range.clone()].iter().copied();
            topics.zip(assignment.partitions[range].iter().copied()).collect()
        };
        // If a member's assignment has not changed, the old and the new one share one list.
        let shared = |id: &Name, list: Arc<[Place]>| match self.by_id.get(id) {
            Some(&reader) if self.clients[reader as usize].memory.0 == list => {
                Arc::clone(&self.clients[reader as usize].memory.0)
            }
            _ => list,
        };
        let assigned =
            |(place, (id, _, _)): (usize, &(Name, _, _))| (Arc::clone(id), shared(id, list(place)));
        Ok(members.iter().enumerate().map(assigned).collect())
    }
}

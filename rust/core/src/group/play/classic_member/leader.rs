//! The work of a group's leader: it gives what the members sent to the assignor that they have chosen, or to the client
//! that the caller knows.

use std::sync::Arc;

use super::super::super::classic::Joined;
use super::super::super::consumer::Place;
use super::super::leaders_client::{JoinedGroup, JoinedMember};
use super::{ClassicMember, ClassicStep, Subscription, Timer};
use crate::Result;
use crate::assignors::{Assignor, Input, Lists};
use crate::interned::Name;

/// Each member's partitions, by member ID.
type Assignments = Vec<(Name, Arc<[Place]>)>;

impl ClassicMember {
    /// `onLeaderElected`: the leader assigns partitions, but first asks for the topics if it must
    /// (`ensureFreshMetadata`). An answer that is under way covers only the topics asked for; it waits for nothing more.
    pub(super) fn on_leader_elected(
        &mut self,
        joined: Joined<Subscription>,
        step: &mut ClassicStep<'_>,
    ) -> Result<()> {
        let under_way = self.take_metadata_under_way(step);
        let wants = self.update_group_subscription(&joined);
        match self.await_metadata(under_way, wants, step) {
            Some(comes_at) => {
                step.wake(Timer::Elected, comes_at);
                self.elected = Some(Elected { joined, at: comes_at });
                Ok(())
            }
            None => self.lead(joined, step),
        }
    }

    /// An elected leader has its answer about the topics.
    pub(super) fn elected(&mut self, step: &mut ClassicStep<'_>) -> Result<()> {
        let Some(Elected { joined, .. }) = self.elected.take() else { return Ok(()) };
        self.is_leader = true;
        self.see_metadata(step);
        self.lead(joined, step)
    }

    /// `updateGroupSubscription`: whether a leader has to ask for the topics again. It has to if other members subscribe to
    /// topics that it does not. It also asks if others own more partitions of a topic than it has seen and all subscribe
    /// to the same: a sticky assignor would throw (`ConstrainedAssignmentBuilder`).
    fn update_group_subscription(&mut self, joined: &Joined<Subscription>) -> bool {
        let assignor = joined.protocol.as_deref().unwrap_or_default().parse::<Assignor>();
        let mut throws = assignor.is_ok_and(|it| it.remembers() || it.is_cooperative());
        let seen = |topic: u32| self.metadata.seen.get(topic as usize).copied().flatten();
        let is_unseen =
            |&(topic, partition): &Place| seen(topic).is_some_and(|count| partition.cast_unsigned() >= count);
        let mut group_topics = Vec::new();
        // Members with equal subscriptions share one list, so it is checked only once; the leader's own needs no check.
        let mut known = &self.subscriptions.topics;
        let mut owns_more = false;
        for (_, _, subscription) in &joined.members {
            let topics = &subscription.topics;
            if !Arc::ptr_eq(std::mem::replace(&mut known, topics), topics) {
                let others = topics.iter().copied().filter(|&topic| !self.subscriptions.subscribes(topic));
                group_topics.extend(others);
                throws &= self.subscriptions.topics.iter().all(|topic| topics.contains(topic));
            }
            let owned = subscription.remembers.as_ref().map_or(&subscription.owned, |(owned, _)| owned);
            owns_more |= throws && owned.iter().any(is_unseen);
        }
        group_topics.sort_unstable();
        group_topics.dedup();
        let asks_for_others = !group_topics.is_empty();
        self.metadata.group_topics = group_topics;
        asks_for_others || throws && owns_more
    }

    /// The leader assigns partitions by what it has seen of the topics. It sends no assignment if it is told to skip that
    /// (KIP-814).
    fn lead(&mut self, joined: Joined<Subscription>, step: &mut ClassicStep<'_>) -> Result<()> {
        (self.is_leader, self.watches_topics, self.has_seen_changes) = (true, true, false);
        let assignments = if joined.skip_assignment {
            Vec::new()
        } else if step.leaders_client.is_some() {
            let Some(assignments) = self.ask_leaders_client(&joined, step)? else {
                self.end(None, step);
                return Ok(());
            };
            assignments
        } else {
            self.assign_all(&joined, step)?
        };
        self.send_sync(joined.protocol, assignments, step);
        Ok(())
    }

    /// The assignor's result.
    fn assign_all(&self, joined: &Joined<Subscription>, step: &ClassicStep<'_>) -> Result<Assignments> {
        let assignor: Assignor = joined.protocol.as_deref().unwrap_or("range").parse()?;
        let topics = &step.cluster.topics;
        let mut input = Input {
            topics: topics.iter().map(|(name, _)| &**name).collect(),
            partitions: self.metadata.seen.iter().map(|count| count.unwrap_or(0)).collect(),
            missing: self.metadata.seen.iter().map(Option::is_none).collect(),
            racks: Lists::default(),
            ..Input::default()
        };
        input.subscribed.values.reserve(joined.members.iter().map(|(.., it)| it.topics.len()).sum());
        for (id, instance, subscription) in &joined.members {
            input.members.push(id);
            input.instance_ids.push(instance.as_deref());
            input.member_racks.push(None);
            input.subscribed.values.extend_from_slice(&subscription.topics);
            input.subscribed.end();
            input.sends.push(true);
            let (owned, generation) = match &subscription.remembers {
                Some((owned, generation)) => (owned, *generation),
                None => (&subscription.owned, subscription.generation),
            };
            input.owned.values.extend_from_slice(owned);
            input.owned.end();
            input.generations.push(generation);
        }
        let assignment = assignor.assign(&input)?;
        let list = |place: usize| -> Arc<[Place]> {
            let range = assignment.offsets[place]..assignment.offsets[place + 1];
            let topics = assignment.topics[range.clone()].iter().copied();
            topics.zip(assignment.partitions[range].iter().copied()).collect()
        };
        Ok(joined.members.iter().zip(0..).map(|((id, ..), place)| (Arc::clone(id), list(place))).collect())
    }

    /// The assignment by the leader's client; `None` if that client has failed.
    fn ask_leaders_client(
        &self,
        joined: &Joined<Subscription>,
        step: &mut ClassicStep<'_>,
    ) -> Result<Option<Assignments>> {
        let topics = step.cluster.topics.iter().zip(&self.metadata.seen);
        let members = joined.members.iter().map(|(id, instance, subscription)| JoinedMember {
            reader: step.ids.member(id),
            id,
            instance: instance.as_deref(),
            client: &subscription.client,
            topics: &subscription.topics,
            owned: &subscription.owned,
            generation: subscription.generation,
            remembers: subscription.remembers.as_ref().map(|(list, of)| (&**list, *of)),
        });
        let group = JoinedGroup {
            at: step.now,
            generation: joined.generation,
            leader: joined.members.iter().position(|(id, ..)| *id == joined.member).unwrap_or(0),
            assignor: joined.protocol.as_deref().unwrap_or_default(),
            topics: topics.filter_map(|((name, _), seen)| Some((&**name, (*seen)?))).collect(),
            members: members.collect(),
        };
        let Some(client) = step.leaders_client.as_mut() else { return Ok(None) };
        let Some(lists) = client.assign(&group)? else { return Ok(None) };
        let ids = joined.members.iter().map(|(id, ..)| Arc::clone(id));
        Ok(Some(ids.zip(lists.into_iter().map(Into::into)).collect()))
    }
}

/// The answer to `JoinGroup` of a leader that waits for another answer, about the topics.
#[derive(Clone, Debug)]
pub(super) struct Elected {
    joined: Joined<Subscription>,
    pub at: i64,
}

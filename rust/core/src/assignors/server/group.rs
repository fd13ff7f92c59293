//! A group as the broker passes it to an assignor (`GroupSpecImpl`): members are numbered in the order of Java's map,
//! topics in the order of their names.

use super::partition_runs::{self, PartitionRun};
use super::subscribers::Subscribers;
use crate::assignors::assignment::Assignment;
use crate::assignors::input::{Input, MOST_PARTITIONS};
use crate::assignors::lists::{Lists, offsets};
use crate::index::{Indices, MemberIx, TopicIx, indices};
use crate::java::hash_map::walk_names;
use crate::java::strings::{by, inverse, ranks, sort_static_first, sorted};
use crate::java::uuid::TopicId;
use crate::{Error, Result};

/// A group of the broker's.
#[derive(Debug)]
pub struct ServerGroup {
    /// The topics' ids.
    pub(super) ids: Vec<TopicId>,
    /// How many partitions each topic has; none if it does not exist or nobody subscribes to it.
    pub(super) counts: Vec<u32>,
    /// How many members subscribe to each topic.
    pub(super) subscribers: Vec<u32>,
    /// Each member's subscription, sorted, each topic once, without missing topics: plain numbers, whose lists are compared
    /// and hashed at once.
    pub(super) subscribed: Lists<u32>,
    /// The subscription of the first member, in the order given.
    pub(super) first: Vec<TopicIx>,
    /// `SubscriptionType.HOMOGENEOUS`: all members name the same topics.
    pub(super) homogeneous: bool,
    /// What each member owns, by topic: both in the order given, each once.
    pub(super) owned: Lists<(TopicIx, u32)>,
    /// Members in the order of `RangeAssignor`: first those with an instance ID, by that, then the others by their IDs.
    pub(super) static_first: Vec<MemberIx>,
    topic_places: Vec<u32>,
    member_places: Vec<u32>,
}

impl ServerGroup {
    /// Takes a group and turns names into numbers.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyPartitions`] if members subscribe to more than [`MOST_PARTITIONS`].
    pub fn new(input: &Input<'_>) -> Result<Self> {
        let (topic_places, topic) = sorted(&input.topics);
        let walk = walk_names(&input.members);
        let mut group = Self {
            ids: by(&topic_places, &input.topic_ids),
            counts: vec![0; topic_places.len()],
            subscribers: vec![0; topic_places.len()],
            subscribed: Lists::default(),
            first: Vec::new(),
            homogeneous: true,
            owned: Lists::default(),
            static_first: static_first(input, &walk),
            topic_places,
            member_places: walk,
        };
        group.take_subscriptions(input, &topic)?;
        group.take_owned(input, &topic);
        Ok(group)
    }

    fn take_subscriptions(&mut self, input: &Input<'_>, topic: &[TopicIx]) -> Result<()> {
        let mut subscribers = vec![0_usize; topic.len()];
        let mut seen = vec![0_u32; topic.len()];
        // Most members subscribe to the same topics as the one before.
        let alike = self
            .member_places
            .chunk_by(|&one, &other| input.subscribed.get(one) == input.subscribed.get(other));
        self.subscribed.values.reserve(input.subscribed.values.len());
        for (run, members) in (1..).zip(alike) {
            let start = self.subscribed.values.len();
            for &named in input.subscribed.get(members[0]) {
                if std::mem::replace(&mut seen[named as usize], run) == run {
                    continue;
                }
                subscribers[named as usize] += members.len();
                if !input.missing[named as usize] {
                    self.subscribed.values.push(named);
                }
            }
            let subscribed = &mut self.subscribed.values[start..];
            for number in &mut *subscribed {
                *number = topic[*number as usize].0;
            }
            if run == 1 {
                self.first = subscribed.iter().copied().map(TopicIx).collect();
            }
            if !subscribed.is_sorted() {
                subscribed.sort_unstable();
            }
            let end = self.subscribed.values.len();
            self.subscribed.end();
            for _ in &members[1..] {
                self.subscribed.values.extend_from_within(start..end);
                self.subscribed.end();
            }
        }
        let mut total = 0_u32;
        for (place, &subscribers) in subscribers.iter().enumerate() {
            if subscribers == 0 {
                continue;
            }
            self.homogeneous &= subscribers == self.member_places.len();
            if !input.missing[place] {
                self.subscribers[topic[place]] = u32::try_from(subscribers).unwrap_or(u32::MAX);
                let count = input.partitions[place];
                let all = total.checked_add(count).filter(|&all| all <= MOST_PARTITIONS);
                total = all.ok_or(Error::TooManyPartitions { most: MOST_PARTITIONS })?;
                self.counts[topic[place]] = count;
            }
        }
        Ok(())
    }

    fn take_owned(&mut self, input: &Input<'_>, topic: &[TopicIx]) {
        let mut pairs: Vec<(TopicIx, u32)> = Vec::new();
        let mut places = vec![u32::MAX; topic.len()];
        let (mut seen, mut numbers) = (vec![false; topic.len()], Vec::new());
        let mut known = std::collections::HashSet::new();
        for &place in &self.member_places {
            let owned = input.owned.get(place);
            pairs.clear();
            let each_once = owned.windows(2).all(|pair| pair[0] < pair[1])
                || stand_together(owned, &mut seen, &mut numbers);
            if each_once {
                // One topic after the other.
                pairs.extend(
                    owned.iter().map(|&(place, partition)| (topic[place as usize], number(partition))),
                );
            } else {
                known.clear();
                let mut order = 0;
                for &(place, partition) in owned {
                    let topic = topic[place as usize];
                    if places[topic] == u32::MAX {
                        places[topic] = order;
                        order += 1;
                    }
                    if known.insert((topic, partition)) {
                        pairs.push((topic, number(partition)));
                    }
                }
                // Stable: by topic, in the order in which each was first named.
                pairs.sort_by_key(|&(topic, _)| places[topic]);
                for &(topic, _) in &pairs {
                    places[topic] = u32::MAX;
                }
            }
            self.owned.values.extend_from_slice(&pairs);
            self.owned.end();
        }
    }

    /// How many members there are.
    pub(super) fn members(&self) -> usize {
        self.member_places.len()
    }

    /// All members, in which order they are numbered.
    pub(super) fn everybody(&self) -> Indices<MemberIx> {
        indices(self.members())
    }

    /// The first place of each topic's partitions in a row of all topics' partitions, and the end of the last.
    pub(super) fn starts(&self) -> Vec<usize> {
        offsets(self.counts.iter().map(|&count| count as usize))
    }

    /// Who subscribes to each topic.
    pub(super) fn subscribers_by_topic(&self) -> Subscribers {
        Subscribers::of(&self.subscribed, self.counts.len())
    }

    /// Writes a run at a place of an assignment, and moves the place past it.
    pub(super) fn write(&self, assignment: &mut Assignment, place: &mut usize, run: PartitionRun) {
        let end = *place + run.len();
        assignment.topics[*place..end].fill(self.topic_places[run.topic]);
        for (number, partition) in assignment.partitions[*place..end].iter_mut().zip(run.from..run.to) {
            *number = partition.cast_signed();
        }
        *place = end;
    }

    /// An assignment to fill, and where each member's list begins, given the lists' lengths.
    pub(super) fn room(&self, lengths: &[usize]) -> (Assignment, Vec<usize>) {
        let mut offsets = vec![0; lengths.len() + 1];
        for (&place, length) in self.member_places.iter().zip(lengths) {
            offsets[place as usize + 1] = *length;
        }
        for list in 0..lengths.len() {
            offsets[list + 1] += offsets[list];
        }
        let partitions = offsets[lengths.len()];
        let places = self.member_places.iter().map(|&place| offsets[place as usize]).collect();
        let (topics, partitions) = (vec![0; partitions], vec![0; partitions]);
        (Assignment { offsets, topics, partitions, chance: None }, places)
    }

    /// By a member's place in the input, its number.
    pub(super) fn numbers(&self) -> Vec<MemberIx> {
        inverse(&self.member_places)
    }

    /// A topic's place in the input.
    pub(super) fn topic_place(&self, topic: TopicIx) -> u32 {
        self.topic_places[topic]
    }

    /// An assignment in the numbers of the input, each list sorted.
    pub(super) fn named(&self, mut lists: Lists<PartitionRun>) -> Assignment {
        partition_runs::sort(&mut lists);
        let lengths: Vec<usize> =
            (0..lists.len()).map(|list| lists.get(list).iter().map(|run| run.len()).sum()).collect();
        let (mut named, places) = self.room(&lengths);
        for (list, mut place) in places.into_iter().enumerate() {
            for run in lists.get(list) {
                self.write(&mut named, &mut place, *run);
            }
        }
        named
    }
}

/// Whether each topic's partitions are together and each is there once, as in a broker's assignment. No topic is marked
/// as `seen` before or after the call.
fn stand_together(owned: &[(u32, i32)], seen: &mut [bool], numbers: &mut Vec<i32>) -> bool {
    let topics = || owned.chunk_by(|one, other| one.0 == other.0);
    let together = topics().all(|partitions| {
        numbers.clear();
        numbers.extend(partitions.iter().map(|&(_, partition)| partition));
        numbers.sort_unstable();
        let first = !std::mem::replace(&mut seen[partitions[0].0 as usize], true);
        first && numbers.windows(2).all(|pair| pair[0] < pair[1])
    });
    topics().for_each(|partitions| seen[partitions[0].0 as usize] = false);
    together
}

/// A partition's number, which the caller counted from 0.
fn number(partition: i32) -> u32 {
    partition.cast_unsigned()
}

fn static_first(input: &Input<'_>, walk: &[u32]) -> Vec<MemberIx> {
    let instances = ranks(&by(walk, &input.instance_ids));
    let (_, names) = sorted::<u32>(&input.members);
    let mut members: Vec<_> = indices(walk.len()).collect();
    sort_static_first(&mut members, |member| instances[member], |member| names[walk[member] as usize]);
    members
}

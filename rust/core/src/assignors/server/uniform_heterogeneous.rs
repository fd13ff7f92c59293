//! `UniformHeterogeneousAssignmentBuilder`: members subscribe to different topics. Each keeps what it owns, partitions
//! that nobody has go to the members with the least, and then partitions are moved, topic by topic, from the members
//! with the most to those with the least.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;

use super::group::ServerGroup;
use super::members_by_load::{Loads, bounds};
use super::partition_runs::PartitionRun;
use super::steps::Gift;
use super::subscribers::Subscribers;
use crate::assignors::lists::Lists;
use crate::index::{Ix, MemberIx, TopicIx, indices, numbered};
use crate::{Error, Result};

/// The builder goes through all topics at most this often to balance them.
const MOST_SWEEPS: usize = 16;

/// What each member reads, and if `with_steps`, each step: which partition was given to whom.
pub(super) fn assign(group: &ServerGroup, with_steps: bool) -> Result<(Lists<PartitionRun>, Vec<Gift>)> {
    let mut builder = HeterogeneousBuilder::new(group);
    builder.steps = with_steps.then(Vec::new);
    builder.keep()?;
    let topics = builder.sorted_topics();
    builder.deal(&topics);
    builder.balance(&topics);
    let steps = builder.steps.take().unwrap_or_default();
    let named =
        |(from, to, place)| (Some(from).filter(|&from| from != MemberIx::NONE), to, builder.run(place));
    Ok((builder.lists(), steps.into_iter().map(named).collect()))
}

struct HeterogeneousBuilder<'a> {
    group: &'a ServerGroup,
    starts: Vec<usize>,
    subscribers: Subscribers,
    /// How many partitions each member has.
    loads: Vec<i32>,
    /// By partition, one topic after the other, its owner.
    owners: Vec<MemberIx>,
    /// Partitions, as places in `owners`, that members other than the owner hold: these claimed them before
    /// the owner did.
    shared: BTreeSet<(MemberIx, usize)>,
    by_load: Loads,
    donors: Donors,
    /// The steps, if requested; partitions are places in `owners`.
    steps: Option<Vec<(MemberIx, MemberIx, usize)>>,
}

impl<'a> HeterogeneousBuilder<'a> {
    fn new(group: &'a ServerGroup) -> Self {
        let starts = group.starts();
        Self {
            owners: vec![MemberIx::NONE; starts[starts.len() - 1]],
            starts,
            subscribers: group.subscribers_by_topic(),
            loads: vec![0; group.members()],
            shared: BTreeSet::new(),
            by_load: Loads::default(),
            donors: Donors { partitions: Vec::new(), bounds: vec![(0, 0); group.members()] },
            steps: None,
            group,
        }
    }

    /// Lets members keep the partitions that they own of subscribed topics (`maybeRevokePartitions`).
    fn keep(&mut self) -> Result<()> {
        for member in self.group.everybody() {
            let subscribed = self.group.subscribed.get(member);
            for partitions in self.group.owned.get(member).chunk_by(|one, other| one.0 == other.0) {
                if subscribed.binary_search(&partitions[0].0.0).is_err() {
                    continue;
                }
                for &(topic, partition) in partitions {
                    if partition >= self.group.counts[topic] {
                        return Err(Error::throws(
                            "ArrayIndexOutOfBoundsException",
                            "members of unequal subscriptions that own a partition past its topic's count",
                        ));
                    }
                    let place = self.starts[topic] + partition as usize;
                    let before = std::mem::replace(&mut self.owners[place], member);
                    if before != MemberIx::NONE {
                        self.shared.insert((before, place));
                    }
                    self.loads[member] += 1;
                }
            }
        }
        Ok(())
    }

    /// Topics with members, in the order in which they are dealt out and balanced: topics with the most
    /// partitions per member first.
    fn sorted_topics(&self) -> Vec<TopicIx> {
        let members = |topic: TopicIx| self.subscribers.get(topic).len();
        let each = |topic: TopicIx| ratio(self.group.counts[topic], members(topic));
        let compare = |&one: &TopicIx, &other: &TopicIx| -> Ordering {
            let by_ratio = each(other).total_cmp(&each(one));
            let by_members = by_ratio.then_with(|| members(one).cmp(&members(other)));
            by_members.then_with(|| self.group.ids[one].cmp(&self.group.ids[other]))
        };
        let mut topics: Vec<_> = indices(self.group.counts.len()).collect();
        topics.retain(|&topic| members(topic) > 0);
        topics.sort_unstable_by(compare);
        topics
    }

    /// Gives partitions that nobody has to the members with the fewest (`assignRemainingPartitions`).
    fn deal(&mut self, topics: &[TopicIx]) {
        for &topic in topics {
            let places = self.places(topic);
            let missing =
                self.owners[places.clone()].iter().filter(|&&owner| owner == MemberIx::NONE).count();
            if missing == 0 {
                continue;
            }
            self.by_load.begin_for(missing, self.subscribers.get(topic), &self.loads);
            for place in places {
                if self.owners[place] == MemberIx::NONE {
                    let member = self.by_load.next_least(&self.loads);
                    self.give(place, member);
                }
            }
        }
    }

    fn balance(&mut self, topics: &[TopicIx]) {
        let topics: Vec<_> =
            topics.iter().copied().filter(|&topic| self.subscribers.get(topic).len() > 1).collect();
        // The topic since which nothing has been moved.
        let mut last = None;
        for _ in 0..MOST_SWEEPS {
            for (place, &topic) in topics.iter().enumerate() {
                if last == Some(place) {
                    return;
                }
                let moved = self.balance_topic(topic);
                if moved || last.is_none() {
                    last = Some(place);
                }
            }
        }
    }

    /// Moves partitions of a topic from the members with the most to the members with the fewest; returns
    /// whether it moved any.
    fn balance_topic(&mut self, topic: TopicIx) -> bool {
        let (least, most) = bounds(self.subscribers.get(topic), &self.loads);
        if most - least <= 1 {
            return false;
        }
        self.by_load.begin(self.subscribers.get(topic), &self.loads);
        let places = self.places(topic);
        self.donors.begin(&self.owners[places.clone()]);
        let mut moved = false;
        while !self.by_load.is_balanced() {
            let Some(partition) = self.next_donation() else { break };
            let member = self.by_load.next_least(&self.loads);
            if self.by_load.is_balanced() {
                break;
            }
            self.give(places.start + partition as usize, member);
            moved = true;
        }
        self.donors.end();
        moved
    }

    /// The last partition of the topic that the most loaded member with one has.
    fn next_donation(&mut self) -> Option<u32> {
        loop {
            let donor = self.by_load.next_most(&self.loads)?;
            let partition = self.donors.take(donor);
            if partition.is_some() {
                return partition;
            }
            self.by_load.exclude_most();
        }
    }

    fn give(&mut self, place: usize, member: MemberIx) {
        let before = std::mem::replace(&mut self.owners[place], member);
        if before != MemberIx::NONE {
            self.loads[before] -= 1;
            self.shared.remove(&(before, place));
        }
        self.loads[member] += 1;
        if let Some(steps) = &mut self.steps {
            steps.push((before, member, place));
        }
    }

    fn run(&self, place: usize) -> PartitionRun {
        let topic = TopicIx::at(self.starts.partition_point(|&start| start <= place) - 1);
        PartitionRun::of_one(topic, (place - self.starts[topic]).number())
    }

    /// A topic's partitions, as places in `owners`.
    fn places(&self, topic: TopicIx) -> Range<usize> {
        self.starts[topic]..self.starts[topic.place() + 1]
    }

    fn lists(&self) -> Lists<PartitionRun> {
        let mut dealt = Vec::with_capacity(self.owners.len() + self.shared.len());
        for (topic, places) in numbered(self.starts.windows(2)) {
            let owners = self.owners[places[0]..places[1]].iter();
            let owned = owners.zip(0..).filter(|&(&owner, _)| owner != MemberIx::NONE);
            dealt.extend(owned.map(|(&owner, partition)| (owner, PartitionRun::of_one(topic, partition))));
        }
        dealt.extend(self.shared.iter().map(|&(member, place)| (member, self.run(place))));
        Lists::dealt(self.group.members(), &dealt)
    }
}

/// Which member has which partitions of one topic; each gives its last one first.
struct Donors {
    /// The topic's partitions, by owner and number.
    partitions: Vec<(MemberIx, u32)>,
    /// By member, the range of the partitions that it still has.
    bounds: Vec<(usize, usize)>,
}

impl Donors {
    fn begin(&mut self, owners: &[MemberIx]) {
        self.partitions.clear();
        self.partitions.extend(owners.iter().copied().zip(0..));
        // Two plain numbers are compared faster than an index and a number.
        self.partitions.sort_unstable_by_key(|&(owner, partition)| (owner.0, partition));
        for (place, &(owner, _)) in self.partitions.iter().enumerate() {
            let (start, end) = &mut self.bounds[owner];
            if *end == 0 {
                *start = place;
            }
            *end = place + 1;
        }
    }

    fn take(&mut self, donor: MemberIx) -> Option<u32> {
        let (start, end) = &mut self.bounds[donor];
        if end <= start {
            return None;
        }
        *end -= 1;
        Some(self.partitions[*end].1)
    }

    fn end(&mut self) {
        for &(owner, _) in &self.partitions {
            self.bounds[owner] = (0, 0);
        }
    }
}

fn ratio(partitions: u32, members: usize) -> f64 {
    f64::from(partitions) / f64::from(u32::try_from(members).unwrap_or(u32::MAX))
}

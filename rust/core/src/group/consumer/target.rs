//! The target assignment: the answer of the broker's assignor for the group.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{ConsumerGroup, Heartbeat, Place};
use crate::assignors::server::{self, AssignmentRecords, Kind};
use crate::assignors::{Input, Lists};
use crate::interned::Name;
use crate::java::hash_map::walk_names;
use crate::java::hash_set::walk_copied_names;
use crate::java::strings::compare;
use crate::{Error, Result};

/// A member's target.
#[derive(Clone, Debug, Default)]
pub(super) struct MemberTarget {
    /// Its partitions, sorted.
    pub(super) sorted: Arc<[Place]>,
    /// In the coordinator's order, if its history makes that differ from a fresh map's.
    walked: Option<Arc<[Place]>>,
}

impl MemberTarget {
    fn walked(&self) -> &[Place] {
        self.walked.as_ref().unwrap_or(&self.sorted)
    }
}

impl ConsumerGroup {
    /// `maybeUpdateTargetAssignment`, if the last one is old enough. Returns whether there is a new one.
    ///
    /// `homogeneous` is what the coordinator assumes about the subscriptions if it does not count them again; a member
    /// that joins without a topic is not counted. Its assignors then look only at the first member's subscription. The
    /// assignor gets the group's members with the requesting one, in place of the one that it replaced.
    pub(super) fn update_target(
        &mut self,
        preferred: &str,
        homogeneous: Option<bool>,
        request: &Heartbeat,
        replaced: Option<&Name>,
        at: i64,
    ) -> Result<bool> {
        let stands = |since: i64| {
            self.config.assignment_interval_ms > 0 && at < since + self.config.assignment_interval_ms
        };
        if self.assignment_epoch >= self.epoch || self.assigned_at.is_some_and(stands) {
            return Ok(false);
        }
        let kind = if preferred == "range" { Kind::Range } else { Kind::Uniform };
        let members = self.walked(&request.member, replaced);
        let input = self.input(kind, &members, homogeneous == Some(true), request);
        let mut records = AssignmentRecords::new(&input.topic_ids);
        let group = server::ServerGroup::new(&input)?;
        let (assignment, steps) = server::assign_step_by_step(kind, &group)?;
        let alike = kind == Kind::Range && (homogeneous == Some(true) || self.is_homogeneous());
        let first = if alike { self.first_of(kind, &members).cloned() } else { None };
        for (place, name) in members.iter().enumerate() {
            let list = assignment.offsets[place]..assignment.offsets[place + 1];
            let topics = assignment.topics[list.clone()].iter().copied();
            let mut target: Vec<_> = topics.zip(assignment.partitions[list].iter().copied()).collect();
            target.sort_unstable();
            // Most members keep what they have, so one list is shared.
            let before = self.target.get(name);
            if before.is_some_and(|before| *before.sorted == target) {
                continue;
            }
            let walked = records.are_ambiguous(&target).then(|| match kind {
                Kind::Range => {
                    let topics = self.named_topics(first.as_ref().unwrap_or(name), request);
                    records.of_ranges(&topics, &target)
                }
                Kind::Uniform | Kind::Simple => {
                    let before = before.map_or(&[][..], MemberTarget::walked);
                    records.after(before, steps.of(place), &target)
                }
            });
            let walked = walked.filter(|walked| *walked != target).map(Arc::from);
            self.target.insert(Arc::clone(name), MemberTarget { sorted: target.into(), walked });
        }
        self.assignment_epoch = self.epoch;
        self.assigned_at = Some(at);
        Ok(true)
    }

    /// The assignor that most members want, or the broker's first one. `change` is one member's previous and present
    /// wish, which Java applies to a copy of its counts.
    ///
    /// On a tie, Java takes the first one of a map. The group's map has uniform before range (`BaseHashTable`). In the
    /// copy both are in one bin, where a name that is counted down to 0 and up again comes first (`HashMap.compute`).
    /// So a member that wants the other one finds another assignor with each of its heartbeats.
    pub(super) fn preferred_assignor(&self, change: Option<(Option<&str>, Option<&str>)>) -> &str {
        let mut votes: Vec<(&str, usize)> = ASSIGNORS.into_iter().zip(self.votes).collect();
        votes.retain(|&(_, count)| count > 0);
        if let Some((before, now)) = change {
            if let Some((_, count)) = votes.iter_mut().find(|(name, _)| Some(*name) == before) {
                *count -= 1;
            }
            votes.retain(|&(_, count)| count > 0);
            if let Some(now) = now.and_then(|now| ASSIGNORS.iter().find(|&&name| name == now)) {
                match votes.iter_mut().find(|(name, _)| name == now) {
                    Some((_, count)) => *count += 1,
                    None => votes.insert(0, (now, 1)),
                }
            }
        }
        let most = votes.iter().map(|&(_, count)| count).max();
        let first = || self.config.assignors.first().map_or(ASSIGNORS[0], String::as_str);
        votes.iter().find(|(_, count)| Some(*count) == most).map_or_else(first, |(name, _)| name)
    }

    /// `SubscriptionType.HOMOGENEOUS`: whether all members name the same topics.
    pub(super) fn is_homogeneous(&self) -> bool {
        self.subscribers.values().all(|&members| members == self.members.len())
    }

    /// The member whose subscription stands for all if they are equal: for `range` the first by `group.instance.id` and
    /// then by ID, for `uniform` the first of a map.
    fn first_of<'a>(&self, kind: Kind, members: &'a [Name]) -> Option<&'a Name> {
        let names = || -> Vec<&str> { members.iter().map(|name| &**name).collect() };
        let instance = |name: &Name| self.members.get(name).and_then(|member| member.instance.as_deref());
        let sorted = |one: &&Name, other: &&Name| match (instance(one), instance(other)) {
            (Some(one), Some(other)) => compare(one, other),
            (None, None) => compare(one, other),
            (one, other) => one.is_none().cmp(&other.is_none()),
        };
        match kind {
            Kind::Range => members.iter().min_by(sorted),
            Kind::Uniform | Kind::Simple => {
                walk_names(&names()).first().map(|&place| &members[place as usize])
            }
        }
    }

    /// A member's subscription in the order of its set: as in the request, or as in the log, by name.
    fn named_topics(&self, name: &Name, request: &Heartbeat) -> Vec<u32> {
        let requested = request.topics.iter().flatten().filter(|_| *name == request.member);
        let known = self.members.get(name).into_iter().flat_map(|member| member.topics.iter());
        let mut topics: Vec<u32> = requested.copied().collect();
        if topics.is_empty() {
            topics.extend(known);
            topics.sort_unstable_by(|&one, &other| compare(self.topic(one), self.topic(other)));
        }
        let mut seen = BTreeSet::new();
        topics.retain(|&topic| seen.insert(topic));
        let names: Vec<&str> = topics.iter().map(|&topic| self.topic(topic)).collect();
        walk_copied_names(&names).into_iter().map(|place| topics[place as usize]).collect()
    }

    fn topic(&self, topic: u32) -> &str {
        &self.topics[topic as usize].0
    }

    /// The members in the order in which an assignor gets them: that of the coordinator's map before the request,
    /// without the replaced one, and followed by the requesting one if it is new
    /// (`UpdatedMembersAndTargetAssignmentView`).
    fn walked(&self, asks: &Name, replaced: Option<&Name>) -> Vec<Name> {
        let mut members: Vec<Name> = self.order.walk().into_iter().cloned().collect();
        members.retain(|name| name == asks || Some(name) != replaced);
        if !members.contains(asks) {
            members.push(Arc::clone(asks));
        }
        members
    }

    /// The group as an assignor gets it: members own their previous targets.
    fn input<'a>(
        &'a self,
        kind: Kind,
        members: &'a [Name],
        all_alike: bool,
        request: &Heartbeat,
    ) -> Input<'a> {
        let first = self.first_of(kind, members);
        let alike = first.filter(|_| all_alike).and_then(|name| self.members.get(name));
        let mut input = Input {
            topics: self.topics.iter().map(|(name, _)| &**name).collect(),
            partitions: self.topics.iter().map(|(_, count)| count.unwrap_or(0)).collect(),
            missing: self.topics.iter().map(|(_, count)| count.is_none()).collect(),
            topic_ids: self.topic_ids.clone(),
            racks: Lists::default(),
            ..Input::default()
        };
        input.subscribed.values.reserve(self.subscribers.values().sum());
        for name in members {
            let Some(member) = self.members.get(name) else { continue };
            input.members.push(name);
            input.instance_ids.push(member.instance.as_deref());
            input.member_racks.push(None);
            if Some(name) == first {
                input.subscribed.values.extend(self.named_topics(name, request));
            } else {
                input.subscribed.values.extend(alike.unwrap_or(member).topics.iter().copied());
            }
            input.subscribed.end();
            input.sends.push(true);
            input.owned.values.extend_from_slice(self.target.get(name).map_or(&[][..], MemberTarget::walked));
            input.owned.end();
            input.generations.push(-1);
        }
        input
    }
}

/// The broker's assignors, under their names in `group.consumer.assignors` and `group.remote.assignor`.
pub const ASSIGNORS: [&str; 2] = ["uniform", "range"];

/// Refuses an assignor that no broker has.
///
/// # Errors
///
/// [`Error::UnknownName`] with the nearest name.
pub fn check_assignor(name: &str) -> Result<()> {
    if ASSIGNORS.contains(&name) { Ok(()) } else { Err(Error::unknown("assignor", name, ASSIGNORS)) }
}

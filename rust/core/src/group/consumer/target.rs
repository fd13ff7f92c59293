//! The target assignment: what the broker's assignor makes of the group.

use super::{Group, Member};
use crate::assignors::java_order::compare;
use crate::assignors::java_sets::walk_names;
use crate::assignors::server::{self, Kind};
use crate::assignors::{Given, Lists, TopicId};
use crate::{Error, Result};

impl Group {
    /// `maybeUpdateTargetAssignment`: where the last one has stood for long enough. Whether there is a new one.
    ///
    /// `homogeneous` is what the coordinator takes the subscriptions for, where it does not count them anew: whoever joins
    /// without a topic is not among those that it has counted. Its assignors look at the first member's alone then.
    pub(super) fn update_target(
        &mut self,
        preferred: &str,
        homogeneous: Option<bool>,
        at: i64,
    ) -> Result<bool> {
        let stands = |since: i64| {
            self.config.assignment_interval_ms > 0 && at < since + self.config.assignment_interval_ms
        };
        if self.assignment_epoch >= self.epoch || self.assigned_at.is_some_and(stands) {
            return Ok(false);
        }
        let kind = if preferred == "range" { Kind::Range } else { Kind::Uniform };
        let group = server::Group::new(&self.given(kind, homogeneous == Some(true)))?;
        let assignment = server::assign(kind, &group)?;
        for (place, name) in self.joined.clone().into_iter().enumerate() {
            let list = assignment.offsets[place]..assignment.offsets[place + 1];
            let topics = assignment.topics[list.clone()].iter().copied();
            let mut target: Vec<_> = topics.zip(assignment.partitions[list].iter().copied()).collect();
            target.sort_unstable();
            // Most members keep what they have, and whoever looks at it keeps one list of it.
            if self.target(&name) != target || !self.target.contains_key(&name) {
                self.target.insert(name, target.into());
            }
        }
        self.assignment_epoch = self.epoch;
        self.assigned_at = Some(at);
        Ok(true)
    }

    /// The assignor that most members ask for, or the first that the broker has. `change` is what one member asked for
    /// and asks for now, which Java takes into account in a copy of its counts.
    ///
    /// Of equals Java takes the first one of a map. That of the group has uniform before range (`BaseHashTable`); in the
    /// copy both are in one bin, where a name that is counted down to nothing and up again comes first
    /// (`HashMap.compute`). So a member of the other opinion finds another assignor with each of its heartbeats.
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

    /// `SubscriptionType.HOMOGENEOUS`: whether every topic that a member names is named by all of them.
    pub(super) fn is_homogeneous(&self) -> bool {
        self.subscribers.values().all(|&members| members == self.members.len())
    }

    /// The member whose subscription stands for all where they are alike: for `range` the first by `group.instance.id` and
    /// then by id, for `uniform` the first of a map.
    fn first_of(&self, kind: Kind) -> Option<&Member> {
        let names: Vec<&str> = self.joined.iter().map(|name| &**name).collect();
        let instance = |name: &str| self.members.get(name).and_then(|member| member.instance.as_deref());
        let sorted = |one: &&&str, other: &&&str| match (instance(one), instance(other)) {
            (Some(one), Some(other)) => compare(one, other),
            (None, None) => compare(one, other),
            (one, other) => one.is_none().cmp(&other.is_none()),
        };
        let first = match kind {
            Kind::Range => names.iter().min_by(sorted).copied(),
            Kind::Uniform | Kind::Simple => walk_names(&names).first().map(|&place| names[place as usize]),
        };
        first.and_then(|name| self.members.get(name))
    }

    /// The group as an assignor takes it: what members own is what they were to have before.
    fn given(&self, kind: Kind, all_alike: bool) -> Given<'_> {
        let first = self.first_of(kind).filter(|_| all_alike).map(|member| &member.topics);
        let mut given = Given {
            topics: self.topics.iter().map(|(name, _)| &**name).collect(),
            partitions: self.topics.iter().map(|(_, count)| count.unwrap_or(0)).collect(),
            missing: self.topics.iter().map(|(_, count)| count.is_none()).collect(),
            topic_ids: self.topics.iter().map(|(name, _)| TopicId::of_name(name)).collect(),
            racks: Lists::default(),
            ..Given::default()
        };
        for name in &self.joined {
            let Some(member) = self.members.get(name) else { continue };
            given.members.push(name);
            given.instance_ids.push(member.instance.as_deref());
            given.member_racks.push(None);
            given.subscribed.values.extend(first.unwrap_or(&member.topics).iter().copied());
            given.subscribed.end();
            given.sends.push(true);
            given.owned.values.extend_from_slice(self.target(name));
            given.owned.end();
            given.generations.push(-1);
        }
        given
    }
}

/// The broker's assignors, under the names that `group.consumer.assignors` and `group.remote.assignor` have for them.
pub const ASSIGNORS: [&str; 2] = ["uniform", "range"];

/// Refuses what no broker has.
///
/// # Errors
///
/// [`Error::UnknownAssignor`] with the nearest name.
pub fn check_assignor(name: &str) -> Result<()> {
    if ASSIGNORS.contains(&name) {
        return Ok(());
    }
    let nearest = crate::names::nearest(name, &ASSIGNORS);
    Err(Error::UnknownAssignor { name: name.to_owned(), nearest, known: ASSIGNORS.to_vec() })
}

//! What members say that they own, and who is believed: `AbstractStickyAssignor.allSubscriptionsEqual`.

use super::group::JavaGroup;
use crate::assignors::lists::Lists;
use crate::index::{MemberIx, PartitionIx, TopicIx};
use crate::java::hash_map::{FIRST_BINS, Walker};

/// The members' claims to partitions.
pub(crate) struct Claims {
    /// Whether the members subscribe to the same topics, by Kafka's comparison.
    pub(crate) equal_subscriptions: bool,
    /// Each member's claims, in the order in which they reach the assignor, if that matters.
    lists: Lists<PartitionIx>,
    /// The newest generation that members name; members of `StickyAssignor` name it together with what they own, or not
    /// at all.
    pub(crate) newest: i32,
    /// By partition, the believed claim, as a place in `lists`.
    believed: Vec<usize>,
    /// Whether two members of one generation have claimed it.
    pub(crate) contested: Vec<bool>,
}

const NOBODY: usize = usize::MAX;

impl Claims {
    /// Looks at the members in the order of Java's map. A member of `StickyAssignor` sends what it owns in its user
    /// data, topic by topic; `cooperative` members send it as it is. If subscriptions are equal, the algorithm sorts
    /// what a member owns, so the order of its claims does not matter.
    pub(crate) fn new(group: &JavaGroup<'_>, cooperative: bool) -> Self {
        let partitions: Vec<_> = group.owned.values.iter().map(|&(_, partition)| partition).collect();
        let equal_subscriptions = first_unequal(group).is_none();
        let is_as_sent = cooperative || equal_subscriptions;
        let lists = if is_as_sent { as_sent(group, &partitions) } else { by_topic(group, &partitions) };
        let naming = group.generations.iter().zip(&group.sends).filter(|&(_, &sends)| sends || cooperative);
        let mut claims = Self {
            newest: naming.map(|(&generation, _)| generation).max().unwrap_or(-1),
            equal_subscriptions,
            believed: vec![NOBODY; group.row.len()],
            contested: vec![false; group.row.len()],
            lists,
        };
        let mut last = vec![MemberIx::NONE; group.row.len()];
        for &member in &group.walk {
            for claim in claims.lists.range(member) {
                let partition = claims.lists.values[claim];
                let other = std::mem::replace(&mut last[partition], member);
                let generation = |member: MemberIx| group.generations[member];
                if other == MemberIx::NONE || generation(member) > generation(other) {
                    claims.believed[partition] = claim;
                } else if generation(member) == generation(other) {
                    claims.contested[partition] = true;
                    claims.believed[partition] = NOBODY;
                } else {
                    last[partition] = other;
                }
            }
        }
        claims
    }

    /// All that a member claims.
    pub(crate) fn of(&self, member: MemberIx) -> &[PartitionIx] {
        self.lists.get(member)
    }

    /// What a member is believed to own, in the order of its claims.
    pub(crate) fn believed(&self, member: MemberIx) -> impl Iterator<Item = PartitionIx> + '_ {
        let claims = self.lists.range(member);
        claims
            .map(|claim| (claim, self.lists.values[claim]))
            .filter(|&(claim, partition)| self.believed[partition] == claim)
            .map(|(_, partition)| partition)
    }
}

/// The first member in Java's order whose subscription differs from the others', as a place in `walk`. Kafka compares
/// each member's list with the set of the first non-empty list: members before that pass, and a list with a topic twice
/// differs.
pub(crate) fn first_unequal(group: &JavaGroup<'_>) -> Option<usize> {
    let mut first = vec![false; group.topics.len()];
    let mut topics = 0;
    // The list that was compared last: members with the same list pass as well.
    let mut passed = None;
    for (place, &member) in group.walk.iter().enumerate() {
        let subscribed = group.subscribed.get(member);
        if topics == 0 {
            for &topic in subscribed {
                topics += usize::from(!std::mem::replace(&mut first[topic], true));
            }
        } else if passed != Some(group.subscribed.list(member)) {
            if subscribed.len() != topics || subscribed.iter().any(|&topic| !first[topic]) {
                return Some(place);
            }
            passed = Some(group.subscribed.list(member));
        }
    }
    None
}

/// What members own, as they send it: the entries of `partitions`, which runs parallel to all that is owned, that are
/// partitions.
pub(crate) fn as_sent(group: &JavaGroup<'_>, partitions: &[PartitionIx]) -> Lists<PartitionIx> {
    let mut lists = Lists::default();
    for member in group.by_id() {
        let owned = &partitions[group.owned.range(member)];
        lists.values.extend(owned.iter().filter(|&&partition| partition != PartitionIx::NONE));
        lists.end();
    }
    lists
}

/// The same, grouped by topic in the order of the `HashMap` that writes their user data, which is filled by
/// `computeIfAbsent` (`StickyAssignor.serializeTopicPartitionAssignment`).
pub(crate) fn by_topic(group: &JavaGroup<'_>, partitions: &[PartitionIx]) -> Lists<PartitionIx> {
    let mut grouped = Lists::default();
    grouped.values.reserve(group.owned.values.len());
    let mut lists = vec![Vec::<PartitionIx>::new(); group.topics.len()];
    let mut walker = Walker::of_names(&group.topics);
    for member in group.by_id() {
        walker.begin_with(FIRST_BINS);
        let places = group.owned.range(member);
        for (&(topic, _), &partition) in group.owned.get(member).iter().zip(&partitions[places]) {
            let list = &mut lists[topic];
            walker.compute_if_absent(topic, list.is_empty());
            list.push(partition);
        }
        for topic in walker.walked::<TopicIx>() {
            grouped.values.extend(lists[topic].drain(..).filter(|&partition| partition != PartitionIx::NONE));
        }
        grouped.end();
    }
    grouped
}

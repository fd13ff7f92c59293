//! Who subscribes to each topic. Members of a group usually have one of a few subscriptions, and then topics share
//! lists.

use rustc_hash::FxHashMap;

use crate::assignors::lists::{Lists, offsets};
use crate::index::{Ix, MemberIx, TopicIx, numbered};

/// Up to this many subscriptions are few: the more there are, the less topics have in common.
const FEW: usize = 256;
/// Lists are shared if they hold at most this fraction of the members that separate lists would hold.
const WORTH_IT: usize = 4;

/// By topic, the members that subscribe to it, sorted.
pub(super) struct Subscribers {
    lists: Lists<MemberIx>,
    /// The list of each topic.
    list_of: Vec<u32>,
}

impl Subscribers {
    /// For a number of topics, from each member's subscription.
    pub(super) fn of(subscribed: &Lists<u32>, topics: usize) -> Self {
        shared(subscribed, topics).unwrap_or_else(|| {
            let numbers: Vec<u32> = (0..).take(topics).collect();
            Self { lists: transposed(subscribed, topics), list_of: numbers }
        })
    }

    /// A topic's.
    pub(super) fn get(&self, topic: TopicIx) -> &[MemberIx] {
        self.lists.get(self.list_of[topic])
    }
}

/// One list for all topics with the same subscribers; `None` if that is not worth it.
fn shared(subscribed: &Lists<u32>, topics: usize) -> Option<Subscribers> {
    let (class_of, classes) = distinct(subscribed, FEW)?;
    let dealt: Vec<_> = class_of.into_iter().zip((0..).map(MemberIx)).collect();
    let members_of = Lists::dealt(classes.len(), &dealt);
    let classes_by_topic: Lists<u32> = transposed(&classes, topics);
    let (list_of, sets) = distinct(&classes_by_topic, topics)?;
    let members = |class: u32| members_of.get(class);
    let shared: usize = sets.values.iter().map(|&class| members(class).len()).sum();
    if shared > subscribed.values.len() / WORTH_IT {
        return None;
    }
    let mut lists = Lists::default();
    for set in 0..sets.len() {
        let start = lists.values.len();
        for &class in sets.get(set) {
            lists.values.extend_from_slice(members(class));
        }
        lists.values[start..].sort();
        lists.end();
    }
    Some(Subscribers { lists, list_of })
}

/// The number of each list among the different ones, and these; `None` if there are more than `most`.
fn distinct(lists: &Lists<u32>, most: usize) -> Option<(Vec<u32>, Lists<u32>)> {
    let (mut numbers, mut different) = (FxHashMap::default(), Lists::default());
    let mut number_of = Vec::with_capacity(lists.len());
    for list in 0..lists.len() {
        let list = lists.get(list);
        let next = u32::try_from(numbers.len()).ok()?;
        let number = *numbers.entry(list).or_insert(next);
        if number == next {
            if numbers.len() > most {
                return None;
            }
            different.values.extend_from_slice(list);
            different.end();
        }
        number_of.push(number);
    }
    Some((number_of, different))
}

/// By number, below `numbers`, the lists that it is in.
fn transposed<I: Ix>(lists: &Lists<u32>, numbers: usize) -> Lists<I> {
    let mut lengths = vec![0; numbers];
    for &number in &lists.values {
        lengths[number as usize] += 1;
    }
    let offsets = offsets(lengths);
    let mut values = vec![I::default(); lists.values.len()];
    let mut places = offsets.clone();
    for (list, place) in numbered(0..lists.len()) {
        for &number in lists.get(place) {
            values[places[number as usize]] = list;
            places[number as usize] += 1;
        }
    }
    Lists { offsets, values }
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;
    use proptest::test_runner::TestCaseError;

    use super::*;

    /// Each topic's members, and how many numbers all lists have.
    fn check(lists: &[Vec<u32>], topics: u32) -> Result<usize, TestCaseError> {
        let subscribers = Subscribers::of(&Lists::of(lists), topics as usize);
        for topic in 0..topics {
            let has = |(member, list): (MemberIx, &Vec<u32>)| list.contains(&topic).then_some(member);
            let expected: Vec<_> = numbered(lists).filter_map(has).collect();
            prop_assert_eq!(subscribers.get(TopicIx(topic)), expected, "topic {}", topic);
        }
        Ok(subscribers.lists.values.len())
    }

    fn members(subscriptions: &[Vec<u32>], which: &[prop::sample::Index]) -> Vec<Vec<u32>> {
        which.iter().map(|which| which.get(subscriptions).clone()).collect()
    }

    proptest! {
        /// With members without topics, and topics without members.
        #[test]
        fn each_topic_has_who_subscribes_to_it(
            subscriptions in vec(btree_set(0_u32..12, 0..12), 1..20),
            which in vec(any::<prop::sample::Index>(), 0..400),
        ) {
            let subscriptions: Vec<Vec<u32>> =
                subscriptions.into_iter().map(|topics| topics.into_iter().collect()).collect();
            check(&members(&subscriptions, &which), 13)?;
        }

        /// A few subscriptions that alternate among the members, so that lists are shared and must be sorted.
        #[test]
        fn topics_of_few_subscriptions_share_lists(
            bounds in vec((0_u32..60, 0_u32..60), 1..5),
            which in vec(any::<prop::sample::Index>(), 40..200),
        ) {
            let subscriptions: Vec<Vec<u32>> =
                bounds.into_iter().map(|(one, other)| (one.min(other)..one.max(other)).collect()).collect();
            let lists = members(&subscriptions, &which);
            check(&lists, 60)?;
        }
    }

    #[test]
    fn topics_with_the_same_members_share_a_list() -> Result<(), TestCaseError> {
        let lists: Vec<Vec<u32>> = (0..100).map(|member| (0..10 + member % 2 * 10).collect()).collect();
        prop_assert_eq!(check(&lists, 20)?, 100 + 50);
        let subscribers = Subscribers::of(&Lists::of(&lists), 20);
        prop_assert_eq!(subscribers.get(TopicIx(0)).as_ptr(), subscribers.get(TopicIx(9)).as_ptr());
        prop_assert_eq!(subscribers.get(TopicIx(10)).as_ptr(), subscribers.get(TopicIx(19)).as_ptr());
        Ok(())
    }

    #[test]
    fn more_subscriptions_than_few_have_lists_apart() -> Result<(), TestCaseError> {
        for classes in [FEW, FEW + 1, FEW + 50] {
            let own = |number: usize| u32::try_from(100 + number).unwrap_or(0);
            let lists: Vec<Vec<u32>> =
                (0..classes).map(|number| (0..100).chain([own(number)]).collect()).collect();
            let numbers = check(&lists, own(classes))?;
            prop_assert_eq!(numbers, if classes <= FEW { classes + classes } else { 101 * classes });
        }
        Ok(())
    }
}

//! Members' subscriptions as they were given, equal ones kept once.

use rustc_hash::FxHashMap;

use crate::assignors::input::Input;
use crate::assignors::lists::Lists;
use crate::index::{MemberIx, TopicIx};

/// The members' subscriptions as they were given. Most groups have one list of topics, or a few. Each is kept once, so
/// that a large group need not be walked member by member and topic by topic.
#[derive(Debug)]
pub(crate) struct Subscribed {
    lists: Lists<TopicIx>,
    /// By member, its list.
    of: Vec<u32>,
}

impl Subscribed {
    /// The subscriptions of `members` (places in the input), with the topics' numbers.
    pub(crate) fn new(input: &Input<'_>, members: &[u32], numbers: &[TopicIx]) -> Self {
        let (mut lists, mut of) = (Lists::default(), Vec::with_capacity(members.len()));
        let mut known = FxHashMap::<&[u32], u32>::default();
        let mut last: (&[u32], u32) = (&[], 0);
        for &place in members {
            let topics = input.subscribed.get(place);
            if of.is_empty() || last.0 != topics {
                let next = u32::try_from(lists.len()).unwrap_or(u32::MAX);
                last = (topics, *known.entry(topics).or_insert(next));
                if last.1 == next {
                    lists.values.extend(topics.iter().map(|&topic| numbers[topic as usize]));
                    lists.end();
                }
            }
            of.push(last.1);
        }
        Self { lists, of }
    }

    /// A member's topics, as often as it names them.
    pub(crate) fn get(&self, member: MemberIx) -> &[TopicIx] {
        self.lists.get(self.of[member] as usize)
    }

    /// The number of a member's list; members that name the same topics in the same order have the same number.
    pub(crate) fn list(&self, member: MemberIx) -> usize {
        self.of[member] as usize
    }

    /// How many different lists there are.
    pub(crate) fn distinct(&self) -> usize {
        self.lists.len()
    }

    /// The topics that anybody names.
    pub(crate) fn named(&self) -> &[TopicIx] {
        &self.lists.values
    }
}

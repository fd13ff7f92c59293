//! A queue of events by place. It is as fast as a list where most events arrive in the order in which they leave.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The number of sorted lists. An event that fits at the end of none of them goes into a heap.
const MOST_LISTS: usize = 8;

/// A queue by place. Heartbeats and sessions are put off by the same interval again and again, so they arrive in order.
#[derive(Clone, Debug)]
pub(super) struct Queue<P, T> {
    lists: Vec<VecDeque<(P, T)>>,
    rest: BinaryHeap<Reverse<(P, T)>>,
    /// The list that holds the first event; `None` if the heap holds it or the queue is empty.
    first: Option<usize>,
}

impl<P: Ord, T: Ord> Default for Queue<P, T> {
    fn default() -> Self {
        Self { lists: Vec::new(), rest: BinaryHeap::new(), first: None }
    }
}

impl<P: Copy + Ord, T: Ord> Queue<P, T> {
    /// Adds an event at its place.
    pub(super) fn push(&mut self, place: P, item: T) {
        let is_first = self.peek().is_none_or(|(first, _)| place < first);
        // The list whose last place is nearest before the new one: the other lists stay free for earlier events.
        let end = |list: &VecDeque<(P, T)>| list.back().map(|(end, _)| *end);
        let fits = |(_, list): &(usize, &mut VecDeque<(P, T)>)| end(list) <= Some(place);
        let nearest = self.lists.iter_mut().enumerate().filter(fits).max_by_key(|(_, list)| end(list));
        let put = if let Some((number, list)) = nearest {
            list.push_back((place, item));
            Some(number)
        } else if self.lists.len() < MOST_LISTS {
            self.lists.push(VecDeque::from([(place, item)]));
            Some(self.lists.len() - 1)
        } else {
            self.rest.push(Reverse((place, item)));
            None
        };
        if is_first {
            self.first = put;
        }
    }

    /// The first event, with its place.
    pub(super) fn peek(&self) -> Option<(P, &T)> {
        let item = match self.first {
            Some(list) => self.lists[list].front(),
            None => self.rest.peek().map(|Reverse(item)| item),
        };
        item.map(|(place, item)| (*place, item))
    }

    /// Removes and returns the first event.
    pub(super) fn pop(&mut self) -> Option<(P, T)> {
        let item = match self.first {
            Some(list) => self.lists[list].pop_front(),
            None => self.rest.pop().map(|Reverse(item)| item),
        };
        let head = |(number, list): (usize, &VecDeque<(P, T)>)| Some((list.front()?.0, number));
        let first = self.lists.iter().enumerate().filter_map(head).min();
        let rest = self.rest.peek().map(|Reverse((place, _))| *place);
        self.first =
            first.filter(|(place, _)| rest.is_none_or(|rest| *place < rest)).map(|(_, number)| number);
        item
    }

    /// Removes all events.
    pub(super) fn clear(&mut self) {
        self.lists.clear();
        self.rest.clear();
        self.first = None;
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use proptest::prelude::*;

    use super::Queue;

    proptest! {
        #[test]
        fn is_a_heap(steps in prop::collection::vec(prop::option::weighted(0.6, 0..50_i64), 0..300)) {
            let (mut queue, mut heap) = (Queue::default(), BinaryHeap::new());
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Some(at) => {
                        queue.push((at, number), number);
                        heap.push(Reverse(((at, number), number)));
                    }
                    None => {
                        prop_assert_eq!(queue.pop(), heap.pop().map(|Reverse(item)| item));
                    }
                }
                let first = heap.peek().map(|Reverse((place, item))| (*place, item));
                prop_assert_eq!(queue.peek(), first);
            }
        }
    }
}

//! What is to happen, in the order of its places: as quick as a list where most comes in the order in which it goes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// So many lists, in each of which every place is after the one before; what fits none of them is kept in a heap.
const MOST_LISTS: usize = 8;

/// A queue by place. Heartbeats and sessions are put off by the same interval again and again, and so come in order.
#[derive(Clone, Debug)]
pub(super) struct Queue<P, T> {
    lists: Vec<VecDeque<(P, T)>>,
    rest: BinaryHeap<Reverse<(P, T)>>,
    /// Which list the first of all is in; none where that is the heap, or nothing is there.
    first: Option<usize>,
}

impl<P: Ord, T: Ord> Default for Queue<P, T> {
    fn default() -> Self {
        Self { lists: Vec::new(), rest: BinaryHeap::new(), first: None }
    }
}

impl<P: Copy + Ord, T: Ord> Queue<P, T> {
    /// Puts something in its place.
    pub(super) fn push(&mut self, place: P, item: T) {
        let is_first = self.peek().is_none_or(|(first, _)| place < first);
        // The list whose end is the nearest: the others are left for what comes earlier.
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

    /// The first of all, with its place.
    pub(super) fn peek(&self) -> Option<(P, &T)> {
        let item = match self.first {
            Some(list) => self.lists[list].front(),
            None => self.rest.peek().map(|Reverse(item)| item),
        };
        item.map(|(place, item)| (*place, item))
    }

    /// Takes the first of all.
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

    /// Takes all away.
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

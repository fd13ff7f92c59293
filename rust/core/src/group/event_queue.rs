//! A queue of events by place: a timing wheel for those of the next seconds, and a heap for all others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An event's time in milliseconds, and a number that tells it from others at the same time.
pub(super) type EventTime = (i64, u64);

/// How many milliseconds the wheel covers: heartbeats, passes and answers come within that.
const SLOTS: usize = 1 << 13;
/// The slots in one word of the bitmap.
const BITS: usize = u64::BITS as usize;

/// A queue by place. Events that are near are added and taken at the same cost however many there are.
#[derive(Clone, Debug)]
pub(super) struct EventQueue<T> {
    /// By time modulo their number: the first and the last event of a millisecond, in order; [`NOTHING`] for neither.
    slots: Vec<(Link, Link)>,
    /// The slots with events, as a bitmap.
    taken: Vec<u64>,
    nodes: Vec<EventNode<T>>,
    /// The first of the nodes without an event.
    free: Link,
    /// All events on the wheel come at this time or less than `SLOTS` ms later.
    since: i64,
    /// The events that came too early or too late for the wheel when they were added.
    heap: BinaryHeap<Reverse<(EventTime, T)>>,
    first: Option<(EventTime, Where)>,
}

#[derive(Clone, Debug)]
struct EventNode<T> {
    number: u64,
    item: Option<T>,
    next: Link,
}

/// The place of a node in its list, plus one: a table of empty slots is all zeros, which costs nothing until it is used.
type Link = u32;
const NOTHING: Link = 0;

/// Where an event waits: in a slot of the wheel, or in the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    Wheel(usize),
    Heap,
}

impl<T: Ord> Default for EventQueue<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            taken: Vec::new(),
            nodes: Vec::new(),
            free: NOTHING,
            since: i64::MIN,
            heap: BinaryHeap::new(),
            first: None,
        }
    }
}

impl<T: Ord> EventQueue<T> {
    /// Adds an event at its place.
    pub(super) fn push(&mut self, place: EventTime, item: T) {
        let put = match usize::try_from(place.0.saturating_sub(self.since)) {
            Ok(after) if after < SLOTS => {
                let slot = slot_of(place.0);
                self.put(slot, place.1, item);
                Where::Wheel(slot)
            }
            _ => {
                self.heap.push(Reverse((place, item)));
                Where::Heap
            }
        };
        if self.first.is_none_or(|(first, _)| place < first) {
            self.first = Some((place, put));
        }
    }

    /// The first event, with its place.
    pub(super) fn peek(&self) -> Option<(EventTime, &T)> {
        let (place, waits) = self.first?;
        let item = match waits {
            Where::Wheel(slot) => self.node(self.slots[slot].0)?.item.as_ref(),
            Where::Heap => self.heap.peek().map(|Reverse((_, item))| item),
        };
        Some((place, item?))
    }

    /// Removes and returns the first event.
    pub(super) fn pop(&mut self) -> Option<(EventTime, T)> {
        let (place, waits) = self.first?;
        let item = match waits {
            Where::Wheel(slot) => self.take(slot),
            Where::Heap => self.heap.pop().map(|Reverse((_, item))| item),
        };
        self.since = self.since.max(place.0);
        let heap = self.heap.peek().map(|Reverse((place, _))| (*place, Where::Heap));
        self.first = self.first_on_wheel().into_iter().chain(heap).min_by_key(|(place, _)| *place);
        Some((place, item?))
    }

    /// Removes all events.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn node(&self, link: Link) -> Option<&EventNode<T>> {
        self.nodes.get((link as usize).wrapping_sub(1))
    }

    /// Puts an event into a slot, before those with greater numbers.
    fn put(&mut self, slot: usize, number: u64, item: T) {
        if self.slots.is_empty() {
            self.slots = vec![(NOTHING, NOTHING); SLOTS];
            self.taken = vec![0; SLOTS / BITS];
        }
        let new = self.add(EventNode { number, item: Some(item), next: NOTHING });
        let (first, last) = self.slots[slot];
        let goes_before = |link: Link| self.node(link).is_none_or(|node| number < node.number);
        if first == NOTHING {
            self.slots[slot] = (new, new);
            self.taken[slot / BITS] |= 1 << (slot % BITS);
        } else if !goes_before(last) {
            self.nodes[last as usize - 1].next = new;
            self.slots[slot].1 = new;
        } else if goes_before(first) {
            self.nodes[new as usize - 1].next = first;
            self.slots[slot].0 = new;
        } else {
            let next = |link: Link| self.node(link).map_or(NOTHING, |node| node.next);
            let mut before = first;
            while !goes_before(next(before)) {
                before = next(before);
            }
            self.nodes[new as usize - 1].next = next(before);
            self.nodes[before as usize - 1].next = new;
        }
    }

    /// Takes the first event out of a slot that has some.
    fn take(&mut self, slot: usize) -> Option<T> {
        let (first, last) = self.slots[slot];
        let node = self.nodes.get_mut((first as usize).wrapping_sub(1))?;
        let (item, next) = (node.item.take(), node.next);
        node.next = self.free;
        self.free = first;
        self.slots[slot] = if first == last { (NOTHING, NOTHING) } else { (next, last) };
        if first == last {
            self.taken[slot / BITS] &= !(1 << (slot % BITS));
        }
        item
    }

    /// Stores a node in a free place.
    fn add(&mut self, node: EventNode<T>) -> Link {
        if let Some(place) = self.nodes.get_mut((self.free as usize).wrapping_sub(1)) {
            let next = place.next;
            *place = node;
            return std::mem::replace(&mut self.free, next);
        }
        self.nodes.push(node);
        #[expect(clippy::cast_possible_truncation, reason = "memory ends long before 2^32 events")]
        let link = self.nodes.len() as Link;
        link
    }

    /// The place of the wheel's first event, and its slot.
    fn first_on_wheel(&self) -> Option<(EventTime, Where)> {
        let begin = slot_of(self.since);
        let (word, bit) = (begin / BITS, begin % BITS);
        let from_bit = self.taken.get(word)? & (u64::MAX << bit);
        // The last word is the first one again, for what comes before that bit.
        let others = (word + 1..=word + self.taken.len()).map(|other| other % (SLOTS / BITS));
        let others = others.map(|other| (other, self.taken[other]));
        let (word, bits) = std::iter::once((word, from_bit)).chain(others).find(|(_, bits)| *bits != 0)?;
        let slot = word * BITS + bits.trailing_zeros() as usize;
        let after = slot.wrapping_sub(begin) % SLOTS;
        let at = self.since.saturating_add_unsigned(after as u64);
        Some(((at, self.node(self.slots[slot].0)?.number), Where::Wheel(slot)))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "only the last bits count")]
fn slot_of(at: i64) -> usize {
    at.cast_unsigned() as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use proptest::prelude::*;

    use super::EventQueue;

    /// Times that often coincide, that are near, or that are beyond the wheel or before it.
    fn time() -> impl Strategy<Value = i64> {
        prop_oneof![0..5_i64, 0..9_000_i64, 0..100_000_i64, any::<i64>()]
    }

    proptest! {
        #[test]
        fn is_a_heap(
            steps in prop::collection::vec(prop::option::weighted(0.6, (time(), 0..3_u64)), 0..300),
            from_last in any::<bool>(),
        ) {
            let (mut queue, mut heap) = (EventQueue::default(), BinaryHeap::new());
            let (mut last, mut number) = (0_i64, 1_000_u64);
            for step in steps {
                if let Some((at, earlier)) = step {
                    let at = if from_last { at.saturating_add(last) } else { at };
                    // Some have smaller numbers than others before them; no two have the same.
                    number += 10;
                    let place = (at, number - earlier * 23);
                    queue.push(place, number);
                    heap.push(Reverse((place, number)));
                } else {
                    let popped = queue.pop();
                    prop_assert_eq!(popped, heap.pop().map(|Reverse(item)| item));
                    last = popped.map_or(last, |((at, _), _)| at);
                }
                let first = heap.peek().map(|Reverse((place, item))| (*place, item));
                prop_assert_eq!(queue.peek(), first);
            }
        }
    }
}

//! A queue of events by place.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An event's time in milliseconds, and a number that tells it from others at the same time.
pub(super) type EventTime = (i64, u64);

/// A queue by place.
#[derive(Clone, Debug)]
pub(super) struct EventQueue<T>(BinaryHeap<Reverse<(EventTime, T)>>);

impl<T: Ord> Default for EventQueue<T> {
    fn default() -> Self {
        Self(BinaryHeap::new())
    }
}

impl<T: Ord> EventQueue<T> {
    /// Adds an event at its place.
    pub(super) fn push(&mut self, place: EventTime, item: T) {
        self.0.push(Reverse((place, item)));
    }

    /// The first event, with its place.
    pub(super) fn peek(&self) -> Option<(EventTime, &T)> {
        self.0.peek().map(|Reverse((place, item))| (*place, item))
    }

    /// Removes and returns the first event.
    pub(super) fn pop(&mut self) -> Option<(EventTime, T)> {
        self.0.pop().map(|Reverse(event)| event)
    }

    /// Removes all events.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

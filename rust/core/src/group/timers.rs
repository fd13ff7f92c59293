//! Timers by name: each fires once, when time passes its deadline. They fire in the order of their deadlines; equal
//! deadlines fire in the order in which they were set.

use std::hash::Hash;

use super::Map;
use super::event_queue::{EventQueue, EventTime};

/// The timers that wait, by name. A timer that is put off keeps its old place in the queue until that place's turn
/// comes: most timers are sessions, and every heartbeat puts a session off.
#[derive(Clone, Debug)]
pub(super) struct Timers<K> {
    queue: EventQueue<K>,
    waiting: Map<K, Waiting>,
    /// How often a timer was set: a place's number.
    set: u64,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    fires: EventTime,
    queued: EventTime,
}

impl<K: Ord> Default for Timers<K> {
    fn default() -> Self {
        Self { queue: EventQueue::default(), waiting: Map::default(), set: 0 }
    }
}

impl<K: Clone + Hash + Ord> Timers<K> {
    /// Sets a timer and replaces one with the same name.
    pub(super) fn set(&mut self, key: K, at: i64) {
        let fires = (at, self.set);
        self.set += 1;
        match self.waiting.get_mut(&key) {
            Some(waiting) if waiting.queued <= fires => {
                waiting.fires = fires;
            }
            _ => {
                self.queue.push(fires, key.clone());
                self.waiting.insert(key, Waiting { fires, queued: fires });
            }
        }
    }

    /// The deadline of a timer, if it is set.
    pub(super) fn waits_until(&self, key: &K) -> Option<i64> {
        self.waiting.get(key).map(|waiting| waiting.fires.0)
    }

    pub(super) fn cancel(&mut self, key: &K) {
        self.waiting.remove(key);
    }

    /// Removes all timers.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.waiting.clear();
    }

    /// The deadline of the next timer, if it is no later than the given time. No timer fires before its place in the
    /// queue, so later places are not looked at.
    pub(super) fn next(&mut self, by: i64) -> Option<i64> {
        while let Some((queued, key)) = self.queue.peek().filter(|((at, _), _)| *at <= by) {
            match self.waiting.get_mut(key) {
                Some(waiting) if waiting.fires == queued => return Some(queued.0),
                Some(waiting) if waiting.queued == queued => {
                    waiting.queued = waiting.fires;
                    let fires = waiting.fires;
                    if let Some((_, key)) = self.queue.pop() {
                        self.queue.push(fires, key);
                    }
                }
                _ => {
                    self.queue.pop();
                }
            }
        }
        None
    }

    /// Removes and returns the next timer that is due by the given time, with its own deadline.
    pub(super) fn due(&mut self, by: i64) -> Option<(i64, K)> {
        self.next(by)?;
        let ((at, _), key) = self.queue.pop()?;
        self.waiting.remove(&key);
        Some((at, key))
    }
}

#[cfg(test)]
mod tests {
    use super::Timers;

    #[test]
    fn fires_in_the_order_of_deadlines_and_then_of_setting() {
        let mut timers = Timers::default();
        timers.set("b", 5);
        timers.set("a", 5);
        timers.set("c", 9);
        timers.set("b", 5);
        timers.set("c", 3);
        timers.set("d", 4);
        timers.cancel(&"d");
        timers.set("e", 2);
        timers.set("e", 20);
        assert_eq!(timers.next(2), None);
        assert_eq!(timers.next(i64::MAX), Some(3));
        let fired: Vec<_> = std::iter::from_fn(|| timers.due(10)).collect();
        assert_eq!(fired, [(3, "c"), (5, "a"), (5, "b")]);
        assert_eq!(timers.next(i64::MAX), Some(20));
    }
}

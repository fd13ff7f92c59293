//! Timers by name: each fires once when time passes it, in the order of the deadlines and then of setting.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

use super::Map;

/// When a timer fires: the time, and the number of its setting.
type Place = (i64, u64);

/// What waits, by what it is about. A timer that is put off stays where it is in the queue until its turn comes there:
/// most are sessions, which every heartbeat puts off.
#[derive(Clone, Debug)]
pub(super) struct Timers<K> {
    queue: BinaryHeap<Reverse<(Place, K)>>,
    waiting: Map<K, Waiting>,
    set: u64,
    /// Whether the timer at the front of the queue is the next one indeed: nothing has happened to it since that was seen.
    settled: bool,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    fires: Place,
    queued: Place,
}

impl<K: Ord> Default for Timers<K> {
    fn default() -> Self {
        Self { queue: BinaryHeap::new(), waiting: Map::default(), set: 0, settled: true }
    }
}

impl<K: Clone + Hash + Ord> Timers<K> {
    /// Sets a timer, in place of one with the same name.
    pub(super) fn set(&mut self, key: K, at: i64) {
        let fires = (at, self.set);
        self.set += 1;
        match self.waiting.get_mut(&key) {
            Some(waiting) if waiting.queued <= fires => {
                waiting.fires = fires;
                let queued = waiting.queued;
                self.disturb(queued);
            }
            _ => {
                self.queue.push(Reverse((fires, key.clone())));
                self.waiting.insert(key, Waiting { fires, queued: fires });
            }
        }
    }

    pub(super) fn cancel(&mut self, key: &K) {
        if let Some(waiting) = self.waiting.remove(key) {
            self.disturb(waiting.queued);
        }
    }

    /// Something has become of a timer, which may be the one at the front.
    fn disturb(&mut self, queued: Place) {
        self.settled &= self.queue.peek().is_some_and(|Reverse((front, _))| *front != queued);
    }

    /// Takes all timers away.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.waiting.clear();
    }

    /// When the next timer fires.
    pub(super) fn next(&mut self) -> Option<i64> {
        self.settle();
        self.queue.peek().map(|Reverse(((at, _), _))| *at)
    }

    /// Takes the next timer that is due by a time, with its own time.
    pub(super) fn due(&mut self, by: i64) -> Option<(i64, K)> {
        self.next().filter(|&at| at <= by)?;
        let Reverse(((at, _), key)) = self.queue.pop()?;
        self.settled = false;
        self.waiting.remove(&key);
        Some((at, key))
    }

    /// Brings a timer to the front of the queue that really is the next one.
    fn settle(&mut self) {
        if std::mem::replace(&mut self.settled, true) {
            return;
        }
        while let Some(Reverse((queued, key))) = self.queue.peek() {
            match self.waiting.get_mut(key) {
                Some(waiting) if waiting.fires == *queued => return,
                Some(waiting) if waiting.queued == *queued => {
                    waiting.queued = waiting.fires;
                    let moved = Reverse((waiting.fires, key.clone()));
                    self.queue.pop();
                    self.queue.push(moved);
                }
                _ => {
                    self.queue.pop();
                }
            }
        }
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
        assert_eq!(timers.next(), Some(3));
        let fired: Vec<_> = std::iter::from_fn(|| timers.due(10)).collect();
        assert_eq!(fired, [(3, "c"), (5, "a"), (5, "b")]);
        assert_eq!(timers.next(), Some(20));
    }
}

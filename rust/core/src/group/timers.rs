//! Timers by name: each fires once when time passes it, in the order of the deadlines and then of setting.

use std::hash::Hash;

use super::Map;
use super::event_queue::Queue;

/// When a timer fires: the time, and the number of its setting.
type Place = (i64, u64);

/// What waits, by what it is about. A timer that is put off stays where it is in the queue until its turn comes there:
/// most are sessions, which every heartbeat puts off.
#[derive(Clone, Debug)]
pub(super) struct Timers<K> {
    queue: Queue<Place, K>,
    waiting: Map<K, Waiting>,
    set: u64,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    fires: Place,
    queued: Place,
}

impl<K: Ord> Default for Timers<K> {
    fn default() -> Self {
        Self { queue: Queue::default(), waiting: Map::default(), set: 0 }
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
            }
            _ => {
                self.queue.push(fires, key.clone());
                self.waiting.insert(key, Waiting { fires, queued: fires });
            }
        }
    }

    pub(super) fn cancel(&mut self, key: &K) {
        self.waiting.remove(key);
    }

    /// Takes all timers away.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.waiting.clear();
    }

    /// When the next timer fires, if that is by a time. No timer fires before its place in the queue: those that are there
    /// later are not looked at.
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

    /// Takes the next timer that is due by a time, with its own time.
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

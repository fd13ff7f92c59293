//! How a classic member finds out from where to read new partitions (`OffsetFetch`).

use super::super::super::consumer::Place;
use super::{ClassicMember, ClassicStep};

impl ClassicMember {
    /// `updateFetchPositions`: asks for the positions of new partitions, or takes them. It waits for the answer if that
    /// comes before `poll()` ends.
    pub(super) fn update_fetch_positions(&mut self, step: &mut ClassicStep<'_>) {
        if self.subscriptions.initializing.is_empty() {
            return;
        }
        let comes_at = *self.positions_at.get_or_insert(step.now + step.latency_ms);
        if comes_at <= step.now {
            self.take_positions(step);
        } else if comes_at <= self.app.end_of_last(step.now) {
            self.poll_at(comes_at, step);
        } else {
            self.poll_at(self.app.next_poll(step.now + 1), step);
        }
    }

    /// Whether the application has waited inside `poll()` for its positions until now. It then goes on from there.
    pub(super) fn find_positions(&mut self, step: &mut ClassicStep<'_>) -> bool {
        let finds = self.positions_at == Some(step.now);
        if finds {
            self.take_positions(step);
        }
        finds
    }

    /// The member knows its positions, and has records. If it has not seen a partition yet, it asks for the topics.
    fn take_positions(&mut self, step: &mut ClassicStep<'_>) {
        let is_seen = |&(topic, partition): &Place| {
            self.metadata.seen[topic as usize].is_some_and(|count| partition.cast_unsigned() < count)
        };
        if !self.subscriptions.initializing.iter().all(is_seen) {
            self.request_update(step);
        }
        self.subscriptions.initializing.clear();
        self.positions_at = None;
        self.see_records(step);
    }
}

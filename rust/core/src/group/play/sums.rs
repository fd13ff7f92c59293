//! Sums over the spans of reading, for charts: partitions per member over time, and partitions without a reader.

use super::super::Map;
use super::super::consumer::Place;
use super::ledger::{Ledger, Reader};

/// The times at which a count changed, and by how much; sorted, with each time once.
pub type Changes = Vec<(i64, i64)>;

/// A span in which nobody read a partition: the partition, the start and the end.
pub type Unread = (Place, i64, i64);

impl Ledger {
    /// For each of these members, when it began or stopped reading partitions, and how many. A partition that
    /// a member still reads has a start and no end.
    #[must_use]
    pub fn changes(&self, readers: &[Reader]) -> Vec<Changes> {
        let places: Map<Reader, usize> = readers.iter().copied().zip(0..).collect();
        let mut changes = vec![Changes::new(); readers.len()];
        for span in &self.spans {
            let Some(&place) = places.get(&span.reader) else { continue };
            changes[place].push((span.from, 1));
            if span.to >= 0 {
                changes[place].push((span.to, -1));
            }
        }
        changes.into_iter().map(summed).collect()
    }

    /// The spans in which a partition had no reader, from the group's first read to `end`, sorted by
    /// partition and time.
    #[must_use]
    pub fn unread(&self, end: i64) -> Vec<Unread> {
        let mut found = Vec::new();
        let Some(began) = self.spans.iter().map(|span| span.from).min() else { return found };
        let mut spans = self.spans.iter().peekable();
        for (place, reading) in self.readings() {
            let (mut left, mut since) = (reading.idle_ms, began);
            while let Some(span) = spans.next_if(|span| span.place == place) {
                // A partition that was added later counts as unread from then on, not since the group began.
                let from = since.max(span.from - left);
                if from < span.from {
                    found.push((place, from, span.from));
                    left -= span.from - from;
                }
                since = since.max(if span.to < 0 { end } else { span.to });
            }
            if left > 0 {
                found.push((place, end - left.min(end - since), end));
            }
        }
        found
    }

    /// The same spans as changes in the number of partitions without a reader, and the longest span.
    #[must_use]
    pub fn unread_changes(&self, end: i64) -> (Changes, Option<Unread>) {
        let unread = self.unread(end);
        let changes = unread.iter().flat_map(|&(_, from, to)| [(from, 1), (to, -1)]).collect();
        // If several spans are equally long, the first one wins.
        let longest = unread.into_iter().rev().max_by_key(|(_, from, to)| to - from);
        (summed(changes), longest)
    }

    /// The partitions that any member has ever read, sorted.
    #[must_use]
    pub fn read(&self) -> Vec<Place> {
        let mut places: Vec<Place> = self.spans.iter().map(|span| span.place).collect();
        places.dedup();
        places
    }
}

/// Merges changes at the same time into one.
fn summed(mut changes: Changes) -> Changes {
    changes.sort_unstable();
    changes.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += if same { next.1 } else { 0 };
        same
    });
    changes
}

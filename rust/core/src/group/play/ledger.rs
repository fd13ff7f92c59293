//! The ledger of a play: who reads which partition when, and what the gaps without a reader cost.

pub use crate::index::Reader;

use super::super::Map;
use super::super::consumer::Place;
use super::member::Progress;

/// The history of one partition so far.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Its current reader, and since when.
    pub reader: Option<(Reader, i64)>,
    /// Since when it has had no reader, counted once the group has begun to read.
    idle_since: Option<i64>,
    /// Whether it was deleted with its topic. A member that is still told to read it finds nothing there.
    deleted: bool,
    /// Since when it has had no leader. Meanwhile its reader finds nothing; later it reads on from there.
    leaderless: Option<i64>,
    /// The member that read it last.
    last: Option<Reader>,
    /// The total time without a reader.
    pub idle_ms: i64,
    /// The longest span without a reader.
    pub longest_ms: i64,
    /// How often it went from one member to another.
    pub moves: u32,
    /// The total time whose records were read twice: their offsets were not committed, so the next reader
    /// read them again.
    pub again_ms: i64,
    /// The reader that the current one displaced, perhaps without a right to it.
    displaced: Option<Reader>,
    /// Up to when records were read, and up to when their offsets were committed.
    read_until: i64,
    committed_until: i64,
}

/// A span in which one member read one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The partition.
    pub place: Place,
    /// Its reader.
    pub reader: Reader,
    /// When the span begins.
    pub from: i64,
    /// When the span ends; -1 if the member still reads the partition.
    pub to: i64,
}

/// The histories of all partitions.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// By topic and partition.
    readings: Vec<Vec<Reading>>,
    /// The finished spans, if the script keeps them.
    pub spans: Vec<Span>,
    keeps_spans: bool,
    began: bool,
    /// By member, up to when all that it has read is committed.
    committed: Map<Reader, i64>,
}

impl Ledger {
    pub(super) fn new(keeps_spans: bool) -> Self {
        Self { keeps_spans, ..Self::default() }
    }

    /// All partitions with their histories.
    pub fn readings(&self) -> impl Iterator<Item = (Place, &Reading)> {
        (0..).zip(&self.readings).flat_map(|(topic, readings)| {
            (0..).zip(readings).map(move |(partition, reading)| ((topic, partition), reading))
        })
    }

    /// Adds a partition. If the group has already begun to read, it counts as unread from now on.
    pub(super) fn make(&mut self, place: Place, at: i64) {
        let reading = Reading {
            idle_since: self.began.then_some(at),
            read_until: at,
            committed_until: at,
            ..Reading::default()
        };
        let (topic, partition) = (place.0 as usize, usize::try_from(place.1).unwrap_or(0));
        if self.readings.len() <= topic {
            self.readings.resize_with(topic + 1, Vec::new);
        }
        // Partitions are added in order. A partition of a topic that was deleted before keeps its old entry.
        if self.readings[topic].len() == partition {
            self.readings[topic].push(reading);
        }
    }

    /// A partition's reading, whose present span ends: it is kept, unless it is empty.
    fn end_span(&mut self, place: Place, at: i64) -> Option<&mut Reading> {
        let reading = found(&mut self.readings, place)?;
        let span = reading.span(place, at).filter(|span| self.keeps_spans && span.from < span.to);
        self.spans.extend(span);
        Some(reading)
    }

    /// Deletes a partition along with its topic.
    pub(super) fn delete(&mut self, place: Place, at: i64) {
        if let Some(reading) = self.end_span(place, at) {
            reading.deleted = true;
            reading.reader = None;
            reading.stop_idling(at);
        }
    }

    /// The readers of all spans and partitions.
    pub(super) fn readers(&mut self) -> impl Iterator<Item = &mut Reader> {
        let readings = self.readings.iter_mut().flatten().filter_map(|reading| reading.reader.as_mut());
        self.spans.iter_mut().map(|span| &mut span.reader).chain(readings.map(|(reader, _)| reader))
    }

    fn reading(&self, (topic, partition): Place) -> Option<&Reading> {
        self.readings.get(topic as usize)?.get(usize::try_from(partition).ok()?)
    }

    /// The current reader of a partition.
    pub(super) fn reader(&self, place: Place) -> Option<Reader> {
        self.reading(place)?.reader.map(|(reader, _)| reader)
    }

    /// A member begins to read a partition, as one of its consumers.
    pub(super) fn take(&mut self, place: Place, reader: Reader, member: Reader, at: i64) {
        if !self.began && found(&mut self.readings, place).is_some_and(|reading| !reading.deleted) {
            self.began = true;
            for reading in self.readings.iter_mut().flatten().filter(|reading| !reading.deleted) {
                reading.idle_since = Some(at);
                (reading.read_until, reading.committed_until) = (at, at);
            }
        }
        // The previous reader may not have noticed yet that it has lost the partition. A deleted one has no reader.
        let Some(reading) = self.end_span(place, at).filter(|reading| !reading.deleted) else { return };
        if reading.leaderless.is_none() {
            reading.stop_idling(at);
        }
        reading.again_ms += (reading.read_until - reading.committed_until).max(0);
        reading.moves += u32::from(reading.last.is_some_and(|last| last != member));
        reading.last = Some(member);
        let displaced = reading.reader.replace((reader, at));
        reading.displaced = displaced.map(|(other, _)| other).filter(|other| *other != reader);
    }

    /// All that a member has read up to a time is committed.
    pub(super) fn commit(&mut self, reader: Reader, by: i64) {
        let committed = self.committed.entry(reader).or_insert(by);
        *committed = by.max(*committed);
    }

    /// A member stops reading a partition, of which it has read and committed as much as that. Returns the reader that it
    /// had displaced there: if that still owns the partition, it reads on.
    pub(super) fn stop(
        &mut self,
        place: Place,
        reader: Reader,
        progress: Progress,
        at: i64,
    ) -> Option<Reader> {
        let (_, from) = self.reading(place)?.reader.filter(|(current, _)| *current == reader)?;
        let committed =
            self.committed.get(&reader).map_or(progress.committed, |it| progress.committed.max(*it));
        let reading = self.end_span(place, at)?;
        reading.reader = None;
        reading.idle_since.get_or_insert(at);
        let read = reading.leaderless.map_or(progress.read, |since| progress.read.min(since));
        // A member that got the partition without a leader has read nothing of it.
        if read >= from || reading.leaderless.is_none() {
            reading.read_until = read.max(from);
            reading.committed_until = committed.clamp(reading.committed_until.min(read), reading.read_until);
        }
        reading.displaced.take()
    }

    /// A partition loses its leader. Its reader keeps it, but finds nothing.
    pub(super) fn lose_leader(&mut self, place: Place, at: i64) {
        let began = self.began;
        let Some(reading) = self.end_span(place, at).filter(|reading| !reading.deleted) else { return };
        reading.leaderless = Some(at);
        if began {
            reading.idle_since.get_or_insert(at);
        }
    }

    /// A partition has a leader again, and its reader reads on.
    pub(super) fn find_leader(&mut self, place: Place, at: i64) {
        let Some(reading) = found(&mut self.readings, place) else { return };
        reading.leaderless = None;
        if let Some((_, from)) = &mut reading.reader {
            *from = at;
            reading.stop_idling(at);
        }
    }

    /// Whether a partition has no leader.
    pub(super) fn is_leaderless(&self, place: Place) -> bool {
        self.reading(place).is_some_and(|reading| reading.leaderless.is_some())
    }

    /// Closes the ledger at the end of a play: counts the time without a reader up to then, and keeps the
    /// spans that still last.
    pub(super) fn close(&mut self, at: i64) {
        for (topic, readings) in (0..).zip(&mut self.readings) {
            for (partition, reading) in (0..).zip(readings) {
                reading.stop_idling(at);
                let span = reading.span((topic, partition), -1);
                self.spans.extend(span.filter(|_| self.keeps_spans));
            }
        }
        self.sort_spans();
    }

    /// Sorts the spans by partition. A partition's spans end one after the other, so they already are in
    /// order of time. That allows a counting sort, without comparisons.
    fn sort_spans(&mut self) {
        let mut first = vec![0];
        for readings in &self.readings {
            first.push(first[first.len() - 1] + readings.len());
        }
        let number = |span: &Span| first[span.place.0 as usize] + usize::try_from(span.place.1).unwrap_or(0);
        let mut places = vec![0_usize; first[first.len() - 1] + 1];
        for span in &self.spans {
            places[number(span) + 1] += 1;
        }
        for partition in 1..places.len() {
            places[partition] += places[partition - 1];
        }
        let mut sorted = self.spans.clone();
        for span in &self.spans {
            let place = &mut places[number(span)];
            sorted[*place] = *span;
            *place += 1;
        }
        self.spans = sorted;
    }
}

impl Reading {
    /// Whether it exists but nobody reads it.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        (self.reader.is_none() || self.leaderless.is_some()) && !self.deleted
    }

    /// The current reader's span, ended at `to`.
    fn span(&self, place: Place, to: i64) -> Option<Span> {
        let (reader, from) = self.reader.filter(|_| self.leaderless.is_none())?;
        Some(Span { place, reader, from, to })
    }

    fn stop_idling(&mut self, at: i64) {
        if let Some(since) = self.idle_since.take() {
            self.idle_ms += at - since;
            self.longest_ms = self.longest_ms.max(at - since);
        }
    }
}

fn found(readings: &mut [Vec<Reading>], (topic, partition): Place) -> Option<&mut Reading> {
    readings.get_mut(topic as usize)?.get_mut(usize::try_from(partition).ok()?)
}

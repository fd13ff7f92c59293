//! Who reads which partition from when to when, and what it costs that at times nobody does.

use super::super::consumer::Place;

/// A client, by its place in the script's list.
pub type Reader = u32;

/// A partition's story so far.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Who reads it, and since when.
    pub reader: Option<(Reader, i64)>,
    /// Since when nobody does, once the group has begun to read.
    idle_since: Option<i64>,
    /// Whether it is gone with its topic: whoever is still told to read it finds nothing there.
    deleted: bool,
    /// Since when it has no leader: whoever reads it finds nothing meanwhile, and goes on where it was.
    leaderless: Option<i64>,
    /// Who read it last.
    last: Option<Reader>,
    /// All the time in which nobody read it.
    pub idle_ms: i64,
    /// The longest span of that.
    pub longest_ms: i64,
    /// How often it went from one member to another.
    pub moves: u32,
    /// All the time whose records were read, and read again by whoever came next: their offsets were not committed.
    pub again_ms: i64,
    /// Up to when records were read, and up to when their offsets were committed.
    read_until: i64,
    committed_until: i64,
    /// Whether the group has an offset of it.
    is_committed: bool,
}

/// A span in which a member read a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The partition.
    pub place: Place,
    /// Who read it.
    pub reader: Reader,
    /// From when.
    pub from: i64,
    /// Until when; -1 where it still does.
    pub to: i64,
}

/// All partitions.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// By topic and partition.
    readings: Vec<Vec<Reading>>,
    /// The spans that are over, where they are kept.
    pub spans: Vec<Span>,
    keeps_spans: bool,
    began: bool,
}

impl Ledger {
    pub(super) fn new(keeps_spans: bool) -> Self {
        Self { keeps_spans, ..Self::default() }
    }

    /// The partitions with their stories.
    pub fn readings(&self) -> impl Iterator<Item = (Place, &Reading)> {
        (0..).zip(&self.readings).flat_map(|(topic, readings)| {
            (0..).zip(readings).map(move |(partition, reading)| ((topic, partition), reading))
        })
    }

    /// A partition is made. One that comes after the group has begun is unread from the first.
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
        // Partitions are made in their order; one of a topic that was deleted goes on.
        if self.readings[topic].len() == partition {
            self.readings[topic].push(reading);
        }
    }

    /// Keeps a span; one of no length is none.
    fn keep(spans: &mut Vec<Span>, span: Option<Span>) {
        spans.extend(span.filter(|span| span.from < span.to));
    }

    /// A partition is gone with its topic.
    pub(super) fn delete(&mut self, place: Place, at: i64) {
        if let Some(reading) = found(&mut self.readings, place) {
            reading.deleted = true;
            let span = reading.span(place, at);
            reading.reader = None;
            Self::keep(&mut self.spans, span.filter(|_| self.keeps_spans));
            reading.stop_idling(at);
        }
    }

    /// Who reads a partition.
    pub(super) fn reader(&self, (topic, partition): Place) -> Option<Reader> {
        let reading = self.readings.get(topic as usize)?.get(usize::try_from(partition).ok()?)?;
        reading.reader.map(|(reader, _)| reader)
    }

    /// Whether the group has a partition's offset.
    pub(super) fn is_committed(&self, (topic, partition): Place) -> bool {
        let reading = |partition| self.readings.get(topic as usize)?.get(partition);
        usize::try_from(partition).ok().and_then(reading).is_some_and(|reading| reading.is_committed)
    }

    /// A member begins to read.
    pub(super) fn take(&mut self, place: Place, reader: Reader, at: i64) {
        if !self.began && found(&mut self.readings, place).is_some_and(|reading| !reading.deleted) {
            self.began = true;
            for reading in self.readings.iter_mut().flatten().filter(|reading| !reading.deleted) {
                reading.idle_since = Some(at);
                (reading.read_until, reading.committed_until) = (at, at);
            }
        }
        let Some(reading) = found(&mut self.readings, place).filter(|reading| !reading.deleted) else {
            return;
        };
        // Who had it may not have noticed yet that it is not theirs any more.
        let span = reading.span(place, at);
        Self::keep(&mut self.spans, span.filter(|_| self.keeps_spans));
        if reading.leaderless.is_none() {
            reading.stop_idling(at);
        }
        reading.again_ms += (reading.read_until - reading.committed_until).max(0);
        reading.moves += u32::from(reading.last.is_some_and(|last| last != reader));
        reading.last = Some(reader);
        reading.reader = Some((reader, at));
    }

    /// A member stops reading; `committed` is up to when it has committed what it read, and `read` up to when it did.
    pub(super) fn release(&mut self, place: Place, reader: Reader, read: i64, committed: i64, at: i64) {
        let Some(reading) = found(&mut self.readings, place) else { return };
        let Some((_, from)) = reading.reader.filter(|(current, _)| *current == reader) else { return };
        let span = reading.span(place, at);
        Self::keep(&mut self.spans, span.filter(|_| self.keeps_spans));
        reading.reader = None;
        reading.idle_since.get_or_insert(at);
        let read = reading.leaderless.map_or(read, |since| read.min(since));
        if read < from && reading.leaderless.is_some() {
            // It was given it without a leader, and has read nothing of it.
            return;
        }
        reading.is_committed |= committed > from;
        reading.read_until = read.max(from);
        reading.committed_until = committed.clamp(reading.committed_until.min(read), reading.read_until);
    }

    /// A partition has no leader from now on: its reader keeps it, and finds nothing.
    pub(super) fn lose_leader(&mut self, place: Place, at: i64) {
        let Some(reading) = found(&mut self.readings, place).filter(|reading| !reading.deleted) else {
            return;
        };
        let span = reading.span(place, at);
        Self::keep(&mut self.spans, span.filter(|_| self.keeps_spans));
        reading.leaderless = Some(at);
        if self.began {
            reading.idle_since.get_or_insert(at);
        }
    }

    /// A partition has a leader again, from which its reader reads on.
    pub(super) fn find_leader(&mut self, place: Place, at: i64) {
        let Some(reading) = found(&mut self.readings, place) else { return };
        reading.leaderless = None;
        if let Some((_, from)) = &mut reading.reader {
            *from = at;
            reading.stop_idling(at);
        }
    }

    /// Whether a partition has no leader.
    pub(super) fn is_leaderless(&self, (topic, partition): Place) -> bool {
        let readings = self.readings.get(topic as usize);
        let reading = readings.and_then(|all| all.get(usize::try_from(partition).ok()?));
        reading.is_some_and(|reading| reading.leaderless.is_some())
    }

    /// Counts what nobody reads up to the end.
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
}

impl Ledger {
    /// Sorts the spans by partition. A partition's spans end one after the other, so that their order is that of their
    /// times: they are dealt, and not compared.
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
    /// Whether it is there, and nobody reads it.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        (self.reader.is_none() || self.leaderless.is_some()) && !self.deleted
    }

    /// The span that its reader has read it for, up to a time.
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

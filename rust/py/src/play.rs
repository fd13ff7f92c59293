//! Simulations of groups: each takes a script and returns a timeline.

use std::sync::Arc;

use partwright_core::assignors::Assignor;
use partwright_core::columnar;
use partwright_core::group::Name;
use partwright_core::group::consumer::{self, Place};
use partwright_core::group::play::{
    self, Action, Changes, Consumer, MemberAction, Protocol, Race, Reader, Script, Unread,
};
use partwright_core::java::random::Random;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arguments;
use crate::arrow::to_pyarrow;
use crate::coordinators::{PythonClassicConfig, PythonConsumerConfig, unknown};
use crate::error::{BoundaryError, Returned, detached};
use crate::items::{by_name, from_items, only_item, same, text, texts, to_items};
use crate::leaders_client::{PythonLeadersClient, Raised};

from_items! {
    /// A script as Python gives it. Its Python wrapper has checked that its clients and topics exist and that its times
    /// never go back.
    PythonScript: Script {
        latency_ms, idle_topics;
        protocol: protocol = "protocol", topics: by_name = "topics", clients: texts = "clients",
        actions: actions = "actions", race: race = "race", until: same = "until_ms", keeps_spans: same = "spans",
        keeps_messages: same = "messages"
    }
    /// The configuration of a consumer.
    PythonConsumer: Consumer {
        session_timeout_ms, heartbeat_interval_ms, max_poll_interval_ms, auto_commit_interval_ms, poll_ms,
        poll_timeout_ms, listener_ms, metadata_max_age_ms;
        instance: same = "instance_id", ids: texts = "member_ids", client: text = "client",
        assignors: assignors = "assignors", remote_assignor: remote_assignor = "remote_assignor"
    }
}

/// The protocol, with the settings of its coordinator.
fn protocol(protocol: &Bound<'_, PyAny>) -> PyResult<Protocol> {
    let (kind, config) = only_item(protocol)?;
    Ok(match &*kind {
        "classic" => Protocol::Classic(config.extract::<PythonClassicConfig>()?.0),
        _ => Protocol::Consumer(config.extract::<PythonConsumerConfig>()?.0),
    })
}

/// By wire name, the core's name of an assignor.
fn assignors(assignors: &Bound<'_, PyAny>) -> PyResult<Arc<[(Name, Assignor)]>> {
    let assignors: Vec<(Name, arguments::Assignor)> = by_name(assignors)?;
    Ok(assignors.into_iter().map(|(name, assignor)| (name, assignor.0)).collect())
}

/// One of the broker's assignors.
fn remote_assignor(name: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let name: Option<String> = name.extract()?;
    name.iter().try_for_each(|name| consumer::check_assignor(name)).map_err(BoundaryError::from)?;
    Ok(name)
}

/// Who wins when threads race: `slow` is false, `fast` is true, and a seed draws lots.
fn race(race: &Bound<'_, PyAny>) -> PyResult<Race> {
    Ok(match race.extract() {
        Ok(true) => Race::Fast,
        Ok(false) => Race::Slow,
        Err(_) => Race::Drawn(Random::new(race.extract()?)),
    })
}

/// Events and their times. An event is an object with one field, whose name tells the kind.
fn actions(actions: &Bound<'_, PyAny>) -> PyResult<Vec<(i64, Action)>> {
    let mut read = Vec::new();
    for timed in actions.try_iter()? {
        let (at, event): (i64, Bound<'_, PyAny>) = timed?.extract()?;
        read.push((at, action(&event)?));
    }
    Ok(read)
}

fn action(event: &Bound<'_, PyAny>) -> PyResult<Action> {
    let (kind, value) = only_item(event)?;
    Ok(match &*kind {
        "join" => {
            let (reader, PythonConsumer(config), topics): (_, _, Vec<u32>) = value.extract()?;
            Action::Join(Reader(reader), Arc::new(config), topics.into())
        }
        "leave" => of_member(&value, MemberAction::Close)?,
        "crash" => Action::Member(Reader(value.extract()?), MemberAction::Crash),
        "stall" => of_member(&value, MemberAction::Stall)?,
        "subscribe" => of_member(&value, |topics: Vec<u32>| MemberAction::Subscribe(topics.into()))?,
        "topic" => {
            let (topic, count) = value.extract()?;
            Action::Topic(topic, count)
        }
        "leaders" => {
            let (places, has_leader) = value.extract()?;
            Action::Leaders(places, has_leader)
        }
        "commit" => of_member(&value, MemberAction::Commit)?,
        "move" => Action::Move,
        "beside" => Action::Beside,
        _ => return unknown(&kind),
    })
}

/// A member's number, and what it does.
fn of_member<'py, A: FromPyObjectOwned<'py>>(
    values: &Bound<'py, PyAny>,
    action: fn(A) -> MemberAction,
) -> PyResult<Action> {
    let (reader, value) = values.extract()?;
    Ok(Action::Member(Reader(reader), action(value)))
}

/// By topic and partition: total idle time, longest idle time, moves, and the time read again.
type ReadingRow = (Place, i64, i64, u32, i64);

/// The result of a simulation.
#[pyclass(frozen, module = "partwright._core")]
pub(crate) struct Timeline(play::Timeline);

#[pymethods]
impl Timeline {
    /// The generations in order, without their assignments.
    fn generations<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let generation = |generation: &play::Generation| {
            Ok(to_items!(py, {
                generation: generation.number, at_ms: generation.at, why: &generation.why,
                leader: generation.leader.map(|it| it.0), protocol: generation.protocol.as_deref(),
            }))
        };
        self.0.generations.iter().map(generation).collect()
    }

    /// The assignment of a generation, given by its place in the list of generations: (topic, partition) pairs by
    /// member.
    fn assignment<'py>(
        &self,
        place: usize,
        members: &Bound<'py, PyList>,
        topics: &Bound<'py, PyList>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let by_reader = PyDict::new(members.py());
        let generation = self.0.generations.get(place).map(|generation| generation.assignment.as_slice());
        let mut lists: Vec<_> = generation.unwrap_or_default().iter().collect();
        lists.sort_unstable_by_key(|(reader, _)| *reader);
        for (reader, list) in lists {
            let pair = |&(topic, partition): &Place| Ok((topics.get_item(topic as usize)?, partition));
            let pairs: Vec<_> = list.iter().map(pair).collect::<PyResult<_>>()?;
            by_reader.set_item(members.get_item(reader.0 as usize)?, pairs)?;
        }
        Ok(by_reader)
    }

    /// Totals for each partition.
    fn readings(&self) -> Vec<ReadingRow> {
        let reading = |(place, reading): (Place, &play::Reading)| {
            (place, reading.idle_ms, reading.longest_ms, reading.moves, reading.again_ms)
        };
        self.0.ledger.readings().map(reading).collect()
    }

    /// The partitions without a reader at the end, if others have one.
    fn unread(&self) -> Vec<Place> {
        let readings = || self.0.ledger.readings();
        if !readings().any(|(_, reading)| reading.reader.is_some()) {
            return Vec::new();
        }
        readings().filter(|(_, reading)| reading.is_unread()).map(|(place, _)| place).collect()
    }

    /// The number of rows in `ownership`.
    fn spans(&self) -> usize {
        self.0.ledger.spans.len()
    }

    /// Who read which partition from when to when, as one `pyarrow.StructArray` with the given number of rows from a
    /// first one on.
    fn ownership(&self, py: Python<'_>, first: usize, count: usize) -> Returned {
        to_pyarrow(py, detached(py, || columnar::ownership(&self.0, first, count))?)
    }

    /// For each of these members, the times at which it read more or fewer partitions, with the change.
    fn changes(&self, py: Python<'_>, readers: Vec<u32>) -> Returned<Vec<Changes>> {
        let readers: Vec<_> = readers.into_iter().map(Reader).collect();
        detached(py, || Ok(self.0.ledger.changes(&readers)))
    }

    /// The spans in which partitions had no reader, up to an end: the partition's place, from, to.
    fn gaps(&self, py: Python<'_>, end: i64) -> Returned<Vec<Unread>> {
        detached(py, || Ok(self.0.ledger.unread(end)))
    }

    /// The same spans summed up by time, and the longest span.
    fn gap_changes(&self, py: Python<'_>, end: i64) -> Returned<(Changes, Option<Unread>)> {
        detached(py, || Ok(self.0.ledger.unread_changes(end)))
    }

    /// The partitions that any member ever read, sorted.
    fn read(&self) -> Vec<Place> {
        self.0.ledger.read()
    }

    /// Members that ended with an error.
    fn failures(&self) -> Vec<(i64, u32, &'static str)> {
        self.0.failures.iter().map(|(at, reader, code)| (*at, reader.0, code.name())).collect()
    }

    /// The commits that the script asked for, with their outcome.
    fn commits(&self) -> Vec<(i64, u32, &'static str)> {
        self.0.commits.iter().map(|(at, reader, code)| (*at, reader.0, code.name())).collect()
    }

    /// The requests and answers, if they were kept.
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let message = |message: &play::Message| {
            Ok(to_items!(py, {
                at_ms: message.at, member: message.client.0, request: message.request, error: message.code.name(),
                generation: message.generation, member_id: &*message.member, leader_id: message.leader.as_deref(),
                members: message.members,
            }))
        };
        self.0.messages.iter().map(message).collect()
    }

    /// When the simulation ended, and whether the group had come to rest.
    fn end(&self) -> (i64, bool) {
        (self.0.ended, self.0.settled)
    }
}

/// Simulates a script to its end; with members of several clients, `leaders_client` says what each leader's client assigns.
#[pyfunction]
pub(crate) fn play_group(
    py: Python<'_>,
    script: PythonScript,
    leaders_client: Option<Py<PyAny>>,
) -> Returned<Timeline> {
    let raised = Raised::default();
    let client = leaders_client
        .map(|function| Box::new(PythonLeadersClient { function, raised: raised.clone() }) as Box<_>);
    let played = detached(py, || play::play(script.0, client));
    // An exception of the function is raised unchanged.
    if let Some(error) = raised.take() {
        return Err(error.into());
    }
    Ok(Timeline(played?))
}

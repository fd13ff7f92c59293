//! Simulations of groups: each takes a script and returns a timeline.

use std::sync::Arc;

use partwright_core::assignors::Assignor;
use partwright_core::columnar;
use partwright_core::group::consumer::{self, Place};
use partwright_core::group::play::{self, Action, Changes, Consumer, Protocol, Race, Reader, Script, Unread};
use partwright_core::java::random::Random;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrow::to_pyarrow;
use crate::coordinators::{PythonClassicConfig, PythonConsumerConfig};
use crate::error::{BoundaryError, detached};
use crate::leaders_client::{PythonLeadersClient, Raised};

/// The protocol, with the settings of its coordinator.
#[derive(FromPyObject)]
enum PythonProtocol {
    Classic {
        #[pyo3(item)]
        classic: PythonClassicConfig,
    },
    Consumer {
        #[pyo3(item)]
        consumer: PythonConsumerConfig,
    },
}

/// The configuration of a consumer, under the core's names.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct PythonConsumer {
    instance_id: Option<String>,
    member_ids: Vec<String>,
    session_timeout_ms: i64,
    heartbeat_interval_ms: i64,
    max_poll_interval_ms: i64,
    auto_commit_interval_ms: Option<i64>,
    poll_ms: i64,
    poll_timeout_ms: i64,
    listener_ms: Option<i64>,
    metadata_max_age_ms: i64,
    client: String,
    /// By wire name, the core's name of it.
    assignors: Vec<(String, String)>,
    remote_assignor: Option<String>,
}

impl TryFrom<PythonConsumer> for Consumer {
    type Error = partwright_core::Error;

    fn try_from(python: PythonConsumer) -> Result<Self, Self::Error> {
        if let Some(name) = &python.remote_assignor {
            consumer::check_assignor(name)?;
        }
        let assignor =
            |(name, known): &(String, String)| Ok((name.as_str().into(), known.parse::<Assignor>()?));
        let assignors: Result<Vec<_>, Self::Error> = python.assignors.iter().map(assignor).collect();
        Ok(Self {
            instance: python.instance_id,
            ids: python.member_ids.into_iter().map(Into::into).collect(),
            session_timeout_ms: python.session_timeout_ms,
            heartbeat_interval_ms: python.heartbeat_interval_ms,
            max_poll_interval_ms: python.max_poll_interval_ms,
            auto_commit_interval_ms: python.auto_commit_interval_ms,
            poll_ms: python.poll_ms,
            poll_timeout_ms: python.poll_timeout_ms,
            listener_ms: python.listener_ms,
            metadata_max_age_ms: python.metadata_max_age_ms,
            client: python.client.into(),
            assignors: assignors?.into(),
            remote_assignor: python.remote_assignor,
        })
    }
}

/// An event as Python gives it: an object with one field, whose name tells the kind.
#[derive(FromPyObject)]
enum PythonAction {
    Join {
        #[pyo3(item)]
        join: (Reader, PythonConsumer, Vec<u32>),
    },
    Leave {
        #[pyo3(item)]
        leave: (Reader, Option<bool>),
    },
    Crash {
        #[pyo3(item)]
        crash: Reader,
    },
    Stall {
        #[pyo3(item)]
        stall: (Reader, i64),
    },
    Subscribe {
        #[pyo3(item)]
        subscribe: (Reader, Vec<u32>),
    },
    Topic {
        #[pyo3(item)]
        topic: (u32, Option<u32>),
    },
    Leaders {
        #[pyo3(item)]
        leaders: (Vec<Place>, bool),
    },
    Commit {
        #[pyo3(item)]
        commit: (Reader, Option<i32>),
    },
    #[expect(dead_code, reason = "the field's name says it")]
    Move {
        #[pyo3(item("move"))]
        moves: bool,
    },
    #[expect(dead_code, reason = "the field's name says it")]
    Beside {
        #[pyo3(item)]
        beside: bool,
    },
}

impl TryFrom<PythonAction> for Action {
    type Error = partwright_core::Error;

    fn try_from(python: PythonAction) -> Result<Self, Self::Error> {
        Ok(match python {
            PythonAction::Join { join: (reader, config, topics) } => {
                Self::Join(reader, Arc::new(config.try_into()?), topics)
            }
            PythonAction::Leave { leave: (reader, says_so) } => Self::Leave(reader, says_so),
            PythonAction::Crash { crash } => Self::Crash(crash),
            PythonAction::Stall { stall: (reader, for_ms) } => Self::Stall(reader, for_ms),
            PythonAction::Subscribe { subscribe: (reader, topics) } => Self::Subscribe(reader, topics),
            PythonAction::Topic { topic: (topic, count) } => Self::Topic(topic, count),
            PythonAction::Leaders { leaders: (places, has_leader) } => Self::Leaders(places, has_leader),
            PythonAction::Commit { commit: (reader, generation) } => Self::Commit(reader, generation),
            PythonAction::Move { .. } => Self::Move,
            PythonAction::Beside { .. } => Self::Beside,
        })
    }
}

/// Who wins when threads race: `slow` is false, `fast` is true, and a seed draws lots.
#[derive(FromPyObject)]
enum PythonRace {
    Always(bool),
    Drawn(i64),
}

impl From<PythonRace> for Race {
    fn from(python: PythonRace) -> Self {
        match python {
            PythonRace::Always(true) => Self::Fast,
            PythonRace::Always(false) => Self::Slow,
            PythonRace::Drawn(seed) => Self::Drawn(Random::new(seed)),
        }
    }
}

/// A script as Python gives it. Its Python wrapper has checked that its clients and topics exist and that its times
/// never go back.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PythonScript {
    protocol: PythonProtocol,
    topics: Vec<(String, Option<u32>)>,
    clients: Vec<String>,
    actions: Vec<(i64, PythonAction)>,
    latency_ms: i64,
    idle_topics: Vec<u32>,
    race: PythonRace,
    until_ms: Option<i64>,
    spans: bool,
    messages: bool,
}

impl TryFrom<PythonScript> for Script {
    type Error = partwright_core::Error;

    fn try_from(python: PythonScript) -> Result<Self, Self::Error> {
        let action = |(at, action): (i64, PythonAction)| Ok((at, action.try_into()?));
        Ok(Self {
            protocol: match python.protocol {
                PythonProtocol::Classic { classic } => Protocol::Classic(classic.into()),
                PythonProtocol::Consumer { consumer } => Protocol::Consumer(consumer.into()),
            },
            topics: python.topics.into_iter().map(|(name, count)| (name.into(), count)).collect(),
            clients: python.clients.into_iter().map(Into::into).collect(),
            actions: python.actions.into_iter().map(action).collect::<Result<_, Self::Error>>()?,
            latency_ms: python.latency_ms,
            idle_topics: python.idle_topics,
            race: python.race.into(),
            until: python.until_ms,
            keeps_spans: python.spans,
            keeps_messages: python.messages,
        })
    }
}

/// A generation without its assignment.
#[derive(IntoPyObject)]
pub(crate) struct GenerationRow {
    generation: i32,
    at_ms: i64,
    why: String,
    leader: Option<Reader>,
    protocol: Option<String>,
}

/// An answer that a member received.
#[derive(IntoPyObject)]
pub(crate) struct MessageRow {
    at_ms: i64,
    member: Reader,
    request: &'static str,
    error: &'static str,
    generation: i32,
    member_id: String,
    leader_id: Option<String>,
    members: usize,
}

/// By topic and partition: total idle time, longest idle time, moves, and the time read again.
type ReadingRow = (Place, i64, i64, u32, i64);

/// The result of a simulation.
#[pyclass(frozen, module = "partwright._core")]
pub(crate) struct Timeline(play::Timeline);

#[pymethods]
impl Timeline {
    /// The generations in order, without their assignments.
    fn generations(&self) -> Vec<GenerationRow> {
        let generation = |generation: &play::Generation| GenerationRow {
            generation: generation.number,
            at_ms: generation.at,
            why: generation.why.clone(),
            leader: generation.leader,
            protocol: generation.protocol.as_ref().map(ToString::to_string),
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
            by_reader.set_item(members.get_item(*reader as usize)?, pairs)?;
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
    fn ownership(&self, py: Python<'_>, first: usize, count: usize) -> Result<Py<PyAny>, BoundaryError> {
        to_pyarrow(py, detached(py, || columnar::ownership(&self.0, first, count))?)
    }

    /// For each of these members, the times at which it read more or fewer partitions, with the change.
    #[expect(clippy::needless_pass_by_value, reason = "what pyo3 makes of a list is owned")]
    fn changes(&self, py: Python<'_>, readers: Vec<Reader>) -> Result<Vec<Changes>, BoundaryError> {
        detached(py, || Ok(self.0.ledger.changes(&readers)))
    }

    /// The spans in which partitions had no reader, up to an end: the partition's place, from, to.
    fn gaps(&self, py: Python<'_>, end: i64) -> Result<Vec<Unread>, BoundaryError> {
        detached(py, || Ok(self.0.ledger.unread(end)))
    }

    /// The same spans summed up by time, and the longest span.
    fn gap_changes(&self, py: Python<'_>, end: i64) -> Result<(Changes, Option<Unread>), BoundaryError> {
        detached(py, || Ok(self.0.ledger.unread_changes(end)))
    }

    /// The partitions that any member ever read, sorted.
    fn read(&self) -> Vec<Place> {
        self.0.ledger.read()
    }

    /// Members that ended with an error.
    fn failures(&self) -> Vec<(i64, Reader, &'static str)> {
        self.0.failures.iter().map(|(at, reader, code)| (*at, *reader, code.name())).collect()
    }

    /// The commits that the script asked for, with their outcome.
    fn commits(&self) -> Vec<(i64, Reader, &'static str)> {
        self.0.commits.iter().map(|(at, reader, code)| (*at, *reader, code.name())).collect()
    }

    /// The requests and answers, if they were kept.
    fn messages(&self) -> Vec<MessageRow> {
        let message = |message: &play::Message| MessageRow {
            at_ms: message.at,
            member: message.client,
            request: message.request,
            error: message.code.name(),
            generation: message.generation,
            member_id: message.member.to_string(),
            leader_id: message.leader.as_ref().map(ToString::to_string),
            members: message.members,
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
) -> Result<Timeline, BoundaryError> {
    let script: Script = script.try_into()?;
    let Some(function) = leaders_client else {
        return Ok(Timeline(detached(py, || play::play(script))?));
    };
    let raised = Raised::default();
    let client = Box::new(PythonLeadersClient { function, raised: raised.clone() });
    let played = detached(py, || play::play_with_client(script, client));
    // An exception of the function is raised unchanged.
    if let Some(error) = raised.take() {
        return Err(error.into());
    }
    Ok(Timeline(played?))
}

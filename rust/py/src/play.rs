//! Plays of groups: a script in, a timeline out.

use std::sync::Arc;

use partwright_core::assignors::Assignor;
use partwright_core::columnar;
use partwright_core::group::consumer::{self, Place};
use partwright_core::group::play::{self, Action, Changes, Consumer, Protocol, Reader, Script, Unread};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrow::to_pyarrow;
use crate::coordinators::{GivenClassicConfig, GivenConsumerConfig};
use crate::error::{BoundaryError, detached};

/// The protocol with its coordinator's settings.
#[derive(FromPyObject)]
enum GivenProtocol {
    Classic {
        #[pyo3(item)]
        classic: GivenClassicConfig,
    },
    Consumer {
        #[pyo3(item)]
        consumer: GivenConsumerConfig,
    },
}

/// How a consumer is configured, by the names of the core.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct GivenConsumer {
    instance_id: Option<String>,
    member_id: Option<String>,
    session_timeout_ms: i64,
    heartbeat_interval_ms: i64,
    max_poll_interval_ms: i64,
    auto_commit_interval_ms: Option<i64>,
    poll_ms: i64,
    metadata_max_age_ms: i64,
    assignors: Vec<String>,
    remote_assignor: Option<String>,
}

impl TryFrom<GivenConsumer> for Consumer {
    type Error = partwright_core::Error;

    fn try_from(given: GivenConsumer) -> Result<Self, Self::Error> {
        if let Some(name) = &given.remote_assignor {
            consumer::check_assignor(name)?;
        }
        let assignor =
            |name: &String| name.parse().map(|assignor: Assignor| (assignor.name().into(), assignor));
        let assignors: Result<Vec<_>, _> = given.assignors.iter().map(assignor).collect();
        Ok(Self {
            instance: given.instance_id,
            id: given.member_id.map(Into::into),
            session_timeout_ms: given.session_timeout_ms,
            heartbeat_interval_ms: given.heartbeat_interval_ms,
            max_poll_interval_ms: given.max_poll_interval_ms,
            auto_commit_interval_ms: given.auto_commit_interval_ms,
            poll_ms: given.poll_ms,
            metadata_max_age_ms: given.metadata_max_age_ms,
            assignors: assignors?.into(),
            remote_assignor: given.remote_assignor,
        })
    }
}

/// What happens, as Python gives it: an object with one field, by which it is known.
#[derive(FromPyObject)]
enum GivenAction {
    Join {
        #[pyo3(item)]
        join: (Reader, GivenConsumer, Vec<u32>),
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

impl TryFrom<GivenAction> for Action {
    type Error = partwright_core::Error;

    fn try_from(given: GivenAction) -> Result<Self, Self::Error> {
        Ok(match given {
            GivenAction::Join { join: (reader, config, topics) } => {
                Self::Join(reader, Arc::new(config.try_into()?), topics)
            }
            GivenAction::Leave { leave: (reader, says_so) } => Self::Leave(reader, says_so),
            GivenAction::Crash { crash } => Self::Crash(crash),
            GivenAction::Stall { stall: (reader, for_ms) } => Self::Stall(reader, for_ms),
            GivenAction::Subscribe { subscribe: (reader, topics) } => Self::Subscribe(reader, topics),
            GivenAction::Topic { topic: (topic, count) } => Self::Topic(topic, count),
            GivenAction::Commit { commit: (reader, generation) } => Self::Commit(reader, generation),
            GivenAction::Move { .. } => Self::Move,
            GivenAction::Beside { .. } => Self::Beside,
        })
    }
}

/// A script as Python gives it; its wrapper has checked that clients and topics are there, and that times run on.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct GivenScript {
    protocol: GivenProtocol,
    topics: Vec<(String, Option<u32>)>,
    clients: Vec<String>,
    actions: Vec<(i64, GivenAction)>,
    latency_ms: i64,
    until_ms: Option<i64>,
    spans: bool,
    messages: bool,
}

impl TryFrom<GivenScript> for Script {
    type Error = partwright_core::Error;

    fn try_from(given: GivenScript) -> Result<Self, Self::Error> {
        let action = |(at, action): (i64, GivenAction)| Ok((at, action.try_into()?));
        Ok(Self {
            protocol: match given.protocol {
                GivenProtocol::Classic { classic } => Protocol::Classic(classic.into()),
                GivenProtocol::Consumer { consumer } => Protocol::Consumer(consumer.into()),
            },
            topics: given.topics.into_iter().map(|(name, count)| (name.into(), count)).collect(),
            clients: given.clients.into_iter().map(Into::into).collect(),
            actions: given.actions.into_iter().map(action).collect::<Result<_, Self::Error>>()?,
            latency_ms: given.latency_ms,
            until: given.until_ms,
            keeps_spans: given.spans,
            keeps_messages: given.messages,
        })
    }
}

/// A generation without its assignment.
#[derive(IntoPyObject)]
#[expect(clippy::struct_field_names, reason = "Python's names are those of Kafka")]
pub(crate) struct Generation {
    generation: i32,
    at_ms: i64,
    why: String,
    leader: Option<Reader>,
    protocol: Option<String>,
}

/// An answer that a member got.
#[derive(IntoPyObject)]
pub(crate) struct Message {
    at_ms: i64,
    member: Reader,
    request: &'static str,
    error: &'static str,
    generation: i32,
    member_id: String,
    leader_id: Option<String>,
    members: usize,
}

/// By topic and partition: idle, longest idle, moves, read again.
type Reading = (Place, i64, i64, u32, i64);

/// What a play came to.
#[pyclass(frozen, module = "partwright._core")]
pub(crate) struct Timeline(play::Timeline);

#[pymethods]
impl Timeline {
    /// The generations in order, without their assignments.
    fn generations(&self) -> Vec<Generation> {
        let generation = |generation: &play::Generation| Generation {
            generation: generation.number,
            at_ms: generation.at,
            why: generation.why.clone(),
            leader: generation.leader,
            protocol: generation.protocol.as_ref().map(ToString::to_string),
        };
        self.0.generations.iter().map(generation).collect()
    }

    /// Who is to read what in a generation, by its place in the list of them: pairs of a topic and a partition by member,
    /// whose names are those of the lists.
    fn assignment<'py>(
        &self,
        place: usize,
        members: &Bound<'py, PyList>,
        topics: &Bound<'py, PyList>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(members.py());
        let generation = self.0.generations.get(place).map(|generation| generation.assignment.as_slice());
        let mut lists: Vec<_> = generation.unwrap_or_default().iter().collect();
        lists.sort_unstable_by_key(|(reader, _)| *reader);
        for (reader, list) in lists {
            let pair = |&(topic, partition): &Place| Ok((topics.get_item(topic as usize)?, partition));
            let pairs: Vec<_> = list.iter().map(pair).collect::<PyResult<_>>()?;
            found.set_item(members.get_item(*reader as usize)?, pairs)?;
        }
        Ok(found)
    }

    /// What became of each partition.
    fn readings(&self) -> Vec<Reading> {
        let reading = |(place, reading): (Place, &play::Reading)| {
            (place, reading.idle_ms, reading.longest_ms, reading.moves, reading.again_ms)
        };
        self.0.ledger.readings().map(reading).collect()
    }

    /// The partitions that nobody reads at the end, where others are read.
    fn unread(&self) -> Vec<Place> {
        let readings = || self.0.ledger.readings();
        if !readings().any(|(_, reading)| reading.reader.is_some()) {
            return Vec::new();
        }
        readings().filter(|(_, reading)| reading.is_unread()).map(|(place, _)| place).collect()
    }

    /// How many rows `ownership` has in all.
    fn spans(&self) -> usize {
        self.0.ledger.spans.len()
    }

    /// Who read which partition from when to when, as one `pyarrow.StructArray` of so many rows from a first one on.
    fn ownership(&self, py: Python<'_>, first: usize, count: usize) -> Result<Py<PyAny>, BoundaryError> {
        to_pyarrow(py, detached(py, || columnar::ownership(&self.0, first, count))?)
    }

    /// When how many partitions more, or fewer, each of these members read.
    #[expect(clippy::needless_pass_by_value, reason = "what pyo3 makes of a list is owned")]
    fn changes(&self, py: Python<'_>, readers: Vec<Reader>) -> Result<Vec<Changes>, BoundaryError> {
        detached(py, || Ok(self.0.ledger.changes(&readers)))
    }

    /// The spans in which partitions had no reader, up to an end: place, from, to.
    fn gaps(&self, py: Python<'_>, end: i64) -> Result<Vec<Unread>, BoundaryError> {
        detached(py, || Ok(self.0.ledger.unread(end)))
    }

    /// The same summed up by time, and the longest of them.
    fn gap_changes(&self, py: Python<'_>, end: i64) -> Result<(Changes, Option<Unread>), BoundaryError> {
        detached(py, || Ok(self.0.ledger.unread_changes(end)))
    }

    /// The partitions that members read at some time, sorted.
    fn read(&self) -> Vec<Place> {
        self.0.ledger.read()
    }

    /// Members that ended with an error, and commits that the script asked for.
    fn failures(&self) -> Vec<(i64, Reader, &'static str)> {
        self.0.failures.iter().map(|(at, reader, code)| (*at, *reader, code.name())).collect()
    }

    /// Commits that the script asked for, and what became of them.
    fn commits(&self) -> Vec<(i64, Reader, &'static str)> {
        self.0.commits.iter().map(|(at, reader, code)| (*at, *reader, code.name())).collect()
    }

    /// The requests and answers, where they were kept.
    fn messages(&self) -> Vec<Message> {
        let message = |message: &play::Message| Message {
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

    /// When it ended, and whether nothing moved any more.
    fn end(&self) -> (i64, bool) {
        (self.0.ended, self.0.settled)
    }
}

/// Plays a script to its end.
#[pyfunction]
pub(crate) fn play_group(py: Python<'_>, script: GivenScript) -> Result<Timeline, BoundaryError> {
    let script: Script = script.try_into()?;
    Ok(Timeline(detached(py, || play::play(script))?))
}

//! The coordinators of groups. Each is a value, with one function that computes the next one.

use std::sync::Arc;

use partwright_core::group::{classic, consumer};
use pyo3::prelude::*;

use crate::error::{BoundaryError, detached};

/// The settings of the coordinator for groups of the classic protocol.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PythonClassicConfig {
    initial_rebalance_delay_ms: i64,
    min_session_timeout_ms: i64,
    max_session_timeout_ms: i64,
    max_size: usize,
}

impl From<PythonClassicConfig> for classic::Config {
    fn from(python: PythonClassicConfig) -> Self {
        let PythonClassicConfig {
            initial_rebalance_delay_ms,
            min_session_timeout_ms,
            max_session_timeout_ms,
            max_size,
        } = python;
        Self { initial_rebalance_delay_ms, min_session_timeout_ms, max_session_timeout_ms, max_size }
    }
}

/// The member that sends a request, as Python gives it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PythonSender {
    member: String,
    generation: i32,
    instance_id: Option<String>,
}

impl From<PythonSender> for classic::Sender {
    fn from(python: PythonSender) -> Self {
        Self { member: python.member.into(), generation: python.generation, instance: python.instance_id }
    }
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PythonJoin {
    member: String,
    new_id: String,
    instance_id: Option<String>,
    session_timeout_ms: i64,
    rebalance_timeout_ms: i64,
    protocols: Vec<(String, String)>,
    requires_id: bool,
    skips_assignment: bool,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PythonSync {
    sender: PythonSender,
    protocol: Option<String>,
    assignments: Vec<(String, String)>,
}

/// Events that are not requests, for groups of both protocols.
#[derive(FromPyObject)]
pub(crate) enum Idle {
    #[expect(dead_code, reason = "the field's name says it")]
    Move {
        #[pyo3(item("move"))]
        moves: bool,
    },
    #[expect(dead_code, reason = "the field's name says it")]
    Wait {
        #[pyo3(item)]
        wait: bool,
    },
}

/// A request as Python gives it: an object with one field, whose name tells the kind.
#[derive(FromPyObject)]
pub(crate) enum PythonRequest {
    Join {
        #[pyo3(item)]
        join: PythonJoin,
    },
    Sync {
        #[pyo3(item)]
        sync: PythonSync,
    },
    Heartbeat {
        #[pyo3(item)]
        heartbeat: PythonSender,
    },
    Leave {
        #[pyo3(item)]
        leave: Vec<(String, Option<String>)>,
    },
    Commit {
        #[pyo3(item)]
        commit: PythonSender,
    },
    Idle(Idle),
}

impl From<PythonRequest> for classic::Request<String, String> {
    fn from(python: PythonRequest) -> Self {
        match python {
            PythonRequest::Join { join } => Self::Join(classic::Join {
                member: join.member.into(),
                new_id: join.new_id.into(),
                instance: join.instance_id,
                session_timeout_ms: join.session_timeout_ms,
                rebalance_timeout_ms: join.rebalance_timeout_ms,
                protocols: join
                    .protocols
                    .into_iter()
                    .map(|(name, metadata)| (name.into(), metadata))
                    .collect(),
                requires_id: join.requires_id,
                skips_assignment: join.skips_assignment,
                reason: String::new(),
            }),
            PythonRequest::Sync { sync } => Self::Sync {
                sender: sync.sender.into(),
                protocol: sync.protocol.map(Into::into),
                assignments: sync
                    .assignments
                    .into_iter()
                    .map(|(id, metadata)| (id.into(), metadata))
                    .collect(),
            },
            PythonRequest::Heartbeat { heartbeat } => Self::Heartbeat(heartbeat.into()),
            PythonRequest::Leave { leave } => {
                Self::Leave(leave.into_iter().map(|(id, instance)| (id.into(), instance)).collect())
            }
            PythonRequest::Commit { commit } => Self::Commit(commit.into()),
            PythonRequest::Idle(Idle::Move { .. }) => Self::Move,
            PythonRequest::Idle(Idle::Wait { .. }) => Self::Wait,
        }
    }
}

/// The fields of the answers to all requests. A field that an answer does not have is null.
#[derive(IntoPyObject, Default)]
pub(crate) struct ClassicAnswer {
    at_ms: i64,
    tag: u32,
    error: &'static str,
    generation: Option<i32>,
    protocol: Option<String>,
    leader: Option<String>,
    member: Option<String>,
    skip_assignment: Option<bool>,
    members: Option<Vec<(String, Option<String>, String)>>,
    assignment: Option<String>,
    errors: Option<Vec<&'static str>>,
}

impl From<classic::Effect<String, String>> for ClassicAnswer {
    fn from(effect: classic::Effect<String, String>) -> Self {
        let answer = Self { at_ms: effect.at, tag: effect.tag, ..Self::default() };
        match effect.answer {
            classic::Response::Joined(joined) => Self {
                error: joined.code.name(),
                generation: Some(joined.generation),
                protocol: joined.protocol.map(|name| name.to_string()),
                leader: joined.leader.map(text),
                member: Some(text(joined.member)),
                skip_assignment: Some(joined.skip_assignment),
                members: Some(
                    joined
                        .members
                        .into_iter()
                        .map(|(id, instance, metadata)| (text(id), instance, metadata))
                        .collect(),
                ),
                ..answer
            },
            classic::Response::Synced { code, protocol, assignment } => {
                let protocol = protocol.map(|name| name.to_string());
                // Kafka sends empty bytes, not a null, if nobody has given an assignment and if the request is refused.
                let assignment = Some(assignment.unwrap_or_default());
                Self { error: code.name(), protocol, assignment, ..answer }
            }
            classic::Response::Left(code, codes) => Self {
                error: code.name(),
                errors: Some(codes.into_iter().map(partwright_core::group::Code::name).collect()),
                ..answer
            },
            classic::Response::Done(code) => Self { error: code.name(), ..answer },
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what the core gives away is owned")]
fn text(name: Arc<str>) -> String {
    (*name).to_owned()
}

/// The state of a group between two events.
#[derive(IntoPyObject)]
pub(crate) struct ClassicState {
    state: Option<&'static str>,
    generation: i32,
    protocol: Option<String>,
    leader: Option<String>,
    members: Vec<String>,
    pending: usize,
}

/// A group of the classic protocol.
#[pyclass(frozen, module = "partwright._core")]
pub(crate) struct ClassicGroup(classic::Group<String, String>);

#[pymethods]
impl ClassicGroup {
    /// Makes a group that nobody has joined yet.
    #[new]
    fn new(config: PythonClassicConfig) -> Self {
        Self(classic::Group::new(config.into()))
    }

    /// The group after an event, and the answers sent since the last one.
    fn step(&self, at_ms: i64, tag: u32, request: PythonRequest) -> (Self, Vec<ClassicAnswer>) {
        let event = classic::Event { at: at_ms, tag, request: request.into() };
        let (group, effects) = self.0.clone().step(event);
        (Self(group), effects.into_iter().map(Into::into).collect())
    }

    /// The present state of the group.
    fn state(&self) -> ClassicState {
        ClassicState {
            state: self.0.exists().then(|| self.0.phase().name()),
            generation: self.0.generation(),
            protocol: self.0.protocol().map(ToString::to_string),
            leader: self.0.leader().map(ToString::to_string),
            members: self.0.members().iter().map(ToString::to_string).collect(),
            pending: self.0.pending(),
        }
    }
}

/// The settings of the coordinator for groups of KIP-848's protocol.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PythonConsumerConfig {
    session_timeout_ms: i64,
    heartbeat_interval_ms: i64,
    assignment_interval_ms: i64,
    max_size: usize,
    assignors: Vec<String>,
}

impl From<PythonConsumerConfig> for consumer::Config {
    fn from(python: PythonConsumerConfig) -> Self {
        let PythonConsumerConfig {
            session_timeout_ms,
            heartbeat_interval_ms,
            assignment_interval_ms,
            max_size,
            assignors,
        } = python;
        Self { session_timeout_ms, heartbeat_interval_ms, assignment_interval_ms, max_size, assignors }
    }
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PythonHeartbeat {
    member: String,
    epoch: i32,
    instance_id: Option<String>,
    rack_id: Option<String>,
    rebalance_timeout_ms: Option<i64>,
    topics: Option<Vec<u32>>,
    assignor: Option<String>,
    owned: Option<Vec<consumer::Place>>,
}

/// A request as Python gives it: an object with one field, whose name tells the kind.
#[derive(FromPyObject)]
pub(crate) enum PythonConsumerRequest {
    Heartbeat {
        #[pyo3(item)]
        heartbeat: PythonHeartbeat,
    },
    Commit {
        #[pyo3(item)]
        commit: (String, i32, Vec<consumer::Place>),
    },
    Topics {
        #[pyo3(item)]
        topics: Vec<(String, Option<u32>)>,
    },
    Idle(Idle),
}

impl From<PythonConsumerRequest> for consumer::Request {
    fn from(python: PythonConsumerRequest) -> Self {
        match python {
            PythonConsumerRequest::Heartbeat { heartbeat } => Self::Heartbeat(consumer::Heartbeat {
                member: heartbeat.member.into(),
                epoch: heartbeat.epoch,
                instance: heartbeat.instance_id,
                rack: heartbeat.rack_id,
                rebalance_timeout_ms: heartbeat.rebalance_timeout_ms,
                topics: heartbeat.topics,
                assignor: heartbeat.assignor,
                owned: heartbeat.owned,
            }),
            PythonConsumerRequest::Commit { commit: (member, epoch, places) } => {
                Self::Commit(member.into(), epoch, places)
            }
            PythonConsumerRequest::Topics { topics } => {
                Self::Topics(topics.into_iter().map(|(name, count)| (name.into(), count)).collect())
            }
            PythonConsumerRequest::Idle(Idle::Move { .. }) => Self::Move,
            PythonConsumerRequest::Idle(Idle::Wait { .. }) => Self::Wait,
        }
    }
}

#[derive(IntoPyObject)]
pub(crate) struct ConsumerAnswer {
    at_ms: i64,
    tag: u32,
    error: &'static str,
    epoch: i32,
    assignment: Option<Vec<consumer::Place>>,
}

impl From<consumer::Effect> for ConsumerAnswer {
    fn from(effect: consumer::Effect) -> Self {
        let consumer::Effect { at, tag, code, epoch, assignment } = effect;
        Self { at_ms: at, tag, error: code.name(), epoch, assignment }
    }
}

#[derive(IntoPyObject)]
pub(crate) struct ConsumerMember {
    id: String,
    epoch: i32,
    previous_epoch: i32,
    state: &'static str,
    assigned: Vec<consumer::Place>,
    revoking: Vec<consumer::Place>,
    target: Vec<consumer::Place>,
}

#[derive(IntoPyObject)]
pub(crate) struct ConsumerState {
    state: Option<&'static str>,
    epoch: i32,
    assignment_epoch: i32,
    members: Vec<ConsumerMember>,
}

/// A group of KIP-848's protocol.
#[pyclass(frozen, module = "partwright._core")]
pub(crate) struct ConsumerGroup(consumer::Group);

#[pymethods]
impl ConsumerGroup {
    /// Makes a group that nobody has joined yet.
    #[new]
    fn new(config: PythonConsumerConfig) -> PyResult<Self> {
        for assignor in &config.assignors {
            consumer::check_assignor(assignor).map_err(BoundaryError::from)?;
        }
        Ok(Self(consumer::Group::new(config.into())))
    }

    /// The group after an event, and the answers sent since the last one.
    fn step(
        &self,
        py: Python<'_>,
        at_ms: i64,
        tag: u32,
        request: PythonConsumerRequest,
    ) -> Result<(Self, Vec<ConsumerAnswer>), BoundaryError> {
        let event = consumer::Event { at: at_ms, tag, request: request.into() };
        let (group, effects) = detached(py, || self.0.clone().step(event))?;
        Ok((Self(group), effects.into_iter().map(Into::into).collect()))
    }

    /// The present state of the group.
    fn state(&self) -> ConsumerState {
        let member = |(id, member): (&Arc<str>, &consumer::Member)| ConsumerMember {
            id: id.to_string(),
            epoch: member.epoch,
            previous_epoch: member.previous_epoch,
            state: member.state.name(),
            assigned: member.assigned.places().collect(),
            revoking: member.revoking.places().collect(),
            target: self.0.target(id).to_vec(),
        };
        ConsumerState {
            state: self.0.exists().then(|| self.0.state()),
            epoch: self.0.epoch(),
            assignment_epoch: self.0.assignment_epoch(),
            members: self.0.members().into_iter().map(member).collect(),
        }
    }
}

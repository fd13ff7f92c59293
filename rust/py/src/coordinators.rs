//! The coordinators of groups. Each is a value, with one function that computes the next one.

use std::sync::Arc;

use partwright_core::group::{Code, classic, consumer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{BoundaryError, detached};
use crate::items::{from_items, item};

type ClassicRequest = classic::Request<String, String>;

from_items! {
    /// The settings of the coordinator for groups of the classic protocol.
    PythonClassicConfig: classic::Config {
        initial_rebalance_delay_ms, min_session_timeout_ms, max_session_timeout_ms, max_size
    }
    /// The settings of the coordinator for groups of KIP-848's protocol.
    PythonConsumerConfig: consumer::Config {
        session_timeout_ms, heartbeat_interval_ms, assignment_interval_ms, max_size, assignors
    }
}

/// A text of the core out of a Python dict.
fn name(fields: &Bound<'_, PyAny>, field: &str) -> PyResult<Arc<str>> {
    Ok(item::<String>(fields, field)?.into())
}

/// Texts by name out of a Python dict, in the core's form.
fn by_name<C: FromIterator<(Arc<str>, String)>>(fields: &Bound<'_, PyAny>, field: &str) -> PyResult<C> {
    let pairs: Vec<(String, String)> = item(fields, field)?;
    Ok(pairs.into_iter().map(|(name, text)| (name.into(), text)).collect())
}

/// The member that sends a request.
fn sender(fields: &Bound<'_, PyAny>) -> PyResult<classic::Sender> {
    Ok(classic::Sender {
        member: name(fields, "member")?,
        generation: item(fields, "generation")?,
        instance: item(fields, "instance_id")?,
    })
}

/// The refusal of a request of another kind; the Python wrapper has checked it.
fn unknown<T>(kind: &str) -> PyResult<T> {
    Err(PyValueError::new_err(format!("there is no request {kind}")))
}

fn classic_request(kind: &str, fields: &Bound<'_, PyAny>) -> PyResult<ClassicRequest> {
    Ok(match kind {
        "join" => ClassicRequest::Join(classic::Join {
            member: name(fields, "member")?,
            new_id: name(fields, "new_id")?,
            instance: item(fields, "instance_id")?,
            session_timeout_ms: item(fields, "session_timeout_ms")?,
            rebalance_timeout_ms: item(fields, "rebalance_timeout_ms")?,
            protocols: by_name(fields, "protocols")?,
            requires_id: item(fields, "requires_id")?,
            skips_assignment: item(fields, "skips_assignment")?,
            reason: String::new(),
        }),
        "sync" => ClassicRequest::Sync {
            sender: sender(fields)?,
            protocol: item::<Option<String>>(fields, "protocol")?.map(Into::into),
            assignments: by_name(fields, "assignments")?,
        },
        "heartbeat" => ClassicRequest::Heartbeat(sender(fields)?),
        "commit" => ClassicRequest::Commit(sender(fields)?),
        "leave" => {
            let members: Vec<(String, Option<String>)> = item(fields, "members")?;
            ClassicRequest::Leave(members.into_iter().map(|(id, instance)| (id.into(), instance)).collect())
        }
        "move" => ClassicRequest::Move,
        "wait" => ClassicRequest::Wait,
        _ => return unknown(kind),
    })
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
        let text = |name: Option<Arc<str>>| name.map(|name| name.to_string());
        let answer =
            |code: Code| Self { at_ms: effect.at, tag: effect.tag, error: code.name(), ..Self::default() };
        match effect.answer {
            classic::Response::Joined(joined) => {
                let members = joined.members.into_iter();
                Self {
                    generation: Some(joined.generation),
                    protocol: text(joined.protocol),
                    leader: text(joined.leader),
                    member: text(Some(joined.member)),
                    skip_assignment: Some(joined.skip_assignment),
                    members: Some(
                        members.map(|(id, instance, data)| (id.to_string(), instance, data)).collect(),
                    ),
                    ..answer(joined.code)
                }
            }
            // Kafka sends empty bytes, not a null, if nobody has given an assignment and if the request is refused.
            classic::Response::Synced { code, protocol, assignment } => Self {
                protocol: text(protocol),
                assignment: Some(assignment.unwrap_or_default()),
                ..answer(code)
            },
            classic::Response::Left(code, codes) => {
                Self { errors: Some(codes.into_iter().map(Code::name).collect()), ..answer(code) }
            }
            classic::Response::Done(code) => answer(code),
        }
    }
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
        Self(classic::Group::new(config.0))
    }

    /// The group after an event, and the answers sent since the last one.
    fn step(
        &self,
        at_ms: i64,
        tag: u32,
        kind: &str,
        fields: &Bound<'_, PyAny>,
    ) -> PyResult<(Self, Vec<ClassicAnswer>)> {
        let event = classic::Event { at: at_ms, tag, request: classic_request(kind, fields)? };
        let (group, effects) = self.0.clone().step(event);
        Ok((Self(group), effects.into_iter().map(Into::into).collect()))
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

fn consumer_request(kind: &str, fields: &Bound<'_, PyAny>) -> PyResult<consumer::Request> {
    Ok(match kind {
        "heartbeat" => consumer::Request::Heartbeat(consumer::Heartbeat {
            member: name(fields, "member")?,
            epoch: item(fields, "epoch")?,
            instance: item(fields, "instance_id")?,
            rack: item(fields, "rack_id")?,
            rebalance_timeout_ms: item(fields, "rebalance_timeout_ms")?,
            topics: item(fields, "topics")?,
            assignor: item(fields, "assignor")?,
            owned: item(fields, "owned")?,
        }),
        "commit" => consumer::Request::Commit(
            name(fields, "member")?,
            item(fields, "epoch")?,
            item(fields, "partitions")?,
        ),
        "topics" => {
            let topics: Vec<(String, Option<u32>)> = item(fields, "topics")?;
            consumer::Request::Topics(topics.into_iter().map(|(name, count)| (name.into(), count)).collect())
        }
        "move" => consumer::Request::Move,
        "wait" => consumer::Request::Wait,
        _ => return unknown(kind),
    })
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
    fn new(config: PythonConsumerConfig) -> Result<Self, BoundaryError> {
        config.0.assignors.iter().try_for_each(|assignor| consumer::check_assignor(assignor))?;
        Ok(Self(consumer::Group::new(config.0)))
    }

    /// The group after an event, and the answers sent since the last one.
    fn step(
        &self,
        py: Python<'_>,
        at_ms: i64,
        tag: u32,
        kind: &str,
        fields: &Bound<'_, PyAny>,
    ) -> Result<(Self, Vec<ConsumerAnswer>), BoundaryError> {
        let event = consumer::Event { at: at_ms, tag, request: consumer_request(kind, fields)? };
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

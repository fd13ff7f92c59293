//! The coordinators of groups. Each is a value, with one function that computes the next one.

use partwright_core::group::{Code, GroupEffect, GroupEvent, Name, classic, consumer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Returned, detached};
use crate::items::{by_name, from_items, item, same, text, to_items};

type ClassicRequest = classic::ClassicGroupRequest<String, String>;

from_items! {
    /// The settings of the coordinator for groups of the classic protocol.
    PythonClassicConfig: classic::ClassicGroupConfig {
        initial_rebalance_delay_ms, min_session_timeout_ms, max_session_timeout_ms, max_size
    }
    /// The settings of the coordinator for groups of KIP-848's protocol.
    PythonConsumerConfig: consumer::ConsumerGroupConfig {
        session_timeout_ms, heartbeat_interval_ms, assignment_interval_ms, max_size, assignors
    }
    /// A `JoinGroup`.
    PythonJoin: classic::Join<String> {
        session_timeout_ms, rebalance_timeout_ms, requires_id, skips_assignment;
        member: text = "member", new_id: text = "new_id", instance: same = "instance_id",
        protocols: by_name = "protocols", reason: same = "reason"
    }
    /// The member that sends a request of the classic protocol.
    PythonSender: classic::Sender {
        generation; member: text = "member", instance: same = "instance_id"
    }
    /// A `ConsumerGroupHeartbeat`.
    PythonHeartbeat: consumer::Heartbeat {
        epoch, rebalance_timeout_ms, topics, assignor, owned;
        member: text = "member", instance: same = "instance_id", rack: same = "rack_id"
    }
}

/// The refusal of a request or an event of another kind; the Python wrapper has checked it.
pub(crate) fn unknown<T>(kind: &str) -> PyResult<T> {
    Err(PyValueError::new_err(format!("there is no request {kind}")))
}

fn classic_request(kind: &str, fields: &Bound<'_, PyAny>) -> PyResult<ClassicRequest> {
    let sender = || fields.extract().map(|PythonSender(sender)| sender);
    Ok(match kind {
        "join" => ClassicRequest::Join(fields.extract::<PythonJoin>()?.0),
        "sync" => ClassicRequest::Sync {
            sender: sender()?,
            protocol: item::<Option<String>>(fields, "protocol")?.map(Into::into),
            assignments: by_name(&fields.get_item("assignments")?)?,
        },
        "heartbeat" => ClassicRequest::Heartbeat(sender()?),
        "commit" => ClassicRequest::Commit(sender()?),
        "leave" => ClassicRequest::Leave(by_name(&fields.get_item("members")?)?),
        "move" => ClassicRequest::Move,
        "wait" => ClassicRequest::Wait,
        _ => return unknown(kind),
    })
}

/// An answer as a dict with the fields of the answers to all requests. A field that an answer does not have is null.
fn classic_answer(
    py: Python<'_>,
    effect: GroupEffect<classic::Response<String, String>>,
) -> PyResult<Bound<'_, PyDict>> {
    let (classic::Response::Joined(classic::Joined { code, .. })
    | classic::Response::Synced { code, .. }
    | classic::Response::Left(code, _)
    | classic::Response::Done(code)) = effect.answer;
    let answer = to_items!(py, {
        at_ms: effect.at, tag: effect.tag, error: code.name(), generation: py.None(), protocol: py.None(),
        leader: py.None(), member: py.None(), skip_assignment: py.None(), members: py.None(),
        assignment: py.None(), errors: py.None(),
    });
    Ok(match effect.answer {
        classic::Response::Joined(joined) => {
            let members = joined.members.iter().map(|(id, instance, data)| (&**id, instance, data));
            to_items!(py, answer, {
                generation: joined.generation, protocol: joined.protocol.as_deref(),
                leader: joined.leader.as_deref(), member: &*joined.member,
                skip_assignment: joined.skip_assignment, members: members.collect::<Vec<_>>(),
            })
        }
        // Kafka sends empty bytes, not a null, if nobody has given an assignment and if the request is refused.
        classic::Response::Synced { protocol, assignment, .. } => to_items!(py, answer, {
            protocol: protocol.as_deref(), assignment: assignment.unwrap_or_default(),
        }),
        classic::Response::Left(_, codes) => {
            to_items!(py, answer, { errors: codes.into_iter().map(Code::name).collect::<Vec<_>>() })
        }
        classic::Response::Done(_) => answer,
    })
}

/// A group of the classic protocol.
#[pyclass(frozen, module = "partwright._core")]
pub(crate) struct ClassicGroup(classic::ClassicGroup<String, String>);

#[pymethods]
impl ClassicGroup {
    /// Makes a group that nobody has joined yet.
    #[new]
    fn new(config: PythonClassicConfig) -> Self {
        Self(classic::ClassicGroup::new(config.0))
    }

    /// The group after an event, and the answers sent since the last one.
    fn step<'py>(
        &self,
        at_ms: i64,
        tag: u32,
        kind: &str,
        fields: &Bound<'py, PyAny>,
    ) -> PyResult<(Self, Vec<Bound<'py, PyDict>>)> {
        let event = GroupEvent { at: at_ms, tag, request: classic_request(kind, fields)? };
        let (group, effects) = self.0.clone().step(event);
        let answers = effects.into_iter().map(|effect| classic_answer(fields.py(), effect));
        Ok((Self(group), answers.collect::<PyResult<_>>()?))
    }

    /// The present state of the group.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        Ok(to_items!(py, {
            state: self.0.exists().then(|| self.0.phase().name()),
            generation: self.0.generation(),
            protocol: self.0.protocol().map(|name| &**name),
            leader: self.0.leader().map(|name| &**name),
            members: self.0.members().iter().map(|name| &**name).collect::<Vec<_>>(),
            pending: self.0.pending(),
        }))
    }
}

fn consumer_request(kind: &str, fields: &Bound<'_, PyAny>) -> PyResult<consumer::ConsumerGroupRequest> {
    Ok(match kind {
        "heartbeat" => consumer::ConsumerGroupRequest::Heartbeat(fields.extract::<PythonHeartbeat>()?.0),
        "commit" => {
            let member = text(&fields.get_item("member")?)?;
            consumer::ConsumerGroupRequest::Commit(
                member,
                item(fields, "epoch")?,
                item(fields, "partitions")?,
            )
        }
        "topics" => consumer::ConsumerGroupRequest::Topics(by_name(&fields.get_item("topics")?)?),
        "move" => consumer::ConsumerGroupRequest::Move,
        "wait" => consumer::ConsumerGroupRequest::Wait,
        _ => return unknown(kind),
    })
}

/// A group of KIP-848's protocol.
#[pyclass(frozen, module = "partwright._core")]
pub(crate) struct ConsumerGroup(consumer::ConsumerGroup);

#[pymethods]
impl ConsumerGroup {
    /// Makes a group that nobody has joined yet.
    #[new]
    fn new(config: PythonConsumerConfig) -> Returned<Self> {
        config.0.assignors.iter().try_for_each(|assignor| consumer::check_assignor(assignor))?;
        Ok(Self(consumer::ConsumerGroup::new(config.0)))
    }

    /// The group after an event, and the answers sent since the last one.
    fn step<'py>(
        &self,
        at_ms: i64,
        tag: u32,
        kind: &str,
        fields: &Bound<'py, PyAny>,
    ) -> Returned<(Self, Vec<Bound<'py, PyDict>>)> {
        let py = fields.py();
        let event = GroupEvent { at: at_ms, tag, request: consumer_request(kind, fields)? };
        let (group, effects) = detached(py, || self.0.clone().step(event))?;
        let answer =
            |GroupEffect { at, tag, answer }: GroupEffect<consumer::HeartbeatAnswer>| -> PyResult<_> {
                Ok(to_items!(py, {
                    at_ms: at, tag: tag, error: answer.code.name(), epoch: answer.epoch, assignment: answer.assignment,
                }))
            };
        Ok((Self(group), effects.into_iter().map(answer).collect::<PyResult<_>>()?))
    }

    /// The present state of the group.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let member = |(id, member): (&Name, &consumer::ConsumerGroupMember)| -> PyResult<_> {
            Ok(to_items!(py, {
                id: &**id, epoch: member.epoch, previous_epoch: member.previous_epoch, state: member.state.name(),
                assigned: member.assigned.places().collect::<Vec<_>>(),
                revoking: member.revoking.places().collect::<Vec<_>>(),
                target: self.0.target(id),
            }))
        };
        Ok(to_items!(py, {
            state: self.0.exists().then(|| self.0.state()),
            epoch: self.0.epoch(),
            assignment_epoch: self.0.assignment_epoch(),
            members: self.0.members().into_iter().map(member).collect::<PyResult<Vec<_>>>()?,
        }))
    }
}

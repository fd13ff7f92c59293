//! Asks a Python function what a leader's client assigns, in a play with members of several clients.

use std::sync::{Arc, Mutex, PoisonError};

use partwright_core::group::consumer::Place;
use partwright_core::group::play::{self, JoinedGroup, JoinedMember};
use partwright_core::{Error, Result};
use pyo3::prelude::*;

/// The exception that the function raised; it ends the play.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A function that takes a group as its leader sees it, and returns each member's partitions, or None if the
/// client fails.
pub(crate) struct PythonLeadersClient {
    pub function: Py<PyAny>,
    pub raised: Raised,
}

/// A group, by the names of `JoinedGroup`.
#[derive(IntoPyObject)]
struct LeadersGroup {
    at_ms: i64,
    generation: i32,
    leader: usize,
    assignor: String,
    topics: Vec<(String, u32)>,
    members: Vec<LeadersMember>,
}

#[derive(IntoPyObject)]
struct LeadersMember {
    member: Option<u32>,
    id: String,
    instance_id: Option<String>,
    client: String,
    topics: Vec<u32>,
    owned: Vec<Place>,
    generation: i32,
    remembers: Option<(Vec<Place>, i32)>,
}

impl play::LeadersClient for PythonLeadersClient {
    fn assign(&mut self, group: &JoinedGroup<'_>) -> Result<Option<Vec<Vec<Place>>>> {
        Python::attach(|py| self.function.call1(py, (leaders_group(group),))?.extract(py)).map_err(
            |error: PyErr| {
                *self.raised.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Error::Group("the function that says what a leader assigns has failed".to_owned())
            },
        )
    }
}

fn leaders_group(group: &JoinedGroup<'_>) -> LeadersGroup {
    LeadersGroup {
        at_ms: group.at,
        generation: group.generation,
        leader: group.leader,
        assignor: group.assignor.to_owned(),
        topics: group.topics.iter().map(|&(name, count)| (name.to_owned(), count)).collect(),
        members: group.members.iter().map(leaders_member).collect(),
    }
}

fn leaders_member(member: &JoinedMember<'_>) -> LeadersMember {
    LeadersMember {
        member: member.reader,
        id: member.id.to_owned(),
        instance_id: member.instance.map(str::to_owned),
        client: member.client.to_owned(),
        topics: member.topics.to_vec(),
        owned: member.owned.to_vec(),
        generation: member.generation,
        remembers: member.remembers.map(|(list, of)| (list.to_vec(), of)),
    }
}

//! Asks a Python function what a leader's client assigns, in a play with members of several clients.

use std::sync::{Arc, Mutex};

use partwright_core::group::consumer::Place;
use partwright_core::group::play::{self, JoinedGroup, JoinedMember};
use partwright_core::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::items::to_items;
use crate::threads::locked;

/// The exception that the function raised; it ends the play.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    pub(crate) fn take(&self) -> Option<PyErr> {
        locked(&self.0).take()
    }
}

/// A function that takes a group as its leader sees it, and returns each member's partitions, or None if the
/// client fails.
pub(crate) struct PythonLeadersClient {
    pub function: Py<PyAny>,
    pub raised: Raised,
}

impl play::LeadersClient for PythonLeadersClient {
    fn assign(&mut self, group: &JoinedGroup<'_>) -> Result<Option<Vec<Vec<Place>>>> {
        Python::attach(|py| self.function.call1(py, (leaders_group(py, group)?,))?.extract(py)).map_err(
            |error: PyErr| {
                *locked(&self.raised.0) = Some(error);
                Error::Group("the function that says what a leader assigns has failed".to_owned())
            },
        )
    }
}

/// A group, by the names of `JoinedGroup`.
fn leaders_group<'py>(py: Python<'py>, group: &JoinedGroup<'_>) -> PyResult<Bound<'py, PyDict>> {
    let member = |member: &JoinedMember<'_>| -> PyResult<_> {
        Ok(to_items!(py, {
            member: member.reader.map(|it| it.0), id: member.id, instance_id: member.instance, client: member.client,
            topics: member.topics, owned: member.owned, generation: member.generation, remembers: member.remembers,
        }))
    };
    Ok(to_items!(py, {
        at_ms: group.at, generation: group.generation, leader: group.leader, assignor: group.assignor,
        topics: &group.topics, members: group.members.iter().map(member).collect::<PyResult<Vec<_>>>()?,
    }))
}

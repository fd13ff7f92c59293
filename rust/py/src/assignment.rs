//! Assignors: they take a group and return its assignment.

use partwright_core::assignors::{Assignor as Known, Options};
use partwright_core::columnar::{self, AssignedGroups};
use partwright_core::java::uuid::TopicId;
use partwright_core::java::{hash_map, topic_partition};
use pyo3::prelude::*;

use crate::arguments::Assignor;
use crate::arrow::{ArrowColumn, to_pyarrow};
use crate::error::{Returned, detached};

/// The reason why an answer is one of several, and what all of them have in common.
type WhyAndSame = Option<(&'static str, Vec<&'static str>)>;

/// Who reads what, as a list of (topic, partition) pairs for each row of `members`, and what is left to chance. The
/// schema of both batches is that of the core.
#[pyfunction]
pub(crate) fn assign(
    py: Python<'_>,
    assignor: Assignor,
    topics: ArrowColumn,
    members: ArrowColumn,
    seed: u64,
    balance_racks: bool,
    as_read: bool,
) -> Returned<(Py<PyAny>, WhyAndSame)> {
    let (options, mut chance) = (Options { seed, balance_racks, as_read }, None);
    let lists = topics.with(py, members, |topics, members| {
        let (lists, left) = columnar::assign(assignor.0, options, topics, members)?;
        chance = left;
        Ok(lists)
    })?;
    Ok((lists, chance.map(|chance| (chance.why, chance.same.to_vec()))))
}

/// The answer for many groups in five columns, or the first group that cannot be assigned.
#[derive(IntoPyObject)]
pub(crate) enum AssignedColumns {
    Columns(Vec<Py<PyAny>>),
    Refused(usize),
}

/// Who reads what in each of many groups; the columns are those of the core.
#[pyfunction]
pub(crate) fn assign_groups(
    py: Python<'_>,
    assignor: Assignor,
    groups: ArrowColumn,
    members: ArrowColumn,
    names: ArrowColumn,
    topics: ArrowColumn,
    of_groups: Option<ArrowColumn>,
) -> Returned<AssignedColumns> {
    let (groups, members, names, topics) = (groups.only(), members.only(), names.only(), topics.only());
    let of_groups = of_groups.map(ArrowColumn::only);
    let groups = detached(py, || {
        columnar::assign_groups(assignor.0, &groups, &members, &names, &topics, of_groups.as_deref())
    })?;
    match groups {
        AssignedGroups::Refused(group) => Ok(AssignedColumns::Refused(group)),
        AssignedGroups::Assigned(columns) => {
            let columns = columns.into_iter().map(|column| to_pyarrow(py, column));
            Ok(AssignedColumns::Columns(columns.collect::<Result<_, _>>()?))
        }
    }
}

/// The name of an assignor, checked to exist.
#[pyfunction]
pub(crate) fn assignor_named(name: Assignor) -> &'static str {
    name.0.name()
}

/// The names of other clients' assignors.
#[pyfunction]
pub(crate) fn client_assignors() -> Vec<&'static str> {
    Known::of_other_clients().map(Known::name).collect()
}

/// The names of the assignors.
#[pyfunction]
pub(crate) fn assignors() -> Vec<&'static str> {
    Known::ALL.map(Known::name).to_vec()
}

/// The ids of topics as Kafka writes them: the given id, or one made from the name.
#[pyfunction]
pub(crate) fn topic_ids(names: Vec<String>, ids: Vec<Option<String>>) -> Returned<Vec<String>> {
    let id = |(name, ids): (String, Option<String>)| match ids {
        Some(text) => Ok(text.parse::<TopicId>()?.to_string()),
        None => Ok(TopicId::of_name(&name).to_string()),
    };
    names.into_iter().zip(ids).map(id).collect()
}

/// The places of names in the order in which Java iterates over a map of them, each once.
#[pyfunction]
pub(crate) fn walk_names(names: Vec<String>) -> Vec<u32> {
    hash_map::walk_names(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The partitions of topics, each once, in the order of a client's metadata.
#[pyfunction]
pub(crate) fn walk_partitions(topics: Vec<(String, Vec<i32>)>) -> Vec<Vec<i32>> {
    topic_partition::walk_partitions(
        &topics.iter().map(|(name, ids)| (name.as_str(), ids.as_slice())).collect::<Vec<_>>(),
    )
}

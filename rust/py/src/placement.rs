//! Kafka's two placers: they take brokers and return the replicas of each partition.

use partwright_core::placement::{PlacementDraws, kraft, zookeeper};
use partwright_core::{Error, columnar};
use pyo3::prelude::*;

use crate::arrow::to_pyarrow;
use crate::error::{BoundaryError, Returned, detached};
use crate::items::OrOdd;

/// A placement and its draws; or, if a recorded draw is missing or too large, its place and its bound.
type Striped = OrOdd<(Py<PyAny>, Vec<i32>)>;

/// The replicas that `AdminUtils` places. Either no broker has a rack or all have one; ids are ascending.
#[pyfunction]
pub(crate) fn admin_utils(
    py: Python<'_>,
    ids: Vec<i32>,
    racks: Option<Vec<String>>,
    partitions: usize,
    replicas: usize,
    start: (usize, usize, usize),
) -> Returned {
    let (index, shift, partition) = start;
    let start = zookeeper::Start { index, shift, partition };
    let rows = detached(py, || {
        let rows = match &racks {
            Some(racks) => zookeeper::rack_aware(&paired(&ids, racks), partitions, replicas, start),
            None => zookeeper::rack_unaware(&ids, partitions, replicas, start),
        };
        columnar::replicas(rows?, replicas)
    })?;
    to_pyarrow(py, rows)
}

/// The ids, one from each rack in turn.
#[pyfunction]
pub(crate) fn rack_alternated(ids: Vec<i32>, racks: Vec<String>) -> Vec<i32> {
    zookeeper::rack_alternated(&paired(&ids, &racks))
}

/// The replicas that `StripedReplicaPlacer` places. A broker is its id, its rack and whether it is fenced.
#[pyfunction]
pub(crate) fn striped(
    py: Python<'_>,
    brokers: Vec<(i32, Option<String>, bool)>,
    partitions: usize,
    replicas: usize,
    seed: i64,
    draws: Option<Vec<i32>>,
) -> Returned<Striped> {
    let mut draws = draws.map_or_else(|| PlacementDraws::seeded(seed), PlacementDraws::recorded);
    let brokers: Vec<_> = brokers
        .iter()
        .map(|(id, rack, fenced)| kraft::KraftBroker { id: *id, rack: rack.as_deref(), fenced: *fenced })
        .collect();
    let rows = detached(py, || {
        columnar::replicas(kraft::striped(&brokers, partitions, replicas, &mut draws)?, replicas)
    });
    match rows {
        Err(BoundaryError::Core(Error::Draw { place, bound })) => Ok(OrOdd::Odd((place, bound))),
        rows => Ok(OrOdd::Answer((to_pyarrow(py, rows?)?, draws.into_taken()))),
    }
}

fn paired<'a>(ids: &[i32], racks: &'a [String]) -> Vec<(i32, &'a str)> {
    ids.iter().copied().zip(racks.iter().map(String::as_str)).collect()
}

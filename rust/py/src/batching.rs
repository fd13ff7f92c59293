//! Simulations of a producer's batches, fed with one batch of records after another.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use partwright_core::batching::{
    BatchSummary, Broker, Delays, Latency, Partition, Rows, Scenario, Settings, Simulation,
};
use partwright_core::columnar::{self, BatchTables};
use partwright_core::producer::Draws;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::Strategy;
use crate::arrow::{ArrowColumn, to_pyarrow};
use crate::error::{Returned, detached};
use crate::items::{from_items, item, to_items};
use crate::threads::locked;

/// A broker as Python gives it: its number, its rack, its latency, and the times when it is down.
type PythonBroker = (i32, Option<String>, PythonLatency, Vec<(i64, i64)>);

/// A latency as Python gives it: a number, or an object with the fields of one of the other kinds.
struct PythonLatency(Latency);

impl<'py> FromPyObject<'_, 'py> for PythonLatency {
    type Error = PyErr;

    fn extract(fields: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(if let Ok(ms) = fields.extract() {
            Latency::Constant(ms)
        } else if let Ok(among) = item(&fields, "among") {
            Latency::Among(among)
        } else if let Ok(p50) = item(&fields, "p50") {
            Latency::LogNormal { p50, p99: item(&fields, "p99")? }
        } else {
            Latency::Uniform { from: item(&fields, "from")?, to: item(&fields, "to")? }
        }))
    }
}

from_items! {
    /// The settings as Python gives them, under the core's names.
    PythonSettings: Settings {
        batch_size, linger_ms, max_request_size, max_in_flight, retry_backoff_ms, ignore_keys, adaptive,
        availability_timeout_ms, rack_aware, client_rack
    }
}

/// A simulation and its result: the sums, and on request the fate of each record.
type SimulationState = (Simulation, (Option<Rows>, BatchSummary));

/// A simulation and the fate of its records.
#[pyclass(frozen, module = "partwright._core")]
pub(crate) struct Batching {
    state: Mutex<SimulationState>,
    batch_size: i32,
}

#[pymethods]
impl Batching {
    /// Makes a producer that has sent nothing yet.
    #[new]
    fn new(
        strategy: Strategy,
        settings: PythonSettings,
        scenario: &Bound<'_, PyAny>,
        rows: bool,
    ) -> Returned<Self> {
        let PythonSettings(settings) = settings;
        let (batch_size, seed) = (settings.batch_size, item(scenario, "seed")?);
        let brokers: Vec<PythonBroker> = item(scenario, "brokers")?;
        let partitions: Vec<(i32, Option<i32>)> = item(scenario, "partitions")?;
        let draws: Option<Vec<i32>> = item(scenario, "draws")?;
        let broker = |(id, rack, latency, away): PythonBroker| Broker { id, rack, latency: latency.0, away };
        let scenario = Scenario {
            strategy: strategy.0,
            settings,
            each_append: item(scenario, "each_append")?,
            brokers: brokers.into_iter().map(broker).collect(),
            partitions: partitions.into_iter().map(|(id, leader)| Partition { id, leader }).collect(),
            flush_ms: item(scenario, "flush_ms")?,
            failed_requests: item(scenario, "failed_requests")?,
            draws: draws.map_or_else(|| Draws::seeded(seed), Draws::recorded),
            seed,
        };
        let report = (rows.then(Rows::default), BatchSummary::default());
        Ok(Self { state: Mutex::new((Simulation::new(scenario)?, report)), batch_size })
    }

    /// Adds some records; the columns are those of the core.
    fn append(&self, py: Python<'_>, records: ArrowColumn) -> Returned<()> {
        let records = records.only();
        detached(py, || {
            let (simulation, report) = &mut *locked(&self.state);
            columnar::append_records(simulation, &records, report)
        })
    }

    /// Ends the records and returns the sums.
    fn finish<'py>(&self, py: Python<'py>) -> Returned<Bound<'py, PyDict>> {
        detached(py, || {
            let (simulation, report) = &mut *locked(&self.state);
            simulation.finish(report)
        })?;
        let summary = &locked(&self.state).1.1;
        let pairs = |bytes: &BTreeMap<i32, u64>| -> Vec<(i32, u64)> {
            bytes.iter().map(|(&id, &bytes)| (id, bytes)).collect()
        };
        // The 50th and 99th percentiles.
        let percentiles = |delays: &Delays| [50, 99].map(|percent| delays.percentile(percent));
        Ok(to_items!(py, {
            records: summary.records, batches: summary.batches, requests: summary.requests, unsent: summary.unsent,
            partitions: pairs(&summary.partitions), brokers: pairs(&summary.brokers),
            waited_ms: percentiles(&summary.waited), delay_ms: percentiles(&summary.delay),
        }))
    }

    /// The fate of each record, by the names of the tables; empty if it was not requested.
    fn tables(&self, py: Python<'_>) -> Returned<HashMap<&'static str, Py<PyAny>>> {
        let tables = detached(py, || {
            let rows = &locked(&self.state).1.0;
            Ok(BatchTables::of(rows.as_ref().unwrap_or(&Rows::default()), self.batch_size))
        })?;
        Ok(HashMap::from([
            ("records", to_pyarrow(py, tables.records)?),
            ("batches", to_pyarrow(py, tables.batches)?),
            ("requests", to_pyarrow(py, tables.requests)?),
            ("switches", to_pyarrow(py, tables.switches)?),
        ]))
    }
}

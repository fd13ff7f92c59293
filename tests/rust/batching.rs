//! The batching golden files through the core: which batches Kafka's own accumulators make, and their results.

use std::collections::BTreeSet;
use std::error::Error;

use partwright_core::batching::{Broker, Latency, Partition, Rows, Scenario, Settings, Simulation, Why};
use partwright_core::hashing::{Client, Partitions};
use partwright_core::producer::{Draws, Record, headers_size};
use serde::Deserialize;
use serde_json::{Value, json};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// For each file, who answered and about which strategies.
const FILES: [(&str, &str, &[&str]); 3] = [
    (include_str!("../golden/batching/client.jsonl"), "kafka-clients 4.4.0", &["sticky@4.4"]),
    (include_str!("../golden/batching/client-3.9.jsonl"), "kafka-clients 3.9.2", &["sticky@3.3"]),
    (
        include_str!("../golden/batching/client-2.8.jsonl"),
        "kafka-clients 2.8.2",
        &["round-robin@2.8", "sticky@2.4", "uniform-sticky@2.4"],
    ),
];

#[derive(Deserialize)]
struct Provenance {
    library: String,
    version: String,
}

#[derive(Deserialize)]
struct Case {
    strategy: String,
    config: Config,
    sender: String,
    brokers: Vec<GivenBroker>,
    partitions: Vec<GivenPartition>,
    flush_ms: Option<i64>,
    failed_requests: Vec<u64>,
    records: Vec<Vec<Value>>,
    draws: Vec<i32>,
    placed: Value,
    batches: Value,
    requests: Value,
}

#[derive(Deserialize)]
struct Config {
    #[serde(rename = "batch.size")]
    batch_size: i32,
    #[serde(rename = "linger.ms")]
    linger_ms: i64,
    #[serde(rename = "max.request.size")]
    max_request_size: i32,
    #[serde(rename = "max.in.flight.requests.per.connection")]
    max_in_flight: i32,
    #[serde(rename = "retry.backoff.ms")]
    retry_backoff_ms: i64,
    #[serde(rename = "partitioner.adaptive.partitioning.enable")]
    adaptive: bool,
    #[serde(rename = "partitioner.availability.timeout.ms")]
    availability_timeout_ms: i64,
    #[serde(rename = "partitioner.rack.aware")]
    rack_aware: bool,
    #[serde(rename = "client.rack")]
    client_rack: String,
}

#[derive(Deserialize)]
struct GivenBroker {
    id: i32,
    rack: Option<String>,
    latency_ms: i64,
    away: Vec<(i64, i64)>,
}

#[derive(Deserialize)]
struct GivenPartition {
    id: i32,
    leader: Option<i32>,
}

impl Case {
    fn scenario(&self) -> Outcome<Scenario> {
        let config = &self.config;
        Ok(Scenario {
            strategy: self.strategy.parse()?,
            settings: Settings {
                batch_size: config.batch_size,
                linger_ms: config.linger_ms,
                max_request_size: config.max_request_size,
                max_in_flight: config.max_in_flight,
                retry_backoff_ms: config.retry_backoff_ms,
                adaptive: config.adaptive,
                availability_timeout_ms: config.availability_timeout_ms,
                rack_aware: config.rack_aware,
                client_rack: config.client_rack.clone(),
                ..Settings::default()
            },
            each_append: self.sender == "each-append",
            brokers: self
                .brokers
                .iter()
                .map(|broker| Broker {
                    id: broker.id,
                    rack: broker.rack.clone(),
                    latency: Latency::Constant(broker.latency_ms),
                    away: broker.away.clone(),
                })
                .collect(),
            partitions: self
                .partitions
                .iter()
                .map(|&GivenPartition { id, leader }| Partition { id, leader })
                .collect(),
            flush_ms: self.flush_ms,
            failed_requests: self.failed_requests.clone(),
            draws: Draws::recorded(self.draws.clone()),
            seed: 0,
        })
    }

    fn replayed(&self) -> Outcome<Rows> {
        let count = Partitions::new(i64::try_from(self.partitions.len())?)?;
        let (mut simulation, mut rows) = (Simulation::new(self.scenario()?)?, Rows::default());
        for record in &self.records {
            simulation.append(&read(record, count)?, &mut rows)?;
        }
        simulation.finish(&mut rows)?;
        Ok(rows)
    }
}

fn read(record: &[Value], count: Partitions) -> Outcome<Record> {
    let int = |place: usize| -> Outcome<Option<i32>> {
        Ok(record.get(place).and_then(Value::as_i64).map(i32::try_from).transpose()?)
    };
    let key = record.get(1).and_then(Value::as_str).map(bytes).transpose()?;
    let values = record.get(4).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut headers = Vec::new();
    for (number, value) in values.iter().enumerate() {
        let size = value.as_i64().map_or(Ok(-1), i32::try_from)?;
        headers.push((i32::try_from(format!("h{number}").len())?, size));
    }
    Ok(Record {
        topic: 0,
        partition: int(2)?,
        keyed: Client::JAVA.partition_for_key(key.as_deref(), count)?,
        key_size: key.map_or(Ok(-1), |key| i32::try_from(key.len()))?,
        value_size: int(3)?.unwrap_or(-1),
        headers_size: i32::try_from(headers_size(headers))?,
        at: record.first().and_then(Value::as_i64).ok_or("a time")?,
    })
}

fn bytes(hex: &str) -> Outcome<Vec<u8>> {
    (0..hex.len()).step_by(2).map(|at| Ok(u8::from_str_radix(&hex[at..at + 2], 16)?)).collect()
}

fn answer(rows: &Rows) -> [Value; 3] {
    let placed = rows.placed.iter().map(|(partition, batch, _)| json!([partition, batch])).collect();
    let batches = rows.batches.iter().enumerate().map(|(id, batch)| {
        json!({
            "id": id,
            "partition": batch.partition,
            "first_record": batch.first_record,
            "records": batch.records,
            "bytes": batch.bytes,
            "opened_ms": batch.opened_ms,
            "closed_ms": batch.closed_ms,
            "why": batch.why.map(Why::name),
            "sends": batch.sends,
            "acked_ms": batch.acked_ms,
        })
    });
    let requests = rows.requests.iter().enumerate().map(|(id, request)| {
        json!({
            "id": id,
            "node": request.node,
            "sent_ms": request.sent_ms,
            "done_ms": request.done_ms,
            "ok": request.is_ok,
            "bytes": request.bytes,
            "batches": request.batches,
        })
    });
    [placed, batches.collect(), requests.collect()]
}

fn first_difference(ours: &Value, theirs: &Value) -> String {
    let (Some(ours), Some(theirs)) = (ours.as_array(), theirs.as_array()) else {
        return "no lists".to_owned();
    };
    match ours.iter().zip(theirs).position(|(our, their)| our != their) {
        Some(place) => format!("at {place}: {} and not {}", ours[place], theirs[place]),
        None => format!("{} and not {} of them", ours.len(), theirs.len()),
    }
}

#[test]
fn every_batch_is_that_of_the_real_accumulator() -> Outcome {
    for (file, source, strategies) in FILES {
        let (mut lines, mut met) = (file.lines(), BTreeSet::new());
        let Provenance { library, version } = serde_json::from_str(lines.next().ok_or("an empty file")?)?;
        assert_eq!(format!("{library} {version}"), source);
        for (line, number) in lines.zip(2..) {
            let case: Case =
                serde_json::from_str(line).map_err(|error| format!("{source}, line {number}: {error}"))?;
            met.insert(case.strategy.clone());
            let rows = case.replayed().map_err(|error| format!("{source}, line {number}: {error}"))?;
            let theirs = [&case.placed, &case.batches, &case.requests];
            for ((part, ours), theirs) in
                ["placed", "batches", "requests"].into_iter().zip(answer(&rows)).zip(theirs)
            {
                assert!(
                    ours == *theirs,
                    "{source}, line {number}: {part} {}",
                    first_difference(&ours, theirs)
                );
            }
        }
        assert_eq!(met.iter().map(String::as_str).collect::<Vec<_>>(), strategies, "{source}");
    }
    Ok(())
}

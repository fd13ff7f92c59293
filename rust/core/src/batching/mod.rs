//! A producer's batches before it runs: what its accumulator and its sender make of given records, broker by broker.
//!
//! Exact to `RecordAccumulator`, `ProducerBatch`, `BuiltInPartitioner` and `ProducerSender` of kafka-clients 4.4.0 (racks) and
//! 3.3 to 4.3, and of 2.8.2, without compression and transactions. Time is in the records: nothing sleeps.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `scenario` | the input: settings, brokers, partitions |
//! | `latency` | how long a broker takes to answer |
//! | `queue` | the batches that wait for a partition |
//! | `accumulator` | the queues of a topic, and the effect of a record on them |
//! | `queue_order` | the order in which Java walks the queues |
//! | `bit_set` | which of them hold anything |
//! | `brokers` | a broker: its requests in flight, when it is away |
//! | `ready_brokers` | which brokers are ready, and what the strategy learns about the queues |
//! | `sender` | how batches are drained into requests, and what follows |
//! | `simulation` | the clock |
//! | `report` | what is reported on the way: requests to brokers, and others |
//! | `report_rows`, `summary` | all of it, and a summary in fixed memory |

mod accumulator;
mod bit_set;
mod brokers;
mod latency;
mod queue;
mod queue_order;
mod ready_brokers;
mod report;
mod report_rows;
mod scenario;
mod sender;
mod simulation;
mod summary;
#[cfg(test)]
mod tests;

pub use latency::Latency;
pub use queue::{Queued, Why};
pub use report::{BatchEvent, EventReport, ProduceRequest, SwitchRow};
pub use report_rows::{BatchRow, RequestRow, Rows};
pub use scenario::{Broker, Partition, Scenario, Settings};
pub use simulation::Simulation;
pub use summary::{BatchSummary, Delays};

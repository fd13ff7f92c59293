//! The records of a column go where they go one by one, and leave the producer in the same state.

use partwright_core::producer::{
    Among, Draws, Fallback, Partition, Producer, Queues, Record, Settings, Strategy as Known, Topic,
};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;

/// Topics by their partitions: whether each has a leader. A number may be 100 higher, so that not all are 0 to n - 1.
fn topics() -> impl Strategy<Value = Vec<Vec<(i32, bool)>>> {
    let partition = (prop_oneof![9 => Just(0), 1 => Just(100)], prop::bool::weighted(0.8));
    let numbered = |given: Vec<(i32, bool)>| {
        given.into_iter().zip(0..).map(|((beyond, available), id)| (beyond + id, available)).collect()
    };
    prop::collection::vec(prop::collection::vec(partition, 1..7).prop_map(numbered), 1..4)
}

/// Sizes around one batch, some far smaller, so that there are runs of all lengths.
fn settings() -> impl Strategy<Value = Settings> {
    let batch_size =
        prop_oneof![4 => 1..3000, 4 => 62..200, 1 => Just(16_384), 1 => select(vec![0, 1 << 30, i32::MAX])];
    let linger = prop::option::weighted(0.3, 0..60_i64);
    (batch_size, linger, any::<bool>()).prop_map(|(batch_size, linger_ms, ignore_keys)| Settings {
        batch_size,
        linger_ms,
        ignore_keys,
        among: Among::RoundRobin,
        fallback: Fallback::RoundRobin,
        ..Settings::default()
    })
}

/// Mostly of one topic, without a key and so small that batches often end with a byte to spare, or none; the time stands still, goes on or goes back.
fn records() -> impl Strategy<Value = Vec<Record>> {
    let size = || prop_oneof![9 => Just(0), 6 => 0..12, 3 => 0..200, 1 => 200..5000, 1 => Just(-1)];
    let rarely = |values| prop::option::weighted(0.05, values);
    let time = prop_oneof![6 => Just(0), 3 => 0..30_i64, 1 => -40..0_i64];
    let headers = prop_oneof![9 => Just(0), 1 => 0..300];
    let topic = prop_oneof![9 => Just(0), 1 => 0..3_usize];
    let record = (topic, rarely(-1..7), rarely(0..7), size(), size(), headers, time);
    prop::collection::vec(record, 1..400).prop_map(|given| {
        let mut at = 0;
        let record = |(topic, partition, keyed, key_size, value_size, headers_size, later)| {
            at += later;
            Record { topic, partition, keyed, key_size, value_size, headers_size, at }
        };
        given.into_iter().map(record).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn a_column_goes_where_its_records_go(
        strategy in select(Known::ALL.to_vec()),
        settings in settings(),
        topics in topics(),
        records in records(),
        counter in prop::option::of(prop_oneof![Just(i32::MAX - 3), Just(-3), any::<i32>()]),
        queues in prop::option::of(prop::collection::vec(0..5, 6)),
        seed in any::<i64>(),
    ) {
        let count = topics.len();
        let near = |&(id, available): &(i32, bool)| Partition { id, available, near: id % 2 == 0 };
        let topics = topics.iter().map(|given| Topic::new("t", &given.iter().map(near).collect::<Vec<_>>()));
        let topics = topics.collect::<Result<Vec<_>, _>>().map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut one_by_one = Producer::new(strategy, settings, topics, Draws::seeded(seed))
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        if let Some(counter) = counter {
            one_by_one.set_counter(0, counter);
        }
        let queues = queues.map(|sizes| Queues { sizes, ids: (0..6).collect(), near: None, length: 6 });
        // Refused by a strategy without weights.
        let _ = one_by_one.load_stats(0, queues.as_ref());
        let mut at_once = one_by_one.clone();
        let records: Vec<_> =
            records.into_iter().map(|record| Record { topic: record.topic % count, ..record }).collect();

        let (mut singly, mut refused) = (Vec::new(), Ok(()));
        for (number, record) in records.iter().enumerate() {
            match one_by_one.place(record) {
                Ok(partition) => singly.push(partition),
                Err(error) => {
                    refused = Err((number, error));
                    break;
                }
            }
        }
        let mut placed = Vec::new();
        let outcome = at_once.place_each(&records, |partition| placed.push(partition));
        prop_assert_eq!(placed, singly);
        prop_assert_eq!(outcome, refused);
        prop_assert_eq!(format!("{at_once:?}"), format!("{one_by_one:?}"));
    }
}

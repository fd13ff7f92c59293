//! Tests each rule of the accumulator and the sender by itself; the golden files test all of them together.

use super::*;
use crate::producer::{Draws, Record, Strategy};
use crate::{Error, Result};

/// A value of up to 57 bytes makes a record of 7 bytes more, and a batch has 61 bytes more than its records.
fn record(at: i64, partition: Option<i32>, value_size: i32) -> Record {
    Record { partition, key_size: -1, value_size, at, ..Record::default() }
}

/// Two partitions of one broker that answers after 10 ms; batches of 200 bytes that linger for 5 ms.
fn scenario() -> Scenario {
    Scenario {
        strategy: Strategy::Sticky44,
        settings: Settings { batch_size: 200, ..Settings::default() },
        each_append: false,
        brokers: vec![broker(0)],
        partitions: vec![partition(0, 0), partition(1, 0)],
        flush_ms: None,
        failed_requests: vec![],
        draws: Draws::recorded(vec![0; 20]),
        seed: 0,
    }
}

fn broker(id: i32) -> Broker {
    Broker { id, latency: Latency::Constant(10), ..Broker::default() }
}

fn partition(id: i32, leader: i32) -> Partition {
    Partition { id, leader: Some(leader) }
}

fn run(scenario: Scenario, records: &[Record]) -> Result<Rows> {
    let (mut simulation, mut rows) = (Simulation::new(scenario)?, Rows::default());
    for record in records {
        simulation.append(record, &mut rows)?;
    }
    simulation.finish(&mut rows)?;
    Ok(rows)
}

/// For each batch, its partition, its records, when it was closed and why.
fn closed(rows: &Rows) -> Vec<(i32, i32, i64, &str)> {
    let why = |batch: &BatchRow| batch.why.map_or("", Why::name);
    let row = |batch: &BatchRow| (batch.partition, batch.records, batch.closed_ms.unwrap_or(-1), why(batch));
    rows.batches.iter().map(row).collect()
}

/// For each request, its time and its batches.
fn requests(rows: &Rows) -> Vec<(i64, Vec<u64>)> {
    rows.requests.iter().map(|request| (request.sent_ms, request.batches.clone())).collect()
}

#[test]
fn a_batch_leaves_when_it_has_lingered_and_not_before() -> Result<()> {
    let rows =
        run(scenario(), &[record(100, Some(0), 10), record(104, Some(0), 10), record(105, Some(0), 10)])?;
    assert_eq!(
        closed(&rows),
        [(0, 3, 105, "linger")],
        "a record of the last instant is in before the sender runs"
    );
    assert_eq!(rows.batches[0].bytes, 61 + 3 * 17);
    assert_eq!(rows.batches[0].acked_ms, Some(115));
    let rows = run(scenario(), &[record(100, Some(0), 10), record(106, Some(0), 10)])?;
    assert_eq!(closed(&rows), [(0, 1, 105, "linger"), (0, 1, 111, "linger")]);
    Ok(())
}

#[test]
fn a_batch_is_full_at_its_limit_and_not_one_byte_before() -> Result<()> {
    // 61 + 57 + 57 + 25 are 200.
    let rows = run(scenario(), &[record(1, Some(0), 50), record(2, Some(0), 50), record(3, Some(0), 18)])?;
    assert_eq!((closed(&rows), requests(&rows)), (vec![(0, 3, 3, "full")], vec![(3, vec![0])]));
    let rows = run(scenario(), &[record(1, Some(0), 50), record(2, Some(0), 50), record(3, Some(0), 17)])?;
    assert_eq!(closed(&rows), [(0, 3, 6, "linger")]);
    let rows = run(scenario(), &[record(1, Some(0), 50), record(2, Some(0), 50), record(3, Some(0), 19)])?;
    assert_eq!(closed(&rows), [(0, 2, 3, "no-room"), (0, 1, 8, "linger")]);
    assert_eq!(rows.requests[0].sent_ms, 3, "one that is closed is sent at once, the next one is not");
    Ok(())
}

#[test]
fn a_first_record_over_batch_size_leaves_what_its_estimate_was_too_high() -> Result<()> {
    // Its upper bound is 61 + 21 + 1 + 302 + 1, and the batch is 61 + 309; the room is 16 bytes.
    let rows = run(scenario(), &[record(1, Some(0), 300), record(1, Some(0), 9), record(1, Some(0), 0)])?;
    assert_eq!(closed(&rows), [(0, 2, 1, "full"), (0, 1, 6, "linger")]);
    let rows = run(scenario(), &[record(1, Some(0), 300), record(1, Some(0), 10)])?;
    assert_eq!(closed(&rows), [(0, 1, 1, "no-room"), (0, 1, 6, "linger")]);
    let rows = run(scenario(), &[record(1, Some(0), 300)])?;
    assert_eq!(closed(&rows), [(0, 1, 6, "linger")]);
    Ok(())
}

#[test]
fn what_goes_to_the_same_broker_goes_along() -> Result<()> {
    let mut two = scenario();
    two.brokers.push(broker(1));
    two.partitions.push(partition(2, 1));
    let records = [record(1, Some(0), 10), record(3, Some(1), 10), record(3, Some(2), 10)];
    let rows = run(two, &records)?;
    assert_eq!(closed(&rows), [(0, 1, 6, "linger"), (1, 1, 6, "node"), (2, 1, 8, "linger")]);
    assert_eq!(requests(&rows), [(6, vec![0, 1]), (8, vec![2])]);
    Ok(())
}

#[test]
fn a_flush_waits_for_the_records_and_lets_all_go() -> Result<()> {
    let records = [record(1, Some(0), 10), record(3, Some(1), 10)];
    let flushed = |flush_ms| run(Scenario { flush_ms: Some(flush_ms), ..scenario() }, &records);
    assert_eq!(closed(&flushed(2)?), [(0, 1, 3, "flush"), (1, 1, 3, "flush")]);
    assert_eq!(closed(&flushed(5)?), [(0, 1, 5, "flush"), (1, 1, 5, "flush")]);
    assert_eq!(closed(&flushed(6)?), [(0, 1, 6, "linger"), (1, 1, 6, "flush")], "to linger comes first");
    assert_eq!(closed(&flushed(7)?), [(0, 1, 6, "linger"), (1, 1, 6, "node")]);
    Ok(())
}

#[test]
fn a_request_is_as_large_as_it_may_be_but_takes_its_first_batch_however_large() -> Result<()> {
    let small = |strategy| {
        let mut small = Scenario { strategy, ..scenario() };
        small.settings.max_request_size = 240;
        small.partitions = (0..4).map(|id| partition(id, 0)).collect();
        small
    };
    // Each batch is 61 + 27 + 20: two are 216, and three more than 240.
    let records: Vec<_> = (0..4).map(|id| record(1, Some(id), 20)).collect();
    let rows = run(small(Strategy::Sticky44), &records)?;
    assert_eq!(rows.requests.iter().map(|request| request.bytes).collect::<Vec<_>>(), [176, 176]);
    assert_eq!(requests(&rows), [(6, vec![0, 1]), (6, vec![2, 3])]);
    let mut large = small(Strategy::Sticky44);
    large.settings.max_request_size = 110;
    let rows = run(large, &records)?;
    assert_eq!(requests(&rows), [(6, vec![0]), (6, vec![1]), (6, vec![2]), (6, vec![3])]);
    Ok(())
}

#[test]
fn draining_goes_on_with_the_last_partition_that_was_looked_at() -> Result<()> {
    let drained = |strategy| {
        let mut three = Scenario { strategy, ..scenario() };
        three.settings.max_request_size = 190;
        three.settings.max_in_flight = 1;
        three.partitions = (0..3).map(|id| partition(id, 0)).collect();
        let later = [(1, 0), (1, 1), (1, 2), (7, 0), (7, 1), (7, 2)];
        run(three, &later.map(|(at, id)| record(at, Some(id), 20)))
    };
    // The first request has no room for partition 2. Since 3.3 the next request begins with it; Kafka 2.8 continues after
    // it.
    assert_eq!(requests(&drained(Strategy::Sticky44)?), [(6, vec![0, 1]), (16, vec![2]), (26, vec![3, 4])]);
    assert_eq!(
        requests(&drained(Strategy::RoundRobin28)?),
        [(6, vec![0, 1]), (16, vec![3, 4]), (26, vec![2])]
    );
    Ok(())
}

#[test]
fn a_broker_takes_so_many_requests_at_a_time() -> Result<()> {
    let requests = |max_in_flight| {
        let mut scenario = scenario();
        scenario.settings.max_in_flight = max_in_flight;
        let records: Vec<_> = (0..3).map(|number| record(2 * number, Some(0), 190)).collect();
        run(scenario, &records).map(|rows| requests(&rows))
    };
    assert_eq!(requests(3)?, [(2, vec![0]), (4, vec![1]), (9, vec![2])]);
    assert_eq!(requests(1)?, [(2, vec![0]), (12, vec![1]), (22, vec![2])]);
    Ok(())
}

#[test]
fn a_failed_batch_comes_back_first_and_waits() -> Result<()> {
    let failed = Scenario { failed_requests: vec![0], ..scenario() };
    let rows = run(failed, &[record(0, Some(0), 190), record(1, Some(0), 190), record(50, Some(0), 10)])?;
    // It was sent at 1, when it had no room, and came back at 11; neither it nor anything after it is sent before 111.
    assert_eq!(rows.batches[0].sends, [(0, 1), (2, 111)]);
    assert_eq!((rows.batches[0].partition, rows.batches[0].why), (0, Some(Why::NoRoom)));
    assert_eq!(rows.batches[0].acked_ms, Some(121));
    assert_eq!(rows.batches[1].sends, [(1, 6)]);
    assert_eq!(rows.batches[2].sends, [(3, 111)]);
    assert_eq!(
        rows.requests.iter().map(|request| request.is_ok).collect::<Vec<_>>(),
        [false, true, true, true]
    );
    Ok(())
}

#[test]
fn two_failed_batches_of_a_partition_change_places() -> Result<()> {
    let failed = Scenario { failed_requests: vec![0, 1], ..scenario() };
    let rows = run(failed, &[record(0, Some(0), 190), record(1, Some(0), 190)])?;
    assert_eq!(requests(&rows), [(1, vec![0]), (6, vec![1]), (116, vec![1]), (116, vec![0])]);
    Ok(())
}

#[test]
fn nothing_goes_to_a_broker_while_it_is_away() -> Result<()> {
    let mut away = scenario();
    away.brokers[0].away = vec![(5, 20), (20, 30), (40, 50)];
    let rows = run(away, &[record(0, Some(0), 10), record(35, Some(0), 10)])?;
    assert_eq!(requests(&rows), [(30, vec![0]), (50, vec![1])], "back at the end of the span, not after");
    Ok(())
}

#[test]
fn a_partition_without_a_leader_keeps_its_batches() -> Result<()> {
    let mut lost = scenario();
    lost.partitions[1].leader = None;
    let rows = run(lost, &[record(0, Some(1), 190), record(1, Some(1), 190)])?;
    assert_eq!(closed(&rows), [(1, 1, -1, ""), (1, 1, -1, "")]);
    assert_eq!((rows.batches[0].bytes, &rows.requests[..]), (61 + 199, &[][..]));
    Ok(())
}

#[test]
fn what_is_kept_does_not_grow_with_the_records() -> Result<()> {
    let mut scenario = scenario();
    scenario.partitions.push(Partition { id: 2, leader: None });
    let (mut simulation, mut summary) = (Simulation::new(scenario)?, BatchSummary::default());
    let mut most = [0; 2];
    for at in 0..4000_i32 {
        simulation.append(&record(at.into(), Some(at % 3), 10), &mut summary)?;
        let half = usize::from(at >= 2000);
        most[half] = format!("{simulation:?} {summary:?}").len().max(most[half]);
    }
    // Larger numbers have more digits.
    assert!(most[1] < most[0] + 100, "{most:?}");
    simulation.finish(&mut summary)?;
    assert_eq!((summary.records, summary.unsent), (4000, 1333));
    Ok(())
}

#[test]
fn the_sender_runs_after_an_append_only_where_it_is_told_to() -> Result<()> {
    let records = [record(0, Some(0), 190), record(0, Some(0), 190), record(0, Some(1), 10)];
    let rows = run(scenario(), &records)?;
    assert_eq!(requests(&rows), [(0, vec![0, 2]), (5, vec![1])]);
    let rows = run(Scenario { each_append: true, ..scenario() }, &records)?;
    assert_eq!(requests(&rows), [(0, vec![0]), (5, vec![2, 1])], "the last partition looked at comes first");
    Ok(())
}

/// Partitions of three brokers that are all away, with queues of one, seven and two batches, and where keyless records go then.
fn switched(mut scenario: Scenario, draws: &[i32]) -> Result<Vec<i32>> {
    scenario.brokers = (0..3).map(|id| Broker { away: vec![(0, 1000)], ..broker(id) }).collect();
    scenario.partitions = (0..3).map(|id| partition(id, id)).collect();
    scenario.draws = Draws::recorded(draws.to_vec());
    let queues = [(0, 1), (1, 7), (2, 2)];
    let filled = queues.into_iter().flat_map(|(id, size)| vec![record(10, Some(id), 190); size]);
    let keyless = vec![record(20, None, 500); draws.len() - 1];
    let rows = run(scenario, &filled.chain(keyless).collect::<Vec<_>>())?;
    Ok(rows.switches.iter().map(|switch| switch.to).collect())
}

#[test]
fn the_longer_its_queue_the_less_often_a_partition_is_drawn() -> Result<()> {
    // By 8 - 1, 8 - 7 and 8 - 2: 0 up to 6, 1 for 7, and 2 for 8 to 13.
    let draws = [0, 0, 6, 7, 8, 13, 14];
    assert_eq!(switched(scenario(), &draws)?, [0, 0, 1, 2, 2, 0]);
    let mut plain = scenario();
    plain.settings.adaptive = false;
    assert_eq!(switched(plain, &draws)?, [0, 0, 1, 2, 1, 2], "modulo three");
    Ok(())
}

#[test]
fn a_broker_that_refuses_for_too_long_is_left_out_and_its_place_keeps_its_length() -> Result<()> {
    let mut left_out = scenario();
    left_out.settings.availability_timeout_ms = 50;
    left_out.brokers = vec![Broker { away: vec![(0, 1000)], ..broker(0) }, broker(1)];
    left_out.partitions = vec![partition(0, 0), partition(1, 1), partition(2, 1)];
    // Partition 0 has refused since 10; at 100 partition 1 is empty, and 2 has one batch that lingers.
    let mut records = vec![record(10, Some(0), 190), record(10, Some(0), 190), record(10, Some(0), 190)];
    records.extend([
        record(10, Some(1), 10),
        record(90, Some(2), 10),
        record(98, Some(2), 10),
        record(100, Some(2), 10),
    ]);
    records.extend(vec![record(101, None, 500); 4]);
    // With partition 1 as long as 0 was, 3, and 2 with 1: 1 stands for one number and 2 for three.
    let drawn = |draws: Vec<i32>| -> Result<Vec<i32>> {
        let rows = run(Scenario { draws: Draws::recorded(draws), ..left_out.clone() }, &records)?;
        Ok(rows.switches.iter().map(|switch| switch.to).collect())
    };
    assert_eq!(drawn(vec![0, 0, 1, 3, 4])?, [1, 2, 2, 1]);
    Ok(())
}

/// Where a keyless record at 80 goes that draws 0; partition 0 is alone on its broker, and 1 and 2 are on another.
fn drawn_at_80(change: impl FnOnce(&mut Scenario), records: &[Record]) -> Result<i32> {
    let mut two = scenario();
    two.settings.linger_ms = 1000;
    two.settings.availability_timeout_ms = 50;
    two.brokers = vec![broker(0), broker(1)];
    two.partitions = vec![partition(0, 0), partition(1, 1), partition(2, 1)];
    change(&mut two);
    // Partition 2 is met and drained at 10; 1 has a batch since 11, and 2 another since 79, when the queues are looked at.
    let mut all = [50, 50, 18].map(|size| record(10, Some(2), size)).to_vec();
    all.push(record(11, Some(1), 10));
    all.extend_from_slice(records);
    all.extend([record(79, Some(2), 10), record(80, None, 10)]);
    all.sort_by_key(|record| record.at);
    Ok(run(two, &all)?.placed.last().map_or(-1, |&(partition, ..)| partition))
}

#[test]
fn a_broker_goes_on_refusing_at_instants_at_which_nothing_else_happens() -> Result<()> {
    let away = |two: &mut Scenario| two.brokers[0].away = vec![(0, 1000)];
    let refused = [record(10, Some(0), 190), record(10, Some(0), 190)];
    let appended = |at| [&refused[..], &[record(at, Some(1), 10)]].concat();
    assert_eq!(drawn_at_80(away, &appended(60))?, 0, "since 10, and last asked at 60: no longer than 50 ms");
    assert_eq!(drawn_at_80(away, &appended(61))?, 1, "51 ms");
    Ok(())
}

#[test]
fn a_partition_that_waits_for_its_answer_asks_for_nothing() -> Result<()> {
    let slow = |most| {
        move |two: &mut Scenario| {
            two.settings.max_in_flight = most;
            two.brokers[0].latency = Latency::Constant(1000);
        }
    };
    let records: Vec<_> = [10, 10, 20, 75].map(|at| record(at, Some(0), 190)).to_vec();
    assert_eq!(
        drawn_at_80(slow(1), &records)?,
        0,
        "muted, so that its broker is not ready, and refuses nothing"
    );
    assert_eq!(drawn_at_80(slow(2), &records)?, 1, "refused since 20, and asked at 75");
    Ok(())
}

#[test]
fn each_request_has_a_latency_of_its_own_and_is_answered_after_those_before_it() -> Result<()> {
    let mut two = scenario();
    two.brokers = vec![
        Broker { latency: Latency::Uniform { from: 1, to: 100 }, ..broker(0) },
        Broker { latency: Latency::Uniform { from: 1, to: 100 }, ..broker(1) },
    ];
    two.partitions = vec![partition(0, 0), partition(1, 1)];
    let answers = |records: &[Record]| {
        let of = |rows: &Rows, node| {
            let of_node = rows.requests.iter().filter(|request| request.node == node);
            of_node.map(|request| (request.sent_ms, request.done_ms)).collect::<Vec<_>>()
        };
        run(two.clone(), records).map(|rows| [0, 1].map(|node| of(&rows, node)))
    };
    // Each is a batch of its own, and leaves at once.
    let records: Vec<_> = (0..40).map(|number| record(number * 10, Some(0), 190)).collect();
    let [alone, _] = answers(&records)?;
    let waits: Vec<_> = alone.iter().map(|(from, to)| to - from).collect();
    assert_eq!(waits.len(), 40);
    assert!(waits.iter().min() < waits.iter().max());
    assert!(alone.is_sorted_by_key(|&(_, done)| done), "a broker answers in the order of its requests");
    let both: Vec<_> =
        records.iter().flat_map(|record| [*record, Record { partition: Some(1), ..*record }]).collect();
    let [first, second] = answers(&both)?;
    assert_eq!(first, alone, "another broker's requests change nothing");
    assert_ne!(second, alone);
    Ok(())
}

#[test]
fn a_strategy_of_kafka_2_8_is_asked_again_before_a_batch_begins() -> Result<()> {
    let mut three = Scenario { strategy: Strategy::RoundRobin28, ..scenario() };
    three.settings.batch_size = 16_384;
    three.partitions = (0..3).map(|id| partition(id, 0)).collect();
    let rows = run(three.clone(), &vec![record(0, None, 100); 9])?;
    assert_eq!(closed(&rows), [(1, 5, 5, "linger"), (0, 4, 5, "linger")], "it counts twice (KAFKA-9965)");
    three.strategy = Strategy::RoundRobin;
    let rows = run(three.clone(), &vec![record(0, None, 100); 9])?;
    assert_eq!(closed(&rows), [(0, 3, 5, "linger"), (1, 3, 5, "linger"), (2, 3, 5, "linger")]);
    (three.strategy, three.draws) = (Strategy::Sticky24, Draws::seeded(7));
    let rows = run(three, &vec![record(0, None, 100); 9])?;
    assert_eq!(closed(&rows).len(), 1);
    Ok(())
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let refused = |change: fn(&mut Scenario)| {
        let mut scenario = scenario();
        change(&mut scenario);
        Simulation::new(scenario).err().map_or_else(String::new, |error| error.to_string())
    };
    assert_eq!(refused(|_| ()), "");
    assert!(refused(|scenario| scenario.partitions.clear()).contains("no partitions"));
    assert!(
        refused(|scenario| scenario.partitions[1].leader = Some(7))
            .contains("partition 1 is led by the broker 7")
    );
    assert!(refused(|scenario| scenario.brokers.push(broker(0))).contains("the broker 0 is there twice"));
    assert!(refused(|scenario| scenario.brokers[0].away = vec![(5, 4)]).contains("away from 5 to 4"));
    assert!(refused(|scenario| scenario.brokers[0].latency = Latency::Constant(-1)).contains("not after -1"));
    assert!(refused(|scenario| scenario.settings.max_in_flight = 0).contains("at least 1, not 0"));
    assert!(refused(|scenario| scenario.settings.rack_aware = true).contains("client.rack must be set"));
    assert!(refused(|scenario| scenario.strategy = Strategy::OldNullKey).contains("old-null-key"));
}

#[test]
fn a_record_that_kafka_refuses_is_refused() {
    let refused = |records: &[Record]| match run(scenario(), records) {
        Err(Error::Producer(reason)) => reason,
        other => format!("{other:?}"),
    };
    assert!(refused(&[record(5, None, 1), record(4, None, 1)]).contains("runs backwards, from 5 to 4"));
    assert!(refused(&[record(-1, None, 1)]).contains("not -1"));
    assert!(refused(&[record(5, Some(2), 1)]).contains("names partition 2"));
    // 1,048,576 less 61, 21, 1 for the null key, 3 for the length and 1 for no headers.
    assert!(refused(&[record(5, Some(0), 1_048_490)]).contains("is 1048577 bytes when serialized"));
    assert!(run(scenario(), &[record(5, Some(0), 1_048_489)]).is_ok());
    assert!(refused(&vec![record(5, None, 500); 21]).contains("20 draws are taken"));
}

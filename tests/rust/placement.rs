//! Replicas are where Kafka's own placers put them, and every question has an answer or a refusal.

use std::error::Error as StdError;

use partwright_core::Error;
use partwright_core::placement::PlacementDraws;
use partwright_core::placement::kraft::{KraftBroker, striped};
use partwright_core::placement::zookeeper::{Start, rack_alternated, rack_aware, rack_unaware};
use proptest::prelude::*;
use proptest::sample::select;
use serde::Deserialize;

type Outcome = Result<(), Box<dyn StdError>>;

#[derive(Deserialize)]
struct Case {
    question: Question,
    answer: Answer,
}

#[derive(Deserialize)]
struct Question {
    brokers: Vec<GivenBroker>,
    partitions: i64,
    replication_factor: usize,
    seed: Option<i64>,
    start_index: Option<usize>,
    start_partition: Option<i64>,
}

/// The id, the rack, and with `KRaft` whether it is fenced.
#[derive(Deserialize)]
#[serde(untagged)]
enum GivenBroker {
    Known(i32, Option<String>, bool),
    Old(i32, Option<String>),
}

#[derive(Deserialize)]
struct Answer {
    replicas: Option<Vec<Vec<i32>>>,
    draws: Option<Vec<i32>>,
    start_index: Option<usize>,
    shift: Option<usize>,
}

fn golden(name: &str) -> Result<Vec<Case>, Box<dyn StdError>> {
    let path = format!("{}/../../tests/golden/placement/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path)?;
    text.lines().skip(1).map(|line| Ok(serde_json::from_str(line)?)).collect()
}

#[test]
fn stripes_are_those_of_krafts_placer() -> Outcome {
    let (mut placed, mut refused) = (0, 0);
    for Case { question, answer } in golden("striped")? {
        let brokers: Vec<KraftBroker<'_>> = question
            .brokers
            .iter()
            .map(|given| match given {
                GivenBroker::Known(id, rack, fenced) => {
                    KraftBroker { id: *id, rack: rack.as_deref(), fenced: *fenced }
                }
                GivenBroker::Old(id, rack) => KraftBroker { id: *id, rack: rack.as_deref(), fenced: false },
            })
            .collect();
        let partitions = usize::try_from(question.partitions)?;
        let mut draws = PlacementDraws::seeded(question.seed.unwrap_or_default());
        let found = striped(&brokers, partitions, question.replication_factor, &mut draws);
        let Some(replicas) = answer.replicas else {
            assert!(matches!(found, Err(Error::Placement(_))), "{found:?}");
            refused += 1;
            continue;
        };
        assert_eq!(found, Ok(replicas.concat()));
        let taken = draws.into_taken();
        assert_eq!(Some(&taken), answer.draws.as_ref());
        let mut recorded = PlacementDraws::recorded(taken.clone());
        assert_eq!(striped(&brokers, partitions, question.replication_factor, &mut recorded), found);
        // If there is one draw too few, it is missed.
        let mut short = PlacementDraws::recorded(taken[..taken.len() - 1].to_vec());
        let missed = striped(&brokers, partitions, question.replication_factor, &mut short);
        assert!(matches!(missed, Err(Error::Draw { place, .. }) if place == taken.len() - 1), "{missed:?}");
        placed += 1;
    }
    assert!(placed > 80 && refused > 0, "{placed} placed, {refused} refused");
    Ok(())
}

#[test]
fn replicas_under_zookeeper_are_those_of_admin_utils() -> Outcome {
    let (mut aware, mut unaware) = (0, 0);
    for Case { question, answer } in golden("admin-utils")? {
        let Some(replicas) = answer.replicas else { continue };
        let brokers: Vec<(i32, Option<&str>)> = question
            .brokers
            .iter()
            .map(|given| match given {
                GivenBroker::Known(id, rack, _) | GivenBroker::Old(id, rack) => (*id, rack.as_deref()),
            })
            .collect();
        let index = question.start_index.or(answer.start_index).unwrap_or_default();
        let start = Start {
            index,
            shift: if question.start_index.is_some() { index } else { answer.shift.unwrap_or(index) },
            partition: usize::try_from(question.start_partition.unwrap_or_default().max(0))?,
        };
        let (partitions, each) = (usize::try_from(question.partitions)?, question.replication_factor);
        let racks: Option<Vec<_>> = brokers.iter().map(|&(id, rack)| Some((id, rack?))).collect();
        let found = if let Some(brokers) = racks {
            aware += 1;
            rack_aware(&brokers, partitions, each, start)
        } else {
            unaware += 1;
            let mut ids: Vec<i32> = brokers.iter().map(|&(id, _)| id).collect();
            ids.sort_unstable();
            rack_unaware(&ids, partitions, each, start)
        };
        assert_eq!(found, Ok(replicas.concat()));
    }
    assert!(aware > 10 && unaware > 10, "{aware} with racks, {unaware} without");
    Ok(())
}

#[test]
fn what_no_broker_can_have_is_refused() {
    let alone = [KraftBroker { id: 7, rack: None, fenced: false }];
    let start = Start::default();
    for replicas in [0, 2] {
        let refused = striped(&alone, 1, replicas, &mut PlacementDraws::seeded(0));
        assert!(matches!(refused, Err(Error::Placement(_))), "{refused:?}");
        assert!(matches!(rack_unaware(&[7], 1, replicas, start), Err(Error::Placement(_))));
        assert!(matches!(rack_aware(&[(7, "a")], 1, replicas, start), Err(Error::Placement(_))));
    }
    assert!(matches!(rack_unaware(&[], 1, 1, start), Err(Error::Placement(_))));
    assert_eq!(striped(&alone, 3, 1, &mut PlacementDraws::recorded(vec![0, 0])), Ok(vec![7; 3]));
    let beyond = striped(&alone, 3, 1, &mut PlacementDraws::recorded(vec![0, 1]));
    assert_eq!(beyond, Err(Error::Draw { place: 1, bound: 1 }));
    let negative = striped(&alone, 3, 1, &mut PlacementDraws::recorded(vec![-1]));
    assert_eq!(negative, Err(Error::Draw { place: 0, bound: 1 }));
    let much = rack_unaware(&[0, 1], usize::MAX, 2, start);
    assert_eq!(much, Err(Error::Memory { rows: usize::MAX }));
}

/// Brokers in few or many racks, uneven ones; ids from 0 on in any order, one at least alive.
fn brokers() -> impl Strategy<Value = Vec<(i32, &'static str, bool)>> {
    let rack = select(vec!["a", "a", "b", "", "\u{0}", "Aa", "BB", "\u{1f600}", "\u{ff5e}"]);
    prop::collection::vec((rack, prop::bool::weighted(0.3)), 1..14)
        .prop_map(|given| (0..).zip(given).map(|(id, (rack, fenced))| (id, rack, fenced)).collect::<Vec<_>>())
        .prop_shuffle()
        .prop_map(|mut given| {
            given[0].2 = false;
            given
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn each_partition_has_its_replicas_in_as_many_racks_as_it_can(
        brokers in brokers(),
        partitions in 1..60_usize,
        replicas in 1..14_usize,
        (index, shift, partition) in (0..14_usize, 0..14_usize, select(vec![0, 1, 5, 1 << 30])),
        seed in any::<i64>(),
    ) {
        let (count, replicas) = (brokers.len(), replicas.min(brokers.len()));
        let start = Start { index: index % count, shift: shift % count, partition };
        let named: Vec<_> = brokers.iter().map(|&(id, rack, _)| (id, rack)).collect();
        let mut racks: Vec<_> = named.iter().map(|&(_, rack)| rack).collect();
        racks.sort_unstable();
        racks.dedup();
        let mut alternated = rack_alternated(&named);
        let placed = rack_aware(&named, partitions, replicas, start)?;
        prop_assert_eq!(placed.len(), partitions * replicas);
        for (row, number) in placed.chunks(replicas).zip(partition..) {
            prop_assert_eq!(row[0], alternated[(number + start.index) % count]);
            let mut used: Vec<_> = row.iter().map(|&id| named.iter().find(|known| known.0 == id)).collect();
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(used.len(), replicas, "a broker has two replicas: {:?}", row);
            let mut in_racks: Vec<_> = used.into_iter().flatten().map(|&(_, rack)| rack).collect();
            in_racks.sort_unstable();
            in_racks.dedup();
            prop_assert_eq!(in_racks.len(), replicas.min(racks.len()));
        }
        alternated.sort_unstable();
        prop_assert_eq!(alternated, (0..).take(count).collect::<Vec<i32>>());

        let known: Vec<_> =
            brokers.iter().map(|&(id, rack, fenced)| KraftBroker { id, rack: Some(rack), fenced }).collect();
        let placed = striped(&known, partitions, replicas, &mut PlacementDraws::seeded(seed))?;
        prop_assert_eq!(placed.len(), partitions * replicas);
        for row in placed.chunks(replicas) {
            prop_assert!(known.iter().any(|broker| broker.id == row[0] && !broker.fenced));
            let mut used = row.to_vec();
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(used.len(), replicas, "a broker has two replicas: {:?}", row);
        }
    }
}

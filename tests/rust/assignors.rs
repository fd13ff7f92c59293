//! The assignors' golden files through the core: the answers of Kafka's own assignors, list for list.

mod client_assignors;
mod golden_groups;

use std::collections::BTreeMap;
use std::error::Error;

use golden_groups::{Case, assigned};
use partwright_core::java::uuid::{TopicId, walk_ids};
use partwright_core::java::{hash_map, strings, topic_partition};
use serde::Deserialize;

type Outcome = Result<(), Box<dyn Error>>;

const GROUPS: [(&str, usize); 5] = [
    (include_str!("../golden/assignors/client.jsonl"), 4),
    (include_str!("../golden/assignors/client-2.8.jsonl"), 2),
    (include_str!("../golden/assignors/client-2.3.jsonl"), 1),
    (include_str!("../golden/assignors/old.jsonl"), 2),
    (include_str!("../golden/assignors/server.jsonl"), 3),
];
const ORDERS: &str = include_str!("../golden/assignors/java_order.json");
const METADATA_ORDERS: [&str; 2] = [
    include_str!("../golden/strategies/metadata_order.json"),
    include_str!("../golden/strategies/metadata_order-2.8.json"),
];
const PARTITION_ORDERS: &str = include_str!("../golden/assignors/java_partition_order.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    name: String,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    ids: Vec<String>,
    hashes: Vec<i32>,
    walk: Vec<u32>,
    sorted: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartitionOrder {
    name: String,
    partitions: Vec<(String, i32)>,
    hashes: Vec<i32>,
    walk: Vec<u32>,
}

/// One of the cases; the first line has the provenance.
#[derive(Deserialize)]
#[serde(untagged)]
enum MetadataOrder {
    Case { rounds: Vec<Vec<(String, i32)>>, order: BTreeMap<String, Vec<i32>> },
    Provenance { program: String },
}

#[test]
fn kafka_assigns_the_same() -> Outcome {
    for (groups, assignors) in GROUPS {
        let mut looked_at = BTreeMap::new();
        for (line, text) in groups.lines().enumerate().skip(1) {
            let case: Case = serde_json::from_str(text)?;
            *looked_at.entry(case.assignor.clone()).or_insert(0) += 1;
            match (assigned(&case, 0), &case.error) {
                (Ok((lists, _)), None) => assert_eq!(Some(lists), case.assignment, "line {line}: {text}"),
                (Err(refused), Some(exception)) => {
                    assert!(
                        refused.to_string().contains(exception),
                        "line {line}: {refused}, not {exception}"
                    );
                }
                (answer, _) => panic!("line {line}: {answer:?}, but Kafka says {:?}: {text}", case.error),
            }
            for (name, text) in &case.made_ids {
                assert_eq!(&TopicId::of_name(name).to_string(), text, "{name}");
            }
            for text in case.topic_ids.values() {
                assert_eq!(&text.parse::<TopicId>()?.to_string(), text);
            }
        }
        assert_eq!(looked_at.len(), assignors);
        assert!(looked_at.values().all(|&cases| cases > 60), "{looked_at:?}");
    }
    Ok(())
}

#[test]
fn an_id_that_kafka_does_not_write_is_refused() {
    for text in [
        "",
        "t",
        "qqLWNgD3cE5N4Q9mk2oxj",
        "qqLWNgD3cE5N4Q9mk2oxjQ=",
        "qqLWNgD3cE5N4Q9mk2oxj+",
        "qqLWNgD3cE5N4Q9mk2oxj\u{e9}",
    ] {
        let refused = text.parse::<TopicId>().expect_err(text);
        assert!(refused.to_string().contains("is not a topic id"), "{refused}");
    }
}

#[test]
fn java_walks_and_sorts_ids_in_these_orders() -> Outcome {
    let orders: Vec<Order> = serde_json::from_str(ORDERS)?;
    let orders: Vec<Order> = orders.into_iter().filter(|order| order.name.starts_with("ids/")).collect();
    assert!(orders.len() > 25);
    for Order { name, ids, hashes, walk, sorted, .. } in orders {
        let ids: Vec<TopicId> = ids.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        let found: Vec<i32> = ids.iter().map(|id| id.hash_code()).collect();
        assert_eq!(found, hashes, "{name}");
        let inserted: Vec<u32> = (0..).take(ids.len()).collect();
        assert_eq!(walk_ids(&ids, &inserted), walk, "{name}");
        let mut found = inserted;
        found.sort_by_key(|&place| ids[place as usize]);
        assert_eq!(found, sorted, "{name}");
    }
    Ok(())
}

#[test]
fn java_walks_and_sorts_in_these_orders() -> Outcome {
    let orders: Vec<Order> = serde_json::from_str(ORDERS)?;
    let orders: Vec<Order> = orders.into_iter().filter(|order| !order.name.starts_with("ids/")).collect();
    assert!(orders.len() > 70);
    for Order { name, names, hashes, walk, sorted, .. } in orders {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let found: Vec<i32> = names.iter().map(|name| strings::hash_code(name)).collect();
        assert_eq!(found, hashes, "{name}");
        let mut found: Vec<u32> = (0..).take(names.len()).collect();
        found.sort_by(|&one, &other| strings::compare(names[one as usize], names[other as usize]));
        assert_eq!(found, sorted, "{name}");
        assert_eq!(walked(&hashes, &sorted), walk, "{name}");
    }
    Ok(())
}

/// The walk of keys that are inserted in their order; `sorted` says how they compare.
fn walked(hashes: &[i32], sorted: &[u32]) -> Vec<u32> {
    let hashes: Vec<_> = sorted.iter().map(|&place| hashes[place as usize]).collect();
    let mut numbers: Vec<(u32, u32)> = sorted.iter().copied().zip(0..).collect();
    numbers.sort_unstable();
    let inserted: Vec<_> = numbers.into_iter().map(|(_, number)| number).collect();
    hash_map::walk(&hashes, &inserted).into_iter().map(|number| sorted[number as usize]).collect()
}

#[test]
fn java_walks_partitions_in_these_orders() -> Outcome {
    let orders: Vec<PartitionOrder> = serde_json::from_str(PARTITION_ORDERS)?;
    assert!(orders.len() > 15);
    for PartitionOrder { name, partitions, hashes, walk } in orders {
        let hash = |(topic, number): &(String, i32)| {
            topic_partition::partition_hash(strings::hash_code(topic), *number)
        };
        assert_eq!(partitions.iter().map(hash).collect::<Vec<_>>(), hashes, "{name}");
        let inserted: Vec<u32> = (0..).take(hashes.len()).collect();
        assert_eq!(hash_map::walk(&hashes, &inserted), walk, "{name}");
    }
    Ok(())
}

#[test]
fn a_clients_metadata_has_partitions_in_these_orders() -> Outcome {
    for orders in METADATA_ORDERS {
        let mut programs = Vec::new();
        let mut cases = 0;
        for line in serde_json::from_str::<Vec<MetadataOrder>>(orders)? {
            let (rounds, order) = match line {
                MetadataOrder::Case { rounds, order } => (rounds.concat(), order),
                MetadataOrder::Provenance { program } => {
                    programs.push(program);
                    continue;
                }
            };
            let ids: Vec<Vec<i32>> = rounds.iter().map(|&(_, count)| (0..count).collect()).collect();
            let topics: Vec<_> =
                rounds.iter().zip(&ids).map(|((name, _), ids)| (name.as_str(), ids.as_slice())).collect();
            let wanted: Vec<_> = rounds.iter().map(|(name, _)| order[name].clone()).collect();
            assert_eq!(topic_partition::walk_partitions(&topics), wanted, "{rounds:?}");
            cases += 1;
        }
        assert_eq!(programs.len(), 1);
        assert!(cases > 90);
    }
    Ok(())
}

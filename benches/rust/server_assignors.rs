//! The broker's assignors on a large group, given in the core what Java's are given: the group behind the door.

use criterion::{Criterion, criterion_group, criterion_main};
use partwright_core::assignors::server::{self, Group, Kind};
use partwright_core::assignors::{Assignment, Given, Lists, TopicId};

const MEMBERS: usize = 10_000;
const TOPICS: usize = 1_000;
const PARTITIONS: u32 = 500;

/// Which topics each member subscribes to.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Equal,
    /// The first member lacks one topic.
    OneOdd,
    /// A fifth of the members has a fifth of the topics, the next two, and so on.
    Buckets,
}

struct Names {
    topics: Vec<String>,
    members: Vec<String>,
}

fn given<'a>(names: &'a Names, shape: Shape, before: Option<&Assignment>) -> Given<'a> {
    let members = if before.is_some() { MEMBERS + 1 } else { MEMBERS };
    let mut given = Given {
        topics: names.topics.iter().map(String::as_str).collect(),
        partitions: vec![PARTITIONS; TOPICS],
        missing: vec![false; TOPICS],
        topic_ids: names.topics.iter().map(|name| TopicId::of_name(name)).collect(),
        members: names.members[..members].iter().map(String::as_str).collect(),
        instance_ids: vec![None; members],
        ..Given::default()
    };
    for member in 0..members {
        let topics = match shape {
            Shape::OneOdd if member == 0 => 1..TOPICS,
            Shape::Buckets if member < MEMBERS => 0..TOPICS * (member % 5 + 1) / 5,
            _ => 0..TOPICS,
        };
        given.subscribed.values.extend(topics.map(|topic| u32::try_from(topic).unwrap_or(0)));
        given.subscribed.end();
    }
    given.owned = match before {
        Some(before) => {
            let pairs = before.topics.iter().copied().zip(before.partitions.iter().copied());
            let mut offsets = before.offsets.clone();
            offsets.push(before.topics.len());
            Lists { offsets, values: pairs.collect() }
        }
        None => Lists { offsets: vec![0; members + 1], values: Vec::new() },
    };
    given
}

fn server_assignors(criterion: &mut Criterion) {
    let names = Names {
        topics: (0..TOPICS).map(|number| format!("topic-{number}")).collect(),
        members: (0..=MEMBERS).map(|number| format!("member-{number}")).collect(),
    };
    let mut bench = criterion.benchmark_group("server assignors");
    bench.sample_size(10);
    for shape in [Shape::Equal, Shape::OneOdd, Shape::Buckets] {
        for kind in [Kind::Uniform, Kind::Range, Kind::Simple] {
            for joins in [false, true] {
                let event = if joins { "one joins" } else { "fresh" };
                bench.bench_function(format!("{shape:?}, {event}, {}", kind.name()), |bencher| {
                    let Ok(mut group) = Group::new(&given(&names, shape, None)) else { return };
                    if joins {
                        let Ok(before) = server::assign(kind, &group) else { return };
                        let Ok(grown) = Group::new(&given(&names, shape, Some(&before))) else { return };
                        group = grown;
                    }
                    bencher.iter(|| server::assign(kind, &group));
                });
            }
        }
    }
    bench.finish();
}

criterion_group!(benches, server_assignors);
criterion_main!(benches);

//! Runs one case for callgrind to count: `instructions CASE` makes its input, then does its work once in [`counted`].
//!
//! Without a case it lists them. tools/instructions.py runs it. Inputs are the same each time, so counts are too.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, FixedSizeBinaryArray, Int32Array, Int64Array, LargeStringArray,
    StringArray, StringViewArray, StructArray,
};
use partwright_core::assignors::server::{self, Kind};
use partwright_core::assignors::{Assignment, Assignor, Input, Lists};
use partwright_core::batching::{self, BatchSummary, Broker, Latency, Scenario, Simulation};
use partwright_core::columnar;
use partwright_core::group::classic;
use partwright_core::group::play::{self, Action, Consumer, MemberAction, Protocol, Race, Reader, Script};
use partwright_core::hashing::{self, Client, KeyType, Partitions};
use partwright_core::java::uuid::TopicId;
use partwright_core::producer::{Draws, Partition, Producer, Settings, Strategy, Topic};
use serde_json::json;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const ROWS: u64 = 50_000;
/// This many rows go before the counted ones, so that one-time look-ups in a process are not counted.
const FIRST: usize = 1_000;
const VALUES: u64 = 4_043;

/// The shortest and the longest key, and how many of a thousand are null.
type Lengths = (u64, u64, u64);

#[derive(Clone, Copy)]
enum Layout {
    Utf8,
    LargeUtf8,
    Utf8View,
    Fixed,
    Dictionary,
    Long,
}

#[derive(Clone, Copy)]
enum Function {
    /// Partitions under the rule of a client.
    Partition(&'static str),
    Murmur2,
    /// The function of one key, over keys that lie apart.
    Scalar,
}

#[derive(Clone, Copy)]
enum Before {
    Nothing,
    /// Members own what they got when there was one more of them.
    OneLeaves,
}

#[derive(Clone, Copy)]
enum Case {
    Keys(Function, Layout, Lengths),
    /// An assignor, the group and its history. `true` if members subscribe to random halves of the topics.
    Client(Assignor, Size, bool, Before),
    /// `true` if the first member lacks a topic.
    Server(Kind, Size, bool),
    /// Records without a key, whose values have 50 to 149 bytes, by a strategy over 12 partitions.
    Records(Strategy),
    /// The same records with their batches; this many partitions of one broker, and this many records per millisecond.
    Batches(Strategy, i32, u64),
    /// A group's life: all members join, and then one after the other leaves and comes back, each with a rebalance.
    Play(Assignor, Size),
}

/// Topics, partitions of each, members.
type Size = (usize, u32, usize);

const MANY: Size = (500, 2_000, 2_000);
const HALVES: Size = (100, 200, 500);
const BROKER: Size = (1_000, 500, 10_000);
const LARGE_GROUP: Size = (10, 200, 2_000);
const MANY_TOPICS: Size = (1_000, 1, 500);
/// The number of rebalances of a play after the first one.
const REBALANCES: u64 = 10;

const CASES: [(&str, Case); 34] = {
    use Function::{Murmur2, Partition, Scalar};
    use Layout::{Dictionary, Fixed, LargeUtf8, Long, Utf8, Utf8View};
    const JAVA: Function = Partition("java");
    const TWELVE: Lengths = (12, 12, 0);
    const LONGER: Lengths = (36, 36, 0);
    [
        ("partition: utf8, 12 bytes", Case::Keys(JAVA, Utf8, TWELVE)),
        ("partition: utf8, 36 bytes", Case::Keys(JAVA, Utf8, LONGER)),
        ("partition: utf8, 7 to 20 bytes", Case::Keys(JAVA, Utf8, (7, 20, 0))),
        ("partition: utf8, 4 to 64 bytes, 2 % nulls", Case::Keys(JAVA, Utf8, (4, 64, 20))),
        ("partition: large_utf8, 12 bytes", Case::Keys(JAVA, LargeUtf8, TWELVE)),
        ("partition: utf8_view, 12 bytes", Case::Keys(JAVA, Utf8View, TWELVE)),
        ("partition: utf8_view, 36 bytes", Case::Keys(JAVA, Utf8View, LONGER)),
        ("partition: fixed, 12 bytes", Case::Keys(JAVA, Fixed, TWELVE)),
        ("partition: dictionary, 6 bytes", Case::Keys(JAVA, Dictionary, (6, 6, 0))),
        ("partition: java:long", Case::Keys(JAVA, Long, (8, 8, 0))),
        ("partition: librdkafka, 12 bytes", Case::Keys(Partition("librdkafka"), Utf8, TWELVE)),
        ("partition: sarama, 12 bytes", Case::Keys(Partition("sarama"), Utf8, TWELVE)),
        ("partition: one key a call, 12 bytes", Case::Keys(Scalar, Utf8, TWELVE)),
        ("murmur2: utf8, 12 bytes", Case::Keys(Murmur2, Utf8, TWELVE)),
        ("range", Case::Client(Assignor::Range, MANY, false, Before::Nothing)),
        ("roundrobin", Case::Client(Assignor::RoundRobin, MANY, false, Before::Nothing)),
        ("sticky", Case::Client(Assignor::Sticky, MANY, false, Before::Nothing)),
        ("sticky: one leaves", Case::Client(Assignor::Sticky, MANY, false, Before::OneLeaves)),
        (
            "cooperative-sticky: one leaves",
            Case::Client(Assignor::CooperativeSticky, MANY, false, Before::OneLeaves),
        ),
        ("sticky: random halves", Case::Client(Assignor::Sticky, HALVES, true, Before::Nothing)),
        ("server-uniform", Case::Server(Kind::Uniform, BROKER, false)),
        ("server-uniform: unequal", Case::Server(Kind::Uniform, BROKER, true)),
        ("server-range", Case::Server(Kind::Range, BROKER, false)),
        ("records: sticky", Case::Records(Strategy::Sticky44)),
        ("records: sticky@2.4", Case::Records(Strategy::Sticky24)),
        ("records: round-robin", Case::Records(Strategy::RoundRobin)),
        ("records: round-robin@2.8", Case::Records(Strategy::RoundRobin28)),
        ("batches: sticky", Case::Batches(Strategy::Sticky44, 12, 100)),
        ("batches: sticky@2.4", Case::Batches(Strategy::Sticky24, 12, 100)),
        ("batches: sticky, a record a ms over 200", Case::Batches(Strategy::Sticky44, 200, 1)),
        ("batches: round-robin, a record a ms over 200", Case::Batches(Strategy::RoundRobin, 200, 1)),
        ("play: eager, 2,000 members", Case::Play(Assignor::Range, LARGE_GROUP)),
        ("play: eager, 1,000 topics", Case::Play(Assignor::Range, MANY_TOPICS)),
        ("play: cooperative, 1,000 topics", Case::Play(Assignor::CooperativeSticky, MANY_TOPICS)),
    ]
};
#[expect(clippy::print_stdout, reason = "it is what tools/instructions.py reads")]
fn main() -> Outcome {
    let asked = std::env::args().nth(1);
    let Some((name, case)) = CASES.iter().find(|(name, _)| asked.as_deref() == Some(name)) else {
        println!("{}", json!(CASES.map(|(name, _)| name).to_vec()));
        return Ok(());
    };
    let (unit, count, sum) = match *case {
        Case::Keys(function, layout, lengths) => ("row", ROWS, hash(function, layout, lengths)),
        Case::Client(assignor, size, halves, before) => {
            ("partition", partitions(size), client(assignor, size, halves, before))
        }
        Case::Server(kind, size, odd) => ("partition", partitions(size), broker(kind, size, odd)),
        Case::Records(strategy) => ("row", ROWS, records(strategy)),
        Case::Batches(strategy, partitions, in_a_ms) => ("row", ROWS, batches(strategy, partitions, in_a_ms)),
        Case::Play(assignor, size) => ("member", size.2 as u64 * (1 + REBALANCES), life(assignor, size)),
    };
    let sum = sum.map_err(|error| format!("{name}: {error}"))?;
    println!("{}", json!({"unit": unit, "count": count, "sum": sum, "features": features()}));
    Ok(())
}

/// The part that callgrind counts: never inlined, called once, and not left by a jump, so that it begins and ends here.
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
    black_box(());
}

/// The processor features by which kernels choose, if this machine, or its emulator, has them.
fn features() -> Vec<&'static str> {
    let mut found = Vec::new();
    #[cfg(target_arch = "x86_64")]
    for (name, is_there) in [
        ("sse4.2", std::is_x86_feature_detected!("sse4.2")),
        ("avx2", std::is_x86_feature_detected!("avx2")),
        ("bmi2", std::is_x86_feature_detected!("bmi2")),
        ("avx512f", std::is_x86_feature_detected!("avx512f")),
    ] {
        if is_there {
            found.push(name);
        }
    }
    found
}

/// Hashes the column and returns the sum of the results, which shows that they are the same.
fn hash(function: Function, layout: Layout, lengths: Lengths) -> Outcome<i64> {
    let keys: Vec<Option<Vec<u8>>> = (0..ROWS).map(|row| key(row, layout, lengths)).collect();
    let column = column(&keys, layout)?;
    let key_type = matches!(layout, Layout::Long).then(|| "java:long".parse::<KeyType>()).transpose()?;
    let n = Partitions::new(black_box(12))?;
    let call = |column: &dyn Array| match function {
        Function::Partition(client) => {
            columnar::partition_for_key(column, n, client.parse::<Client>()?, key_type)
        }
        Function::Murmur2 | Function::Scalar => columnar::murmur2(column, key_type),
    };
    black_box(call(&column.slice(0, FIRST))?);
    if matches!(function, Function::Scalar) {
        let mut sum = 0;
        counted(&mut || {
            let of_key =
                |key: &Option<Vec<u8>>| key.as_deref().map_or(0, |it| hashing::partition_for_key(it, n));
            sum = keys.iter().map(of_key).map(i64::from).sum();
        });
        return Ok(sum);
    }
    let mut found = None;
    counted(&mut || found = Some(call(black_box(&column))));
    Ok(found.ok_or("nothing was counted")??.iter().flatten().map(i64::from).sum())
}

fn key(row: u64, layout: Layout, (shortest, longest, null_per_mille): Lengths) -> Option<Vec<u8>> {
    let row = if matches!(layout, Layout::Dictionary) { word(row, 0) % VALUES } else { row };
    let choice = word(row, 1);
    let length = shortest + (choice >> 32) % (longest - shortest + 1);
    let letters = (2..).flat_map(|place| word(row, place).to_le_bytes()).map(|byte| b'0' + byte % 64);
    let is_null = (choice & 0xffff_ffff) % 1000 < null_per_mille;
    (!is_null).then(|| letters.take(usize::try_from(length).unwrap_or(0)).collect())
}

fn column(keys: &[Option<Vec<u8>>], layout: Layout) -> Outcome<ArrayRef> {
    let texts: Vec<Option<&str>> =
        keys.iter().map(|key| key.as_deref().map(str::from_utf8).transpose()).collect::<Result<_, _>>()?;
    Ok(match layout {
        Layout::Utf8 => Arc::new(StringArray::from(texts)),
        Layout::LargeUtf8 => Arc::new(LargeStringArray::from(texts)),
        Layout::Utf8View => Arc::new(StringViewArray::from(texts)),
        Layout::Fixed => Arc::new(FixedSizeBinaryArray::try_from_iter(keys.iter().flatten())?),
        Layout::Dictionary => Arc::new(texts.into_iter().collect::<DictionaryArray<Int32Type>>()),
        Layout::Long => {
            let number = |key: &Vec<u8>| key.as_slice().try_into().map(i64::from_be_bytes);
            Arc::new(Int64Array::from(keys.iter().flatten().map(number).collect::<Result<Vec<_>, _>>()?))
        }
    })
}

fn partitions((topics, partitions, _): Size) -> u64 {
    topics as u64 * u64::from(partitions)
}

struct Names {
    topics: Vec<String>,
    members: Vec<String>,
}

impl Names {
    fn of((topics, _, members): Size) -> Self {
        let numbered = |word: &str, count: usize| (0..count).map(|it| format!("{word}{it:05}")).collect();
        Self { topics: numbered("t", topics), members: numbered("c", members) }
    }
}

/// A group whose members, the first `skipped` left out, subscribe to what `reads` says.
fn input(names: &Names, size: Size, skipped: usize, reads: impl Fn(usize) -> Vec<u32>) -> Input<'_> {
    let (topics, partitions, members) = size;
    let members = members - skipped;
    let mut input = Input {
        topics: names.topics.iter().map(String::as_str).collect(),
        partitions: vec![partitions; topics],
        missing: vec![false; topics],
        topic_ids: names.topics.iter().map(|name| TopicId::of_name(name)).collect(),
        members: names.members[skipped..].iter().map(String::as_str).collect(),
        instance_ids: vec![None; members],
        member_racks: vec![None; members],
        sends: vec![true; members],
        generations: vec![1; members],
        owned: Lists { offsets: vec![0; members + 1], values: Vec::new() },
        ..Input::default()
    };
    for member in 0..members {
        input.subscribed.values.extend(reads(member));
        input.subscribed.end();
    }
    input
}

fn client(assignor: Assignor, size: Size, halves: bool, before: Before) -> Outcome<i64> {
    let names = Names::of(size);
    let reads = |member: usize| {
        let mut topics: Vec<u32> = (0..).take(size.0).collect();
        if halves {
            topics.sort_by_key(|&topic| word(member as u64, u64::from(topic)));
            topics.truncate(size.0 / 2);
        }
        topics
    };
    let group = match before {
        Before::Nothing => input(&names, size, 0, reads),
        Before::OneLeaves => {
            let all = assignor.assign(&input(&names, size, 0, reads))?;
            let first = all.offsets[1];
            let mut group = input(&names, size, 1, reads);
            let pairs = all.topics.into_iter().zip(all.partitions);
            group.owned.values = pairs.skip(first).collect();
            group.owned.offsets = all.offsets[1..].iter().map(|offset| offset - first).collect();
            group
        }
    };
    let mut found = None;
    counted(&mut || found = Some(assignor.assign(black_box(&group))));
    Ok(sum(&found.ok_or("nothing was counted")??))
}

fn broker(kind: Kind, size: Size, odd: bool) -> Outcome<i64> {
    let names = Names::of(size);
    let reads = |member: usize| (0..).take(size.0).skip(usize::from(odd && member == 0)).collect();
    let group = server::ServerGroup::new(&input(&names, size, 0, reads))?;
    let mut found = None;
    counted(&mut || found = Some(server::assign(kind, black_box(&group))));
    Ok(sum(&found.ok_or("nothing was counted")??))
}

fn sizes() -> ArrayRef {
    let sizes: Int32Array = (0..ROWS).map(|row| i32::try_from(50 + word(row, 0) % 100).ok()).collect();
    Arc::new(sizes)
}

fn batches(strategy: Strategy, partitions: i32, in_a_ms: u64) -> Outcome<i64> {
    let scenario = Scenario {
        strategy,
        settings: batching::Settings::default(),
        each_append: false,
        brokers: vec![Broker { latency: Latency::Constant(1), ..Broker::default() }],
        partitions: (0..partitions).map(|id| batching::Partition { id, leader: Some(0) }).collect(),
        flush_ms: None,
        failed_requests: vec![],
        draws: Draws::seeded(12),
        seed: 12,
    };
    let times: Int64Array = (0..ROWS).map(|row| i64::try_from(row / in_a_ms).ok()).collect();
    let records =
        StructArray::try_from(vec![("time", Arc::new(times) as ArrayRef), ("value_size", sizes())])?;
    let (mut simulation, mut summary) = (Simulation::new(scenario)?, BatchSummary::default());
    let mut outcome = None;
    counted(&mut || {
        outcome = Some(columnar::append_records(&mut simulation, black_box(&records), &mut summary));
    });
    outcome.ok_or("nothing was counted")??;
    simulation.finish(&mut summary)?;
    Ok(i64::try_from(summary.requests * 1_000 + summary.batches)?)
}

fn records(strategy: Strategy) -> Outcome<i64> {
    let partitions: Vec<_> = (0..12).map(|id| Partition { id, available: true, near: false }).collect();
    let topics = vec![Topic::new("orders", &partitions)?];
    let mut producer = Producer::new(strategy, Settings::default(), topics, Draws::seeded(12))?;
    let records = StructArray::try_from(vec![("value_size", sizes())])?;
    let mut found = None;
    counted(&mut || found = Some(columnar::place(&mut producer, black_box(&records))));
    Ok(found.ok_or("nothing was counted")??.iter().flatten().map(i64::from).sum())
}

/// The cost of a rebalance for each member, with its heartbeats until the next one.
fn life(assignor: Assignor, size: Size) -> Outcome<i64> {
    let names = Names::of(size);
    let consumer = Arc::new(Consumer {
        instance: None,
        ids: Vec::new(),
        session_timeout_ms: 45_000,
        heartbeat_interval_ms: 3_000,
        max_poll_interval_ms: 300_000,
        auto_commit_interval_ms: Some(5_000),
        poll_ms: 500,
        poll_timeout_ms: 100,
        listener_ms: None,
        metadata_max_age_ms: 300_000,
        client: "java".into(),
        assignors: Arc::new([(assignor.name().into(), assignor)]),
        remote_assignor: None,
    });
    let join = |member| {
        Action::Join(member, Arc::clone(&consumer), (0..).zip(&names.topics).map(|it| it.0).collect())
    };
    let mut actions: Vec<(i64, Action)> =
        (0..).zip(&names.members).map(|(it, _)| (0, join(Reader(it)))).collect();
    for (number, at) in (0..REBALANCES).zip((60_000..).step_by(10_000)) {
        let member = Reader(u32::try_from(number / 2)?);
        actions.push((
            at,
            if number % 2 == 0 { Action::Member(member, MemberAction::Close(None)) } else { join(member) },
        ));
    }
    let script = Script {
        protocol: Protocol::Classic(classic::ClassicGroupConfig::default()),
        topics: names.topics.iter().map(|name| (name.as_str().into(), Some(size.1))).collect(),
        clients: names.members.iter().map(|name| name.as_str().into()).collect(),
        latency_ms: 10,
        idle_topics: Vec::new(),
        race: Race::Slow,
        actions,
        until: None,
        keeps_spans: true,
        keeps_messages: false,
    };
    let (mut input, mut found) = (Some(script), None);
    counted(&mut || found = input.take().map(|script| play::play(script, None)));
    let played = found.ok_or("nothing was counted")??;
    let last = played.generations.last().ok_or("nobody has joined")?;
    let lists = last.assignment.iter().flat_map(|(member, list)| list.iter().map(move |it| (*member, it)));
    Ok(lists.fold(i64::from(last.number), |sum: i64, (member, &(topic, partition))| {
        sum.wrapping_mul(31).wrapping_add(i64::from(member.0 ^ topic << 12) + i64::from(partition))
    }))
}

/// A number in which every digit counts.
fn sum(assignment: &Assignment) -> i64 {
    let pairs = assignment.topics.iter().zip(&assignment.partitions);
    pairs.fold(0, |sum: i64, (&topic, &partition)| {
        sum.wrapping_mul(31).wrapping_add(i64::from(topic) << 20).wrapping_add(i64::from(partition))
    })
}

/// `SplitMix64` by its position.
fn word(row: u64, place: u64) -> u64 {
    let mut word = (row * 512 + place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

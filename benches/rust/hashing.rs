//! The kernel's speed: hashes and partitions over columns of every layout, next to a memory copy and the scalar form.
//!
//! If the filter begins with a case's name, such as `bytes_12/`, only that case's keys are made.

mod keys;

use std::env;
use std::error::Error;
use std::fs::{self, OpenOptions};
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use arrow_array::{Array, ArrayRef, Int64Array, StringArray};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use partwright_core::columnar;
use partwright_core::hashing::{self, Client, Partitions};
use serde::Deserialize;

use crate::keys::{Case, Layout, Scattered, run_seed};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The part of `benches/cases.json` that this layer needs.
#[derive(Deserialize)]
struct Lab {
    n: i64,
    rows: Rows,
    sizes: Sizes,
    checked_rows: usize,
    clients: Vec<String>,
    calls: Call,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Rows {
    kernel: usize,
    calls: Vec<usize>,
}

/// The cases that are measured at other sizes too.
#[derive(Deserialize)]
struct Sizes {
    cases: Vec<String>,
    rows: Vec<usize>,
}

#[derive(Deserialize)]
struct Call {
    case: String,
    layout: Layout,
}

fn main() -> Outcome {
    let lab: Lab = serde_json::from_str(include_str!("../cases.json"))?;
    // Enough for a stable median here, and short enough for three minutes in all.
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    // Read from a file, so that the compiler does not know it and cannot turn the division into a multiplication.
    let n = Partitions::new(lab.n)?;
    let filter = env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let is_named = |name: &str| filter.split('/').next() == Some(name);
    let names_one = lab.cases.iter().any(|case| is_named(&case.name));
    for case in lab.cases.iter().filter(|case| !names_one || is_named(&case.name)) {
        kernel(&mut criterion, &lab, case, n)?;
    }
    if !names_one {
        calls(&mut criterion, &lab, n)?;
    }
    criterion.final_summary();
    Ok(())
}

/// One case over a whole column: every layout, and its rivals right next to it.
fn kernel(criterion: &mut Criterion, lab: &Lab, case: &Case, n: Partitions) -> Outcome {
    let key_type = case.key_type()?;
    let first = *case.layouts.first().ok_or("a case has layouts")?;
    let keys = case.keys(lab.rows.kernel)?;
    let column = first.column(&keys)?;
    say_sum(&case.name, case.check(&column, lab.checked_rows, n)?)?;
    let mut group = criterion.benchmark_group(&case.name);

    rivals(&mut group, case, &keys, n)?;
    group.bench_function("scalar_apart", |bencher| {
        bencher.iter(|| scalar(black_box(&keys), |key| hashing::partition_for_key(key, n)));
    });
    group.bench_function("crate_apart", |bencher| {
        bencher.iter(|| scalar(black_box(&keys), |key| by_crate(key, n)));
    });
    group.bench_function("murmur2", |bencher| {
        bencher.iter(|| columnar::murmur2(black_box(&column), key_type));
    });
    for name in &lab.clients {
        let client: Client = name.parse()?;
        group.bench_function(BenchmarkId::new("client", name), |bencher| {
            bencher.iter(|| columnar::partition_for_key(black_box(&column), n, client, key_type));
        });
    }
    for layout in &case.layouts[1..] {
        let column = layout.column(&keys)?;
        case.check(&column, lab.checked_rows, n)?;
        group.bench_function(BenchmarkId::new("layout", layout.name()), |bencher| {
            bencher.iter(|| columnar::partition_for_key(black_box(&column), n, Client::JAVA, key_type));
        });
    }
    drop(keys);
    for rows in lab.sizes.rows.iter().filter(|_| lab.sizes.cases.contains(&case.name)) {
        rivals(&mut group, case, &case.keys(*rows)?, n)?;
    }
    group.finish();
    Ok(())
}

/// Ours, the scalar form over the same column and a memory copy of the same bytes, one right after another.
fn rivals(group: &mut BenchmarkGroup<'_, WallTime>, case: &Case, keys: &Scattered, n: Partitions) -> Outcome {
    let key_type = case.key_type()?;
    let column = case.layouts.first().ok_or("a case has layouts")?.column(keys)?;
    let bytes: Vec<u8> = keys.iter().flatten().flatten().copied().collect();
    group.throughput(Throughput::ElementsAndBytes {
        elements: u64::try_from(keys.len())?,
        bytes: u64::try_from(bytes.len())?,
    });
    group.bench_function(BenchmarkId::new("ours", keys.len()), |bencher| {
        bencher.iter(|| columnar::partition_for_key(black_box(&column), n, Client::JAVA, key_type));
    });
    let ours = columnar::partition_for_key(&column, n, Client::JAVA, key_type)?;
    for (name, rule) in RULES {
        if !ours.iter().map(|found| found.unwrap_or(0)).eq(scalar_column(&column, n, rule)?) {
            return Err(format!("{}: {name} gives other partitions", case.name).into());
        }
        group.bench_function(BenchmarkId::new(name, keys.len()), |bencher| {
            bencher.iter(|| scalar_column(black_box(&column), n, rule));
        });
    }
    // The copy goes into existing memory, while our own results get new memory each time.
    let mut copy = bytes.clone();
    group.bench_function(BenchmarkId::new("memcpy", keys.len()), |bencher| {
        bencher.iter(|| {
            copy.copy_from_slice(black_box(&bytes));
            black_box(&mut copy);
        });
    });
    Ok(())
}

/// The sizes of the Python bench: the rest of a call there is the boundary's own cost.
fn calls(criterion: &mut Criterion, lab: &Lab, n: Partitions) -> Outcome {
    let case = lab.cases.iter().find(|case| case.name == lab.calls.case).ok_or("calls name no case")?;
    let key_type = case.key_type()?;
    let mut group = criterion.benchmark_group("calls");
    for rows in &lab.rows.calls {
        let column = lab.calls.layout.column(&case.keys(*rows)?)?;
        group.throughput(Throughput::Elements(u64::try_from(*rows)?));
        group.bench_function(BenchmarkId::new("partition", rows), |bencher| {
            bencher.iter(|| columnar::partition_for_key(black_box(&column), n, Client::JAVA, key_type));
        });
    }
    group.finish();
    Ok(())
}

/// The scalar form over keys that lie apart; a null becomes 0.
fn scalar(keys: &Scattered, rule: impl Fn(&[u8]) -> i32) -> Vec<i32> {
    keys.iter().map(|key| key.as_deref().map_or(0, &rule)).collect()
}

/// A program in Rust without partwright: the hash of the crate `murmur2`, then Kafka's step to the partition.
fn by_crate(key: &[u8], n: Partitions) -> i32 {
    hashing::Sign::Masked.partition(murmur2::murmur2(key, murmur2::KAFKA_SEED).into(), n)
}

type OneKey = fn(&[u8], Partitions) -> i32;

/// The column kernel's rivals, which take one key after another.
const RULES: [(&str, OneKey); 2] =
    [("scalar_column", hashing::partition_for_key), ("crate_column", by_crate)];

/// A rule for one key, over the same column as ours, as one would write it down; a null becomes 0.
fn scalar_column(
    column: &ArrayRef,
    n: Partitions,
    rule: impl Fn(&[u8], Partitions) -> i32,
) -> Outcome<Vec<i32>> {
    if let Some(texts) = column.as_any().downcast_ref::<StringArray>() {
        return Ok(texts.iter().map(|key| key.map_or(0, |text| rule(text.as_bytes(), n))).collect());
    }
    let numbers = column.as_any().downcast_ref::<Int64Array>().ok_or("a first layout is text or int64")?;
    Ok(numbers.iter().map(|key| key.map_or(0, |number| rule(&number.to_be_bytes(), n))).collect())
}

/// Prints the sum of a case's first partitions, which `compare.py` compares with the other layers.
fn say_sum(case: &str, sum: i64) -> Outcome {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    fs::create_dir_all(&folder)?;
    let mut file = OpenOptions::new().create(true).append(true).open(folder.join("rust_sums.jsonl"))?;
    let line = serde_json::json!({ "case": case, "seed": run_seed()?.to_string(), "sum": sum });
    writeln!(file, "{line}")?;
    Ok(())
}

//! Records counted by partition and key, batch by batch, next to the same with hashbrown's table.
//!
//! `cargo bench --package partwright-core --features arrow --bench key_sums`: 12,000,000 records of keys of 6 to 13
//! bytes. As in an audit, a table is emptied once it has 1,000,000 pairs, and keeps its room; keys are copied,
//! because an audit's batches are gone by then.

use std::hash::BuildHasher;
use std::hint::black_box;
use std::time::Duration;

use arrow_array::{BinaryArray, Int64Array};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hashbrown::HashTable;
use partwright_core::columnar::{KeySums, Measures};
use rustc_hash::FxBuildHasher;

const ROWS: u64 = 12_000_000;
const BATCH: u64 = 200_000;
const PARTITIONS: u64 = 48;
const MOST: usize = 1_000_000;

/// Batches of records whose keys are drawn from so many by a multiplicative generator.
fn batches(keys: u64) -> Vec<(BinaryArray, Int64Array)> {
    let mut state = keys;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % keys
    };
    let batch = |_| {
        let ids: Vec<u64> = (0..BATCH).map(|_| draw()).collect();
        (
            BinaryArray::from_iter_values(ids.iter().map(|id| format!("user-{id}"))),
            Int64Array::from_iter_values(ids.iter().map(|id| (id % PARTITIONS).cast_signed())),
        )
    };
    (0..ROWS / BATCH).map(batch).collect()
}

fn ours(batches: &[(BinaryArray, Int64Array)]) -> usize {
    let mut sums = KeySums::default();
    for (keys, partitions) in batches {
        assert!(sums.add(keys, partitions, &Measures::default()).is_ok());
        if sums.pairs() > MOST {
            sums.clear();
        }
    }
    sums.pairs()
}

/// A table of numbers, and for each a pair: its partition, where its key starts and ends, and its records.
#[derive(Default)]
struct Rival {
    table: HashTable<usize>,
    pairs: Vec<(i64, usize, usize, i64)>,
    keys: Vec<u8>,
}

impl Rival {
    fn count(&mut self, partition: i64, key: &[u8]) {
        let Self { table, pairs, keys } = self;
        let hash = FxBuildHasher.hash_one((partition, key));
        let is_it = |pair: &usize| {
            let (its_partition, start, end, _) = pairs[*pair];
            its_partition == partition && &keys[start..end] == key
        };
        if let Some(pair) = table.find(hash, is_it) {
            pairs[*pair].3 += 1;
            return;
        }
        let start = keys.len();
        keys.extend_from_slice(key);
        pairs.push((partition, start, keys.len(), 1));
        table.insert_unique(hash, pairs.len() - 1, |pair| {
            let (partition, start, end, _) = pairs[*pair];
            FxBuildHasher.hash_one((partition, &keys[start..end]))
        });
    }
}

fn with_hashbrown(batches: &[(BinaryArray, Int64Array)]) -> usize {
    let mut sums = Rival::default();
    for (keys, partitions) in batches {
        for (key, partition) in keys.iter().flatten().zip(partitions.values()) {
            sums.count(*partition, key);
        }
        if sums.pairs.len() > MOST {
            sums.table.clear();
            sums.pairs.clear();
            sums.keys.clear();
        }
    }
    sums.pairs.len()
}

fn counting(criterion: &mut Criterion) {
    for keys in [1_000, 100_000, ROWS] {
        let batches = batches(keys);
        assert_eq!(ours(&batches), with_hashbrown(&batches));
        let mut group = criterion.benchmark_group(format!("key_sums/{keys}"));
        group.throughput(Throughput::Elements(ROWS)).sample_size(10).measurement_time(Duration::from_secs(5));
        group.bench_function("ours", |bencher| bencher.iter(|| ours(black_box(&batches))));
        group.bench_function("hashbrown", |bencher| bencher.iter(|| with_hashbrown(black_box(&batches))));
        group.finish();
    }
}

criterion_group!(benches, counting);
criterion_main!(benches);

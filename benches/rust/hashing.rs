//! The kernel's speed: hashes and partitions over columns of every layout, beside a memory copy and the scalar form.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, FixedSizeBinaryArray, Int64Array, LargeStringArray, StringArray,
    StringViewArray,
};
use criterion::{BenchmarkId, Criterion, Throughput};
use partwright_core::columnar;
use partwright_core::hashing::{self, Client, KeyType, Partitions};
use serde::Deserialize;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;
/// Keys as a program without Arrow holds them: each in memory of its own.
type Scattered = Vec<Option<Vec<u8>>>;

/// `benches/cases.json`, as far as this layer needs it.
#[derive(Deserialize)]
struct Lab {
    n: i64,
    rows: Rows,
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

#[derive(Deserialize)]
struct Call {
    case: String,
    layout: Layout,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    seed: u64,
    key_type: Option<String>,
    layouts: Vec<Layout>,
    checksum: i64,
    #[serde(flatten)]
    kind: Kind,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Kind {
    Text { shortest: u64, longest: u64, null_per_mille: u64 },
    Uuid,
    Tails { values: u64 },
    Long,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Layout {
    Utf8,
    LargeUtf8,
    Utf8View,
    Binary,
    Fixed,
    Dictionary,
    Int64,
}

fn main() -> Outcome {
    let lab: Lab = serde_json::from_str(include_str!("../cases.json"))?;
    // Enough for a stable median here, and for all of it in three minutes.
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    // Read from a file, so that no compiler knows it and makes a multiplication of the division.
    let n = Partitions::new(lab.n)?;
    for case in &lab.cases {
        kernel(&mut criterion, &lab, case, n)?;
    }
    calls(&mut criterion, &lab, n)?;
    criterion.final_summary();
    Ok(())
}

/// One case over a whole column: every layout, and its rivals right beside it.
fn kernel(criterion: &mut Criterion, lab: &Lab, case: &Case, n: Partitions) -> Outcome {
    let keys = case.keys(lab.rows.kernel)?;
    let key_type = case.key_type()?;
    let bytes: Vec<u8> = keys.iter().flatten().flatten().copied().collect();
    let mut group = criterion.benchmark_group(&case.name);
    group.throughput(Throughput::ElementsAndBytes {
        elements: u64::try_from(keys.len())?,
        bytes: u64::try_from(bytes.len())?,
    });

    for layout in &case.layouts {
        let column = layout.column(&keys)?;
        case.check(&column, lab.checked_rows, n)?;
        group.bench_function(BenchmarkId::new("partition", layout.name()), |bencher| {
            bencher.iter(|| columnar::partition_for_key(black_box(&column), n, Client::JAVA, key_type));
        });
        group.bench_function(BenchmarkId::new("murmur2", layout.name()), |bencher| {
            bencher.iter(|| columnar::murmur2(black_box(&column), key_type));
        });
    }

    let column = case.layouts.first().ok_or("a case has layouts")?.column(&keys)?;
    for name in &lab.clients {
        let client: Client = name.parse()?;
        group.bench_function(BenchmarkId::new("client", name), |bencher| {
            bencher.iter(|| columnar::partition_for_key(black_box(&column), n, client, key_type));
        });
    }

    group.bench_function("scalar_partition", |bencher| {
        bencher.iter(|| scalar(black_box(&keys), |key| hashing::partition_for_key(key, n)));
    });
    group.bench_function("scalar_murmur2", |bencher| {
        bencher.iter(|| scalar(black_box(&keys), hashing::murmur2));
    });
    // Into memory that is there already, while our own results get new memory each time.
    let mut copy = bytes.clone();
    group.bench_function("memcpy", |bencher| {
        bencher.iter(|| {
            copy.copy_from_slice(black_box(&bytes));
            black_box(&mut copy);
        });
    });
    group.finish();
    Ok(())
}

/// The sizes of the Python bench: what is left of a call there is the boundary's own cost.
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

impl Case {
    fn key_type(&self) -> Outcome<Option<KeyType>> {
        Ok(self.key_type.as_deref().map(str::parse).transpose()?)
    }

    fn keys(&self, rows: usize) -> Outcome<Scattered> {
        (0..u64::try_from(rows)?).map(|row| self.key(row)).collect()
    }

    /// The key bytes of one row, null where the case says so.
    fn key(&self, row: u64) -> Outcome<Option<Vec<u8>>> {
        let choice = word(self.seed, row, 0);
        Ok(match self.kind {
            Kind::Text { null_per_mille, .. } if (choice & 0xffff_ffff) % 1000 < null_per_mille => None,
            Kind::Text { shortest, longest, .. } => {
                let length = shortest + (choice >> 32) % (longest - shortest + 1);
                Some(text(self.seed, row, usize::try_from(length)?))
            }
            Kind::Uuid => {
                let bytes: Vec<u8> = bytes(self.seed, row).take(16).collect();
                Some(hashing::serializer::uuid(bytes.as_slice().try_into()?).to_vec())
            }
            Kind::Tails { values } => {
                let mut tail = text(self.seed, (choice >> 32) % values, 6);
                tail[0] = b'N';
                Some(tail)
            }
            Kind::Long => Some(word(self.seed, row, 1).to_be_bytes().to_vec()),
        })
    }

    /// Fails where a column gives other partitions than it did when the case was written, in any layer.
    fn check(&self, column: &ArrayRef, rows: usize, n: Partitions) -> Outcome {
        let found = columnar::partition_for_key(&column.slice(0, rows), n, Client::JAVA, self.key_type()?)?;
        let sum: i64 = found.iter().flatten().map(i64::from).sum();
        if sum != self.checksum {
            let (name, checksum) = (&self.name, self.checksum);
            return Err(
                format!("{name}: the partitions' sum is {sum}, and cases.json says {checksum}").into()
            );
        }
        Ok(())
    }
}

impl Layout {
    fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf8",
            Self::LargeUtf8 => "large_utf8",
            Self::Utf8View => "utf8_view",
            Self::Binary => "binary",
            Self::Fixed => "fixed",
            Self::Dictionary => "dictionary",
            Self::Int64 => "int64",
        }
    }

    fn column(self, keys: &Scattered) -> Outcome<ArrayRef> {
        let binary = || keys.iter().map(Option::as_deref);
        let texts = || -> Outcome<Vec<Option<&str>>> {
            binary().map(|key| Ok(key.map(str::from_utf8).transpose()?)).collect()
        };
        Ok(match self {
            Self::Utf8 => Arc::new(StringArray::from(texts()?)),
            Self::LargeUtf8 => Arc::new(LargeStringArray::from(texts()?)),
            Self::Utf8View => Arc::new(StringViewArray::from(texts()?)),
            Self::Binary => Arc::new(binary().collect::<BinaryArray>()),
            Self::Fixed => {
                let width = binary().flatten().next().map_or(0, <[u8]>::len);
                let array =
                    FixedSizeBinaryArray::try_from_sparse_iter_with_size(binary(), i32::try_from(width)?);
                Arc::new(array?)
            }
            Self::Dictionary => Arc::new(texts()?.into_iter().collect::<DictionaryArray<Int32Type>>()),
            Self::Int64 => {
                let number = |key: &[u8]| -> Outcome<i64> { Ok(i64::from_be_bytes(key.try_into()?)) };
                let numbers: Outcome<Int64Array> = binary().map(|key| key.map(number).transpose()).collect();
                Arc::new(numbers?)
            }
        })
    }
}

fn text(seed: u64, row: u64, length: usize) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
    bytes(seed, row).take(length).map(|byte| ALPHABET[usize::from(byte & 63)]).collect()
}

fn bytes(seed: u64, row: u64) -> impl Iterator<Item = u8> {
    (1..).flat_map(move |place| word(seed, row, place).to_le_bytes())
}

/// `SplitMix64`, by its position instead of its state, so that numpy can make the same words all at once.
fn word(seed: u64, row: u64, place: u64) -> u64 {
    let position = row * 16 + place + 1;
    let mut word = seed.wrapping_add(position.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

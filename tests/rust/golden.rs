//! The golden files through the core: the answers of Kafka's own Java client, byte for byte and partition for partition.
//!
//! `tests/golden/README.md` describes each field. Every test counts what it has compared, so that a missing section
//! fails it instead of passing.

use std::collections::BTreeMap;
use std::error::Error;

use partwright_core::hashing::{
    Client, KeyType, Partitions, murmur2, partition_for_key, serializer, to_positive,
};
use serde::Deserialize;

type Outcome = Result<(), Box<dyn Error>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hashing {
    provenance: BTreeMap<String, serde_json::Value>,
    partitions: Vec<i64>,
    keys: Vec<Keyed>,
    reports: Vec<Report>,
    prefixes: Vec<Prefixes>,
    serializers: Serializers,
    producer: Producer,
    checksum: Checksum,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keyed {
    name: String,
    text: Option<String>,
    key: String,
    murmur2: i32,
    partitions: Vec<i32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    name: String,
    text: String,
    n: i64,
    partition: i32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prefixes {
    name: String,
    block: String,
    rows: Vec<(usize, i32, Vec<i32>)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Serializers {
    #[serde(rename = "java:short")]
    short: Serializer<Number<i16>>,
    #[serde(rename = "java:int")]
    int: Serializer<Number<i32>>,
    #[serde(rename = "java:long")]
    long: Serializer<Number<i64>>,
    #[serde(rename = "java:float")]
    float: Serializer<Bits>,
    #[serde(rename = "java:double")]
    double: Serializer<Bits>,
    #[serde(rename = "java:boolean")]
    boolean: Serializer<Number<bool>>,
    #[serde(rename = "java:uuid")]
    uuid: Serializer<Uuid>,
    #[serde(rename = "java:string")]
    string: Serializer<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Serializer<V> {
    class: String,
    null: Option<String>,
    cases: Vec<Case<V>>,
}

#[derive(Deserialize)]
struct Case<V> {
    #[serde(flatten)]
    given: V,
    bytes: String,
    murmur2: i32,
    partitions: Vec<i32>,
}

#[derive(Deserialize)]
struct Number<T> {
    value: T,
}

#[derive(Deserialize)]
struct Bits {
    bits: String,
}

#[derive(Deserialize)]
struct Uuid {
    value: String,
    raw: String,
}

#[derive(Deserialize)]
struct Text {
    value: Option<String>,
    utf16: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Producer {
    unknown_partition: i32,
    cases: Vec<Chosen>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chosen {
    ignore_keys: bool,
    n: i64,
    key: Option<String>,
    partition: i32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Checksum {
    seed: u64,
    longest: usize,
    keys_per_length: usize,
    hashes: usize,
    sum: String,
}

fn hashing() -> Result<Hashing, serde_json::Error> {
    serde_json::from_str(include_str!("../golden/hashing.json"))
}

fn bytes(hex: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let pairs = (0..hex.len()).step_by(2);
    Ok(pairs.map(|at| u8::from_str_radix(&hex[at..at + 2], 16)).collect::<Result<_, _>>()?)
}

/// The hash and every partition of one key.
fn placed(golden: &Hashing, name: &str, key: &[u8], hash: i32, partitions: &[i32]) -> Outcome {
    assert_eq!(murmur2(key), hash, "murmur2 of {name}");
    assert_eq!(partitions.len(), golden.partitions.len(), "partitions of {name}");
    for (n, partition) in golden.partitions.iter().zip(partitions) {
        let count = Partitions::new(*n)?;
        assert_eq!(partition_for_key(key, count), *partition, "{name} among {n}");
        assert_eq!((to_positive(hash) % count.get()).cast_signed(), *partition, "{name} among {n}, by hand");
        assert_eq!(
            Client::JAVA.partition_for_key(Some(key), count)?,
            Some(*partition),
            "{name} among {n}, by the profile"
        );
    }
    Ok(())
}

#[test]
fn the_file_says_which_client_wrote_it() -> Outcome {
    let golden = hashing()?;
    assert_eq!(golden.provenance["kafka-clients"], "4.4.0");
    assert_eq!(golden.partitions, [1, 3, 6, 7, 10, 12, 16, 50, 1000, (1 << 31) - 1]);
    Ok(())
}

#[test]
fn every_key_goes_where_the_java_client_puts_it() -> Outcome {
    let golden = hashing()?;
    for key in &golden.keys {
        let encoded = bytes(&key.key)?;
        if let Some(text) = &key.text {
            assert_eq!(text.as_bytes(), encoded, "the bytes of {}", key.name);
        }
        placed(&golden, &key.name, &encoded, key.murmur2, &key.partitions)?;
    }
    assert!(golden.keys.len() > 1500, "only {} keys", golden.keys.len());
    Ok(())
}

#[test]
fn every_reported_key_goes_where_the_java_client_puts_it() -> Outcome {
    let golden = hashing()?;
    for report in &golden.reports {
        let partition = partition_for_key(report.text.as_bytes(), Partitions::new(report.n)?);
        assert_eq!(partition, report.partition, "{} among {}", report.name, report.n);
    }
    assert_eq!(golden.reports.len(), 10);
    Ok(())
}

#[test]
fn every_length_hashes_as_in_java() -> Outcome {
    let golden = hashing()?;
    for block in &golden.prefixes {
        let whole = bytes(&block.block)?;
        assert_eq!(whole.len(), 1000);
        for (row, (length, hash, partitions)) in block.rows.iter().enumerate() {
            assert_eq!(row, *length);
            placed(&golden, &format!("{} of {length}", block.name), &whole[..*length], *hash, partitions)?;
        }
        assert_eq!(block.rows.len(), 1001);
    }
    assert_eq!(golden.prefixes.len(), 4);
    Ok(())
}

/// One key type: `encode` turns the value into the bytes of Java's serializer, and they go where Java put them.
fn serialized<V>(
    golden: &Hashing,
    key_type: KeyType,
    serializer: &Serializer<V>,
    encode: impl Fn(&V) -> Result<Vec<u8>, Box<dyn Error>>,
) -> Result<usize, Box<dyn Error>> {
    assert!(serializer.class.starts_with("org.apache.kafka.common.serialization."), "{}", serializer.class);
    assert_eq!(serializer.null, None, "{} of null", serializer.class);
    for case in &serializer.cases {
        let name = format!("{key_type} {}", case.bytes);
        let key = bytes(&case.bytes)?;
        assert_eq!(encode(&case.given)?, key, "{name}");
        placed(golden, &name, &key, case.murmur2, &case.partitions)?;
    }
    Ok(serializer.cases.len())
}

#[test]
fn every_serializer_writes_the_bytes_that_javas_does() -> Outcome {
    let golden = hashing()?;
    let of = &golden.serializers;
    let counts =
        [
            serialized(&golden, KeyType::JavaShort, &of.short, |it| Ok(serializer::short(it.value).into()))?,
            serialized(&golden, KeyType::JavaInt, &of.int, |it| Ok(serializer::int(it.value).into()))?,
            serialized(&golden, KeyType::JavaLong, &of.long, |it| Ok(serializer::long(it.value).into()))?,
            serialized(&golden, KeyType::JavaFloat, &of.float, |it| {
                Ok(serializer::float(f32::from_bits(u32::from_str_radix(&it.bits, 16)?)).into())
            })?,
            serialized(&golden, KeyType::JavaDouble, &of.double, |it| {
                Ok(serializer::double(f64::from_bits(u64::from_str_radix(&it.bits, 16)?)).into())
            })?,
            serialized(&golden, KeyType::JavaBoolean, &of.boolean, |it| {
                Ok(serializer::boolean(it.value).into())
            })?,
            serialized(&golden, KeyType::JavaUuid, &of.uuid, |it| {
                let raw: [u8; 16] = bytes(&it.raw)?.try_into().map_err(|_| "a UUID has 16 bytes")?;
                let text = serializer::uuid_text(it.value.as_bytes()).ok_or("the text of a UUID")?;
                assert_eq!(serializer::uuid(&raw), text);
                Ok(text.into())
            })?,
            serialized(&golden, KeyType::JavaString, &of.string, |it| {
                let units: Vec<u16> =
                    bytes(&it.utf16)?.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
                // Half of a surrogate pair is not a `char`: Java writes a question mark for it.
                let text: String = char::decode_utf16(units).map(|unit| unit.unwrap_or('?')).collect();
                assert!(it.value.as_ref().is_none_or(|value| *value == text));
                Ok(text.into())
            })?,
        ];
    assert_eq!(counts, [142, 239, 431, 80, 80, 2, 41, 63]);
    Ok(())
}

/// Java's `SplittableRandom`, as far as Kafka's checksum needs it: `SplitMix64` of Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators" (OOPSLA 2014), which is also Vigna's public-domain `splitmix64.c`; bytes are filled
/// as the documentation of `java.util.random.RandomGenerator.nextBytes` says, from each long's low byte up.
struct SplittableRandom(u64);

impl SplittableRandom {
    fn next_long(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn next_bytes(&mut self, bytes: &mut [u8]) {
        for piece in bytes.chunks_mut(8) {
            piece.copy_from_slice(&self.next_long().to_le_bytes()[..piece.len()]);
        }
    }
}

/// `UtilsTest.testMurmur2Checksum`: 100,100 keys of all lengths to 1000 in one number.
#[test]
fn kafkas_own_checksum_comes_out() -> Outcome {
    let golden = hashing()?.checksum;
    let mut random = SplittableRandom(golden.seed);
    let (mut sum, mut hashes) = (0, 0);
    for length in 0..=golden.longest {
        let mut key = vec![0; length];
        for _ in 0..golden.keys_per_length {
            random.next_bytes(&mut key);
            sum += u64::from(murmur2(&key).cast_unsigned());
            hashes += 1;
        }
    }
    assert_eq!((hashes, golden.hashes), (100_100, 100_100));
    assert_eq!(format!("{sum:x}"), golden.sum);
    // The value of Kafka's own test, in case the file is ever written from something else.
    assert_eq!(sum, 0xc3b8_cf7c_99fc);
    Ok(())
}

#[test]
fn the_producer_itself_hashes_each_key_but_null() -> Outcome {
    let golden = hashing()?.producer;
    let (mut hashed, mut null, mut ignored) = (0, 0, 0);
    for case in &golden.cases {
        match &case.key {
            Some(key) if !case.ignore_keys => {
                assert_eq!(partition_for_key(&bytes(key)?, Partitions::new(case.n)?), case.partition);
                hashed += 1;
            }
            Some(_) => {
                assert_eq!(case.partition, golden.unknown_partition);
                ignored += 1;
            }
            None => {
                assert_eq!(case.partition, golden.unknown_partition);
                null += 1;
            }
        }
    }
    assert_eq!((hashed, ignored, null), (6, 6, 4));
    Ok(())
}

/// The same files, a column at a time.
#[cfg(feature = "arrow")]
mod columns {
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::{
        Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, FixedSizeBinaryArray, Float32Array,
        Float64Array, Int16Array, Int32Array, Int64Array, LargeBinaryArray, StringArray,
    };
    use partwright_core::columnar;

    use super::*;

    /// Each hash and each partition of a column, null for null.
    fn agrees<'a>(
        golden: &Hashing,
        column: &dyn Array,
        key_type: Option<KeyType>,
        said: impl Iterator<Item = Option<(i32, &'a [i32])>>,
    ) -> Outcome {
        let said: Vec<_> = said.collect();
        let hashes = said.iter().map(|row| row.map(|(hash, _)| hash));
        assert_eq!(columnar::murmur2(column, key_type)?, hashes.collect::<Int32Array>());
        for (at, n) in golden.partitions.iter().enumerate() {
            let partitions = said.iter().map(|row| row.map(|(_, partitions)| partitions[at]));
            let answer = columnar::partition_for_key(column, Partitions::new(*n)?, Client::JAVA, key_type)?;
            assert_eq!(answer, partitions.collect::<Int32Array>(), "among {n}");
        }
        Ok(())
    }

    #[test]
    fn every_key_goes_where_the_java_client_puts_it() -> Outcome {
        let golden = hashing()?;
        // A null after every third key, so that rows and keys have different numbers.
        let mut rows = Vec::new();
        for (at, key) in golden.keys.iter().enumerate() {
            rows.push(Some((bytes(&key.key)?, key)));
            if at % 3 == 0 {
                rows.push(None);
            }
        }
        let keys = || rows.iter().map(|row| row.as_ref().map(|(bytes, _)| bytes.as_slice()));
        let columns: [ArrayRef; 3] = [
            Arc::new(keys().collect::<BinaryArray>()),
            Arc::new(keys().collect::<LargeBinaryArray>()),
            Arc::new(keys().collect::<BinaryViewArray>()),
        ];
        for column in columns {
            assert!(column.len() > 2000 && column.null_count() > 500);
            let said = || rows.iter().map(|row| row.as_ref().map(|(_, key)| (key.murmur2, &*key.partitions)));
            agrees(&golden, &column, None, said())?;
            agrees(&golden, &column.slice(7, 1000), None, said().skip(7).take(1000))?;
        }
        let texts: Vec<_> = golden.keys.iter().filter(|key| key.text.is_some()).collect();
        assert!(texts.len() > 1100);
        let column: StringArray = texts.iter().map(|key| key.text.as_deref()).collect();
        agrees(&golden, &column, None, texts.iter().map(|key| Some((key.murmur2, &*key.partitions))))
    }

    #[test]
    fn every_length_hashes_as_in_java() -> Outcome {
        let golden = hashing()?;
        let wholes: Vec<_> =
            golden.prefixes.iter().map(|block| bytes(&block.block)).collect::<Result<_, _>>()?;
        for length in 0..=1000 {
            let keys = wholes.iter().map(|whole| &whole[..length]);
            let column = FixedSizeBinaryArray::try_from_iter(keys)?;
            assert_eq!(column.len(), 4);
            let rows = golden.prefixes.iter().map(|block| &block.rows[length]);
            agrees(&golden, &column, None, rows.map(|(_, hash, partitions)| Some((*hash, &**partitions))))?;
        }
        Ok(())
    }

    /// One key type: a column of values, the bytes that it becomes, and where these go.
    fn serialized<V>(
        golden: &Hashing,
        key_type: KeyType,
        serializer: &Serializer<V>,
        column: &dyn Array,
    ) -> Outcome {
        assert!(column.len() > 1 && column.len() <= serializer.cases.len());
        let encoded = columnar::encode(column, Some(key_type))?;
        for (case, key) in serializer.cases.iter().zip(encoded.as_binary::<i32>()) {
            assert_eq!(key, Some(&*bytes(&case.bytes)?), "{key_type} {}", case.bytes);
        }
        let said = serializer.cases.iter().take(column.len());
        agrees(golden, column, Some(key_type), said.map(|case| Some((case.murmur2, &*case.partitions))))
    }

    #[test]
    fn every_serializer_writes_the_bytes_that_javas_does() -> Outcome {
        let golden = hashing()?;
        let of = &golden.serializers;
        let shorts: Int16Array = of.short.cases.iter().map(|case| case.given.value).collect();
        serialized(&golden, KeyType::JavaShort, &of.short, &shorts)?;
        let ints: Int32Array = of.int.cases.iter().map(|case| case.given.value).collect();
        serialized(&golden, KeyType::JavaInt, &of.int, &ints)?;
        let longs: Int64Array = of.long.cases.iter().map(|case| case.given.value).collect();
        serialized(&golden, KeyType::JavaLong, &of.long, &longs)?;
        let bits = of.float.cases.iter().map(|case| u32::from_str_radix(&case.given.bits, 16));
        let floats = bits.map(|bits| bits.map(f32::from_bits)).collect::<Result<Vec<_>, _>>()?;
        serialized(&golden, KeyType::JavaFloat, &of.float, &Float32Array::from(floats))?;
        let bits = of.double.cases.iter().map(|case| u64::from_str_radix(&case.given.bits, 16));
        let doubles = bits.map(|bits| bits.map(f64::from_bits)).collect::<Result<Vec<_>, _>>()?;
        serialized(&golden, KeyType::JavaDouble, &of.double, &Float64Array::from(doubles))?;
        let booleans: BooleanArray = of.boolean.cases.iter().map(|case| Some(case.given.value)).collect();
        serialized(&golden, KeyType::JavaBoolean, &of.boolean, &booleans)?;
        let texts: StringArray = of.uuid.cases.iter().map(|case| Some(&*case.given.value)).collect();
        serialized(&golden, KeyType::JavaUuid, &of.uuid, &texts)?;
        let raws = of.uuid.cases.iter().map(|case| bytes(&case.given.raw)).collect::<Result<Vec<_>, _>>()?;
        let raws = FixedSizeBinaryArray::try_from_iter(raws.into_iter())?;
        serialized(&golden, KeyType::JavaUuid, &of.uuid, &raws)?;
        // Values that are Unicode text come first: Arrow has no others.
        let texts: Vec<_> = of.string.cases.iter().map_while(|case| case.given.value.as_deref()).collect();
        assert_eq!(texts.len(), 51);
        serialized(&golden, KeyType::JavaString, &of.string, &StringArray::from(texts))
    }
}

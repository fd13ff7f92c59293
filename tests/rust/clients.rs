//! Properties of every client profile: its column agrees with its rule for each key, and the rules with their descriptions.

#![cfg(feature = "arrow")]

use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, FixedSizeBinaryArray, Int8Array,
    Int32Array, Int64Array, LargeBinaryArray, StringArray,
};
use partwright_core::columnar::{self, partition_for_key};
use partwright_core::hashing::{
    Client, KeyForm, KeyType, Keyless, Partitions, Rule, crc32, fnv1a, murmur2, string_hash,
};
use partwright_core::{Error, Result};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

type Outcome = std::result::Result<(), TestCaseError>;
type Keys = Vec<Option<Vec<u8>>>;

/// Texts, so that `java:string-hash` has an answer too; many of them empty or null.
fn keys() -> impl Strategy<Value = Keys> {
    let key = prop_oneof![
        4 => "[a-z0-9é🔑-]{1,20}".prop_map(|text| Some(text.into_bytes())),
        1 => Just(Some(Vec::new())),
        1 => Just(None),
    ];
    prop::collection::vec(key, 0..40)
}

fn count() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 1..2000_i64, 1 => Just(i64::from(i32::MAX)), 1 => 1..=i64::from(i32::MAX)]
}

/// The same keys in every layout; the last one's dictionary has an empty and a null value.
fn layouts(keys: &Keys) -> Vec<(&'static str, ArrayRef)> {
    let slices = || keys.iter().map(Option::as_deref);
    let mut values: Keys = vec![None, Some(Vec::new())];
    let indices: Int32Array = keys
        .iter()
        .enumerate()
        .map(|(row, key)| match key {
            // A null key as a null index, or as an index of a null value.
            None => (row % 2 == 0).then_some(0),
            Some(key) if key.is_empty() => Some(1),
            Some(key) => {
                values.push(Some(key.clone()));
                i32::try_from(values.len() - 1).ok()
            }
        })
        .collect();
    let values: BinaryArray = values.iter().map(Option::as_deref).collect();
    vec![
        ("binary", Arc::new(slices().collect::<BinaryArray>())),
        ("large_binary", Arc::new(slices().collect::<LargeBinaryArray>())),
        ("binary_view", Arc::new(slices().collect::<BinaryViewArray>())),
        ("dictionary", Arc::new(DictionaryArray::<Int32Type>::new(indices, Arc::new(values)))),
    ]
}

fn needs_text(client: Client) -> bool {
    let profile = client.profile();
    profile.rule.hash.is_of_text() || matches!(profile.form, KeyForm::Json | KeyForm::JsonWithSchema)
}

/// A product that fails at some keys, or cannot have made them.
fn may_have_none(client: Client) -> bool {
    needs_text(client) || is_of_windows(client) || client.to_string() == "filebeat:7.12"
}

/// Keys that are too short are none.
fn is_of_windows(client: Client) -> bool {
    matches!(client.profile().form, KeyForm::Windowed(_))
}

/// Row by row: the client's answer for one key.
fn by_row(client: Client, keys: &Keys, n: Partitions) -> Result<Int32Array> {
    keys.iter().map(|key| client.partition_for_key(key.as_deref(), n)).collect()
}

proptest! {
    #[test]
    fn a_column_is_what_the_client_says_of_each_key(keys in keys(), n in count(), cut in 0..40_usize) {
        let n = Partitions::new(n)?;
        let start = cut.min(keys.len());
        for client in Client::all() {
            let said = by_row(client, &keys, n)?;
            for (layout, column) in layouts(&keys) {
                let placed = partition_for_key(&column, n, client, None)?;
                prop_assert_eq!(&placed, &said, "{} of {}", client, layout);
                let rest = partition_for_key(&column.slice(start, keys.len() - start), n, client, None)?;
                prop_assert_eq!(&rest, &said.slice(start, keys.len() - start), "{} of a slice of {}", client, layout);
            }
        }
    }

    #[test]
    fn any_bytes_have_a_partition_by_every_rule_but_of_text(key in prop::collection::vec(any::<u8>(), 1..80), n in count()) {
        let count = Partitions::new(n)?;
        for client in Client::all() {
            match client.partition_for_key(Some(&key), count) {
                Ok(Some(partition)) => prop_assert!((0..n).contains(&i64::from(partition)), "{}", client),
                Ok(None) => prop_assert!(may_have_none(client), "{}", client),
                Err(Error::Key { .. }) => prop_assert_eq!(client.profile().rule, Rule::STRING_HASH),
                Err(other) => prop_assert!(false, "{}: {}", client, other),
            }
        }
    }

    #[test]
    fn the_steps_lead_to_the_partition(key in ".{0,40}", n in count()) {
        let count = Partitions::new(n)?;
        for client in Client::all() {
            let rule = client.profile().rule;
            let steps = rule.steps(key.as_bytes(), count).ok_or_else(|| TestCaseError::fail("a text has steps"))?;
            prop_assert_eq!(steps.remainder, steps.dividend % i128::from(n));
            prop_assert_eq!(i128::from(steps.partition).abs(), steps.remainder.abs());
            prop_assert_eq!(steps.partition, rule.partition(key.as_bytes(), count));
        }
    }

    #[test]
    fn crc32_is_the_remainder_of_its_polynomial(key in prop::collection::vec(any::<u8>(), 0..100)) {
        // Bit by bit: the definition, without a table.
        let mut sum = u32::MAX;
        for byte in &key {
            sum ^= u32::from(*byte);
            for _ in 0..8 {
                sum = if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
            }
        }
        prop_assert_eq!(crc32(&key), !sum);
    }

    #[test]
    fn fnv1a_is_what_its_description_says(key in prop::collection::vec(any::<u8>(), 0..100)) {
        let described = key.iter().fold(2_166_136_261_u64, |hash, byte| (hash ^ u64::from(*byte)) * 16_777_619 % (1 << 32));
        prop_assert_eq!(u64::from(fnv1a(&key)), described);
    }

    #[test]
    fn a_string_hash_is_a_polynomial_in_31(text in ".{0,20}") {
        let units: Vec<u16> = text.encode_utf16().collect();
        let described = units.iter().fold(0_i64, |hash, unit| (hash * 31 + i64::from(*unit)) % (1 << 32));
        let signed = if described >= 1 << 31 { described - (1 << 32) } else { described };
        prop_assert_eq!(string_hash(text.as_bytes()).map(i64::from), Some(signed));
    }

    #[test]
    fn numbers_go_where_their_bytes_go(values in prop::collection::vec(any::<Option<i64>>(), 0..30), n in count()) {
        let (n, column) = (Partitions::new(n)?, Int64Array::from(values));
        let bytes = columnar::encode(&column, Some(KeyType::JavaLong))?;
        for client in Client::all().filter(|client| !needs_text(*client) && !is_of_windows(*client)) {
            prop_assert_eq!(
                partition_for_key(&column, n, client, Some(KeyType::JavaLong))?,
                partition_for_key(&bytes, n, client, None)?
            );
        }
    }
}

#[test]
fn a_null_key_that_is_hashed_leaves_no_null() -> Outcome {
    let (n, keys) = (Partitions::new(7)?, StringArray::from(vec![Some("a"), None, Some("")]));
    for client in Client::all().filter(|client| !is_of_windows(*client)) {
        let placed = partition_for_key(&keys, n, client, None)?;
        let profile = client.profile();
        assert_eq!(placed.is_null(1), matches!(profile.null_key, Keyless::Chosen(_)), "{client}");
        assert_eq!(placed.is_null(2), profile.empty_key != Keyless::Hashed, "{client}");
        if profile.null_key == Keyless::Hashed {
            assert_eq!(placed.value(1), profile.rule.partition(b"", n), "{client}");
            assert!(placed.nulls().is_none(), "{client}");
        }
    }
    Ok(())
}

#[test]
fn a_column_without_any_key_is_placed_by_those_that_hash_null() -> Outcome {
    let (n, nulls) = (Partitions::new(7)?, arrow_array::NullArray::new(3));
    assert_eq!(
        partition_for_key(&nulls, n, "librdkafka:murmur2".parse()?, None)?,
        Int32Array::from(vec![2; 3])
    );
    assert_eq!(partition_for_key(&nulls, n, Client::JAVA, None)?, Int32Array::new_null(3));
    Ok(())
}

#[test]
fn a_column_of_empty_keys_of_width_0_is_left_to_librdkafka() -> Outcome {
    let n = Partitions::new(1)?;
    let column = FixedSizeBinaryArray::try_new_with_len(0, Vec::<u8>::new().into(), None, 2)
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    assert_eq!(partition_for_key(&column, n, "librdkafka".parse()?, None)?, Int32Array::new_null(2));
    assert_eq!(
        partition_for_key(&column, n, "librdkafka:consistent".parse()?, None)?,
        Int32Array::from(vec![0, 0])
    );
    Ok(())
}

#[test]
fn javas_smallest_hash_is_refused_with_its_row_where_it_stays_negative() -> Outcome {
    let client: Client = "java:string-hash".parse()?;
    let keys = StringArray::from(vec![Some("a"), None, Some("polygenelubricants")]);
    let Err(Error::Value { row: 2, reason }) = partition_for_key(&keys, Partitions::new(12)?, client, None)
    else {
        return Err(TestCaseError::fail("n = 12 gives -8"));
    };
    assert!(reason.contains("polygenelubricants") && reason.contains("-8"), "{reason}");
    // 4 divides 2^31, so the remainder is 0.
    let fine = partition_for_key(&keys, Partitions::new(4)?, client, None)?;
    assert_eq!(fine, Int32Array::from(vec![Some(1), None, Some(0)]));
    let unused = DictionaryArray::<Int8Type>::new(
        Int8Array::from(vec![0, 0]),
        Arc::new(StringArray::from(vec!["a", "polygenelubricants"])),
    );
    assert_eq!(partition_for_key(&unused, Partitions::new(12)?, client, None)?, Int32Array::from(vec![1, 1]));
    Ok(())
}

#[test]
fn only_text_has_a_string_hash() -> Outcome {
    let (n, client): (_, Client) = (Partitions::new(12)?, "java:string-hash".parse()?);
    let binary = BinaryArray::from(vec![Some(&b"a"[..]), Some(&b"\xff"[..])]);
    assert!(matches!(partition_for_key(&binary, n, client, None), Err(Error::Value { row: 1, .. })));
    for key_type in KeyType::ALL {
        let number = ["java:", "confluent:"].iter().any(|prefix| key_type.name().starts_with(prefix));
        let text = !number || *key_type == KeyType::JavaString;
        assert_eq!(client.check_key_type(Some(*key_type)).is_ok(), text, "{key_type}");
        assert!(Client::JAVA.check_key_type(Some(*key_type)).is_ok(), "{key_type}");
    }
    Ok(())
}

#[test]
fn a_client_agrees_with_java_where_its_table_row_says_so() -> Outcome {
    let n = Partitions::new(1000)?;
    let keys: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    for client in Client::all().filter(|client| !is_of_windows(*client)) {
        let profile = client.profile();
        let keyed = keys.iter().all(|key| {
            client.partition_for_key(Some(key.as_bytes()), n)
                == Client::JAVA.partition_for_key(Some(key.as_bytes()), n)
        });
        let keyless = [None, Some(&b""[..])].iter().all(|key| {
            client.hashed(*key) == Client::JAVA.hashed(*key) && client.profile().null_key != Keyless::First
        });
        assert_eq!(keyed && keyless, client.agrees_with_java(), "{client}");
        assert_eq!(keyed, profile.rule == Rule::MURMUR2 && profile.form == KeyForm::AsIs, "{client}");
    }
    Ok(())
}

#[test]
fn each_profile_has_a_name_of_its_own() {
    let mut names: Vec<_> = Client::all().map(|client| client.profile().name).collect();
    let profiles = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), profiles);
    assert!(Client::all().all(|client| client.to_string().parse() == Ok(client)));
}

#[test]
fn murmur2_is_not_its_kafkajs_namesake() {
    assert_ne!(murmur2(b"12345"), partwright_core::hashing::kafkajs_legacy(b"12345"));
}

/// What the products' own code gave for five keys: the hash, and the partition of 12 and of 50.
#[test]
fn a_product_puts_a_key_where_its_own_code_put_it() -> Outcome {
    const KEYS: [&str; 5] = ["order-1001", "köln-7", "🦊", "customer/0000000042/eu", "zürich→bern #17"];
    type Given = (i128, i32, i32);
    #[rustfmt::skip]
    let recorded: [(&str, [Given; 5]); 18] = [
        ("filebeat", [(2_439_986_572, 8, 24), (3_276_377_525, 9, 27), (236_129_112, 0, 12), (2_624_841_495, 7, 47), (2_106_967_330, 10, 30)]),
        ("platformatic", [(297_523_878, 6, 28), (4_157_361_707, 11, 7), (1_257_896_919, 3, 19), (2_970_533_092, 4, 42), (532_299_023, 11, 23)]),
        ("spring-cloud-stream", [(708_180_863, 11, 13), (-1_001_137_385, 5, 35), (1_772_812, 4, 12), (2_108_788_080, 0, 30), (644_123_996, 8, 46)]),
        ("maxwell", [(708_180_863, 11, 13), (-1_001_137_385, 5, 35), (1_772_812, 4, 12), (2_108_788_080, 0, 30), (644_123_996, 8, 46)]),
        ("debezium:routing", [(708_180_863, 11, 13), (-1_001_137_385, 3, 13), (1_772_812, 4, 12), (2_108_788_080, 0, 30), (644_123_996, 8, 46)]),
        ("debezium:routing-murmur", [(1_724_967_665, 5, 15), (489_702_937, 1, 37), (1_553_007_198, 6, 48), (-1_806_823_611, 5, 37), (-1_080_565_475, 9, 23)]),
        ("maxwell:murmur3", [(403_731_859, 7, 9), (-1_280_569_488, 0, 38), (178_534_860, 0, 10), (276_805_587, 3, 37), (1_516_374_908, 8, 8)]),
        ("materialize", [(5_316_304_151_814_004_921, 1, 21), (12_152_789_734_008_197_333, 5, 33), (8_665_722_353_710_312_900, 4, 0), (18_212_352_451_485_186_120, 0, 20), (68_148_922_229_432_712, 0, 12)]),
        ("brod", [(55_655_227, 7, 27), (130_748_976, 0, 26), (96_785_613, 9, 13), (8_277_914, 2, 14), (101_875_484, 8, 34)]),
        ("klife", [(1_532_050_235, 11, 35), (3_620_409_904, 4, 4), (3_452_228_813, 5, 13), (2_961_067_930, 10, 30), (1_444_052_764, 4, 14)]),
        ("kafka-rust", [(1_949_004_063, 3, 13), (3_783_729_001, 1, 1), (1_091_646_284, 8, 34), (2_978_133_950, 2, 0), (1_444_110_799, 7, 49)]),
        ("rdkafka-ruby:partition-key", [(230_890_041, 9, 41), (3_123_836_271, 3, 21), (1_874_795_921, 5, 21), (3_492_123_515, 11, 15), (166_948_880, 8, 30)]),
        ("kafka-node", [(708_180_863, 11, 13), (1_146_346_263, 3, 13), (1_772_812, 4, 12), (2_108_788_080, 0, 30), (644_123_996, 8, 46)]),
        ("event-hubs", [(20_202, 6, 2), (29_297, 5, 47), (-11_556, 0, 6), (25_355, 11, 5), (-18_741, 9, 41)]),
        ("pinot:murmur3", [(1_038_198_555, 3, 5), (-326_729_744, 0, 4), (822_772_547, 11, 47), (575_329_260, 0, 10), (-1_790_724_452, 0, 46)]),
        ("pinot:murmur3-x64", [(-1_640_675_181, 11, 17), (-800_901_471, 5, 27), (1_808_204_998, 10, 48), (-946_294_046, 6, 2), (1_216_134_063, 3, 13)]),
        ("pinot:hashcode", [(708_180_863, 11, 13), (-1_001_137_385, 5, 35), (1_772_812, 4, 12), (2_108_788_080, 0, 30), (644_123_996, 8, 46)]),
        ("canal", [(708_180_863, 11, 13), (-1_001_137_385, 5, 35), (1_772_812, 4, 12), (2_108_788_080, 0, 30), (644_123_996, 8, 46)]),
    ];
    // A client may see the same bits with or without a sign.
    let bits = |hash: i128| if hash < 0 { hash + (1 << 32) } else { hash };
    for (name, answers) in recorded {
        let client: Client = name.parse()?;
        for (key, (hash, of_12, of_50)) in KEYS.iter().zip(answers) {
            let steps = client
                .steps(Some(key.as_bytes()), Partitions::new(12)?)
                .ok_or_else(|| TestCaseError::fail("a key has steps"))?;
            assert_eq!((bits(steps.hash), steps.partition), (bits(hash), of_12), "{name} {key}");
            let placed = client.partition_for_key(Some(key.as_bytes()), Partitions::new(50)?)?;
            assert_eq!(placed, Some(of_50), "{name} {key}");
        }
    }
    let (connect, n) =
        (["kafka-connect:string", "kafka-connect:json", "kafka-connect:json-schema"], Partitions::new(12)?);
    let placed: Result<Vec<_>> =
        connect.iter().map(|name| name.parse::<Client>()?.partition_for_key(Some(b"TT0124"), n)).collect();
    assert_eq!(placed?, [Some(10), Some(6), Some(0)]);
    Ok(())
}

/// What belongs to the window is no part of what is hashed.
#[test]
fn a_key_of_a_window_goes_where_its_inner_key_goes() -> Outcome {
    let n = Partitions::new(12)?;
    for (name, bytes) in [("kafka-streams:time-window", 8), ("kafka-streams:session-window", 16)] {
        let client: Client = name.parse()?;
        let key = [b"TT0124", &[7_u8; 16][..bytes]].concat();
        assert_eq!(client.partition_for_key(Some(&key), n)?, Some(10));
        let column = BinaryArray::from(vec![Some(&key[..]), None]);
        assert_eq!(partition_for_key(&column, n, client, None)?, Int32Array::from(vec![Some(10), None]));
        assert_eq!(client.partition_for_key(Some(&key[..bytes - 1]), n)?, None);
    }
    Ok(())
}

/// Filebeat took its output down at such a key; among powers of two it had a partition.
#[test]
fn a_product_that_fails_at_a_key_gives_null() -> Outcome {
    let keys = StringArray::from(vec!["16000002EFEBA11E", "TT0124"]);
    let client: Client = "filebeat:7.12".parse()?;
    let twelve = partition_for_key(&keys, Partitions::new(12)?, client, None)?;
    assert_eq!((twelve.is_null(0), twelve.is_null(1)), (true, false));
    assert_eq!(client.partition_for_key(Some(b"16000002EFEBA11E"), Partitions::new(12)?)?, None);
    assert_eq!(partition_for_key(&keys, Partitions::new(16)?, client, None)?.value(0), 0);
    Ok(())
}

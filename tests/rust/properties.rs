//! Properties of every column: it agrees with the scalar definition for each key, however the keys are laid out in memory.

#![cfg(feature = "arrow")]

use std::sync::Arc;

use arrow_array::builder::{BinaryViewBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Float16Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, DictionaryArray, FixedSizeBinaryArray,
    Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, LargeBinaryArray,
    LargeStringArray, NullArray, PrimitiveArray, StringArray, StringViewArray, UInt8Array, UInt16Array,
    UInt32Array, UInt64Array, new_empty_array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use partwright_core::columnar::{self, Job, KeyColumn, Workers};
use partwright_core::hashing::{
    Client, KeyType, Partitions, murmur2, partition_for_key, serializer, to_positive,
};
use partwright_core::{Error, Result};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestCaseError;

type Outcome = std::result::Result<(), TestCaseError>;
type Keys = Vec<Option<Vec<u8>>>;

/// `MurmurHash2` by its description: words of 4 bytes mixed into a seed that knows the length, the 1 to 3 bytes that
/// remain as a number, and an avalanche at the end; in numbers of 64 bits, each step taken modulo 2^32.
fn described(key: &[u8]) -> i32 {
    const WORD: u64 = 1 << 32;
    let times = |number: u64| number * 0x5bd1_e995 % WORD;
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, byte| sum * 256 + u64::from(*byte));
    let whole = key.len() - key.len() % 4;
    let mut hash = 0x9747_b28c ^ (key.len() as u64 % WORD);
    for start in (0..whole).step_by(4) {
        let word = times(number(&key[start..start + 4]));
        hash = times(hash) ^ times(word ^ (word / (1 << 24)));
    }
    if whole < key.len() {
        hash = times(hash ^ number(&key[whole..]));
    }
    hash = times(hash ^ (hash / (1 << 13)));
    hash ^= hash / (1 << 15);
    i32::from_ne_bytes(u32::try_from(hash).map_or([0; 4], u32::to_ne_bytes))
}

/// Keys, mostly short, as keys are; some longer than a view holds, some beyond a block of views.
fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => prop::collection::vec(any::<u8>(), 0..16),
        2 => prop::collection::vec(any::<u8>(), 10..80),
        1 => prop::collection::vec(prop::sample::select(vec![0x00, 0x7f, 0x80, 0xff]), 0..40),
    ]
}

fn keys() -> impl Strategy<Value = Keys> {
    prop::collection::vec(prop::option::weighted(0.8, key()), 0..50)
}

fn texts() -> impl Strategy<Value = Vec<Option<String>>> {
    prop::collection::vec(prop::option::weighted(0.8, ".{0,16}"), 0..50)
}

fn count() -> impl Strategy<Value = i64> {
    prop_oneof![1_i64..100, 1_i64..(1 << 31), Just((1 << 31) - 1)]
}

fn slices(keys: &Keys) -> impl Iterator<Item = Option<&[u8]>> {
    keys.iter().map(Option::as_deref)
}

/// A dictionary that is hard to read: its values are in another order than the rows, one twice, one null, one
/// that no row uses; a null row is by turns a null index and the index of the null.
fn dictionary<K: ArrowDictionaryKeyType>(
    keys: &Keys,
    values: impl Fn(&Keys) -> ArrayRef,
) -> std::result::Result<ArrayRef, TestCaseError>
where
    K::Native: TryFrom<usize>,
{
    let mut distinct: Keys = keys.iter().filter(|key| key.is_some()).cloned().collect();
    distinct.sort();
    distinct.dedup();
    distinct.reverse();
    distinct.insert(0, None);
    distinct.push(Some(b"no row has this one".to_vec()));
    if let Some(first) = keys.iter().flatten().next() {
        distinct.push(Some(first.clone()));
    }
    let index = |row: usize, key: &Option<Vec<u8>>| {
        let place = match (key, row % 2) {
            (None, 0) => None,
            (key, 1) => distinct.iter().rposition(|value| value == key),
            (key, _) => distinct.iter().position(|value| value == key),
        };
        place.and_then(|place| K::Native::try_from(place).ok())
    };
    let indices: PrimitiveArray<K> = keys.iter().enumerate().map(|(row, key)| index(row, key)).collect();
    Ok(Arc::new(DictionaryArray::try_new(indices, values(&distinct))?))
}

fn binary(keys: &Keys) -> ArrayRef {
    Arc::new(slices(keys).collect::<BinaryArray>())
}

/// Views over several buffers, with a null before each run of keys in it.
fn views(keys: &Keys) -> ArrayRef {
    let mut builder = BinaryViewBuilder::new().with_fixed_block_size(64);
    slices(keys).for_each(|key| builder.append_option(key));
    Arc::new(builder.finish())
}

/// The keys in every layout that takes keys of any length.
fn binary_layouts(keys: &Keys) -> std::result::Result<Vec<(&'static str, ArrayRef)>, TestCaseError> {
    let large = |keys: &Keys| Arc::new(slices(keys).collect::<LargeBinaryArray>()) as ArrayRef;
    Ok(vec![
        ("binary", binary(keys)),
        ("large_binary", large(keys)),
        ("binary_view", Arc::new(slices(keys).collect::<BinaryViewArray>())),
        ("binary_view in blocks", views(keys)),
        ("dictionary<int8>", dictionary::<Int8Type>(keys, binary)?),
        ("dictionary<int16>", dictionary::<Int16Type>(keys, large)?),
        ("dictionary<int32>", dictionary::<Int32Type>(keys, views)?),
        ("dictionary<int64>", dictionary::<Int64Type>(keys, binary)?),
        ("dictionary<uint8>", dictionary::<UInt8Type>(keys, binary)?),
        ("dictionary<uint16>", dictionary::<UInt16Type>(keys, binary)?),
        ("dictionary<uint32>", dictionary::<UInt32Type>(keys, binary)?),
        ("dictionary<uint64>", dictionary::<UInt64Type>(keys, binary)?),
        (
            "dictionary of a dictionary",
            dictionary::<Int8Type>(keys, |keys| {
                dictionary::<Int16Type>(keys, binary).unwrap_or_else(|_| Arc::new(NullArray::new(0)))
            })?,
        ),
    ])
}

fn text_layouts(
    texts: &[Option<String>],
) -> std::result::Result<Vec<(&'static str, ArrayRef)>, TestCaseError> {
    let keys: Keys = texts.iter().map(|text| text.as_ref().map(|text| text.as_bytes().to_vec())).collect();
    let strings = |keys: &Keys| {
        let texts = slices(keys).map(|key| key.map(|key| String::from_utf8_lossy(key).into_owned()));
        Arc::new(texts.collect::<StringArray>()) as ArrayRef
    };
    let mut blocks = StringViewBuilder::new().with_fixed_block_size(64);
    for text in texts {
        blocks.append_option(text.as_ref());
    }
    Ok(vec![
        ("string", Arc::new(texts.iter().collect::<StringArray>())),
        ("large_string", Arc::new(texts.iter().collect::<LargeStringArray>())),
        ("string_view", Arc::new(texts.iter().collect::<StringViewArray>())),
        ("string_view in blocks", Arc::new(blocks.finish())),
        ("dictionary<int8, string>", dictionary::<Int8Type>(&keys, strings)?),
        ("dictionary<uint32, string>", dictionary::<UInt32Type>(&keys, strings)?),
    ])
}

/// The key bytes of each row, of whichever binary type.
fn rows_of(encoded: &dyn Array) -> Keys {
    let owned = |key: Option<&[u8]>| key.map(<[u8]>::to_vec);
    match encoded.data_type() {
        DataType::LargeBinary => encoded.as_binary::<i64>().iter().map(owned).collect(),
        DataType::BinaryView => encoded.as_binary_view().iter().map(owned).collect(),
        _ => encoded.as_binary::<i32>().iter().map(owned).collect(),
    }
}

/// The row of a value that has no key bytes.
fn misfit<T>(result: &Result<T>) -> Option<usize> {
    match result {
        Err(Error::Value { row, .. }) => Some(*row),
        _ => None,
    }
}

/// The hashes of these keys, or the row where the array is broken.
fn hashes_or_broken(column: &dyn Array, keys: &Keys, broken: Option<usize>) -> Outcome {
    let hashes: Int32Array = slices(keys).map(|key| key.map(murmur2)).collect();
    let expected = broken.map_or(Ok(hashes), |row| Err(Error::Malformed { row }));
    prop_assert_eq!(columnar::murmur2(column, None), expected);
    Ok(())
}

/// These keys, or the row where the array is broken.
fn keys_or_broken(column: &dyn Array, keys: &Keys, broken: Option<usize>) -> Outcome {
    let expected = broken.map_or_else(|| Ok(keys.clone()), |row| Err(Error::Malformed { row }));
    prop_assert_eq!(columnar::encode(column, None).map(|encoded| rows_of(&encoded)), expected);
    Ok(())
}

/// The result's validity bitmap is the column's own, where there are rows.
fn shares_nulls(name: &str, column: &dyn Array, result: &dyn Array) -> Outcome {
    let place = |nulls: &NullBuffer| (nulls.buffer().as_ptr().addr(), nulls.offset(), nulls.len());
    if column.is_empty() {
        return Ok(());
    }
    prop_assert_eq!(column.nulls().map(place), result.nulls().map(place), "{}: the bitmap was copied", name);
    Ok(())
}

/// For each row, a column gives the answer of the scalar functions for its key.
fn agrees(name: &str, column: &dyn Array, key_type: Option<KeyType>, keys: &Keys, n: i64) -> Outcome {
    let n = Partitions::new(n)?;
    let hashes: Int32Array = slices(keys).map(|key| key.map(murmur2)).collect();
    let partitions: Int32Array = slices(keys).map(|key| key.map(|key| partition_for_key(key, n))).collect();
    let answered = columnar::murmur2(column, key_type)?;
    let placed = columnar::partition_for_key(column, n, Client::JAVA, key_type)?;
    let encoded = columnar::encode(column, key_type)?;
    prop_assert_eq!(&answered, &hashes, "{}", name);
    prop_assert_eq!(&placed, &partitions, "{}", name);
    prop_assert_eq!(&rows_of(&encoded), keys, "{}", name);
    let keyed = columnar::key_column(column, key_type)?;
    prop_assert_eq!(keyed.rows(), keys.len());
    for (row, key) in slices(keys).enumerate() {
        prop_assert_eq!(keyed.key(row)?, key, "{} row {}", name, row);
    }
    prop_assert_eq!(keyed.key(keys.len())?, None);
    if !matches!(column.data_type(), DataType::Dictionary(..) | DataType::Null) {
        shares_nulls(name, column, &answered)?;
        shares_nulls(name, column, &placed)?;
        shares_nulls(name, column, &encoded)?;
    }
    Ok(())
}

/// As [`agrees`], for the whole column, for a slice of it and for a slice of the slice.
fn agrees_sliced(
    name: &str,
    column: &ArrayRef,
    key_type: Option<KeyType>,
    keys: &Keys,
    n: i64,
    (from, to): (Index, Index),
) -> Outcome {
    agrees(name, column, key_type, keys, n)?;
    let (from, to) = (from.index(keys.len() + 1), to.index(keys.len() + 1));
    let (from, to) = (from.min(to), from.max(to));
    let slice = column.slice(from, to - from);
    agrees(name, &slice, key_type, &keys[from..to].to_vec(), n)?;
    let middle = (to - from) / 2;
    agrees(name, &slice.slice(middle, to - from - middle), key_type, &keys[from + middle..to].to_vec(), n)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn murmur2_is_what_its_description_says(key in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert_eq!(murmur2(&key), described(&key));
    }

    #[test]
    fn a_partition_is_the_hash_without_its_sign_modulo_n(key in key(), hash: i32, n in count()) {
        let count = Partitions::new(n)?;
        let positive = if hash < 0 { i64::from(hash) + (1 << 31) } else { i64::from(hash) };
        prop_assert_eq!(i64::from(to_positive(hash)), positive);
        let partition = i64::from(partition_for_key(&key, count));
        let hash = i64::from(described(&key));
        prop_assert_eq!(partition, (if hash < 0 { hash + (1 << 31) } else { hash }) % n);
        prop_assert!((0..n).contains(&partition));
    }

    #[test]
    fn a_count_of_partitions_is_checked(given: i64) {
        let said = Partitions::new(given).map(|n| i64::from(n.get()));
        let expected = if (1..1 << 31).contains(&given) { Ok(given) } else { Err(Error::Partitions { value: given }) };
        prop_assert_eq!(said, expected);
    }

    #[test]
    fn every_binary_layout_says_the_same(keys in keys(), n in count(), ends: (Index, Index)) {
        for (name, column) in binary_layouts(&keys)? {
            agrees_sliced(name, &column, None, &keys, n, ends)?;
            agrees_sliced(name, &column, Some(KeyType::Bytes), &keys, n, ends)?;
        }
    }

    #[test]
    fn every_text_layout_says_the_same(texts in texts(), n in count(), ends: (Index, Index)) {
        let keys: Keys = texts.iter().map(|text| text.clone().map(String::into_bytes)).collect();
        for (name, column) in text_layouts(&texts)? {
            for key_type in [None, Some(KeyType::Utf8), Some(KeyType::JavaString)] {
                agrees_sliced(name, &column, key_type, &keys, n, ends)?;
            }
        }
    }

    #[test]
    fn binary_of_a_fixed_size_says_the_same(
        (width, keys) in (0_usize..40).prop_flat_map(|width| {
            let key = prop::collection::vec(any::<u8>(), width);
            (Just(width), prop::collection::vec(prop::option::weighted(0.8, key), 0..40))
        }),
        n in count(),
        ends: (Index, Index),
    ) {
        let width = i32::try_from(width)?;
        let column = FixedSizeBinaryArray::try_from_sparse_iter_with_size(slices(&keys), width)?;
        agrees_sliced("fixed_size_binary", &(Arc::new(column) as ArrayRef), None, &keys, n, ends)?;
        let values = |keys: &Keys| {
            let values = slices(keys).map(|key| key.filter(|key| key.len() == width.cast_unsigned() as usize));
            let values = FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, width);
            values.map_or_else(|_| Arc::new(NullArray::new(0)) as ArrayRef, |values| Arc::new(values))
        };
        agrees_sliced("dictionary of it", &dictionary::<Int16Type>(&keys, values)?, None, &keys, n, ends)?;
    }

    #[test]
    fn chunks_say_what_the_whole_says(keys in keys(), cut: Index, n in count()) {
        let n = Partitions::new(n)?;
        let place = |column: &dyn Array| columnar::partition_for_key(column, n, Client::JAVA, None);
        let cut = cut.index(keys.len() + 1);
        for (name, column) in binary_layouts(&keys)? {
            let whole = place(&column)?;
            let (head, tail) = (column.slice(0, cut), column.slice(cut, keys.len() - cut));
            let parts: Int32Array = place(&head)?.iter().chain(&place(&tail)?).collect();
            prop_assert_eq!(whole, parts, "{}", name);
        }
    }

    #[test]
    fn what_stands_under_a_null_is_never_looked_at(keys in keys()) {
        let valid: Vec<bool> = keys.iter().map(Option::is_some).collect();
        let full: Keys = keys.iter().map(|key| Some(key.clone().unwrap_or_else(|| b"hidden".to_vec()))).collect();
        for (name, column) in binary_layouts(&full)? {
            if matches!(column.data_type(), DataType::Dictionary(..)) {
                continue;
            }
            let hidden = column.to_data().into_builder().nulls(Some(valid.clone().into())).build()?;
            agrees(name, &arrow_array::make_array(hidden), None, &keys, 12)?;
        }
        // Integers that would not fit, and texts that are not a UUID, are no error there.
        let nulls: NullBuffer = vec![false, true].into();
        let column = Int64Array::new(vec![i64::MAX, 7].into(), Some(nulls.clone()));
        agrees("int64", &column, Some(KeyType::JavaShort), &vec![None, Some(vec![0, 7])], 12)?;
        let column = BinaryArray::new(OffsetBuffer::from_lengths([2, 7]), b"??\0\0\0\0\x07ab".into(), Some(nulls));
        let stripped = vec![None, Some(b"ab".to_vec())];
        agrees("binary", &column, Some(KeyType::ConfluentStripId), &stripped, 12)?;
    }

    #[test]
    fn a_schema_registrys_header_is_cut_off(keys in keys(), id: u32, ends: (Index, Index)) {
        let with_header = |key: &Vec<u8>| [&[0], &id.to_be_bytes()[..], key].concat();
        let headed: Keys = keys.iter().map(|key| key.as_ref().map(with_header)).collect();
        for (name, column) in binary_layouts(&headed)? {
            // The value that no row uses has no header, and no row is refused for it.
            let slice = |column: &ArrayRef| columnar::encode(column, Some(KeyType::ConfluentStripId));
            prop_assert_eq!(&rows_of(&slice(&column)?), &keys, "{}", name);
            let (from, to) = (ends.0.index(keys.len() + 1), ends.1.index(keys.len() + 1));
            let (from, to) = (from.min(to), from.max(to));
            prop_assert_eq!(&rows_of(&slice(&column.slice(from, to - from))?), &keys[from..to], "{}", name);
        }
    }

    #[test]
    fn integers_of_every_width_are_written_as_java_writes_them(values: Vec<Option<i64>>, n in count()) {
        fn fitting<T: TryFrom<i64> + Copy>(values: &[Option<i64>]) -> Vec<Option<T>> {
            // A number that does not fit is replaced by its low byte without the sign, which always fits.
            let small = |value: i64| T::try_from(value).or_else(|_| T::try_from(value & 0x7f)).ok();
            values.iter().map(|value| value.and_then(small)).collect()
        }
        fn column<A: Array + FromIterator<Option<T>> + 'static, T: TryFrom<i64> + Into<i128> + Copy>(
            values: &[Option<i64>],
        ) -> (ArrayRef, Vec<Option<i128>>) {
            let fitting = fitting::<T>(values);
            let numbers = fitting.iter().map(|value| value.map(Into::into)).collect();
            (Arc::new(fitting.into_iter().collect::<A>()), numbers)
        }
        let columns = [
            column::<Int8Array, i8>(&values),
            column::<Int16Array, i16>(&values),
            column::<Int32Array, i32>(&values),
            column::<Int64Array, i64>(&values),
            column::<UInt8Array, u8>(&values),
            column::<UInt16Array, u16>(&values),
            column::<UInt32Array, u32>(&values),
            column::<UInt64Array, u64>(&values),
        ];
        for (column, numbers) in columns {
            let name = column.data_type().to_string();
            let check = |key_type, limit: i128, bytes: &dyn Fn(i128) -> Vec<u8>| -> Outcome {
                let fits = |number: &i128| (-limit..limit).contains(number);
                let first = numbers.iter().position(|number| number.is_some_and(|number| !fits(&number)));
                match first {
                    None => {
                        let keys = numbers.iter().map(|number| number.map(bytes)).collect();
                        agrees(&name, &column, Some(key_type), &keys, n)
                    }
                    Some(first) => {
                        let refused = columnar::murmur2(&column, Some(key_type));
                        prop_assert_eq!(misfit(&refused), Some(first));
                        Ok(())
                    }
                }
            };
            #[expect(clippy::cast_possible_truncation, reason = "only those that fit are asked for")]
            {
                check(KeyType::JavaShort, 1 << 15, &|number| serializer::short(number as i16).into())?;
                check(KeyType::JavaInt, 1 << 31, &|number| serializer::int(number as i32).into())?;
                check(KeyType::JavaLong, 1 << 63, &|number| serializer::long(number as i64).into())?;
            }
        }
    }

    #[test]
    fn floating_point_of_every_width_is_written_as_java_writes_it(
        singles: Vec<Option<u32>>, doubles: Vec<Option<u64>>, halves: Vec<Option<u16>>, n in count(),
    ) {
        let bytes_of_single = |float: f32| Some(float.to_bits().to_be_bytes().to_vec());
        let bytes_of_double = |float: f64| {
            let bits = if float.is_nan() { 0x7ff8_0000_0000_0000 } else { float.to_bits() };
            Some(bits.to_be_bytes().to_vec())
        };
        let floats: Vec<_> = singles.iter().map(|bits| bits.map(f32::from_bits)).collect();
        let column = Float32Array::from(floats.clone());
        let keys = floats.iter().map(|float| float.and_then(bytes_of_single)).collect();
        agrees("float as a float", &column, Some(KeyType::JavaFloat), &keys, n)?;
        let keys = floats.iter().map(|float| float.and_then(|float| bytes_of_double(float.into()))).collect();
        agrees("float as a double", &column, Some(KeyType::JavaDouble), &keys, n)?;
        let floats: Vec<_> = doubles.iter().map(|bits| bits.map(f64::from_bits)).collect();
        let keys = floats.iter().map(|float| float.and_then(bytes_of_double)).collect();
        agrees("double", &Float64Array::from(floats), Some(KeyType::JavaDouble), &keys, n)?;
        // A half is widened: the number stays the same, exactly.
        let column: PrimitiveArray<Float16Type> =
            halves.iter().map(|bits| bits.map(<Float16Type as arrow_array::ArrowPrimitiveType>::Native::from_bits)).collect();
        let keys = column.iter().map(|half| half.and_then(|half| bytes_of_single(half.to_f32()))).collect();
        agrees("half as a float", &column, Some(KeyType::JavaFloat), &keys, n)?;
        let keys = column.iter().map(|half| half.and_then(|half| bytes_of_double(half.to_f64()))).collect();
        agrees("half as a double", &column, Some(KeyType::JavaDouble), &keys, n)?;
    }

    #[test]
    fn a_double_becomes_the_nearest_float_or_is_refused(value: f64) {
        let column = Float64Array::from(vec![None, Some(value)]);
        let encoded = columnar::encode(&column, Some(KeyType::JavaFloat));
        // Halfway between the largest float and the next one, if it existed.
        if value.is_finite() && value.abs() >= 2_f64.powi(128) - 2_f64.powi(103) {
            prop_assert_eq!(misfit(&encoded), Some(1));
            return Ok(());
        }
        let encoded = rows_of(&encoded?);
        let key: [u8; 4] = encoded[1].clone().unwrap_or_default().as_slice().try_into()?;
        let float = f32::from_be_bytes(key);
        let distance = |float: f32| (f64::from(float) - value).abs();
        prop_assert!(
            value.to_bits() == f64::from(float).to_bits()
                || value.is_nan() && float.is_nan()
                || distance(float) <= distance(float.next_up()) && distance(float) <= distance(float.next_down())
        );
    }

    #[test]
    fn booleans_and_uuids_are_written_as_java_writes_them(
        booleans: Vec<Option<bool>>, uuids in prop::collection::vec(prop::option::of(any::<[u8; 16]>()), 0..20), n in count(),
    ) {
        let keys = booleans.iter().map(|value| value.map(|value| vec![u8::from(value)])).collect();
        agrees("bool", &BooleanArray::from(booleans), Some(KeyType::JavaBoolean), &keys, n)?;
        let text = |bytes: [u8; 16]| {
            let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            [&digits[..4], &digits[4..6], &digits[6..8], &digits[8..10], &digits[10..]].map(<[String]>::concat).join("-")
        };
        let texts: Vec<Option<String>> = uuids.iter().map(|uuid| uuid.map(text)).collect();
        let keys: Keys = texts.iter().map(|text| text.clone().map(String::into_bytes)).collect();
        let raw: Keys = uuids.iter().map(|uuid| uuid.map(Vec::from)).collect();
        let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(slices(&raw), 16)?;
        agrees("fixed_size_binary", &fixed, Some(KeyType::JavaUuid), &keys, n)?;
        for (name, column) in binary_layouts(&raw)? {
            agrees(name, &column, Some(KeyType::JavaUuid), &keys, n)?;
        }
        for (name, column) in text_layouts(&texts)? {
            agrees(name, &column, Some(KeyType::JavaUuid), &keys, n)?;
        }
        let upper: StringArray = texts.iter().map(|text| text.as_ref().map(|text| text.to_uppercase())).collect();
        agrees("upper case", &upper, Some(KeyType::JavaUuid), &keys, n)?;
    }

    #[test]
    fn only_36_characters_are_a_uuid(text in "[0-9a-fA-F-]{34,38}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-g]{12}|.{0,40}") {
        let groups: Vec<usize> = text.split('-').map(str::len).collect();
        let digits = text.chars().all(|character| character == '-' || character.is_ascii_hexdigit());
        let well_formed = groups == [8, 4, 4, 4, 12] && digits;
        prop_assert_eq!(serializer::uuid_text(text.as_bytes()).is_some(), well_formed);
        let column = StringArray::from(vec![None, Some(text)]);
        let encoded = columnar::encode(&column, Some(KeyType::JavaUuid));
        prop_assert_eq!(encoded.is_ok(), well_formed);
        prop_assert!(well_formed || misfit(&encoded) == Some(1));
    }

    #[test]
    fn broken_offsets_are_refused_and_nothing_is_read_beyond_the_data(
        offsets in prop::collection::vec(-3_i32..40, 1..8), valid in prop::collection::vec(any::<bool>(), 7),
    ) {
        let (data, rows) = (Buffer::from((0..32).collect::<Vec<u8>>()), offsets.len() - 1);
        let nulls: NullBuffer = valid[..rows].to_vec().into();
        let piece = |row: usize| {
            data.get(usize::try_from(offsets[row]).ok()?..usize::try_from(offsets[row + 1]).ok()?)
        };
        let large = offsets.iter().copied().map(i64::from).collect::<Vec<_>>();
        let broken = |nulls: Option<&NullBuffer>| {
            let valid = |row: &usize| nulls.is_none_or(|nulls| nulls.is_valid(*row));
            (0..rows).filter(valid).find(|row| piece(*row).is_none())
        };
        for nulls in [None, Some(&nulls)] {
            #[expect(unsafe_code, reason = "Arrow's safe constructors do not make what another library may hand over")]
            // SAFETY: the offsets are as wrong as they would be from there; only our own reader, which checks, sees them.
            let columns: [ArrayRef; 4] = unsafe {
                let small = OffsetBuffer::new_unchecked(ScalarBuffer::from(offsets.clone()));
                let large = OffsetBuffer::new_unchecked(ScalarBuffer::from(large.clone()));
                [
                    Arc::new(BinaryArray::new_unchecked(small.clone(), data.clone(), nulls.cloned())),
                    Arc::new(StringArray::new_unchecked(small, data.clone(), nulls.cloned())),
                    Arc::new(LargeBinaryArray::new_unchecked(large.clone(), data.clone(), nulls.cloned())),
                    Arc::new(LargeStringArray::new_unchecked(large, data.clone(), nulls.cloned())),
                ]
            };
            let keys: Keys = (0..rows)
                .map(|row| piece(row).filter(|_| nulls.is_none_or(|nulls| nulls.is_valid(row))).map(<[u8]>::to_vec))
                .collect();
            for column in columns {
                hashes_or_broken(&column, &keys, broken(nulls))?;
                // The resulting column has the same offsets: there none may be wrong, not even under a null.
                keys_or_broken(&column, &keys, broken(None))?;
            }
        }
    }

    #[test]
    fn broken_views_are_refused_and_nothing_is_read_beyond_the_data(
        parts in prop::collection::vec((-2_i32..24, any::<[u8; 4]>(), -1_i32..3, -2_i32..30), 0..6),
        valid in prop::collection::vec(any::<bool>(), 6),
    ) {
        let buffers = [Buffer::from(vec![7; 32]), Buffer::from(vec![8; 16])];
        let bytes = |(length, prefix, buffer, offset): &(i32, [u8; 4], i32, i32)| -> [u8; 16] {
            let mut bytes = [0; 16];
            for (place, four) in [length.to_le_bytes(), *prefix, buffer.to_le_bytes(), offset.to_le_bytes()].iter().enumerate() {
                bytes[4 * place..][..4].copy_from_slice(four);
            }
            bytes
        };
        let key = |part: &(i32, [u8; 4], i32, i32)| -> Option<Vec<u8>> {
            let length = usize::try_from(part.0).ok()?;
            if length <= 12 {
                return Some(bytes(part)[4..4 + length].to_vec());
            }
            let offset = usize::try_from(part.3).ok()?;
            Some(buffers.get(usize::try_from(part.2).ok()?)?.get(offset..offset + length)?.to_vec())
        };
        let views: ScalarBuffer<u128> = parts.iter().map(|part| u128::from_le_bytes(bytes(part))).collect();
        let nulls: NullBuffer = valid[..parts.len()].to_vec().into();
        for nulls in [None, Some(&nulls)] {
            #[expect(unsafe_code, reason = "Arrow's safe constructors do not make what another library may hand over")]
            // SAFETY: the views are as wrong as they would be from there; only our own reader, which checks, sees them.
            let columns: [ArrayRef; 2] = unsafe {
                [
                    Arc::new(BinaryViewArray::new_unchecked(views.clone(), buffers.to_vec(), nulls.cloned())),
                    Arc::new(StringViewArray::new_unchecked(views.clone(), buffers.to_vec(), nulls.cloned())),
                ]
            };
            let valid = |row: usize| nulls.is_none_or(|nulls| nulls.is_valid(row));
            let keys: Keys =
                parts.iter().enumerate().map(|(row, part)| key(part).filter(|_| valid(row))).collect();
            // Wrong prefixes, dirty padding and values under nulls are not refused.
            let broken = parts.iter().enumerate().find(|(row, part)| valid(*row) && key(part).is_none());
            for column in columns {
                hashes_or_broken(&column, &keys, broken.map(|(row, _)| row))?;
                keys_or_broken(&column, &keys, broken.map(|(row, _)| row))?;
            }
        }
    }

    #[test]
    fn indices_beyond_a_dictionary_are_refused(
        indices in prop::collection::vec(prop::option::weighted(0.8, -2_i32..6), 0..8),
    ) {
        let values: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"a", b"bc", b"def"]));
        let column: Int32Array = indices.iter().copied().collect();
        #[expect(unsafe_code, reason = "Arrow's safe constructors do not make what another library may hand over")]
        // SAFETY: the indices are as wrong as they would be from there; only our own reader, which checks, sees them.
        let column = unsafe { DictionaryArray::<Int32Type>::new_unchecked(column, values) };
        let broken = indices.iter().position(|index| index.is_some_and(|index| !(0..3).contains(&index)));
        let key = |index: i32| [&b"a"[..], b"bc", b"def"].get(usize::try_from(index).ok()?).map(|key| key.to_vec());
        let keys = indices.iter().map(|index| index.and_then(key)).collect();
        hashes_or_broken(&column, &keys, broken)?;
        keys_or_broken(&column, &keys, broken)?;
    }
}

#[test]
fn a_dictionary_shares_its_indices_bitmap_where_no_row_has_a_null_value() -> Outcome {
    let dictionary = |last| {
        let indices = Int32Array::from(vec![Some(1), None, Some(0), Some(last)]);
        DictionaryArray::try_new(
            indices,
            Arc::new(StringArray::from(vec![Some("a"), Some("b"), Some("c"), None])),
        )
    };
    // The value that no row uses and the null that no row uses do not count.
    let column = dictionary(1)?;
    shares_nulls("dictionary", &column, &columnar::murmur2(&column, None)?)?;
    assert_eq!(columnar::murmur2(&dictionary(3)?, None)?.null_count(), 2);
    Ok(())
}

#[test]
fn no_rows_are_no_error() -> Outcome {
    let dictionary = DataType::Dictionary(DataType::Int8.into(), DataType::Utf8.into());
    for data_type in [
        DataType::Null,
        DataType::Utf8,
        DataType::LargeUtf8,
        DataType::Utf8View,
        DataType::Binary,
        DataType::LargeBinary,
        DataType::BinaryView,
        DataType::FixedSizeBinary(0),
        DataType::FixedSizeBinary(16),
        dictionary,
    ] {
        let column = new_empty_array(&data_type);
        agrees(&data_type.to_string(), &column, None, &vec![], 12)?;
    }
    Ok(())
}

#[test]
fn a_column_of_nothing_has_a_null_for_every_row() -> Outcome {
    for key_type in std::iter::once(None).chain(KeyType::ALL.iter().copied().map(Some)) {
        let column = NullArray::new(3);
        assert_eq!(columnar::murmur2(&column, key_type)?, Int32Array::new_null(3));
        assert_eq!(rows_of(&columnar::encode(&column, key_type)?), [None, None, None]);
        let indices = Int8Array::from(vec![Some(0), None]);
        let column = DictionaryArray::try_new(indices, Arc::new(NullArray::new(1)))?;
        assert_eq!(columnar::murmur2(&column, key_type)?, Int32Array::new_null(2));
        assert_eq!(rows_of(&columnar::encode(&column, key_type)?), [None, None]);
    }
    Ok(())
}

#[test]
fn a_refused_value_of_a_dictionary_is_named_by_the_first_row_that_has_it() -> Outcome {
    let values: ArrayRef = Arc::new(Int64Array::from(vec![1, 1 << 40, 1 << 50, 2]));
    let dictionary =
        |indices: Vec<Option<i8>>| DictionaryArray::try_new(Int8Array::from(indices), values.clone());
    let column = dictionary(vec![None, Some(3), Some(1), Some(0), Some(1)])?;
    let refused = columnar::murmur2(&column, Some(KeyType::JavaInt));
    let reason = "1099511627776 does not fit into a 32-bit int".to_owned();
    assert_eq!(refused, Err(Error::Value { row: 2, reason: reason.clone() }));
    assert_eq!(refused.map_err(|error| error.below(10)), Err(Error::Value { row: 12, reason }));
    // A slice has its own rows, and values that only other rows use are no error.
    let slice = column.slice(3, 2);
    assert_eq!(misfit(&columnar::murmur2(&slice, Some(KeyType::JavaInt))), Some(1));
    assert_eq!(columnar::murmur2(&column.slice(0, 2), Some(KeyType::JavaInt))?.null_count(), 1);
    Ok(())
}

#[test]
fn more_rows_than_memory_are_an_error_and_no_crash() {
    for rows in [1 << 60, usize::MAX / 2] {
        let column = NullArray::new(rows);
        assert_eq!(columnar::murmur2(&column, None), Err(Error::Memory { rows }));
        assert!(matches!(columnar::encode(&column, None), Err(Error::Memory { .. })));
    }
}

/// Compile-time: a column of keys may be made in one thread and read in another.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<KeyColumn>();
};

/// Workers that cut finely, and begin with the last piece.
struct Backwards(usize);

impl Workers for Backwards {
    fn pieces(&self, _: usize) -> usize {
        self.0
    }

    fn work(&self, jobs: Vec<Job<'_>>) {
        jobs.into_iter().rev().for_each(|job| job());
    }
}

proptest! {
    #[test]
    fn pieces_are_the_whole(keys in keys(), pieces in 0_usize..70, n in count(), hashes in any::<bool>()) {
        let n = Partitions::new(n)?;
        let client: Client = if hashes { Client::JAVA } else { "sarama".parse()? };
        for (_, column) in binary_layouts(&keys)? {
            let whole = columnar::partition_for_key(&column, n, client, None)?;
            let cut = columnar::partition_for_key_by(&Backwards(pieces), &column, n, client, None)?;
            prop_assert_eq!(whole, cut);
            let cut = columnar::murmur2_by(&Backwards(pieces), &column, None)?;
            prop_assert_eq!(columnar::murmur2(&column, None)?, cut);
        }
    }
}

//! A column and a key type to key bytes: the project's one `match` on Arrow's types.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, ByteArrayType, ByteViewType, Float32Type, Float64Type};
use arrow_array::{
    Array, BooleanArray, GenericByteArray, GenericByteViewArray, PrimitiveArray, downcast_integer_array,
    make_array,
};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::DataType;

use super::layout::{KeyColumn, Layout, each_index};
use crate::hashing::{KeyType, serializer};
use crate::{Error, Result};

/// What a column holds, as far as key types tell columns apart.
enum Values<'a> {
    Null,
    Text(KeyColumn),
    Binary(KeyColumn),
    Integers,
    Singles(&'a PrimitiveArray<Float32Type>),
    Doubles(&'a PrimitiveArray<Float64Type>),
    Booleans(&'a BooleanArray),
    Dictionary,
    Other,
}

/// The key bytes of `values` under a key type, or under the default of text and of binary.
///
/// # Errors
/// [`Error::KeyType`] where the column's type has no key bytes under `key_type`, or needs one to be named;
/// [`Error::Value`] where one value has none; [`Error::Malformed`] for an array that breaks Arrow's format.
pub fn key_column(values: &dyn Array, key_type: Option<KeyType>) -> Result<KeyColumn> {
    use KeyType as K;
    match (classify(values), key_type) {
        (Values::Null, _) => Ok(column(values, Layout::Null)),
        (Values::Text(keys), None | Some(K::Utf8 | K::JavaString))
        | (Values::Binary(keys), None | Some(K::Bytes)) => Ok(keys),
        (Values::Text(text), Some(K::JavaUuid)) => encoded(values, |row| uuid_of_text(&text, row)),
        (Values::Binary(bytes), Some(K::JavaUuid)) => encoded(values, |row| uuid_of_bytes(&bytes, row)),
        (Values::Binary(keys), Some(K::ConfluentStripId)) => without_schema_id(keys),
        (Values::Integers, Some(K::JavaShort)) => integers(values, "a 16-bit short", serializer::short),
        (Values::Integers, Some(K::JavaInt)) => integers(values, "a 32-bit int", serializer::int),
        (Values::Integers, Some(K::JavaLong)) => integers(values, "a 64-bit long", serializer::long),
        (Values::Singles(floats), Some(K::JavaFloat)) => {
            encoded(values, |row| Ok(serializer::float(floats.value(row))))
        }
        (Values::Doubles(floats), Some(K::JavaFloat)) => {
            encoded(values, |row| narrowed(floats.value(row), row))
        }
        (Values::Singles(floats), Some(K::JavaDouble)) => {
            encoded(values, |row| Ok(serializer::double(f64::from(floats.value(row)))))
        }
        (Values::Doubles(floats), Some(K::JavaDouble)) => {
            encoded(values, |row| Ok(serializer::double(floats.value(row))))
        }
        (Values::Booleans(booleans), Some(K::JavaBoolean)) => {
            encoded(values, |row| Ok(serializer::boolean(booleans.value(row))))
        }
        (Values::Dictionary, _) => dictionary(values, key_type),
        (held, None) => Err(Error::KeyType(unnamed(&held, values.data_type()))),
        (_, Some(key_type)) => Err(Error::KeyType(format!(
            "key type {key_type} takes {}, not {}",
            key_type.takes(),
            name(values.data_type())
        ))),
    }
}

fn classify(values: &dyn Array) -> Values<'_> {
    match values.data_type() {
        DataType::Null => Values::Null,
        DataType::Utf8 => Values::Text(offsets(values.as_string::<i32>(), Layout::Offsets)),
        DataType::LargeUtf8 => Values::Text(offsets(values.as_string::<i64>(), Layout::LargeOffsets)),
        DataType::Utf8View => Values::Text(views(values.as_string_view())),
        DataType::Binary => Values::Binary(offsets(values.as_binary::<i32>(), Layout::Offsets)),
        DataType::LargeBinary => Values::Binary(offsets(values.as_binary::<i64>(), Layout::LargeOffsets)),
        DataType::BinaryView => Values::Binary(views(values.as_binary_view())),
        DataType::FixedSizeBinary(width) => {
            let data = values.as_fixed_size_binary().values().clone();
            Values::Binary(column(values, Layout::Fixed(usize::try_from(*width).unwrap_or(0), data)))
        }
        DataType::Float32 => Values::Singles(values.as_primitive()),
        DataType::Float64 => Values::Doubles(values.as_primitive()),
        DataType::Boolean => Values::Booleans(values.as_boolean()),
        DataType::Dictionary(..) => Values::Dictionary,
        integer if integer.is_integer() => Values::Integers,
        _ => Values::Other,
    }
}

fn column(values: &dyn Array, layout: Layout) -> KeyColumn {
    KeyColumn { layout, nulls: values.nulls().cloned(), rows: values.len(), skip: 0 }
}

fn offsets<T: ByteArrayType>(
    values: &GenericByteArray<T>,
    layout: fn(OffsetBuffer<T::Offset>, Buffer) -> Layout,
) -> KeyColumn {
    column(values, layout(values.offsets().clone(), values.values().clone()))
}

fn views<T: ByteViewType>(values: &GenericByteViewArray<T>) -> KeyColumn {
    column(values, Layout::Views(values.views().clone(), values.data_buffers().to_vec()))
}

/// `W` bytes a row from `bytes`, which is asked for the rows that are not null.
fn encoded<const W: usize>(
    values: &dyn Array,
    bytes: impl Fn(usize) -> Result<[u8; W]>,
) -> Result<KeyColumn> {
    let mut data = Vec::with_capacity(W * values.len());
    for row in 0..values.len() {
        data.extend_from_slice(&if values.is_null(row) { [0; W] } else { bytes(row)? });
    }
    Ok(column(values, Layout::Fixed(W, data.into())))
}

/// Integers of any width, where each value fits.
fn integers<N: TryFrom<i128>, const W: usize>(
    values: &dyn Array,
    target: &str,
    serializer: fn(N) -> [u8; W],
) -> Result<KeyColumn> {
    fn of_width<T: ArrowPrimitiveType<Native: Into<i128>>, N: TryFrom<i128>, const W: usize>(
        values: &PrimitiveArray<T>,
        target: &str,
        serializer: fn(N) -> [u8; W],
    ) -> Result<KeyColumn> {
        encoded(values, |row| {
            let value: i128 = values.value(row).into();
            N::try_from(value)
                .map(serializer)
                .map_err(|_| refused(row, format!("{value} does not fit into {target}")))
        })
    }
    downcast_integer_array!(
        values => of_width(values, target, serializer),
        other => Err(Error::KeyType(format!("{target} takes whole numbers, not {}", name(other)))),
    )
}

/// A double as Java's `(float)` cast has it, except that it may not become infinite.
fn narrowed(value: f64, row: usize) -> Result<[u8; 4]> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding to the nearest float is what the cast is for"
    )]
    let float = value as f32;
    if float.is_infinite() && value.is_finite() {
        return Err(refused(row, format!("{value:e} does not fit into a 32-bit float")));
    }
    Ok(serializer::float(float))
}

fn uuid_of_text(keys: &KeyColumn, row: usize) -> Result<[u8; 36]> {
    let text = keys.key(row)?.unwrap_or_default();
    serializer::uuid_text(text).ok_or_else(|| {
        let shown: String = String::from_utf8_lossy(text).chars().take(48).collect();
        refused(row, format!("{shown:?} is not the 36-character text of a UUID"))
    })
}

fn uuid_of_bytes(keys: &KeyColumn, row: usize) -> Result<[u8; 36]> {
    let bytes = keys.key(row)?.unwrap_or_default();
    match bytes.try_into() {
        Ok(bytes) => Ok(serializer::uuid(bytes)),
        Err(_) => Err(refused(row, format!("a UUID has 16 bytes, not {}", bytes.len()))),
    }
}

/// Keys without the 5 bytes, a 0 and a schema's id, that Confluent's serializers put before a key.
fn without_schema_id(keys: KeyColumn) -> Result<KeyColumn> {
    const HEADER: usize = 5;
    for row in 0..keys.rows {
        match keys.key(row)? {
            Some(key) if key.len() < HEADER || key[0] != 0 => {
                let shown = &key[..key.len().min(HEADER)];
                let reason = format!(
                    "the key begins with {shown:02x?}, but a schema registry's header is 5 bytes, the first of them 00"
                );
                return Err(refused(row, reason));
            }
            _ => {}
        }
    }
    Ok(KeyColumn { skip: HEADER, ..keys })
}

/// A dictionary's values as keys. A value that no row has cannot be refused, so it is made null first.
fn dictionary(values: &dyn Array, key_type: Option<KeyType>) -> Result<KeyColumn> {
    let dictionary = values.as_any_dictionary();
    let (indices, values_of) = (dictionary.keys(), dictionary.values());
    let mut first_rows = vec![None; values_of.len()];
    each_index(indices, |row, index| {
        if let Some(index) = index {
            first_rows.get_mut(index).ok_or(Error::Malformed { row })?.get_or_insert(row);
        }
        Ok(())
    })?;
    let mut used = BooleanBufferBuilder::new(values_of.len());
    for row in &first_rows {
        used.append(row.is_some());
    }
    let nulls = NullBuffer::union(values_of.nulls(), Some(&NullBuffer::new(used.finish())));
    let of_use = values_of.to_data().into_builder().nulls(nulls).build();
    let of_use = make_array(of_use.map_err(|_| Error::Malformed { row: 0 })?);
    let keys = key_column(&of_use, key_type).map_err(|error| match error {
        Error::Value { row, reason } => {
            Error::Value { row: first_rows.get(row).copied().flatten().unwrap_or(0), reason }
        }
        other => other,
    })?;
    Ok(column(values, Layout::Dictionary(make_array(indices.to_data()), Box::new(keys))))
}

fn refused(row: usize, reason: String) -> Error {
    Error::Value { row, reason }
}

/// The sentence for a column that has no key bytes of its own.
fn unnamed(held: &Values<'_>, data_type: &DataType) -> String {
    let choice = match held {
        Values::Integers => "java:short, java:int or java:long",
        Values::Singles(_) | Values::Doubles(_) => "java:float or java:double",
        Values::Booleans(_) => "java:boolean",
        _ => {
            return format!(
                "{} has no key bytes: a key is text, binary, a whole or floating-point number, a boolean, or a \
                 dictionary of one of them",
                name(data_type)
            );
        }
    };
    format!(
        "{} has no key bytes of its own: name the key type that its producer writes, {choice}",
        name(data_type)
    )
}

/// A type's name as pyarrow writes it.
fn name(data_type: &DataType) -> String {
    match data_type {
        DataType::Utf8 => "string".to_owned(),
        DataType::LargeUtf8 => "large_string".to_owned(),
        DataType::Utf8View => "string_view".to_owned(),
        DataType::Float32 => "float".to_owned(),
        DataType::Float64 => "double".to_owned(),
        DataType::Boolean => "bool".to_owned(),
        DataType::Struct(_) => "a struct or table (take one of its columns)".to_owned(),
        other => other.to_string().to_lowercase(),
    }
}

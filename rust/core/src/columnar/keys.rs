//! A column and a key type to key bytes: the project's one `match` on Arrow's types.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, ByteViewType, Float16Type, Float32Type, Float64Type,
};
use arrow_array::{
    Array, BooleanArray, GenericByteArray, GenericByteViewArray, PrimitiveArray, downcast_integer_array,
    make_array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, TimeUnit};

use super::layout::{KeyColumn, Layout, each_index, in_a_row, room};
use super::texts;
use super::type_name::type_name;
use crate::hashing::{KeyType, serializer};
use crate::{Error, Result};

/// The key bytes of `values` under a key type, or under the default for text and for binary.
///
/// # Errors
/// [`Error::KeyType`] if the column's type has no key bytes under `key_type`, or needs a key type; [`Error::Value`] if
/// one value has none; [`Error::Malformed`] for an array that breaks Arrow's format; [`Error::Memory`] if there is no
/// room for new key bytes.
pub fn key_column(values: &dyn Array, key_type: Option<KeyType>) -> Result<KeyColumn> {
    KeySource { values, nulls: values.nulls().cloned() }.keys(key_type)
}

/// An array, and the rows that are needed: all valid ones, but of a dictionary's values only those that some row has.
/// Unused values are neither encoded nor refused.
struct KeySource<'a> {
    values: &'a dyn Array,
    nulls: Option<NullBuffer>,
}

/// The kind of a column, as far as key types distinguish it.
enum Values<'a> {
    Null,
    Text(Layout),
    Binary(Layout),
    Integers,
    Halves(&'a PrimitiveArray<Float16Type>),
    Singles(&'a PrimitiveArray<Float32Type>),
    Doubles(&'a PrimitiveArray<Float64Type>),
    Booleans(&'a BooleanArray),
    /// With its scale.
    Decimals(i8),
    Dates,
    /// With the number of units per second.
    Timestamps(i64),
    Dictionary,
    Other,
}

impl KeySource<'_> {
    fn keys(&self, key_type: Option<KeyType>) -> Result<KeyColumn> {
        use KeyType as K;
        let data_type = self.values.data_type();
        match (classify(self.values), key_type) {
            (Values::Null, _) => Ok(self.column(Layout::Null)),
            (Values::Text(layout), None | Some(K::Utf8 | K::JavaString))
            | (Values::Binary(layout), None | Some(K::Bytes)) => Ok(self.column(layout)),
            (Values::Text(layout), Some(K::JavaUuid)) => self.rewritten(layout, uuid_of_text),
            (Values::Binary(layout), Some(K::JavaUuid)) => self.rewritten(layout, uuid_of_bytes),
            (Values::Binary(layout), Some(K::ConfluentStripId)) => without_header(self.column(layout)),
            (Values::Integers, Some(K::JavaShort)) => self.integers("a 16-bit short", serializer::short),
            (Values::Integers, Some(K::JavaInt)) => self.integers("a 32-bit int", serializer::int),
            (Values::Integers, Some(K::JavaLong)) => self.integers("a 64-bit long", serializer::long),
            (Values::Halves(floats), Some(K::JavaFloat)) => {
                self.encoded(|row| Ok(serializer::float(floats.value(row).to_f32())))
            }
            (Values::Singles(floats), Some(K::JavaFloat)) => {
                self.encoded(|row| Ok(serializer::float(floats.value(row))))
            }
            (Values::Doubles(floats), Some(K::JavaFloat)) => {
                self.encoded(|row| narrowed(floats.value(row)).map_err(|reason| refused(row, reason)))
            }
            (Values::Halves(floats), Some(K::JavaDouble)) => {
                self.encoded(|row| Ok(serializer::double(floats.value(row).to_f64())))
            }
            (Values::Singles(floats), Some(K::JavaDouble)) => {
                self.encoded(|row| Ok(serializer::double(f64::from(floats.value(row)))))
            }
            (Values::Doubles(floats), Some(K::JavaDouble)) => {
                self.encoded(|row| Ok(serializer::double(floats.value(row))))
            }
            (Values::Booleans(booleans), Some(K::JavaBoolean)) => {
                self.encoded(|row| Ok(serializer::boolean(booleans.value(row))))
            }
            (Values::Integers, Some(K::Digits)) => self.texts(|row| texts::integer(self.values, row)),
            (Values::Decimals(scale), Some(K::Decimal)) => {
                self.texts(|row| texts::decimal(self.values, scale, row))
            }
            // Such as DuckDB's HUGEINT, which is a decimal in Arrow.
            (Values::Decimals(scale @ ..=0), Some(K::Digits)) => {
                self.texts(|row| texts::decimal(self.values, scale, row))
            }
            (Values::Dates, Some(K::IsoDate)) => self.texts(|row| texts::date(self.values, row)),
            (Values::Timestamps(per_second), Some(K::IsoTimestamp)) => {
                self.texts(|row| texts::timestamp(self.values, per_second, row))
            }
            (Values::Dictionary, _) => self.dictionary(key_type),
            (held, None) => Err(unnamed(&held, data_type)),
            (Values::Text(_), Some(key_type @ (K::Digits | K::Decimal | K::IsoDate | K::IsoTimestamp))) => {
                Err(Error::KeyType(format!(
                    "key type {key_type} takes {}, not {}: text is a key as it is, without a key type",
                    key_type.takes(),
                    type_name(data_type)
                )))
            }
            (_, Some(key_type)) => Err(Error::KeyType(format!(
                "key type {key_type} takes {}, not {}",
                key_type.takes(),
                type_name(data_type)
            ))),
        }
    }

    fn column(&self, layout: Layout) -> KeyColumn {
        KeyColumn { layout, nulls: self.nulls.clone(), rows: self.values.len(), skip: 0 }
    }

    /// `W` bytes per row from `bytes`, which is called for the rows that are not null.
    fn encoded<const W: usize>(&self, bytes: impl Fn(usize) -> Result<[u8; W]>) -> Result<KeyColumn> {
        let rows = self.values.len();
        let mut data: Vec<[u8; W]> = room(rows)?;
        for row in 0..rows {
            let null = self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
            data.push(if null { [0; W] } else { bytes(row)? });
        }
        Ok(self.column(Layout::Fixed(W, data.into_flattened().into())))
    }

    /// One text per row, one after the other, for the rows that are not null.
    fn texts(&self, text: impl Fn(usize) -> Result<String>) -> Result<KeyColumn> {
        let is_null = |row| self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        let text = |row| if is_null(row) { Ok(None) } else { text(row).map(Some) };
        let (offsets, data) = in_a_row(self.values.len(), text)?;
        Ok(self.column(Layout::Offsets(offsets, data)))
    }

    /// `W` bytes per row from the row's bytes in `layout`.
    fn rewritten<const W: usize>(
        &self,
        layout: Layout,
        rule: fn(&[u8]) -> std::result::Result<[u8; W], String>,
    ) -> Result<KeyColumn> {
        let keys = self.column(layout);
        self.encoded(|row| {
            let bytes = keys.key(row)?.unwrap_or_default();
            rule(bytes).map_err(|reason| refused(row, reason))
        })
    }

    /// Integers of any width, if each value fits into `target`.
    fn integers<N: TryFrom<i128>, const W: usize>(
        &self,
        target: &str,
        serializer: fn(N) -> [u8; W],
    ) -> Result<KeyColumn> {
        fn of_width<T: ArrowPrimitiveType<Native: Into<i128>>, N: TryFrom<i128>, const W: usize>(
            source: &KeySource<'_>,
            values: &PrimitiveArray<T>,
            target: &str,
            serializer: fn(N) -> [u8; W],
        ) -> Result<KeyColumn> {
            source.encoded(|row| {
                let value: i128 = values.value(row).into();
                N::try_from(value)
                    .map(serializer)
                    .map_err(|_| refused(row, format!("{value} does not fit into {target}")))
            })
        }
        let values = self.values;
        downcast_integer_array!(
            values => of_width(self, values, target, serializer),
            other => Err(Error::KeyType(format!("{target} is made of whole numbers, not {}", type_name(other)))),
        )
    }

    /// A dictionary's values as keys; a refused value is reported with the first row that has it.
    fn dictionary(&self, key_type: Option<KeyType>) -> Result<KeyColumn> {
        let dictionary = self.values.as_any_dictionary();
        let (indices, values) = (dictionary.keys(), dictionary.values());
        // Usually there are few values and all of them are keys; then it does not matter which of them rows have.
        if values.len() <= indices.len()
            && let Ok(keys) = (KeySource { values, nulls: values.nulls().cloned() }).keys(key_type)
            && (0..keys.rows).all(|value| keys.key(value).is_ok())
        {
            return Ok(self.column(Layout::Dictionary(make_array(indices.to_data()), Box::new(keys))));
        }
        let mut first_rows: Vec<Option<usize>> = room(values.len())?;
        first_rows.resize(values.len(), None);
        each_index(indices, self.nulls.as_ref(), |row, index| {
            if let Some(index) = index {
                first_rows.get_mut(index).ok_or(Error::Malformed { row })?.get_or_insert(row);
            }
            Ok(())
        })?;
        let used: NullBuffer = first_rows.iter().map(Option::is_some).collect();
        let of_use = KeySource { values, nulls: NullBuffer::union(values.nulls(), Some(&used)) };
        let row_of = |value: usize| first_rows.get(value).copied().flatten().unwrap_or(value);
        let keys = of_use.keys(key_type).map_err(|error| match error {
            Error::Value { row, reason } => Error::Value { row: row_of(row), reason },
            Error::Malformed { row } => Error::Malformed { row: row_of(row) },
            other => other,
        })?;
        Ok(self.column(Layout::Dictionary(make_array(indices.to_data()), Box::new(keys))))
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
            Values::Binary(Layout::Fixed(usize::try_from(*width).unwrap_or(0), data))
        }
        DataType::Float16 => Values::Halves(values.as_primitive()),
        DataType::Float32 => Values::Singles(values.as_primitive()),
        DataType::Float64 => Values::Doubles(values.as_primitive()),
        DataType::Boolean => Values::Booleans(values.as_boolean()),
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => Values::Decimals(*scale),
        DataType::Date32 | DataType::Date64 => Values::Dates,
        DataType::Timestamp(unit, _) => Values::Timestamps(match unit {
            TimeUnit::Second => 1,
            TimeUnit::Millisecond => 1_000,
            TimeUnit::Microsecond => 1_000_000,
            TimeUnit::Nanosecond => 1_000_000_000,
        }),
        DataType::Dictionary(..) => Values::Dictionary,
        integer if integer.is_integer() => Values::Integers,
        _ => Values::Other,
    }
}

fn offsets<T: ByteArrayType>(
    values: &GenericByteArray<T>,
    layout: fn(OffsetBuffer<T::Offset>, Buffer) -> Layout,
) -> Layout {
    layout(values.offsets().clone(), values.values().clone())
}

fn views<T: ByteViewType>(values: &GenericByteViewArray<T>) -> Layout {
    Layout::Views(values.views().clone(), values.data_buffers().to_vec())
}

/// A double converted as by Java's `(float)` cast, rounded to the nearest, except that it must not become infinite.
fn narrowed(value: f64) -> std::result::Result<[u8; 4], String> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding to the nearest float is what the cast is for"
    )]
    let float = value as f32;
    if float.is_infinite() && value.is_finite() {
        return Err(format!("{value:e} does not fit into a 32-bit float"));
    }
    Ok(serializer::float(float))
}

fn uuid_of_text(text: &[u8]) -> std::result::Result<[u8; 36], String> {
    serializer::uuid_text(text).ok_or_else(|| {
        let shown: String = String::from_utf8_lossy(text).chars().take(48).collect();
        format!("{shown:?} is not the 36-character text of a UUID")
    })
}

fn uuid_of_bytes(bytes: &[u8]) -> std::result::Result<[u8; 36], String> {
    match bytes.try_into() {
        Ok(bytes) => Ok(serializer::uuid(bytes)),
        Err(_) => Err(format!("a UUID has 16 bytes, not {}", bytes.len())),
    }
}

/// Keys without the 5 bytes that Confluent's serializers put before a key: a 0 and a schema's ID.
fn without_header(keys: KeyColumn) -> Result<KeyColumn> {
    const HEADER: usize = 5;
    for row in 0..keys.rows {
        let reason = match keys.key(row)? {
            Some(key) if key.len() < HEADER => {
                format!("a schema registry's header has {HEADER} bytes, the whole key {}", key.len())
            }
            Some(key) if key[0] != 0 => {
                format!("a schema registry's header begins with the byte 00, the key with {:02x}", key[0])
            }
            _ => continue,
        };
        return Err(refused(row, reason));
    }
    Ok(KeyColumn { skip: HEADER, ..keys })
}

fn refused(row: usize, reason: String) -> Error {
    Error::Value { row, reason }
}

/// The error for a column that has no key bytes of its own.
fn unnamed(held: &Values<'_>, data_type: &DataType) -> Error {
    let kind = type_name(data_type);
    let choice = match held {
        Values::Integers => "java:short, java:int, java:long or digits (the number as text)",
        Values::Halves(_) | Values::Singles(_) | Values::Doubles(_) => "java:float or java:double",
        Values::Booleans(_) => "java:boolean",
        Values::Decimals(..=0) => "decimal or digits (the number as text)",
        Values::Decimals(_) => "decimal (text such as 19.90)",
        Values::Dates => "iso-date (text such as 2024-01-31)",
        Values::Timestamps(_) => "iso-timestamp (text such as 2024-01-31T12:00:00Z)",
        _ => {
            return Error::KeyType(format!(
                "{kind} has no key bytes: a key is text, binary, a number, a boolean, a date, a timestamp, or a \
                 dictionary of one of them"
            ));
        }
    };
    Error::NoKeyType { kind, choice }
}

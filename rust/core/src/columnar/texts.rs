//! Numbers and times of Arrow's columns as text, for the key types that write text.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type};
use arrow_array::{Array, downcast_integer_array, downcast_temporal_array};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;

use super::type_name::type_name;
use crate::hashing::text_form;
use crate::{Error, Result};

const MILLIS_OF_A_DAY: i64 = 86_400_000;
const NANOS_OF_A_SECOND: i64 = 1_000_000_000;

pub(super) fn integer(values: &dyn Array, row: usize) -> Result<String> {
    downcast_integer_array!(
        values => Ok(values.value(row).to_string()),
        _other => Err(unreached(values)),
    )
}

pub(super) fn decimal(values: &dyn Array, scale: i8, row: usize) -> Result<String> {
    let unscaled = if let Some(values) = values.as_primitive_opt::<Decimal128Type>() {
        values.value(row).to_string()
    } else if let Some(values) = values.as_primitive_opt::<Decimal256Type>() {
        values.value(row).to_string()
    } else if let Some(values) = values.as_primitive_opt::<Decimal64Type>() {
        values.value(row).to_string()
    } else if let Some(values) = values.as_primitive_opt::<Decimal32Type>() {
        values.value(row).to_string()
    } else {
        return Err(unreached(values));
    };
    Ok(text_form::decimal(&unscaled, scale))
}

pub(super) fn date(values: &dyn Array, row: usize) -> Result<String> {
    let number = time(values, row)?;
    let is_in_millis = *values.data_type() == DataType::Date64;
    Ok(text_form::date(if is_in_millis { number.div_euclid(MILLIS_OF_A_DAY) } else { number }))
}

pub(super) fn timestamp(values: &dyn Array, per_second: i64, row: usize) -> Result<String> {
    let time = time(values, row)?;
    let seconds = time.div_euclid(per_second);
    let nanos = u32::try_from(time.rem_euclid(per_second) * (NANOS_OF_A_SECOND / per_second)).unwrap_or(0);
    if !text_form::is_instant(seconds) {
        let reason = format!("{seconds} seconds since 1970 have a year of more than 9 digits");
        return Err(Error::Value { row, reason });
    }
    Ok(text_form::instant(seconds, nanos))
}

/// A date or a timestamp in the unit of its column.
fn time(values: &dyn Array, row: usize) -> Result<i64> {
    downcast_temporal_array!(
        values => values.value(row).to_i64().ok_or(Error::Malformed { row }),
        _other => Err(unreached(values)),
    )
}

/// The caller has checked the type.
fn unreached(values: &dyn Array) -> Error {
    Error::KeyType(format!("{} has no text form", type_name(values.data_type())))
}

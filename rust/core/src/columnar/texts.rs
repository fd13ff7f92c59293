//! Numbers and times of Arrow's columns as text, for the key types that write text.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, downcast_integer_array};

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
    let days = if let Some(values) = values.as_primitive_opt::<Date32Type>() {
        i64::from(values.value(row))
    } else if let Some(values) = values.as_primitive_opt::<Date64Type>() {
        values.value(row).div_euclid(MILLIS_OF_A_DAY)
    } else {
        return Err(unreached(values));
    };
    Ok(text_form::date(days))
}

pub(super) fn timestamp(values: &dyn Array, per_second: i64, row: usize) -> Result<String> {
    let time = if let Some(values) = values.as_primitive_opt::<TimestampMicrosecondType>() {
        values.value(row)
    } else if let Some(values) = values.as_primitive_opt::<TimestampNanosecondType>() {
        values.value(row)
    } else if let Some(values) = values.as_primitive_opt::<TimestampMillisecondType>() {
        values.value(row)
    } else if let Some(values) = values.as_primitive_opt::<TimestampSecondType>() {
        values.value(row)
    } else {
        return Err(unreached(values));
    };
    let seconds = time.div_euclid(per_second);
    let nanos = u32::try_from(time.rem_euclid(per_second) * (NANOS_OF_A_SECOND / per_second)).unwrap_or(0);
    if !text_form::is_instant(seconds) {
        let reason = format!("{seconds} seconds since 1970 have a year of more than 9 digits");
        return Err(Error::Value { row, reason });
    }
    Ok(text_form::instant(seconds, nanos))
}

/// The caller has checked the type.
fn unreached(values: &dyn Array) -> Error {
    Error::KeyType(format!("{} has no text form", type_name(values.data_type())))
}

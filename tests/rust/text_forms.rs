//! Numbers and times as text, checked against what Java's own classes show: `tests/golden/text_forms.json`.

use partwright_core::hashing::{murmur2, text_form};
use serde::Deserialize;
use serde_json::Value;

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Golden {
    #[serde(rename = "provenance")]
    _provenance: Value,
    digits: Vec<(i64, String, i32)>,
    decimal: Vec<((String, i8), String, i32)>,
    #[serde(rename = "iso-date")]
    date: Vec<(i64, String, i32)>,
    #[serde(rename = "iso-timestamp")]
    timestamp: Vec<((i64, u32), String, i32)>,
}

fn golden() -> Result<Golden, serde_json::Error> {
    serde_json::from_str(include_str!("../golden/text_forms.json"))
}

fn is(text: &str, hex: &str, hash: i32) {
    let digits = |at: usize| hex.get(at..at + 2).and_then(|byte| u8::from_str_radix(byte, 16).ok());
    let expected: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(digits).collect();
    assert_eq!(Some(text.as_bytes()), expected.as_deref(), "{text}");
    assert_eq!(murmur2(text.as_bytes()), hash, "{text}");
}

#[test]
fn every_text_is_the_one_of_java() -> Outcome {
    let golden = golden()?;
    assert_eq!(
        (golden.digits.len(), golden.decimal.len(), golden.date.len(), golden.timestamp.len()),
        (104, 155, 113, 188)
    );
    for ((unscaled, scale), hex, hash) in &golden.decimal {
        is(&text_form::decimal(unscaled, *scale), hex, *hash);
    }
    for (days, hex, hash) in &golden.date {
        is(&text_form::date(*days), hex, *hash);
    }
    for ((seconds, nanos), hex, hash) in &golden.timestamp {
        assert!(text_form::is_instant(*seconds));
        is(&text_form::instant(*seconds, *nanos), hex, *hash);
    }
    assert!(
        !text_form::is_instant(-31_557_014_167_219_201) && !text_form::is_instant(31_556_889_864_403_200)
    );
    Ok(())
}

#[cfg(feature = "arrow")]
mod columns {
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::{
        ArrayRef, Date32Array, Decimal128Array, Decimal256Array, Int64Array, TimestampNanosecondArray,
        TimestampSecondArray, UInt64Array,
    };
    use partwright_core::Error;
    use partwright_core::columnar::encode;
    use partwright_core::hashing::KeyType;

    use super::{Outcome, golden, is};

    /// Each row's text is that of its case.
    fn agrees<'a>(
        column: &ArrayRef,
        key_type: KeyType,
        cases: impl Iterator<Item = (&'a String, &'a i32)>,
    ) -> Outcome {
        let encoded = encode(column, Some(key_type))?;
        let mut rows = 0;
        for (key, (hex, hash)) in encoded.as_binary::<i32>().iter().zip(cases) {
            is(std::str::from_utf8(key.ok_or("a null")?)?, hex, *hash);
            rows += 1;
        }
        assert_eq!(rows, column.len());
        Ok(())
    }

    #[test]
    fn a_column_has_the_texts_of_java() -> Outcome {
        let golden = golden()?;
        let numbers: ArrayRef =
            Arc::new(golden.digits.iter().map(|case| Some(case.0)).collect::<Int64Array>());
        agrees(&numbers, KeyType::Digits, golden.digits.iter().map(|case| (&case.1, &case.2)))?;
        let days = golden.date.iter().map(|case| i32::try_from(case.0)).collect::<Result<Vec<_>, _>>()?;
        let days: ArrayRef = Arc::new(Date32Array::from(days));
        agrees(&days, KeyType::IsoDate, golden.date.iter().map(|case| (&case.1, &case.2)))?;
        let whole = || golden.timestamp.iter().filter(|case| case.0.1 == 0);
        let seconds: ArrayRef =
            Arc::new(whole().map(|case| Some(case.0.0)).collect::<TimestampSecondArray>());
        agrees(&seconds, KeyType::IsoTimestamp, whole().map(|case| (&case.1, &case.2)))?;
        let small = || golden.timestamp.iter().filter(|case| case.0.0.abs() < 9_000_000_000);
        assert!(small().count() > 100);
        let nanos = small().map(|case| Some(case.0.0 * 1_000_000_000 + i64::from(case.0.1)));
        let nanos: ArrayRef = Arc::new(nanos.collect::<TimestampNanosecondArray>());
        agrees(&nanos, KeyType::IsoTimestamp, small().map(|case| (&case.1, &case.2)))?;
        for case in &golden.decimal {
            let ((unscaled, scale), hex, hash) = case;
            let one = Decimal128Array::from(vec![unscaled.parse::<i128>()?])
                .with_precision_and_scale(38, *scale)?;
            let one: ArrayRef = Arc::new(one);
            agrees(&one, KeyType::Decimal, std::iter::once((hex, hash)))?;
            if *scale <= 0 {
                agrees(&one, KeyType::Digits, std::iter::once((hex, hash)))?;
            }
        }
        Ok(())
    }

    #[test]
    fn nulls_and_wide_numbers() -> Outcome {
        let numbers: ArrayRef = Arc::new(UInt64Array::from(vec![Some(u64::MAX), None, Some(0)]));
        let encoded = encode(&numbers, Some(KeyType::Digits))?;
        let keys: Vec<_> = encoded.as_binary::<i32>().iter().collect();
        assert_eq!(keys, [Some(&b"18446744073709551615"[..]), None, Some(b"0")]);
        let wide = Decimal256Array::from_iter_values([arrow_buffer::i256::MINUS_ONE]);
        let wide: ArrayRef = Arc::new(wide.with_precision_and_scale(76, 3)?);
        assert_eq!(encode(&wide, Some(KeyType::Decimal))?.as_binary::<i32>().value(0), b"-0.001");
        Ok(())
    }

    #[test]
    fn what_has_no_such_text_is_refused() {
        let late: ArrayRef = Arc::new(TimestampSecondArray::from(vec![0, i64::MAX]));
        assert!(matches!(encode(&late, Some(KeyType::IsoTimestamp)), Err(Error::Value { row: 1, .. })));
        for key_type in [KeyType::Digits, KeyType::Decimal, KeyType::IsoDate] {
            assert!(matches!(encode(&late, Some(key_type)), Err(Error::KeyType(_))), "{key_type}");
        }
    }
}

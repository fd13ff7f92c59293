//! Numbers and times as text, for producers that write them with `StringSerializer`: as Java's own classes print them.

use std::fmt::Write as _;

/// `BigDecimal.toPlainString`: all digits of the scale, never an exponent.
///
/// ```
/// use partwright_core::hashing::text_form::decimal;
/// assert_eq!(decimal("1990", 2), "19.90");
/// assert_eq!(decimal("-5", 3), "-0.005");
/// assert_eq!(decimal("12", -2), "1200");
/// ```
pub fn decimal(unscaled: &str, scale: i8) -> String {
    let (sign, digits) = unscaled.strip_prefix('-').map_or(("", unscaled), |digits| ("-", digits));
    let places = usize::from(scale.unsigned_abs());
    if scale <= 0 {
        let zeros = if digits == "0" { 0 } else { places };
        return format!("{sign}{digits}{}", "0".repeat(zeros));
    }
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    format!("{sign}{whole}.{fraction}")
}

/// `LocalDate.ofEpochDay(days).toString()`: `2024-01-31`; a year of more than four digits has a sign.
///
/// ```
/// use partwright_core::hashing::text_form::date;
/// assert_eq!(date(0), "1970-01-01");
/// assert_eq!(date(-719_529), "-0001-12-31");
/// ```
pub fn date(days: i64) -> String {
    // "chrono-Compatible Low-Level Date Algorithms" (Howard Hinnant), `civil_from_days`: years begin in March.
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let sign = if year < 0 {
        "-"
    } else if year > 9_999 {
        "+"
    } else {
        ""
    };
    format!("{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs())
}

/// `Instant.toString()`: `2024-01-31T12:00:00Z`, with 0, 3, 6 or 9 digits of a second's fraction, as needed.
///
/// ```
/// use partwright_core::hashing::text_form::instant;
/// assert_eq!(instant(0, 0), "1970-01-01T00:00:00Z");
/// assert_eq!(instant(-1, 500_000_000), "1969-12-31T23:59:59.500Z");
/// ```
pub fn instant(seconds: i64, nanos: u32) -> String {
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let mut text = date(day);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    // Writing to text cannot fail.
    let _ = write!(text, "T{hour:02}:{minute:02}:{second:02}");
    let _ = match nanos {
        0 => Ok(()),
        _ if nanos.is_multiple_of(1_000_000) => write!(text, ".{:03}", nanos / 1_000_000),
        _ if nanos.is_multiple_of(1_000) => write!(text, ".{:06}", nanos / 1_000),
        _ => write!(text, ".{nanos:09}"),
    };
    text.push('Z');
    text
}

/// Whether `Instant` can hold it: years of at most nine digits.
pub fn is_instant(seconds: i64) -> bool {
    (-31_557_014_167_219_200..=31_556_889_864_403_199).contains(&seconds)
}

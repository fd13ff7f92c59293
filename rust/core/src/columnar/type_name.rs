//! The names of Arrow's types in an error message: pyarrow's names, because Python users read it.

use arrow_schema::{DataType, TimeUnit};

/// A type's name as pyarrow writes it; only the kind for nested types.
pub(super) fn type_name(data_type: &DataType) -> String {
    let plain = match data_type {
        DataType::Boolean => "bool",
        DataType::Float16 => "halffloat",
        DataType::Float32 => "float",
        DataType::Float64 => "double",
        DataType::Utf8 => "string",
        DataType::LargeUtf8 => "large_string",
        DataType::Utf8View => "string_view",
        DataType::LargeBinary => "large_binary",
        DataType::BinaryView => "binary_view",
        DataType::Date32 => "date32[day]",
        DataType::Date64 => "date64[ms]",
        DataType::Interval(_) => "interval",
        DataType::List(_) => "list",
        DataType::LargeList(_) => "large_list",
        DataType::ListView(_) => "list_view",
        DataType::LargeListView(_) => "large_list_view",
        DataType::FixedSizeList(..) => "fixed_size_list",
        DataType::Map(..) => "map",
        DataType::Union(..) => "union",
        DataType::RunEndEncoded(..) => "run_end_encoded",
        DataType::Struct(_) => "a struct or table (take one of its columns)",
        DataType::FixedSizeBinary(width) => return format!("fixed_size_binary[{width}]"),
        DataType::Timestamp(unit, None) => return format!("timestamp[{}]", short(*unit)),
        DataType::Timestamp(unit, Some(zone)) => return format!("timestamp[{}, tz={zone}]", short(*unit)),
        DataType::Time32(unit) => return format!("time32[{}]", short(*unit)),
        DataType::Time64(unit) => return format!("time64[{}]", short(*unit)),
        DataType::Duration(unit) => return format!("duration[{}]", short(*unit)),
        // null, binary, the integers and the decimals: pyarrow's name is Rust's in lower case.
        other => return other.to_string().to_lowercase(),
    };
    plain.to_owned()
}

fn short(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

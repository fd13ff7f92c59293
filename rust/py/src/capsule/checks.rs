//! The checks that Arrow's C data interface lets a consumer make on a schema and an array before it imports them.
//!
//! A refusal is the rest of a sentence that begins with the structure's name, for example "has the length -1".

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};

use partwright_core::counted;

use super::pointers::{children_of_array, children_of_schema, has_readable_metadata, number, texts_of};

/// The deepest nesting that Arrow's own importers accept. A limit is needed, since a structure may be its own child.
const DEEPEST: usize = 64;
/// The largest buffer: no address space has more bytes.
const LARGEST: i64 = 1 << 48;

type FormatCheck<T = ()> = Result<T, String>;

/// What a format requires of an array.
struct ArrayShape {
    /// Whether the first buffer is the validity bitmap.
    validity: bool,
    layout: BufferLayout,
    children: Children,
}

/// The buffers after the bitmap.
enum BufferLayout {
    None,
    /// One buffer with this many bits a row.
    Rows(i64),
    /// Two buffers with this many bits a row.
    TwoRows(i64, i64),
    /// Offsets of this many bytes into a child, one more than there are rows.
    Offsets(usize),
    /// Offsets, and a buffer with the data that they point into.
    Bytes(usize),
    /// Views of 16 bytes, any number of data buffers, and the lengths of those buffers.
    Views,
}

enum Children {
    None,
    One,
    Two,
    /// One child, with this many rows for each row.
    Lists(i64),
    /// Any number of children, each with one row for each row.
    Columns,
    Any,
}

/// Checks a schema and everything below it.
pub(super) fn check_schema(schema: &FFI_ArrowSchema) -> FormatCheck {
    schema_below(schema, 0)
}

/// Checks an array and everything below it, against a schema that passed its check.
pub(super) fn check_array(array: &FFI_ArrowArray, schema: &FFI_ArrowSchema) -> FormatCheck {
    let rows = rows_of(array)?;
    let shape = shape_of(schema)?;
    check_buffers(array, &shape, rows)?;
    check_children(array, schema, &shape, rows)?;
    match (array.dictionary(), schema.dictionary()) {
        (None, None) => Ok(()),
        (Some(array), Some(schema)) => {
            check_array(array, schema).map_err(|wrong| format!("has a dictionary that {wrong}"))
        }
        (None, Some(_)) => Err("lacks the dictionary that its schema has".to_owned()),
        (Some(_), None) => Err("has a dictionary that its schema lacks".to_owned()),
    }
}

/// Checks an array of text or binary whose offsets have this many bytes.
pub(super) fn check_bytes(array: &FFI_ArrowArray, offsets: usize) -> FormatCheck {
    let rows = rows_of(array)?;
    let shape = ArrayShape { validity: true, layout: BufferLayout::Bytes(offsets), children: Children::None };
    check_buffers(array, &shape, rows)
}

/// How many rows an array has, counted from the start of its buffers.
fn rows_of(array: &FFI_ArrowArray) -> FormatCheck<i64> {
    if array.is_released() {
        return Err("is released: it was read before, and can be read only once".to_owned());
    }
    let (length, offset) = (array.length, array.offset);
    if length < 0 {
        return Err(format!("has the length {length}"));
    }
    if offset < 0 {
        return Err(format!("has the offset {offset}"));
    }
    offset
        .checked_add(length)
        .ok_or_else(|| format!("has the offset {offset} and the length {length}, more rows than Arrow has"))
}

fn schema_below(schema: &FFI_ArrowSchema, depth: usize) -> FormatCheck {
    if depth > DEEPEST {
        return Err(format!("is nested more than {DEEPEST} times"));
    }
    if schema.release.is_none() {
        return Err("is released".to_owned());
    }
    let shape = shape_of(schema)?;
    if !has_readable_metadata(schema) {
        return Err("has metadata of a wrong length".to_owned());
    }
    if schema.n_children < 0 {
        return Err(format!("has {}", counted(schema.n_children, "child", "children")));
    }
    let children = children_of_schema(schema).ok_or("has a child that is a null pointer")?;
    let fits = match shape.children {
        Children::None => children.is_empty(),
        Children::One | Children::Lists(_) => children.len() == 1,
        Children::Two => children.len() == 2,
        Children::Columns | Children::Any => true,
    };
    if !fits {
        return Err(format!(
            "has {}, which its format does not have",
            counted(children.len(), "child", "children")
        ));
    }
    for (place, child) in children.into_iter().enumerate() {
        schema_below(child, depth + 1).map_err(|wrong| format!("has a child {place} that {wrong}"))?;
    }
    let Some(values) = schema.dictionary() else { return Ok(()) };
    if !is_index(schema) {
        return Err("has a dictionary, whose indices are not whole numbers".to_owned());
    }
    schema_below(values, depth + 1).map_err(|wrong| format!("has a dictionary that {wrong}"))
}

/// Whether this format can be that of a dictionary's indices.
fn is_index(schema: &FFI_ArrowSchema) -> bool {
    matches!(texts_of(schema), Ok([Some("c" | "C" | "s" | "S" | "i" | "I" | "l" | "L"), _]))
}

fn shape_of(schema: &FFI_ArrowSchema) -> FormatCheck<ArrayShape> {
    let [format, _] = texts_of(schema).map_err(|_| "has a format or a name that is not UTF-8")?;
    let format = format.ok_or("has no format")?;
    shape(format).ok_or_else(|| format!("has the format {format:?}, which is not known"))
}

/// The formats of the interface as a table.
fn shape(format: &str) -> Option<ArrayShape> {
    use BufferLayout as L;
    use Children as C;
    let with = |validity, layout, children| Some(ArrayShape { validity, layout, children });
    let flat = |layout| with(true, layout, C::None);
    match format {
        "n" => with(false, L::None, C::None),
        "b" => flat(L::Rows(1)),
        "c" | "C" => flat(L::Rows(8)),
        "s" | "S" | "e" => flat(L::Rows(16)),
        "i" | "I" | "f" | "tdD" | "tts" | "ttm" | "tiM" => flat(L::Rows(32)),
        "l" | "L" | "g" | "tdm" | "ttu" | "ttn" | "tDs" | "tDm" | "tDu" | "tDn" | "tiD" => flat(L::Rows(64)),
        "tin" => flat(L::Rows(128)),
        "u" | "z" => flat(L::Bytes(4)),
        "U" | "Z" => flat(L::Bytes(8)),
        "vu" | "vz" => flat(L::Views),
        "+l" | "+m" => with(true, L::Offsets(4), C::One),
        "+L" => with(true, L::Offsets(8), C::One),
        "+vl" => with(true, L::TwoRows(32, 32), C::One),
        "+vL" => with(true, L::TwoRows(64, 64), C::One),
        "+s" => with(true, L::None, C::Columns),
        "+r" => with(false, L::None, C::Two),
        _ => match format.split_once(':')? {
            ("w", bytes) => flat(L::Rows(i64::from(bytes.parse::<u32>().ok()?) * 8)),
            ("d", digits) => flat(L::Rows(match digits.split(',').nth(2) {
                Some(bits) => bits.parse::<u16>().ok()?.into(),
                None => 128,
            })),
            ("tss" | "tsm" | "tsu" | "tsn", _) => flat(L::Rows(64)),
            ("+w", rows) => with(true, L::None, C::Lists(rows.parse::<u32>().ok()?.into())),
            ("+us", _) => with(false, L::Rows(8), C::Columns),
            ("+ud", _) => with(false, L::TwoRows(8, 32), C::Any),
            _ => None,
        },
    }
}

/// Checks the buffers of an array with this many rows, counted from the start of the buffers.
fn check_buffers(array: &FFI_ArrowArray, shape: &ArrayShape, rows: i64) -> FormatCheck {
    let first = usize::from(shape.validity);
    let expected = match shape.layout {
        BufferLayout::None => first,
        BufferLayout::Rows(_) | BufferLayout::Offsets(_) => first + 1,
        BufferLayout::TwoRows(..) | BufferLayout::Bytes(_) => first + 2,
        // At least the buffer of the lengths is there.
        BufferLayout::Views => usize::try_from(array.n_buffers).unwrap_or(0).max(first + 2),
    };
    if usize::try_from(array.n_buffers) != Ok(expected) {
        return Err(format!(
            "has {} where its format has {expected}",
            counted(array.n_buffers, "buffer", "buffers")
        ));
    }
    if expected > 0 && array.buffers.is_null() {
        return Err("has a null pointer for its buffers".to_owned());
    }
    if shape.validity {
        check_nulls(array)?;
    }
    let check = |buffer: usize, bits: i64| check_room(array, buffer, rows, bits);
    match shape.layout {
        BufferLayout::None => Ok(()),
        BufferLayout::Rows(bits) => check(first, bits),
        BufferLayout::TwoRows(one, other) => check(first, one).and_then(|()| check(first + 1, other)),
        BufferLayout::Offsets(bytes) => check(first, bits_of(bytes)),
        BufferLayout::Bytes(bytes) => {
            check(first, bits_of(bytes))?;
            // Arrow reads no offset of an array without rows, so none is checked here.
            if array.length == 0 {
                return Ok(());
            }
            check_data(array, first + 1, number(array, first, bytes, place(rows)))
        }
        BufferLayout::Views => {
            check(first, 128)?;
            let lengths = expected - 1;
            if lengths == first + 1 {
                return Ok(());
            }
            let start = array.buffer(lengths);
            if start.is_null() || !start.addr().is_multiple_of(align_of::<i64>()) {
                return Err("has no lengths of its views' buffers".to_owned());
            }
            (first + 1..lengths)
                .enumerate()
                .try_for_each(|(at, buffer)| check_data(array, buffer, number(array, lengths, 8, at)))
        }
    }
}

/// Checks the number of nulls, which is -1 if nobody has counted them.
fn check_nulls(array: &FFI_ArrowArray) -> FormatCheck {
    let nulls = array.null_count;
    if !(-1..=array.length).contains(&nulls) {
        return Err(format!("has {} in {}", counted(nulls, "null", "nulls"), rows_in_words(array.length)));
    }
    if nulls > 0 && array.buffer(0).is_null() {
        return Err(format!("has {} and no validity bitmap", counted(nulls, "null", "nulls")));
    }
    Ok(())
}

/// Checks a buffer with this many bits for each row.
fn check_room(array: &FFI_ArrowArray, buffer: usize, rows: i64, bits: i64) -> FormatCheck {
    match rows.checked_mul(bits) {
        Some(size) if size / 8 <= LARGEST => {}
        _ => return Err(format!("has {}, more than any memory has", rows_in_words(rows))),
    }
    if rows > 0 && bits > 0 && array.buffer(buffer).is_null() {
        return Err(format!("has a null pointer for buffer {buffer} of its {}", rows_in_words(rows)));
    }
    Ok(())
}

/// Checks a buffer with this many bytes.
fn check_data(array: &FFI_ArrowArray, buffer: usize, bytes: i64) -> FormatCheck {
    if !(0..=LARGEST).contains(&bytes) {
        return Err(format!("has {} in buffer {buffer}", counted(bytes, "byte", "bytes")));
    }
    if bytes > 0 && array.buffer(buffer).is_null() {
        return Err(format!("has a null pointer for buffer {buffer} of {}", counted(bytes, "byte", "bytes")));
    }
    Ok(())
}

fn check_children(
    array: &FFI_ArrowArray,
    schema: &FFI_ArrowSchema,
    shape: &ArrayShape,
    rows: i64,
) -> FormatCheck {
    if array.n_children != schema.n_children {
        return Err(format!(
            "has {} where its schema has {}",
            counted(array.n_children, "child", "children"),
            schema.n_children
        ));
    }
    let null = "has a child that is a null pointer";
    let (arrays, schemas) = children_of_array(array).zip(children_of_schema(schema)).ok_or(null)?;
    let expected = match shape.children {
        Children::Columns => rows,
        Children::Lists(each) => rows.checked_mul(each).ok_or("has more rows than Arrow has")?,
        _ => 0,
    };
    for (place, (child, schema)) in arrays.into_iter().zip(schemas).enumerate() {
        check_array(child, schema).map_err(|wrong| format!("has a child {place} that {wrong}"))?;
        if child.length < expected {
            return Err(format!(
                "has a child {place} of {} where {} needed",
                rows_in_words(child.length),
                counted(expected, "is", "are")
            ));
        }
    }
    Ok(())
}

fn rows_in_words(rows: i64) -> String {
    counted(rows, "row", "rows")
}

fn bits_of(bytes: usize) -> i64 {
    if bytes == 4 { 32 } else { 64 }
}

/// A number of rows as a `usize`; a negative one is refused.
fn place(rows: i64) -> usize {
    usize::try_from(rows).unwrap_or(0)
}

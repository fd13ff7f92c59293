//! A group's timeline as record batches: who read what, and from when to when.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int32Array, Int64Array, StringArray, StructArray};
use arrow_schema::Field;

use crate::group::play::{Span, Timeline};
use crate::interned::Name;
use crate::{Error, Result};

/// Who read which partition, and from when to when, by partition and time: `count` rows from the row `first` on, or
/// fewer at the end.
///
/// | column | holds |
/// | --- | --- |
/// | `member`, `topic`: text | names |
/// | `partition`: int32 | its number |
/// | `from_ms`, `to_ms`: int64 | times; `to_ms` is null if the member still reads it at the end |
/// | `group`: bool | true: a member of the group |
///
/// # Errors
/// [`Error::TooLarge`] if the names of these rows are more text than one column holds.
pub fn ownership(timeline: &Timeline, first: usize, count: usize) -> Result<StructArray> {
    let spans = timeline.ledger.spans.get(first..).unwrap_or_default();
    let spans = &spans[..count.min(spans.len())];
    let member = |span: &Span| &timeline.clients[span.reader];
    let topic = |span: &Span| &timeline.topics[span.place.0 as usize].0;
    let partitions: Int32Array = spans.iter().map(|span| span.place.1).collect();
    let from: Int64Array = spans.iter().map(|span| span.from).collect();
    let to: Int64Array = spans.iter().map(|span| Some(span.to).filter(|&to| to >= 0)).collect();
    Ok(struct_of(vec![
        ("member", Arc::new(names(spans.iter().map(member))?) as ArrayRef),
        ("topic", Arc::new(names(spans.iter().map(topic))?)),
        ("partition", Arc::new(partitions)),
        ("from_ms", Arc::new(from)),
        ("to_ms", Arc::new(to)),
        ("group", Arc::new(BooleanArray::from(vec![true; spans.len()]))),
    ]))
}

/// Nullable columns, as in Python's tables.
pub(super) fn struct_of(columns: Vec<(&str, ArrayRef)>) -> StructArray {
    let field = |(name, column): (&str, ArrayRef)| {
        (Arc::new(Field::new(name, column.data_type().clone(), true)), column)
    };
    columns.into_iter().map(field).collect::<Vec<_>>().into()
}

fn names<'a>(names: impl Iterator<Item = &'a Name> + Clone) -> Result<StringArray> {
    let (rows, bytes) = names.clone().fold((0, 0), |(rows, bytes), name| (rows + 1, bytes + name.len()));
    if i32::try_from(bytes).is_err() {
        return Err(Error::TooLarge { rows });
    }
    Ok(StringArray::from_iter_values(names))
}

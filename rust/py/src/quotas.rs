//! The arithmetic of the assignors on columns of whole numbers.

use partwright_core::Error;
use partwright_core::columnar::{Odd, QuotaArgument, QuotaRule, Quotas};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::arrow::{ArrowColumn, to_pyarrow};
use crate::error::{Returned, detached};
use crate::items::OrOdd;

/// Applies a rule to columns of one chunk each. An argument that is marked as a single number has one row, which counts
/// for all rows. Yes and no are returned as a column. Numbers are written into `room` piece by piece: that is Arrow's
/// own memory, which is allocated faster. The result is then a column of booleans that says which rows have an answer,
/// or nothing if all have one. A number out of range is answered with its argument and its row.
#[pyfunction]
pub(crate) fn quotas(
    py: Python<'_>,
    rule: &str,
    arguments: Vec<(ArrowColumn, bool)>,
    room: Option<Vec<PyBuffer<i32>>>,
) -> Returned<OrOdd<Py<PyAny>>> {
    let rule = QuotaRule::named(rule).ok_or_else(|| Error::KeyType(format!("there is no quota {rule:?}")))?;
    let arguments: Vec<_> = arguments.into_iter().map(|(column, is_one)| (column.only(), is_one)).collect();
    let numbers = arguments.iter().map(|(values, is_one)| QuotaArgument { values, is_one: *is_one });
    let quotas = Quotas::new(rule, &numbers.collect::<Vec<_>>())?;
    let odd = |odd: Odd| Ok(OrOdd::Odd((odd.argument, odd.row)));
    if let Err(place) = quotas.check() {
        return odd(place);
    }
    let Some(room) = room else {
        return match detached(py, || quotas.flags())? {
            Ok(column) => Ok(OrOdd::Answer(to_pyarrow(py, column)?)),
            Err(place) => odd(place),
        };
    };
    // The numbers of one piece fit into the processor's cache.
    let (mut numbers, mut from) = (Vec::new(), 0);
    for piece in room {
        numbers.resize(piece.item_count(), 0);
        if let Err(place) = detached(py, || Ok(quotas.numbers(from, &mut numbers)))? {
            return odd(place);
        }
        piece.copy_from_slice(py, &numbers)?;
        from += numbers.len();
    }
    Ok(OrOdd::Answer(match quotas.valid() {
        Some(valid) => to_pyarrow(py, valid)?,
        None => py.None(),
    }))
}

//! Python's lists of topics, and of (topic, partition) pairs, as columns of numbers. Each object is read once.

use partwright_core::assignors::Lists;
use partwright_core::columnar;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple};

use crate::arrow::to_pyarrow;
use crate::error::Returned;
use crate::items::OrOdd;

/// The columns; or, for the first object of a wrong type, the number of its list and its place in that list.
type ListColumns = OrOdd<Vec<Py<PyAny>>>;

/// Lists of names as lists of numbers. A name that `numbers` lacks gets the next number there.
#[pyfunction]
pub(crate) fn name_lists(lists: &Bound<'_, PyList>, numbers: &Bound<'_, PyDict>) -> Returned<ListColumns> {
    let (mut names, mut places) = (NameNumbers::new(numbers), Lists::default());
    for (list, object) in lists.iter().enumerate() {
        for (place, name) in object.cast::<PyList>().map_err(PyErr::from)?.iter().enumerate() {
            let Some(number) = names.number(&name)? else { return Ok(ListColumns::Odd((list, place))) };
            places.values.push(number);
        }
        places.end();
    }
    Ok(ListColumns::Answer(vec![to_pyarrow(lists.py(), columnar::list_column(places, None)?)?]))
}

/// Lists of (name, partition) pairs as lists of numbers and lists of partitions. A missing list becomes a null.
#[pyfunction]
pub(crate) fn pair_lists(lists: &Bound<'_, PyList>, numbers: &Bound<'_, PyDict>) -> Returned<ListColumns> {
    let (mut names, mut places, mut partitions) =
        (NameNumbers::new(numbers), Lists::default(), Lists::default());
    let mut are_lists = Vec::with_capacity(lists.len());
    for (list, object) in lists.iter().enumerate() {
        if !object.is_none() {
            for (place, pair) in object.cast::<PyList>().map_err(PyErr::from)?.iter().enumerate() {
                let Some((name, partition)) = two(&pair) else { return Ok(ListColumns::Odd((list, place))) };
                let (number, partition) = (names.number(&name)?, as_partition(&partition));
                let (Some(number), Some(partition)) = (number, partition) else {
                    return Ok(ListColumns::Odd((list, place)));
                };
                places.values.push(number);
                partitions.values.push(partition);
            }
        }
        are_lists.push(!object.is_none());
        places.end();
        partitions.end();
    }
    let column = |of| to_pyarrow(lists.py(), columnar::list_column(of, Some(&are_lists))?);
    Ok(ListColumns::Answer(vec![column(places)?, column(partitions)?]))
}

/// Both items of a list or tuple of two.
fn two<'py>(pair: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    match (pair.cast::<PyTuple>(), pair.cast::<PyList>()) {
        (Ok(pair), _) if pair.len() == 2 => Some((pair.get_item(0).ok()?, pair.get_item(1).ok()?)),
        (_, Ok(pair)) if pair.len() == 2 => Some((pair.get_item(0).ok()?, pair.get_item(1).ok()?)),
        _ => None,
    }
}

/// A partition's number; a bool is refused.
fn as_partition(object: &Bound<'_, PyAny>) -> Option<i32> {
    let number = if object.is_exact_instance_of::<PyInt>() { object.extract::<i32>().ok() } else { None };
    number.filter(|&number| number >= 0)
}

/// The numbers of names, with a small cache of objects: a million pairs often share a few name objects.
struct NameNumbers<'a, 'py> {
    numbers: &'a Bound<'py, PyDict>,
    recent: Vec<(Option<Bound<'py, PyAny>>, i32)>,
}

impl<'a, 'py> NameNumbers<'a, 'py> {
    const RECENT: usize = 1 << 12;

    fn new(numbers: &'a Bound<'py, PyDict>) -> Self {
        Self { numbers, recent: vec![(None, 0); Self::RECENT] }
    }

    /// A name's number; `None` if the object is not text.
    fn number(&mut self, name: &Bound<'py, PyAny>) -> PyResult<Option<i32>> {
        // Objects are at least 16 bytes apart in memory.
        let place = (name.as_ptr() as usize >> 4) % Self::RECENT;
        if let (Some(known), number) = &self.recent[place]
            && known.is(name)
        {
            return Ok(Some(*number));
        }
        if !name.is_instance_of::<PyString>() {
            return Ok(None);
        }
        let number = if let Some(number) = self.numbers.get_item(name)? {
            number.extract()?
        } else {
            let number = i32::try_from(self.numbers.len()).unwrap_or(i32::MAX);
            self.numbers.set_item(name, number)?;
            number
        };
        self.recent[place] = (Some(name.clone()), number);
        Ok(Some(number))
    }
}

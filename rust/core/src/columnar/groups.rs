//! A consumer group as two record batches, and its assignment as a column of lists.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Int32Type};
use arrow_array::{Array, Int32Array, ListArray, StringArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{Field, Fields};

use super::members::{ListedInts, Members, batch, column, offset, place, put_racks};
use crate::assignors::{Assignor, Chance, Input, Lists, Options};
use crate::java::uuid::TopicId;
use crate::{Error, Result};

/// Who reads what: for each row of `members`, its list of partitions in the order of Kafka's own list, each as a place
/// in `topics` and a partition (`topic`, `partition`); and what was left to chance.
///
/// | batch | column | holds |
/// | --- | --- | --- |
/// | `topics` | `name`: text | each topic once |
/// | | `partitions`: int32 | how many it has; null if it does not exist |
/// | | `id`: text | its ID, each once; only for the broker's assignors |
/// | | `racks`: list of list of int32 | by partition, the racks of its replicas, the leader's first, or -1; the column may be missing |
/// | | `order`: list of int32 | the order in which `old-roundrobin` deals the one topic's partitions; the same |
/// | `members` | `id`: text | each member once, in the order of Java's map |
/// | | `instance_id`: text, `rack`: int32 | `group.instance.id` and `client.rack`, or null |
/// | | `no_rack`: int32 | how it reports that it has no rack: 0 by an empty text, 1 by null, 2 not at all; the column may be missing |
/// | | `generation`: int32 | the generation of what it owns; -1 if it knows none |
/// | | `topics`: list of int32 | its subscription, as places in `topics` |
/// | | `owned_topic`, `owned_partition`: list of int32 | what it owns; a null list if it does not say |
///
/// # Errors
/// [`Error::KeyType`] if a column is missing or has another type, and those of [`Assignor::assign`].
pub fn assign(
    assignor: Assignor,
    options: Options,
    topics: &dyn Array,
    members: &dyn Array,
) -> Result<(ListArray, Option<Chance>)> {
    let (topics, members) = (batch(topics)?, Members::of(batch(members)?)?);
    let (racks, leader_racks) = match topics.column_by_name("racks") {
        Some(_) => racks(column(topics, "racks")?)?,
        None => (Lists::default(), Vec::new()),
    };
    let counts: &Int32Array = column(topics, "partitions")?;
    let mut input = Input {
        topics: column::<StringArray>(topics, "name")?.iter().flatten().collect(),
        partitions: counts.iter().map(|count| count.map_or(0, place)).collect(),
        missing: counts.iter().map(|count| count.is_none()).collect(),
        topic_ids: match assignor {
            Assignor::Server(_) => ids(column(topics, "id")?)?,
            _ => Vec::new(),
        },
        racks,
        leader_racks,
        order: match topics.column_by_name("order") {
            Some(_) => {
                let order = ListedInts::of(column(topics, "order")?)?;
                order.all(0..topics.len()).iter().copied().map(place).collect()
            }
            None => Vec::new(),
        },
        options,
        ..Input::default()
    };
    members.put(&mut input, 0..members.len(), place);
    let assignment = assignor.assign(&input)?;
    let offsets = offsets(&assignment.offsets)?;
    let topic: Int32Array = assignment.topics.into_iter().map(u32::cast_signed).collect();
    let int = |name: &str| Field::new(name, Int32Type::DATA_TYPE, false);
    let fields = Fields::from(vec![int("topic"), int("partition")]);
    let partition = Int32Array::from(assignment.partitions);
    let pairs = StructArray::new(fields, vec![Arc::new(topic), Arc::new(partition)], None);
    let item = Arc::new(Field::new("item", pairs.data_type().clone(), false));
    Ok((ListArray::new(item, offsets, Arc::new(pairs), None), assignment.chance))
}

/// Lists of numbers as a column; `valid` says which lists are null.
///
/// # Errors
/// [`Error::TooLarge`] for more numbers than Arrow's lists count.
pub fn list_column(lists: Lists<i32>, valid: Option<&[bool]>) -> Result<ListArray> {
    let item = Arc::new(Field::new("item", Int32Type::DATA_TYPE, true));
    let nulls = valid.map(NullBuffer::from).filter(|nulls| nulls.null_count() > 0);
    let values = Arc::new(Int32Array::from(lists.values));
    Ok(ListArray::new(item, offsets(&lists.offsets)?, values, nulls))
}

fn offsets(ends: &[usize]) -> Result<OffsetBuffer<i32>> {
    let rows = ends.last().copied().unwrap_or(0);
    let offset = |&end: &usize| i32::try_from(end).map_err(|_| Error::TooLarge { rows });
    let offsets: Vec<i32> = ends.iter().map(offset).collect::<Result<_>>()?;
    Ok(OffsetBuffer::new(offsets.into()))
}

fn ids(texts: &StringArray) -> Result<Vec<TopicId>> {
    texts.iter().flatten().map(str::parse).collect()
}

/// By topic and partition, the racks: one list per partition, and the leaders' racks.
fn racks(array: &ListArray) -> Result<(Lists<u32>, Vec<Option<u32>>)> {
    let partitions = array.values().as_any().downcast_ref::<ListArray>();
    let partitions = partitions.ok_or_else(|| Error::KeyType("racks are lists of lists".to_owned()))?;
    let (offsets, racks) = (array.value_offsets(), ListedInts::of(partitions)?);
    let (mut lists, mut leaders) = (Lists::default(), Vec::new());
    for partition in offset(offsets[0])..offset(offsets[array.len()]) {
        put_racks(racks.get(partition), &mut lists, &mut leaders);
    }
    Ok((lists, leaders))
}

//! A consumer group as two record batches, and its assignment as a column of lists.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Int32Type};
use arrow_array::{Array, Int32Array, ListArray, StringArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{Field, Fields};

use crate::assignors::{Assignor, Chance, Given, Lists, Options};
use crate::java::uuid::TopicId;
use crate::{Error, Result};

/// Who reads what: for each row of `members` the list of its partitions, in the order of Kafka's own list, each a place
/// in `topics` and a partition (`topic`, `partition`); and what was left to chance.
///
/// | batch | column | holds |
/// | --- | --- | --- |
/// | `topics` | `name`: text | each topic once |
/// | | `partitions`: int32 | how many it has; null where it is not there |
/// | | `id`: text | for the broker's assignors alone, its id, each once |
/// | | `racks`: list of list of int32 | by partition, the racks of its replicas; the column may be missing |
/// | | `order`: list of int32 | the order in which `old-roundrobin` deals the one topic's partitions; the same |
/// | `members` | `id`: text | each member once, in the order of Java's map |
/// | | `instance_id`: text, `rack`: int32 | `group.instance.id` and `client.rack`, or null |
/// | | `generation`: int32 | that of what it owns; -1 where it knows none |
/// | | `topics`: list of int32 | its subscription, as places in `topics` |
/// | | `owned_topic`, `owned_partition`: list of int32 | what it owns; a null list where it does not say |
///
/// # Errors
/// [`Error::KeyType`] where a column is missing or of another type, and those of [`Assignor::assign`].
pub fn assign(
    assignor: Assignor,
    options: Options,
    topics: &dyn Array,
    members: &dyn Array,
) -> Result<(ListArray, Option<Chance>)> {
    let (topics, members) = (batch(topics)?, batch(members)?);
    let owned_topics: &ListArray = column(members, "owned_topic")?;
    let owned_partitions = lists(column(members, "owned_partition")?)?;
    let owned = lists(owned_topics)?;
    let counts: &Int32Array = column(topics, "partitions")?;
    let given = Given {
        topics: column::<StringArray>(topics, "name")?.iter().flatten().collect(),
        partitions: counts.iter().map(|count| count.map_or(0, number)).collect(),
        missing: counts.iter().map(|count| count.is_none()).collect(),
        topic_ids: match assignor {
            Assignor::Server(_) => ids(column(topics, "id")?)?,
            _ => Vec::new(),
        },
        racks: match topics.column_by_name("racks") {
            Some(_) => racks(column(topics, "racks")?)?,
            None => Lists::default(),
        },
        members: column::<StringArray>(members, "id")?.iter().flatten().collect(),
        instance_ids: column::<StringArray>(members, "instance_id")?.iter().collect(),
        member_racks: column::<Int32Array>(members, "rack")?.iter().map(|rack| rack.map(number)).collect(),
        subscribed: numbers(lists(column(members, "topics")?)?),
        sends: (0..members.len()).map(|member| owned_topics.is_valid(member)).collect(),
        owned: Lists {
            offsets: owned.offsets,
            values: owned.values.into_iter().map(number).zip(owned_partitions.values).collect(),
        },
        generations: column::<Int32Array>(members, "generation")?.values().to_vec(),
        order: match topics.column_by_name("order") {
            Some(_) => numbers(lists(column(topics, "order")?)?).values,
            None => Vec::new(),
        },
        options,
    };
    let assignment = assignor.assign(&given)?;
    let offsets = offsets(&assignment.offsets)?;
    let topic: Int32Array = assignment.topics.into_iter().map(u32::cast_signed).collect();
    let int = |name: &str| Field::new(name, Int32Type::DATA_TYPE, false);
    let fields = Fields::from(vec![int("topic"), int("partition")]);
    let partition = Int32Array::from(assignment.partitions);
    let pairs = StructArray::new(fields, vec![Arc::new(topic), Arc::new(partition)], None);
    let item = Arc::new(Field::new("item", pairs.data_type().clone(), false));
    Ok((ListArray::new(item, offsets, Arc::new(pairs), None), assignment.chance))
}

/// Lists of numbers as a column; where `valid` says so, a list is a null.
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

fn batch(array: &dyn Array) -> Result<&StructArray> {
    array.as_any().downcast_ref().ok_or_else(|| Error::KeyType("a group is two record batches".to_owned()))
}

fn column<'a, A: Array + 'static>(batch: &'a StructArray, name: &str) -> Result<&'a A> {
    let found = batch.column_by_name(name).and_then(|column| column.as_any().downcast_ref());
    found.ok_or_else(|| Error::KeyType(format!("the group's column {name:?} is missing or of another type")))
}

/// Places and racks, which the caller has counted from 0.
fn number(given: i32) -> u32 {
    given.cast_unsigned()
}

fn ids(texts: &StringArray) -> Result<Vec<TopicId>> {
    texts.iter().flatten().map(str::parse).collect()
}

fn numbers(lists: Lists<i32>) -> Lists<u32> {
    Lists { offsets: lists.offsets, values: lists.values.into_iter().map(number).collect() }
}

fn lists(array: &ListArray) -> Result<Lists<i32>> {
    let values = array.values().as_any().downcast_ref::<Int32Array>();
    let values = values.ok_or_else(|| Error::KeyType("the group's lists are of another type".to_owned()))?;
    let (offsets, first, last) = bounds(array);
    Ok(Lists { offsets, values: values.values()[first..last].to_vec() })
}

/// By topic, by partition, racks: one list a partition.
fn racks(array: &ListArray) -> Result<Lists<u32>> {
    let (_, first, last) = bounds(array);
    let partitions = array.values().slice(first, last - first);
    let partitions = partitions.as_any().downcast_ref::<ListArray>();
    let partitions = partitions.ok_or_else(|| Error::KeyType("racks are lists of lists".to_owned()))?;
    Ok(numbers(lists(partitions)?))
}

/// Where each list begins, counted from the first one's beginning; where the values of all begin and end.
fn bounds(array: &ListArray) -> (Vec<usize>, usize, usize) {
    let offsets = array.value_offsets();
    let place = |offset: i32| usize::try_from(offset).unwrap_or(0);
    let (first, last) = (place(offsets[0]), place(offsets[array.len()]));
    (offsets.iter().map(|&offset| place(offset) - first).collect(), first, last)
}

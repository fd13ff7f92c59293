//! The members of consumer groups as a record batch.

use std::ops::Range;

use arrow_array::{Array, Int32Array, ListArray, StringArray, StructArray};

use crate::assignors::{Input, Lists, NoRack};
use crate::{Error, Result};

/// The columns of members, as for [`assign`](super::assign).
pub(super) struct Members<'a> {
    pub(super) ids: &'a StringArray,
    instance_ids: &'a StringArray,
    racks: &'a Int32Array,
    no_racks: Option<&'a Int32Array>,
    generations: &'a Int32Array,
    pub(super) subscribed: ListedInts<'a>,
    owned: &'a ListArray,
    pub(super) owned_topics: ListedInts<'a>,
    owned_partitions: ListedInts<'a>,
}

impl<'a> Members<'a> {
    pub(super) fn of(members: &'a StructArray) -> Result<Self> {
        let owned: &ListArray = column(members, "owned_topic")?;
        Ok(Self {
            ids: column(members, "id")?,
            instance_ids: column(members, "instance_id")?,
            racks: column(members, "rack")?,
            no_racks: members.column_by_name("no_rack").map(|_| column(members, "no_rack")).transpose()?,
            generations: column(members, "generation")?,
            subscribed: ListedInts::of(column(members, "topics")?)?,
            owned,
            owned_topics: ListedInts::of(owned)?,
            owned_partitions: ListedInts::of(column(members, "owned_partition")?)?,
        })
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Puts the members of these rows into a group without members; `number` has their topics' places in it.
    pub(super) fn put(&self, input: &mut Input<'a>, rows: Range<usize>, number: impl Fn(i32) -> u32) {
        for row in rows.clone() {
            input.members.push(self.ids.value(row));
            input.instance_ids.push(self.instance_ids.is_valid(row).then(|| self.instance_ids.value(row)));
            input.member_racks.push(self.racks.is_valid(row).then(|| place(self.racks.value(row))));
            input.no_racks.extend(self.no_racks.map(|how| no_rack(how.value(row))));
            input.sends.push(self.owned.is_valid(row));
        }
        input.generations.extend_from_slice(&self.generations.values()[rows.clone()]);
        input.subscribed.values.reserve(self.subscribed.all(rows.clone()).len());
        input.owned.values.reserve(self.owned_topics.all(rows.clone()).len());
        for row in rows {
            input.subscribed.values.extend(self.subscribed.get(row).iter().map(|&topic| number(topic)));
            input.subscribed.end();
            let owned = self.owned_topics.get(row).iter().zip(self.owned_partitions.get(row));
            input.owned.values.extend(owned.map(|(&topic, &partition)| (number(topic), partition)));
            input.owned.end();
        }
    }
}

/// Lists of int32, in place.
pub(super) struct ListedInts<'a> {
    offsets: &'a [i32],
    values: &'a [i32],
}

impl<'a> ListedInts<'a> {
    pub(super) fn of(lists: &'a ListArray) -> Result<Self> {
        let values = lists.values().as_any().downcast_ref::<Int32Array>();
        let values =
            values.ok_or_else(|| Error::KeyType("the group's lists are of another type".to_owned()))?;
        Ok(Self { offsets: lists.value_offsets(), values: values.values() })
    }

    /// One list.
    pub(super) fn get(&self, row: usize) -> &'a [i32] {
        self.all(row..row + 1)
    }

    /// The lists of these rows, one after the other.
    pub(super) fn all(&self, rows: Range<usize>) -> &'a [i32] {
        &self.values[offset(self.offsets[rows.start])..offset(self.offsets[rows.end])]
    }
}

/// A column of a batch.
pub(super) fn column<'a, A: Array + 'static>(batch: &'a StructArray, name: &str) -> Result<&'a A> {
    let found = batch.column_by_name(name).and_then(|column| column.as_any().downcast_ref());
    found.ok_or_else(|| Error::KeyType(format!("the group's column {name:?} is missing or of another type")))
}

/// A record batch.
pub(super) fn batch(array: &dyn Array) -> Result<&StructArray> {
    array.as_any().downcast_ref().ok_or_else(|| Error::KeyType("a group is two record batches".to_owned()))
}

/// Places and racks, which the caller counted from 0.
pub(super) fn place(input: i32) -> u32 {
    input.cast_unsigned()
}

/// Adds one partition: the racks of its replicas (negative for none), and separately the first one's.
pub(super) fn put_racks(replicas: &[i32], racks: &mut Lists<u32>, leaders: &mut Vec<Option<u32>>) {
    let rack = |input: &i32| u32::try_from(*input).ok();
    leaders.push(replicas.first().and_then(rack));
    racks.values.extend(replicas.iter().filter_map(rack));
    racks.end();
}

/// How a member sends that it has no rack, by the caller's number for it.
fn no_rack(input: i32) -> NoRack {
    match input {
        1 => NoRack::Null,
        2 => NoRack::Unsaid,
        _ => NoRack::Empty,
    }
}

/// An offset as a place.
pub(super) fn offset(input: i32) -> usize {
    usize::try_from(input).unwrap_or(0)
}

//! Many consumer groups at once, with their members one after the other in a record batch.

use std::ops::Range;

use arrow_array::{Array, Int32Array, ListArray, StringArray};

use super::members::{ListedInts, Members, batch, column, offset, place, put_racks};
use crate::assignors::{Assignor, Input, Lists};
use crate::java::uuid::TopicId;
use crate::{Error, Result};

/// The answer for many groups.
#[derive(Debug)]
pub enum AssignedGroups {
    /// Five columns: where each group's pairs begin (and finally their number); and for each pair the row of its
    /// member, the place of its topic's name, its partition, and its place in the member's list.
    Assigned(Vec<Int32Array>),
    /// The first group that cannot be assigned; [`assign`](super::assign) tells why.
    Refused(usize),
}

/// Who reads what in each group, as [`assign`](super::assign) for one.
///
/// | argument | holds |
/// | --- | --- |
/// | `groups`: int32 | the row of each group's first member, and the end of the last one's |
/// | `members` | as [`assign`](super::assign) has it; topics are places in `names` |
/// | `names`: text | each name of a topic once |
/// | `topics` | `name`: int32, a place in `names`; `partitions`: int32; `racks` as [`assign`](super::assign) has it, a null list if they are unknown; the column may be missing |
/// | `of_groups`: int32 | the row of each group's first topic, and the end of the last one's; none if all groups share all topics |
///
/// # Errors
/// [`Error::KeyType`] if a column is missing or has another type; [`Error::TooLarge`] for more pairs than int32 can
/// count.
pub fn assign_groups(
    assignor: Assignor,
    groups: &dyn Array,
    members: &dyn Array,
    names: &dyn Array,
    topics: &dyn Array,
    of_groups: Option<&dyn Array>,
) -> Result<AssignedGroups> {
    let groups = ends(groups)?;
    let members = Members::of(batch(members)?)?;
    let mut topics = GroupTopics::of(assignor, names, topics, of_groups)?;
    let (mut ends, mut readers, mut topic_places) = (vec![0], Vec::new(), Vec::new());
    let (mut partitions, mut positions) = (Vec::new(), Vec::new());
    for (group, rows) in groups.windows(2).enumerate() {
        let rows = offset(rows[0])..offset(rows[1]);
        let Some(input) = topics.group(group, rows.clone(), &members) else {
            return Ok(AssignedGroups::Refused(group));
        };
        let Ok(assignment) = assignor.assign(input) else { return Ok(AssignedGroups::Refused(group)) };
        for (list, row) in assignment.offsets.windows(2).zip(rows) {
            for (position, pair) in (list[0]..list[1]).enumerate() {
                readers.push(int(row)?);
                topic_places.push(topics.kept[assignment.topics[pair] as usize].cast_signed());
                partitions.push(assignment.partitions[pair]);
                positions.push(int(position)?);
            }
        }
        ends.push(int(readers.len())?);
    }
    let columns = [ends, readers, topic_places, partitions, positions];
    Ok(AssignedGroups::Assigned(columns.map(Int32Array::from).to_vec()))
}

/// No row, and no group.
const NONE: u32 = u32::MAX;

/// The topics of all groups, and the present group.
struct GroupTopics<'a> {
    names: &'a StringArray,
    name: &'a [i32],
    partitions: &'a [i32],
    racks: Option<(&'a ListArray, ListedInts<'a>)>,
    of_groups: Option<&'a [i32]>,
    /// By name, the ID that Java makes of it, only for the broker's assignors.
    ids: Vec<TopicId>,
    /// By name, its row among the present group's topics; `NONE` if the group lacks it.
    row: Vec<u32>,
    /// By name, the last group that named it, and its number in that.
    seen: Vec<u32>,
    number: Vec<u32>,
    /// The names that the present group uses: existing topics in the order of their rows, then the others in the order
    /// of their first use, subscriptions first.
    kept: Vec<u32>,
    input: Input<'a>,
}

impl<'a> GroupTopics<'a> {
    fn of(
        assignor: Assignor,
        names: &'a dyn Array,
        topics: &'a dyn Array,
        of_groups: Option<&'a dyn Array>,
    ) -> Result<Self> {
        let names: &StringArray = names.as_any().downcast_ref().ok_or_else(other_type)?;
        let topics = batch(topics)?;
        let racks = match topics.column_by_name("racks") {
            Some(_) => {
                let racks: &ListArray = column(topics, "racks")?;
                let partitions = racks.values().as_any().downcast_ref().ok_or_else(other_type)?;
                Some((racks, ListedInts::of(partitions)?))
            }
            None => None,
        };
        let mut pairs = Self {
            name: column::<Int32Array>(topics, "name")?.values(),
            partitions: column::<Int32Array>(topics, "partitions")?.values(),
            racks,
            of_groups: of_groups.map(ends).transpose()?,
            ids: match assignor {
                Assignor::Server(_) => names.iter().flatten().map(TopicId::of_name).collect(),
                _ => Vec::new(),
            },
            row: vec![NONE; names.len()],
            seen: vec![NONE; names.len()],
            number: vec![0; names.len()],
            kept: Vec::new(),
            input: Input::default(),
            names,
        };
        if of_groups.is_none() {
            pairs.know(0..topics.len());
        }
        Ok(pairs)
    }

    /// Takes these rows as the existing topics; returns whether each is there once.
    fn know(&mut self, rows: Range<usize>) -> bool {
        rows.into_iter().all(|row| {
            let known = &mut self.row[place(self.name[row]) as usize];
            let is_first = *known == NONE;
            *known = u32::try_from(row).unwrap_or(NONE);
            is_first
        })
    }

    fn forget(&mut self, rows: Range<usize>) {
        for row in rows {
            self.row[place(self.name[row]) as usize] = NONE;
        }
    }

    /// A group of these members, with the topics that they name; none if a topic or a member is there twice.
    fn group(&mut self, group: usize, rows: Range<usize>, members: &Members<'a>) -> Option<&Input<'a>> {
        let own = self.of_groups.map(|ends| offset(ends[group])..offset(ends[group + 1]));
        if let Some(own) = own.clone()
            && !self.know(own)
        {
            return None;
        }
        self.empty();
        self.keep(group, members.subscribed.all(rows.clone()), members.owned_topics.all(rows.clone()));
        for (number, &name) in (0..).zip(&self.kept) {
            let (name, row) = (name as usize, self.row[name as usize]);
            self.number[name] = number;
            self.input.topics.push(self.names.value(name));
            let partitions = if row == NONE { 0 } else { place(self.partitions[row as usize]) };
            self.input.partitions.push(partitions);
            self.input.missing.push(row == NONE);
            if let Some(&id) = self.ids.get(name) {
                self.input.topic_ids.push(id);
            }
        }
        members.put(&mut self.input, rows, |name| self.number[place(name) as usize]);
        self.take_racks();
        if let Some(own) = own {
            self.forget(own);
        }
        let mut ids = self.input.members.clone();
        ids.sort_unstable();
        ids.windows(2).all(|two| two[0] != two[1]).then_some(&self.input)
    }

    /// Empties the present group, and keeps its memory.
    fn empty(&mut self) {
        let Input { topics, partitions, racks, members, .. } = &mut self.input;
        topics.clear();
        partitions.clear();
        members.clear();
        clear(racks);
        let Input { instance_ids, member_racks, subscribed, sends, owned, .. } = &mut self.input;
        instance_ids.clear();
        member_racks.clear();
        sends.clear();
        clear(subscribed);
        clear(owned);
        let Input { generations, topic_ids, missing, leader_racks, .. } = &mut self.input;
        generations.clear();
        topic_ids.clear();
        missing.clear();
        leader_racks.clear();
    }

    /// Finds out which topics the group names.
    fn keep(&mut self, group: usize, subscribed: &[i32], owned: &[i32]) {
        let group = u32::try_from(group).unwrap_or(NONE - 1);
        self.kept.clear();
        let mut missing = Vec::new();
        for &name in subscribed.iter().chain(owned) {
            let name = place(name);
            if std::mem::replace(&mut self.seen[name as usize], group) != group {
                let is_there = self.row[name as usize] != NONE;
                if is_there { self.kept.push(name) } else { missing.push(name) }
            }
        }
        self.kept.sort_unstable_by_key(|&name| self.row[name as usize]);
        self.kept.append(&mut missing);
    }

    /// The racks of the group's topics, if some are known and some member has a rack.
    fn take_racks(&mut self) {
        let Some((racks, replicas)) = &self.racks else { return };
        let rows = || self.kept.iter().map(|&name| self.row[name as usize]).filter(|&row| row != NONE);
        if self.input.member_racks.iter().all(Option::is_none)
            || !rows().any(|row| racks.is_valid(row as usize))
        {
            return;
        }
        let Input { racks: lists, leader_racks, .. } = &mut self.input;
        for row in rows() {
            let first = offset(racks.value_offsets()[row as usize]);
            for partition in 0..offset(self.partitions[row as usize]) {
                let is_known = racks.is_valid(row as usize);
                let known = if is_known { replicas.get(first + partition) } else { &[] };
                put_racks(known, lists, leader_racks);
            }
        }
    }
}

fn clear<T>(lists: &mut Lists<T>) {
    lists.values.clear();
    lists.offsets.truncate(1);
}

fn ends(array: &dyn Array) -> Result<&[i32]> {
    let ends = array.as_any().downcast_ref::<Int32Array>().ok_or_else(other_type)?;
    Ok(ends.values())
}

fn other_type() -> Error {
    Error::KeyType("the columns of groups are of another type".to_owned())
}

fn int(rows: usize) -> Result<i32> {
    i32::try_from(rows).map_err(|_| Error::TooLarge { rows })
}

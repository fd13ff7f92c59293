//! Members by how many partitions they have (`planByNumPartitions`), in the order in which they came there.

use crate::index::{MemberIx, PartitionIx, numbered};
use std::collections::BTreeMap;

/// The levels that have members.
pub(super) struct Levels(BTreeMap<usize, Vec<MemberIx>>);

impl Levels {
    pub(super) fn new(plan: &[Vec<PartitionIx>]) -> Self {
        let mut levels = Self(BTreeMap::new());
        for (member, list) in numbered(plan) {
            levels.add(list.len(), member);
        }
        levels
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn lowest(&self) -> usize {
        self.0.first_key_value().map_or(0, |(&level, _)| level)
    }

    pub(super) fn highest(&self) -> usize {
        self.0.last_key_value().map_or(0, |(&level, _)| level)
    }

    /// The member that came first to a level.
    pub(super) fn first(&self, level: usize) -> Option<MemberIx> {
        self.0.get(&level).map(|members| members[0])
    }

    pub(super) fn has(&self, level: usize) -> bool {
        self.0.contains_key(&level)
    }

    pub(super) fn add(&mut self, level: usize, member: MemberIx) {
        self.0.entry(level).or_default().push(member);
    }

    /// Removes a member; the last one takes its place.
    pub(super) fn remove(&mut self, level: usize, member: MemberIx) {
        let Some(members) = self.0.get_mut(&level) else { return };
        if let Some(place) = members.iter().position(|&other| other == member) {
            members.swap_remove(place);
        }
        if members.is_empty() {
            self.0.remove(&level);
        }
    }

    /// Pairs the first members of the lowest and the highest level, which get one level closer to each other.
    pub(super) fn meet(&mut self) -> Vec<(MemberIx, MemberIx)> {
        let (low, high) = (self.lowest(), self.highest());
        let count =
            [low, high].map(|level| self.0.get(&level).map_or(0, Vec::len)).into_iter().min().unwrap_or(0);
        let [up, down] = [low, high].map(|level| {
            let members = self.0.get_mut(&level).map(|members| members.drain(..count).collect::<Vec<_>>());
            members.unwrap_or_default()
        });
        for (level, members) in [(low + 1, &up), (high - 1, &down)] {
            self.0.entry(level).or_default().extend(members);
        }
        self.0.retain(|_, members| !members.is_empty());
        up.into_iter().zip(down).collect()
    }
}

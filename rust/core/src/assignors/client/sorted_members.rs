//! Members by how many partitions they have, then by ID: the order of Java's `TreeSet` of them, without its tree.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::index::{Ix, MemberIx, numbered};

/// Members with equally many partitions form a level: a bit for each, so they are sorted by ID.
pub(crate) struct SortedMembers {
    /// By count, the level; each has a member.
    levels: BTreeMap<usize, LoadLevel>,
    /// By member, how many partitions it has; none for a member that was left out.
    counts: Vec<Option<usize>>,
}

struct LoadLevel {
    members: usize,
    bits: Vec<u64>,
}

impl SortedMembers {
    /// Members with these counts, except those that are left out.
    pub(crate) fn new(counts: &[usize], left_out: impl Fn(MemberIx) -> bool) -> Self {
        let mut members = Self { levels: BTreeMap::new(), counts: vec![None; counts.len()] };
        for (member, &count) in numbered(counts).filter(|&(member, _)| !left_out(member)) {
            members.put(member, count);
        }
        members
    }

    /// The fewest and the most partitions that a member has.
    pub(crate) fn bounds(&self) -> Option<(usize, usize)> {
        let count = |(&count, _): (&usize, &LoadLevel)| count;
        self.levels.first_key_value().map(count).zip(self.levels.last_key_value().map(count))
    }

    /// All with their counts, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, MemberIx)> + '_ {
        self.levels.iter().flat_map(|(&count, level)| {
            members(level.bits.iter().copied()).map(move |member| (count, member))
        })
    }

    /// The first of `among` (bits of members) that has fewer than a number of partitions and meets a condition.
    pub(crate) fn first(
        &self,
        among: &[u64],
        fewer_than: usize,
        meets: impl Fn(MemberIx) -> bool,
    ) -> Option<MemberIx> {
        let mut levels = self.levels.iter().take_while(|&(&count, _)| count < fewer_than);
        levels.find_map(|(_, level)| {
            members(level.bits.iter().zip(among).map(|(one, other)| one & other))
                .find(|&member| meets(member))
        })
    }

    /// Gives a member one more partition.
    pub(crate) fn up(&mut self, member: MemberIx) {
        if let Some(count) = self.take(member) {
            self.put(member, count + 1);
        }
    }

    /// Takes one partition from a member.
    pub(crate) fn down(&mut self, member: MemberIx) {
        if let Some(count) = self.take(member) {
            self.put(member, count - 1);
        }
    }

    fn put(&mut self, member: MemberIx, count: usize) {
        let words = self.counts.len().div_ceil(64);
        let level = self.levels.entry(count);
        let level = level.or_insert_with(|| LoadLevel { members: 0, bits: vec![0; words] });
        level.members += 1;
        level.bits[member.place() / 64] |= 1 << (member.0 % 64);
        self.counts[member] = Some(count);
    }

    fn take(&mut self, member: MemberIx) -> Option<usize> {
        let count = self.counts[member].take()?;
        let Entry::Occupied(mut level) = self.levels.entry(count) else { return None };
        level.get_mut().bits[member.place() / 64] &= !(1 << (member.0 % 64));
        level.get_mut().members -= 1;
        if level.get().members == 0 {
            level.remove();
        }
        Some(count)
    }
}

/// The members whose bits are set.
fn members(words: impl Iterator<Item = u64>) -> impl Iterator<Item = MemberIx> {
    (0..).step_by(64).zip(words).flat_map(|(first, mut word): (u32, u64)| {
        std::iter::from_fn(move || {
            let place = (word != 0).then(|| word.trailing_zeros())?;
            word &= word - 1;
            Some(MemberIx(first + place))
        })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{MemberIx, SortedMembers};

    proptest! {
        #[test]
        fn is_a_tree_set(
            counts in prop::collection::vec(prop_oneof![0..4_usize, 0..1_000_usize], 1..200),
            steps in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..300),
            bits in prop::collection::vec(any::<u64>(), 4),
            fewer_than in 0..1_000_usize,
        ) {
            let mut counts = counts;
            let left_out = |member: MemberIx| member.0 % 7 == 3;
            let mut sorted = SortedMembers::new(&counts, left_out);
            for (member, up) in steps {
                let member = member.index(counts.len());
                if up {
                    counts[member] += 1;
                    sorted.up(MemberIx(u32::try_from(member).unwrap()));
                } else if counts[member] > 0 {
                    counts[member] -= 1;
                    sorted.down(MemberIx(u32::try_from(member).unwrap()));
                }
            }
            let pairs = counts.iter().copied().zip((0_u32..).map(MemberIx)).filter(|&(_, member)| !left_out(member));
            let tree: BTreeSet<(usize, MemberIx)> = pairs.collect();
            prop_assert_eq!(sorted.iter().collect::<Vec<_>>(), tree.iter().copied().collect::<Vec<_>>());
            let ends = tree.first().zip(tree.last()).map(|(first, last)| (first.0, last.0));
            prop_assert_eq!(sorted.bounds(), ends);
            let is_set = |MemberIx(member): MemberIx| bits[member as usize / 64] >> (member % 64) & 1 == 1;
            let first = tree.iter().take_while(|(count, _)| *count < fewer_than);
            let first = first.map(|&(_, member)| member).find(|&member| is_set(member) && member.0 % 5 > 0);
            prop_assert_eq!(sorted.first(&bits, fewer_than, |member| member.0 % 5 > 0), first);
        }
    }
}

//! Members by how many partitions they have, then by ID: the order of Java's `TreeSet` of them, without its tree.

use crate::index::{Ix, MemberIx, numbered};

/// No level.
const NONE: u32 = u32::MAX;

/// Levels of members with equally many partitions, linked in the order of the counts. A level's members are bits, which
/// are sorted by ID. A count changes by one, so a changing member goes to the next level, and nothing is shifted.
pub(crate) struct SortedMembers {
    levels: Vec<LoadLevel>,
    /// For each level, enough words for all members.
    bits: Vec<u64>,
    words: usize,
    /// By member, its level; `NONE` for a member that was left out.
    level_of: Vec<u32>,
    first: u32,
    last: u32,
    /// Levels without a member.
    free: Vec<u32>,
}

#[derive(Clone, Copy)]
struct LoadLevel {
    count: usize,
    members: usize,
    before: u32,
    after: u32,
}

impl SortedMembers {
    /// Members with these counts, except those that are left out.
    pub(crate) fn new(counts: &[usize], left_out: impl Fn(MemberIx) -> bool) -> Self {
        let mut members = Self {
            levels: Vec::new(),
            bits: Vec::new(),
            words: counts.len().div_ceil(64),
            level_of: vec![NONE; counts.len()],
            first: NONE,
            last: NONE,
            free: Vec::new(),
        };
        let mut sorted: Vec<_> = numbered(counts).map(|(member, &count)| (count, member)).collect();
        sorted.sort_unstable();
        for (count, member) in sorted.into_iter().filter(|&(_, member)| !left_out(member)) {
            let last = members.last;
            let is_new = last == NONE || members.levels[last as usize].count != count;
            let level = if is_new { members.insert(count, last, NONE) } else { last };
            members.put(level, member);
        }
        members
    }

    /// The fewest and the most partitions that a member has.
    pub(crate) fn bounds(&self) -> Option<(usize, usize)> {
        let count = |level: u32| self.levels.get(level as usize).map(|level| level.count);
        count(self.first).zip(count(self.last))
    }

    /// All with their counts, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, MemberIx)> + '_ {
        self.upwards().flat_map(|(level, words)| {
            members(words.iter().copied()).map(move |member| (level.count, member))
        })
    }

    /// The first of `among` (bits of members) that has fewer than a number of partitions and meets a condition.
    pub(crate) fn first(
        &self,
        among: &[u64],
        fewer_than: usize,
        meets: impl Fn(MemberIx) -> bool,
    ) -> Option<MemberIx> {
        let mut levels = self.upwards().take_while(|(level, _)| level.count < fewer_than);
        levels.find_map(|(_, words)| {
            members(words.iter().zip(among).map(|(one, other)| one & other)).find(|&member| meets(member))
        })
    }

    /// Gives a member one more partition.
    pub(crate) fn up(&mut self, member: MemberIx) {
        let level = self.level_of[member];
        let Some(&LoadLevel { count, after, .. }) = self.levels.get(level as usize) else { return };
        let is_there = self.levels.get(after as usize).is_some_and(|after| after.count == count + 1);
        let next = if is_there { after } else { self.insert(count + 1, level, after) };
        self.put(next, member);
        self.leave(level, member);
    }

    /// Takes one partition from a member.
    pub(crate) fn down(&mut self, member: MemberIx) {
        let level = self.level_of[member];
        let Some(&LoadLevel { count, before, .. }) = self.levels.get(level as usize) else { return };
        let is_there = self.levels.get(before as usize).is_some_and(|before| before.count + 1 == count);
        let next = if is_there { before } else { self.insert(count - 1, before, level) };
        self.put(next, member);
        self.leave(level, member);
    }

    fn put(&mut self, level: u32, member: MemberIx) {
        self.level_of[member] = level;
        self.levels[level as usize].members += 1;
        self.bits[level as usize * self.words + member.place() / 64] |= 1 << (member.0 % 64);
    }

    fn leave(&mut self, level: u32, member: MemberIx) {
        self.bits[level as usize * self.words + member.place() / 64] &= !(1 << (member.0 % 64));
        let left = &mut self.levels[level as usize];
        left.members -= 1;
        if left.members == 0 {
            let LoadLevel { before, after, .. } = *left;
            self.link(before, after);
            self.free.push(level);
        }
    }

    /// A new level between two; an emptied one has no bits set.
    fn insert(&mut self, count: usize, before: u32, after: u32) -> u32 {
        let new = LoadLevel { count, members: 0, before: NONE, after: NONE };
        let level = if let Some(level) = self.free.pop() {
            self.levels[level as usize] = new;
            level
        } else {
            self.levels.push(new);
            self.bits.resize(self.levels.len() * self.words, 0);
            u32::try_from(self.levels.len() - 1).unwrap_or(NONE)
        };
        self.link(before, level);
        self.link(level, after);
        level
    }

    fn link(&mut self, before: u32, after: u32) {
        match self.levels.get_mut(before as usize) {
            Some(level) => level.after = after,
            None => self.first = after,
        }
        match self.levels.get_mut(after as usize) {
            Some(level) => level.before = before,
            None => self.last = before,
        }
    }

    /// The levels from the smallest count on, with their members' bits.
    fn upwards(&self) -> impl Iterator<Item = (&LoadLevel, &[u64])> {
        let mut next = self.first;
        std::iter::from_fn(move || {
            let place = next as usize;
            let level = self.levels.get(place)?;
            next = level.after;
            Some((level, &self.bits[place * self.words..(place + 1) * self.words]))
        })
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

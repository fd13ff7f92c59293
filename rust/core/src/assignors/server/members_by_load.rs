//! Members sorted by how much they read, while partitions are given to the first and taken from the last of them
//! (`UniformHeterogeneousAssignmentBuilder.MemberAssignmentBalancer`).

use crate::index::MemberIx;
/// A topic's members by their load. The caller changes the loads between two calls, by one each.
#[derive(Default)]
pub(super) struct Loads {
    sorted: Vec<MemberIx>,
    /// The position of each load's members while sorting.
    places: Vec<usize>,
    /// How many members at the front are being filled up to the next level.
    least_end: usize,
    least_level: i32,
    least_next: usize,
    /// The first member of those that are being brought down to the next level, and the first of those that have
    /// nothing to give.
    most_start: usize,
    most_end: usize,
    most_level: i32,
    /// How many members are before the one that was asked last.
    most_next: usize,
}

impl Loads {
    /// Takes a topic's members, sorted by number, and sorts them by load, then by number.
    pub(super) fn begin(&mut self, members: &[MemberIx], loads: &[i32]) {
        let (least, most) = bounds(members, loads);
        let levels = usize::try_from(most - least).unwrap_or(0) + 1;
        self.sorted.clear();
        if levels <= 2 * members.len() {
            self.sort_by_counting(members, loads, least, levels);
        } else {
            self.sorted.extend_from_slice(members);
            self.sorted.sort_by_key(|&member| loads[member]);
        }
        (self.least_end, self.least_level, self.least_next) = (0, least - 1, 0);
        (self.most_start, self.most_end) = (members.len(), members.len());
        (self.most_level, self.most_next) = (most + 1, members.len());
    }

    /// The same if at most this many partitions will be given: if enough members have the least, only those are needed.
    pub(super) fn begin_for(&mut self, count: usize, members: &[MemberIx], loads: &[i32]) {
        let (least, _) = bounds(members, loads);
        let first = members.iter().copied().filter(|&member| loads[member] == least);
        self.sorted.clear();
        self.sorted.extend(first.take(count));
        if self.sorted.len() < count {
            self.begin(members, loads);
        } else {
            (self.least_end, self.least_level, self.least_next) = (0, least - 1, 0);
        }
    }

    fn sort_by_counting(&mut self, members: &[MemberIx], loads: &[i32], least: i32, levels: usize) {
        let level = |member: MemberIx| usize::try_from(loads[member] - least).unwrap_or(0);
        self.places.clear();
        self.places.resize(levels + 1, 0);
        for &member in members {
            self.places[level(member) + 1] += 1;
        }
        for place in 1..=levels {
            self.places[place] += self.places[place - 1];
        }
        self.sorted.resize(members.len(), MemberIx::NONE);
        for &member in members {
            let place = &mut self.places[level(member)];
            self.sorted[*place] = member;
            *place += 1;
        }
    }

    /// The member that gets the next partition (`nextLeastLoadedMember`).
    pub(super) fn next_least(&mut self, loads: &[i32]) -> MemberIx {
        if self.least_next >= self.least_end {
            self.least_level += 1;
            while self.least_end < self.sorted.len() && self.load(self.least_end, loads) == self.least_level {
                self.least_end += 1;
            }
            self.least_next = 0;
        }
        self.least_next += 1;
        self.sorted[self.least_next - 1]
    }

    /// The member from which the next partition may be taken (`nextMostLoadedMember`).
    pub(super) fn next_most(&mut self, loads: &[i32]) -> Option<MemberIx> {
        if self.most_next <= self.most_start {
            self.most_level = if self.most_end <= self.most_start && self.most_start > 0 {
                self.load(self.most_start - 1, loads)
            } else {
                self.most_level - 1
            };
            while self.most_start > 0 && self.load(self.most_start - 1, loads) == self.most_level {
                self.most_start -= 1;
            }
            self.most_next = self.most_end;
        }
        self.most_next = self.most_next.checked_sub(1)?;
        Some(self.sorted[self.most_next])
    }

    /// Leaves out the last returned member, which has nothing to take (`excludeMostLoadedMember`).
    pub(super) fn exclude_most(&mut self) {
        self.most_end -= 1;
        self.sorted.swap(self.most_next, self.most_end);
    }

    /// Whether receivers and givers differ by at most one.
    pub(super) fn is_balanced(&self) -> bool {
        self.most_level - self.least_level <= 1
    }

    fn load(&self, place: usize, loads: &[i32]) -> i32 {
        loads[self.sorted[place]]
    }
}

/// The smallest and the largest load of members.
pub(super) fn bounds(members: &[MemberIx], loads: &[i32]) -> (i32, i32) {
    let loads = members.iter().map(|&member| loads[member]);
    loads.fold((i32::MAX, i32::MIN), |(least, most), load| (least.min(load), most.max(load)))
}

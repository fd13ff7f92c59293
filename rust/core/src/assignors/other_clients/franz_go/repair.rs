//! The best plan among those with the same loads (`repair.go`, since 1.22): in racks first, then with the fewest moves.
//!
//! Topics with the same readers are a class, and a class's partitions in one rack are a row. A table has each member's
//! number of partitions in each row, and rotations through the table lower its price until none can.

use super::rotations::{Cell, Finder, Rotation};
use super::sticky::{Balancer, NOBODY, Owner};
use crate::index::{MemberIx, PartitionIx, indices, numbered};

struct CellTable {
    cells: Vec<Cell>,
    /// By entry, its cell; none if its row has no partitions.
    cell_at: Vec<Option<usize>>,
    /// By member, its classes, sorted.
    classes: Vec<Vec<usize>>,
    /// By member, its first entry.
    first: Vec<usize>,
    /// Rows and entries of a class: the racks, and no rack.
    stride: usize,
    rows: usize,
    rack_price: i64,
    class_of: Vec<usize>,
}

/// `repairAssignment`.
pub(super) fn run(balancer: &mut Balancer<'_>) {
    if !balancer.complex && balancer.racks.is_none() {
        return;
    }
    let mut table = CellTable::new(balancer);
    if table.cells.is_empty() {
        return;
    }
    let mut loads = vec![0; balancer.plan.len()];
    for cell in &table.cells {
        loads[cell.member] += cell.count;
    }
    let mut finder = Finder::new(table.rows, balancer.plan.len());
    let mut moved = false;
    loop {
        let rotations = finder.find(&table.cells, &loads);
        if rotations.is_empty() {
            break;
        }
        moved = true;
        for rotation in rotations {
            table.apply(&rotation, &mut loads);
        }
    }
    let crossed = numbered(&balancer.plan).any(|(member, list)| {
        list.iter().any(|&partition| {
            let original = balancer.owner[partition].original;
            original != NOBODY && original != member
        })
    });
    if moved || crossed {
        table.realize(balancer);
    }
}

/// For each topic, its class of topics with the same readers; and how many classes there are.
fn topic_classes(balancer: &Balancer<'_>) -> (Vec<usize>, usize) {
    if !balancer.complex {
        return (vec![0; balancer.subscribers.len()], 1);
    }
    let mut known = std::collections::BTreeMap::new();
    let classes = balancer.subscribers.iter().map(|readers| {
        let next = known.len();
        *known.entry(readers).or_insert(next)
    });
    (classes.collect(), known.len())
}

impl CellTable {
    fn new(balancer: &Balancer<'_>) -> Self {
        let (class_of, count) = topic_classes(balancer);
        let stride = balancer.racks.as_ref().map_or(0, |racks| racks.count) + 1;
        let mut classes = vec![Vec::new(); balancer.plan.len()];
        for (&class, readers) in class_of.iter().zip(&balancer.subscribers) {
            for &member in readers {
                classes[member].push(class);
            }
        }
        if !balancer.complex {
            classes = vec![vec![0]; balancer.plan.len()];
        }
        let mut table = Self {
            cells: Vec::new(),
            cell_at: Vec::new(),
            first: vec![0],
            classes,
            stride,
            rows: count * stride,
            rack_price: i64::try_from(balancer.row.len()).unwrap_or(i64::MAX - 1) + 1,
            class_of,
        };
        let mut entries = Vec::new();
        for member in indices::<MemberIx>(table.classes.len()) {
            table.classes[member].sort_unstable();
            table.classes[member].dedup();
            for &class in &table.classes[member] {
                for rack in 0..stride {
                    entries.push(table.entry(balancer, member, class, rack));
                }
            }
            table.first.push(entries.len());
        }
        for (member, list) in numbered(&balancer.plan) {
            for &partition in list {
                if let Some(entry) = table.entry_of(balancer, partition, member) {
                    entries[entry].count += 1;
                }
            }
        }
        for (partition, &Owner { original, .. }) in numbered(&balancer.owner) {
            if original != NOBODY
                && let Some(entry) = table.entry_of(balancer, partition, original)
            {
                entries[entry].held += 1;
            }
        }
        let mut totals = vec![0; table.rows];
        for entry in &entries {
            totals[entry.row] += entry.count;
        }
        for mut entry in entries {
            let used = totals[entry.row] > 0;
            table.cell_at.push(used.then_some(table.cells.len()));
            if used {
                entry.price(table.rack_price);
                table.cells.push(entry);
            }
        }
        table
    }

    fn entry(&self, balancer: &Balancer<'_>, member: MemberIx, class: usize, rack: usize) -> Cell {
        let own = balancer.racks.as_ref().map_or(0, |racks| racks.members[member] as usize);
        Cell {
            add: 0,
            drop: None,
            row: class * self.stride + rack,
            member,
            count: 0,
            held: 0,
            off_rack: rack != 0 && own != 0 && rack != own,
        }
    }

    fn class_and_rack(&self, balancer: &Balancer<'_>, partition: PartitionIx) -> (usize, usize) {
        let class = self.class_of[balancer.row.topic(partition)];
        (class, balancer.racks.as_ref().map_or(0, |racks| racks.partitions[partition] as usize))
    }

    /// A member's entry for a partition, if it reads the topic.
    fn entry_of(&self, balancer: &Balancer<'_>, partition: PartitionIx, member: MemberIx) -> Option<usize> {
        let (class, rack) = self.class_and_rack(balancer, partition);
        let place = self.classes[member].binary_search(&class).ok()?;
        Some(self.first[member] + place * self.stride + rack)
    }

    fn apply(&mut self, rotation: &Rotation, loads: &mut [usize]) {
        let rooms = rotation.steps.iter().map(|&(cell, gains)| self.cells[cell].room(gains));
        let count = if rotation.shifts_load { 1 } else { rooms.min().unwrap_or(0) };
        for &(cell, gains) in &rotation.steps {
            let cell = &mut self.cells[cell];
            let load = &mut loads[cell.member];
            if gains {
                cell.count += count;
                *load += count;
            } else {
                cell.count -= count;
                *load -= count;
            }
            cell.price(self.rack_price);
        }
    }

    /// `realizeAssignment`: every member first takes back what it had, up to its counts; the rest is dealt out.
    fn realize(&self, balancer: &mut Balancer<'_>) {
        let mut missing: Vec<usize> = self.cells.iter().map(|cell| cell.count).collect();
        let mut piles = vec![std::collections::VecDeque::new(); self.rows];
        let all: Vec<PartitionIx> = balancer.plan.iter_mut().flat_map(std::mem::take).collect();
        for partition in all {
            let original = balancer.owner[partition].original;
            let entry = (original != NOBODY).then(|| self.entry_of(balancer, partition, original)).flatten();
            match entry.and_then(|entry| self.cell_at[entry]) {
                Some(cell) if missing[cell] > 0 => {
                    missing[cell] -= 1;
                    balancer.plan[original].push(partition);
                }
                _ => {
                    let (class, rack) = self.class_and_rack(balancer, partition);
                    piles[class * self.stride + rack].push_back(partition);
                }
            }
        }
        for (cell, missing) in self.cells.iter().zip(missing) {
            let pile = &mut piles[cell.row];
            let taken = pile.drain(..missing.min(pile.len()));
            balancer.plan[cell.member].extend(taken);
        }
    }
}

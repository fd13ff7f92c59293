//! The best plan among those with the same loads (`repair.go`, since 1.22): in racks first, then with the fewest moves.
//!
//! Topics with the same readers are a class, and a class's partitions in one rack are a row. A table has each member's
//! number of partitions in each row, and rotations through the table lower its price until none can. They are found
//! (`stickyFinder`) by Bellman-Ford from every node at once, over rows, members, and a node for each level of load.

use super::sticky::{Balancer, NOBODY, Owner};
use crate::index::{Ix, MemberIx, PartitionIx, indices, numbered};

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

/// How many partitions of a row a member has, and what one more or one fewer costs.
#[derive(Clone)]
struct Cell {
    add: i64,
    /// `None` if it has no partition that it could give up.
    drop: Option<i64>,
    row: usize,
    member: MemberIx,
    count: usize,
    /// How many of them it had at first.
    held: usize,
    /// Whether the row is in another rack than the member.
    off_rack: bool,
}

impl Cell {
    fn price(&mut self, rack_price: i64) {
        let rack = if self.off_rack { rack_price } else { 0 };
        self.add = rack + i64::from(self.count >= self.held);
        self.drop = (self.count > 0).then(|| -rack - i64::from(self.count > self.held));
    }

    /// How many partitions may move before the price changes.
    fn room(&self, gains: bool) -> usize {
        match (gains, self.count < self.held, self.count > self.held) {
            (true, true, _) => self.held - self.count,
            (true, false, _) => usize::MAX,
            (false, _, true) => self.count - self.held,
            (false, _, false) => self.count,
        }
    }
}

/// One rotation: cells, and whether each gains a partition or loses one.
struct Rotation {
    steps: Vec<(usize, bool)>,
    /// Whether it moves load from one level to the next.
    shifts_load: bool,
}

/// The state of a search's nodes.
struct Finder {
    rows: usize,
    members: usize,
    /// By load, the node of its level, if a member has that load.
    levels: Vec<Option<usize>>,
    distances: Vec<i64>,
    /// The node from which each was reached, and the cell between them.
    via: Vec<Option<(usize, Option<usize>)>>,
}

impl Finder {
    fn new(rows: usize, members: usize) -> Self {
        Self { rows, members, levels: Vec::new(), distances: Vec::new(), via: Vec::new() }
    }

    /// Rotations that lower the price and share no node; none if the price is the lowest.
    fn find(&mut self, cells: &[Cell], loads: &[usize]) -> Vec<Rotation> {
        let nodes = self.begin(loads);
        for _ in 0..nodes {
            let mut moved = false;
            for (at, cell) in cells.iter().enumerate() {
                let (row, member) = (cell.row, self.rows + cell.member.place());
                moved |= self.reach(member, row, cell.add, Some(at));
                if let Some(drop) = cell.drop {
                    moved |= self.reach(row, member, drop, Some(at));
                }
            }
            for (member, &load) in loads.iter().enumerate() {
                let node = self.rows + member;
                if let Some(take) = self.levels[load + 1] {
                    moved |= self.reach(take, node, 0, None);
                }
                if let Some(shed) = self.levels[load] {
                    moved |= self.reach(node, shed, 0, None);
                }
            }
            if !moved {
                break;
            }
            let roots = self.on_cycles();
            if !roots.is_empty() {
                return roots.into_iter().map(|root| self.rotation(root)).collect();
            }
        }
        Vec::new()
    }

    /// Forgets the last search, and returns the number of nodes.
    fn begin(&mut self, loads: &[usize]) -> usize {
        self.levels = vec![None; loads.iter().max().unwrap_or(&0) + 2];
        let mut nodes = self.rows + self.members;
        for &load in loads {
            if load > 0 && self.levels[load].is_none() {
                self.levels[load] = Some(nodes);
                nodes += 1;
            }
        }
        self.distances = vec![0; nodes];
        self.via = vec![None; nodes];
        nodes
    }

    fn reach(&mut self, node: usize, from: usize, price: i64, cell: Option<usize>) -> bool {
        let distance = self.distances[from] + price;
        let nearer = distance < self.distances[node];
        if nearer {
            self.distances[node] = distance;
            self.via[node] = Some((from, cell));
        }
        nearer
    }

    /// One node of every circle of reached nodes.
    fn on_cycles(&self) -> Vec<usize> {
        let mut seen = vec![None; self.via.len()];
        let mut roots = Vec::new();
        for start in 0..seen.len() {
            if seen[start].is_some() {
                continue;
            }
            let mut node = Some(start);
            while let Some(at) = node.filter(|&at| seen[at].is_none()) {
                seen[at] = Some(start);
                node = self.via[at].map(|(from, _)| from);
            }
            roots.extend(node.filter(|&at| seen[at] == Some(start)));
        }
        roots
    }

    fn rotation(&self, root: usize) -> Rotation {
        let mut rotation = Rotation { steps: Vec::new(), shifts_load: false };
        let mut node = root;
        while let Some((from, cell)) = self.via[node] {
            if node >= self.rows + self.members {
                rotation.shifts_load = true;
            } else if let Some(cell) = cell {
                // A member takes one of a row, or a row gets one back from a member.
                rotation.steps.push((cell, node >= self.rows));
            }
            node = from;
            if node == root {
                break;
            }
        }
        rotation
    }
}

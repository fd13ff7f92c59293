//! Rotations of partitions among members that lower the price of a plan (`stickyFinder` of `repair.go`): Bellman-Ford
//! from every node at once, over rows, members, and a node for each level of load.

use crate::index::{Ix, MemberIx};
/// How many partitions of a row a member has, and what one more or one fewer costs.
#[derive(Clone)]
pub(super) struct Cell {
    pub(super) add: i64,
    /// None if there is none to give up.
    pub(super) drop: Option<i64>,
    pub(super) row: usize,
    pub(super) member: MemberIx,
    pub(super) count: usize,
    /// How many of them it had at first.
    pub(super) held: usize,
    /// Whether the row is in another rack than the member.
    pub(super) off_rack: bool,
}

impl Cell {
    pub(super) fn price(&mut self, rack_price: i64) {
        let rack = if self.off_rack { rack_price } else { 0 };
        self.add = rack + i64::from(self.count >= self.held);
        self.drop = (self.count > 0).then(|| -rack - i64::from(self.count > self.held));
    }

    /// How many partitions may move before the price changes.
    pub(super) fn room(&self, gains: bool) -> usize {
        match (gains, self.count < self.held, self.count > self.held) {
            (true, true, _) => self.held - self.count,
            (true, false, _) => usize::MAX,
            (false, _, true) => self.count - self.held,
            (false, _, false) => self.count,
        }
    }
}

/// One rotation: cells, and whether each gains a partition or loses one.
pub(super) struct Rotation {
    pub(super) steps: Vec<(usize, bool)>,
    /// Whether it moves load from one level to the next.
    pub(super) shifts_load: bool,
}

/// The state of a search's nodes.
pub(super) struct Finder {
    rows: usize,
    members: usize,
    /// By load, the node of its level, if a member has that load.
    levels: Vec<Option<usize>>,
    distances: Vec<i64>,
    /// The node from which each was reached, and the cell between them.
    via: Vec<Option<(usize, Option<usize>)>>,
}

impl Finder {
    pub(super) fn new(rows: usize, members: usize) -> Self {
        Self { rows, members, levels: Vec::new(), distances: Vec::new(), via: Vec::new() }
    }

    /// Rotations that lower the price and share no node; none if the price is the lowest.
    pub(super) fn find(&mut self, cells: &[Cell], loads: &[usize]) -> Vec<Rotation> {
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

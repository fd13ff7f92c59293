//! The bins of Java's `HashMap` that have become red-black trees, and the lists that still run through them.
//!
//! `HashMap.TreeNode`: a tree's names stay a linked list, in which a new name stands behind its parent in the tree,
//! and which the root leads; the list is what a walk sees.

use std::cmp::Ordering;

use super::java_order::{NONE, compare};

/// Links between names, for lists and trees alike.
pub(super) struct Trees<'a> {
    names: &'a [&'a str],
    links: Vec<Link>,
    /// Empty as long as there is no tree.
    branches: Vec<Branch>,
}

#[derive(Clone, Copy)]
struct Link {
    previous: u32,
    next: u32,
}

#[derive(Clone, Copy)]
struct Branch {
    parent: u32,
    /// The smaller and the greater child.
    children: [u32; 2],
    red: bool,
}

const LEAF: Branch = Branch { parent: NONE, children: [NONE; 2], red: true };

impl<'a> Trees<'a> {
    pub(super) fn new(names: &'a [&'a str]) -> Self {
        Self { names, links: vec![Link { previous: NONE, next: NONE }; names.len()], branches: Vec::new() }
    }

    pub(super) fn next(&self, name: u32) -> u32 {
        self.links[name as usize].next
    }

    /// Puts a name behind the last one of a list.
    pub(super) fn link(&mut self, last: u32, name: u32) {
        self.links[name as usize] = Link { previous: last, next: NONE };
        if last != NONE {
            self.links[last as usize].next = name;
        }
    }

    /// Puts a name before the first one of a list.
    pub(super) fn link_before(&mut self, first: u32, name: u32) {
        self.links[name as usize] = Link { previous: NONE, next: first };
        self.links[first as usize].previous = name;
    }

    /// Makes a tree of a list, name by name (`treeify`); the new first name and the root.
    pub(super) fn plant(&mut self, spread: &[i32], first: u32) -> (u32, u32) {
        self.branches.resize(self.names.len(), LEAF);
        let mut root = NONE;
        let mut name = first;
        while name != NONE {
            root = self.grow(spread, root, name).0;
            name = self.next(name);
        }
        (self.lead(first, root), root)
    }

    /// Puts a name into a tree (`putTreeVal`); the new first name and the root.
    pub(super) fn insert(&mut self, spread: &[i32], name: u32, first: u32, root: u32) -> (u32, u32) {
        let (root, parent) = self.grow(spread, root, name);
        let next = self.next(parent);
        self.links[name as usize] = Link { previous: parent, next };
        self.links[parent as usize].next = name;
        if next != NONE {
            self.links[next as usize].previous = name;
        }
        (self.lead(first, root), root)
    }

    /// Moves the root to the list's front (`moveRootToFront`).
    fn lead(&mut self, first: u32, root: u32) -> u32 {
        if first == root {
            return first;
        }
        let Link { previous, next } = self.links[root as usize];
        if next != NONE {
            self.links[next as usize].previous = previous;
        }
        if previous != NONE {
            self.links[previous as usize].next = next;
        }
        self.links[first as usize].previous = root;
        self.links[root as usize] = Link { previous: NONE, next: first };
        root
    }

    /// Adds a leaf, by hash and then by text, and balances; the new root, and the leaf's parent as it was added.
    fn grow(&mut self, spread: &[i32], root: u32, name: u32) -> (u32, u32) {
        self.branches[name as usize] = LEAF;
        if root == NONE {
            self.branches[name as usize].red = false;
            return (name, NONE);
        }
        let mut parent = root;
        loop {
            let by_hash = spread[name as usize].cmp(&spread[parent as usize]);
            let order = by_hash.then_with(|| compare(self.names[name as usize], self.names[parent as usize]));
            let side = usize::from(order == Ordering::Greater);
            let child = self.branches[parent as usize].children[side];
            if child == NONE {
                self.branches[parent as usize].children[side] = name;
                self.branches[name as usize].parent = parent;
                return (self.balance(root, name), parent);
            }
            parent = child;
        }
    }

    /// The red-black rules after an insertion (`balanceInsertion`); the new root.
    fn balance(&mut self, mut root: u32, mut name: u32) -> u32 {
        loop {
            let parent = self.branch(name).parent;
            if parent == NONE {
                self.paint(name, false);
                return root;
            }
            let grandparent = self.branch(parent).parent;
            if !self.branch(parent).red || grandparent == NONE {
                return root;
            }
            let side = self.side(grandparent, parent);
            let uncle = self.branch(grandparent).children[1 - side];
            if uncle != NONE && self.branch(uncle).red {
                self.paint(uncle, false);
                self.paint(parent, false);
                self.paint(grandparent, true);
                name = grandparent;
                continue;
            }
            let mut middle = parent;
            if self.side(parent, name) != side {
                root = self.rotate(root, parent, side);
                (middle, name) = (name, parent);
            }
            self.paint(middle, false);
            self.paint(grandparent, true);
            root = self.rotate(root, grandparent, 1 - side);
        }
    }

    /// Turns a name down to one side, and its other child up in its place; the new root.
    fn rotate(&mut self, root: u32, name: u32, side: usize) -> u32 {
        let Branch { parent, children, .. } = self.branch(name);
        let up = children[1 - side];
        let inner = self.branch(up).children[side];
        self.branches[name as usize].children[1 - side] = inner;
        if inner != NONE {
            self.branches[inner as usize].parent = name;
        }
        self.branches[up as usize].parent = parent;
        self.branches[up as usize].children[side] = name;
        if parent != NONE {
            let below = self.side(parent, name);
            self.branches[parent as usize].children[below] = up;
        }
        self.branches[name as usize].parent = up;
        if parent == NONE {
            self.paint(up, false);
            up
        } else {
            root
        }
    }

    fn branch(&self, name: u32) -> Branch {
        self.branches[name as usize]
    }

    fn side(&self, parent: u32, child: u32) -> usize {
        usize::from(self.branches[parent as usize].children[1] == child)
    }

    fn paint(&mut self, name: u32, red: bool) {
        self.branches[name as usize].red = red;
    }
}

//! The order of `java.util.HashMap.TreeNode`: bins that have become red-black trees, and the lists that still link
//! their keys.
//!
//! A tree's keys stay a linked list, which begins with the root, and in which a new key comes after its parent in the
//! tree; a walk follows the list.

/// No key.
pub(crate) const NONE: u32 = u32::MAX;

/// Links between keys, for lists and trees alike.
pub(crate) struct Trees {
    links: Vec<TreeLink>,
    /// Empty as long as there is no tree.
    branches: Vec<Branch>,
}

#[derive(Clone, Copy)]
struct TreeLink {
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

impl Trees {
    pub(crate) fn new(keys: usize) -> Self {
        Self { links: vec![TreeLink { previous: NONE, next: NONE }; keys], branches: Vec::new() }
    }

    pub(crate) fn next(&self, key: u32) -> u32 {
        self.links[key as usize].next
    }

    /// Puts a key after the last one of a list.
    pub(crate) fn link(&mut self, last: u32, key: u32) {
        self.links[key as usize] = TreeLink { previous: last, next: NONE };
        if last != NONE {
            self.links[last as usize].next = key;
        }
    }

    /// Puts a key before the first one of a list.
    pub(crate) fn link_before(&mut self, first: u32, key: u32) {
        self.links[key as usize] = TreeLink { previous: NONE, next: first };
        self.links[first as usize].previous = key;
    }

    /// Makes a tree of a list, key by key (`treeify`); returns the new first key and the root.
    pub(crate) fn plant(&mut self, spread: &[i32], first: u32) -> (u32, u32) {
        self.branches.resize(self.links.len(), LEAF);
        let mut root = NONE;
        let mut key = first;
        while key != NONE {
            root = self.grow(spread, root, key).0;
            key = self.next(key);
        }
        (self.lead(first, root), root)
    }

    /// Puts a key into a tree (`putTreeVal`); returns the new first key and the root.
    pub(crate) fn insert(&mut self, spread: &[i32], key: u32, first: u32, root: u32) -> (u32, u32) {
        let (root, parent) = self.grow(spread, root, key);
        let next = self.next(parent);
        self.links[key as usize] = TreeLink { previous: parent, next };
        self.links[parent as usize].next = key;
        if next != NONE {
            self.links[next as usize].previous = key;
        }
        (self.lead(first, root), root)
    }

    /// Moves the root to the list's front (`moveRootToFront`).
    fn lead(&mut self, first: u32, root: u32) -> u32 {
        if first == root {
            return first;
        }
        let TreeLink { previous, next } = self.links[root as usize];
        if next != NONE {
            self.links[next as usize].previous = previous;
        }
        if previous != NONE {
            self.links[previous as usize].next = next;
        }
        self.links[first as usize].previous = root;
        self.links[root as usize] = TreeLink { previous: NONE, next: first };
        root
    }

    /// Adds a leaf, by hash and then by number, and balances; returns the new root, and the leaf's parent when it was
    /// added.
    fn grow(&mut self, spread: &[i32], root: u32, key: u32) -> (u32, u32) {
        self.branches[key as usize] = LEAF;
        if root == NONE {
            self.branches[key as usize].red = false;
            return (key, NONE);
        }
        let mut parent = root;
        loop {
            let side = usize::from((spread[key as usize], key) > (spread[parent as usize], parent));
            let child = self.branches[parent as usize].children[side];
            if child == NONE {
                self.branches[parent as usize].children[side] = key;
                self.branches[key as usize].parent = parent;
                return (self.balance(root, key), parent);
            }
            parent = child;
        }
    }

    /// Restores the red-black rules after an insertion (`balanceInsertion`); returns the new root.
    fn balance(&mut self, mut root: u32, mut key: u32) -> u32 {
        loop {
            let parent = self.branch(key).parent;
            if parent == NONE {
                self.paint(key, false);
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
                key = grandparent;
                continue;
            }
            let mut middle = parent;
            if self.side(parent, key) != side {
                root = self.rotate(root, parent, side);
                (middle, key) = (key, parent);
            }
            self.paint(middle, false);
            self.paint(grandparent, true);
            root = self.rotate(root, grandparent, 1 - side);
        }
    }

    /// Rotates a key down to one side, and its other child up in its place; returns the new root.
    fn rotate(&mut self, root: u32, key: u32, side: usize) -> u32 {
        let Branch { parent, children, .. } = self.branch(key);
        let up = children[1 - side];
        let inner = self.branch(up).children[side];
        self.branches[key as usize].children[1 - side] = inner;
        if inner != NONE {
            self.branches[inner as usize].parent = key;
        }
        self.branches[up as usize].parent = parent;
        self.branches[up as usize].children[side] = key;
        if parent != NONE {
            let below = self.side(parent, key);
            self.branches[parent as usize].children[below] = up;
        }
        self.branches[key as usize].parent = up;
        if parent == NONE {
            self.paint(up, false);
            up
        } else {
            root
        }
    }

    fn branch(&self, key: u32) -> Branch {
        self.branches[key as usize]
    }

    fn side(&self, parent: u32, child: u32) -> usize {
        usize::from(self.branches[parent as usize].children[1] == child)
    }

    fn paint(&mut self, key: u32, red: bool) {
        self.branches[key as usize].red = red;
    }
}

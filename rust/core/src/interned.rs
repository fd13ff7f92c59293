//! Names that are stored in several places, and their numbers.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// A name that is stored in several places.
pub type Name = Arc<str>;

/// A name's number. Frequent look-ups use the number, which needs no hashing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id(u32);

impl Id {
    /// The number as an index into a list.
    #[inline]
    pub(crate) fn place(self) -> usize {
        self.0 as usize
    }
}

/// All names that ever got a number. A number never passes to another name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    ids: FxHashMap<Name, Id>,
    names: Vec<Name>,
}

impl Names {
    /// The number of a name; a name without a number gets a new one.
    pub(crate) fn number(&mut self, name: &Name) -> Id {
        if let Some(id) = self.find(name) {
            return id;
        }
        #[expect(clippy::cast_possible_truncation, reason = "memory ends long before 2^32 names")]
        let id = Id(self.names.len() as u32);
        self.names.push(Arc::clone(name));
        self.ids.insert(Arc::clone(name), id);
        id
    }

    /// The number of a name, if it has one.
    pub(crate) fn find(&self, name: &str) -> Option<Id> {
        self.ids.get(name).copied()
    }

    /// The name that has this number.
    pub(crate) fn name(&self, id: Id) -> &Name {
        &self.names[id.place()]
    }
}

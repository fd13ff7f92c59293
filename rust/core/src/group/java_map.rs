//! A map of names that is walked as Java walks its `HashMap`, through any number of insertions and removals.

use std::sync::Arc;

use super::Map;
use crate::assignors::java_order::{FIRST_BINS, bin, hash_code, spread};

/// A name that is kept in several places.
pub type Name = Arc<str>;

/// Names and what belongs to them. A table of Java's grows and never shrinks, and a bin keeps the order of insertion:
/// bins that have become trees, which takes nine names of one bin, are walked as the lists that they were.
#[derive(Clone, Debug)]
pub(super) struct JavaMap<V> {
    entries: Map<Name, Entry<V>>,
    bins: usize,
    inserted: u64,
    /// The names in Java's order, where nothing has come or gone since they were put so.
    walked: Option<Arc<[Name]>>,
}

#[derive(Clone, Debug)]
struct Entry<V> {
    spread: i32,
    inserted: u64,
    value: V,
}

impl<V> Default for JavaMap<V> {
    fn default() -> Self {
        Self { entries: Map::default(), bins: FIRST_BINS, inserted: 0, walked: None }
    }
}

impl<V> JavaMap<V> {
    /// `put`: a name that is there keeps its place.
    pub(super) fn put(&mut self, name: Name, value: V) {
        if let Some(entry) = self.entries.get_mut(&name) {
            entry.value = value;
            return;
        }
        self.walked = None;
        let spread = spread(hash_code(&name));
        self.entries.insert(name, Entry { spread, inserted: self.inserted, value });
        self.inserted += 1;
        // A table is three quarters full at most.
        while self.entries.len() * 4 > self.bins * 3 {
            self.bins *= 2;
        }
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<V> {
        let entry = self.entries.remove(name)?;
        self.walked = None;
        Some(entry.value)
    }

    pub(super) fn get(&self, name: &str) -> Option<&V> {
        self.entries.get(name).map(|entry| &entry.value)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        self.entries.get_mut(name).map(|entry| &mut entry.value)
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// In no order that means anything.
    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.values().map(|entry| &entry.value)
    }

    /// Puts the names into Java's order once, for all who walk until something comes or goes.
    pub(super) fn settle(&mut self) {
        if self.walked.is_none() {
            self.walked = Some(self.walk());
        }
    }

    /// The names in Java's order.
    pub(super) fn walk(&self) -> Arc<[Name]> {
        if let Some(walked) = &self.walked {
            return Arc::clone(walked);
        }
        let mut names: Vec<_> = self.entries.iter().collect();
        names.sort_unstable_by_key(|(_, entry)| (bin(entry.spread, self.bins), entry.inserted));
        names.into_iter().map(|(name, _)| Arc::clone(name)).collect()
    }

    /// The first name in Java's order.
    pub(super) fn first(&self) -> Option<&Name> {
        let first = |entry: &Entry<V>| (bin(entry.spread, self.bins), entry.inserted);
        self.entries.iter().min_by_key(|(_, entry)| first(entry)).map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::JavaMap;
    use crate::assignors::java_sets::walk_names;

    #[test]
    fn walks_as_a_map_that_was_filled_once() {
        let names: Vec<String> = (0..200_u32).map(|number| format!("consumer-{number}")).collect();
        for count in [1, 12, 13, 49, 200] {
            let mut map = JavaMap::default();
            let mut kept = Vec::new();
            for name in &names[..count] {
                map.put(name.as_str().into(), ());
                kept.push(name.as_str());
            }
            let walked: Vec<super::Name> =
                walk_names(&kept).into_iter().map(|place| kept[place as usize].into()).collect();
            assert_eq!(*map.walk(), *walked);
            map.settle();
            assert_eq!(*map.walk(), *walked);
            assert_eq!(map.first(), walked.first());
        }
    }

    #[test]
    fn what_was_removed_leaves_the_table_as_large() {
        let mut map = JavaMap::default();
        for number in 0..100 {
            map.put(format!("m{number}").into(), ());
        }
        for number in 2..100 {
            map.remove(&format!("m{number}"));
        }
        assert_eq!((map.len(), map.bins), (2, 256));
    }
}

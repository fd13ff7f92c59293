//! The order of `java.util.HashMap` through any number of insertions and removals.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::hash_map::{FIRST_BINS, bin, spread};
use super::strings::hash_code;
use crate::interned::Id;

/// Values by name. Java's table grows and never shrinks, and a bin keeps the order of insertion. Bins that would be
/// trees in Java, with nine names or more, are walked here as the lists that they were.
#[derive(Clone, Debug)]
pub(crate) struct ChangingHashMap<V> {
    entries: FxHashMap<Id, MapEntry<V>>,
    bins: usize,
    inserted: u64,
    /// The names in Java's order, if nothing was inserted or removed since they were sorted.
    walked: Option<Arc<[Id]>>,
}

#[derive(Clone, Debug)]
struct MapEntry<V> {
    spread: i32,
    inserted: u64,
    value: V,
}

impl<V> Default for ChangingHashMap<V> {
    fn default() -> Self {
        Self { entries: FxHashMap::default(), bins: FIRST_BINS, inserted: 0, walked: None }
    }
}

impl<V> ChangingHashMap<V> {
    /// `put`: an existing name keeps its place.
    pub(crate) fn put(&mut self, id: Id, name: &str, value: V) {
        if let Some(known) = self.get_mut(id) {
            *known = value;
            return;
        }
        self.walked = None;
        let entry = MapEntry { spread: spread(hash_code(name)), inserted: self.inserted, value };
        self.entries.insert(id, entry);
        self.inserted += 1;
        // A table is at most three quarters full.
        while self.len() * 4 > self.bins * 3 {
            self.bins *= 2;
        }
    }

    pub(crate) fn remove(&mut self, id: Id) -> Option<V> {
        let entry = self.entries.remove(&id)?;
        self.walked = None;
        Some(entry.value)
    }

    pub(crate) fn get(&self, id: Id) -> Option<&V> {
        self.entries.get(&id).map(|entry| &entry.value)
    }

    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut V> {
        self.entries.get_mut(&id).map(|entry| &mut entry.value)
    }

    pub(crate) fn contains(&self, id: Id) -> bool {
        self.entries.contains_key(&id)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// In no particular order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.values().map(|entry| &entry.value)
    }

    /// Sorts the names into Java's order once, for all walks until something is inserted or removed.
    pub(crate) fn settle(&mut self) {
        if self.walked.is_none() {
            self.walked = Some(self.walk());
        }
    }

    /// The names in Java's order.
    pub(crate) fn walk(&self) -> Arc<[Id]> {
        if let Some(walked) = &self.walked {
            return Arc::clone(walked);
        }
        let mut ids: Vec<_> = self.entries.iter().map(|(&id, entry)| (self.place(entry), id)).collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id).collect()
    }

    /// The first name in Java's order.
    pub(crate) fn first(&self) -> Option<Id> {
        self.entries.iter().min_by_key(|(_, entry)| self.place(entry)).map(|(&id, _)| id)
    }

    /// Where an entry is in Java's order.
    fn place(&self, entry: &MapEntry<V>) -> (usize, u64) {
        (bin(entry.spread, self.bins), entry.inserted)
    }
}

#[cfg(test)]
mod tests {
    use super::ChangingHashMap;
    use crate::interned::Names;
    use crate::java::hash_map::walk_names;

    #[test]
    fn walks_as_a_map_that_was_filled_once() {
        let texts: Vec<String> = (0..200_u32).map(|number| format!("consumer-{number}")).collect();
        for count in [1, 12, 13, 49, 200] {
            let (mut names, mut map) = (Names::default(), ChangingHashMap::default());
            let mut kept = Vec::new();
            for text in &texts[..count] {
                let id = names.number(&text.as_str().into());
                map.put(id, text, ());
                kept.push(text.as_str());
            }
            let walked: Vec<_> =
                walk_names(&kept).into_iter().filter_map(|place| names.find(kept[place as usize])).collect();
            assert_eq!(walked.len(), count);
            assert_eq!(*map.walk(), *walked);
            map.settle();
            assert_eq!(*map.walk(), *walked);
            assert_eq!(map.first(), walked.first().copied());
        }
    }

    #[test]
    fn what_was_removed_leaves_the_table_as_large() {
        let (mut names, mut map) = (Names::default(), ChangingHashMap::default());
        let ids: Vec<_> = (0..100).map(|number| names.number(&format!("m{number}").into())).collect();
        for &id in &ids {
            map.put(id, names.name(id), ());
        }
        for &id in &ids[2..] {
            map.remove(id);
        }
        assert_eq!((map.len(), map.bins), (2, 256));
        assert_eq!(map.values().count(), 2);
        assert_eq!(names.number(&"m7".into()), ids[7]);
        assert!(!map.contains(ids[7]));
        for (&id, &gone) in ids.iter().zip(&ids[2..]) {
            map.remove(id);
            map.put(gone, names.name(gone), ());
            assert_eq!(map.len(), 2);
        }
        assert_eq!(map.walk().len(), 2);
    }
}

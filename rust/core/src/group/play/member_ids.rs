//! The member IDs of a play, and the members that they belong to.

use std::sync::Arc;

use super::super::Map;
use super::ledger::Reader;
use super::script::Consumer;
use crate::interned::Name;

/// All member IDs so far.
#[derive(Debug)]
pub(super) struct MemberIds {
    /// By member, its name.
    pub names: Vec<Name>,
    by_id: Map<Name, Reader>,
    /// The length in bytes of the longest ID.
    longest: usize,
}

impl MemberIds {
    pub(super) fn new(names: Vec<Name>) -> Self {
        Self { names, by_id: Map::default(), longest: 0 }
    }

    /// The member that an ID belongs to.
    pub(super) fn member(&self, id: &str) -> Option<Reader> {
        self.by_id.get(id).copied()
    }

    /// Draws an ID for a member at one of its starts: the next one that the script has for it, or else a name that no
    /// member has had yet.
    pub(super) fn draw(&mut self, reader: Reader, start: u32, config: &Consumer) -> Name {
        let number = if start > 1 { format!("-{start}") } else { String::new() };
        let stem = config.instance.as_deref().unwrap_or(&self.names[reader]);
        let drawn = config.ids.iter().find(|id| !self.by_id.contains_key(*id)).cloned();
        let mut id = drawn.unwrap_or_else(|| format!("{stem}{number}").into());
        let mut again = 2;
        while self.by_id.contains_key(&id) {
            id = format!("{stem}{number}.{again}").into();
            again += 1;
        }
        self.longest = self.longest.max(id.len());
        self.by_id.insert(Arc::clone(&id), reader);
        id
    }

    /// Replaces the member IDs in a sentence with the names of their members. An ID may contain blanks, so the longest
    /// match counts.
    pub(super) fn named(&self, sentence: &str) -> String {
        let (mut named, mut rest) = (String::new(), sentence);
        while !rest.is_empty() {
            // A sentence may list all members, so a search goes no further than the longest ID.
            let ends = rest.match_indices([' ', ',']).map(|(end, _)| end).chain([rest.len()]);
            let ends: Vec<usize> = ends.take_while(|end| *end <= self.longest).collect();
            let known = ends.iter().rev().find_map(|&end| Some((end, self.member(&rest[..end])?)));
            let end = if let Some((end, reader)) = known {
                named.push_str(&self.names[reader]);
                end
            } else {
                let end = rest.find([' ', ',']).unwrap_or(rest.len());
                named.push_str(&rest[..end]);
                end
            };
            let after = rest[end..].trim_start_matches([' ', ',']);
            named.push_str(&rest[end..rest.len() - after.len()]);
            rest = after;
        }
        named
    }
}

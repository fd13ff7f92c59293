//! Which partitions have moved from whom to whom (`PartitionMovements`).

use std::collections::BTreeMap;

use super::hash_order::HashOrder;
use crate::assignors::other_clients::numbered::Numbered;
use crate::index::{MemberIx, PartitionIx, TopicIx};

/// The movements of one balancing.
#[derive(Clone, Default, PartialEq)]
pub(super) struct KafkaPythonMovements {
    /// Topic, source and destination, and the partitions that went this way.
    ways: BTreeMap<(TopicIx, MemberIx, MemberIx), Vec<PartitionIx>>,
    /// By partition, where it came from and where it went.
    moved: BTreeMap<PartitionIx, (MemberIx, MemberIx)>,
}

impl KafkaPythonMovements {
    /// The partition that moves instead of this one: one of the same topic that came the opposite way, if there is one.
    pub(super) fn instead(
        &self,
        group: &Numbered<'_>,
        hashes: &mut HashOrder,
        partition: PartitionIx,
        from: MemberIx,
        to: MemberIx,
    ) -> PartitionIx {
        let from = self.moved.get(&partition).map_or(from, |&(source, _)| source);
        let way = (group.topic(partition), to, from);
        self.ways.get(&way).and_then(|set| hashes.first(set)).unwrap_or(partition)
    }

    /// Moves a partition. If it goes back to where it came from, it counts as not moved.
    pub(super) fn record(
        &mut self,
        group: &Numbered<'_>,
        partition: PartitionIx,
        from: MemberIx,
        to: MemberIx,
    ) {
        let topic = group.topic(partition);
        let before = self.moved.remove(&partition);
        if let Some((source, destination)) = before {
            let way = (topic, source, destination);
            if let Some(set) = self.ways.get_mut(&way) {
                set.retain(|&other| other != partition);
                if set.is_empty() {
                    self.ways.remove(&way);
                }
            }
            if source == to {
                return;
            }
        }
        let source = before.map_or(from, |(source, _)| source);
        self.moved.insert(partition, (source, to));
        self.ways.entry((topic, source, to)).or_default().push(partition);
    }
}

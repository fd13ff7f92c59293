//! Which partitions have moved from whom to whom (`partitionMovements`).

use std::collections::BTreeMap;

use crate::assignors::other_clients::go_group::GoGroup;
use crate::go::draws::GoDraws;
use crate::go::map::GoMap;
use crate::index::{MemberIx, PartitionIx, TopicIx};

/// The movements of one balancing.
pub(super) struct SaramaMovements {
    /// By topic, source and destination, the partitions that went this way.
    ways: BTreeMap<(TopicIx, MemberIx, MemberIx), GoMap<PartitionIx>>,
    /// By partition, where it came from and where it went.
    moved: Vec<Option<(MemberIx, MemberIx)>>,
}

impl SaramaMovements {
    pub(super) fn new(group: &GoGroup<'_>) -> Self {
        Self { ways: BTreeMap::new(), moved: vec![None; group.row.len()] }
    }

    /// The partition that moves instead of this one: the last one in the map of those that went the opposite way.
    pub(super) fn instead(
        &self,
        group: &GoGroup<'_>,
        partition: PartitionIx,
        from: MemberIx,
        to: MemberIx,
        draws: &mut GoDraws,
    ) -> PartitionIx {
        let from = self.moved[partition].map_or(from, |(source, _)| source);
        let opposite = self.ways.get(&(group.topic(partition), to, from));
        opposite.and_then(|set| set.walk(draws).pop()).unwrap_or(partition)
    }

    /// Moves a partition. If it goes back to where it came from, it counts as not moved.
    pub(super) fn record(
        &mut self,
        group: &GoGroup<'_>,
        partition: PartitionIx,
        from: MemberIx,
        to: MemberIx,
        draws: &mut GoDraws,
    ) {
        let topic = group.topic(partition);
        let before = self.moved[partition].take();
        if let Some((source, destination)) = before {
            let way = (topic, source, destination);
            if let Some(set) = self.ways.get_mut(&way) {
                set.remove(partition);
                if set.is_empty() {
                    self.ways.remove(&way);
                }
            }
            if source == to {
                return;
            }
        }
        let source = before.map_or(from, |(source, _)| source);
        self.moved[partition] = Some((source, to));
        self.ways.entry((topic, source, to)).or_insert_with(|| GoMap::new(draws, 0)).put(partition);
    }
}

//! What a group's leader does: it takes what the members say to the assignor that they have chosen.

use std::sync::Arc;

use super::super::consumer::Place;
use super::client::Said;
use super::world::World;
use crate::Result;
use crate::assignors::{Assignor, Given, Lists};
use crate::interned::Name;

impl World {
    /// `ConsumerCoordinator.onLeaderElected`: who is to read what, by member id.
    pub(super) fn assign(
        &self,
        assignor: Assignor,
        members: &[(Name, Option<String>, Said)],
        seen: &[Option<u32>],
    ) -> Result<Vec<(Name, Arc<[Place]>)>> {
        let count = |place: usize| seen.get(place).copied().flatten();
        let mut given = Given {
            topics: self.topics.iter().map(|(name, _)| &**name).collect(),
            partitions: (0..self.topics.len()).map(|place| count(place).unwrap_or(0)).collect(),
            missing: (0..self.topics.len()).map(|place| count(place).is_none()).collect(),
            racks: Lists::default(),
            ..Given::default()
        };
        for (id, instance, said) in members {
            given.members.push(id);
            given.instance_ids.push(instance.as_deref());
            given.member_racks.push(None);
            given.subscribed.values.extend_from_slice(&said.topics);
            given.subscribed.end();
            given.sends.push(true);
            let (owned, generation) =
                said.remembers.as_ref().map_or((&said.owned, said.generation), |(owned, of)| (owned, *of));
            given.owned.values.extend_from_slice(owned);
            given.owned.end();
            given.generations.push(generation);
        }
        let assignment = assignor.assign(&given)?;
        let list = |place: usize| -> Arc<[Place]> {
            let range = assignment.offsets[place]..assignment.offsets[place + 1];
            let topics = assignment.topics[range.clone()].iter().copied();
            topics.zip(assignment.partitions[range].iter().copied()).collect()
        };
        // Whoever is assigned what it was before has one list of both.
        let shared = |id: &Name, list: Arc<[Place]>| match self.by_id.get(id) {
            Some(&reader) if self.clients[reader as usize].memory.0 == list => {
                Arc::clone(&self.clients[reader as usize].memory.0)
            }
            _ => list,
        };
        let assigned =
            |(place, (id, _, _)): (usize, &(Name, _, _))| (Arc::clone(id), shared(id, list(place)));
        Ok(members.iter().enumerate().map(assigned).collect())
    }
}

//! Asks the caller what a leader's client assigns, in a group with members of several clients.

use std::sync::Arc;

use super::super::super::classic;
use super::super::super::consumer::Place;
use super::World;
use super::classic_member::Said;
use super::led::{Led, LedMember};
use super::ledger::Reader;
use crate::Result;
use crate::interned::Name;

/// Each member's partitions, by member ID.
pub(super) type Assigned = Vec<(Name, Arc<[Place]>)>;

impl World {
    /// The assignment by the leader's client; `None` if that client has failed, which ends the leader.
    pub(super) fn ask_leaders_client(
        &mut self,
        reader: Reader,
        joined: &classic::Joined<Said>,
    ) -> Result<Option<Assigned>> {
        let Some(mut client) = self.leaders_client.take() else { return Ok(None) };
        let seen = &self.clients[reader as usize].seen;
        let topics = self.topics.iter().zip(seen).filter_map(|((name, _), seen)| Some((&**name, (*seen)?)));
        let members = joined.members.iter().map(|(id, instance, said)| LedMember {
            reader: self.by_id.get(id).copied(),
            id,
            instance: instance.as_deref(),
            client: &said.client,
            topics: &said.topics,
            owned: &said.owned,
            generation: said.generation,
            remembers: said.remembers.as_ref().map(|(list, of)| (&**list, *of)),
        });
        let group = Led {
            at: self.now,
            generation: joined.generation,
            leader: joined.members.iter().position(|(id, ..)| *id == joined.member).unwrap_or(0),
            assignor: joined.protocol.as_deref().unwrap_or_default(),
            topics: topics.collect(),
            members: members.collect(),
        };
        let answer = client.assign(&group);
        self.leaders_client = Some(client);
        let Some(lists) = answer? else {
            self.gone(reader);
            return Ok(None);
        };
        let ids = joined.members.iter().map(|(id, ..)| Arc::clone(id));
        Ok(Some(ids.zip(lists.into_iter().map(Into::into)).collect()))
    }
}

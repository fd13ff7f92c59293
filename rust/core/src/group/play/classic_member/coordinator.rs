//! The coordinator of a classic group, as the simulation plays it, and what a member sends it for the leader's assignor.

use std::sync::Arc;

use super::super::super::classic::{ClassicGroup as Group, ClassicGroupRequest as Request, Phase, Response};
use super::super::super::consumer::Place;
use super::super::super::error_code::Code;
use super::super::super::{GroupEvent, Map};
use super::super::coordinator::Coordinator;
use super::super::ledger::Reader;
use super::super::member_ids::MemberIds;
use super::super::script::{Generation, Message};
use crate::Result;
use crate::interned::Name;

/// A member's data for an assignor (`ConsumerPartitionAssignor.Subscription`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Subscription {
    pub topics: Arc<[u32]>,
    /// The partitions that it owns.
    pub owned: Arc<[Place]>,
    /// The generation as of which it owns them.
    pub generation: i32,
    /// Its last assignment and that assignment's generation, if its assignor asks for them.
    pub remembers: Option<(Arc<[Place]>, i32)>,
    /// Its client, as the script names it.
    pub client: Name,
}

/// A classic group of Java consumers.
pub(in super::super) struct ClassicCoordinator {
    pub group: Group<Subscription, Arc<[Place]>>,
    /// Each member's last assignment. If it does not change, the generations share it.
    assigned: Map<Reader, Arc<[Place]>>,
}

impl ClassicCoordinator {
    pub(in super::super) fn new(group: Group<Subscription, Arc<[Place]>>) -> Self {
        Self { group, assigned: Map::default() }
    }

    /// Notes what a leader has assigned in a generation.
    fn note_assignments(
        &mut self,
        generation: i32,
        assignments: &mut [(Name, Arc<[Place]>)],
        ids: &MemberIds,
        generations: &mut [Generation],
    ) {
        let Some(generation) = generations.iter_mut().rev().find(|it| it.number == generation) else {
            return;
        };
        let shared = |(id, list): &mut (Name, Arc<[Place]>)| {
            let reader = ids.member(id)?;
            match self.assigned.get(&reader) {
                Some(known) if known == list => *list = Arc::clone(known),
                _ => {
                    self.assigned.insert(reader, Arc::clone(list));
                }
            }
            Some((reader, Arc::clone(list)))
        };
        generation.assignment = assignments.iter_mut().filter_map(shared).collect();
    }
}

impl Coordinator for ClassicCoordinator {
    type Request = Request<Subscription, Arc<[Place]>>;
    type Answer = Response<Subscription, Arc<[Place]>>;

    const WAIT: Self::Request = Request::Wait;
    const MOVE: Self::Request = Request::Move;

    fn apply(
        &mut self,
        at: i64,
        tag: u32,
        mut request: Self::Request,
        ids: &MemberIds,
        generations: &mut Vec<Generation>,
    ) -> Result<()> {
        if let Request::Sync { sender, assignments, .. } = &mut request
            && !assignments.is_empty()
        {
            self.note_assignments(sender.generation, assignments, ids, generations);
        }
        let group = &mut self.group;
        let before = group.generation();
        group.apply(GroupEvent { at, tag, request });
        if group.generation() > before {
            let leader = group.leader().and_then(|id| ids.member(id));
            generations.push(Generation {
                number: group.generation(),
                at,
                why: ids.named(group.reason()),
                leader: leader.filter(|_| group.phase() != Phase::Empty),
                protocol: group.protocol().cloned(),
                assignment: Vec::new(),
            });
        }
        Ok(())
    }

    fn answers(&mut self) -> impl Iterator<Item = (u32, Self::Answer)> {
        self.group.effects().map(|effect| (effect.tag, effect.answer))
    }

    fn deadline(&mut self, by: i64) -> Option<i64> {
        self.group.deadline(by)
    }

    fn topics(_: &[(Name, Option<u32>)]) -> Option<Self::Request> {
        None
    }

    fn refused(request: &Self::Request) -> Self::Answer {
        request.refused()
    }

    fn heard_of(&mut self, id: &str, at: i64) {
        self.group.has_heard_of(id, at);
    }

    fn code(answer: &Self::Answer) -> Code {
        match answer {
            Response::Joined(joined) => joined.code,
            Response::Done(code) | Response::Synced { code, .. } | Response::Left(code, _) => *code,
        }
    }

    fn is_at_rest(&self, size: usize) -> bool {
        let group = &self.group;
        matches!(group.phase(), Phase::Stable | Phase::Empty)
            && group.pending() == 0
            && group.pending_sync() == 0
            && group.size() == size
    }

    fn describe(answer: &Self::Answer, message: &mut Message) {
        if let Response::Joined(joined) = answer {
            message.generation = joined.generation;
            message.member = Arc::clone(&joined.member);
            message.leader.clone_from(&joined.leader);
            message.members = joined.members.len();
        }
    }
}

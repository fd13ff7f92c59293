//! The coordinator of a KIP-848 group, as the simulation plays it.

use super::super::super::GroupEvent;
use super::super::super::consumer::{
    ConsumerGroup as Group, ConsumerGroupRequest as Request, HeartbeatAnswer as Answer,
};
use super::super::super::error_code::Code;
use super::super::coordinator::Coordinator;
use super::super::member::Api;
use super::super::member_ids::MemberIds;
use super::super::script::{Generation, Message};
use crate::Result;
use crate::interned::Name;

/// A KIP-848 group.
pub(in super::super) struct ConsumerCoordinator {
    pub group: Group,
}

impl Coordinator for ConsumerCoordinator {
    type Request = Request;
    type Answer = Answer;

    const WAIT: Request = Request::Wait;
    const MOVE: Request = Request::Move;

    fn apply(
        &mut self,
        at: i64,
        tag: u32,
        request: Request,
        ids: &MemberIds,
        generations: &mut Vec<Generation>,
    ) -> Result<()> {
        let group = &mut self.group;
        let before = group.assignment_epoch();
        group.apply(GroupEvent { at, tag, request })?;
        if group.assignment_epoch() > before {
            let target = |id: &Name| Some((ids.member(id)?, group.shared_target(id)));
            generations.push(Generation {
                number: group.assignment_epoch(),
                at,
                why: ids.named(group.reason()),
                leader: None,
                protocol: None,
                assignment: group.members().into_iter().filter_map(|(id, _)| target(id)).collect(),
            });
        }
        Ok(())
    }

    fn answers(&mut self) -> impl Iterator<Item = (u32, Answer)> {
        self.group.effects().map(|effect| (effect.tag, effect.answer))
    }

    fn deadline(&mut self, by: i64) -> Option<i64> {
        self.group.deadline(by)
    }

    fn topics(topics: &[(Name, Option<u32>)]) -> Option<Request> {
        Some(Request::Topics(topics.to_vec()))
    }

    /// No request of this protocol waits for its answer, so none is ever queued behind another.
    fn refused(_: &Request) -> Answer {
        Answer { code: Code::NotCoordinator, epoch: 0, assignment: None }
    }

    /// A commit is no sign of life in this protocol.
    fn heard_of(&mut self, _: &str, _: i64) {}

    fn code(answer: &Answer) -> Code {
        answer.code
    }

    fn is_at_rest(&self, size: usize) -> bool {
        let group = &self.group;
        matches!(group.state(), "Stable" | "Empty")
            && (!group.is_stale() || group.size() == 0)
            && group.size() == size
    }

    fn describe(answer: &Answer, message: &mut Message) {
        if message.request != Api::ScriptCommit.name() {
            // A member leaves by a heartbeat, too.
            message.request = Api::ConsumerGroupHeartbeat.name();
            message.generation = answer.epoch;
        }
    }
}

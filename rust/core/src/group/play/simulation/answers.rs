//! What becomes of the coordinator's answers: they travel, arrive, and reach the members that asked.

use std::sync::Arc;

use super::super::super::error_code::Code;
use super::super::coordinator::Coordinator;
use super::super::member::{AnswerOf, Api, Event, Member};
use super::super::network::Sender;
use super::super::script::Message;
use super::{AT_ONCE, Simulation, Todo};
use crate::{Error, Result};

impl<M: Member> Simulation<M> {
    /// Sends the coordinator's new answers on their way. An answer that changes nothing is there at once.
    pub(super) fn send_answers(&mut self) {
        while let Some((sender, answer)) = self.network.answered.pop_front() {
            let Sender { reader, sent, .. } = sender;
            if matches!(sent.api, Api::OffsetCommit | Api::ScriptCommit)
                && M::Coordinator::code(&answer) == Code::None
            {
                self.ledger.commit(reader, sent.read);
            }
            let member = self.members[reader].member.as_ref();
            let awaits = member.is_some_and(|member| member.awaits(sent, &answer));
            if self.latency_ms > 0 && awaits {
                self.network.under_way.push_back((sender, answer));
                self.later(self.now + self.latency_ms, Todo::Arrive);
            } else {
                self.network.arrived.push_back((sender, answer));
            }
        }
    }

    /// Hands each answer that has arrived to the member that asked. Returns how many there were.
    pub(super) fn deliver(&mut self) -> Result<usize> {
        let mut count = 0;
        while let Some((sender, answer)) = self.network.arrived.pop_front() {
            count += 1;
            if count > AT_ONCE * (self.members.len() + 1) {
                return Err(Error::Group(format!("the group does not settle at {} ms", self.now)));
            }
            let Sender { reader, start, sent } = sender;
            self.note(sender, &answer);
            if sent.api == Api::ScriptCommit {
                self.commits.push((self.now, self.owners[reader], M::Coordinator::code(&answer)));
            } else if self.members[reader].start == start {
                self.step(reader, Event::Answer(sent, answer))?;
            }
        }
        Ok(count)
    }

    /// Keeps an answer as a message.
    fn note(&mut self, Sender { reader, sent, .. }: Sender, answer: &AnswerOf<M>) {
        let (Some(messages), Some(member)) = (&mut self.messages, &self.members[reader].member) else {
            return;
        };
        if sent.api == Api::OffsetCommit {
            return;
        }
        let (id, generation) = member.identity();
        let mut message = Message {
            at: self.now,
            client: self.owners[reader],
            request: sent.api.name(),
            code: M::Coordinator::code(answer),
            generation,
            member: Arc::clone(id),
            leader: None,
            members: 0,
        };
        M::Coordinator::describe(answer, &mut message);
        messages.push(message);
    }
}

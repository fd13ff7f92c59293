//! Requests to the coordinator, and how its answers reach the clients.

use std::sync::Arc;

use super::super::super::classic;
use super::client::{Answer, Asked};
use super::ledger::Reader;
use super::script::Message;
use super::{AT_ONCE, Question, Todo, World};
use crate::{Error, Result};

impl World {
    /// Numbers a client's new request. The answer comes under the same number.
    pub(super) fn ask(&mut self, asks: Option<(Reader, Asked)>) -> u32 {
        let question = asks.map(|(reader, asked)| self.question(reader, asked));
        self.ask_as(question)
    }

    /// The same for a request that was made earlier.
    pub(super) fn ask_as(&mut self, question: Option<Question>) -> u32 {
        self.tags = self.tags.wrapping_add(1);
        self.asking = question.map(|question| (self.tags, question));
        self.tags
    }

    /// A client's question, with the number of its start and its present identity.
    pub(super) fn question(&self, reader: Reader, asked: Asked) -> Question {
        let client = &self.clients[reader as usize];
        (reader, client.start, client.classic.identity, asked)
    }

    /// Sends out the coordinator's answers of one step. The client that asks in this step gets its answer last.
    pub(super) fn answered(&mut self, answers: impl Iterator<Item = (u32, Answer)>) {
        let asking = self.asking.take();
        let mut own = None;
        for (tag, answer) in answers {
            if asking.is_some_and(|(asking, _)| asking == tag) {
                own = Some(answer);
            } else if let Some(question) = self.asked.remove(&tag) {
                self.takes_answer(question, answer);
            }
        }
        match (asking, own) {
            (Some((_, question)), Some(answer)) => self.takes_answer(question, answer),
            (asking, _) => self.asked.extend(asking),
        }
    }

    /// Sends an answer to the client that asked.
    pub(super) fn takes_answer(&mut self, question: Question, answer: Answer) {
        let (reader, start, _, asked) = question;
        if self.connections.contains_key(&(reader, start)) {
            self.answered_connections.push_back((reader, start));
        }
        if asked == Asked::AutoCommit && answer.code() == super::super::super::Code::None {
            self.clients[reader as usize].committed = self.read_by(reader);
        }
        let changes = match answer {
            Answer::Classic(_) => self.has_work_classic(reader),
            Answer::Consumer(_) => self.is_reconciling(reader),
        };
        let matters = asked == Asked::Heartbeat && changes;
        if self.latency_ms > 0 && (matters || answer.takes_time(asked)) {
            self.on_the_way.push_back((question, answer));
            self.later(self.now + self.latency_ms, Todo::Arrive);
        } else {
            self.answers.push_back((question, answer));
        }
    }

    /// The question behind a request that has not been answered yet.
    pub(super) fn awaited(&self, tag: u32) -> Option<Question> {
        self.asked.get(&tag).copied()
    }

    /// Hands each answer that has arrived to the client that asked.
    pub(super) fn deliver(&mut self) -> Result<()> {
        let mut given = 0;
        while let Some(((reader, start, sent, asked), answer)) = self.answers.pop_front() {
            given += 1;
            if given > AT_ONCE * (self.clients.len() + 1) {
                return Err(Error::Group(format!("the group does not settle at {} ms", self.now)));
            }
            if asked != Asked::AutoCommit {
                self.note(reader, asked, &answer);
            }
            if asked == Asked::Commit {
                self.take_commit(reader, answer.code());
                continue;
            }
            let client = &self.clients[reader as usize];
            if !client.alive || client.start != start {
                continue;
            }
            match answer {
                Answer::Classic(_) => self.arrives_classic(reader, asked, sent, answer),
                Answer::Consumer(effect) => self.arrives_consumer(reader, asked, sent, effect)?,
            }
        }
        Ok(())
    }

    fn note(&mut self, reader: Reader, asked: Asked, answer: &Answer) {
        let Some(messages) = &mut self.messages else { return };
        let client = &self.clients[reader as usize];
        let mut message = Message {
            at: self.now,
            client: reader,
            request: asked.name(),
            code: super::super::super::Code::None,
            generation: client.generation,
            member: Arc::clone(&client.id),
            leader: None,
            members: 0,
        };
        match answer {
            Answer::Classic(classic::Response::Joined(joined)) => {
                message.code = joined.code;
                message.generation = joined.generation;
                message.member = Arc::clone(&joined.member);
                message.leader.clone_from(&joined.leader);
                message.members = joined.members.len();
            }
            Answer::Classic(
                classic::Response::Synced { code, .. }
                | classic::Response::Left(code, _)
                | classic::Response::Done(code),
            ) => message.code = *code,
            Answer::Consumer(effect) => {
                message.request = "ConsumerGroupHeartbeat";
                message.code = effect.code;
                message.generation = effect.epoch;
            }
        }
        messages.push(message);
    }
}

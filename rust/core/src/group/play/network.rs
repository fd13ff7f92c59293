//! The way between members and their coordinator: requests that wait for an answer, answers under way, connections.

use std::collections::VecDeque;

use super::super::Map;
use super::coordinator::Coordinator;
use super::ledger::Reader;
use super::member::Sent;
use super::member_ids::MemberIds;
use super::script::Generation;
use crate::Result;

/// The sender of a request, and what it remembers of it. The number of its start tells its consumers apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sender {
    pub reader: Reader,
    pub start: u32,
    pub sent: Sent,
}

/// The start of a consumer whose answers do not arrive.
const NO_START: u32 = u32::MAX;

type Connection = (Reader, u32);

/// The requests and answers under way, and the coordinator that they go to and come from.
pub(super) struct Network<C: Coordinator> {
    pub coordinator: C,
    pub generations: Vec<Generation>,
    tags: u32,
    /// By tag, the senders of the requests that the coordinator has yet to answer.
    waiting: Map<u32, Sender>,
    /// For each connection with a request that waits, the requests sent after it: a broker handles a connection's
    /// requests one at a time.
    connections: Map<Connection, VecDeque<(Sender, C::Request)>>,
    /// Connections whose requests have just been answered.
    free: VecDeque<Connection>,
    /// Answers that the coordinator has just given.
    pub answered: VecDeque<(Sender, C::Answer)>,
    /// Answers under way, in order: all take equally long.
    pub under_way: VecDeque<(Sender, C::Answer)>,
    /// Answers that have come.
    pub arrived: VecDeque<(Sender, C::Answer)>,
}

impl<C: Coordinator> Network<C> {
    pub(super) fn new(coordinator: C) -> Self {
        Self {
            coordinator,
            generations: Vec::new(),
            tags: 0,
            waiting: Map::default(),
            connections: Map::default(),
            free: VecDeque::new(),
            answered: VecDeque::new(),
            under_way: VecDeque::new(),
            arrived: VecDeque::new(),
        }
    }

    /// Sends a request over the sender's connection.
    pub(super) fn send(
        &mut self,
        at: i64,
        sender: Sender,
        request: C::Request,
        ids: &MemberIds,
    ) -> Result<()> {
        match self.connections.get_mut(&(sender.reader, sender.start)) {
            Some(queued) => {
                queued.push_back((sender, request));
                Ok(())
            }
            None => self.hand_over(at, request, Some(sender), ids),
        }
    }

    /// Hands a request to the coordinator. If that answers requests that have waited, those queued behind them follow.
    pub(super) fn hand_over(
        &mut self,
        at: i64,
        request: C::Request,
        sender: Option<Sender>,
        ids: &MemberIds,
    ) -> Result<()> {
        let mut next = Some((sender, request));
        while let Some((sender, request)) = next.take() {
            self.tags = self.tags.wrapping_add(1);
            let tag = self.tags;
            self.coordinator.apply(at, tag, request, ids, &mut self.generations)?;
            let mut own = None;
            for (of, answer) in self.coordinator.answers() {
                if of == tag {
                    own = Some(answer);
                } else if let Some(sender) = self.waiting.remove(&of) {
                    self.free.push_back((sender.reader, sender.start));
                    self.answered.push_back((sender, answer));
                }
            }
            // Whoever has sent the request gets its answer last.
            match (sender, own) {
                (Some(sender), Some(answer)) => {
                    self.free.push_back((sender.reader, sender.start));
                    self.answered.push_back((sender, answer));
                }
                (Some(sender), None) => {
                    self.waiting.insert(tag, sender);
                    self.connections.entry((sender.reader, sender.start)).or_default();
                }
                (None, _) => {}
            }
            while next.is_none()
                && let Some(connection) = self.free.pop_front()
            {
                next = self.next_of(connection);
            }
        }
        Ok(())
    }

    /// Takes the next request queued on a connection. If none is left, the connection is free.
    fn next_of(&mut self, connection: Connection) -> Option<(Option<Sender>, C::Request)> {
        let next = self.connections.get_mut(&connection)?.pop_front();
        if next.is_none() {
            self.connections.remove(&connection);
        }
        next.map(|(sender, request)| (Some(sender), request))
    }

    /// Another broker takes over the group. The old one also refuses what is queued on its connections.
    pub(super) fn move_group(&mut self, at: i64, ids: &MemberIds) -> Result<()> {
        let mut queued: Vec<_> = self.connections.values_mut().flat_map(std::mem::take).collect();
        queued.sort_by_key(|(sender, _)| sender.reader);
        self.hand_over(at, C::MOVE, None, ids)?;
        let refused = queued.into_iter().map(|(sender, request)| (sender, C::refused(&request)));
        self.answered.extend(refused);
        Ok(())
    }

    /// A consumer closes its connection.
    pub(super) fn disconnect(&mut self, connection: Connection) {
        self.connections.remove(&connection);
        self.waiting.retain(|_, sender| (sender.reader, sender.start) != connection);
        for (sender, _) in &mut self.under_way {
            if (sender.reader, sender.start) == connection {
                sender.start = NO_START;
            }
        }
    }
}

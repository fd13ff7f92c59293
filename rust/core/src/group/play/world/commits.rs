//! How a classic member commits offsets, and how it leaves its group.

use std::sync::Arc;

use super::super::super::classic::Request;
use super::super::super::error_code::Code;
use super::World;
use super::classic_member::MemberState;
use super::client::Asked;
use super::ledger::Reader;
use crate::Result;

impl World {
    /// Commits what has been read (`autoCommitOffsetsAsync`). Only a member of a stable group can.
    pub(super) fn send_auto_commit(&mut self, reader: Reader) {
        let now = self.now;
        let client = &mut self.clients[reader as usize];
        client.classic.commit = if !client.has_positions(now) {
            Some(Code::None)
        } else if client.classic.state == MemberState::Stable {
            None
        } else {
            Some(Code::RebalanceInProgress)
        };
        if client.classic.commit.is_none() {
            let sender = self.sender(reader);
            self.send_classic(reader, Asked::AutoCommit, Request::Commit(sender));
        }
    }

    /// `OffsetCommitResponseHandler`.
    pub(super) fn take_auto_commit(&mut self, reader: Reader, sent: u32, code: Code) {
        let client = &mut self.clients[reader as usize];
        client.classic.commit = Some(code);
        match code {
            Code::RebalanceInProgress => client.classic.request_rejoin(""),
            Code::FencedInstanceId => client.error = Some(code),
            code => self.reset_on_error(reader, sent, code),
        }
    }

    /// Commits in `close()`, and returns how long this takes. Only a member of a stable group sends the commit. Any
    /// other handles the answers that have come by then, and if it leads, it may have to look at the topics before it
    /// goes on.
    pub(super) fn commit_on_close(&mut self, reader: Reader) -> Result<i64> {
        if self.clients[reader as usize].classic.state != MemberState::Stable {
            self.poll_network(reader)?;
            return Ok(self.election_takes(reader));
        }
        let sender = self.sender(reader);
        self.send_classic(reader, Asked::AutoCommit, Request::Commit(sender));
        Ok(self.latency_ms)
    }

    /// `maybeLeaveGroup`. A member that polled too seldom, or that the coordinator no longer knows, has already left.
    pub(super) fn close_classic(&mut self, reader: Reader, says_so: bool) {
        if let Some(sync) = self.clients[reader as usize].classic.unsent.take() {
            self.transmit_sync(reader, sync);
        }
        let client = &self.clients[reader as usize];
        if says_so && client.classic.state != MemberState::Unjoined && !client.id.is_empty() {
            let leave = Request::Leave(vec![(Arc::clone(&client.id), None)]);
            self.send_classic(reader, Asked::Leave, leave);
        }
    }

    pub(super) fn commit_classic(&mut self, reader: Reader, generation: Option<i32>) {
        let mut sender = self.sender(reader);
        sender.generation = generation.unwrap_or(sender.generation);
        self.send_classic(reader, Asked::Commit, Request::Commit(sender));
    }
}

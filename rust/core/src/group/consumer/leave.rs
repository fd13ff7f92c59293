//! Members that leave: by themselves, or because nothing was heard of them.

use std::sync::Arc;

use super::super::error_code::Code;
use super::heartbeat::LEAVES_FOR_A_WHILE;
use super::{ConsumerGroup, ConsumerGroupTimer, Heartbeat, HeartbeatAnswer, HeldPartitions};
use crate::interned::Name;

impl ConsumerGroup {
    /// `consumerGroupLeave`.
    pub(super) fn leave(&mut self, request: &Heartbeat, at: i64, tag: u32) {
        let holder = request.instance.as_ref().map(|instance| self.statics.get(instance));
        let code = match holder {
            Some(None) => Code::UnknownMemberId,
            Some(Some(holder)) if *holder != request.member => Code::FencedInstanceId,
            _ if !self.members.contains_key(&request.member) => Code::UnknownMemberId,
            _ => Code::None,
        };
        if code != Code::None {
            self.refuse(code, at, tag);
            return;
        }
        let for_a_while = request.instance.is_some() && request.epoch == LEAVES_FOR_A_WHILE;
        if for_a_while {
            let mut member = self.members[&request.member].clone();
            member.epoch = LEAVES_FOR_A_WHILE;
            member.revoking = HeldPartitions::default();
            member.assigned = member.assigned.places().map(|place| (place, 0)).collect();
            self.keep(&request.member, member);
        } else {
            self.fence(&request.member, "left");
        }
        self.answer(at, tag, HeartbeatAnswer { code, epoch: request.epoch, assignment: None });
    }

    /// `consumerGroupFenceMember`: the member is removed, and the others share what it had.
    fn fence(&mut self, name: &Name, why: &str) {
        self.forget(name);
        self.order.remove(name);
        self.known = self.read();
        self.epoch += 1;
        if self.members.is_empty() {
            // There is nothing to assign, so the next member need not wait.
            (self.assignment_epoch, self.assigned_at) = (self.epoch, None);
        }
        self.reason = format!("{name} {why}");
        self.timers.cancel(&ConsumerGroupTimer::Session(Arc::clone(name)));
        self.timers.cancel(&ConsumerGroupTimer::Rebalance(Arc::clone(name)));
    }

    /// The effect of a timer.
    pub(super) fn fire(&mut self, timer: ConsumerGroupTimer) {
        match timer {
            ConsumerGroupTimer::Session(name) if self.members.contains_key(&name) => {
                self.fence(&name, "sent no heartbeat in time");
            }
            ConsumerGroupTimer::Rebalance(name) => {
                // A member that is in a later epoch has given them up.
                let asked_in = self.asked_in.remove(&name);
                if asked_in.is_some() && asked_in == self.members.get(&name).map(|member| member.epoch) {
                    self.fence(&name, "did not give up its partitions in time");
                }
            }
            ConsumerGroupTimer::Session(_) => {}
        }
    }
}

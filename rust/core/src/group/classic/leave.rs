//! `LeaveGroup`: members that announce that they leave.

use super::super::error_code::Code;
use super::state::ClassicGroupTimer;
use super::{ClassicGroup, Phase, Response};
use crate::interned::Name;

impl<M: Clone + PartialEq, A: Clone> ClassicGroup<M, A> {
    /// `classicGroupLeave`: members by ID, static ones also by only their `group.instance.id`.
    pub(super) fn leave(&mut self, leaving: &[(Name, Option<String>)], at: i64, tag: u32) {
        if !self.made {
            let codes = vec![Code::UnknownMemberId; leaving.len()];
            self.answer(at, tag, Response::Left(Code::None, codes));
            return;
        }
        let mut codes = Vec::with_capacity(leaving.len());
        for (id, instance) in leaving {
            codes.push(self.let_go(id, instance.as_deref(), at));
        }
        let gone: Vec<_> = leaving.iter().zip(&codes).filter(|(_, code)| **code == Code::None).collect();
        if !gone.is_empty() {
            let names: Vec<_> = gone
                .iter()
                .map(|((id, instance), _)| if id.is_empty() { instance.as_deref().unwrap_or("") } else { id })
                .collect();
            match self.phase {
                Phase::Stable | Phase::CompletingRebalance => {
                    self.rebalance_or_complete(|| format!("{} left", names.join(", ")), at);
                }
                Phase::PreparingRebalance => self.maybe_complete(at),
                Phase::Empty | Phase::Dead => {}
            }
        }
        self.answer(at, tag, Response::Left(Code::None, codes));
    }

    fn let_go(&mut self, id: &Name, instance: Option<&str>, at: i64) -> Code {
        let known = if id.is_empty() {
            let known = instance.and_then(|instance| self.statics.get(instance));
            known.copied().ok_or(Code::UnknownMemberId)
        } else {
            let pending = self.names.find(id).filter(|id| self.pending.contains(id));
            pending.map_or_else(|| self.validate(id, instance), Ok)
        };
        match known {
            Ok(known) => {
                self.timers.cancel(&ClassicGroupTimer::Session(known));
                self.put_out(known, at);
                Code::None
            }
            Err(code) => code,
        }
    }
}

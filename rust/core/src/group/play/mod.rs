//! A group from its first member to its last: consumers that behave as Kafka's own do, a coordinator, and a clock.
//!
//! Requests take no time, and consumers poll all the time but while the script has them stall: what is left of a
//! rebalance's length is what the protocol itself makes of it, and that is most of it. Consumers are those of the Java
//! client, `ConsumerCoordinator` for the classic protocol and `ConsumerMembershipManager` for KIP-848's.

mod classic_member;
mod client;
mod consumer_member;
mod ledger;
mod metadata;
mod on_leader_elected;
mod script;
mod sums;
mod world;

pub use ledger::{Ledger, Reader, Reading, Span};
pub use script::{Action, Consumer, Generation, Message, Protocol, Script, Timeline};
pub use sums::{Changes, Unread};

use crate::Result;

/// Plays a script to its end.
///
/// # Errors
///
/// [`crate::Error::Group`] where it does not settle, and those of [`crate::assignors::Assignor::assign`].
pub fn play(script: Script) -> Result<Timeline> {
    world::World::new(script).play()
}

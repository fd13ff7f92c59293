//! Plays a group from first member to last: consumers that behave like Kafka's own, a coordinator, a clock.
//!
//! The consumers follow those of kafka-clients 4.4.0 (KIP-848's also older ones), thread by thread, under the names of
//! its classes:
//!
//! | module | content |
//! | --- | --- |
//! | `application` | when an application calls `poll()`, and how long it takes |
//! | `consumer_coordinator` | the classic protocol in `poll()`: give up partitions, join, take partitions |
//! | `commits` | a classic member's automatic commits, and its `close()` |
//! | `abstract_coordinator` | `JoinGroup` and `SyncGroup`, and the effects of their answers |
//! | `heartbeat_thread` | the classic protocol's own thread |
//! | `looks` | when that thread has the network |
//! | `positions` | the offsets from which a classic member reads new partitions |
//! | `async_consumer` | KIP-848 in `poll()` |
//! | `waiting_poll` | KIP-848 in `poll()` up to 4.1 |
//! | `version` | what KIP-848's consumer did otherwise in older versions |
//! | `membership_manager` | how a KIP-848 member takes up its assignment |
//! | `network_thread` | the turns of KIP-848's network thread |
//! | `heartbeat_request_manager` | KIP-848's heartbeats |

mod abstract_coordinator;
mod actions;
mod application;
mod async_consumer;
mod classic_member;
mod client;
mod commits;
mod consumer_coordinator;
mod heartbeat_request_manager;
mod heartbeat_thread;
mod leaders_client;
mod led;
mod ledger;
mod looks;
mod membership;
mod membership_manager;
mod metadata;
mod network_thread;
mod on_leader_elected;
mod positions;
mod questions;
mod reading;
mod script;
mod sums;
mod version;
mod waiting_poll;
mod world;

pub use led::{LeadersClient, Led, LedMember};
pub use ledger::{Ledger, Reader, Reading, Span};
pub use script::{Action, Consumer, Generation, Message, Protocol, Race, Script, Timeline};
pub use sums::{Changes, Unread};

use crate::Result;

/// Plays a script to its end.
///
/// # Errors
///
/// [`crate::Error::Group`] if the group does not settle, and the errors of
/// [`crate::assignors::Assignor::assign`].
pub fn play(script: Script) -> Result<Timeline> {
    world::World::new(script).play()
}

/// Plays a script with members of clients other than Java's: `client` says what each leader's client assigns.
///
/// # Errors
///
/// The errors of [`play`] and of `client`.
pub fn play_led(script: Script, client: Box<dyn LeadersClient>) -> Result<Timeline> {
    let mut world = world::World::new(script);
    world.leaders_client = Some(client);
    world.play()
}

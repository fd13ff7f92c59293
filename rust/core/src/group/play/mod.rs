//! A group from its first member to its last: consumers that behave as Kafka's own do, a coordinator, and a clock.
//!
//! Consumers are those of kafka-clients 4.4.0, thread by thread, under the names of its classes:
//!
//! | module | what it is |
//! | --- | --- |
//! | `application` | when `poll()` is called, and how long it takes |
//! | `consumer_coordinator` | the classic protocol in `poll()`: giving up, joining, taking |
//! | `commits` | what it commits by itself, and its `close()` |
//! | `abstract_coordinator` | `JoinGroup` and `SyncGroup`, and what their answers do |
//! | `heartbeat_thread` | the classic protocol's own thread |
//! | `looks` | when that thread has the network |
//! | `positions` | from where it reads what is new to it |
//! | `async_consumer` | KIP-848 in `poll()` |
//! | `membership_manager` | how a member takes up what it is assigned |
//! | `network_thread` | the turns of KIP-848's network thread |
//! | `heartbeat_request_manager` | its heartbeats |

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
/// [`crate::Error::Group`] where it does not settle, and those of [`crate::assignors::Assignor::assign`].
pub fn play(script: Script) -> Result<Timeline> {
    world::World::new(script).play()
}

/// The same for a script with members of other clients than Java's: `client` says what each leader's client assigns.
///
/// # Errors
///
/// Those of [`play`], and of `client`.
pub fn play_led(script: Script, client: Box<dyn LeadersClient>) -> Result<Timeline> {
    let mut world = world::World::new(script);
    world.leaders_client = Some(client);
    world.play()
}

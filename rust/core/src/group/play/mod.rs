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

mod application;
mod classic_member;
mod cluster;
mod consumer_member;
mod coordinator;
mod led;
mod ledger;
mod member;
mod member_ids;
mod network;
mod script;
mod simulation;
mod subscription_state;
mod sums;

pub use led::{LeadersClient, Led, LedMember};
pub use ledger::{Ledger, Reader, Reading, Span};
pub use script::{Action, Consumer, Generation, Message, Protocol, Race, Script, Timeline};
pub use sums::{Changes, Unread};

use super::{classic, consumer};
use crate::Result;
use classic_member::{ClassicCoordinator, ClassicMember};
use consumer_member::{ConsumerCoordinator, ConsumerMember};
use simulation::Simulation;

/// Plays a script to its end.
///
/// # Errors
///
/// [`crate::Error::Group`] if the group does not settle, and the errors of
/// [`crate::assignors::Assignor::assign`].
pub fn play(script: Script) -> Result<Timeline> {
    simulate(script, None)
}

/// Plays a script with members of clients other than Java's: `client` says what each leader's client assigns.
///
/// # Errors
///
/// The errors of [`play`] and of `client`.
pub fn play_led(script: Script, client: Box<dyn LeadersClient>) -> Result<Timeline> {
    simulate(script, Some(client))
}

fn simulate(script: Script, leaders_client: Option<Box<dyn LeadersClient>>) -> Result<Timeline> {
    match script.protocol.clone() {
        Protocol::Classic(config) => {
            let coordinator = ClassicCoordinator::new(classic::Group::new(config));
            Simulation::<ClassicMember>::new(script, coordinator, leaders_client).play()
        }
        Protocol::Consumer(config) => {
            let coordinator = ConsumerCoordinator { group: consumer::Group::new(config) };
            Simulation::<ConsumerMember>::new(script, coordinator, leaders_client).play()
        }
    }
}

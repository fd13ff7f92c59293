//! Plays a group from first member to last: consumers that behave like Kafka's own, a coordinator, a clock.
//!
//! The consumers follow those of kafka-clients 4.4.0 (KIP-848's also older ones), under the names of its classes. A member
//! is a state machine: it takes an event, changes itself, and says what it does. What the real client leaves to its
//! scheduler is not imitated, so a time is right within a poll interval and 100 ms. Read it in this order:
//!
//! | module | content |
//! | --- | --- |
//! | `script` | what goes in, and what comes out |
//! | `member` | what a member is: its events, its effects, and what it sees |
//! | `coordinator` | what a coordinator is to the simulation; its rules are in `group::classic` and `group::consumer` |
//! | `simulation` | the clock and the script: hands events to members, and carries out their effects |
//! | `network` | a request is handed over at once, if the connection is free; an answer that the member awaits takes time |
//! | `ledger`, `sums` | who reads what and when, and what the gaps cost |
//! | `cluster`, `member_ids` | the topics, and the members' IDs |
//! | `application` | when an application calls `poll()`, and how long it stays inside |
//! | `subscription_state` | a consumer's subscription and partitions |
//! | `classic_member` | the consumer of the classic protocol, and its coordinator |
//! | `consumer_member` | the consumer of KIP-848, and its coordinator |
//! | `leaders_client` | leaders of other clients |

mod application;
mod classic_member;
mod cluster;
mod consumer_member;
mod coordinator;
mod leaders_client;
mod ledger;
mod member;
mod member_ids;
mod network;
mod script;
mod simulation;
mod subscription_state;
mod sums;

pub use leaders_client::{JoinedGroup, JoinedMember, LeadersClient};
pub use ledger::{Ledger, Reader, Reading, Span};
pub use script::{Action, Consumer, Generation, MemberAction, Message, Protocol, Race, Script, Timeline};
pub use sums::{Changes, Unread};

use super::{classic, consumer};
use crate::Result;
use classic_member::{ClassicCoordinator, ClassicMember};
use consumer_member::{ConsumerCoordinator, ConsumerMember};
use simulation::Simulation;

/// Plays a script to its end. If members are of clients other than Java's, `leaders_client` says what each leader's client
/// assigns.
///
/// # Errors
///
/// [`crate::Error::Group`] if the group does not settle, and the errors of [`crate::assignors::Assignor::assign`] and of
/// the client.
pub fn play(script: Script, leaders_client: Option<Box<dyn LeadersClient>>) -> Result<Timeline> {
    match script.protocol.clone() {
        Protocol::Classic(config) => {
            let coordinator = ClassicCoordinator::new(classic::ClassicGroup::new(config));
            Simulation::<ClassicMember>::new(script, coordinator, leaders_client).play()
        }
        Protocol::Consumer(config) => {
            let coordinator = ConsumerCoordinator { group: consumer::ConsumerGroup::new(config) };
            Simulation::<ConsumerMember>::new(script, coordinator, leaders_client).play()
        }
    }
}

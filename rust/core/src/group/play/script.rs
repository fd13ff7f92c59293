//! What a play is given, and what it tells.

use std::sync::Arc;

use super::super::consumer::Place;
use super::super::error_code::Code;
use super::super::{classic, consumer};
use super::ledger::{Ledger, Reader};
use crate::assignors::Assignor;
use crate::interned::Name;
use crate::java::random::Random;

/// Which protocol a group speaks, and how its coordinator is configured.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// `group.protocol=classic`.
    Classic(classic::Config),
    /// `group.protocol=consumer` (KIP-848).
    Consumer(consumer::Config),
}

/// A play.
#[derive(Clone, Debug)]
pub struct Script {
    /// The group's protocol.
    pub protocol: Protocol,
    /// The topics, each with how many partitions it has at first; none where it is not there yet.
    pub topics: Vec<(Name, Option<u32>)>,
    /// The members, by name.
    pub clients: Vec<Name>,
    /// How long the answer of a rebalance is on its way: that of `JoinGroup` and `SyncGroup`, and of a heartbeat of KIP-848's
    /// that brings an assignment.
    pub latency_ms: i64,
    /// What happens, in the order of the times.
    pub actions: Vec<(i64, Action)>,
    /// The topics in which no records come: whoever reads these alone stays inside of `poll()`.
    pub idle_topics: Vec<u32>,
    /// Who wins where two threads of a KIP-848 member race.
    pub race: Race,
    /// Up to when the play goes; as long as anything moves where it does not say.
    pub until: Option<i64>,
    /// Whether every span of reading is kept.
    pub keeps_spans: bool,
    /// Whether every request and answer is kept.
    pub keeps_messages: bool,
}

/// Whether the network thread of a KIP-848 member is quick enough for the pass of `poll()` that tells it of itself.
#[derive(Clone, Debug)]
pub enum Race {
    /// Never, which is the common case.
    Slow,
    /// Always.
    Fast,
    /// One time of ten, as drawn.
    Drawn(Random),
}

/// How a consumer is configured; all times are milliseconds.
#[derive(Clone, Debug)]
pub struct Consumer {
    /// `group.instance.id`.
    pub instance: Option<String>,
    /// The member id that the coordinator draws for it, where that is to be a given one.
    pub id: Option<Name>,
    /// `session.timeout.ms` of the classic protocol.
    pub session_timeout_ms: i64,
    /// `heartbeat.interval.ms` of the classic protocol.
    pub heartbeat_interval_ms: i64,
    /// `max.poll.interval.ms`.
    pub max_poll_interval_ms: i64,
    /// `auto.commit.interval.ms`; none where nothing is committed by itself.
    pub auto_commit_interval_ms: Option<i64>,
    /// How long its application takes from one `poll()` to the next.
    pub poll_ms: i64,
    /// The time-out that it gives `poll()`, for which an idle member stays inside.
    pub poll_timeout_ms: i64,
    /// How long a callback of its `ConsumerRebalanceListener` takes; none where it has no listener.
    pub listener_ms: Option<i64>,
    /// `metadata.max.age.ms`.
    pub metadata_max_age_ms: i64,
    /// Its client, with `@VERSION` where that is an older one.
    pub client: Name,
    /// `partition.assignment.strategy`, by the names that members say.
    pub assignors: Arc<[(Name, Assignor)]>,
    /// `group.remote.assignor` of KIP-848's protocol.
    pub remote_assignor: Option<String>,
}

/// What happens.
#[derive(Clone, Debug)]
pub enum Action {
    /// A member starts, with a subscription: places in the list of topics.
    Join(Reader, Arc<Consumer>, Vec<u32>),
    /// A member is closed: whether it says so to the coordinator, or leaves that to the default of `close()`.
    Leave(Reader, Option<bool>),
    /// A member is gone without a word.
    Crash(Reader),
    /// A member does not poll for so long.
    Stall(Reader, i64),
    /// A member subscribes to other topics.
    Subscribe(Reader, Vec<u32>),
    /// A topic has so many partitions now; none where it is deleted.
    Topic(u32, Option<u32>),
    /// Another broker takes the group over.
    Move,
    /// Partitions have no leader from now on, or have another one.
    Leaders(Vec<Place>, bool),
    /// A member commits an offset, as of a generation; of its own where none is given.
    Commit(Reader, Option<i32>),
    /// Something that the group does not hear of: a consumer that assigns itself begins, or ends.
    Beside,
}

/// What a rebalance came to.
#[derive(Clone, Debug)]
pub struct Generation {
    /// Its number; of KIP-848 the epoch of the target assignment.
    pub number: i32,
    /// When it began.
    pub at: i64,
    /// Why.
    pub why: String,
    /// Who led; nobody with KIP-848, or where nobody is left.
    pub leader: Option<Reader>,
    /// The assignor that the members have chosen.
    pub protocol: Option<Name>,
    /// Who is to read what, in Kafka's own order.
    pub assignment: Vec<(Reader, Arc<[Place]>)>,
}

/// A request's answer that a member got.
#[derive(Clone, Debug)]
pub struct Message {
    /// When.
    pub at: i64,
    /// Who.
    pub client: Reader,
    /// Kafka's name of the request.
    pub request: &'static str,
    /// What went wrong.
    pub code: Code,
    /// The generation, or the epoch.
    pub generation: i32,
    /// The member's id.
    pub member: Name,
    /// Of `JoinGroup`, the leader's id and how many members it was told of.
    pub leader: Option<Name>,
    /// How many members it was told of.
    pub members: usize,
}

/// What a play came to.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// The generations, in order.
    pub generations: Vec<Generation>,
    /// Who read what, when.
    pub ledger: Ledger,
    /// Members that ended with an error of Kafka's, and when.
    pub failures: Vec<(i64, Reader, Code)>,
    /// Commits that the script asked for, and what became of them.
    pub commits: Vec<(i64, Reader, Code)>,
    /// The requests and answers, where they are kept.
    pub messages: Vec<Message>,
    /// When it ended.
    pub ended: i64,
    /// Whether nothing moved any more.
    pub settled: bool,
    /// The members, by name.
    pub clients: Vec<Name>,
    /// The topics with their partitions at the end.
    pub topics: Vec<(Name, Option<u32>)>,
}

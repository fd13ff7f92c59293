//! A play's input and output: the script, and the timeline that comes of it.

use std::sync::Arc;

use super::super::consumer::Place;
use super::super::error_code::Code;
use super::super::{classic, consumer};
use super::ledger::{Ledger, Reader};
use crate::assignors::Assignor;
use crate::interned::Name;
use crate::java::random::Random;

/// The protocol that a group uses, and its coordinator's settings.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// `group.protocol=classic`.
    Classic(classic::ClassicGroupConfig),
    /// `group.protocol=consumer` (KIP-848).
    Consumer(consumer::ConsumerGroupConfig),
}

/// The input of a play.
#[derive(Clone, Debug)]
pub struct Script {
    /// The group's protocol.
    pub protocol: Protocol,
    /// The topics, each with its number of partitions at first; `None` if it does not exist yet.
    pub topics: Vec<(Name, Option<u32>)>,
    /// The members, by name.
    pub clients: Vec<Name>,
    /// How long the answers of a rebalance take: those to `JoinGroup` and `SyncGroup`, and with KIP-848 a
    /// heartbeat's answer that brings an assignment.
    pub latency_ms: i64,
    /// The actions with their times, in order of time.
    pub actions: Vec<(i64, Action)>,
    /// The topics that get no records. A member that reads only these stays inside `poll()`.
    pub idle_topics: Vec<u32>,
    /// Which thread wins if two threads of a KIP-848 member race.
    pub race: Race,
    /// When the play ends; `None` lets it go on as long as anything moves.
    pub until: Option<i64>,
    /// Whether to keep every span of reading.
    pub keeps_spans: bool,
    /// Whether to keep every request and answer.
    pub keeps_messages: bool,
}

/// Whether a KIP-848 member's network thread is fast enough to react within the pass of `poll()` that notifies it.
#[derive(Clone, Debug)]
pub enum Race {
    /// Never, which is the common case.
    Slow,
    /// Always.
    Fast,
    /// One time in ten, at random.
    Drawn(Random),
}

/// A consumer's settings; all times are milliseconds.
#[derive(Clone, Debug)]
pub struct Consumer {
    /// `group.instance.id`.
    pub instance: Option<String>,
    /// The member IDs that Kafka draws for it, one after the other, if the script prescribes them.
    pub ids: Vec<Name>,
    /// `session.timeout.ms` of the classic protocol.
    pub session_timeout_ms: i64,
    /// `heartbeat.interval.ms` of the classic protocol.
    pub heartbeat_interval_ms: i64,
    /// `max.poll.interval.ms`.
    pub max_poll_interval_ms: i64,
    /// `auto.commit.interval.ms`; `None` if it does not commit automatically.
    pub auto_commit_interval_ms: Option<i64>,
    /// How long its application takes from one `poll()` to the next.
    pub poll_ms: i64,
    /// The timeout that it passes to `poll()`. An idle member stays inside for that long.
    pub poll_timeout_ms: i64,
    /// How long a callback of its `ConsumerRebalanceListener` takes; `None` if it has no listener.
    pub listener_ms: Option<i64>,
    /// `metadata.max.age.ms`.
    pub metadata_max_age_ms: i64,
    /// Its client, with `@VERSION` if that is an older one.
    pub client: Name,
    /// `partition.assignment.strategy`, with each assignor's name as members send it.
    pub assignors: Arc<[(Name, Assignor)]>,
    /// `group.remote.assignor` of KIP-848.
    pub remote_assignor: Option<String>,
}

impl Consumer {
    /// Whether it has a `group.instance.id`.
    pub(super) fn is_static(&self) -> bool {
        self.instance.is_some()
    }

    /// `enable.auto.commit`.
    pub(super) fn auto_commits(&self) -> bool {
        self.auto_commit_interval_ms.is_some()
    }
}

/// An event in a script.
#[derive(Clone, Debug)]
pub enum Action {
    /// A member starts with a subscription, given as places in the list of topics.
    Join(Reader, Arc<Consumer>, Arc<[u32]>),
    /// A member that has started is made to do something.
    Member(Reader, MemberAction),
    /// A topic's number of partitions changes; `None` deletes the topic.
    Topic(u32, Option<u32>),
    /// Another broker takes over the group.
    Move,
    /// Partitions lose their leader (`false`), or get another one (`true`).
    Leaders(Vec<Place>, bool),
    /// An event that the group does not hear of: a consumer that assigns itself partitions starts or stops.
    Beside,
}

/// What a script makes a member do.
#[derive(Clone, Debug)]
pub enum MemberAction {
    /// Its application does not poll for this many milliseconds.
    Stall(i64),
    /// Its application subscribes to other topics.
    Subscribe(Arc<[u32]>),
    /// Its application commits an offset under a generation; `None` stands for its own.
    Commit(Option<i32>),
    /// Its application closes it, as `CloseOptions` says: it leaves the group, stays in it, or does what is the default
    /// of `close()`.
    Close(Option<bool>),
    /// It vanishes without telling anyone.
    Crash,
}

/// The result of a rebalance.
#[derive(Clone, Debug)]
pub struct Generation {
    /// Its number; with KIP-848, the epoch of the target assignment.
    pub number: i32,
    /// When it began.
    pub at: i64,
    /// The reason for the rebalance.
    pub why: String,
    /// Its leader; `None` with KIP-848, or if no member is left.
    pub leader: Option<Reader>,
    /// The assignor that the members have chosen.
    pub protocol: Option<Name>,
    /// Each member's partitions, in Kafka's own order.
    pub assignment: Vec<(Reader, Arc<[Place]>)>,
}

/// An answer that a member received to a request.
#[derive(Clone, Debug)]
pub struct Message {
    /// When it arrived.
    pub at: i64,
    /// The member.
    pub client: Reader,
    /// Kafka's name for the request.
    pub request: &'static str,
    /// The error code.
    pub code: Code,
    /// The generation, or the epoch with KIP-848.
    pub generation: i32,
    /// The member ID.
    pub member: Name,
    /// The leader's member ID, if the request is `JoinGroup`.
    pub leader: Option<Name>,
    /// How many members the answer lists; 0 unless the request is `JoinGroup`.
    pub members: usize,
}

/// The output of a play.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// The generations, in order.
    pub generations: Vec<Generation>,
    /// The partitions that each member read, and when.
    pub ledger: Ledger,
    /// Members that ended with one of Kafka's errors, and when.
    pub failures: Vec<(i64, Reader, Code)>,
    /// The commits that the script requested, with their results.
    pub commits: Vec<(i64, Reader, Code)>,
    /// The requests and answers, if the script keeps them.
    pub messages: Vec<Message>,
    /// When the play ended.
    pub ended: i64,
    /// Whether the group had settled: nothing moved any more.
    pub settled: bool,
    /// The members, by name.
    pub clients: Vec<Name>,
    /// The topics with their partitions at the end.
    pub topics: Vec<(Name, Option<u32>)>,
}

//! What the KIP-848 consumer did otherwise in older versions of kafka-clients.

/// A version of kafka-clients; the default is the newest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    V4_0,
    V4_1,
    V4_2,
    V4_3,
    #[default]
    V4_4,
}

/// What is so in some versions, and not in others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    /// It returns records of topics from which it has unsubscribed (`SubscriptionState.isFetchableAndSubscribed`).
    ReadsUnsubscribed,
    /// `poll()` waits until the network thread has done its part, and again until new partitions have their positions
    /// (`PollEvent`). As of 4.2 it waits for neither (`AsyncPollEvent`).
    WaitsForThread,
    /// The network thread takes up an assignment by itself, and the application only calls its listener. As of 4.3 the
    /// application does that (`ApplyAssignmentEvent`).
    AssignsInThread,
    /// Without automatic commits, the network thread revokes partitions whenever it learns that it must. As of 4.3 it
    /// waits for a poll (`AbstractMembershipManager.maybeReconcile`).
    RevokesAtAnyTime,
    /// A member that loses its partitions reads them until its listener has been called. As of 4.3 it stops before
    /// (`ConsumerMembershipManager.signalPartitionsLost`).
    ReadsWhatItLoses,
    /// The application's event asks for the positions of partitions whose `onPartitionsAssigned` it has yet to call. Up to
    /// 4.1 it calls that first, and as of 4.3 it has the partitions only then.
    LocatesBeforeCallback,
    /// The application looks for records only when the network thread has looked at a pending reconciliation
    /// (`AsyncPollEvent.reconciliationCheckFuture`).
    WaitsForReconciliation,
    /// A round of an idle `poll()` that tells the network thread that it polls ends at once, for the thread has nothing to
    /// fetch and wakes the buffer (`FetchRequestManager.pollInternal`); the next round tells the thread nothing, for it
    /// still has the event of the round before (`AsyncKafkaConsumer.checkInflightPoll`).
    TellsInEverySecondRound,
    /// An idle `poll()` goes round without a rest while a heartbeat or a commit is due that cannot be sent. As of 4.4 it
    /// waits (`maximumTimeToWait`).
    Spins,
    /// An idle `poll()` goes round at least each `retry.backoff.ms`. Before, it does so only while it lacks positions
    /// (`AsyncKafkaConsumer.pollForFetches`).
    GoesRoundOften,
}

impl Version {
    /// The version that a member's client names, `java@4.1` for example.
    pub(super) fn of(client: &str) -> Self {
        match client {
            "java@4.0" => Self::V4_0,
            "java@4.1" => Self::V4_1,
            "java@4.2" => Self::V4_2,
            "java@4.3" => Self::V4_3,
            _ => Self::V4_4,
        }
    }

    /// Whether something is so in this version.
    pub(super) fn has(self, fact: Fact) -> bool {
        let (first, last) = match fact {
            Fact::ReadsUnsubscribed => (Self::V4_0, Self::V4_0),
            Fact::WaitsForThread => (Self::V4_0, Self::V4_1),
            Fact::AssignsInThread | Fact::RevokesAtAnyTime | Fact::ReadsWhatItLoses => {
                (Self::V4_0, Self::V4_2)
            }
            Fact::LocatesBeforeCallback => (Self::V4_2, Self::V4_2),
            Fact::WaitsForReconciliation => (Self::V4_3, Self::V4_4),
            Fact::TellsInEverySecondRound => (Self::V4_2, Self::V4_3),
            Fact::Spins => (Self::V4_0, Self::V4_3),
            Fact::GoesRoundOften => (Self::V4_4, Self::V4_4),
        };
        (first..=last).contains(&self)
    }

    /// How many calls of `poll()` go by until a busy application tells the network thread again that it polls. As of 4.2
    /// the call in between finds the records that the event of the call before asked for.
    pub(super) fn calls_an_event(self) -> u32 {
        if self.has(Fact::WaitsForThread) { 1 } else { 2 }
    }
}

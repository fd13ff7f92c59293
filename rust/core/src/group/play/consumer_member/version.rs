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

/// What is so in some versions, from the first to the last of two, and not in others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fact(Version, Version);

impl Fact {
    /// It returns records of topics from which it has unsubscribed (`SubscriptionState.isFetchableAndSubscribed`).
    pub(super) const READS_UNSUBSCRIBED: Self = Self(Version::V4_0, Version::V4_0);
    /// `poll()` waits until the network thread has done its part, and again until new partitions have their positions
    /// (`PollEvent`). As of 4.2 it waits for neither (`AsyncPollEvent`).
    pub(super) const WAITS_FOR_THREAD: Self = Self(Version::V4_0, Version::V4_1);
    /// The network thread takes up an assignment by itself, and the application only calls its listener. As of 4.3 the
    /// application does that (`ApplyAssignmentEvent`).
    pub(super) const ASSIGNS_IN_THREAD: Self = Self(Version::V4_0, Version::V4_2);
    /// Without automatic commits, the network thread revokes partitions whenever it learns that it must. As of 4.3 it
    /// waits for a poll (`AbstractMembershipManager.maybeReconcile`).
    pub(super) const REVOKES_AT_ANY_TIME: Self = Self(Version::V4_0, Version::V4_2);
    /// A member that loses its partitions reads them until its listener has been called. As of 4.3 it stops before
    /// (`ConsumerMembershipManager.signalPartitionsLost`).
    pub(super) const READS_WHAT_IT_LOSES: Self = Self(Version::V4_0, Version::V4_2);
    /// The application's event asks for the positions of partitions whose `onPartitionsAssigned` it has yet to call. Up to
    /// 4.1 it calls that first, and as of 4.3 it has the partitions only then.
    pub(super) const LOCATES_BEFORE_CALLBACK: Self = Self(Version::V4_2, Version::V4_2);
    /// The application looks for records only when the network thread has looked at a pending reconciliation
    /// (`AsyncPollEvent.reconciliationCheckFuture`).
    pub(super) const WAITS_FOR_RECONCILIATION: Self = Self(Version::V4_3, Version::V4_4);
    /// A round of an idle `poll()` that tells the network thread that it polls ends at once, for the thread has nothing to
    /// fetch and wakes the buffer (`FetchRequestManager.pollInternal`); the next round tells the thread nothing, for it
    /// still has the event of the round before (`AsyncKafkaConsumer.checkInflightPoll`).
    pub(super) const TELLS_IN_EVERY_SECOND_ROUND: Self = Self(Version::V4_2, Version::V4_3);
    /// An idle `poll()` goes round without a rest while a heartbeat or a commit is due that cannot be sent. As of 4.4 it
    /// waits (`maximumTimeToWait`).
    pub(super) const SPINS: Self = Self(Version::V4_0, Version::V4_3);
    /// An idle `poll()` goes round at least each `retry.backoff.ms`. Before, it does so only while it lacks positions
    /// (`AsyncKafkaConsumer.pollForFetches`).
    pub(super) const GOES_ROUND_OFTEN: Self = Self(Version::V4_4, Version::V4_4);
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
        (fact.0..=fact.1).contains(&self)
    }

    /// How many calls of `poll()` go by until a busy application tells the network thread again that it polls. As of 4.2
    /// the call in between finds the records that the event of the call before asked for.
    pub(super) fn calls_an_event(self) -> u32 {
        if self.has(Fact::WAITS_FOR_THREAD) { 1 } else { 2 }
    }
}

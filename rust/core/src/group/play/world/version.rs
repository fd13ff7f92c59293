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

    /// `poll()` waits until the network thread has done its part, and again until new partitions have their positions.
    /// As of 4.2 it waits for neither (`AsyncPollEvent` in place of `PollEvent`).
    pub(super) fn waits_for_thread(self) -> bool {
        self < Self::V4_2
    }

    /// The application looks for records only when the network thread has looked at a pending reconciliation. As of 4.3
    /// (`AsyncPollEvent.reconciliationCheckFuture`).
    pub(super) fn waits_for_reconciliation(self) -> bool {
        self >= Self::V4_3
    }

    /// The network thread takes up an assignment by itself, and the application only calls its listener. As of 4.3 the
    /// application does that (`ApplyAssignmentEvent`).
    pub(super) fn assigns_in_thread(self) -> bool {
        self < Self::V4_3
    }

    /// The application's event asks for the positions of partitions whose `onPartitionsAssigned` it has yet to call. Up
    /// to 4.1 it calls that first, and as of 4.3 it has the partitions only then.
    pub(super) fn asks_before_callback(self) -> bool {
        self == Self::V4_2
    }

    /// Without automatic commits, the network thread revokes partitions whenever it learns that it must. As of 4.3 it
    /// waits for a poll (`AbstractMembershipManager.maybeReconcile`).
    pub(super) fn revokes_at_any_time(self) -> bool {
        self < Self::V4_3
    }

    /// A member that loses its partitions reads them until its listener has been told. As of 4.3 it stops before
    /// (`ConsumerMembershipManager.signalPartitionsLost`).
    pub(super) fn reads_what_it_loses(self) -> bool {
        self < Self::V4_3
    }

    /// It returns records of topics from which it has unsubscribed (`SubscriptionState.isFetchableAndSubscribed`, as of
    /// 4.1).
    pub(super) fn reads_unsubscribed(self) -> bool {
        self < Self::V4_1
    }

    /// A round of an idle `poll()` that tells the network thread that it polls ends at once, for the thread has nothing to
    /// fetch and wakes the buffer (`FetchRequestManager.pollInternal`); the next round tells the thread nothing, for it
    /// still has the event of the round before (`AsyncKafkaConsumer.checkInflightPoll`). So it is in 4.2 and 4.3.
    pub(super) fn tells_in_every_second_round(self) -> bool {
        (Self::V4_2..Self::V4_4).contains(&self)
    }

    /// How many calls of `poll()` go by until a busy application tells the network thread again. As of 4.2 the call in
    /// between finds the records that the previous event asked for.
    pub(super) fn calls_a_telling(self) -> i64 {
        if self < Self::V4_2 { 1 } else { 2 }
    }

    /// An idle `poll()` goes round without a rest while a heartbeat or a commit is due that cannot be sent. As of 4.4 it
    /// waits (`maximumTimeToWait`).
    pub(super) fn spins(self) -> bool {
        self < Self::V4_4
    }

    /// An idle `poll()` goes round at least each `retry.backoff.ms`. Before 4.4 it does so only while it lacks positions
    /// (`AsyncKafkaConsumer.pollForFetches`).
    pub(super) fn goes_round_often(self) -> bool {
        self >= Self::V4_4
    }
}

//! A coordinator's errors, under Kafka's own names (`org.apache.kafka.common.protocol.Errors`).

use crate::names::named;

named! {
    /// An error code of Kafka's protocol; no error is a code too.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Code {
        /// There is no error.
        #[default]
        None = "NONE",
        /// The broker that was asked has stopped coordinating the group.
        NotCoordinator = "NOT_COORDINATOR",
        /// The request names another generation than the group's.
        IllegalGeneration = "ILLEGAL_GENERATION",
        /// No protocol is supported by all members, or the member's is not the one that the group has chosen.
        InconsistentGroupProtocol = "INCONSISTENT_GROUP_PROTOCOL",
        /// The group has no such member.
        UnknownMemberId = "UNKNOWN_MEMBER_ID",
        /// `session.timeout.ms` is not within the group's limits.
        InvalidSessionTimeout = "INVALID_SESSION_TIMEOUT",
        /// Members must join again.
        RebalanceInProgress = "REBALANCE_IN_PROGRESS",
        /// A member without an id gets one and must join again with it.
        MemberIdRequired = "MEMBER_ID_REQUIRED",
        /// Another member has joined with the same `group.instance.id`.
        FencedInstanceId = "FENCED_INSTANCE_ID",
        /// The group is full.
        GroupMaxSizeReached = "GROUP_MAX_SIZE_REACHED",
        /// The member's epoch is not the one that the coordinator knows (KIP-848).
        FencedMemberEpoch = "FENCED_MEMBER_EPOCH",
        /// Another member has the `group.instance.id` and has not left (KIP-848).
        UnreleasedInstanceId = "UNRELEASED_INSTANCE_ID",
        /// An offset was committed with an epoch that is not the member's (KIP-848).
        StaleMemberEpoch = "STALE_MEMBER_EPOCH",
        /// The broker has no such assignor (KIP-848).
        UnsupportedAssignor = "UNSUPPORTED_ASSIGNOR",
        /// The request is not valid for its kind.
        InvalidRequest = "INVALID_REQUEST",
        /// There is no such group.
        GroupIdNotFound = "GROUP_ID_NOT_FOUND",
        /// An error that the broker does not expect, such as Java's `IllegalStateException`.
        UnknownServerError = "UNKNOWN_SERVER_ERROR",
    }
}

//! A coordinator's errors, under Kafka's own names (`org.apache.kafka.common.protocol.Errors`).

/// An error code of Kafka's protocol; no error is a code too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Code {
    /// There is no error.
    #[default]
    None,
    /// The broker that was asked has stopped coordinating the group.
    NotCoordinator,
    /// The request names another generation than the group's.
    IllegalGeneration,
    /// No protocol is supported by all members, or the member's is not the one that the group has chosen.
    InconsistentGroupProtocol,
    /// The group has no such member.
    UnknownMemberId,
    /// `session.timeout.ms` is not within the group's limits.
    InvalidSessionTimeout,
    /// Members must join again.
    RebalanceInProgress,
    /// A member without an id gets one and must join again with it.
    MemberIdRequired,
    /// Another member has joined with the same `group.instance.id`.
    FencedInstanceId,
    /// The group is full.
    GroupMaxSizeReached,
    /// The member's epoch is not the one that the coordinator knows (KIP-848).
    FencedMemberEpoch,
    /// Another member has the `group.instance.id` and has not left (KIP-848).
    UnreleasedInstanceId,
    /// An offset was committed with an epoch that is not the member's (KIP-848).
    StaleMemberEpoch,
    /// The broker has no such assignor (KIP-848).
    UnsupportedAssignor,
    /// The request is not valid for its kind.
    InvalidRequest,
    /// There is no such group.
    GroupIdNotFound,
    /// An error that the broker does not expect, such as Java's `IllegalStateException`.
    UnknownServerError,
}

impl Code {
    /// Kafka's name of the error; `NONE` means no error.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::NotCoordinator => "NOT_COORDINATOR",
            Self::IllegalGeneration => "ILLEGAL_GENERATION",
            Self::InconsistentGroupProtocol => "INCONSISTENT_GROUP_PROTOCOL",
            Self::UnknownMemberId => "UNKNOWN_MEMBER_ID",
            Self::InvalidSessionTimeout => "INVALID_SESSION_TIMEOUT",
            Self::RebalanceInProgress => "REBALANCE_IN_PROGRESS",
            Self::MemberIdRequired => "MEMBER_ID_REQUIRED",
            Self::FencedInstanceId => "FENCED_INSTANCE_ID",
            Self::GroupMaxSizeReached => "GROUP_MAX_SIZE_REACHED",
            Self::FencedMemberEpoch => "FENCED_MEMBER_EPOCH",
            Self::UnreleasedInstanceId => "UNRELEASED_INSTANCE_ID",
            Self::StaleMemberEpoch => "STALE_MEMBER_EPOCH",
            Self::UnsupportedAssignor => "UNSUPPORTED_ASSIGNOR",
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::GroupIdNotFound => "GROUP_ID_NOT_FOUND",
            Self::UnknownServerError => "UNKNOWN_SERVER_ERROR",
        }
    }
}

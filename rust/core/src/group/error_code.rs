//! What a coordinator answers, under Kafka's own names (`org.apache.kafka.common.protocol.Errors`).

/// An error of Kafka's protocol, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Code {
    /// All is well.
    #[default]
    None,
    /// The broker that was asked has stopped coordinating the group.
    NotCoordinator,
    /// The generation is not that of the group.
    IllegalGeneration,
    /// No protocol is supported by all members, or it is not the one that the group has chosen.
    InconsistentGroupProtocol,
    /// The group has no such member.
    UnknownMemberId,
    /// `session.timeout.ms` is not within the group's limits.
    InvalidSessionTimeout,
    /// Members are to join anew.
    RebalanceInProgress,
    /// A member without an id is given one, with which it is to join.
    MemberIdRequired,
    /// Another member has come with the same `group.instance.id`.
    FencedInstanceId,
    /// The group takes no more members.
    GroupMaxSizeReached,
    /// The member's epoch is not the one that the coordinator knows (KIP-848).
    FencedMemberEpoch,
    /// Somebody else has the `group.instance.id` and has not left (KIP-848).
    UnreleasedInstanceId,
    /// An offset was committed with an epoch that is not the member's (KIP-848).
    StaleMemberEpoch,
    /// The broker has no such assignor (KIP-848).
    UnsupportedAssignor,
    /// The request is not what one of its kind has to be.
    InvalidRequest,
    /// There is no such group.
    GroupIdNotFound,
    /// What the broker does not expect, such as Java's `IllegalStateException`.
    UnknownServerError,
}

impl Code {
    /// Kafka's name of the error, `NONE` where there is none.
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

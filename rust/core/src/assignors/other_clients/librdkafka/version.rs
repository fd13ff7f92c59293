//! The versions of librdkafka whose answers differ.

/// A version and the earlier ones, back to the version that the line above names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LibrdkafkaVersion {
    /// 1.6.0 and 1.6.1, the first ones with `cooperative-sticky`, whose leader ignores what members own.
    UpTo16,
    /// 1.7.0 to 2.1.1: without racks and generations.
    UpTo21,
    /// 2.2.0 to 2.6.0: the check of the balance loses its place among the members (librdkafka#4783).
    UpTo260,
    /// 2.6.1 and later.
    Today,
}

impl LibrdkafkaVersion {
    /// Whether members tell their racks and generations (KIP-881, KIP-792).
    pub(super) fn has_racks(self) -> bool {
        self > Self::UpTo21
    }
}

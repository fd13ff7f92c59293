//! The errors for a group on which `cooperative-sticky` dies.

use crate::Error;

/// Its name.
pub(super) const NAME: &str = "librdkafka:cooperative-sticky";

/// The leader's process dies, as it does since the first version.
pub(super) fn dies(reason: &str) -> Error {
    dies_since("1.6.0", reason)
}

/// The leader's process dies, as it does since a version.
pub(super) fn dies_since(version: &str, reason: &str) -> Error {
    let reason = format!("{reason} and dies (since {version}, and 2.16.0 still does)");
    Error::ClientFails { assignor: NAME, reason }
}

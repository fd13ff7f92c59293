//! What is said of a group in which `cooperative-sticky` dies.

use crate::Error;

/// Its name.
pub(super) const NAME: &str = "librdkafka:cooperative-sticky";

/// The leader's process dies.
pub(super) fn dies(reason: &str) -> Error {
    let reason = format!("{reason} and dies (since 1.6.0, and 2.16.0 still does)");
    Error::ClientFails { assignor: NAME, reason }
}

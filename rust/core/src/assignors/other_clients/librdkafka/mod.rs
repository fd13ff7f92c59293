//! The assignors of librdkafka.

use super::ClientAssignor;

/// Its assignors.
pub(super) const ASSIGNORS: &[ClientAssignor] = &[];

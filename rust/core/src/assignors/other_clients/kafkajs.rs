//! The assignors of kafkajs.

use super::ClientAssignor;

/// Its assignors.
pub(super) const ASSIGNORS: &[ClientAssignor] = &[];

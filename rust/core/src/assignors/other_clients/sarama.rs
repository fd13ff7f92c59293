//! The assignors of sarama.

use super::ClientAssignor;

/// Its assignors.
pub(super) const ASSIGNORS: &[ClientAssignor] = &[];

//! The assignors of franz-go.

use super::ClientAssignor;

/// Its assignors.
pub(super) const ASSIGNORS: &[ClientAssignor] = &[];

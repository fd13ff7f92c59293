//! What differs between kafka-python, its versions and aiokafka.

/// The rules of one client and version.
#[derive(Clone, Copy)]
pub(super) struct ClientRules {
    pub(super) assignor: &'static str,
    /// Whether a substitute that moved earlier moves back together with the partition, or moves on alone.
    pub(super) undoes_both: bool,
}

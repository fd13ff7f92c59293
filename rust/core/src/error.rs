//! All refusals of the core. Each is a sentence that contains the offending value.

use crate::names::{counted, listed, nearest};

/// The result of the core's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// The sentence for every malformed array.
const MALFORMED: &str = "the Arrow array is malformed, its offsets point outside of its data";

/// The facts of a refusal, next to its sentence. A program that must act on a refusal reads these and never parses the
/// sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The row in the column, counted from 0.
    pub row: Option<usize>,
    /// The setting, or the kind of name, that was refused.
    pub field: Option<&'static str>,
    /// The value that was given for it.
    pub value: Option<RefusedValue>,
    /// The sentence without the row or the field at its beginning.
    pub reason: Option<String>,
}

/// A refused value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusedValue {
    /// A whole number.
    Number(i64),
    /// A name.
    Text(String),
}

/// Why the core refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A topic has 1 to 2^31-1 partitions.
    #[error("n, the number of partitions, {}", from_one(*value))]
    Partitions {
        /// The value that was given.
        value: i64,
    },
    /// No client profile, key type, assignor or strategy has this name.
    #[error("there is no {} {}{}", field.replace('_', " "), quoted(name), known_names(field, nearest, known))]
    UnknownName {
        /// What has such names, by the argument that takes them.
        field: &'static str,
        /// The name that was given.
        name: String,
        /// The known names.
        known: Box<[&'static str]>,
        /// The names that were probably meant.
        nearest: Box<[&'static str]>,
    },
    /// No client has an assignor of this name and version.
    #[error("there is no assignor {}: {reason}{}", quoted(name), hint(nearest))]
    UnknownClientAssignor {
        /// The name that was given.
        name: String,
        /// The known assignors with their versions.
        reason: String,
        /// The names that were probably meant.
        nearest: Vec<&'static str>,
    },
    /// A setting is below its minimum.
    #[error("{field} {}", at_least(*least, *value))]
    Setting {
        /// Kafka's name of it.
        field: &'static str,
        /// The minimum.
        least: i64,
        /// The value that was given.
        value: i64,
    },
    /// A producer has no partition for a record, or its configuration is not valid.
    #[error("{0}")]
    Producer(String),
    /// Replicas cannot be placed with these brokers.
    #[error("{0}")]
    Placement(String),
    /// A recorded draw is missing, or not below its bound.
    #[error("a number from 0 to {} is needed as draw {place}", bound.saturating_sub(1))]
    Draw {
        /// The number of draws before it.
        place: usize,
        /// The bound: the draw must be below it.
        bound: usize,
    },
    /// The simulation of a group cannot continue.
    #[error("{0}")]
    Group(String),
    /// A group has more partitions than one assignment may have.
    #[error("the members subscribe to more partitions than one group may have, {most}")]
    TooManyPartitions {
        /// The most that it may have.
        most: u32,
    },
    /// A topic's id is not 22 characters of base64, as Kafka writes it.
    #[error("{value:?} is not a topic id: Kafka writes 22 letters of A-Z, a-z, 0-9, - and _")]
    TopicId {
        /// The value that was given.
        value: String,
    },
    /// Kafka's own assignor throws an exception for a group.
    #[error("{assignor} has no assignment for {reason} (Kafka's own assignor throws {exception})")]
    Unassigned {
        /// The assignor.
        assignor: &'static str,
        /// The Java exception.
        exception: &'static str,
        /// The property of the group that causes it.
        reason: &'static str,
    },
    /// Kafka's own assignor never ends on a group.
    #[error(
        "{assignor} has no assignment for this group (Kafka's own assignor moves its partitions in a circle, for ever)"
    )]
    Endless {
        /// The assignor.
        assignor: &'static str,
    },
    /// Another client's assignor throws, dies or never ends on a group.
    #[error("{assignor} has no assignment for this group: {reason}")]
    ClientFails {
        /// The assignor.
        assignor: &'static str,
        /// What the client does, and which property of the group causes it.
        reason: String,
    },
    /// The type of a column has no key bytes, or none under this key type.
    #[error("{0}")]
    KeyType(String),
    /// The type of a column has key bytes only under a key type, and none is named.
    #[error("{kind} has no key bytes of its own: name the key type that its producer writes, {choice}")]
    NoKeyType {
        /// The column's type.
        kind: String,
        /// The key types that take it.
        choice: &'static str,
    },
    /// One value has no key bytes under the key type.
    #[error("row {row}: {reason}")]
    Value {
        /// The row, counted from 0 at the start of the column.
        row: usize,
        /// What is wrong, with the value.
        reason: String,
    },
    /// A client has no partition for a key: the real client fails too.
    #[error("{reason}")]
    Key {
        /// The reason, with the key.
        reason: String,
    },
    /// An Arrow array breaks Arrow's own format.
    #[error("row {row}: {MALFORMED}")]
    Malformed {
        /// The first row found broken.
        row: usize,
    },
    /// There is not enough memory for the result.
    #[error("there is not enough memory for the results of {}", counted(rows, "row", "rows"))]
    Memory {
        /// How many rows the array has.
        rows: usize,
    },
    /// The encoded keys of one array would not fit into Arrow's 32-bit offsets.
    #[error(
        "the key bytes of {} are more than one binary array can hold (2147483647 bytes): pass the column in chunks",
        counted(rows, "row", "rows")
    )]
    TooLarge {
        /// How many rows the array has.
        rows: usize,
    },
}

/// An assignor that does not know under which name it runs; [`Error::of_assignor`] names it.
const UNNAMED: &str = "the assignor";

impl Error {
    /// Kafka's own assignor throws an exception for groups with a property.
    pub(crate) const fn throws(exception: &'static str, reason: &'static str) -> Self {
        Self::Unassigned { assignor: UNNAMED, exception, reason }
    }

    /// Kafka's own assignor never ends.
    pub(crate) const fn endless() -> Self {
        Self::Endless { assignor: UNNAMED }
    }

    /// Another client's assignor throws, dies or never ends.
    pub(crate) fn client_fails(reason: impl Into<String>) -> Self {
        Self::ClientFails { assignor: UNNAMED, reason: reason.into() }
    }

    /// The same refusal, of the assignor with this name.
    pub(crate) fn of_assignor(self, assignor: &'static str) -> Self {
        match self {
            Self::Unassigned { exception, reason, .. } => Self::Unassigned { assignor, exception, reason },
            Self::Endless { .. } => Self::Endless { assignor },
            Self::ClientFails { reason, .. } => Self::ClientFails { assignor, reason },
            other => other,
        }
    }

    /// The refusal of a name that none of these is.
    pub(crate) fn unknown(
        field: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        let known: Vec<_> = known.into_iter().collect();
        Self::UnknownName {
            field,
            name: name.to_owned(),
            nearest: nearest(name, &known).into(),
            known: known.into(),
        }
    }

    /// The same refusal with `rows` added to its row: the row of an array becomes the row of its column.
    #[must_use]
    pub fn below(self, rows: usize) -> Self {
        match self {
            Self::Value { row, reason } => Self::Value { row: row + rows, reason },
            Self::Malformed { row } => Self::Malformed { row: row + rows },
            other => other,
        }
    }

    /// The facts of this refusal, next to its sentence.
    #[must_use]
    pub fn known(&self) -> Known {
        use RefusedValue::{Number, Text};
        let (field, value) = match self {
            Self::Partitions { value } => (Some("n"), Some(Number(*value))),
            Self::NoKeyType { .. } => (Some("key_type"), None),
            Self::UnknownName { field, name, .. } => (Some(*field), Some(Text(name.clone()))),
            Self::UnknownClientAssignor { name, .. } => (Some("assignor"), Some(Text(name.clone()))),
            Self::TopicId { value } => (Some("topic_id"), Some(Text(value.clone()))),
            Self::Setting { field, value, .. } => (Some(*field), Some(Number(*value))),
            _ => (None, None),
        };
        let reason = match self {
            Self::Partitions { value } => Some(from_one(*value)),
            Self::NoKeyType { .. } => Some(self.to_string()),
            Self::Setting { least, value, .. } => Some(at_least(*least, *value)),
            Self::Malformed { .. } => Some(MALFORMED.to_owned()),
            Self::Unassigned { reason, .. } => Some((*reason).to_owned()),
            Self::Value { reason, .. }
            | Self::ClientFails { reason, .. }
            | Self::Key { reason }
            | Self::Producer(reason)
            | Self::Group(reason)
            | Self::KeyType(reason)
            | Self::Placement(reason) => Some(reason.clone()),
            _ => None,
        };
        let row = match self {
            Self::Value { row, .. } | Self::Malformed { row } => Some(*row),
            _ => None,
        };
        Known { row, field, value, reason }
    }
}

/// A name as part of a sentence; a very long one is cut.
fn quoted(name: &str) -> String {
    const LONGEST: usize = 80;
    if name.chars().count() <= LONGEST {
        return format!("{name:?}");
    }
    format!("{:?}...", name.chars().take(LONGEST).collect::<String>())
}

fn from_one(value: i64) -> String {
    format!("must be from 1 to 2147483647, not {value}")
}

fn at_least(least: i64, value: i64) -> String {
    format!("must be at least {least}, not {value}")
}

fn hint(nearest: &[&str]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; did you mean {}?", listed(nearest)) }
}

/// The known names. There are too many clients to list all of them if it is clear which one was meant.
fn known_names(field: &str, nearest: &[&str], known: &[&str]) -> String {
    let hint = hint(nearest);
    if field == "client" && !hint.is_empty() { hint } else { format!("; known: {}{hint}", known.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_refusal_knows_is_in_its_sentence() {
        let refused = Error::Value { row: 7, reason: "no number".to_owned() }.below(3);
        assert_eq!(refused.to_string(), "row 10: no number");
        assert_eq!(refused.known().row, Some(10));
        assert_eq!(refused.known().reason.as_deref(), Some("no number"));

        let unknown = Error::unknown("strategy", &"x".repeat(10_000), []);
        assert_eq!(unknown.to_string(), format!("there is no strategy {:?}...; known: ", "x".repeat(80)));

        let malformed = Error::Malformed { row: 2 };
        let reason = malformed.known().reason.unwrap_or_default();
        assert_eq!(malformed.to_string(), format!("row 2: {reason}"));

        let setting = Error::Setting { field: "linger.ms", least: 0, value: -1 };
        assert_eq!(setting.to_string(), "linger.ms must be at least 0, not -1");
        let Known { field, value, reason, row } = setting.known();
        assert_eq!((row, field, value), (None, Some("linger.ms"), Some(RefusedValue::Number(-1))));
        assert_eq!(reason.as_deref(), Some("must be at least 0, not -1"));

        assert_eq!(Error::TooManyPartitions { most: 5 }.known(), Known::default());
    }
}

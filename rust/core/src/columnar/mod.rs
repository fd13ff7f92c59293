//! The rules over Arrow columns: key bytes are read in place, and the result has 4 bytes per row, or null if there is
//! no answer.
//!
//! | a column may be | its key type by default |
//! | --- | --- |
//! | `Utf8`, `LargeUtf8`, `Utf8View` | `utf8` |
//! | `Binary`, `LargeBinary`, `BinaryView`, `FixedSizeBinary` | `bytes` |
//! | integers, floating point, `Boolean` | none: a `java:` key type or `digits` must be named |
//! | decimals, dates, timestamps | none: `decimal`, `iso-date` or `iso-timestamp` must be named |
//! | `Dictionary` of one of these | that of its values; each value is hashed once |
//! | `Null` | every row is a null key |
//!
//! [`assign`] takes a consumer group as two record batches and returns its assignment as a column of lists;
//! [`assign_groups`] takes many groups, one after the other. [`Quotas`] is the assignors' arithmetic over columns.
//! [`place`] takes records as one batch and returns a column of partitions. [`replicas`] returns the replicas of
//! partitions as a column of lists. [`KeySums`] adds up records by key and partition, batch after batch, and
//! [`rows_by_partition`] counts them. [`ownership`] returns who read what in a group's timeline as record batches.
//!
//! This is the only module that knows Arrow.

mod batching;
mod encode;
mod following;
mod group_batches;
mod groups;
mod hash;
mod key_sums;
mod keys;
mod layout;
mod members;
mod placement;
mod quotas;
mod records;
mod rows_by_partition;
mod slots;
mod texts;
mod timeline;
mod type_name;
mod workers;

pub use batching::{BatchTables, append_records};
pub use encode::encode;
pub use following::{Following, following};
pub use group_batches::{AssignedGroups, assign_groups};
pub use groups::{assign, list_column};
pub use hash::{murmur2, murmur2_by, partition_for_key, partition_for_key_by, redpanda_coordinator};
pub use key_sums::{KeySums, Measures};
pub use keys::key_column;
pub use layout::KeyColumn;
pub use placement::replicas;
pub use quotas::{Odd, QuotaArgument, QuotaRule, Quotas};
pub use records::place;
pub use rows_by_partition::rows_by_partition;
pub use timeline::ownership;
pub use workers::{Alone, Job, Workers};

//! The rules over Arrow columns: key bytes are read where they lie, 4 bytes a row come out, null where there is no answer.
//!
//! | a column may be | its key type by default |
//! | --- | --- |
//! | `Utf8`, `LargeUtf8`, `Utf8View` | `utf8` |
//! | `Binary`, `LargeBinary`, `BinaryView`, `FixedSizeBinary` | `bytes` |
//! | integers, floating point, `Boolean` | none: a `java:` key type must be named |
//! | `Dictionary` of one of these | that of its values; each value is hashed once |
//! | `Null` | every row is a null key |
//!
//! A consumer group comes as two record batches, and its assignment goes as a column of lists: [`assign`]; many groups come
//! one behind the other: [`assign_groups`]. The assignors' arithmetic takes columns, too: [`Quotas`].
//! Records come as one batch, and go as a column of partitions: [`place`]. The replicas of partitions go as a column of lists: [`replicas`].
//! Who read what in a group's timeline goes as record batches: [`ownership`].
//!
//! This is the only module that knows Arrow.

mod batching;
mod encode;
mod following;
mod groups;
mod hash;
mod keys;
mod layout;
mod many;
mod members;
mod placement;
mod quotas;
mod records;
mod timeline;
mod type_name;
mod workers;

pub use batching::{BatchTables, append_records};
pub use encode::encode;
pub use following::{Following, following};
pub use groups::{assign, list_column};
pub use hash::{murmur2, murmur2_by, partition_for_key, partition_for_key_by};
pub use keys::key_column;
pub use layout::KeyColumn;
pub use many::{Many, assign_groups};
pub use placement::replicas;
pub use quotas::{Numbers, Odd, QuotaRule, Quotas};
pub use records::place;
pub use timeline::ownership;
pub use workers::{Alone, Job, Workers};

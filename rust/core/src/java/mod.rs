//! The orders of Java's strings and collections and of Kafka's and Scala's own, and Java's random numbers, as far as
//! the answers of clients and brokers depend on them.
//!
//! | file | whose order it is |
//! | --- | --- |
//! | [`strings`] | `String`: `hashCode` and `compareTo` |
//! | [`hash_map`] | `HashMap` that only grows |
//! | `tree_bins` | the bins of a `HashMap` that have become trees |
//! | `changing_hash_map` | `HashMap` through insertions and removals |
//! | `copy_on_write_map` | Kafka's `CopyOnWriteMap` |
//! | [`hash_set`] | `HashSet` |
//! | [`topic_partition`] | maps of Kafka's `TopicPartition` |
//! | [`uuid`] | Kafka's `Uuid`, and maps and sets of it |
//! | `base_hash_table` | Kafka's `TimelineHashMap` |
//! | `scala_maps` | Scala's maps |
//! | [`random`], `splittable_random` | no order: the numbers of `java.util.Random` and of `SplittableRandom` |

pub(crate) mod base_hash_table;
pub(crate) mod changing_hash_map;
pub(crate) mod copy_on_write_map;
pub mod hash_map;
pub mod hash_set;
pub mod random;
pub(crate) mod scala_maps;
pub(crate) mod splittable_random;
pub mod strings;
pub mod topic_partition;
mod tree_bins;
pub mod uuid;

//! The extension module `partwright._core`: it calls the core's functions on Arrow arrays without copying them.

#![expect(clippy::disallowed_types, reason = "Python holds state, the core has none")]
#![expect(clippy::needless_pass_by_value, reason = "what pyo3 makes of a list is owned")]

mod arguments;
mod arrow;
mod assignment;
mod batching;
mod capsule;
mod coordinators;
mod error;
mod hashing;
mod items;
mod key_sums;
mod leaders_client;
mod lists;
mod placement;
mod play;
mod producer;
mod quotas;
mod threads;

/// Everything that Python can call. The Python wrappers have the documentation.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::assignment::{
        assign, assign_groups, assignor_named, assignors, client_assignors, topic_ids, walk_names,
        walk_partitions,
    };
    #[pymodule_export]
    use crate::batching::Batching;
    #[pymodule_export]
    use crate::coordinators::{ClassicGroup, ConsumerGroup};
    #[pymodule_export]
    use crate::hashing::{
        OneKeyFirst, Placer, check, clients, coordinator_partition, coordinator_partition_of_bytes, encode,
        encode_one, following, key_addresses, key_types, murmur2, murmur2_of_bytes, partition_for_bytes,
        partition_for_key, redpanda_coordinator, redpanda_coordinator_of_bytes, steps,
    };
    #[pymodule_export]
    use crate::key_sums::{KeySums, rows_by_partition};
    #[pymodule_export]
    use crate::lists::{name_lists, pair_lists};
    #[pymodule_export]
    use crate::placement::{admin_utils, rack_alternated, striped};
    #[pymodule_export]
    use crate::play::{Timeline, play_group};
    #[pymodule_export]
    use crate::producer::{Producer, strategies, strategy_name};
    #[pymodule_export]
    use crate::quotas::quotas;
}

//! The extension module `partwright._core`: the core's functions, reached with Arrow arrays in place.

mod arguments;
mod arrow;
mod assignment;
mod batching;
mod capsule;
mod coordinators;
mod error;
mod hashing;
mod lists;
mod placement;
mod play;
mod producer;
mod threads;

/// The list of what Python can call; the prose is in the Python wrappers.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::assignment::{
        assign, assignor_named, assignors, client_assignors, topic_ids, walk_names, walk_partitions,
    };
    #[pymodule_export]
    use crate::batching::Batching;
    #[pymodule_export]
    use crate::coordinators::{ClassicGroup, ConsumerGroup};
    #[pymodule_export]
    use crate::hashing::{
        Placer, check, clients, coordinator_partition, coordinator_partition_of_bytes, encode, encode_one,
        key_addresses, key_types, murmur2, murmur2_of_bytes, partition_for_bytes, partition_for_key, steps,
    };
    #[pymodule_export]
    use crate::lists::{name_lists, pair_lists};
    #[pymodule_export]
    use crate::placement::{admin_utils, rack_alternated, striped};
    #[pymodule_export]
    use crate::play::{Timeline, play_group};
    #[pymodule_export]
    use crate::producer::{Producer, strategies, strategy_name};
}

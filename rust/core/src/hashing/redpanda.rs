//! Where Redpanda keeps a group's offsets, which is not where Kafka does.

use twox_hash::XxHash64;

use super::Partitions;

/// The partition of `__consumer_offsets` that has this group's offsets in Redpanda, read from its source:
/// `coordinator_ntp_mapper::ntp_for`, which is XXH64 of the ID's bytes with seed 0, and then `jump_consistent_hash`.
///
/// ```
/// use partwright_core::hashing::{Partitions, redpanda_coordinator};
/// // The pair that redpanda#26865 shows; Kafka's rule says 7.
/// assert_eq!(redpanda_coordinator(b"panda3", Partitions::new(16)?), 13);
/// # Ok::<(), partwright_core::Error>(())
/// ```
pub fn redpanda_coordinator(id: &[u8], n: Partitions) -> i32 {
    jump_consistent_hash(XxHash64::oneshot(0, id), n)
}

/// "A Fast, Minimal Memory, Consistent Hash Algorithm" by Lamping and Veach, arXiv:1406.2294.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "both operands have at most 32 bits, and a jump of 2^62 or less is cut off as in C++"
)]
fn jump_consistent_hash(mut key: u64, n: Partitions) -> i32 {
    const TWO_TO_31: f64 = 2_147_483_648.0;
    let (mut bucket, mut next) = (0, 0_i64);
    while next < i64::from(n.get()) {
        bucket = next;
        key = key.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        next = ((bucket + 1) as f64 * (TWO_TO_31 / ((key >> 33) + 1) as f64)) as i64;
    }
    bucket as i32
}

#[cfg(test)]
mod tests {
    use super::{Partitions, XxHash64, redpanda_coordinator};

    const COUNTS: [i64; 6] = [1, 3, 16, 50, 100, 2_147_483_647];
    /// The hashes are those of xxhash 4.1.0 of `PyPI`, a binding of the C library (0.8.4) that Redpanda links. The
    /// partitions, by `COUNTS`, are those of `jump_consistent_hash`, compiled as C++.
    const VECTORS: &[(&str, u64, [i32; 6])] = &[
        ("", 0xef46_db37_51d8_e999, [0, 2, 7, 40, 40, 730_414_282]),
        ("a", 0xd24e_c4f1_a98c_6e5b, [0, 1, 8, 17, 17, 582_641_062]),
        ("g-1", 0x56c2_19b8_1095_8d60, [0, 1, 5, 5, 95, 463_326_895]),
        ("panda3", 0xb299_a270_1796_6358, [0, 0, 13, 13, 62, 377_464_202]),
        ("my-group", 0xafb5_3c4e_3c09_5338, [0, 2, 4, 20, 20, 1_447_695_951]),
        ("KafkaConsumerDemo", 0x0c42_570b_7692_716e, [0, 0, 14, 14, 97, 1_538_058_244]),
        ("0123456789abcdef0123456789abcde", 0x1fdf_c63f_ebac_fde7, [0, 1, 4, 4, 89, 2_122_755_291]),
        ("0123456789abcdef0123456789abcdef", 0x642a_9495_8e71_e6c5, [0, 0, 11, 11, 11, 1_187_103_878]),
        ("0123456789abcdef0123456789abcdef0", 0xe876_84f0_8d6d_0816, [0, 2, 6, 6, 6, 755_910_120]),
        ("grüppe-键-🔑", 0xc6a2_0676_dd9b_2c5e, [0, 2, 2, 24, 90, 981_022_394]),
        (
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            0x92f0_de5a_88a3_c094,
            [0, 1, 7, 19, 70, 564_863_875],
        ),
    ];

    #[test]
    fn the_hash_and_the_partition_are_those_of_the_c_library_and_of_the_source() -> crate::Result<()> {
        for (id, hash, partitions) in VECTORS {
            assert_eq!(XxHash64::oneshot(0, id.as_bytes()), *hash, "{id}");
            for (n, partition) in COUNTS.into_iter().zip(partitions) {
                assert_eq!(redpanda_coordinator(id.as_bytes(), Partitions::new(n)?), *partition, "{id} {n}");
            }
        }
        Ok(())
    }
}

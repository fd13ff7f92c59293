//! Whether a group is balanced (`isBalanced`), and how far it is from that (`getBalanceScore`), by version.

use std::collections::HashSet;

use super::LibrdkafkaVersion;
use super::balance::LibrdkafkaBalance;
use crate::assignors::client::balance::{in_32_bits, pair_differences};
use crate::index::{MemberIx, PartitionIx};
use crate::{Error, Result};

impl LibrdkafkaBalance<'_> {
    /// `isBalanced`.
    pub(super) fn is_balanced(&mut self) -> Result<bool> {
        if self.now.is_even() {
            return Ok(true);
        }
        if self.leader.version != LibrdkafkaVersion::Today {
            return self.is_balanced_as_before();
        }
        if self.is_doubled {
            let loads = self.loads();
            return Ok(!self.now.sorted.iter().any(|(count, member)| {
                count != self.now.readers.most[member] && self.gains_any(member, &loads)
            }));
        }
        Ok(self.now.is_balanced())
    }

    /// The version before 2.6.1: both loops share one counter, so after a member with n partitions to read comes the
    /// one at place n + 1; members are skipped or visited twice.
    fn is_balanced_as_before(&self) -> Result<bool> {
        let loads = self.loads();
        let members: Vec<_> = self.now.sorted.iter().collect();
        let (mut place, mut seen) = (0, HashSet::new());
        while let Some(&(count, member)) = members.get(place) {
            if !seen.insert(place) {
                let reason = "librdkafka looks at the same members again and again, for ever (librdkafka#4783: up to 2.6.0, \
                              2.6.1 does not)";
                return Err(Error::client_fails(reason));
            }
            let most = self.now.readers.most[member];
            // 1.6 compares with the number of members.
            let all = if self.leader.version == LibrdkafkaVersion::UpTo16 {
                self.leader.members.len()
            } else {
                most
            };
            if count == all {
                place += 1;
                continue;
            }
            if self.gains_any(member, &loads) {
                return Ok(false);
            }
            place = most + 1;
        }
        Ok(true)
    }

    /// By partition, how many its owner has; if it is in two lists, the first member that has it counts.
    fn loads(&self) -> Vec<usize> {
        let mut loads = vec![0; self.now.owner.len()];
        let members = self.leader.members.iter().rev().filter(|&&member| !self.now.fixed[member]);
        for list in members.map(|&member| &self.now.lists[member]) {
            for &partition in list {
                loads[partition] = list.len();
            }
        }
        loads
    }

    /// Whether a member could take a partition from one that has more.
    fn gains_any(&self, member: MemberIx, loads: &[usize]) -> bool {
        let list = &self.now.lists[member];
        let topics = self.now.readers.topics[member].iter();
        let mut partitions = topics.flat_map(|&topic| self.leader.group.row.of(topic));
        partitions.any(|partition| loads[partition] > list.len() && !list.contains(&partition))
    }

    /// `getBalanceScore`: the differences of all pairs of members, in C's 32 bits.
    fn score(&self, lists: &[Vec<PartitionIx>]) -> i32 {
        in_32_bits(pair_differences(self.counts(lists).collect()))
    }

    /// Whether the result is no better than before.
    pub(super) fn is_no_better(&self, before: &[Vec<PartitionIx>]) -> bool {
        if self.leader.version != LibrdkafkaVersion::UpTo16 {
            return self.score(&self.now.lists) >= self.score(before);
        }
        // 1.6 keeps only the difference of the last pair. Its map is walked newest member first, and its copy with the
        // earlier state in the opposite order.
        let apart = |mut counts: Vec<i64>| match (counts.pop(), counts.pop()) {
            (Some(last), Some(one)) => (last - one).abs(),
            _ => 0,
        };
        let now: Vec<_> = self.counts(&self.now.lists).collect();
        apart(now.into_iter().rev().collect()) >= apart(self.counts(before).collect())
    }

    /// How many partitions the participating members have, in their order.
    fn counts<'a>(&'a self, lists: &'a [Vec<PartitionIx>]) -> impl Iterator<Item = i64> + 'a {
        let counted = self.leader.members.iter().filter(|&&member| !self.now.fixed[member]);
        counted.filter_map(|&member| i64::try_from(lists[member].len()).ok())
    }
}

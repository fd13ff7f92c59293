//! The brokers as a producer's sender sees them: what is in flight to each, and when it is away.

use std::collections::VecDeque;

use super::latency::Latencies;
use super::report::ProduceRequest;
use super::scenario::{Broker, Scenario};

/// The brokers, by their numbers.
#[derive(Clone, Debug)]
pub(super) struct Nodes(pub(super) Vec<BrokerNode>);

/// A broker.
#[derive(Clone, Debug)]
pub(super) struct BrokerNode {
    pub(super) id: i32,
    latencies: Latencies,
    away: Vec<(i64, i64)>,
    /// Whether its rack is the producer's.
    pub(super) is_near: bool,
    /// The places of the partitions that it leads, in the order of the metadata.
    pub(super) partitions: Vec<usize>,
    /// Where draining continues.
    pub(super) drain_index: usize,
    /// Its requests in flight, which it answers in order.
    pub(super) in_flight: VecDeque<ProduceRequest>,
    /// Whether there is something to send to it, at the last check.
    pub(super) is_ready: bool,
    /// Whether it was asked and refused, at the last check.
    pub(super) is_refused: bool,
    /// When it was last ready, and last accepted something: `NodeLatencyStats`.
    pub(super) latency: Option<LatencyStats>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct LatencyStats {
    ready: i64,
    drained: i64,
}

impl Nodes {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let mut brokers: Vec<_> = scenario.brokers.iter().collect();
        brokers.sort_unstable_by_key(|broker| broker.id);
        let rack = scenario.settings.client_rack.as_str();
        let mut nodes =
            Self(brokers.into_iter().map(|broker| BrokerNode::new(broker, rack, scenario.seed)).collect());
        for (place, partition) in scenario.partitions.iter().enumerate() {
            if let Some(leader) = partition.leader.and_then(|id| nodes.place(id)) {
                nodes.0[leader].partitions.push(place);
            }
        }
        nodes
    }

    /// The place of a broker.
    pub(super) fn place(&self, id: i32) -> Option<usize> {
        self.0.binary_search_by_key(&id, |node| node.id).ok()
    }

    /// Forgets the results of the last check.
    pub(super) fn forget(&mut self) {
        for node in &mut self.0 {
            (node.is_ready, node.is_refused) = (false, false);
        }
    }

    /// When the next answer comes.
    pub(super) fn next_answer(&self) -> Option<i64> {
        self.0.iter().filter_map(|node| node.in_flight.front()).map(|request| request.done_ms).min()
    }

    /// The first request of those that are answered by now.
    pub(super) fn answered(&mut self, now: i64) -> Option<ProduceRequest> {
        let due =
            |node: &&mut BrokerNode| node.in_flight.front().is_some_and(|request| request.done_ms <= now);
        let nodes = self.0.iter_mut().filter(due);
        nodes.min_by_key(|node| node.in_flight.front().map(|request| request.id))?.in_flight.pop_front()
    }

    /// The ends of the times in which brokers are away, ascending.
    pub(super) fn returns(&self) -> Vec<i64> {
        let mut ends: Vec<_> = self.0.iter().flat_map(|node| &node.away).map(|&(_, to)| to).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }
}

impl BrokerNode {
    fn new(broker: &Broker, rack: &str, seed: i64) -> Self {
        Self {
            id: broker.id,
            latencies: Latencies::new(broker.latency.clone(), seed, broker.id),
            away: broker.away.clone(),
            is_near: broker.rack.as_deref() == Some(rack),
            partitions: Vec::new(),
            drain_index: 0,
            in_flight: VecDeque::new(),
            is_ready: false,
            is_refused: false,
            latency: None,
        }
    }

    /// When a request sent now is answered: not before those in flight.
    pub(super) fn answers(&mut self, now: i64) -> i64 {
        let last = self.in_flight.back().map_or(now, |request| request.done_ms);
        now.saturating_add(self.latencies.next()).max(last)
    }

    /// Whether it accepts a request now: `NetworkClient.ready`.
    pub(super) fn accepts(&self, now: i64, most: usize) -> bool {
        self.in_flight.len() < most && !self.away.iter().any(|&(from, to)| from <= now && now < to)
    }

    /// Notes whether it accepted what there was to send: `updateNodeLatencyStats`.
    pub(super) fn was_ready(&mut self, now: i64, accepted: bool) {
        let latency = self.latency.get_or_insert(LatencyStats { ready: now, drained: now });
        if accepted {
            latency.drained = now;
        }
        latency.ready = now;
    }

    /// Whether it has refused for longer than that.
    pub(super) fn is_unavailable(&self, timeout: i64) -> bool {
        self.latency.is_some_and(|latency| latency.ready.saturating_sub(latency.drained) > timeout)
    }
}

"""A cluster as a producer's metadata shows it: brokers, topics, partitions and their leaders.

`placement` puts replicas on brokers, as Kafka does or by your own list, and shows what a lost broker takes away;
`reassign` plans how replicas follow when brokers join or leave;
`storage` has the names of a log's folders and files; `advise` calculates how many partitions a topic needs.
"""

from __future__ import annotations

from partwright.cluster import placement, storage
from partwright.cluster.brokers import Broker, Partition
from partwright.cluster.metadata import Cluster
from partwright.cluster.reassignment import Capacity, Reassignment, reassign
from partwright.cluster.sizing.advice import BrokerFleet, TopicClients, advise

__all__ = [
    "Broker",
    "BrokerFleet",
    "Capacity",
    "Cluster",
    "Partition",
    "Reassignment",
    "TopicClients",
    "advise",
    "placement",
    "reassign",
    "storage",
]

"""A cluster as a producer's metadata shows it: brokers, topics, partitions and their leaders.

`placement` puts replicas on brokers, as Kafka does and as one's own list says, and tells what is lost with a broker;
`storage` has the names of a log's folders and files; `advise` says how many partitions a topic needs.
"""

from __future__ import annotations

from partwright.cluster import placement, storage
from partwright.cluster.brokers import Broker, Partition
from partwright.cluster.metadata import Cluster
from partwright.cluster.sizing.advice import advise

__all__ = ["Broker", "Cluster", "Partition", "advise", "placement", "storage"]

"""A cluster as a producer's metadata shows it: brokers, topics, partitions and their leaders."""

from __future__ import annotations

from partwright.cluster import placement, storage
from partwright.cluster.advice import advise
from partwright.cluster.parts import Broker, Partition
from partwright.cluster.view import Cluster

__all__ = ["Broker", "Cluster", "Partition", "advise", "placement", "storage"]

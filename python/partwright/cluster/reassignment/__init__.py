"""Move partitions to other brokers: a plan with the fewest moves, its batches, its costs and its benefit."""

from __future__ import annotations

from partwright.cluster.reassignment.answer import BrokerChange, MoveBounds, Reassignment
from partwright.cluster.reassignment.broker_losses import ClusterLoss, losses
from partwright.cluster.reassignment.moves import Batch, Move
from partwright.cluster.reassignment.plan import Capacity, reassign

__all__ = [
    "Batch",
    "BrokerChange",
    "Capacity",
    "ClusterLoss",
    "Move",
    "MoveBounds",
    "Reassignment",
    "losses",
    "reassign",
]

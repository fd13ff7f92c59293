"""Replicas on brokers: the textbook rule, Kafka's two placers and your own list.

`modulo` is the textbook rule, `admin_utils` and `striped` are Kafka's, with ZooKeeper and with
KRaft, and `explicit` is the list for `kafka-topics.sh --replica-assignment`. All return a `Placement`, which knows who
leads what, how loaded each broker is, and what is lost when a broker or a rack goes.
"""

from __future__ import annotations

from partwright.cluster.placement.manual import explicit
from partwright.cluster.placement.placers import admin_utils, modulo, rack_alternated, striped
from partwright.cluster.placement.replicas import BrokerLoad, Loss, Placement

__all__ = [
    "BrokerLoad",
    "Loss",
    "Placement",
    "admin_utils",
    "explicit",
    "modulo",
    "rack_alternated",
    "striped",
]

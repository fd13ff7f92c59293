"""Replicas on brokers: the textbook rule, Kafka's two placers and your own list.

`modulo` is the textbook rule, `admin_utils` and `striped` are Kafka's, with ZooKeeper and with
KRaft, and `explicit` is the list for `kafka-topics.sh --replica-assignment`. All return a `Placement`, which knows who
leads what, how loaded each broker is, and what is lost when a broker or a rack goes.
"""

from __future__ import annotations

from partwright.cluster.placement.kraft import striped
from partwright.cluster.placement.losses import Loss
from partwright.cluster.placement.manual import explicit
from partwright.cluster.placement.remainders import modulo
from partwright.cluster.placement.replicas import BrokerLoad, Placement
from partwright.cluster.placement.zookeeper import admin_utils, rack_alternated

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

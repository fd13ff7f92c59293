"""The clusters for which `kafka-reassign-partitions.sh --generate` plans, and the plans, kept as their draws.

Where AdminUtils begins for each topic, and how far it shifts, is read from each topic's replicas: with these two
numbers `partwright.cluster.placement.admin_utils` gives the same replicas, which the digest of the whole plan proves.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from partwright.cluster import Broker, placement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["CLUSTERS", "digest", "kept", "named", "questions"]

TOPICS, PARTITIONS, REPLICAS = 1000, 10, 3
CLUSTERS = [(racks, *ends) for racks in (0, 3, 10) for ends in ((90, 100), (100, 90), (100, 100))]
"""Racks, brokers today, and brokers after the plan."""


def named(racks: int, today: int, after: int) -> str:
    """The name of a cluster."""
    return f"{today} to {after}, {racks} racks"


def questions(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """The program's question about each cluster."""
    del seed, count
    for number, (racks, today, after) in enumerate(CLUSTERS):
        yield {
            "cluster": named(racks, today, after),
            "brokers": [[id_, f"r{id_ % racks}" if racks else None] for id_ in range(after)],
            "topics": {f"t{topic:04}": PARTITIONS for topic in range(TOPICS)},
            "replication_factor": REPLICAS,
            "seed": number,
        }


def digest(topics: Mapping[str, Sequence[Sequence[int]]]) -> str:
    """The sha256 of a whole plan."""
    told = {name: [list(each) for each in topics[name]] for name in sorted(topics)}
    return hashlib.sha256(json.dumps(told, separators=(",", ":")).encode()).hexdigest()


def kept(question: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """A plan as its golden file has it: for each topic where it begins and how far it shifts, and the digest of all."""
    brokers = [Broker(id_, rack=rack) for id_, rack in question["brokers"]]
    has_racks = brokers[0].rack is not None
    order = placement.rack_alternated(brokers) if has_racks else tuple(each.id for each in brokers)
    draws = []
    for name in sorted(answer["topics"]):
        rows = tuple(tuple(each) for each in answer["topics"][name])
        start = order.index(rows[0][0])
        shift = next(
            each
            for each in range(len(order))
            if placement.admin_utils(brokers, len(rows), len(rows[0]), start_index=start, shift=each).replicas
            == rows
        )
        draws.append([start, shift])
    return {
        "question": {"cluster": question["cluster"]},
        "answer": {"draws": draws, "sha256": digest(answer["topics"])},
    }

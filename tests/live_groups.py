"""Waits for a group of a live Kafka."""

from __future__ import annotations

import time
from typing import Any

import partwright as pw
from partwright.kafka.groups import consumer_group

PATIENCE_S = 90


def settled(servers: str, group: str, members: int, *, all_read: bool = False) -> dict[str, Any]:
    """The group, once so many have joined it, and, if asked for, all partitions are read."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            found = consumer_group(servers, group)
        except pw.BrokerError as error:
            found = {"members": [], "error": error}
        if len(found["members"]) == members:
            read = sum(len(those) for each in found["members"] for those in each["owned"].values())
            if not all_read or read == sum(found["topics"].values()):
                return found
        assert time.monotonic() < until, found
        time.sleep(0.3)

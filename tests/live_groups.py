"""Groups of a live Kafka: waits for one, and plays a script's members in real time."""

from __future__ import annotations

import json
import subprocess
import time
from typing import Any
from uuid import uuid4

import partwright as pw
from partwright.kafka import topics
from partwright.kafka.groups import any_group

PATIENCE_S = 90
START_S = 60
"""How much longer than its script a play may take: JVMs start."""


def settled(servers: str, group: str, members: int, *, all_read: bool = False) -> dict[str, Any]:
    """The group, once so many have joined it, and, if asked for, all partitions are read."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            found = any_group(servers, group)
        except pw.BrokerError as error:
            found = {"members": [], "error": error}
        if len(found["members"]) == members:
            read = sum(len(those) for each in found["members"] for those in each["owned"].values())
            if not all_read or read == sum(found["topics"].values()):
                return found
        assert time.monotonic() < until, found
        time.sleep(0.3)


def happened_live(servers: str, timeline: list[str], script: dict[str, Any]) -> list[dict[str, Any]]:
    """The reports of the real members in one play of `GroupTimeline`; the topics and the group are new."""
    for topic, partitions in script["topics"].items():
        topics.create_topic(servers, topic, partitions)
    config = {**script["config"], "bootstrap.servers": servers, "group.id": f"group-{uuid4().hex[:8]}"}
    told = json.dumps({**script, "config": config})
    patience_s = script["end_ms"] / 1000 + START_S
    done = subprocess.run(
        timeline, input=told, capture_output=True, text=True, check=False, timeout=patience_s
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]

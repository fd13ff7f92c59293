"""Reassign a live Kafka: read the cluster and its sizes, and give Kafka's own tool one batch after the other.

No Python client can send the request that reassigns partitions, so `ReassignPartitionsCommand` of Kafka's tools does.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partwright._check import counted
from partwright.cluster.reassignment import Batch
from partwright.cluster.reassignment.saved import refuse_changed
from partwright.errors import BrokerError
from partwright.kafka.client import TIMEOUT_S, admin_client, confluent_kafka
from partwright.kafka.jars import jars
from partwright.kafka.java import java_command, properties
from partwright.kafka.metadata import live_cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partwright.cluster import Cluster
    from partwright.cluster.reassignment import Move
    from partwright.kafka.connection import KafkaConfig

__all__ = ["execute", "live", "live_sizes"]

_REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
_LOG_DIRS = "org.apache.kafka.tools.LogDirsCommand"
# The log of KRaft's controllers is not a topic that can move.
_NEVER = {"__cluster_metadata"}
_LOOK_S = 0.5
_TOOL_S = 300
_ELECTION_NOT_NEEDED = 84


def live(config: KafkaConfig) -> Cluster:
    """A live cluster with all its topics, including Kafka's internal ones.

    Raises:
        BrokerError: No Kafka answers, it refuses, or has no topic.
        MissingExtraError: confluent-kafka is missing.
    """
    with admin_client(config, TIMEOUT_S) as admin:
        names = sorted(set(admin.metadata().topics) - _NEVER)
        if not names:
            raise BrokerError(f"Kafka {admin.where} shows this user no topic: there is nothing to reassign")
    return live_cluster(None, names, timeout=TIMEOUT_S, kafka_config=config)


def live_sizes(config: KafkaConfig) -> dict[str, Any]:
    """The bytes of all replicas, as Kafka's own `LogDirsCommand` prints them, in the form for `reassign(sizes=...)`.

    Raises:
        BrokerError: It fails.
        MissingExtraError: There is no Java.
    """
    said = _tool(config, _LOG_DIRS, ["--describe"])
    told = next((line for line in said.splitlines() if line.startswith("{")), None)
    if told is None:
        raise BrokerError(f"Kafka's tool reports no sizes: {_last(said)}")
    found: dict[str, Any] = json.loads(told)
    return found


def execute(
    config: KafkaConfig,
    before: Cluster,
    batches: Sequence[Batch],
    *,
    throttle: int | None,
    timeout: float,
    told: Callable[[int, int], None],
) -> int:
    """Gives Kafka the batches of a plan one after the other, and then elects the preferred leaders.

    Args:
        config: The client's configuration.
        before: The cluster for which the plan was made.
        batches: The plan.
        throttle: The most bytes a second that each broker copies; None for no limit.
        timeout: Seconds for each batch.
        told: Called with the number of partitions that are done and the number in all.

    Returns:
        The number of partitions that the election gave their preferred leader.

    Raises:
        PartwrightError: The cluster has changed since the plan was made.
        BrokerError: Kafka refuses, or a batch takes longer than the timeout; in this case Kafka continues with it.
        MissingExtraError: There is no Java, or confluent-kafka is missing.
    """
    total = sum(len(each.moves) for each in batches)
    done = 0
    for batch in batches:
        now = live(config)
        refuse_changed(before, batch.moves, now)
        waiting = _waiting(batch.moves, now)
        if waiting:
            # The partitions of an execution that was interrupted.
            is_moving = any(each.is_moving(_replicas(now, each)) for each in waiting)
            if not is_moving:
                rate = [] if throttle is None else ["--throttle", str(throttle)]
                _reassigning(config, batch, ["--execute", *rate])
            _wait(config, batch, timeout, partial(_told_left, told, done + len(batch.moves), total))
        done += len(batch.moves)
        told(done, total)
    moves = [each for batch in batches for each in batch.moves]
    if not moves:
        return 0
    # This removes the throttles, also those of an interrupted execution.
    _reassigning(config, Batch(tuple(moves)), ["--verify"])
    return _elect(config, moves)


def _told_left(told: Callable[[int, int], None], end: int, total: int, left: int) -> None:
    told(end - left, total)


def _replicas(cluster: Cluster, move: Move) -> tuple[int, ...]:
    return next(each.replicas for each in cluster.topics[move.topic] if each.id == move.partition)


def _wait(config: KafkaConfig, batch: Batch, timeout: float, told: Callable[[int], None]) -> None:
    """Waits until a batch is done; an interrupted execution may have given it to Kafka."""
    until = time.monotonic() + timeout
    while left := len(_waiting(batch.moves, live(config))):
        told(left)
        if time.monotonic() > until:
            raise BrokerError(
                f"{counted(left, 'partition is', 'partitions are')} not yet where the plan has them after "
                f"{timeout:g} s: Kafka goes on with them "
                "at its throttle; run it again later, with --plan, or give a longer --timeout"
            )
        time.sleep(_LOOK_S)


def _reassigning(config: KafkaConfig, batch: Batch, words: Sequence[str]) -> None:
    """Runs Kafka's own tool to execute or verify a batch."""
    with tempfile.TemporaryDirectory(prefix="partwright-reassign-") as folder:
        file = Path(folder, "batch.json")
        file.write_text(batch.json(), encoding="utf-8")
        _tool(config, _REASSIGN, ["--reassignment-json-file", str(file), *words])


def _waiting(moves: Sequence[Move], cluster: Cluster) -> list[Move]:
    """The partitions that are not yet in their new place with all replicas in sync."""
    now = {(name, each.id): each for name, those in cluster.topics.items() for each in those}
    found = []
    for each in moves:
        own = now.get((each.topic, each.partition))
        if own is None or own.replicas != each.after or not set(each.after) <= set(own.in_sync_replicas):
            found.append(each)
    return found


def _elect(config: KafkaConfig, moves: Sequence[Move]) -> int:
    """Makes the preferred leaders of some partitions lead, and returns how many did not lead before."""
    kafka = confluent_kafka()
    wanted = [kafka.TopicPartition(each.topic, each.partition) for each in moves]
    with admin_client(config, TIMEOUT_S) as admin:
        # confluent-kafka 2.15 takes no request_timeout here, though it documents one: it raises SystemError.
        asked = admin.client.elect_leaders(kafka.ElectionType.PREFERRED, wanted)
        answers = admin.answer(asked, "ALTER")
    errors = [error for error in answers.values() if error is not None]
    bad = next((error for error in errors if error.code() != _ELECTION_NOT_NEEDED), None)
    if bad is not None:
        raise BrokerError(
            f"Kafka did not elect the preferred leaders of {counted(len(errors), 'partition')}: {bad.str()}"
        )
    return len(wanted) - len(errors)


def _tool(config: KafkaConfig, name: str, words: Sequence[str]) -> str:
    """The output of one of Kafka's tools.

    Raises:
        BrokerError: It fails; the message is its last line.
    """
    path = os.pathsep.join(str(each) for each in [*jars("tools"), *jars("broker")])
    with tempfile.TemporaryDirectory(prefix="partwright-tool-") as folder:
        settings = Path(folder, "client.properties")
        # The file may contain secrets; only its owner can read the folder.
        settings.write_text(properties(config.java()), encoding="ascii")
        reached = ["--bootstrap-server", config.required_servers(), "--command-config", str(settings)]
        command = [str(java_command()), "-cp", path, name, *reached, *words]
        try:
            ran = subprocess.run(  # noqa: S603 - a list, no shell: the Java that was found
                command, capture_output=True, text=True, errors="replace", timeout=_TOOL_S, check=False
            )
        except subprocess.TimeoutExpired:
            raise BrokerError(
                f"Kafka's tool {name} does not end within {_TOOL_S} s: is the Kafka at {config.servers} well?"
            ) from None
    said = config.redacted(ran.stdout + ran.stderr)
    if ran.returncode:
        raise BrokerError(f"Kafka's tool {name.rpartition('.')[2]} refuses: {_last(said)}")
    return said


def _last(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith("\tat ")]
    return lines[0] if lines else "it says nothing"

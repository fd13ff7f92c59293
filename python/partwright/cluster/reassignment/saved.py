"""A reassignment as a folder: files for Kafka's tools, and the cluster that it was planned for."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partwright._check import Json, counted, listed, number, object_fields, read_json, shown
from partwright.answer import Answer
from partwright.cluster.metadata import Cluster
from partwright.cluster.reassignment.moves import Batch, Move
from partwright.errors import PartwrightError
from partwright.folders import write_file

if TYPE_CHECKING:
    from partwright.cluster.brokers import Partition
    from partwright.cluster.reassignment.answer import Reassignment

_CLUSTER, _PLAN, _ROLLBACK, _ELECTIONS, _BATCHES = (
    "cluster.json",
    "plan.json",
    "rollback.json",
    "elections.json",
    "batches",
)
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Saved:
    """A plan that was read from its folder.

    Attributes:
        before: The cluster that it was planned for.
        batches: Its batches, in order.
        partitions_to_elect: Topic and number of the partitions that get their preferred leader at the end.
    """

    before: Cluster
    batches: tuple[Batch, ...]
    partitions_to_elect: tuple[tuple[str, int], ...]

    @property
    def moves(self) -> tuple[Move, ...]:
        """All partitions that move."""
        return tuple(each for batch in self.batches for each in batch.moves)


@dataclass(frozen=True)
class CheckedPlan(Answer):
    """A saved plan that fits the cluster as it is.

    Attributes:
        folder: Where it is.
        saved: What it says.
        is_executed: Whether it has been executed.
    """

    DOCUMENT = "reassign"

    folder: str
    saved: Saved
    is_executed: bool

    def to_dict(self) -> Json:
        """The object of `--json`."""
        return {
            "plan": self.folder,
            "partitions": len(self.saved.moves),
            "replicas_moved": sum(each.replicas for each in self.saved.batches),
            "batches": len(self.saved.batches),
            "leaders_elected": len(self.saved.partitions_to_elect),
            "executed": self.is_executed,
        }


def save(plan: Reassignment, folder: str | os.PathLike[str]) -> Path:
    """Write a plan into a new or empty folder.

    It gets `plan.json` and `rollback.json` for `kafka-reassign-partitions.sh`, `batches/` with a file for each batch,
    `elections.json` for `kafka-leader-election.sh`, and `cluster.json`, with which `changed` compares.

    Raises:
        PartwrightError: The folder has something in it, or cannot be written.
    """
    path = Path(folder)
    try:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise PartwrightError(
                f"{str(path)!r} is there and not empty: name a new folder for the plan", path=str(path)
            )
        (path / _BATCHES).mkdir(parents=True, exist_ok=True)
        files = {_PLAN: plan.json(), _ROLLBACK: plan.rollback(), _ELECTIONS: plan.elections()}
        files |= {f"{_BATCHES}/{number:04}.json": batch.json() for number, batch in enumerate(plan.parts, 1)}
        # Written last: without it the folder is not a plan.
        files[_CLUSTER] = json.dumps(plan.before.to_dict())
        for name, text in files.items():
            write_file(path / name, f"{text}\n".encode())
    except OSError as error:
        raise PartwrightError(
            f"the plan cannot be written to {str(path)!r} ({error.strerror})", path=str(path)
        ) from None
    return path


def load(folder: str | os.PathLike[str]) -> Saved:
    """Read a plan that `save` wrote.

    Raises:
        PartwrightError: It is not such a folder, one of its files is damaged, or it plans something that the cluster
            does not have.
    """
    path = Path(folder)
    if not (path / _CLUSTER).is_file():
        raise PartwrightError(
            f"{str(path)!r} is not a plan: name a folder that --out has written, with its {_CLUSTER}",
            path=str(path),
        )
    before = Cluster.from_dict(_read(path / _CLUSTER))
    names = sorted((path / _BATCHES).glob("*.json"))
    today = {(name, each.id): each for name, those in before.topics.items() for each in those}
    batches = []
    for name in names:
        moves = []
        for topic, partition, each in _partitions(name, ("version", "partitions"), today):
            own = today[topic, partition]
            moves.append(Move(topic, partition, own.replicas, _replicas(each, name), own.leader))
        batches.append(Batch(tuple(moves)))
    elections = _partitions(path / _ELECTIONS, ("partitions",), today)
    return Saved(before, tuple(batches), tuple((topic, partition) for topic, partition, _ in elections))


def changed(before: Cluster, moves: Iterable[Move], cluster: Cluster) -> tuple[str, ...]:
    """What has changed in a cluster since a plan was made for it, as sentences; empty if it can be executed.

    A partition that is already where the plan puts it, or on its way, does not count: a partly executed plan continues.

    Args:
        before: The cluster that was planned for.
        moves: The planned moves.
        cluster: The cluster now.

    Examples:
        >>> from partwright.cluster import reassign
        >>> from partwright.cluster.placement import explicit
        >>> plan = reassign(explicit("0,0").to_cluster("t"), add=[1])
        >>> changed(plan.before, plan.moves, explicit("0,1,0").to_cluster("t"))
        ('topic t has 3 partitions, and had 2',)
    """
    live = {broker.id for broker in cluster.brokers}
    now = {(name, each.id): each for name, those in cluster.topics.items() for each in those}
    moves = list(moves)
    sentences = dict.fromkeys(off_plan(moves, now))
    for each in moves:
        topic = each.topic
        if topic not in cluster.topics:
            continue
        counts = len(cluster.topics[topic]), len(before.topics[topic])
        if counts[0] != counts[1]:
            sentences[f"topic {topic} has {counted(counts[0], 'partition')}, and had {counts[1]}"] = None
        own = now.get((topic, each.partition))
        if own is not None and own.replicas != each.after and own.leader is None:
            sentences[f"partition {topic}-{each.partition} has no leader"] = None
        for broker in each.after:
            if broker not in live:
                sentences[f"broker {broker} is not in the cluster"] = None
    return tuple(sentences)


def off_plan(moves: Iterable[Move], now: Mapping[tuple[str, int], Partition]) -> list[str]:
    """What is gone, or neither in its old place nor in its new one nor between them, as sentences.

    Args:
        moves: The planned moves.
        now: The partitions that there are, by topic and number.
    """
    topics = {topic for topic, _ in now}
    sentences: dict[str, None] = {}
    for each in moves:
        own = now.get((each.topic, each.partition))
        if each.topic not in topics:
            sentences[f"topic {each.topic} is gone"] = None
        elif own is None:
            sentences[f"partition {each.topic}-{each.partition} is gone"] = None
        elif own.replicas not in {each.before, each.after} and not each.is_moving(own.replicas):
            sentences[
                f"partition {each.topic}-{each.partition} is on the brokers {_ids(own.replicas)}, and was on "
                f"{_ids(each.before)}"
            ] = None
    return list(sentences)


def refuse_changed(before: Cluster, moves: Iterable[Move], cluster: Cluster) -> None:
    """Refuse a plan for a cluster that has changed.

    Raises:
        PartwrightError: The cluster has changed; the sentence says how.
    """
    changes = changed(before, moves, cluster)
    if changes:
        more = f"; and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
        raise PartwrightError(
            f"the cluster has changed since the plan was made: {'; '.join(changes[:_SHOWN])}{more}: make a new plan",
            value=changes,
        )


def _read(file: Path) -> Any:
    try:
        return read_json(file.read_text(encoding="utf-8"))
    except PartwrightError as error:
        raise error.within(str(file)) from None
    except (OSError, ValueError, RecursionError) as error:
        raise PartwrightError(
            f"{str(file)!r} cannot be read ({error}): make a new plan", path=str(file)
        ) from None


def _partitions(
    file: Path, fields: Sequence[str], today: Mapping[tuple[str, int], Partition]
) -> Iterable[tuple[str, int, Json]]:
    """Topic, number and fields of each partition that a file of Kafka's tools lists."""
    document = _read(file)
    try:
        plan: Json = object_fields(document, "a plan", fields, "partitions")
        for each in listed(plan["partitions"], "partitions"):
            own = object_fields(each, "a partition", ("topic", "partition", "replicas", "log_dirs"), "topic")
            topic, partition = str(own["topic"]), number(own.get("partition"), "a partition")
            if (topic, partition) not in today:
                raise PartwrightError(  # noqa: TRY301 - its sentence gets the file's name
                    f"there is {topic}-{partition}, which {_CLUSTER} does not have: make a new plan"
                )
            yield topic, partition, own
    except PartwrightError as error:
        raise error.within(str(file)) from None


def _replicas(partition: Json, file: Path) -> tuple[int, ...]:
    try:
        ids = tuple(number(each, "a broker's id") for each in listed(partition.get("replicas"), "replicas"))
    except PartwrightError as error:
        raise error.within(str(file)) from None
    if not ids:
        topic = shown(partition["topic"])
        raise PartwrightError(f"{file}: topic {topic}: a partition has no replicas: name at least one broker")
    return ids


def _ids(brokers: Sequence[int]) -> str:
    return ", ".join(map(str, brokers))

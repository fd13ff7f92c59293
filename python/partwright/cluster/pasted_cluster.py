"""A cluster as a tool prints it: Kafka's own, `kcat` and `rpk`.

Read are `kafka-topics.sh --describe` (0.8 to 4.4), `kafka-log-dirs.sh --describe`, the JSON of
`kafka-reassign-partitions.sh`, `kcat -L` and `-L -J` (1.2 to 1.7), and `rpk cluster info -d` and `--format json`
(Redpanda 21 to 25).

>>> text = "Topic: t	Partition: 0	Leader: 1	Replicas: 1,2	Isr: 1,2"
>>> read_pasted_cluster(text)
PastedCluster(cluster=Cluster(2 brokers; t: 1 partition), notes=('read as kafka-topics.sh --describe: 1 partition of \
1 topic on 2 brokers, without racks',))
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from partwright._check import Json, counted, listed, number, shown
from partwright.cluster.brokers import Broker, Partition
from partwright.cluster.metadata import Cluster
from partwright.errors import PartwrightError

_LED_BY_FIRST = "leaders are not in it: the first replica of each partition counts as its leader"
_IN_ORDER = ", and replicas stand in the order of their brokers' ids"
_NOISE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|^(?:> ?)+|^\ufeff")
_NO_LEADER = {"none", "-1", "N/A", ""}


class PastedCluster(NamedTuple):
    """A cluster from a tool's text.

    Attributes:
        cluster: It, strict unless the text has a part of a topic.
        notes: What the text was taken for, and what was assumed because it does not say it, a sentence each.
    """

    cluster: Cluster
    notes: tuple[str, ...] = ()


class _PlacedPartition(NamedTuple):
    """A partition's place: its topic and number, leader, replicas, and replicas in sync."""

    topic: str
    partition: int
    leader: int | None
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...] = ()


class _Lines(NamedTuple):
    """How a tool prints partitions: a line for each, perhaps below its topic, and perhaps its brokers before.

    Attributes:
        tool: The command.
        partition: Its groups are `p`, `leader`, `replicas`, perhaps `topic` and `isr`.
        begins: What a partition's line begins with, whether it is whole or not.
        topic: The line of a topic, with its name and number of partitions.
        broker: The line of a broker, with its id and perhaps its rack.
    """

    tool: str
    partition: re.Pattern[str]
    begins: re.Pattern[str]
    topic: re.Pattern[str]
    broker: re.Pattern[str]


_IDS = r"(?P<replicas>[\d,]+)"
_OF_TOPICS = (
    rf"\s*Topic: ?(?P<topic>\S+)\s+Partition: ?(?P<p>\d+)\s+Leader: ?(?P<leader>\S+)\s+Replicas: ?{_IDS}"
)
_OF_KCAT = rf"\s*partition (?P<p>\d+), leader (?P<leader>-?\d+), replicas: {_IDS}"
_OF_RPK = r"\s*(?P<p>\d+)\s+(?P<leader>-?\d+)\s+(?:-?\d+\s+)?\[(?P<replicas>[\d ]+)\].*(?P<isr>)"
# The tool; a partition's line, and its beginning; a topic's line; a broker's.
_TOOLS = [
    _Lines(tool, *map(re.compile, patterns))
    for tool, *patterns in (
        (
            "kafka-topics.sh --describe",
            _OF_TOPICS + r"\s+Isr: ?(?P<isr>[\d,]*).*",
            r"\s*Topic: ?\S+\s+Partition:",
            r"\s*Topic: ?(\S+)\s.*PartitionCount: ?(\d+).*",
            r"(?!)",
        ),
        (
            "kcat -L",
            _OF_KCAT + r", isrs: ?(?P<isr>[\d,]*).*",
            r"\s*partition \d",
            r'\s*topic "(.+)" with (\d+) partitions:.*',
            r"\s*broker (\d+) at \S+()(?: \(controller\))?",
        ),
        (
            "rpk cluster info -d",
            _OF_RPK,
            r"\s*\d+\s+-?\d+\s",
            r"(\S+?)(?: \(internal\))?, (\d+) partitions.*",
            r"(\d+)\*?\s+\S*[a-zA-Z.:]\S*\s+\d+\s*(\S*)",
        ),
    )
]


def is_tools_text(text: str) -> bool:
    r"""Whether a text that is not JSON alone has a tool's lines of partitions, or JSON after words.

    Examples:
        >>> is_tools_text("no such thing"), is_tools_text('Current partition replica assignment\n{"version":1}')
        (False, True)
    """
    lines = [_NOISE.sub("", line).rstrip() for line in text.splitlines()]
    if any(tool.partition.fullmatch(line) for tool in _TOOLS for line in lines):
        return True
    return not text.lstrip().startswith("{") and any(line.startswith("{") for line in lines)


def read_pasted_cluster(text: str | Mapping[str, Any]) -> PastedCluster:
    """Read a cluster from what a tool printed, with prompts and words around it, or from its JSON.

    Raises:
        PartwrightError: It is of no such tool, says too little, is cut, or has an invalid value.
    """
    if not isinstance(text, str):
        return _of_document(text)
    lines = [_NOISE.sub("", line).rstrip() for line in text.splitlines()]
    start = next((at for at, line in enumerate(lines) if line.lstrip().startswith("{")), None)
    if start is not None:
        try:
            value, _ = json.JSONDecoder().raw_decode("\n".join(lines[start:]).lstrip())
        except (ValueError, RecursionError) as error:
            raise PartwrightError(f"line {start + 1}: this is not JSON: {error}") from None
        return _of_document(value)
    tools = [tool for tool in _TOOLS if any(map(tool.partition.fullmatch, lines))]
    if len(tools) > 1:
        raise PartwrightError(f"this is of {tools[0].tool} and of {tools[1].tool}: give one of them")
    if not tools:
        if any(line.split() == ["NAME", "PARTITIONS", "REPLICAS"] for line in lines):
            raise PartwrightError("rpk cluster info names no replicas: take rpk cluster info -d")
        raise PartwrightError(
            "this is neither JSON nor the text of kafka-topics.sh --describe, kafka-log-dirs.sh --describe, kcat -L or "
            "rpk cluster info -d"
        )
    return _of_lines(lines, tools[0])


def _of_lines(lines: list[str], tool: _Lines) -> PastedCluster:
    placed: list[_PlacedPartition] = []
    counts: dict[str, tuple[int, int]] = {}
    racks: dict[int, str] = {}
    topic = ""
    for at, line in enumerate(lines, 1):
        if one := tool.partition.fullmatch(line):
            topic = one.groupdict().get("topic") or topic
            leader = (
                None if one["leader"] in _NO_LEADER else number(int(one["leader"]), f"line {at}: the leader")
            )
            ids, in_sync = (tuple(map(int, re.findall(r"\d+", one[name]))) for name in ("replicas", "isr"))
            placed.append(_PlacedPartition(topic, int(one["p"]), leader, ids, in_sync))
        elif one := tool.topic.fullmatch(line):
            topic = one[1]
            counts[topic] = int(one[2]), at
        elif one := tool.broker.fullmatch(line):
            racks[int(one[1])] = one[2]
        elif tool.begins.match(line):
            raise PartwrightError(f"line {at}: {shown(line.strip())} is cut: paste whole lines")
    for name, (count, at) in counts.items():
        seen = sum(each.topic == name for each in placed)
        if seen != count:
            raise PartwrightError(
                f"line {at}: topic {shown(name)} has {counted(count, 'partition')}, and {seen} of them are listed: "
                "paste all"
            )
    if tool is not _TOOLS[-1]:
        return _pasted(tool.tool, placed, racks)
    # rpk sorts replicas.
    leading = [each._replace(replicas=_leader_first(each)) for each in placed]
    return _pasted(
        tool.tool, leading, racks, "rpk sorts replicas: today's leader counts as the preferred one"
    )


def _leader_first(placed: _PlacedPartition) -> tuple[int, ...]:
    return tuple(sorted(placed.replicas, key=lambda each: each != placed.leader))


def _of_document(value: object) -> PastedCluster:
    """A cluster from JSON: our own, or that of one of the tools."""
    fields = value if isinstance(value, Mapping) else {}
    topics, brokers = fields.get("topics"), fields.get("brokers")
    hosts = [dict(each) for each in brokers if isinstance(each, Mapping)] if isinstance(brokers, list) else []
    try:
        if isinstance(topics, list) and topics:
            if not any("partitions" in each for each in topics):
                raise PartwrightError(
                    "this lists topics for kafka-reassign-partitions.sh --generate: take the assignment that it prints"
                )
            tool = "rpk cluster info --format json" if "cluster_name" in fields else "kcat -L -J"
            return _pasted(tool, _of_topics(topics), {each["id"]: each.get("rack") or "" for each in hosts})
        if "partitions" in fields:
            return _pasted("Kafka's reassignment JSON", _of_reassignment(fields), {}, _LED_BY_FIRST)
        if any("logDirs" in each for each in hosts):
            racks = {each["broker"]: "" for each in hosts}
            return _pasted(
                "kafka-log-dirs.sh --describe", _of_log_dirs(hosts), racks, _LED_BY_FIRST + _IN_ORDER
            )
    except (KeyError, TypeError, AttributeError) as error:
        raise PartwrightError(
            f"the JSON of this cluster is not complete ({error}): paste all of it"
        ) from None
    return PastedCluster(Cluster.from_dict(value))  # type: ignore[arg-type] # it checks the value itself


def _of_topics(topics: Iterable[Json]) -> Iterator[_PlacedPartition]:
    for topic in topics:
        for each in topic["partitions"]:
            leader = None if each["leader"] < 0 else each["leader"]
            ids = [
                tuple(one["id"] if isinstance(one, Mapping) else one for one in each.get(name) or ())
                for name in ("replicas", "isrs")
            ]
            yield _PlacedPartition(topic.get("topic") or topic["name"], each["partition"], leader, *ids)


def _of_reassignment(fields: Mapping[str, Any]) -> Iterator[_PlacedPartition]:
    for each in listed(fields["partitions"], "partitions"):
        if "replicas" not in each:
            raise PartwrightError(
                f"the partition {shown(each.get('partition'))} of topic {shown(each.get('topic'))} has no replicas: "
                "take the assignment that kafka-reassign-partitions.sh --generate prints"
            )
        ids = listed(each["replicas"], "replicas", int)
        yield _PlacedPartition(each["topic"], each["partition"], next(iter(ids), None), ids)


def _of_log_dirs(brokers: Iterable[Json]) -> Iterator[_PlacedPartition]:
    replicas: dict[tuple[str, int], list[int]] = {}
    for broker in sorted(brokers, key=lambda each: int(each["broker"])):
        for folder in broker["logDirs"]:
            for each in folder["partitions"]:
                topic, _, partition = str(each["partition"]).rpartition("-")
                if not each.get("isFuture"):
                    replicas.setdefault((topic, int(partition)), []).append(broker["broker"])
    for (topic, number_), ids in sorted(replicas.items()):
        yield _PlacedPartition(topic, number_, ids[0], tuple(ids))


def _pasted(
    tool: str, placed: Iterable[_PlacedPartition], racks: Mapping[int, str], *assumed: str
) -> PastedCluster:
    topics: dict[str, list[Partition]] = {}
    ids = set(racks)
    for each in placed:
        if not racks or tool.startswith("kafka-log-dirs"):
            ids |= {*each.replicas}
        own = Partition(each.partition, each.leader, each.replicas, each.in_sync)
        topics.setdefault(each.topic, []).append(own)
    is_whole = all(max(each.id for each in own) < len(own) for own in topics.values())
    brokers = [Broker(each, rack=racks.get(each) or None) for each in sorted(ids)]
    cluster = Cluster(brokers, topics, strict=is_whole)
    count = counted(sum(map(len, topics.values())), "partition")
    size = f"{count} of {counted(len(topics), 'topic')} on {counted(len(brokers), 'broker')}"
    without = "" if any(racks.values()) else ", without racks"
    return PastedCluster(cluster, (f"read as {tool}: {size}{without}", *assumed))

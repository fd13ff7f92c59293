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
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from partwright._check import Json, counted, listed, shown
from partwright._text import paste_lines
from partwright.cluster.metadata import Cluster
from partwright.errors import PartwrightError

_LED_BY_FIRST = "leaders are not in it: the first replica of each partition counts as its leader"
_IN_ORDER = ", and replicas stand in the order of their brokers' ids"
_IDS = r"(?P<replicas>[\d,]+)"
_OF_TOPICS = (
    rf"\s*Topic: ?(?P<topic>\S+)\s+Partition: ?(?P<p>\d+)\s+Leader: ?(?P<leader>\S+)\s+Replicas: ?{_IDS}"
)
_OF_KCAT = rf"\s*partition (?P<p>\d+), leader (?P<leader>-?\d+), replicas: {_IDS}"
_OF_RPK = r"\s*(?P<p>\d+)\s+(?P<leader>-?\d+)\s+(?:-?\d+\s+)?\[(?P<replicas>[\d ]+)\].*(?P<isr>)"
_RPK = "rpk cluster info -d"
# By tool: a partition's line, and its beginning; a topic's, with its number of partitions; a broker's, with its rack.
_TOOLS = {
    tool: [*map(re.compile, patterns)]
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
            _RPK,
            _OF_RPK,
            r"\s*\d+\s+-?\d+\s",
            r"(\S+?)(?: \(internal\))?, (\d+) partitions.*",
            r"(\d+)\*?\s+\S*[a-zA-Z.:]\S*\s+\d+\s*(\S*)",
        ),
    )
}

# The names of topics, with an object for each of their partitions, as `Cluster.from_dict` takes it.
_Partitions = Iterable[tuple[str, Json]]


class PastedCluster(NamedTuple):
    """A cluster from a tool's text.

    Attributes:
        cluster: It, strict unless the text has a part of a topic.
        notes: What the text was taken for, and what was assumed because it does not say it, a sentence each.
    """

    cluster: Cluster
    notes: tuple[str, ...] = ()


def is_tools_text(text: str) -> bool:
    r"""Whether a text that is not JSON alone has a tool's lines of partitions, or JSON after words.

    Examples:
        >>> is_tools_text("no such thing"), is_tools_text('Current partition replica assignment\n{"version":1}')
        (False, True)
    """
    lines = [line for _, line in paste_lines(text)]
    if any(partition.fullmatch(line) for partition, *_ in _TOOLS.values() for line in lines):
        return True
    return not text.lstrip().startswith("{") and any(line.startswith("{") for line in lines)


def read_pasted_cluster(text: str | Mapping[str, Any]) -> PastedCluster:
    """Read a cluster from what a tool printed, with prompts and words around it, or from its JSON.

    Raises:
        PartwrightError: It is of no such tool, says too little, is cut, or has an invalid value.
    """
    if not isinstance(text, str):
        return _of_document(text)
    lines = [line for _, line in paste_lines(text)]
    start = next((at for at, line in enumerate(lines) if line.lstrip().startswith("{")), None)
    if start is not None:
        try:
            value, _ = json.JSONDecoder().raw_decode("\n".join(lines[start:]).lstrip())
        except (ValueError, RecursionError) as error:
            raise PartwrightError(f"line {start + 1}: this is not JSON: {error}") from None
        return _of_document(value)
    tools = [tool for tool, (partition, *_) in _TOOLS.items() if any(map(partition.fullmatch, lines))]
    if len(tools) > 1:
        raise PartwrightError(f"this is of {tools[0]} and of {tools[1]}: give one of them")
    if not tools:
        if any(line.split() == ["NAME", "PARTITIONS", "REPLICAS"] for line in lines):
            raise PartwrightError(f"rpk cluster info names no replicas: take {_RPK}")
        raise PartwrightError(
            "this is neither JSON nor the text of kafka-topics.sh --describe, kafka-log-dirs.sh --describe, kcat -L or "
            f"{_RPK}"
        )
    return _of_lines(text, tools[0])


def _of_lines(text: str, tool: str) -> PastedCluster:
    partition, begins, of_topic, of_broker = _TOOLS[tool]
    partitions: list[tuple[str, Json]] = []
    counts: dict[str, tuple[int, int]] = {}
    racks: dict[int, str] = {}
    topic = ""
    for at, line in paste_lines(text):
        if one := partition.fullmatch(line):
            topic = one.groupdict().get("topic") or topic
            leader = int(one["leader"]) if one["leader"].isdecimal() else None
            ids, in_sync = ([*map(int, re.findall(r"\d+", one[name]))] for name in ("replicas", "isr"))
            if tool == _RPK:
                ids.sort(key=lambda each: each != leader)
            own = {"id": int(one["p"]), "leader": leader, "replicas": ids, "isr": in_sync}
            partitions.append((topic, own))
        elif one := of_topic.fullmatch(line):
            topic = one[1]
            counts[topic] = int(one[2]), at
        elif one := of_broker.fullmatch(line):
            racks[int(one[1])] = one[2]
        elif begins.match(line):
            raise PartwrightError(f"line {at}: {shown(line.strip())} is cut: paste whole lines")
    for name, (count, at) in counts.items():
        listed_ones = sum(each == name for each, _ in partitions)
        if listed_ones != count:
            raise PartwrightError(
                f"line {at}: topic {shown(name)} has {counted(count, 'partition')}, and {listed_ones} of them are "
                "listed: paste all"
            )
    assumed = ["rpk sorts replicas: today's leader counts as the preferred one"] if tool == _RPK else []
    return _pasted(tool, partitions, racks, *assumed)


def _of_document(value: object) -> PastedCluster:
    """A cluster from JSON: our own, or that of one of the tools."""
    fields: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    topics, brokers = fields.get("topics"), fields.get("brokers")
    hosts = [each for each in brokers if isinstance(each, Mapping)] if isinstance(brokers, list) else []
    try:
        if isinstance(topics, list) and topics:
            tool = "rpk cluster info --format json" if "cluster_name" in fields else "kcat -L -J"
            partitions = [
                (topic.get("topic") or topic["name"], _partition(each))
                for topic in topics
                for each in topic["partitions"]
            ]
            return _pasted(tool, partitions, {each["id"]: each.get("rack") or "" for each in hosts})
        if "partitions" in fields:
            return _led_by_first("Kafka's reassignment JSON", listed(fields["partitions"], "partitions"))
        if any("logDirs" in each for each in hosts):
            replicas: dict[tuple[str, int], list[int]] = {}
            for broker in sorted(hosts, key=lambda each: int(each["broker"])):
                for each in (one for folder in broker["logDirs"] for one in folder["partitions"]):
                    topic, _, partition = each["partition"].rpartition("-")
                    if not each.get("isFuture"):
                        replicas.setdefault((topic, int(partition)), []).append(broker["broker"])
            rows = [
                {"topic": topic, "partition": at, "replicas": ids}
                for (topic, at), ids in sorted(replicas.items())
            ]
            return _led_by_first("kafka-log-dirs.sh --describe", rows, _IN_ORDER)
    except PartwrightError:
        # A PartwrightError is a ValueError, too.
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        lack = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise PartwrightError(
            f"this JSON does not say where partitions are, as {lack}: paste all of it, or the assignment that "
            "kafka-reassign-partitions.sh --generate prints"
        ) from None
    return PastedCluster(Cluster.from_dict(value))  # type: ignore[arg-type] # it checks the value itself


def _led_by_first(tool: str, rows: Iterable[Json], more: str = "") -> PastedCluster:
    partitions = [
        (row["topic"], _partition({**row, "leader": next(iter(row["replicas"]), -1)})) for row in rows
    ]
    return _pasted(tool, partitions, {}, _LED_BY_FIRST + more)


def _partition(row: Json) -> Json:
    """A partition, from the fields that tools give it."""
    replicas, in_sync = (
        [one["id"] if isinstance(one, Mapping) else one for one in each or ()]
        for each in (row["replicas"], row.get("isrs"))
    )
    leader = None if row["leader"] in (None, -1) else row["leader"]
    return {"id": row["partition"], "leader": leader, "replicas": replicas, "isr": in_sync}


def _pasted(tool: str, partitions: _Partitions, racks: Mapping[int, str], *assumed: str) -> PastedCluster:
    """A cluster, with the brokers that the text lists, or else those that have replicas."""
    topics: dict[str, list[Json]] = {}
    for topic, own in partitions:
        topics.setdefault(topic, []).append(own)
    everything = [own for those in topics.values() for own in those]
    ids = racks or dict.fromkeys(each for own in everything for each in own["replicas"])
    brokers = [{"id": each, "rack": racks.get(each) or None} for each in sorted(ids)]
    is_whole = all({own["id"] for own in those} == {*range(len(those))} for those in topics.values())
    cluster = Cluster.from_dict({"brokers": brokers, "topics": topics}, strict=is_whole)
    size = f"{counted(len(everything), 'partition')} of {counted(len(topics), 'topic')}"
    without = "" if any(racks.values()) else ", without racks"
    read = f"read as {tool}: {size} on {counted(len(brokers), 'broker')}{without}"
    return PastedCluster(cluster, (read, *assumed))

"""A strategy's answers to given calls and draws, or its places for given records, as JSON.

>>> replay({"strategy": "round-robin", "topics": {"t": 3}, "events": [{"op": "partition", "topic": "t"}] * 4})
{'results': [0, 1, 2, 0]}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from partwright._check import Fields, Json, bits, counted, hex_key, object_fields, refuse_many, shown
from partwright.cluster import Cluster
from partwright.errors import PartwrightError
from partwright.producer.configs import ProducerConfig
from partwright.producer.custom import is_path
from partwright.producer.producer import Producer
from partwright.producer.records import Workload
from partwright.producer.strategy import INT, LONG

_LINE = (
    "strategy", "configs", "client", "brokers", "topics", "counters", "draws", "seed", "events", "records",
    # The fields of a golden line that are not part of its question.
    "results", "placed",
)  # fmt: skip
_OPS = {
    "partition": ("key", "partition", "at_ms"),
    "on_new_batch": ("prev",),
    "next_partition": ("prev",),
    "append": ("bytes", "enable_switch"),
    "load_stats": ("queue_sizes", "partition_ids", "leader_racks", "length"),
    "cluster": ("partitions",),
}
_KINDS = {str: "names, or null", int: "whole numbers"}
_RECORD = ("topic", "partition", "key", "value size", "time")
_BITS = {"partition": INT, "value size": INT, "time": LONG}


def replay(question: Mapping[str, object]) -> Json:
    """The answers to a line of `partwright strategy --jsonl`.

    Args:
        question: `strategy`, `configs` (Kafka's keys), `brokers` and `topics` (as for `Cluster.from_dict`, except that
            IDs may have gaps), `counters`, `draws` or `seed`, `client`, and either `events` or `records`. An event is
            an object with `op` and `topic`; a record is a list of topic, partition, key in hex, size of the value and
            time in milliseconds, where all but the topic may be null.

    Returns:
        For events `{"results": [...]}`: a partition for `partition`, `next_partition` and `append`, None for the others, and
        `{"error": "..."}` where Kafka throws. For records `{"placed": [...]}`, their partitions.

    Raises:
        PartwrightError: The question is invalid, or a record has no partition.

    Examples:
        >>> line = {"strategy": "sticky@2.4", "topics": {"t": 3}, "draws": [5, 2, 7]}
        >>> replay({**line, "events": [{"op": "partition", "topic": "t"}, {"op": "next_partition", "topic": "t", "prev": 2}]})
        {'results': [2, 1]}
        >>> replay({**line, "configs": {"batch.size": 100}, "records": [["t", None, None, 50, 0], ["t", 0, None, 50, 0]]})
        {'placed': [1, 0]}
    """  # noqa: E501 - an example is one line
    given = object_fields(question, "a replay", _LINE, needs="topics")
    _refuse_code(given)
    _refuse_many(given)
    producer = Producer(
        Cluster.from_dict(
            {part: given[part] for part in ("brokers", "topics") if part in given}, strict=False
        ),
        ProducerConfig(
            given.get("strategy"),
            _mapping(given, "configs"),
            "java" if given.get("client") is None else given["client"],
            seed=0 if given.get("seed") is None else given["seed"],
        ),
        draws=_list(given, "draws") if given.get("draws") is not None else None,
        counters=_mapping(given, "counters"),
        # No batch of a replay is drained, unless the replay sets how long batches linger.
        lingers="linger.ms" in (given.get("configs") or {}),
    )
    if (given.get("events") is None) == (given.get("records") is None):
        raise PartwrightError("a replay has either events or records")
    if given.get("records") is not None:
        return {"placed": _placed(producer, _list(given, "records"))}
    calls = [_call(place, event) for place, event in enumerate(_list(given, "events"))]
    return {"results": [_result(producer, *call) for call in calls]}


def _refuse_code(given: Mapping[str, object]) -> None:
    """A replay may come from anywhere, so a file must not choose which code runs."""
    configs = given.get("configs") or {}
    named = [given.get("strategy"), configs.get("partitioner.class") if isinstance(configs, dict) else None]
    for each in named:
        if each is not None and not isinstance(each, str):
            raise PartwrightError(f"a strategy is named by text, not {shown(each)}")
        if each is not None and is_path(each):
            raise PartwrightError(
                f"the replay names {each!r}, but a file must not choose which code runs: give the class to pw.Producer"
            )


def _refuse_many(given: Mapping[str, object]) -> None:
    """Refuse too many partitions, of the topics and of later clusters together: they are made one by one."""
    topics, events = given["topics"], given.get("events")
    counts = [*topics.values()] if isinstance(topics, dict) else []
    if isinstance(events, list):
        counts += [event.get("partitions") for event in events if isinstance(event, dict)]
    refuse_many(sum(count for count in counts if isinstance(count, int)), "a replay")


def _mapping(given: Mapping[str, object], name: str) -> Fields | None:
    found = given.get(name)
    if found is not None and not isinstance(found, dict):
        raise PartwrightError(f"{name} is an object, not {shown(found)}")
    return found


def _list(given: Mapping[str, object], name: str) -> Sequence[Any]:
    found = given[name]
    if not isinstance(found, list):
        raise PartwrightError(f"{name} is a list, not {shown(found)}")
    return found


def _call(place: int, event: object) -> tuple[str, str, Fields]:
    """An event's call, its topic and the rest, each of its type."""
    where = f"event {place}"
    op = event.get("op") if isinstance(event, dict) else None
    if not isinstance(op, str) or op not in _OPS:
        raise PartwrightError(f"{where}: there is no op {shown(op)}: it is {', '.join(_OPS)}")
    found = object_fields(event, f"{where} ({op})", ("op", "topic", *_OPS[op]), needs="topic")
    if not isinstance(found["topic"], str):
        raise PartwrightError(f"{where}: a topic's name is text, not {shown(found['topic'])}")
    rest = {name: found.get(name) for name in _OPS[op]}
    if op == "partition":
        rest["key"] = hex_key(rest["key"], f"{where}: ")
    if op == "append":
        rest["enable_switch"] = True if rest["enable_switch"] is None else rest["enable_switch"]
        if not isinstance(rest["enable_switch"], bool):
            raise PartwrightError(
                f"{where}: enable_switch is true or false, not {shown(rest['enable_switch'])}"
            )
    for name in ("prev", "bytes", "at_ms", "length", "partition"):
        needed = name == "bytes" or (name == "prev" and op == "on_new_batch")
        if name in rest and not (rest[name] is None and not needed):
            bits(rest[name], f"{where}: {name}", LONG if name == "at_ms" else INT)
    for name in ("queue_sizes", "partition_ids", "leader_racks"):
        _refuse_no_list(rest.get(name), str if name == "leader_racks" else int, f"{where}: {name}")
    return op, found["topic"], rest


def _refuse_no_list(given: object, kind: type, what: str) -> None:
    """Refuse a value that is neither null nor a list; a list has names, which may be null, or whole numbers."""
    if given is None:
        return
    if not isinstance(given, list) or not all(
        type(each) is kind or (each is None and kind is str) for each in given
    ):
        raise PartwrightError(f"{what} is a list of {_KINDS[kind]}, not {shown(given)}")
    for each in given if kind is int else ():
        bits(each, f"{what}, each of them,", INT)


def _result(producer: Producer, op: str, topic: str, rest: Fields) -> object:
    if topic not in producer.cluster.topics:
        # Kafka's classes take an unknown topic for one without partitions.
        producer.update(producer.cluster.with_topic(topic, []))
    if op == "cluster":
        producer.update(producer.cluster.with_topic(topic, rest["partitions"]))
        return None
    try:
        return _answer(producer, op, topic, rest)
    except PartwrightError as error:
        return {"error": str(error)}


def _answer(producer: Producer, op: str, topic: str, rest: Fields) -> int | None:
    match op:
        case "partition" if rest["partition"] is not None:
            count = len(producer.cluster.partitions(topic))
            if not 0 <= rest["partition"] < count:
                raise PartwrightError(
                    f"topic {topic!r} has {counted(count, 'partition')}, and not {rest['partition']}"
                )
            return int(rest["partition"])
        case "partition":
            return producer.partition(topic, rest["key"], time=rest["at_ms"] or 0)
        case "on_new_batch":
            producer.on_new_batch(topic, rest["prev"])
        case "next_partition":
            return producer.sticky.next_partition(topic, -1 if rest["prev"] is None else rest["prev"])
        case "append":
            return producer.sticky.append(topic, rest["bytes"], enable_switch=rest["enable_switch"])
        case _:
            producer.sticky.load_stats(
                topic,
                rest["queue_sizes"],
                rest["partition_ids"] or (),
                leader_racks=rest["leader_racks"],
                length=rest["length"],
            )
    return None


def _placed(producer: Producer, records: Sequence[object]) -> list[int | None]:
    for row, record in enumerate(records):
        if not isinstance(record, list) or len(record) != len(_RECORD) or not isinstance(record[0], str):
            raise PartwrightError(f"record {row} is a list of {', '.join(_RECORD)}, not {shown(record)}")
        for name, values in _BITS.items():
            number = record[_RECORD.index(name)]
            if number is not None:
                bits(number, f"record {row}: {name}", values)
    types = (pa.string(), pa.int32(), pa.binary(), pa.int32(), pa.int64())
    columns = {}
    for name, data_type, values in zip(_RECORD, types, zip(*records, strict=True), strict=False):
        there = (
            [hex_key(key, f"record {row}: ") for row, key in enumerate(values)] if name == "key" else values
        )
        try:
            columns[name] = pa.array(there, data_type)
        except UnicodeEncodeError as error:
            raise PartwrightError(f"the topic's name {shown(error.object)} is not UTF-8") from None
    placed: list[int | None] = (
        producer.place(columns, Workload(size="value size")).to_pylist() if records else []
    )
    return placed

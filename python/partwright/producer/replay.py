"""A strategy's answers to given calls and draws, or its places for given records, as JSON.

>>> replay_strategy({"strategy": "round-robin", "topics": {"t": 3}, "events": [{"op": "partition", "topic": "t"}] * 4})
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


def replay_strategy(question: Mapping[str, object]) -> Json:
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
        >>> replay_strategy({**line, "events": [{"op": "partition", "topic": "t"}, {"op": "next_partition", "topic": "t", "prev": 2}]})
        {'results': [2, 1]}
        >>> replay_strategy({**line, "configs": {"batch.size": 100}, "records": [["t", None, None, 50, 0], ["t", 0, None, 50, 0]]})
        {'placed': [1, 0]}
    """  # noqa: E501 - an example is one line
    fields = object_fields(question, "a replay", _LINE, needs="topics")
    _refuse_code(fields)
    _refuse_many(fields)
    producer = Producer(
        Cluster.from_dict(
            {part: fields[part] for part in ("brokers", "topics") if part in fields}, strict=False
        ),
        ProducerConfig(
            fields.get("strategy"),
            _mapping(fields, "configs"),
            "java" if fields.get("client") is None else fields["client"],
            seed=0 if fields.get("seed") is None else fields["seed"],
        ),
        draws=_list(fields, "draws") if fields.get("draws") is not None else None,
        counters=_mapping(fields, "counters"),
        # No batch of a replay is drained, unless the replay sets how long batches linger.
        lingers="linger.ms" in (fields.get("configs") or {}),
    )
    if (fields.get("events") is None) == (fields.get("records") is None):
        raise PartwrightError("a replay has either events or records")
    if fields.get("records") is not None:
        return {"placed": _placed(producer, _list(fields, "records"))}
    calls = [_call(place, event) for place, event in enumerate(_list(fields, "events"))]
    return {"results": [_result(producer, *call) for call in calls]}


def _refuse_code(fields: Mapping[str, object]) -> None:
    """A replay may come from anywhere, so a file must not choose which code runs."""
    configs = fields.get("configs") or {}
    named = [fields.get("strategy"), configs.get("partitioner.class") if isinstance(configs, dict) else None]
    for each in named:
        if each is not None and not isinstance(each, str):
            raise PartwrightError(f"a strategy is named by text, not {shown(each)}")
        if each is not None and is_path(each):
            raise PartwrightError(
                f"the replay names {each!r}, but a file must not choose which code runs: give the class to pw.Producer"
            )


def _refuse_many(fields: Mapping[str, object]) -> None:
    """Refuse too many partitions, of the topics and of later clusters together: they are made one by one."""
    topics, events = fields["topics"], fields.get("events")
    counts = [*topics.values()] if isinstance(topics, dict) else []
    if isinstance(events, list):
        counts += [event.get("partitions") for event in events if isinstance(event, dict)]
    refuse_many(sum(count for count in counts if isinstance(count, int)), "a replay")


def _mapping(fields: Mapping[str, object], name: str) -> Fields | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, dict):
        raise PartwrightError(f"{name} is an object, not {shown(value)}")
    return value


def _list(fields: Mapping[str, object], name: str) -> Sequence[Any]:
    value = fields[name]
    if not isinstance(value, list):
        raise PartwrightError(f"{name} is a list, not {shown(value)}")
    return value


def _call(place: int, event: object) -> tuple[str, str, Fields]:
    """An event's call, its topic and the rest, each of its type."""
    where = f"event {place}"
    op = event.get("op") if isinstance(event, dict) else None
    if not isinstance(op, str) or op not in _OPS:
        raise PartwrightError(f"{where}: there is no op {shown(op)}: it is {', '.join(_OPS)}")
    fields = object_fields(event, f"{where} ({op})", ("op", "topic", *_OPS[op]), needs="topic")
    if not isinstance(fields["topic"], str):
        raise PartwrightError(f"{where}: a topic's name is text, not {shown(fields['topic'])}")
    arguments = {name: fields.get(name) for name in _OPS[op]}
    if op == "partition":
        arguments["key"] = hex_key(arguments["key"], f"{where}: ")
    if op == "append":
        arguments["enable_switch"] = (
            True if arguments["enable_switch"] is None else arguments["enable_switch"]
        )
        if not isinstance(arguments["enable_switch"], bool):
            raise PartwrightError(
                f"{where}: enable_switch is true or false, not {shown(arguments['enable_switch'])}"
            )
    for name in ("prev", "bytes", "at_ms", "length", "partition"):
        needed = name == "bytes" or (name == "prev" and op == "on_new_batch")
        if name in arguments and not (arguments[name] is None and not needed):
            bits(arguments[name], f"{where}: {name}", LONG if name == "at_ms" else INT)
    for name in ("queue_sizes", "partition_ids", "leader_racks"):
        _refuse_no_list(arguments.get(name), str if name == "leader_racks" else int, f"{where}: {name}")
    return op, fields["topic"], arguments


def _refuse_no_list(value: object, kind: type, what: str) -> None:
    """Refuse a value that is neither null nor a list; a list has names, which may be null, or whole numbers."""
    if value is None:
        return
    if not isinstance(value, list) or not all(
        type(each) is kind or (each is None and kind is str) for each in value
    ):
        raise PartwrightError(f"{what} is a list of {_KINDS[kind]}, not {shown(value)}")
    for each in value if kind is int else ():
        bits(each, f"{what}, each of them,", INT)


def _result(producer: Producer, op: str, topic: str, arguments: Fields) -> object:
    if topic not in producer.cluster.topics:
        # Kafka's classes take an unknown topic for one without partitions.
        producer.update(producer.cluster.with_topic(topic, []))
    if op == "cluster":
        producer.update(producer.cluster.with_topic(topic, arguments["partitions"]))
        return None
    try:
        return _answer(producer, op, topic, arguments)
    except PartwrightError as error:
        return {"error": str(error)}


def _answer(producer: Producer, op: str, topic: str, arguments: Fields) -> int | None:
    match op:
        case "partition" if arguments["partition"] is not None:
            count = len(producer.cluster.partitions(topic))
            if not 0 <= arguments["partition"] < count:
                raise PartwrightError(
                    f"topic {topic!r} has {counted(count, 'partition')}, and not {arguments['partition']}"
                )
            return int(arguments["partition"])
        case "partition":
            return producer.partition(topic, arguments["key"], time=arguments["at_ms"] or 0)
        case "on_new_batch":
            producer.on_new_batch(topic, arguments["prev"])
        case "next_partition":
            return producer.sticky.next_partition(
                topic, -1 if arguments["prev"] is None else arguments["prev"]
            )
        case "append":
            return producer.sticky.append(topic, arguments["bytes"], enable_switch=arguments["enable_switch"])
        case _:
            producer.sticky.load_stats(
                topic,
                arguments["queue_sizes"],
                arguments["partition_ids"] or (),
                leader_racks=arguments["leader_racks"],
                length=arguments["length"],
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
        column = (
            [hex_key(key, f"record {row}: ") for row, key in enumerate(values)] if name == "key" else values
        )
        try:
            columns[name] = pa.array(column, data_type)
        except UnicodeEncodeError as error:
            raise PartwrightError(f"the topic's name {shown(error.object)} is not UTF-8") from None
    placed: list[int | None] = (
        producer.place(columns, Workload(size="value size")).to_pylist() if records else []
    )
    return placed

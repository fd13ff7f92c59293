"""A scenario of batches as JSON, and its answer: `partwright batch`.

>>> led = {"brokers": [{"id": 0, "latency_ms": 1}], "partitions": [{"id": 0, "leader": 0}]}
>>> scenario = {"strategy": "sticky@4.4", **led}
>>> replay({**scenario, "records": [[0, None, None, 100]]})["requests"]
[{'id': 0, 'node': 0, 'sent_ms': 5, 'done_ms': 6, 'ok': True, 'bytes': 170, 'batches': [0]}]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc

from partwright import _core
from partwright._check import (
    LEAST_INT,
    LEAST_LONG,
    MOST_INT,
    MOST_LONG,
    Fields,
    Json,
    hex_key,
    listed,
    object_fields,
    optional,
    shown,
    whole,
)
from partwright.answer import Answer
from partwright.cluster.latency import latency_of
from partwright.errors import PartwrightError
from partwright.keys.hashing import partition_for_key
from partwright.producer.configs import keys, read_configs, settings_of

if TYPE_CHECKING:
    from partwright.cluster.latency import Latency
    from partwright.producer.configs import Configs

CoreBroker: TypeAlias = "tuple[int, str | None, Latency, list[tuple[int, int]]]"
"""A broker's ID, rack, latency, and the spans in which it is away."""

_SCENARIO = (
    "strategy", "config", "sender", "brokers", "partitions", "flush_ms", "failed_requests", "draws", "seed", "records",
    # The fields of a golden line that are not part of its question.
    "placed", "batches", "requests",
)  # fmt: skip
_SENDERS = ("each-instant", "each-append")
_BROKER = ("id", "rack", "latency_ms", "away")
_RECORD = "time, key in hex, partition and size of the value, and of those of its headers if it has any"
_RECORD_FIELDS = range(4, 6)


@dataclass(frozen=True)
class Replay(Answer):
    """A scenario with its answer.

    Attributes:
        scenario: See `replay`.
        answer: What `replay` gives for it.
    """

    scenario: Fields
    answer: Json

    DOCUMENT = "batch"
    ROWS = "batches"

    @classmethod
    def of(cls, scenario: Fields) -> Replay:
        """The answer to a scenario; see `replay`."""
        return cls(scenario, replay(scenario))

    @property
    def strategy(self) -> str:
        """The scenario's strategy."""
        return str(self.scenario["strategy"])

    @property
    def batch_size(self) -> int:
        """The producer's `batch.size`, or 1 if that is 0."""
        settings = settings_of(_configs(self.scenario.get("config")), _core.strategy_name(self.strategy))
        return cast("int", settings["batch_size"]) or 1

    def to_dict(self) -> Json:
        """As in `partwright batch SCENARIO --json`."""
        return self.answer


def replay(scenario: Mapping[str, object]) -> Json:
    """Simulate a scenario: its records' batches, and the requests that carry them.

    Args:
        scenario: `strategy` (sticky@4.4, sticky@3.3, round-robin and random of Kafka 4, round-robin@3.9.2, and with the
            accumulator of 2.8.2 sticky@2.4, uniform-sticky@2.4 and round-robin@2.8); `config` (Kafka's keys); `sender`
            (each-instant or each-append); `brokers`, each with `id`, `rack`, `latency_ms` and `away`, spans of
            milliseconds in which it accepts nothing; a latency is a number, or one of `{"from": 1, "to": 9}`, `{"p50": 2,
            "p99": 40}` and `{"among": [1, 1, 2, 50]}`, as for `simulate`; `partitions` with `id` and `leader`, in the order
            of the metadata; `flush_ms` and `failed_requests`; `draws` of the strategy, and `seed` for all other draws;
            and `records`, each a list of its time in milliseconds, its key in hex, its own partition, the size of its
            value in bytes, and of those of its headers. A null means a null key, no partition, or a null value.

    Returns:
        `placed`, the partition and batch of each record; `batches` in order of creation, with `why` each was closed
        (full, no-room, linger, flush or node; None where it never left); `requests` in order of sending.

    Raises:
        PartwrightError: The scenario is invalid, or Kafka refuses it; with the row if it is a record.

    Examples:
        >>> line = {"strategy": "round-robin", "partitions": [{"id": 0}, {"id": 1}], "records": [[7, None, None, 10]] * 3}
        >>> replay(line)["placed"]
        [[0, 0], [1, 1], [0, 0]]
        >>> replay({**line, "records": [[7, None, None, 10], [6, None, None, 10]]})
        Traceback (most recent call last):
        partwright.errors.PartwrightError: row 1: time runs backwards, from 7 to 6 ms
    """  # noqa: E501 - an example is one line
    fields = object_fields(scenario, "a scenario", _SCENARIO, needs="records")
    for name in ("strategy", "partitions"):
        if name not in fields:
            raise PartwrightError(f"a scenario has no {name}: name it")
    if not isinstance(fields["strategy"], str):
        raise PartwrightError(f"a strategy is named by text, not {shown(fields['strategy'])}")
    strategy = _core.strategy_name(fields["strategy"])
    partitions = [_partition(each) for each in listed(fields["partitions"], "partitions")]
    records = _records(listed(fields["records"], "records"), len(partitions))
    core = core_scenario(
        fields,
        [_broker(each) for each in listed(fields.get("brokers") or (), "brokers")],
        partitions,
        fields.get("draws"),
    )
    seed = optional(fields.get("seed"), "the seed", LEAST_LONG, MOST_LONG) or 0
    simulation = _core.Batching(
        strategy, settings_of(_configs(fields.get("config")), strategy), {**core, "seed": seed}, True
    )
    simulation.append(records)
    simulation.finish()
    return _answer(simulation.tables())


def _configs(value: object) -> Configs:
    config = object_fields({} if value is None else value, "config", keys(), needs=None)
    return read_configs(config)


def core_scenario(
    delivery: Fields, brokers: list[CoreBroker], partitions: list[tuple[int, int | None]], draws: object
) -> Json:
    """How batches are sent and answered, as the core takes it, without the seed.

    Args:
        delivery: `sender`, `flush_ms` and `failed_requests`, as far as they are given.
        brokers: See `broker_of`.
        partitions: Their numbers and leaders.
        draws: Raw values of Java's `nextInt()`, if any are given.

    Raises:
        PartwrightError: A value is invalid.
    """
    sender = delivery.get("sender")
    if sender is not None and sender not in _SENDERS:
        raise PartwrightError(f"sender is {' or '.join(_SENDERS)}, not {shown(sender)}")
    failed = listed(delivery.get("failed_requests") or (), "failed_requests")
    return {
        "each_append": sender == "each-append",
        "flush_ms": optional(delivery.get("flush_ms"), "flush_ms", 0, MOST_LONG),
        "failed_requests": [whole(each, "a failed request", 0, MOST_LONG) for each in failed],
        "brokers": brokers,
        "partitions": partitions,
        "draws": None
        if draws is None
        else [whole(each, "a draw", LEAST_INT, MOST_INT) for each in listed(draws, "draws")],
    }


def _partition(value: object) -> tuple[int, int | None]:
    fields = object_fields(value, "a partition", ("id", "leader"), needs="id")
    partition = whole(fields["id"], "a partition's id", 0, MOST_INT)
    return partition, optional(fields.get("leader"), f"the leader of partition {partition}", 0, MOST_INT)


def _broker(value: object) -> CoreBroker:
    fields = object_fields(value, "a broker", _BROKER, needs="id")
    broker = whole(fields["id"], "a broker's id", 0, MOST_INT)
    rack = fields.get("rack")
    if rack is not None and not isinstance(rack, str):
        raise PartwrightError(f"broker {broker}: a rack is text, not {shown(rack)}")
    return broker_of(broker, rack, fields.get("latency_ms"), fields.get("away"))


def broker_of(broker: int, rack: str | None, latency_ms: object, away: object) -> CoreBroker:
    """A broker's ID, rack, latency and the spans in which it is away, as the core takes them.

    Raises:
        PartwrightError: The latency or a span is invalid.
    """
    what = f"broker {broker}"
    spans = []
    for span in listed(away or (), f"{what}: away"):
        if not isinstance(span, list | tuple) or len(span) != 2:  # noqa: PLR2004 - from and to
            raise PartwrightError(
                f"{what}: a span is a list of its first time and its end, not {shown(span)}"
            )
        from_ms, to_ms = (whole(each, f"{what}: a time", 0, MOST_LONG) for each in span)
        spans.append((from_ms, to_ms))
    latency = latency_of(0 if latency_ms is None else latency_ms, f"{what}: latency_ms")
    return broker, rack, latency, spans


def _records(records: Sequence[object], partitions: int) -> pa.StructArray:
    rows = [_record(row, record) for row, record in enumerate(records)]
    times, encoded, named, sizes, headers = zip(*rows, strict=True) if rows else [()] * 5
    key_column = pa.array(encoded, pa.binary())
    return pa.StructArray.from_arrays(
        [
            pa.array(times, pa.int64()),
            pa.array(named, pa.int32()),
            partition_for_key(key_column, partitions) if partitions else pa.nulls(len(records), pa.int32()),
            pc.binary_length(key_column),
            pa.array(sizes, pa.int32()),
            pa.array(headers, pa.list_(pa.int32())),
        ],
        ["time", "partition", "keyed", "key_size", "value_size", "headers"],
    )


def _record(
    row: int, record: object
) -> tuple[int, bytes | None, int | None, int | None, list[int | None] | None]:
    if not isinstance(record, list | tuple) or len(record) not in _RECORD_FIELDS:
        raise PartwrightError(f"a record is a list of {_RECORD}, not {shown(record)}").at_row(row)
    time, key, partition, size, *headers = record
    try:
        sizes = listed(headers[0] or (), "headers") if headers else ()
        return (
            whole(time, "a time", 0, MOST_LONG),
            hex_key(key),
            optional(partition, "a partition", 0, MOST_INT),
            optional(size, "the size of a value", 0, MOST_INT),
            [optional(each, "the size of a header", 0, MOST_INT) for each in sizes] or None,
        )
    except PartwrightError as error:
        raise error.at_row(row) from None


def _answer(tables: Mapping[str, pa.StructArray]) -> Json:
    partitions, ids = (tables["records"].field(name).to_pylist() for name in ("partition", "batch"))
    return {
        "placed": [list(pair) for pair in zip(partitions, ids, strict=True)],
        "batches": [_batch(row) for row in tables["batches"].to_pylist()],
        "requests": [
            {"id": row.pop("request"), "node": row.pop("broker"), **row}
            for row in tables["requests"].to_pylist()
        ],
    }


def _batch(row: Json) -> Json:
    plain = ("partition", "first_record", "records", "bytes", "opened_ms", "closed_ms", "why")
    sends = [list(pair) for pair in zip(row["requests"], row["sent_ms"], strict=True)]
    of_row = {name: row[name] for name in plain}
    return {"id": row["batch"], **of_row, "sends": sends, "acked_ms": row["acked_ms"]}

"""Which `batch.size` and `linger.ms` suit given records: a grid of simulations, ranked by delay and requests.

>>> records = {"time": list(range(2000)), "size": [400] * 2000}
>>> found = tune(records, {"orders": 3})
>>> found.default["requests"], found.recommended["requests"], found.recommended["linger_ms"]
(334, 182, 10)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import pyarrow as pa

from partwright._check import Fields, Json, counted, listed, options, shown
from partwright.answer import Answer, Question
from partwright.batching.simulation import SUMMARY, Delivery, compare, one_topic
from partwright.cluster import Cluster
from partwright.errors import PartwrightError
from partwright.producer.configs import ProducerConfig, read_configs, settings_of
from partwright.producer.records import Workload

BATCH_SIZES = (4_096, 16_384, 32_768, 65_536, 131_072)
LINGERS_MS = (0, 5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True, eq=False)
class Tuning(Answer):
    """The result of a grid of settings.

    Attributes:
        settings: A row for each, the best first: `rank` (int32, from 1 on), `strategy`, `batch_size` and `linger_ms`
            (int64), `is_on_front` (bool: no other has both fewer requests and a lower p99 delay), and the columns of
            `compare` from `records` on.
        default: The row of Kafka's own settings, or of the settings in `configs` that replace them.
        recommended: The first row.
        reason: Why that one, in a sentence.
        at_most_ms: The longest p99 delay allowed; None if the present settings' own delay has no limit.
        partitions: How many the topic has.
    """

    settings: pa.Table
    default: Json
    recommended: Json
    reason: str
    at_most_ms: int | None
    partitions: int

    DOCUMENT = "batch"

    def to_dict(self) -> Json:
        """As in `partwright batch --tune --json`."""
        return {
            "recommended": self.recommended,
            "reason": self.reason,
            "default": self.default,
            "settings": self.settings.to_pylist(),
        }

    def to_arrow(self) -> pa.Table:
        """A row for each setting."""
        return self.settings


def tune(
    records: object,
    cluster: Cluster | Mapping[str, int],
    strategies: Sequence[str | ProducerConfig] = ("sticky",),
    *,
    workload: Workload | None = None,
    delivery: Delivery | None = None,
    batch_sizes: Sequence[int] = BATCH_SIZES,
    lingers_ms: Sequence[int] = LINGERS_MS,
    at_most_ms: int | None = None,
) -> Tuning:
    """Simulate each pair of `batch.size` and `linger.ms` with each strategy, and rank them.

    The best setting has the fewest requests among those whose p99 delay is at most `at_most_ms`; if several are equal
    in both, the one with smaller batches, then with the shorter linger, wins.

    Args:
        records: As for `compare`, and so are all others that are not named here.
        cluster: The topic's partitions.
        strategies: Names of strategies, or whole producers; the first one is the present setting.
        workload: Which columns are the records' parts.
        delivery: How the brokers answer.
        batch_sizes: Values of `batch.size`, in bytes.
        lingers_ms: Values of `linger.ms`.
        at_most_ms: The longest p99 delay allowed, in milliseconds; twice the present settings' delay by default.

    Returns:
        All settings, the recommended one, and the reason for it.

    Raises:
        PartwrightError: As for `compare`; there is nothing to try; no record arrives.

    Examples:
        >>> records = {"time": list(range(2000)), "size": [400] * 2000}
        >>> tune(records, {"orders": 3}, at_most_ms=20).recommended["linger_ms"]
        10
    """
    producers = [ProducerConfig.of(each) for each in listed(strategies, "strategies")]
    sizes, lingers = listed(batch_sizes, "batch_sizes"), listed(lingers_ms, "lingers_ms")
    if not (producers and sizes and lingers):
        raise PartwrightError(
            "there is no setting to try: name at least a strategy, a batch.size and a linger.ms"
        )
    if at_most_ms is not None and (type(at_most_ms) is not int or at_most_ms < 0):
        raise PartwrightError(f"at_most_ms is a whole number of milliseconds, not {shown(at_most_ms)}")
    by_name: dict[str, ProducerConfig] = {}
    for each in producers:
        read_configs(each.configs)
        if by_name.setdefault(str(each.partitioner), each) != each:
            raise PartwrightError(
                f"two producers have the strategy {each.partitioner} and differ in their settings, which the answer "
                "would not tell apart: tune one after the other"
            )
    grid = producers[:1] + [
        replace(producer, configs={**(producer.configs or {}), "batch.size": size, "linger.ms": linger})
        for producer in producers
        for size in sizes
        for linger in lingers
    ]
    delivery = options(delivery, Delivery, "delivery")
    known, topic = one_topic(cluster, delivery.topic)
    summaries = compare(records, known, grid, workload=workload, delivery=delivery).to_arrow().to_pylist()
    rows = [_row(*each) for each in zip(summaries, grid, strict=True)]
    default = rows[0]
    # The defaults are usually in the grid, too.
    rows = list({_settings(row): row for row in rows}.values())
    if all(row["p99_delay_ms"] is None for row in rows):
        raise PartwrightError(
            "no record arrives, so that there is nothing to compare: does a partition have a leader?"
        )
    for row in rows:
        row["is_on_front"] = not any(_is_better(other, row) for other in rows)
    limit = 2 * _delay(default) if at_most_ms is None else at_most_ms
    rows.sort(key=lambda row: _order(row, default, limit))
    ranked = [{"rank": rank, **row} for rank, row in enumerate(rows, 1)]
    reason = _reason(ranked[0], default, limit)
    at_most = None if limit == inf else int(limit)
    tuning = Tuning(_table(ranked), default, ranked[0], reason, at_most, len(known.partitions(topic)))
    return tuning.with_question(Question((producers[0], options(workload, Workload, "workload"), delivery)))


def _row(summary: Json, producer: ProducerConfig) -> Json:
    settings = settings_of(read_configs(producer.configs), summary["strategy"])
    about = {name: settings[name] for name in ("batch_size", "linger_ms")}
    figures = {name: value for name, value in summary.items() if name not in ("name", "strategy")}
    return {"strategy": summary["strategy"], **about, "is_on_front": False, **figures}


def _settings(row: Fields) -> tuple[str, int, int]:
    return row["strategy"], row["batch_size"], row["linger_ms"]


def _delay(row: Fields) -> float:
    """The p99 delay; infinite if some records never arrive."""
    return inf if row["p99_delay_ms"] is None or row["unsent"] else row["p99_delay_ms"]


def _is_better(one: Fields, other: Fields) -> bool:
    mine, others = (one["requests"], _delay(one)), (other["requests"], _delay(other))
    return mine != others and all(a <= b for a, b in zip(mine, others, strict=True))


def _order(row: Fields, default: Fields, limit: float) -> tuple[float, ...]:
    """The ranking of settings, the best first."""
    delay = _delay(row)
    # Settings that are too slow are ranked by their delay.
    return (
        float(delay > limit),
        row["requests"] if delay <= limit else delay,
        delay,
        # Keep the present settings if a change gains nothing.
        float(_settings(row) != _settings(default)),
        row["batch_size"],
        row["linger_ms"],
    )


def _reason(best: Fields, default: Fields, limit: float) -> str:
    what = f"{best['strategy']} with batch.size={best['batch_size']} and linger.ms={best['linger_ms']}"
    requests, delay = counted(best["requests"], "request"), f"a p99 delay of {best['p99_delay_ms']} ms"
    if _delay(best) > limit:
        return f"no setting has a p99 delay of {limit} ms or less: the nearest is {what}, with {delay} and {requests}"
    if _settings(best) == _settings(default):
        return f"{what}, as it is set now, sends {requests}, with {delay}: none sends fewer with {limit} ms or less"
    versus = f"sends {requests} instead of {default['requests']:,}, with {delay} instead of {default['p99_delay_ms']}"
    return f"{what} {versus}: the fewest requests of all with {limit} ms or less"


def _table(rows: list[Json]) -> pa.Table:
    own = {"rank": pa.int32(), "strategy": pa.string(), "batch_size": pa.int64(), "linger_ms": pa.int64()}
    own |= {"is_on_front": pa.bool_()}
    summary = [field for field in SUMMARY if field.name not in {"name", *own}]
    return pa.Table.from_pylist(rows, pa.schema([*own.items(), *summary]))

"""When one writer followed another: the time, or the offsets, that separate their records best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import Json
from partwright.files.scalars import number

# A course over time is cut into this many spans.
_SPANS = 40
# Of the records that only one of two writers explains, this share may be on the other's side, as in a rolling
# deployment.
_OVERLAP = 0.02


@dataclass(frozen=True)
class Change:
    """When a topic's writer or its number of partitions changed.

    Attributes:
        kind: `n` or `writer`.
        before: The number of partitions, or the writer's profile, before.
        after: The same after the change, or after the last of several.
        last_timestamp_before: The timestamp of the last record that only the former explains; None without timestamps.
        first_timestamp_after: The timestamp of the first record that only the latter explains; None without timestamps.
        first_offset_after: By partition, the offset of the first record which only the latter explains; empty
            without offsets.
        steps: All numbers of partitions, or writers, in order.
    """

    kind: str
    before: int | str
    after: int | str
    last_timestamp_before: int | None
    first_timestamp_after: int | None
    first_offset_after: dict[int, int]
    steps: tuple[int | str, ...]

    def to_dict(self) -> Json:
        """The object for the JSON output."""
        names = {"before": "from", "after": "to"}
        return {names.get(name, name): value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Parting:
    """The boundary between the records of two writers.

    Attributes:
        last_before: The time of the last record of the former; None without times.
        first_after: The time of the first record of the latter.
        first_offsets: By partition, the first offset of the latter.
    """

    last_before: int | None
    first_after: int | None
    first_offsets: dict[int, int]


def parting(former: pa.Table, latter: pa.Table) -> Parting | None:
    """Where the records of two writers part; None if the latter's do not follow the former's.

    A few records on the wrong side are ignored.

    Args:
        former: The pairs of a key and a partition that only the first writer explains.
        latter: The pairs that only the second explains.
    """
    if former["last"].null_count < len(former) and latter["first"].null_count < len(latter):
        return _by_time(former, latter)
    return _by_offset(former, latter)


def _by_time(former: pa.Table, latter: pa.Table) -> Parting | None:
    # A pair's first and last record each stand for half of its rows.
    points = pa.concat_tables(
        pa.table({"time": pairs[name], "rows": pairs["rows"], "side": pa.repeat(side, len(pairs))})
        for side, pairs in enumerate((former, latter))
        for name in ("first", "last")
    )
    points = points.filter(pc.is_valid(points["time"])).sort_by(
        [("time", "ascending"), ("side", "ascending")]
    )
    of_latter = pc.multiply(points["rows"], points["side"])
    of_former = pc.subtract(points["rows"], of_latter)
    # If the change is at a point, the latter's records before it are wrong, and the former's after it.
    wrong = pc.add(pc.cumulative_sum(of_latter), pc.subtract(pc.sum(of_former), pc.cumulative_sum(of_former)))
    least = pc.min(wrong).as_py()
    if least > _OVERLAP * min(pc.sum(of_former).as_py(), pc.sum(of_latter).as_py()):
        return None
    change = points["time"][pc.index(wrong, least).as_py()]
    before = points.filter(
        pc.and_(pc.equal(points["side"], number(0)), pc.less_equal(points["time"], change))
    )
    after = points.filter(
        pc.and_(pc.equal(points["side"], number(1)), pc.greater_equal(points["time"], change))
    )
    return Parting(
        pc.max(before["time"]).as_py(),
        pc.min(after["time"]).as_py(),
        _first_offsets(latter.filter(pc.greater_equal(latter["first"], change))),
    )


def _by_offset(former: pa.Table, latter: pa.Table) -> Parting | None:
    last = former.group_by("partition", use_threads=False).aggregate([("last_offset", "max")])
    ends = dict(zip(last["partition"].to_pylist(), last["last_offset_max"].to_pylist(), strict=True))
    starts = _first_offsets(latter)
    both = [each for each in starts if ends.get(each) is not None]
    if not both or any(ends[each] >= starts[each] for each in both):
        return None
    return Parting(None, None, starts)


def _first_offsets(pairs: pa.Table) -> dict[int, int]:
    first = pairs.group_by("partition", use_threads=False).aggregate([("first_offset", "min")])
    return {
        row["partition"]: row["first_offset_min"]
        for row in sorted(first.to_pylist(), key=lambda row: row["partition"])
        if row["first_offset_min"] is not None
    }


def course(alone: Mapping[str, pa.Table]) -> tuple[Json, ...]:
    """How many records each writer alone explains, over time; empty without times.

    A key's records in a partition are assumed to be spread evenly between its first and its last.

    Args:
        alone: By writer, the pairs of a key and a partition that it alone explains.

    Returns:
        Spans of the same length, each with `from_ms`, `to_ms` and `rows`, records by writer.
    """
    dated = {name: pairs.filter(pc.is_valid(pairs["first"])) for name, pairs in alone.items()}
    dated = {name: pairs for name, pairs in dated.items() if pairs.num_rows}
    if not dated:
        return ()
    start = min(pc.min(pairs["first"]).as_py() for pairs in dated.values())
    end = max(pc.max(pairs["last"]).as_py() for pairs in dated.values()) + 1
    wide = max(1, -(-(end - start) // _SPANS))
    counts_by_writer = {name: _by_span(pairs, start, wide) for name, pairs in dated.items()}
    return tuple(
        {
            "from_ms": start + at * wide,
            "to_ms": start + (at + 1) * wide,
            "rows": {name: round(counts[at], 1) for name, counts in counts_by_writer.items()},
        }
        for at in range(-(-(end - start) // wide))
    )


def _by_span(pairs: pa.Table, start: int, wide: int) -> list[float]:
    """The records of some pairs in each span of time."""
    places = {
        name: pc.divide(pc.subtract(pairs[name], number(start)), number(wide)) for name in ("first", "last")
    }
    ends = pa.table({**places, "rows": pairs["rows"]}).group_by(["first", "last"], use_threads=False)
    counts = [0.0] * (_SPANS + 1)
    for row in ends.aggregate([("rows", "sum")]).to_pylist():
        spans = range(row["first"], row["last"] + 1)
        for at in spans:
            counts[at] += row["rows_sum"] / len(spans)
    return counts

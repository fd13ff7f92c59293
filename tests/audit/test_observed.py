"""What was seen is the same whatever the batches were, in one summary or in several that are merged."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partwright as pw
from partwright.audit import observed
from partwright.audit.columns import milliseconds
from partwright.audit.fingerprint import judge
from partwright.audit.observed import Observed

RECORD = st.tuples(
    st.none() | st.sampled_from([b"", b"a", b"b", b"c"]),
    st.integers(0, 2),
    st.none() | st.integers(-3, 3),
    st.none() | st.integers(0, 9),
)


def add(seen: Observed, records: list[tuple[Any, ...]]) -> None:
    keys, *others = zip(*records, strict=True) if records else [()] * 4
    seen.add(pa.array(keys, pa.binary()), *(pa.array(column, pa.int64()) for column in others))


@settings(deadline=None)
@given(st.lists(st.lists(RECORD, max_size=6), max_size=5), st.sampled_from([0, 1 << 20]), st.integers(0, 5))
def test_any_batches_give_the_same(batches: list[list[tuple[Any, ...]]], pending: int, split: int) -> None:
    records = [record for batch in batches for record in batch]
    wanted: dict[tuple[Any, Any], list[tuple[Any, Any]]] = defaultdict(list)
    for key, partition, time, offset in records:
        if key is not None:
            wanted[partition, key].append((time, offset))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(observed, "_PENDING", pending)
        seen, other = Observed(), Observed()
        for place, batch in enumerate(batches):
            add(seen if place < split else other, batch)
        seen.merge(other)
    assert (seen.rows, seen.is_sampled) == (len(records), False)
    assert seen.rows_in == Counter(partition for _, partition, _, _ in records)
    assert seen.null_keys_in == Counter(partition for key, partition, _, _ in records if key is None)
    assert seen.null_keys == seen.null_keys_in.total()
    assert {(row["partition"], row["key"]): row for row in seen.pairs().to_pylist()} == {
        pair: {
            "partition": pair[0],
            "key": pair[1],
            "rows": len(found),
            "first": min((time for time, _ in found if time is not None), default=None),
            "last": max((time for time, _ in found if time is not None), default=None),
            "first_offset": min((offset for _, offset in found if offset is not None), default=None),
            "last_offset": max((offset for _, offset in found if offset is not None), default=None),
        }
        for pair, found in wanted.items()
    }
    # By time where there is one, and as they came otherwise.
    dated = sorted((record for record in records if record[2] is not None), key=lambda record: record[2])
    order = dated + [record for record in records if record[2] is None]
    assert seen.order()["partition"].to_pylist() == [partition for _, partition, _, _ in order]


def test_of_too_many_keys_the_same_are_kept_whatever_the_parts() -> None:
    draw = random.Random(7)
    records = [(b"key %d" % draw.randrange(5000), draw.randrange(3), None, None) for _ in range(20_000)]
    whole, first, second = Observed(most=1000), Observed(most=1000), Observed(most=1000)
    add(whole, records)
    add(first, records[:10_000])
    add(second, records[10_000:])
    first.merge(second)
    for seen in (whole, first):
        pairs = seen.pairs()
        assert seen.is_sampled
        assert 250 < pairs.num_rows <= 1000
        # Of each key that is kept, all.
        rows = Counter((partition, key) for key, partition, _, _ in records)
        kept = {key for _, key in zip(pairs["partition"].to_pylist(), pairs["key"].to_pylist(), strict=True)}
        assert pc.sum(pairs["rows"]).as_py() == sum(count for (_, key), count in rows.items() if key in kept)
    assert whole.pairs().sort_by([("key", "ascending"), ("partition", "ascending")]) == first.pairs().sort_by(
        [("key", "ascending"), ("partition", "ascending")]
    )


def test_what_is_found_in_a_sample_is_what_there_is() -> None:
    keys = [f"key {row}" for row in range(50_000)]
    seen = Observed(most=2000)
    seen.add(pa.array(keys).cast(pa.binary()), pw.partition_for_key(keys, 12, "sarama").cast(pa.int64()))
    found = judge(seen)
    assert (found.verdict, found.n, found.is_sampled, found.rows) == ("one-writer", 12, True, 50_000)
    assert "sarama" in found.family
    assert 500 < found.keys <= 2000


def test_the_earliest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed, "_EARLIEST", 10)
    seen = Observed()
    for start in (50, 0, 100):
        add(seen, [(b"a", time, time, None) for time in range(start, start + 50)])
    assert seen.order()["partition"].to_pylist() == list(range(10))
    undated = Observed()
    for start in (50, 0):
        add(undated, [(b"a", place, None, None) for place in range(start, start + 50)])
    assert undated.order()["partition"].to_pylist() == list(range(50, 60))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (pa.array([1, None], pa.int32()), [1, None]),
        (pa.array([1_500_000], pa.timestamp("us")), [1500]),
        (pa.array([1], pa.timestamp("s", "Europe/Berlin")), [1000]),
        (
            pa.array(
                ["1970-01-01T00:00:01.5", "1970-01-01 00:00:02", "1970-01-01T02:00:00+02:00", None, "-5"]
            ),
            [1500, 2000, 0, None, -5],
        ),
        (pa.nulls(2), [None, None]),
    ],
)
def test_times_are_milliseconds(given: pa.Array, wanted: list[int | None]) -> None:
    assert milliseconds(given).to_pylist() == wanted

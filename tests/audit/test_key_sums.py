"""The sums are the same however records are cut into batches, in one summary or in several that are merged."""

from __future__ import annotations

import mmap
import pickle
import random
from collections import Counter, defaultdict
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partwright as pw
from partwright import _core
from partwright.audit import key_sums
from partwright.audit.fingerprint_judge import judge
from partwright.audit.key_sums import Observed
from partwright.audit.pair_tables import ROWS, HeavyPairs, sums_of
from partwright.audit.record_columns import milliseconds

RECORD = st.tuples(
    st.none() | st.sampled_from([b"", b"a", b"b", b"c"]),
    st.integers(0, 2),
    st.none() | st.integers(-3, 3),
    st.none() | st.integers(0, 9),
    st.none() | st.integers(0, 99),
)


def add(seen: Observed, records: list[tuple[Any, ...]]) -> None:
    keys, *others = zip(*records, strict=True) if records else [()] * 5
    seen.add(pa.array(keys, pa.binary()), *(pa.array(column, pa.int64()) for column in others))


def known(records: list[list[Any]], place: int) -> list[Any]:
    return [record[place] for record in records if record[place] is not None]


@settings(deadline=None)
@given(st.lists(st.lists(RECORD, max_size=6), max_size=5), st.sampled_from([0, 5]), st.integers(0, 5))
def test_any_batches_give_the_same(batches: list[list[tuple[Any, ...]]], left_out: int, split: int) -> None:
    records = [record for batch in batches for record in batch]
    wanted: dict[tuple[Any, Any], list[list[Any]]] = defaultdict(list)
    for key, partition, *rest in records:
        if key is not None:
            wanted[partition, key].append(rest)
    seen, other = Observed(), Observed()
    for place, batch in enumerate(batches):
        if place == left_out:
            # From now on as if keys had been left out: rows are summed up separately, for the heaviest keys.
            seen._heaviest()
        add(seen if place < split else other, batch)
    seen.merge(other)
    assert (seen.rows, seen.is_sampled) == (len(records), False)
    assert seen.rows_in == Counter(record[1] for record in records)
    assert seen.null_keys_in == Counter(record[1] for record in records if record[0] is None)
    assert seen.null_keys == seen.null_keys_in.total()
    assert {(row["partition"], row["key"]): row for row in seen.pairs().to_pylist()} == {
        pair: {
            "partition": pair[0],
            "key": pair[1],
            "rows": len(found),
            "bytes": sum(sizes) if (sizes := known(found, 2)) else None,
            "first": min(known(found, 0), default=None),
            "last": max(known(found, 0), default=None),
            "first_offset": min(known(found, 1), default=None),
            "last_offset": max(known(found, 1), default=None),
        }
        for pair, found in wanted.items()
    }
    # By time if there is one, otherwise in the order of arrival.
    dated = sorted((record for record in records if record[2] is not None), key=lambda record: record[2])
    order = dated + [record for record in records if record[2] is None]
    assert seen.order()["partition"].to_pylist() == [record[1] for record in order]


def test_of_too_many_keys_the_same_are_kept_whatever_the_parts() -> None:
    draw = random.Random(7)
    records = [(b"key %d" % draw.randrange(5000), draw.randrange(3), None, None, 1) for _ in range(20_000)]
    whole, first, second = Observed(most=1000), Observed(most=1000), Observed(most=1000)
    add(whole, records)
    add(first, records[:10_000])
    add(second, records[10_000:])
    first.merge(second)
    for seen in (whole, first):
        pairs = seen.pairs()
        assert seen.is_sampled
        assert 250 < pairs.num_rows <= 1000
        # All records of each key that is kept.
        rows = Counter((partition, key) for key, partition, *_ in records)
        kept = {key for _, key in zip(pairs["partition"].to_pylist(), pairs["key"].to_pylist(), strict=True)}
        assert pc.sum(pairs["rows"]).as_py() == sum(count for (_, key), count in rows.items() if key in kept)
    assert whole.pairs().sort_by([("key", "ascending"), ("partition", "ascending")]) == first.pairs().sort_by(
        [("key", "ascending"), ("partition", "ascending")]
    )


def skewed(draw: random.Random, rows: int) -> list[bytes]:
    """Some keys with many rows among many with one or two."""
    return [
        b"heavy %d" % draw.randrange(4) if draw.random() < 0.3 else b"key %d" % draw.randrange(rows)
        for _ in range(rows)
    ]


@pytest.mark.parametrize("parts", [1, 7])
def test_the_heaviest_of_too_many_keys_are_known(parts: int) -> None:
    draw = random.Random(20261121)
    keys = skewed(draw, 40_000)
    wholes = []
    for part in range(parts):
        seen = Observed(most=3000)
        mine = pa.array(keys[part::parts], pa.binary())
        for start in range(0, len(mine), 4096):
            some = mine.slice(start, 4096)
            seen.add(some, pw.partition_for_key(some, 12).cast(pa.int64()))
        wholes.append(seen)
    seen = wholes[0]
    for other in wholes[1:]:
        seen.merge(other)
    counts = Counter(keys)
    assert seen.is_sampled
    heaviest = seen.heaviest(4)
    assert {each.key for each in heaviest} == {b"heavy %d" % place for place in range(4)}
    for each in heaviest:
        assert each.rows <= counts[each.key] <= each.at_most
        assert each.partition == pw.partition_for_key(each.key, 12)
    assert seen.keys() == pytest.approx(len(counts), rel=0.1)
    assert sum(seen.keys_in().values()) == seen.keys()
    whole = seen.whole()
    assert pc.sum(whole["rows"]).as_py() == pytest.approx(len(keys), rel=0.1)
    assert pc.sum(whole["keys"]).as_py() == pytest.approx(len(counts), rel=0.1)


@settings(deadline=None)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=40), max_size=6),
    st.booleans(),
)
def test_a_heavy_pair_lacks_no_more_than_is_said(parts: list[list[tuple[int, int]]], merge: bool) -> None:
    counts: Counter[int] = Counter()
    heavy = HeavyPairs(counters=8)
    for part in parts:
        grouped: Counter[int] = Counter()
        for key, rows in part:
            grouped[key] += rows
        counts += grouped
        table = pa.table(
            {
                "partition": pa.array([0] * len(grouped), pa.int64()),
                "key": pa.array([b"%d" % key for key in grouped], pa.binary()),
                "rows": pa.array(grouped.values(), pa.int64()),
            }
        )
        if merge:
            other = HeavyPairs(counters=8)
            other.add(sums_of(table))
            heavy.merge(other)
        else:
            heavy.add(sums_of(table))
    kept = {int(row["key"]): row["rows"] for row in heavy.table().to_pylist()}
    assert len(kept) <= 8
    assert heavy.missed * 9 <= counts.total()
    for key, rows in counts.items():
        assert kept.get(key, 0) <= rows <= kept.get(key, 0) + heavy.missed


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 30))
def test_a_heavy_key_in_several_partitions_lacks_no_more_than_is_said(
    seed: int, parts: int, counters: int
) -> None:
    draw = random.Random(seed)
    counts: Counter[bytes] = Counter()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("partwright.audit.key_sums.HeavyPairs", lambda: HeavyPairs(counters))
        wholes = [Observed(most=20) for _ in range(parts)]
        for _ in range(10):
            keys = [b"heavy" if draw.random() < 0.3 else b"%d" % draw.randrange(300) for _ in range(50)]
            counts.update(keys)
            places = [None if draw.random() < 0.1 else draw.randrange(5) for _ in keys]
            draw.choice(wholes).add(pa.array(keys), pa.array(places, pa.int64()))
        while len(wholes) > 1:
            place = draw.randrange(len(wholes) - 1)
            wholes[place].merge(wholes.pop(place + 1))
        assert wholes[0].is_sampled
        for each in wholes[0].heaviest(10):
            assert each.rows <= counts[each.key] <= each.at_most


def test_sums_without_the_heaviest_say_so() -> None:
    seen = Observed()
    seen.add(pa.array([b"a", b"b"]), pa.array([1, 2]))
    totals = pa.table({"partition": [1, 2], "rows": [1, 1], "null_keys": [0, 0], "bytes": [None, None]})
    other = Observed.of_sums(totals, seen.pairs(), 2)
    assert other.keys() == 4
    with pytest.raises(RuntimeError, match="without the heaviest"):
        other.heaviest(1)


def test_of_partitions_with_as_many_rows_the_first_is_that_of_the_key() -> None:
    for places in ([7, 3, 5], [3, 5, 7], [5, 7, 3]):
        seen = Observed()
        seen.add(pa.array([b"a"] * 3), pa.array(places))
        assert seen.heaviest(1)[0].partition == 3


def test_heavy_keys_of_many_bytes_are_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partwright.audit.pair_tables._MOST_BYTES", 1 << 16)
    heavy = HeavyPairs()
    table = pa.table(
        {
            "partition": pa.array([0] * 20, pa.int64()),
            "key": pa.array([b"%04d" % row + bytes(10_000) for row in range(20)]),
            "rows": pa.array(range(1, 21), pa.int64()),
        }
    )
    heavy.add(sums_of(table))
    assert [row["key"][:4] for row in heavy.table().to_pylist()] == [b"00%d" % row for row in range(15, 20)]
    assert heavy.missed == 15


def test_long_keys_are_left_out_before_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_sums, "_MOST_BYTES", 1 << 20)
    seen, most = Observed(), 0
    for batch in range(40):
        keys = pa.array([b"%08d" % (batch * 10 + row) + bytes(10_000) for row in range(10)])
        seen.add(keys, pa.array([1] * 10))
        most = max(most, seen._kept.key_bytes + seen._latest.key_bytes)
    assert seen.is_sampled
    assert most < 2 << 20


def test_a_slice_of_more_keys_than_32_bits_count_is_taken() -> None:
    # No memory is touched except the last page: by the offsets, the keys are at the end of 3 GiB.
    end = 3 << 30
    with mmap.mmap(-1, end) as memory:
        memory[end - 4 :] = b"aabb"
        offsets = pa.array([0, end - 4, end - 2, end], pa.int64()).buffers()[1]
        whole = pa.Array.from_buffers(pa.large_string(), 3, [None, offsets, pa.py_buffer(memory)])
        for keys in (whole.slice(1), whole.slice(2)):
            found = pw.check_contract(keys, n=12, max_share=1.0).to_dict()
            assert [each["key"] for each in found["heavy_keys"]] == keys.to_pylist()
        del whole, keys


@pytest.mark.parametrize(
    "type_", [pa.large_binary(), pa.binary_view(), pa.dictionary(pa.int32(), pa.binary())]
)
def test_keys_of_any_layout_are_the_same(type_: pa.DataType) -> None:
    keys = pa.array([None if row % 7 == 6 else b"a key of %d bytes" % (row % 50) for row in range(1000)])
    wanted, seen = Observed(), Observed()
    for each, column in ((wanted, keys), (seen, keys.cast(type_))):
        each.add(column, pa.array([3] * 1000), sizes=pa.array(range(1000)))
    assert seen.pairs() == wanted.pairs()
    assert seen.null_keys == wanted.null_keys == 142


def test_what_was_seen_can_be_copied_and_goes_on() -> None:
    batches = [pa.array([b"%d" % draw for draw in range(start, 5000)]) for start in (0, 10)]
    whole, first = Observed(most=1000), Observed(most=1000)
    for seen, keys in ((whole, batches[0]), (whole, batches[1]), (first, batches[0])):
        seen.add(keys, pa.array([1] * len(keys)), sizes=pa.array([2] * len(keys)))
    copied = pickle.loads(pickle.dumps(first))  # noqa: S301 - what was dumped right here
    copied.add(batches[1], pa.array([1] * len(batches[1])), sizes=pa.array([2] * len(batches[1])))
    assert copied.pairs() == whole.pairs()
    assert copied.heaviest(3) == whole.heaviest(3)


def test_what_waits_to_be_merged_is_copied_as_well() -> None:
    first = Observed(most=1000)
    first.add(pa.array([b"%d" % draw for draw in range(3000)]), pa.array([1] * 3000))
    # Fewer than are kept at most, so they wait; merged, they halve the hashes that are kept.
    first.add(pa.array([b"%d" % draw for draw in range(3000, 3999)]), pa.array([1] * 999))
    heavy = HeavyPairs(counters=8)
    heavy.add(sums_of(pa.table([[0] * 8, [b"%d" % row for row in range(8)], range(1, 9)], ROWS.names)))
    heavy.add(sums_of(pa.table([[1] * 8, [b"%d" % row for row in range(8)], range(1, 9)], ROWS.names)))
    copied, its_heavy = pickle.loads(pickle.dumps((first, heavy)))  # noqa: S301 - what was dumped right here
    assert (copied.scale, copied.pairs()) == (first.scale, first.pairs())
    assert (its_heavy.missed, its_heavy.table()) == (heavy.missed, heavy.table())
    assert heavy.missed > 0


def test_columns_of_another_length_or_type_are_refused() -> None:
    keys = pa.array([b"a", b"b"])
    for partitions in (pa.array([1]), pa.array([1, 2], pa.int32())):
        with pytest.raises(pw.KeyTypeError, match="columns of int64 as long as the keys"):
            _core.KeySums().add(keys, partitions, [None] * 5)


def test_two_are_compared_by_the_keys_that_both_keep() -> None:
    keys = pa.array([b"key %d" % row for row in range(5000)])
    exact, over = Observed(), Observed(most=1000)
    for seen in (exact, over):
        seen.add(keys, pa.array([0] * 5000))
    assert (exact.scale, over.scale) == (1, 8)
    for ours, theirs, share in (exact.comparable(over), over.comparable(exact)):
        assert share == 1 / 8
        assert set(ours["key"].to_pylist()) == set(theirs["key"].to_pylist())
        assert 300 < len(ours) <= 1000


def test_what_another_engine_has_summed_up_is_the_same() -> None:
    draw = random.Random(7)
    keys = skewed(draw, 20_000)
    for most in (1000, 1_000_000):
        seen = Observed(most=most)
        seen.add(pa.array([None, *keys], pa.binary()), pa.array([row % 5 for row in range(20_001)]))
        totals = pa.table(
            {
                "partition": list(seen.rows_in),
                "rows": list(seen.rows_in.values()),
                "null_keys": [seen.null_keys_in[each] for each in seen.rows_in],
                "bytes": pa.nulls(5, pa.int64()),
            }
        )
        other = Observed.of_sums(totals, seen.pairs(), seen.scale, seen.heavy_pairs(), seen.order)
        for name in ("rows", "null_keys", "null_keys_in", "rows_in", "bytes_in", "is_sampled", "scale"):
            assert getattr(other, name) == getattr(seen, name), name
        assert (other.keys(), other.keys_in(), other.order()) == (seen.keys(), seen.keys_in(), seen.order())
        assert [each.key for each in other.heaviest(4)] == [each.key for each in seen.heaviest(4)]


def test_what_is_found_in_a_sample_is_what_there_is() -> None:
    keys = [f"key {row}" for row in range(50_000)]
    seen = Observed(most=2000)
    seen.add(pa.array(keys).cast(pa.binary()), pw.partition_for_key(keys, 12, "sarama").cast(pa.int64()))
    found = judge(seen)
    assert (found.verdict, found.n, found.is_sampled, found.rows) == ("one-writer", 12, True, 50_000)
    assert "sarama" in found.family
    assert 500 < found.keys <= 2000


def test_the_earliest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_sums, "EARLIEST", 10)
    seen = Observed()
    for start in (50, 0, 100):
        add(seen, [(b"a", time, time, None, None) for time in range(start, start + 50)])
    assert seen.order()["partition"].to_pylist() == list(range(10))
    # If times are equal, the records that came first, in their order, whatever comes later.
    ties = Observed()
    for place, time in enumerate([3, 1, 1, 2, 2, 1, 2, 3, 1, 1, 2, 2, 3, 1, 2]):
        add(ties, [(b"a", place, time, None, None)])
    assert ties.order()["partition"].to_pylist() == [1, 2, 5, 8, 9, 13, 3, 4, 6, 10]
    undated = Observed()
    for start in (50, 0):
        add(undated, [(b"a", place, None, None, None) for place in range(start, start + 50)])
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
        (pa.array([7], pa.uint64()), [7]),
    ],
)
def test_times_are_milliseconds(given: pa.Array, wanted: list[int | None]) -> None:
    assert milliseconds(given).to_pylist() == wanted


@pytest.mark.parametrize(
    "given", [pa.array([2**63], pa.uint64()), pa.array([2**62], pa.timestamp("s")), pa.array(["soon"])]
)
def test_what_is_no_time_is_refused(given: pa.Array) -> None:
    with pytest.raises(pw.PartwrightError, match=r"^the timestamps from row 5 on are not times \("):
        milliseconds(given, 5)

"""Quotas and ranges: they equal the assignors' own counts, keep nulls, and refuse wrong numbers."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

import partwright as pw
from partwright.assignors import quotas

MOST = 2**31 - 1


def test_they_are_what_the_assignors_give() -> None:
    draw = random.Random(5)
    for _ in range(300):
        partitions, members = draw.randint(0, 60), draw.randint(1, 40)
        names = sorted(f"c{number}" for number in range(members))
        group = {name: ["t"] for name in draw.sample(names, members)}
        ranges = pw.assign({"t": partitions}, group, "range").to_dict()
        starts = quotas.range_start(list(range(members)), partitions, members).to_pylist()
        lengths = quotas.range_length(list(range(members)), partitions, members).to_pylist()
        for name, start, length in zip(names, starts, lengths, strict=True):
            assert [at for _, at in ranges[name]] == list(range(start, start + length))
        spread = pw.assign({"t": partitions}, group, "sticky").spread()
        assert (spread.min, spread.max) == (
            quotas.min_quota(partitions, members),
            quotas.max_quota(partitions, members),
        )


def test_columns_and_numbers_give_the_same() -> None:
    draw = random.Random(6)
    rows = [
        (place := draw.randrange(5), draw.randint(0, MOST), place + draw.randint(1, 9)) for _ in range(200)
    ]
    index, partitions, members = (list(column) for column in zip(*rows, strict=True))
    owned = [draw.randint(0, MOST) for _ in rows]
    of_two, of_owned, of_index = ([*first, partitions, members] for first in ([], [owned], [index]))
    for function, given in [
        (quotas.min_quota, of_two),
        (quotas.max_quota, of_two),
        (quotas.under_min_quota, of_owned),
        (quotas.over_max_quota, of_owned),
        (quotas.range_start, of_index),
        (quotas.range_length, of_index),
    ]:
        expected = [function(*row) for row in zip(*given, strict=True)]
        assert function(*given).to_pylist() == expected
        for kind in [pa.int32(), pa.uint64()]:
            assert function(*(pa.array(column, kind) for column in given)).to_pylist() == expected
        chunked = [pa.chunked_array([column[:70], column[70:]]) for column in given]
        assert function(*chunked).to_pylist() == expected


def test_a_null_in_any_argument_gives_a_null() -> None:
    assert quotas.min_quota([8, None, 8], [None, 3, 3]).to_pylist() == [None, None, 2]
    assert quotas.max_quota(None, 3) is None
    assert quotas.max_quota(8, [None, 3]).to_pylist() == [None, 3]
    assert quotas.under_min_quota([None, 1], 8, 3).to_pylist() == [None, True]
    assert quotas.over_max_quota(4, [None, 8], 3).to_pylist() == [None, True]
    for function in (quotas.range_start, quotas.range_length):
        assert function([0, None, 0], [None, 8, 8], 3).to_pylist()[:2] == [None, None]
    zero_below_null = pa.Array.from_buffers(
        pa.int32(), 2, [pa.py_buffer(b"\x01"), pa.array([3, 0], pa.int32()).buffers()[1]]
    )
    assert quotas.min_quota(7, zero_below_null).to_pylist() == [2, None]


def random_column(draw: random.Random, numbers: list[int | None]) -> Any:
    """The numbers as a column of some width, with values under its nulls, as a slice of a longer one or in chunks."""
    kind = draw.choice([pa.int32(), pa.int64(), pa.uint32(), pa.uint64()])
    valid = pa.array([number is not None for number in numbers], pa.bool_())
    odd = -1 if pa.types.is_signed_integer(kind) else 2**31
    below = pa.array([draw.choice([0, odd]) if number is None else number for number in numbers], kind)
    column = pa.Array.from_buffers(kind, len(numbers), [valid.buffers()[1], below.buffers()[1]])
    if draw.random() < 0.3:
        longer = pa.concat_arrays([pa.array([0] * 3, kind), column, pa.array([0], kind)])
        return longer.slice(3, len(numbers))
    if draw.random() < 0.5:
        ends = sorted(draw.randint(0, len(numbers)) for _ in range(3))
        spans = zip([0, *ends], [*ends, len(numbers)], strict=True)
        return pa.chunked_array([column.slice(first, end - first) for first, end in spans], kind)
    return column


def test_any_columns_give_what_whole_numbers_give(seed: int) -> None:
    """The kernel's blocks, their ends, nulls over values out of range, widths, slices, and chunks that differ."""
    draw = random.Random(seed)
    for _ in range(60):
        rows = draw.choice([0, 1, 63, 64, 65, 1023, 1024, 1025, 2500])
        members = [draw.choice([draw.randint(1, 9), draw.randint(1, MOST)]) for _ in range(rows)]
        partitions = [
            draw.choice([draw.randint(0, 30), each * draw.randint(0, 9) % MOST]) for each in members
        ]
        place = [draw.randrange(each) for each in members]
        owned = [
            draw.choice([each // of, -(-each // of), 0, MOST])
            for each, of in zip(partitions, members, strict=True)
        ]
        expected: dict[str, Any] = {
            "min_quota": lambda _, all_, of: all_ // of,
            "max_quota": lambda _, all_, of: -(-all_ // of),
            "under_min_quota": lambda first, all_, of: first < all_ // of,
            "over_max_quota": lambda first, all_, of: first > -(-all_ // of),
            "range_start": lambda first, all_, of: first * (all_ // of) + min(first, all_ % of),
            "range_length": lambda first, all_, of: all_ // of + (first < all_ % of),
        }
        for name, rule in expected.items():
            first = place if name.startswith("range") else owned
            with_nulls = [
                [None if draw.random() < 0.1 else number for number in column]
                for column in (first, partitions, members)
            ]
            told = [None if None in row else rule(*row) for row in zip(*with_nulls, strict=True)]
            given = with_nulls[1:] if name in ("min_quota", "max_quota") else with_nulls
            if name in ("min_quota", "max_quota"):
                told = [None if None in row else rule(0, *row) for row in zip(*given, strict=True)]
            found = getattr(quotas, name)(*(random_column(draw, column) for column in given))
            assert found.to_pylist() == told, name
            found.validate(full=True)


def test_the_first_wrong_number_of_the_first_wrong_argument_is_told() -> None:
    partitions = pa.chunked_array([list(range(1500)), [1, -1]])
    with pytest.raises(
        pw.PartwrightError, match=r"^row 1501: partitions is 0 to 2147483647, not -1$"
    ) as refused:
        quotas.min_quota(partitions, 3)
    assert (refused.value.row, refused.value.field, refused.value.value) == (1501, "partitions", -1)
    members = [1] * 2000 + [0]
    with pytest.raises(pw.PartwrightError, match=r"^row 2000: owned is 0 to 2147483647, not -5$"):
        quotas.under_min_quota([0] * 2000 + [-5], 8, members)
    with pytest.raises(pw.PartwrightError, match=r"^members is 1 to 2147483647, not 0$"):
        quotas.min_quota([], 0)
    with pytest.raises(pw.PartwrightError, match=r"^row 1: index is 0 to 1 among 2 members, not 2$"):
        quotas.range_start(2, 8, [3, 2])
    with pytest.raises(pw.PartwrightError, match=r"^row 2: index is 0 to 1 among 2 members, not 2$"):
        quotas.range_start(pa.chunked_array([[1, None], [2]]), 8, 2)


def test_results_are_of_kafkas_types_and_columns_may_be_empty() -> None:
    assert quotas.min_quota([], 3).type == quotas.range_start([], 8, 3).type == pa.int32()
    assert quotas.over_max_quota([], 8, 3).type == pa.bool_()
    assert quotas.min_quota(pa.nulls(2), 3).to_pylist() == [None, None]
    assert quotas.range_start(MOST - 1, MOST, MOST) == MOST - 1
    numpy = pytest.importorskip("numpy")
    assert quotas.min_quota(numpy.int64(8), numpy.array([2, 3])).to_pylist() == [4, 2]
    assert quotas.min_quota(pa.scalar(8), 3) == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((8, 0), "members is 1 to 2147483647, not 0"),
        ((8, [3, 0]), "row 1: members is 1 to 2147483647, not 0"),
        ((8, [3, None, -2]), "row 2: members is 1 to 2147483647, not -2"),
        (([-1], 3), "row 0: partitions is 0 to 2147483647, not -1"),
        ((2**31, 3), "partitions is 0 to 2147483647, not 2147483648"),
        ((pa.array([2**64 - 1], pa.uint64()), 3), f"row 0: partitions is 0 to 2147483647, not {2**64 - 1}"),
        ((2**70, 3), f"partitions is a whole number from 0 to 2147483647, or a column of them, not {2**70}"),
        ((True, 3), "partitions is a whole number from 0 to 2147483647, or a column of them, not True"),
        (("8", 3), "partitions is a whole number from 0 to 2147483647, or a column of them, not '8'"),
        (([1.5], 3), "partitions is whole numbers, not double"),
        ((["8"], 3), "partitions is whole numbers, not string"),
        (([1, 2], [3]), "the columns differ in length: partitions has 2, members has 1 rows"),
    ],
)
def test_what_is_no_number_of_partitions_is_refused(arguments: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        quotas.min_quota(*arguments)
    assert str(refused.value) == sentence


def test_a_place_is_one_of_a_member() -> None:
    with pytest.raises(pw.PartwrightError, match=r"^row 1: index is 0 to 2 among 3 members, not 3$"):
        quotas.range_start([2, 3], 8, 3)
    with pytest.raises(pw.PartwrightError, match=r"^index is 0 to 2 among 3 members, not 7$"):
        quotas.range_length(7, 8, 3)


def test_pandas_nullable_numbers_are_a_column() -> None:
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([8, None], dtype="Int64")
    assert quotas.min_quota(series, 3).to_pylist() == [2, None]


def test_an_error_is_one_line_also_of_a_frame() -> None:
    polars = pytest.importorskip("polars")
    with pytest.raises(
        pw.PartwrightError, match=r"^partitions is a whole number .*, not a value of type Series$"
    ):
        quotas.min_quota(polars.Series([8], dtype=polars.Int128), 3)

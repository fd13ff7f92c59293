"""The key types that write numbers and times as text: as Java's own classes do, whatever Python type is given."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import partwright as pw
from partwright.keys.key_text import read_key

GOLDEN: dict[str, list[list[Any]]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "text_forms.json").read_text(encoding="ascii")
)
BERLIN = dt.timezone(dt.timedelta(hours=1))


def column_of(key_type: str) -> tuple[pa.Array, list[list[Any]]]:
    """The values that one Arrow column can hold, and their cases."""
    cases = GOLDEN[key_type]
    if key_type == "digits":
        return pa.array([case[0] for case in cases], pa.int64()), cases
    if key_type == "iso-date":
        return pa.array([case[0] for case in cases], pa.int32()).cast(pa.date32()), cases
    if key_type == "decimal":
        cases = [case for case in cases if case[0][1] == 2]
        return pa.array([Decimal(f"{case[0][0]}E-2") for case in cases], pa.decimal256(76, 2)), cases
    cases = [case for case in cases if case[0][1] % 1000 == 0 and abs(case[0][0]) < 9 * 10**11]
    micros = [seconds * 10**6 + nanos // 1000 for (seconds, nanos), _, _ in cases]
    return pa.array(micros, pa.timestamp("us")), cases


@pytest.mark.parametrize(
    ("key_type", "least"), [("digits", 100), ("decimal", 10), ("iso-date", 100), ("iso-timestamp", 50)]
)
def test_a_column_has_the_texts_of_java(key_type: str, least: int) -> None:
    column, cases = column_of(key_type)
    assert len(column) >= least
    assert [key.hex() for key in pw.encode(column, key_type).to_pylist()] == [case[1] for case in cases]
    assert pw.murmur2(column, key_type=key_type).to_pylist() == [case[2] for case in cases]
    assert (
        pw.encode(column.dictionary_encode(), key_type).to_pylist() == pw.encode(column, key_type).to_pylist()
    )
    assert pw.encode(column.slice(3, 4), key_type).to_pylist() == pw.encode(column, key_type).to_pylist()[3:7]


@pytest.mark.parametrize(
    ("value", "key_type", "text"),
    [
        (42, "digits", "42"),
        (-(2**63), "digits", str(-(2**63))),
        (2**64, "digits", str(2**64)),
        (np.uint64(2**64 - 1), "digits", str(2**64 - 1)),
        (Decimal(42), "digits", "42"),
        (Decimal("19.90"), "decimal", "19.90"),
        (Decimal("-0.005"), "decimal", "-0.005"),
        (dt.date(2024, 1, 31), "iso-date", "2024-01-31"),
        (dt.datetime(2024, 1, 31, 12, 0, 0, tzinfo=dt.UTC), "iso-timestamp", "2024-01-31T12:00:00Z"),
        (dt.datetime(2024, 1, 31, 12, 0, 0, 500_000, BERLIN), "iso-timestamp", "2024-01-31T11:00:00.500Z"),
        (dt.datetime(2024, 1, 31, 12, 0), "iso-timestamp", "2024-01-31T12:00:00Z"),  # noqa: DTZ001 - UTC is meant
        (np.datetime64("2024-01-31T12:00:00.123456789"), "iso-timestamp", "2024-01-31T12:00:00.123456789Z"),
        (pd.Timestamp("2024-01-31 12:00", tz="UTC"), "iso-timestamp", "2024-01-31T12:00:00Z"),
    ],
)
def test_one_value_of_python_is_the_key_that_its_text_is(value: Any, key_type: str, text: str) -> None:
    assert pw.encode(value, key_type) == text.encode()
    assert pw.encode([None, value], key_type).to_pylist() == [None, text.encode()]
    assert pw.partition_for_key(value, 1000, key_type=key_type) == pw.partition_for_key(text, 1000)


def test_frames_of_all_libraries() -> None:
    days = [dt.date(2024, 1, 31), None]
    assert pw.encode(pl.Series(days), "iso-date").to_list() == [b"2024-01-31", None]
    frame = pl.DataFrame({"i": [42, None]}).select(
        p=pw.partition_for_key(pl.col("i"), 100, key_type="digits")
    )
    assert frame["p"].to_list() == [pw.partition_for_key("42", 100), None]
    assert pw.encode(pd.Series([42, None], dtype="Int64"), "digits").tolist() == [b"42", None]
    assert pw.encode(pd.Series([Decimal("1.5"), None]), "decimal").tolist() == [b"1.5", None]


@pytest.mark.parametrize(
    ("keys", "key_type", "sentence"),
    [
        (
            [Decimal("1.5"), Decimal(1)],
            "decimal",
            "the decimals have different numbers of digits after the point",
        ),
        ([10**76], "digits", "row 0: 1" + "0" * 76 + " does not fit into 76 digits"),
        ([Decimal("1.5")], "digits", "key type digits takes whole numbers, not decimal128"),
        (["42"], "digits", "text is a key as it is, without a key type"),
        ([1.0], "digits", "key type digits takes whole numbers, not double"),
        (
            [dt.datetime(2024, 1, 1, tzinfo=dt.UTC)],
            "iso-date",
            "key type iso-date takes dates, not timestamp",
        ),
        (
            [dt.date(2024, 1, 1), 1],
            "iso-date",
            "the keys are of more than one kind: date in row 0, int in row 1",
        ),
    ],
)
def test_what_has_no_such_text_is_refused(keys: list[Any], key_type: str, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        pw.encode(keys, key_type)
    assert sentence in str(refused.value)


def test_what_is_typed_is_read_as_its_key_type_takes_it() -> None:
    for text, key_type in [("42", "digits"), ("19.90", "decimal"), ("2024-01-31", "iso-date")]:
        assert pw.encode(read_key(text, key_type), key_type) == text.encode()
    typed = read_key("2024-01-31T13:00+01:00", "iso-timestamp")
    assert pw.encode(typed, "iso-timestamp") == b"2024-01-31T12:00:00Z"
    for text, key_type, what in [
        ("4.2", "digits", "a whole number"),
        ("x", "decimal", "a decimal such as 19.90"),
        ("31.1.2024", "iso-date", "a date such as 2024-01-31"),
        ("noon", "iso-timestamp", "a timestamp such as 2024-01-31T12:00:00Z"),
    ]:
        with pytest.raises(pw.PartwrightError, match=f"key type {key_type} takes {what}, not '{text}'"):
            read_key(text, key_type)

"""The counts of a check: where records are, where the client puts them, and how many keys there are."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partwright as pw
from partwright.audit.check import Check, CheckLimits, Placer
from partwright.audit.key_sums import Observed
from partwright.audit.record_columns import counts, milliseconds, places, whole_numbers
from partwright.report import document

A, B = 4, 8  # where java puts a and b, of 12


def check(keys: list[Any], partitions: Any = None, **settings: Any) -> Check:
    found = Check(12, **settings)
    found.add(pa.array(keys, pa.string()), partitions if partitions is None else pa.array(partitions))
    return found


def test_records_where_they_belong() -> None:
    found = check(["a", "b", "a"], [A, B, A])
    assert found.ok
    assert (found.rows, found.misplaced, found.undetermined, found.used) == (3, 0, 0, 2)
    assert found.largest_share == pytest.approx(2 / 3)
    summary = found.to_dict()
    assert summary["partitions"][A] == {"partition": A, "rows": 2, "keys": 1}
    assert [part["partition"] for part in summary["partitions"]] == list(range(12))
    assert summary["heavy_keys"] == [
        {"key": "a", "rows": 2, "partition": A},
        {"key": "b", "rows": 1, "partition": B},
    ]
    assert summary["note"] is None


@pytest.mark.parametrize("partition", [None, -1, 12, 2**40, A + 1])
def test_a_record_elsewhere_is_misplaced(partition: int | None) -> None:
    found = check(["b", "a"], [B, partition])
    assert not found.ok
    assert (found.misplaced, found.undetermined) == (1, 0)
    (example,) = found.examples
    assert (example.row, example.key, example.expected) == (1, "a", A)
    assert example.partition == partition


@pytest.mark.parametrize(
    ("partition", "right"), [(None, True), (0, True), (11, True), (12, False), (-1, False)]
)
def test_a_key_without_a_partition_of_its_own_may_be_anywhere(partition: int | None, right: bool) -> None:
    found = check([None, "a"], [partition, A])
    assert found.ok is right
    assert (found.misplaced, found.undetermined) == ((0, 1) if right else (1, 0))


@pytest.mark.parametrize(
    "type_",
    [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()],
)
def test_partitions_may_be_of_any_type_of_whole_numbers(type_: pa.DataType) -> None:
    found = Check(12)
    found.add(pa.array(["a", "b", None]), pa.array([A, B, None], type_))
    found.add(pa.array(["a"]), pa.array([A], type_).dictionary_encode())
    assert (found.ok, found.rows, found.used) == (True, 4, 2)


def test_a_number_too_large_for_64_bits_is_misplaced() -> None:
    found = Check(12)
    found.add(pa.array(["a"]), pa.array([2**64 - 8], pa.uint64()))
    assert (found.misplaced, found.examples[0].partition) == (1, 18446744073709551608)


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string(), pa.string_view()])
def test_partitions_may_be_text(type_: pa.DataType) -> None:
    found = Check(12, limits=CheckLimits(show=20))
    texts = ["4", "04", "4.0", " 4", "4.\t", "99999999999", "-1", "-1.0", "", " ", None]
    found.add(pa.array(["a"] * len(texts)), pa.array(texts, type_))
    assert (found.misplaced, found.nowhere, found.outside) == (len(texts) - 5, 3, 6)
    assert [example.partition for example in found.examples] == [99999999999, -1, -1, None, None, None]


@pytest.mark.parametrize(
    "type_", [pa.float16(), pa.float32(), pa.float64(), pa.decimal128(12, 2), pa.decimal256(40, 3)]
)
def test_whole_numbers_may_be_fractional_by_type(type_: pa.DataType) -> None:
    """As pandas writes a column of whole numbers in which there is a null."""
    found = Check(12)
    found.add(pa.array(["a", "b", None, None]), pa.array([float(A), float(B), 0.0, None]).cast(type_))
    assert (found.ok, found.misplaced, found.undetermined, found.used) == (True, 0, 2, 3)
    with pytest.raises(pw.PartwrightError) as refused:
        found.add(pa.array(["a", "a"]), pa.array([4.0, 7.5]).cast(type_))
    sentence = r"row 5 is in 7\.50*, which is not a partition of 12: they are whole numbers from 0 to 11"
    assert re.fullmatch(sentence, str(refused.value))


def test_nan_may_be_text() -> None:
    """As pandas writes it to csv with na_rep="NaN"."""
    given = pa.array(["4", "NaN", " NaN ", "7.0"])
    assert whole_numbers(given, "offset").to_pylist() == [4, None, None, 7]
    assert milliseconds(pa.array(["NaN", "5", "1970-01-01T00:00:01Z"])).to_pylist() == [None, 5, 1000]
    with pytest.raises(pw.PartwrightError, match=r"^row 1 is in no partition: "):
        places(given)


def test_nan_is_null_and_infinity_is_not() -> None:
    found = Check(12)
    found.add(pa.array(["a", None]), pa.array([float("nan"), float("nan")], pa.float64()))
    assert (found.misplaced, found.nowhere, found.undetermined) == (1, 1, 1)
    for value in (float("inf"), -1e300, 2.0**63):
        with pytest.raises(pw.PartwrightError, match=r"^row 2 is in "):
            found.add(pa.array(["a"]), pa.array([value]))


@pytest.mark.parametrize(
    "text", ["Partition:7", "four", "+4", "4.5", "4e0", "0x4", "4 4", "99999999999999999999", "nan", "\u0664"]
)
def test_what_is_not_a_whole_number_is_refused_with_its_row(text: str) -> None:
    found = Check(12)
    found.add(pa.array(["a"]), pa.array(["4"]))
    with pytest.raises(pw.PartwrightError) as refused:
        found.add(pa.array(["a", "a"]), pa.array(["4", text]))
    assert str(refused.value) == (
        f"row 2 is in {text!r}, which is not a partition of 12: they are whole numbers from 0 to 11"
    )
    assert (refused.value.row, refused.value.value) == (2, text)


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string(), pa.string_view()])
def test_a_column_of_digits_is_converted_without_a_pattern(
    type_: pa.DataType, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = pa.array(["7", None, "007", "123456789012345678", "0" * 30 + "7"], type_)
    assert whole_numbers(given, "offset").to_pylist() == [7, None, 7, 123456789012345678, 7]
    # A pattern takes several times as long.
    monkeypatch.setattr("partwright.audit.record_columns._WHOLE", "")
    assert whole_numbers(given[:4], "offset").to_pylist() == [7, None, 7, 123456789012345678]


@pytest.mark.parametrize(("text", "number"), [("", None), ("-1", -1), (" 7", 7), ("7\n", 7), ("7.0", 7)])
def test_what_is_not_of_digits_only_is_what_it_was(text: str, number: int | None) -> None:
    assert not pc.ascii_is_decimal(pa.array([text]))[0].as_py()
    assert whole_numbers(pa.array(["3", text]), "offset").to_pylist() == [3, number]


@pytest.mark.parametrize("values", [[True], [b"4"], [[4]]])
def test_partitions_of_other_types_are_refused(values: list[Any]) -> None:
    with pytest.raises(pw.KeyTypeError, match="are not whole numbers: name another column with partition="):
        whole_numbers(pa.array(values), "partition")


def test_rows_are_those_of_all_batches() -> None:
    found = Check(12, limits=CheckLimits(show=2))
    for _ in range(3):
        found.add(pa.array(["a", "b"]), pa.array([A, 0]))
    assert [str(example) for example in found.examples] == [
        "row 1: key b is in partition 0, java puts it into 8",
        "row 3: key b is in partition 0, java puts it into 8",
    ]
    assert found.misplaced == 3


def test_offsets_name_a_topics_records() -> None:
    found = Check(12)
    found.add(pa.array([b"a", b"\xff"]), pa.array([A, 0]), pa.array([100, 7]))
    assert [str(example) for example in found.examples] == [
        f"partition 0, offset 7: key 0xff is in partition 0, java puts it into {pw.partition_for_key(bytes([255]), 12)}"
    ]
    with pytest.raises(pw.PartwrightError, match=r"^partition 3, offset 9: "):
        Check(12, key_type="confluent:strip-id").add(pa.array([b"x"]), pa.array([3]), pa.array([9]))


def test_the_heavy_keys_are_those_of_the_json() -> None:
    found = check(["a", "b", "a", None])
    assert found.heavy_keys == found.to_dict()["heavy_keys"]
    assert found.heavy_keys[0] == {"key": "a", "rows": 2, "partition": pw.partition_for_key("a", 12)}
    assert Check(12).heavy_keys == []


def test_without_partitions_it_is_where_the_client_puts_them() -> None:
    found = check(["a", None, "b"])
    assert (found.ok, found.misplaced, found.undetermined, found.used) == (True, None, 1, 2)
    assert repr(found).startswith("<Check: Partition 4 holds 50.0% of the records, 6.0")
    answer = found.to_dict()
    assert (answer["misplaced"], answer["misplaced_by"], answer["examples"]) == (None, [], [])
    said = document(found).verdicts
    assert (
        said[1].text
        == "Not compared with where the records are: name the column of partitions with partition=."
    )
    assert not any("puts them" in each.text for each in said)
    html = found._repr_html_() or ""
    assert "are where java puts" not in html
    assert found.largest_share == 0.5


def test_nothing_is_sound() -> None:
    found = Check(3)
    assert (found.ok, found.largest_share, found.used) == (True, 0.0, 0)
    assert found.to_dict()["heavy_keys"] == []
    assert [part["keys"] for part in found.to_dict()["partitions"]] == [0, 0, 0]


def test_of_very_many_partitions_those_with_rows_are_listed() -> None:
    found = Check(2**31 - 1)
    found.add(pa.array(["a"]))
    assert len(found.to_dict()["partitions"]) == 1


def test_keys_are_told_apart_by_their_bytes_and_shown_as_their_values() -> None:
    found = Check(12, key_type="java:int")
    found.add(pa.array([42, 42, -1], pa.int64()))
    assert [each["key"] for each in found.to_dict()["heavy_keys"]] == ["42", "-1"]


def test_an_unknown_client_is_refused_before_a_key_is_seen() -> None:
    with pytest.raises(pw.PartwrightError, match="there is no client"):
        Check(12, "jav")
    with pytest.raises(pw.PartwrightError, match="n, the number of partitions, must be"):
        Placer(0)


def test_a_profile_that_hashes_null_keys_determines_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(keys: pa.Array | None, *_: object) -> pa.Array | None:
        found = None if keys is None else [7 if key is None else None for key in keys.to_pylist()]
        return None if found is None else pa.array(found, pa.int32())

    monkeypatch.setattr("partwright.audit.check.partition_for_key", other)
    found = check([None, None, ""], [7, 6, 3])
    assert (found.misplaced, found.undetermined) == (1, 1)
    assert str(found.examples[0]) == "row 1: key null is in partition 6, java puts it into 7"


# The counter.

PAIRS = st.lists(
    st.tuples(st.none() | st.sampled_from([b"", b"a", b"b", b"c"]), st.none() | st.integers(0, 2))
)


@settings(deadline=None)
@given(st.lists(PAIRS, max_size=4))
def test_the_counter_counts(batches: list[list[tuple[bytes | None, int | None]]]) -> None:
    counter = Observed()
    for batch in batches:
        counter.add(pa.array([k for k, _ in batch], pa.binary()), pa.array([p for _, p in batch], pa.int64()))
    pairs = Counter((key, partition) for batch in batches for key, partition in batch if key is not None)
    assert counter.keys_in() == Counter(partition for _, partition in pairs if partition is not None)
    keys: Counter[bytes] = Counter()
    for (key, _), rows in pairs.items():
        keys[key] += rows
    wanted = sorted(keys.items(), key=lambda item: (-item[1], item[0]))[:2]
    heaviest = counter.heaviest(2)
    assert [(each.key, each.rows) for each in heaviest] == wanted
    for key, rows, at_most, partition in heaviest:
        assert rows == at_most
        places = {place: rows for (one, place), rows in pairs.items() if one == key and place is not None}
        assert (places[partition] if partition is not None else None) == max(places.values(), default=None)


def test_a_key_is_cut_where_people_read_it() -> None:
    found = check(["x" * 5000], [0])
    assert len(str(found.examples[0])) < 250
    assert "x... (5,000 characters) is in partition 0" in str(found.examples[0])
    assert found.to_dict()["examples"][0]["key"] == "x" * 5000


def test_a_check_says_that_keys_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partwright.audit.check.Observed", lambda: Observed(most=1000))
    keys = [f"key {row}" for row in range(10_000)] + ["a"] * 5000
    found, exact = check(keys), Check(12)
    monkeypatch.undo()
    exact = check(keys)
    summary, known = found.to_dict(), exact.to_dict()
    assert (summary["keys_estimated"], known["keys_estimated"], known["note"]) == (True, False, None)
    assert summary["note"] == (
        "there are too many keys to count each: their numbers are estimated from one in 16, and a heavy key has as "
        "many rows at least"
    )
    (heavy, *_), (wanted, *_) = summary["heavy_keys"], known["heavy_keys"]
    assert (heavy["key"], heavy["partition"]) == ("a", A)
    assert heavy["rows"] <= wanted["rows"] == 5000 <= heavy["rows"] + summary["heavy_keys_lack"]
    assert sum(part["keys"] for part in summary["partitions"]) == pytest.approx(10_001, rel=0.15)
    assert [part["rows"] for part in summary["partitions"]] == [part["rows"] for part in known["partitions"]]
    # The statistic is for the keys that were counted, and as even as for all.
    assert summary["p_value"] > 0.001
    assert [each["largest_share"] for each in summary["salted"]] == pytest.approx(
        [each["largest_share"] for each in known["salted"]], abs=0.01
    )


def test_salting_is_what_splitting_the_heavy_keys_gives() -> None:
    draw = random.Random(20261121)
    keys = [draw.choice(["US", "US", "DE", str(draw.randrange(500))]) for _ in range(3000)]
    heavy = {key: rows for key, rows in Counter(keys).items() if rows * 12 > len(keys)}
    for client in ("java", "librdkafka", "sarama"):
        salted = check(keys, client=client).salted()
        assert [each.ways for each in salted] == [2, 4, 8, 16]
        own = check(keys, client=client).salted([4, 3])
        assert own[0] == salted[1]
        assert (own[1].ways, own[1].keys) == (3, salted[0].keys)
        for each in salted:
            assert each.keys == len(heavy)
            given: Counter[str] = Counter()
            split = []
            for key in keys:
                split.append(f"{key}-{given[key] % each.ways}" if key in heavy else key)
                given[key] += 1
            assert check(split, client=client).largest_share == each.largest_share


def test_a_heavy_key_in_several_partitions_is_split_out_of_each() -> None:
    light = [f"key {row}" for row in range(100)]
    places = pw.partition_for_key(light, 12).to_pylist()
    found = check(["US"] * 900 + light, [0] * 400 + [1] * 300 + [None] * 200 + places)
    for each in found.salted():
        after = Counter(places)
        for row in range(700):
            after[pw.partition_for_key(f"US-{row % each.ways}", 12)] += 1
        assert (each.keys, each.largest_share) == (1, max(after.values()) / 800)
    assert len(found.salted()) == 4


def test_a_salt_at_which_the_client_fails_is_none() -> None:
    # With 12 partitions, this client has none for the hash code of this key with "-5" at the end.
    key = _of_hash_code(-(2**31), "-5")
    ways = [each.ways for each in check([key] * 9 + ["a"] * 9, client="java:string-hash").salted()]
    assert ways == [2, 4]


def _of_hash_code(wanted: int, end: str) -> str:
    """An ASCII text that has this hash code in Java with the end appended: by the digits of a number in base 31."""
    for char in reversed(end):
        wanted = (wanted - ord(char)) * pow(31, -1, 2**32) % 2**32
    least = sum(ord("A") * 31**place for place in range(8))
    rest = (wanted - least) % 2**32
    digits = []
    for _ in range(8):
        rest, digit = divmod(rest, 31)
        digits.append(chr(ord("A") + digit))
    return "".join(reversed(digits))


def test_rows_in_no_partition_are_those_that_ought_to_be_in_one() -> None:
    # Null keys may be anywhere, and in no partition; the text does not mention them.
    found = check([None] * 5 + ["a", "a", "a"], [0, 1, 2, None, None, A, 99, None])
    assert (found.rows, found.undetermined, found.misplaced, found.outside) == (8, 5, 2, 2)


def test_no_heavy_key_no_salt() -> None:
    assert check([]).salted() == []
    for odd in ([1], ["2"], [2.5], 3, "3"):
        with pytest.raises(pw.PartwrightError, match="ways"):
            check(["a"] * 9 + ["b"]).salted(odd)  # type: ignore[arg-type]
    assert check([None, None]).salted() == []
    assert check([f"key {row}" for row in range(1000)]).salted() == []
    one = Check(1)
    one.add(pa.array(["a", "a", "b"]))
    assert one.salted() == []


def test_all_or_no_records_have_partitions() -> None:
    for first, then in ((None, pa.array([A])), (pa.array([A]), None)):
        found = Check(12)
        found.add(pa.array(["a"]), first)
        with pytest.raises(pw.PartwrightError) as refused:
            found.add(pa.array(["a"]), then)
        assert (
            str(refused.value)
            == "only some records have partitions, from row 1 on: give them for all, or for none"
        )


@pytest.mark.parametrize(
    ("keys", "is_all_empty"),
    [(["", ""], True), (["", None], False), (["", "a"], False), ([None], False), ([], False)],
)
def test_keys_that_are_all_empty_are_told_first(keys: list[Any], is_all_empty: bool) -> None:
    for partitions in (None, [9] * len(keys)):
        found = check(keys, None if partitions is None else pa.array(partitions, pa.int64()))
        answer = found.to_dict()
        assert answer["is_all_empty"] is is_all_empty
        first = document(found).verdicts[0].text
        assert (
            first.startswith("Every key is empty, and none is null: probably these records") is is_all_empty
        )


@pytest.mark.parametrize("value", [None, "", " ", float("nan")])
def test_a_partition_that_is_needed_and_empty_is_refused_as_null(value: Any) -> None:
    with pytest.raises(
        pw.PartwrightError, match=r"^row 1 is in no partition: they are whole numbers from 0 to"
    ):
        places(["4" if isinstance(value, str) else 4.0, value])


def test_times_and_offsets_are_read_alike() -> None:
    texts = pa.array(["1700000000000.0", " 5 ", "", None, "2026-01-31T12:00:00Z"])
    assert milliseconds(texts).to_pylist() == [1_700_000_000_000, 5, None, None, 1_769_860_800_000]
    assert milliseconds(pa.array([1.7e12, float("nan")])).to_pylist() == [1_700_000_000_000, None]
    assert counts(["7.0", " 8", ""], "offset").to_pylist() == [7, 8, None]
    with pytest.raises(
        pw.PartwrightError, match=r"^row 1 has the timestamp 1\.5, which is not a whole number"
    ):
        milliseconds(pa.array([1.0, 1.5]))


def test_partitions_and_offsets_may_be_any_column() -> None:
    for column in (list, pd.Series, pl.Series, np.array):
        found = Check(12)
        found.add(["a", "b"], column([A, A]), column([0, 7]))
        assert (found.misplaced, found.examples[0].offset) == (1, 7)
    with pytest.raises(pw.PartwrightError, match=r"^the partitions are not a column of one kind: "):
        Check(12).add(["a"], 5)

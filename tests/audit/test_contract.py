"""A contract on skew: the decorator, `check_contract`, each kind of value that users return, and the error."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import uuid
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import arro3.core
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import partwright as pw
from partwright.audit.check import Check, CheckLimits
from partwright.audit.skew import read_share
from partwright.keys import key_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# One key is heavy, and Java puts it into partition 8 of 12.
KEYS = ["US"] * 900 + [f"country-{number}" for number in range(100)]
EVEN = [f"user-{number}" for number in range(6000)]
TABLE = pa.table({"id": range(1000), "country": KEYS})

# The values that a function may return, made from a table.
FORMS: dict[str, Callable[[pa.Table], Any]] = {
    "table": lambda table: table,
    "a table in chunks": lambda table: pa.concat_tables([table.slice(0, 7), table.slice(7)]),
    "record batch": lambda table: table.combine_chunks().to_batches()[0],
    "arro3": arro3.core.Table.from_arrow,
    "pandas": lambda table: table.to_pandas(),
    "pandas on Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "rows": lambda table: table.to_pylist(),
    "batches": lambda table: table.to_batches(max_chunksize=300),
    "a tuple of frames": lambda table: (table.slice(0, 500).to_pandas(), pl.from_arrow(table.slice(500))),
}
COLUMNS: dict[str, Callable[[pa.Table], Any]] = {
    "list": lambda table: table["country"].to_pylist(),
    "chunked": lambda table: table["country"],
    "array": lambda table: table["country"].combine_chunks(),
    "dictionary": lambda table: table["country"].dictionary_encode(),
    "large dictionary": lambda table: table["country"].cast(pa.large_string()).dictionary_encode(),
    "view": lambda table: table["country"].cast(pa.string_view()),
    "numpy": lambda table: np.array(table["country"].to_pylist()),
    "pandas": lambda table: table["country"].to_pandas(),
    "polars": lambda table: pl.from_arrow(table["country"]),
    "arro3": lambda table: arro3.core.Array.from_arrow(table["country"].combine_chunks()),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_records_is_checked(form: str) -> None:
    records = FORMS[form](TABLE)
    found = pw.check_contract(records, "country", n=12, max_share="91%", min_used=1.0)
    assert (found.rows, found.used, found.largest_share) == (1000, 12, 0.905)
    assert found.to_dict()["heavy_keys"][0] == {"key": "US", "rows": 900, "partition": 8}
    with pytest.raises(pw.ContractError, match=r"^partition 8 has 90\.5% of the rows, more than 90%"):
        pw.check_contract(records, "country", n=12, max_share="90%")


@pytest.mark.parametrize("form", COLUMNS)
def test_every_form_of_a_column_is_checked(form: str) -> None:
    keys = COLUMNS[form](TABLE)
    found = pw.check_contract(keys, n=12, max_share="91%")
    assert (found.rows, found.used, found.largest_share) == (1000, 12, 0.905)
    twice = pw.check_contract(iter([keys, KEYS]), n=12, max_share="91%")
    assert (twice.rows, twice.largest_share) == (2000, 0.905)
    assert twice.to_dict()["heavy_keys"][0] == {"key": "US", "rows": 1800, "partition": 8}


def test_keys_that_are_no_text() -> None:
    ids = [{"id": uuid.UUID(int=number)} for number in range(99)]
    assert pw.check_contract(ids, "id", n=12, key_type="java:uuid", max_share="50%").rows == 99
    numbers = pd.DataFrame({"id": pd.Series([1, None, 3], dtype="Int64")})
    assert pw.check_contract(numbers, "id", n=12, key_type="java:long", max_share="50%").null_keys == 1
    with pytest.raises(pw.PartwrightError, match="there is no column '0' in 'DataFrame'"):
        pw.check_contract(pd.DataFrame([["a"]]), "0", n=12, max_share="50%")


def test_what_is_found_is_what_the_command_finds() -> None:
    found = pw.check_contract(KEYS, n=12, max_share=1.0)
    told = Check(12, limits=CheckLimits(max_share=1.0))
    told.add(TABLE["country"])
    assert isinstance(found, Check)
    assert found.to_dict() == told.to_dict()


@pytest.mark.parametrize("form", [*FORMS, "keys"])
def test_a_function_returns_what_it_returned(form: str) -> None:
    made = KEYS if form == "keys" else FORMS[form](TABLE)
    key = None if form == "keys" else "country"
    assert pw.contract(n=12, key=key, max_share="91%")(lambda: made)() is made
    broken = pw.contract(n=12, key=key, max_share="20%")(lambda: made)
    with pytest.raises(pw.ContractError):
        broken()


def test_the_function_stays_itself() -> None:
    @pw.contract(n=12, max_share=1)
    def keys(first: str, *, second: str = "b") -> list[str]:
        """Two keys."""
        return [first, second]

    assert (keys.__name__, keys.__doc__) == ("keys", "Two keys.")
    assert str(inspect.signature(keys)) == "(first: 'str', *, second: 'str' = 'b') -> 'list[str]'"
    assert keys("a", second="c") == ["a", "c"]


# The sentence.


@pytest.mark.parametrize(
    ("keys", "n", "terms", "sentence"),
    [
        (
            KEYS,
            12,
            {"max_share": "20%"},
            (
                "partition 8 has 90.5% of the rows, more than 20%, with the key US (900 rows): US alone has more than "
                "that whatever n is, so make the key finer, or raise max_share"
            ),
        ),
        (
            ["a", "b", "c"],
            12,
            {"min_used": "50%"},
            (
                "3 of 12 partitions have rows, fewer than 50% of them, with the keys a (1 row), b (1 row) and c (1 row)"
                ": by chance, this many keys use 2.8, so take fewer partitions or a key with more values, or lower "
                "min_used"
            ),
        ),
        (
            ["a"] * 1500 + [None],
            12,
            {"max_share": 0.05},
            (
                "partition 4 has 100.0% of the rows, more than 5%, with the key a (1,500 rows): among 12 partitions "
                "one has 8.3% at least, so raise max_share, or n"
            ),
        ),
        (
            ["a", "a", "b", "b", "b", "c", "c", "d", "e"],
            3,
            {"max_share": "50%"},
            (
                "partition 2 has 55.6% of the rows, more than 50%, with the keys b (3 rows), d (1 row) and e (1 row): "
                "take a finer key or another n, of which `partwright resize` compares some, or raise max_share"
            ),
        ),
        (
            [None] * 7,
            12,
            {"min_used": "10%"},
            "0 of 12 partitions have rows, fewer than 10% of them: none of 7 rows has a key that client java places",
        ),
        (
            [],
            12,
            {"min_used": "10%"},
            "0 of 12 partitions have rows, fewer than 10% of them: none of 0 rows has a key that client java places",
        ),
    ],
)
def test_the_sentence(keys: list[Any], n: int, terms: dict[str, Any], sentence: str) -> None:
    with pytest.raises(pw.ContractError) as broken:
        pw.check_contract(keys, n=n, **terms)
    assert str(broken.value).startswith(sentence)
    assert "\n" not in str(broken.value)
    assert broken.value.found.rows == len(keys)


def test_both_terms_may_be_broken() -> None:
    with pytest.raises(pw.ContractError) as broken:
        pw.check_contract(["a"], n=12, max_share=0.5, min_used=0.5)
    assert "more than 50% and 1 of 12 partitions has rows, fewer than 50%" in str(broken.value)


def test_a_number_and_a_long_key_are_shown_for_people() -> None:
    with pytest.raises(pw.ContractError, match=r"with the key 42 \(3 rows\)"):
        pw.check_contract([42] * 3, n=12, key_type="java:long", max_share="50%")
    with pytest.raises(pw.ContractError) as broken:
        pw.check_contract(["x" * 9000], n=12, max_share="50%")
    assert "(9,000 characters)" in str(broken.value)
    assert len(str(broken.value)) < 500


def test_the_heaviest_of_too_many_keys_to_count_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partwright.audit.key_sums._MOST_BYTES", 10)
    with pytest.raises(pw.ContractError) as broken:
        pw.check_contract(KEYS, n=12, max_share="20%")
    assert str(broken.value).startswith(
        "partition 8 has 90.5% of the rows, more than 20%, with the key US (900 rows at least): US alone has more"
    )


def test_the_error_is_of_the_family_and_a_failed_assertion() -> None:
    with pytest.raises(AssertionError) as broken:
        pw.check_contract(KEYS, n=12, max_share="20%")
    assert isinstance(broken.value, pw.PartwrightError)
    again = pickle.loads(pickle.dumps(broken.value))  # noqa: S301 - as a pool of processes does
    assert str(again) == str(broken.value)
    assert again.found.to_dict() == broken.value.found.to_dict()


def test_what_nobody_places_by_key_is_not_counted() -> None:
    """One partition has all rows with keys; the others go anywhere."""
    with pytest.raises(pw.ContractError, match=r"100\.0%"):
        pw.check_contract([None] * 99 + ["a"], n=12, max_share="50%")
    assert pw.check_contract([None] * 99, n=12, max_share="50%").undetermined == 99
    assert pw.check_contract([], "user", n=12, max_share="50%").rows == 0
    assert (
        pw.check_contract(pa.table({"user": pa.array([], pa.string())}), "user", 12, max_share=0.5).rows == 0
    )
    with pytest.raises(pw.ContractError, match=r"100\.0%"):
        pw.check_contract([None] * 99, n=12, client="librdkafka:murmur2", max_share="50%")


# Iterators.


def batches(log: list[int]) -> Iterator[pa.RecordBatch]:
    for batch in TABLE.to_batches(max_chunksize=300):
        log.append(batch.num_rows)
        yield batch


@pytest.mark.parametrize("share", ["91%", "20%"])
def test_batches_are_passed_on_as_they_come_and_judged_at_the_end(share: str) -> None:
    read: list[int] = []
    passed = pw.contract(n=12, key="country", max_share=share)(batches)(read)
    assert read == []
    seen = [next(passed), next(passed)]
    assert read == [300, 300]
    if share == "20%":
        with pytest.raises(pw.ContractError, match=r"^batches: partition 8 has 90\.5%"):
            seen.extend(passed)
    else:
        seen.extend(passed)
    assert pa.Table.from_batches(seen) == TABLE


def test_who_stops_early_gets_no_error_and_ends_the_function() -> None:
    ended = []

    @pw.contract(n=12, max_share="1%")
    def keys() -> Iterator[list[str]]:
        try:
            yield ["a"]
            yield ["b"]
        finally:
            ended.append(True)

    passed = keys()
    assert next(passed) == ["a"]
    passed.close()  # type: ignore[attr-defined] # a generator
    assert ended == [True]


@pytest.mark.parametrize("make", [lambda table: table.to_reader(300), pl.from_arrow])
def test_a_stream_is_not_emptied(make: Callable[[pa.Table], Any]) -> None:
    passed = pw.contract(n=12, key="country", max_share="91%")(lambda: make(TABLE))()
    assert pa.table(passed).cast(TABLE.schema) == TABLE


def test_a_reader_is_judged_at_its_end() -> None:
    reader = pw.contract(n=12, key="country", max_share="20%")(lambda: TABLE.to_reader(300))()
    assert reader.schema == TABLE.schema
    assert reader.read_next_batch().num_rows == 300
    with pytest.raises(pw.ContractError, match=r"90\.5%"):
        reader.read_all()


def test_a_column_is_looked_at_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partwright.keys.key_columns._MOST_ROWS", 64)
    pieces = list(key_columns.key_arrays(TABLE, "country"))
    assert [len(piece) for piece in pieces] == [64] * 15 + [40]
    assert pa.chunked_array(pieces).to_pylist() == KEYS
    with pytest.raises(pw.PartwrightError, match=r"^row 70: "):
        pw.check_contract(pa.array([1] * 70 + [2**40]), n=12, key_type="java:int", max_share=1)


# Refusals.


@pytest.mark.parametrize(
    ("records", "key", "sentence"),
    [
        ("abc", None, "'abc' is one key, not a column of keys"),
        (None, None, "None is one key, not a column of keys"),
        (
            [{"user": "a"}],
            None,
            "these are rows, not keys: say which of their members is the key, with key=",
        ),
        (TABLE, None, "a Table has columns: say which of them is the key, with key="),
        (TABLE.to_pandas(), None, "a DataFrame has columns: say which of them is the key"),
        (pl.DataFrame({"a": ["a"]}), None, "a DataFrame has columns: say which of them is the key"),
        (pl.LazyFrame({"a": ["a"]}), None, "a LazyFrame has columns: say which of them is the key"),
        (TABLE.to_reader(), None, "a RecordBatchReader has columns: say which of them is the key"),
        (TABLE.to_batches()[0], None, "a RecordBatch has columns: say which of them is the key"),
        (TABLE, "county", "there is no column 'county' in 'Table': did you mean 'country'?"),
        (TABLE.to_pandas(), "county", "there is no column 'county' in 'DataFrame'"),
        (TABLE.to_pylist(), "county", "there is no member 'county' in 'the rows'"),
        (iter(TABLE.to_batches()), "county", "there is no column 'county' in 'RecordBatch'"),
        (TABLE.rename_columns(["a", "a"]), "a", "'Table' has 2 columns named 'a'"),
        (pd.DataFrame([["a", "b"]], columns=["a", "a"]), "a", "'DataFrame' has 2 columns named 'a'"),
        (pa.array(["a"]), "a", "a StringArray has no columns to have a 'a' among them: leave out key="),
        (TABLE["country"], "country", "a ChunkedArray has no columns"),
        (["a"], "user", "this str is not a table of records"),
        ([{"user": "a"}, "b"], "user", "one dict is one row"),
        (
            ({"user": each} for each in "ab"),
            "user",
            "one dict is one row, not a table of records: give a list",
        ),
        (pl.LazyFrame({"user": ["a"]}), "user", "this LazyFrame is not a table of records"),
        (7, "user", "this int is not a table of records"),
        ([1, 2], None, "int64 has no key bytes of its own"),
        (["a", 1], None, "the keys are of more than one kind: str in row 0, int in row 1"),
        (
            pl.DataFrame({"user": pl.Series([object()], dtype=pl.Object)}),
            "user",
            "a polars Series of Python objects",
        ),
        (["a", uuid.UUID(int=0)], None, "the keys are of more than one kind"),
    ],
)
def test_what_is_no_column_of_keys_is_refused_in_a_sentence(
    records: Any, key: str | None, sentence: str
) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        pw.check_contract(records, key, n=12, max_share="50%")
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)
    assert not isinstance(refused.value, pw.ContractError)


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        ({"n": 12}, "a contract says something: give max_share, min_used or both"),
        ({"n": 0, "max_share": 0.5}, "n, the number of partitions, must be from 1 to 2147483647, not 0"),
        ({"n": 12, "key": 5, "max_share": 0.5}, "key is the name of a column, not 5"),
        ({"n": 12, "max_share": 5}, "max_share takes a share such as 5% or 0.05, not 5"),
        ({"n": 12, "max_share": 0}, "max_share takes a share such as 5% or 0.05, not 0"),
        ({"n": 12, "max_share": True}, "max_share takes a share such as 5% or 0.05, not True"),
        ({"n": 12, "min_used": "many"}, "min_used takes a share such as 5% or 0.05, not 'many'"),
        ({"n": 12, "min_used": "5%%"}, "min_used takes a share such as 5% or 0.05, not '5%%'"),
        ({"n": 12, "min_used": float("nan")}, "min_used takes a share such as 5% or 0.05, not nan"),
        ({"n": 12, "max_share": 0.5, "client": "sarma"}, 'there is no client "sarma"; did you mean sarama?'),
        ({"n": 12, "max_share": 0.5, "key_type": "lnog"}, 'there is no key type "lnog"'),
    ],
)
def test_a_contract_that_is_none_is_refused_where_it_is_written(terms: dict[str, Any], sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        pw.contract(**terms)
    assert str(refused.value).startswith(sentence)
    with pytest.raises(pw.PartwrightError):
        pw.check_contract(["a"], **terms)


def test_without_its_terms_it_is_no_decorator() -> None:
    with pytest.raises(pw.PartwrightError, match=r"^key is the name of a column, not <function"):

        @pw.contract
        def keys() -> list[str]:
            return []


def test_an_asynchronous_function_is_refused() -> None:
    async def orders() -> list[str]:
        return []

    async def batches() -> Any:
        yield []

    for function in (orders, batches):
        with pytest.raises(pw.PartwrightError, match=f"^{function.__name__} is asynchronous"):
            pw.contract(n=12, max_share=1)(function)


@pytest.mark.parametrize(
    ("given", "share"),
    [
        ("5%", 0.05),
        ("0.7%", 0.007),
        ("33.3%", 0.333),
        ("0.05", 0.05),
        (0.05, 0.05),
        (1, 1.0),
        ("100%", 1.0),
        (None, None),
    ],
)
def test_a_share(given: object, share: float | None) -> None:
    assert read_share(given, "max_share") == share
    assert read_share(np.float32(0.5), "max_share") == 0.5
    assert read_share(Decimal("0.07"), "max_share") == 0.07


def test_it_costs_no_import() -> None:
    heavy = "pyarrow numpy pandas polars pyspark rich click"
    found = f"[name for name in {heavy.split()!r} if name in sys.modules]"
    program = f"import sys, partwright.pytest_plugin; print({found})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

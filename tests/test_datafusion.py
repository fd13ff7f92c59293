"""`partwright.datafusion`: expressions agree with the functions, and no number becomes text on the way."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import datafusion
import pyarrow as pa
import pytest

import partwright as pw
import partwright.datafusion as pwd

if TYPE_CHECKING:
    from collections.abc import Callable

# More than DataFusion's 8,192 rows per batch.
KEYS = ["TT0124", "", None, "N14228", "ключ", "polygenelubricants"] * 2000
CLIENTS = [client for client in pw.clients()["client"].to_pylist() if client != "java:string-hash"]


def frame(**columns: Any) -> datafusion.DataFrame:
    # With more partitions the batches come in any order.
    one = datafusion.SessionConfig().with_target_partitions(1)
    return datafusion.SessionContext(one).from_arrow(pa.table(columns))


def values(df: datafusion.DataFrame, expression: datafusion.Expr) -> list[Any]:
    found: list[Any] = df.select(expression.alias("found")).to_pydict()["found"]
    return found


@pytest.mark.parametrize("client", CLIENTS)
def test_a_column_has_the_partitions_of_the_function(client: str) -> None:
    df = frame(k=KEYS)
    found = df.with_column("p", pwd.partition_for_key(df, "k", 7, client))
    assert found.schema().field("p").type == pa.int32()
    assert found.to_pydict()["p"] == pw.partition_for_key(KEYS, 7, client).to_pylist()


@pytest.mark.parametrize(
    ("keys", "key_type"),
    [
        (pa.array(["a", None], pa.large_string()), None),
        (pa.array(["a", None], pa.string_view()), None),
        (pa.array([b"\xff", None]), None),
        (pa.array([b"\xff", None], pa.binary_view()), None),
        (pa.array(["a", "b", None]).dictionary_encode(), None),
        (pa.nulls(3), None),
        (pa.array([42, None], pa.uint64()), "java:long"),
        (pa.array([42, None], pa.int16()), "java:int"),
        (pa.array([1.5, None]), "java:float"),
        (pa.array([True, None]), "java:boolean"),
        (pa.array([], pa.string()), None),
    ],
    ids=lambda given: str(given.type) if isinstance(given, pa.Array) else str(given),
)
def test_each_type_of_keys_is_taken_as_it_is(keys: pa.Array, key_type: str | None) -> None:
    df = frame(k=keys)
    assert values(df, pwd.partition_for_key(df, "k", 1000, key_type=key_type)) == (
        pw.partition_for_key(keys, 1000, key_type=key_type).to_pylist()
    )
    assert values(df, pwd.murmur2(df, "k", key_type)) == pw.murmur2(keys, key_type=key_type).to_pylist()
    assert values(df, pwd.encode(df, "k", key_type)) == pw.encode(keys, key_type).to_pylist()


def test_settings_that_differ_are_different_expressions() -> None:
    df = frame(k=KEYS)
    found = df.select(
        pwd.partition_for_key(df, "k", 7).alias("a"),
        pwd.partition_for_key(df, "k", 12).alias("b"),
        pwd.partition_for_key(df, "k", 12, "librdkafka").alias("c"),
        pwd.coordinator_partition(df, "k").alias("d"),
    ).to_pydict()
    assert found["a"] == pw.partition_for_key(KEYS, 7).to_pylist()
    assert found["b"] == pw.partition_for_key(KEYS, 12).to_pylist()
    assert found["c"] == pw.partition_for_key(KEYS, 12, "librdkafka").to_pylist()
    assert found["d"] == pw.coordinator_partition(KEYS).to_pylist()


def test_names_are_those_of_the_frame_and_a_view_serves_sql() -> None:
    ctx = datafusion.SessionContext()
    df = ctx.from_pydict({"My Key": ["a", "b"], 'a "b"': ["c", "d"]})
    assert (
        values(df, pwd.partition_for_key(df, 'a "b"', 9)) == pw.partition_for_key(["c", "d"], 9).to_pylist()
    )
    ctx.register_view("placed", df.with_column("partition", pwd.partition_for_key(df, "My Key", 15)))
    assert ctx.sql("SELECT partition FROM placed ORDER BY partition").to_pydict() == {"partition": [4, 11]}


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda df: pwd.partition_for_key(df, "i", 12), pw.KeyTypeError, "int64 has no key bytes of its own"),
        (lambda df: pwd.encode(df, "i", "utf8"), pw.KeyTypeError, "key type utf8 takes text, not int64"),
        (lambda df: pwd.partition_for_key(df, "kk", 12), pw.PartwrightError, "there is no column 'kk'"),
        (lambda df: pwd.partition_for_key(df, "k", 0), pw.PartwrightError, "2147483647, not 0"),
        (lambda df: pwd.partition_for_key(df, "k", 3, "jave"), pw.PartwrightError, 'no client "jave"'),
        (
            lambda _: pwd.murmur2(datafusion.col("k"), "k"),  # type: ignore[arg-type]
            pw.PartwrightError,
            "a Expr is not a DataFrame of DataFusion",
        ),
        (
            lambda df: pwd.partition_for_key(df, datafusion.col("k"), 12),  # type: ignore[arg-type]
            pw.PartwrightError,
            "the column is given by its name, such as 'customer', not as a Expr",
        ),
    ],
    ids=["number", "type", "column", "n", "client", "expression", "column as expression"],
)
def test_what_is_wrong_is_said_where_the_expression_is_made(
    make: Callable[[datafusion.DataFrame], object], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        make(frame(k=["a"], i=[1]))


def test_a_value_that_does_not_fit_is_named_by_datafusions_error() -> None:
    df = frame(i=[1, 99999])
    # DataFusion raises no narrower class.
    with pytest.raises(Exception, match="row 1: 99999 does not fit into a 16-bit short"):
        df.select(pwd.murmur2(df, "i", "java:short")).collect()


def test_the_functions_of_columns_name_these() -> None:
    for given in (frame(k=["a"]), datafusion.col("k")):
        with pytest.raises(
            pw.KeyTypeError, match=r"call the function of this name in partwright\.datafusion"
        ):
            pw.partition_for_key(given, 3)  # type: ignore[call-overload]


def test_nobody_imports_datafusion_unasked() -> None:
    asked = "import sys, partwright as pw; pw.partition_for_key(['a'], 3); print('datafusion' in sys.modules, end=' ')"
    code = f"{asked}; import partwright.datafusion; print('datafusion' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "False True\n"


def test_no_name_leaks() -> None:
    assert [name for name in dir(pwd) if name[0] not in "_@"] == pwd.__all__

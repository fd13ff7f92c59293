"""Engine jvm gives what the core gives, or says that it has no expression; it runs no Python and hinders nothing."""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import functions as sf

import partwright as pw
from partwright import spark as pws
from partwright.errors import KeyTypeError, PartwrightError
from partwright.keys.clients import key_types
from partwright.spark import proof

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

    Table = Callable[[pa.Table], DataFrame]
    Plan = Callable[[DataFrame], str]
    Configured = Callable[[dict[str, object]], AbstractContextManager[None]]

USUAL = 20_000
N, LARGEST = 1000, 2**31 - 1
CLIENTS = {row["client"]: row for row in pw.clients().to_pylist()}
BY_BYTES = [name for name, row in CLIENTS.items() if row["hash"] == "murmur2"]
BY_CRC32 = [name for name, row in CLIENTS.items() if row["hash"] == "crc32"]
WHOLE = {"java:short": 16, "java:int": 32, "java:long": 64}
# The method that hashes bytes is reached in a session with a Java process of its own alone.
IS_REMOTE = "PARTWRIGHT_TEST_REMOTE" in os.environ
classic = pytest.mark.skipif(IS_REMOTE, reason="Spark Connect has no such expression")
MODES = {
    "generated code, ANSI": {"spark.sql.ansi.enabled": "true"},
    "generated code, not ANSI": {"spark.sql.ansi.enabled": "false"},
    "interpreted, ANSI": {
        "spark.sql.ansi.enabled": "true",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
    },
}


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest, configured: Configured) -> Iterator[None]:
    with configured(MODES[request.param]):
        yield


@pytest.fixture
def drawn(seed: int, cases: Callable[[int], int]) -> list[bytes | None]:
    """Random keys, all lengths and all bytes among them."""
    source = random.Random(seed)
    random_keys = [source.randbytes(source.randrange(65)) for _ in range(cases(USUAL))]
    return [b"", None, b"\xff" * 64, bytes(100_003), *random_keys]


def check(
    df: DataFrame, keys: pa.Array, clients: Iterable[str], key_type: str | None = None, ns: Sequence[int] = ()
) -> None:
    """Engine jvm says of the column `key` what the core says of the keys: each client, and the first one by each n."""
    asked = [(client, N) for client in clients]
    asked += [(asked[0][0], n) for n in ns]
    columns = [
        pws.partition_for_key("key", n, client, key_type, engine="jvm").alias(f"{client} {n}")
        for client, n in asked
    ]
    # Rows of a local table would be worked out as Spark plans, and not by a task.
    kept = df.cache()
    found = list(zip(*kept.select(*columns).collect(), strict=True))
    for (client, n), partitions in zip(asked, found, strict=True):
        assert list(partitions) == pw.partition_for_key(keys, n, client, key_type).to_pylist(), (client, n)
    kept.unpersist()


@classic
@pytest.mark.usefixtures("mode")
def test_murmur2_of_random_binaries(table: Table, drawn: list[bytes | None]) -> None:
    keys = pa.array(drawn, pa.binary())
    df = table(pa.table({"key": keys}))
    hashes = df.select(pws.murmur2("key", engine="jvm")).collect()
    assert [row[0] for row in hashes] == pw.murmur2(keys).to_pylist()
    check(df, keys, BY_BYTES, ns=(1, 12, LARGEST))


@classic
@pytest.mark.usefixtures("mode")
def test_murmur2_of_random_texts(table: Table, seed: int, cases: Callable[[int], int]) -> None:
    source = random.Random(seed)
    some = ["".join(source.choices("ab9-ß漢🦀", k=source.randrange(30))) for _ in range(cases(USUAL))]
    keys = pa.array([*some, "", None])
    df = table(pa.table({"key": keys}))
    for key_type in (None, "utf8", "java:string"):
        check(df, keys, ["java"], key_type, ns=(12, LARGEST))


@pytest.mark.usefixtures("mode")
def test_crc32_of_random_keys(table: Table, drawn: list[bytes | None]) -> None:
    keys = pa.array(drawn, pa.binary())
    texts = pa.array([None if key is None else key.hex() for key in drawn])
    for some in (keys, texts):
        check(table(pa.table({"key": some})), some, BY_CRC32, ns=(1, 12, LARGEST))


@pytest.mark.usefixtures("mode")
@pytest.mark.parametrize("key_type", WHOLE)
def test_murmur2_of_random_numbers(
    table: Table, key_type: str, seed: int, cases: Callable[[int], int]
) -> None:
    source, most = random.Random(seed), 2 ** (WHOLE[key_type] - 1)
    some = [0, -1, 1, most - 1, -most, None, *(source.randrange(-most, most) for _ in range(cases(USUAL)))]
    for kind in (pa.int64(), pa.int8()):
        half = 2 ** (kind.bit_width - 1)
        keys = pa.array([each for each in some if each is None or -half <= each < half], kind)
        df = table(pa.table({"key": keys}))
        hashes = df.select(pws.murmur2("key", key_type, engine="jvm")).collect()
        assert [row[0] for row in hashes] == pw.murmur2(keys, key_type=key_type).to_pylist()
        check(df, keys, ["java", "librdkafka:murmur2"], key_type, ns=(12, LARGEST))


@pytest.mark.parametrize("key_type", [None, "bytes", "utf8", "java:string"])
def test_a_column_of_nulls_has_a_type_that_any_rule_takes(spark: SparkSession, key_type: str | None) -> None:
    df = spark.sql("SELECT NULL AS key")
    for client in BY_CRC32 if IS_REMOTE else (*BY_CRC32, *BY_BYTES):
        place = pws.partition_for_key("key", 12, client, key_type, engine="jvm")
        assert df.select(place).first()[0] == pw.partition_for_key(None, 12, client), client


@pytest.mark.parametrize("client", CLIENTS)
def test_every_other_rule_is_refused_by_name(spark: SparkSession, client: str) -> None:
    del spark
    by_bytes = client in BY_BYTES
    for key_type in key_types():
        known = (key_type in WHOLE and by_bytes) or (
            key_type in {"utf8", "bytes", "java:string"} and (by_bytes or client in BY_CRC32)
        )
        # The core itself gives this client texts alone.
        if known or (client == "java:string-hash" and key_type not in {"utf8", "bytes", "java:string"}):
            continue
        with pytest.raises(
            PartwrightError, match=f"no exact expression for client '{client}' with the key type '{key_type}'"
        ):
            pws.partition_for_key("key", 12, client, key_type, engine="jvm")


@pytest.mark.parametrize(
    ("keys", "key_type"),
    [
        (pa.array(["a"]), "java:long"),
        (pa.array([1.5]), "java:long"),
        (pa.array([True]), "java:int"),
        (pa.array([2**31]), "java:int"),
        (pa.array([-(2**15) - 1]), "java:short"),
    ],
)
def test_keys_of_another_type_or_size_end_the_job(table: Table, keys: pa.Array, key_type: str) -> None:
    df = table(pa.table({"key": keys}))
    with pytest.raises(
        PySparkException, match=r"no key bytes in engine jvm under the key type|does not fit the key type"
    ):
        df.select(pws.partition_for_key("key", 12, key_type=key_type, engine="jvm")).collect()


@classic
def test_keys_of_another_type_have_no_bytes(table: Table) -> None:
    for keys, key_type, sentence in (
        (
            pa.array(["a"]),
            "bytes",
            "the key column is string, which has no key bytes in engine jvm under the key type bytes",
        ),
        (
            pa.array([b"a"]),
            "utf8",
            "the key column is binary, which has no key bytes in engine jvm under the key type utf8",
        ),
    ):
        df = table(pa.table({"key": keys})).cache()
        with pytest.raises(PySparkException) as refused:
            df.select(pws.murmur2("key", key_type, engine="jvm")).collect()
        assert pws.first_sentence(refused.value) == sentence
        # A table is looked at before that.
        with pytest.raises(KeyTypeError, match=f"the key type {key_type}|key type"):
            pws.with_partition(df, "key", 12, key_type=key_type, engine="jvm")
    # Spark knows this one as it reads the query, and says it in its own words.
    with pytest.raises(AnalysisException, match=r'requires the "BINARY" type'):
        table(pa.table({"key": [1]})).select(pws.murmur2("key", engine="jvm"))


def test_the_setting_of_the_session_is_the_default(
    spark: SparkSession, configured: Configured, plan: Plan
) -> None:
    df = spark.range(3)

    def runs_python() -> bool:
        return "ArrowEval" in plan(df.select(pws.partition_for_key("id", 12, key_type="java:long")))

    assert runs_python()
    with configured({"spark.partwright.engine": "jvm"}):
        assert not runs_python()
        assert "ArrowEval" in plan(pws.with_partition(df, "id", 12, key_type="java:long", engine="arrow"))
        assert "ArrowEval" not in plan(df.transform(pws.kafka_layout("id", 12, "id", key_type="java:long")))
    with (
        configured({"spark.partwright.engine": "rust"}),
        pytest.raises(PartwrightError, match=r"no engine 'rust' .*spark\.partwright\.engine"),
    ):
        pws.partition_for_key("id", 12)


def test_both_engines_name_their_columns_alike(spark: SparkSession) -> None:
    df = spark.range(3)
    for column in ("id", sf.col("id")):
        for call in (
            lambda engine, of=column: pws.partition_for_key(of, 12, key_type="java:long", engine=engine),
            lambda engine, of=column: pws.murmur2(of, "java:long", engine=engine),
        ):
            assert df.select(call("jvm")).columns == df.select(call("arrow")).columns


def test_strategies_have_no_such_engine(spark: SparkSession, configured: Configured) -> None:
    def placed(engine: str | None) -> DataFrame:
        return pws.with_partition(
            spark.range(3), "id", 12, key_type="java:long", strategy="round-robin", engine=engine
        )

    with pytest.raises(PartwrightError, match="engine jvm places by the key alone"):
        placed("jvm")
    with configured({"spark.partwright.engine": "jvm"}):
        with pytest.raises(PartwrightError, match="engine jvm places by the key alone"):
            placed(None)
        assert placed("arrow").columns == ["id", "partition"]


@pytest.mark.parametrize("engine", ["rust", "JVM", "", 7, ["jvm"], b"jvm"])
def test_an_engine_that_does_not_exist(spark: SparkSession, engine: Any) -> None:
    df = spark.range(3).withColumn("ts", sf.lit(1))
    calls = (
        lambda: pws.partition_for_key("id", 12, engine=engine),
        lambda: pws.murmur2("id", engine=engine),
        lambda: pws.with_partition(df, "id", 12, key_type="java:long", engine=engine),
        lambda: df.transform(pws.kafka_layout("id", 12, key_type="java:long", engine=engine)),
        lambda: pws.copartition(df, df, "id", 12, key_type="java:long", engine=engine),
        lambda: pws.register(spark, engine=engine),
    )
    for call in calls:
        with pytest.raises(PartwrightError, match=r"there is no engine .* there are arrow and jvm"):
            call()


def test_n_and_names_are_looked_at_first(spark: SparkSession) -> None:
    del spark
    for arguments, sentence in (
        ({"n": 0}, "must be from 1 to 2147483647, not 0"),
        ({"n": 2**31}, "must be from 1 to 2147483647"),
        ({"client": "jav"}, "did you mean java"),
        ({"key_type": "java:lnog"}, "there is no key type"),
        ({"col": 7}, "not 7"),
    ):
        with pytest.raises(PartwrightError, match=sentence):
            pws.partition_for_key(**{"col": "key", "n": 12, "engine": "jvm", **arguments})


def test_a_proof_that_fails_is_told(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    del spark
    monkeypatch.setattr(proof, "_PROVEN", set())
    monkeypatch.setattr(proof.zlib, "crc32", len)
    with pytest.raises(
        PartwrightError, match=r"not exact in this session, for its crc32 of b'a' is 3904355907, not 1"
    ):
        pws.partition_for_key("key", 12, "librdkafka", engine="jvm")


@classic
def test_a_class_path_without_murmur2_is_told(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    del spark
    from partwright.spark import catalyst

    monkeypatch.setattr(catalyst, "_FOUND", {})
    absent = catalyst._Hasher("org.example.Murmur", "murmur2", takes_length=False)
    other = catalyst._Hasher("org.apache.commons.codec.digest.MurmurHash2", "hash64", takes_length=True)
    monkeypatch.setattr(catalyst, "_HASHERS", (absent, other))
    with pytest.raises(
        PartwrightError, match=r"finds no murmur2 .*org\.example\.Murmur is not there; .*MurmurHash2\.hash64 "
    ):
        pws.murmur2("key", engine="jvm")


@classic
def test_the_murmur2_of_kafkas_client_serves_as_well(
    table: Table, drawn: list[bytes | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where commons-codec is too old: the tests' session has Spark's Kafka connector."""
    from partwright.spark import catalyst

    monkeypatch.setattr(catalyst, "_FOUND", {})
    monkeypatch.setattr(catalyst, "_HASHERS", catalyst._HASHERS[1:2])
    keys = pa.array(drawn[:1000], pa.binary())
    check(table(pa.table({"key": keys})), keys, BY_BYTES[:1])
    assert [found.method for found in catalyst._FOUND.values()] == ["murmur2"]


@classic
def test_another_thread_has_the_same_engine(spark: SparkSession, configured: Configured) -> None:
    """A thread has no active session of its own."""
    with configured({"spark.partwright.engine": "jvm"}), ThreadPoolExecutor(1) as pool:
        found = pool.submit(
            lambda: pws.engine_of(spark.range(3).select(pws.murmur2("id", "java:long")))
        ).result()
    assert found == {"jvm"}


@pytest.mark.skipif(not IS_REMOTE, reason="a classic session has this expression")
def test_connect_has_no_murmur2_of_bytes(spark: SparkSession) -> None:
    del spark
    with pytest.raises(PartwrightError, match="no murmur2 of texts and binaries in Spark Connect"):
        pws.partition_for_key("key", 12, engine="jvm")

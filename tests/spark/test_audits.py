"""Audits on Spark: the same answers as the functions on columns, which real clients' files and topics prove."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa
import pytest
from fingerprinting import fingerprint
from pyspark.sql import functions as sf

import partwright as pw
from partwright import audit
from partwright import spark as pws
from partwright.audit import key_sums
from partwright.audit.check import Check
from partwright.audit.copartition import JoinedKeys, meet
from partwright.audit.fingerprint_judge import judge
from partwright.audit.record_columns import columns, milliseconds
from partwright.audit.resize import Resize
from partwright.report import document
from partwright.spark import sums_by_key
from partwright.spark.engines.choice import SETTING, exact
from partwright.spark.requirements import is_remote
from partwright.spark.sums_by_key import _COALESCED, _level_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

    Table = Callable[[pa.Table], DataFrame]

SEED = 20261121
DAY = 1_767_225_600_000


def records(rows: int = 4000, keys: int = 700, client: str = "java", n: int = 12) -> pa.Table:
    """Records as Kafka's source has them: some heavy keys, some without a key, in the order of their times."""
    draw = random.Random(SEED)
    key = [
        None if draw.random() < 0.02 else b"US" if draw.random() < 0.2 else b"user-%d" % draw.randrange(keys)
        for _ in range(rows)
    ]
    places = pw.partition_for_key(pa.array(key, pa.binary()), n, client).to_pylist()
    partition = [draw.randrange(n) if place is None else place for place in places]
    offset, ends = [], [0] * n
    for place in partition:
        offset.append(ends[place])
        ends[place] += 1
    return pa.table(
        {
            "key": pa.array(key, pa.binary()),
            "partition": pa.array(partition, pa.int32()),
            "offset": pa.array(offset, pa.int64()),
            "timestamp": pa.array([DAY + 10 * row for row in range(rows)], pa.timestamp("ms", "UTC")),
            "size": pa.array([draw.randrange(1000) for _ in range(rows)], pa.int32()),
        }
    )


def on_columns(table: pa.Table, **settings: Any) -> audit.Fingerprint:
    names = ("key", "partition", "timestamp")
    return fingerprint(*(table[name] for name in names), offsets=table["offset"], **settings)


@pytest.mark.parametrize("client", ["java", "librdkafka", "sarama", "kafka-go:crc32"])
def test_the_writer_is_found(client: str, table: Table) -> None:
    given = records(client=client)
    found = pws.fingerprint(table(given), "key", timestamp="timestamp", offset="offset")
    assert found == on_columns(given)
    assert (found.verdict, found.n) == ("one-writer", 12)
    assert client in found.family


def test_a_change_is_dated_and_placed(table: Table) -> None:
    old, new = records(n=12), records(n=18)
    later = pa.array([DAY * 2 + row for row in range(len(new))], pa.timestamp("ms", "UTC"))
    ends = [0] * 18
    for place in old["partition"].to_pylist():
        ends[place] += 1
    offsets = []
    for place in new["partition"].to_pylist():
        offsets.append(ends[place])
        ends[place] += 1
    new = new.set_column(3, "timestamp", later).set_column(2, "offset", pa.array(offsets, pa.int64()))
    given = pa.concat_tables([old, new])
    found = pws.fingerprint(table(given), "key", timestamp="timestamp", offset="offset")
    assert found == on_columns(given)
    assert found.change is not None
    assert (found.verdict, found.change.before, found.change.after) == ("n-change", 12, 18)
    assert found.change.first_timestamp_after is not None
    assert found.change.first_timestamp_after >= 2 * DAY
    undated = pws.fingerprint(table(given.drop_columns("timestamp")), "key", offset="offset", n=18)
    assert undated == fingerprint(given["key"], given["partition"], offsets=given["offset"], n=18)


def test_the_verbs_for_tables_in_memory_name_sparks_own(table: Table) -> None:
    given = table(pa.table({"key": ["a", "b"]}))
    for ask in (lambda: pw.check(given, "key", 12), lambda: pw.copartition(given, given, "key", 12)):
        with pytest.raises(pw.KeyTypeError, match="call check, fingerprint, resize or check_copartition of"):
            ask()


def test_a_topics_own_columns_need_no_names(table: Table) -> None:
    """As the command reads them: without the times, one writer after another would look like both at once."""
    old, new = records(keys=100), records(keys=100, client="librdkafka")
    ends = pa.array([10_000 + at for at in range(len(new))], pa.int64())
    later = pa.array([DAY * 2 + row for row in range(len(new))], pa.timestamp("ms", "UTC"))
    written = pa.concat_tables([old, new.set_column(3, "timestamp", later).set_column(2, "offset", ends)])
    named = {"partition": "partition", "timestamp": "timestamp", "offset": "offset"}
    wanted = pw.fingerprint(written, "key", **named)
    assert wanted.verdict == "writer-change"
    assert pw.fingerprint(written, "key", partition="partition").verdict == "mixture"
    of_topic = written.append_column("topic", pa.repeat("orders", len(written)))
    for found in (
        pws.fingerprint(table(written), "key"),
        pws.fingerprint(table(of_topic)),
        pws.fingerprint(table(of_topic), "key", **named),
    ):
        assert found == wanted
    facts = dict(pws.fingerprint(table(of_topic), "key").question.facts())
    assert facts == {role: f"{role}, a topic's own" for role in named}
    # Columns of these names but of other types are not a topic's.
    text = table(of_topic).withColumn("timestamp", sf.col("timestamp").cast("string"))
    assert pws.fingerprint(text, "key", offset="offset").question.facts()[0][0] == "partition"
    assert (
        pws.check(table(of_topic), n=12).to_dict()
        == pws.check(table(written), "key", 12, partition="partition").to_dict()
    )
    plan = pws.resize(table(of_topic), from_=12, to=24)
    assert (
        plan.to_dict()
        == pw.resize(written, "key", 12, 24, columns=pw.RecordColumns("partition", "offset")).to_dict()
    )
    assert pws.check(table(written), "key", 12).misplaced is None
    meeting = pws.check_copartition(table(of_topic), table(written), "key", partition="partition")
    assert meeting == pw.copartition(written, written, "key", partition="partition")
    for ask in (
        lambda: pws.fingerprint(table(written)),
        lambda: pws.check(table(written), n=12),
        lambda: pws.check_copartition(table(written), table(written), n=12),
    ):
        with pytest.raises(pw.PartwrightError, match=r"^name the key's column with key=$"):
            ask()
    with pytest.raises(
        pw.PartwrightError, match=r"^key= is the name of a column, which comes before n, not 12: there "
    ):
        pws.check(table(written), 12)  # type: ignore[arg-type]
    with pytest.raises(pw.PartwrightError, match=r"^give the number of partitions with n=$"):
        pws.check(table(of_topic))
    with pytest.raises(pw.PartwrightError, match=r"^give the number of partitions with to=$"):
        pws.resize(table(of_topic), from_=12)
    with pytest.raises(pw.PartwrightError, match=r"^name the partition's column with partition=$"):
        pws.fingerprint(table(written).drop("partition"), "key")


def test_partitions_that_are_taken_in_turn(table: Table) -> None:
    given = records()
    turns = pa.array([row % 12 for row in range(len(given))], pa.int32())
    given = given.set_column(1, "partition", turns)
    found = pws.fingerprint(table(given).repartition(5), "key", timestamp="timestamp")
    assert (found.verdict, found.n) == ("round-robin", 12)
    # Without times nobody knows in which order a table's rows were written.
    assert pws.fingerprint(table(given.drop_columns("timestamp")), "key").verdict == "no-rule"


def test_keys_with_a_schemas_id_and_numbers_are_keys(table: Table) -> None:
    ids = pa.table({"id": pa.array(range(500), pa.int64())})
    placed = pw.partition_for_key(ids["id"], 7, key_type="java:long")
    found = pws.fingerprint(
        table(ids.append_column("p", placed)), "id", partition=sf.col("p"), key_type="java:long"
    )
    assert (found.verdict, found.n, found.family[0]) == ("one-writer", 7, "java")
    keys = [b"\x00\x00\x00\x00\x07user-%d" % row for row in range(500)]
    bare = pw.partition_for_key(keys, 7, key_type="confluent:strip-id")
    found = pws.fingerprint(table(pa.table({"key": keys, "partition": bare})), "key", partition="partition")
    assert (found.verdict, found.key_transform) == ("one-writer", "confluent:strip-id")


@pytest.mark.parametrize("client", ["java", "librdkafka:murmur2"])
def test_what_moves_is_what_moves_in_columns(client: str, table: Table) -> None:
    given = records(client=client)
    for n, to in ((12, 18), (12, 24), (12, 5)):
        plan = Resize(n, to, client)
        plan.add(given["key"])
        assert pws.resize(table(given), "key", n, to, client).to_dict() == plan.to_dict()
    plan = Resize(12, 12, client, to_client="sarama")
    plan.add(given["key"])
    assert pws.resize(table(given), "key", 12, client=client, to_client="sarama").to_dict() == plan.to_dict()
    plan = Resize(12, 18, client)
    plan.add(*(given[name] for name in ("key", "partition", "offset", "size")))
    found = pws.resize(
        table(given), "key", 12, 18, client, columns=pws.RecordColumns("partition", "offset", "size")
    )
    assert found.to_dict() == plan.to_dict()
    assert found.misplaced == 0
    assert found.bytes_moved


def test_records_elsewhere_are_counted_in_a_plan(table: Table) -> None:
    given = records(client="librdkafka")
    plan = Resize(12, 24)
    plan.add(given["key"], given["partition"], given["offset"])
    found = pws.resize(table(given), "key", 12, 24, columns=pws.RecordColumns("partition", "offset"))
    assert found.to_dict() == plan.to_dict()
    assert found.misplaced > 2000


@pytest.mark.parametrize("client", ["java", "librdkafka:murmur2", "librdkafka"])
def test_a_check_is_that_of_columns(client: str, table: Table) -> None:
    given = records()
    for partition in (None, "partition"):
        limits = pws.CheckLimits(max_share=0.2, min_used=1.0)
        found = pws.check(table(given), "key", 12, client, partition=partition, limits=limits)
        right = Check(12, client, limits=limits)
        right.add(given["key"], None if partition is None else given["partition"])
        ours, theirs = found.to_dict(), right.to_dict()
        examples = ours.pop("examples")
        assert (bool(examples), len(examples)) == (bool(theirs.pop("examples")), min(10, len(examples)))
        assert ours == theirs
        assert found.broken == right.broken
        assert len(found.broken) == 1
    wrong = pws.check(table(given), "key", 12, "librdkafka", partition="partition")
    heaviest = wrong.examples[0]
    assert str(heaviest) == (
        f"{heaviest.rows:,} rows: key US is in partition {pw.partition_for_key('US', 12)}, librdkafka puts it into "
        f"{pw.partition_for_key('US', 12, 'librdkafka')}"
    )


def test_a_contract_s_function_may_give_a_table_of_spark(table: Table) -> None:
    given = table(records())

    @pw.contract("key", 12, max_share="30%", min_used=1)
    def even() -> DataFrame:
        return given

    assert even() is given
    found = pw.check_contract(given, "key", n=12, max_share="30%")
    assert found.to_dict() == pws.check(given, "key", 12, limits=pws.CheckLimits(max_share=0.3)).to_dict()

    @pw.contract("key", 12, max_share="20%")
    def skewed() -> DataFrame:
        return given

    with pytest.raises(
        pw.ContractError, match=r"^skewed: partition 8 has 25.9% .* with the keys? US \(\d+ rows\)"
    ):
        skewed()


def test_places_that_are_none_are_misplaced(table: Table) -> None:
    keys = ["a", "b", None, None, None, "a"]
    places = pa.array([4, 12, None, -1, 3, None], pa.int64())
    found = pws.check(table(pa.table({"key": keys, "p": places})), "key", 12, partition="p")
    right = Check(12)
    right.add(pa.array(keys), places)
    ours, theirs = found.to_dict(), right.to_dict()
    assert [len(each.pop("examples")) for each in (ours, theirs)] == [3, 3]
    assert ours == theirs
    assert (found.misplaced, found.undetermined) == (3, 2)


def side(given: pa.Table, n: int | None = None, client: str | None = None) -> JoinedKeys:
    seen = key_sums.Observed()
    seen.add(*columns(given["key"], given["partition"]))
    return JoinedKeys(seen, n, client)


def test_two_tables_meet_or_do_not(table: Table) -> None:
    java, c, grown = records(), records(client="librdkafka"), records(n=24)
    for other, kinds in ((java, []), (c, ["client"]), (grown, ["n"])):
        found = pws.check_copartition(table(java), table(other), "key", partition="partition")
        assert found == meet(side(java), side(other))
        assert [reason.kind for reason in found.reasons if reason.kind != "null-keys"] == kinds
        assert found.ok == (not kinds)
    # Compared with the partitions that a client would give the other table, whose keys have another name.
    renamed = table(c).withColumnRenamed("key", "user")
    would = pws.check_copartition(
        table(c),
        pws.JoinSide(renamed, key="user", client="librdkafka"),
        "key",
        12,
        partition="partition",
    )
    assert (would.ok, would.a.n, would.b.client) == (True, 12, "librdkafka")
    placed = pws.check_copartition(table(java), pws.JoinSide(renamed, key=sf.col("user"), n=18), "key", 12)
    assert [reason.kind for reason in placed.reasons if reason.kind != "null-keys"] == ["n"]
    with pytest.raises(pw.PartwrightError, match=r"^say how many partitions there are, with n=, or where"):
        pws.check_copartition(table(java), table(c), "key")
    with pytest.raises(
        pw.PartwrightError, match=r"^client 'java' would place keys, and a column of partitions"
    ):
        pws.check_copartition(table(java), table(c), "key", client="java", partition="partition")
    with pytest.raises(pw.PartwrightError, match=r"^\d+ rows are in 5, which is not a partition of 5"):
        pws.check_copartition(table(java), table(c), "key", 5, partition="partition")


def test_of_too_many_keys_the_same_come_to_the_driver(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    given = records(rows=12_000, keys=9000)
    monkeypatch.setattr(key_sums, "_MOST", 1000)
    ours = pws.fingerprint(table(given), "key", timestamp="timestamp", offset="offset")
    seen = key_sums.Observed(most=1000)
    seen.add(*columns(given["key"], given["partition"], given["timestamp"], given["offset"]))
    theirs = judge(seen)
    assert ours.is_sampled
    assert ours == theirs
    plan = pws.resize(table(given), "key", 12, 18)
    right = Resize(12, 18)
    right._seen = key_sums.Observed(most=1000)
    right.add(given["key"])
    assert plan.is_estimated
    assert (plan.keys, plan.keys_moved, plan.rows_moved) == (right.keys, right.keys_moved, right.rows_moved)
    # The cluster has counted the heaviest keys; a file's reader knows a lower bound for them.
    found = pws.check(table(given), "key", 12)
    rows = given["key"].to_pylist().count(b"US")
    heaviest = found.to_dict()["heavy_keys"][0]
    assert (heaviest["key"], heaviest["rows"], found.to_dict()["heavy_keys_lack"]) == ("US", rows, 0)
    # Also if each key's place was looked at, and is right.
    placed = table(given).withColumn("partition", pws.partition_for_key("key", 12))
    found = pws.check(placed, "key", 12, partition="partition")
    heaviest = found.to_dict()["heavy_keys"][0]
    assert (found.ok, heaviest["key"], heaviest["rows"]) == (True, "US", rows)
    # In whatever partitions the rows of a heavy key are.
    turned = table(given).withColumn("partition", (sf.col("offset") % 12).cast("int"))
    found = pws.check(turned, "key", 12, partition="partition")
    heaviest = found.to_dict()["heavy_keys"][0]
    assert (heaviest["key"], heaviest["rows"]) == ("US", rows)


def test_the_level_of_a_hash_is_exact_at_each_power_of_two(spark: SparkSession) -> None:
    edges = {min(max((1 << bit) + near, 0), 2**32 - 1) for bit in range(33) for near in (-2, -1, 0, 1, 2)}
    hashes = [(edge - 2**31,) for edge in sorted(edges)]
    found = spark.createDataFrame(hashes, "hash int").select("hash", _level_of(sf.col("hash")).alias("level"))
    for row in found.collect():
        unsigned = row["hash"] + 2**31
        assert row["level"] == 32 - unsigned.bit_length()
        # As many halvings of the range as a file's sums keep it through, and not one more.
        assert unsigned < 2**32 >> row["level"]
        assert row["level"] == 32 or unsigned >= 2**32 >> row["level"] + 1


def test_an_audit_asks_the_jvm_where_it_can(table: Table) -> None:
    def column(engine: str) -> Column:
        asked.append(engine)
        return pws.partition_for_key("key", 12, client, engine=engine)

    keys = records(rows=500)
    given = table(keys)
    spark = given.sparkSession
    has_java = not is_remote()
    for client, setting, wanted in (
        ("java", None, ["jvm"] if has_java else ["jvm", "arrow"]),
        ("sarama", None, ["jvm", "arrow"]),
        ("java", "arrow", ["arrow"]),
        ("java", "jvm", ["jvm"] if has_java else ["jvm", "arrow"]),
    ):
        asked: list[str] = []
        try:
            if setting:
                spark.conf.set(SETTING, setting)
            exact(column)
            assert asked == wanted
            plan = pws.resize(given, "key", 12, 18, client)
        finally:
            spark.conf.unset(SETTING)
        right = Resize(12, 18, client)
        right.add(keys["key"])
        assert plan.to_dict() == right.to_dict()


@pytest.mark.parametrize("bits", [[32], range(28)])
def test_of_keys_that_somebody_chose_by_their_hashes(
    bits: Sequence[int], table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = pa.array(f"user-{number}" for number in range(40_000))
    found = pw.murmur2(names).to_pylist()
    keys = names.filter(pa.array((each + (1 << 31)).bit_length() in bits for each in found))
    given = pa.table({"key": keys, "partition": pw.partition_for_key(keys, 12)})
    monkeypatch.setattr(key_sums, "_MOST", 500)
    seen = key_sums.Observed(most=500)
    seen.add(*columns(given["key"], given["partition"]))
    assert seen.is_sampled
    assert pws.fingerprint(table(given), "key") == judge(seen)


@pytest.mark.parametrize("rows", [0, 3])
def test_tables_without_a_key(rows: int, table: Table) -> None:
    given = table(pa.table({"key": pa.nulls(3, pa.string()), "partition": pa.array([0] * 3, pa.int32())}))
    given = given.limit(rows)
    found = pws.fingerprint(given, "key")
    assert (found.verdict, found.rows, found.null_keys) == ("no-keys", rows, rows)
    plan = pws.resize(given, "key", 12, 24)
    assert (plan.rows, plan.keys, plan.unplaced) == (0, 0, rows)
    checked = pws.check(given, "key", 12, partition="partition")
    assert (checked.ok, checked.rows, checked.undetermined) == (True, rows, rows)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("null", "1 row has no partition (their number is null): they are whole numbers from 0 to"),
        ("negative", "1 row is in -1, which is not a partition: they are whole numbers from 0 to"),
        ("small n", "a record is in partition 11, which a topic of 5 partitions has not: check n="),
        ("text", "the column of partitions is string, and they are whole numbers: cast it to int or bigint"),
        ("time", "the column of timestamps is string: cast it to timestamp, or give milliseconds as bigint"),
        ("absent", "there is no column 'nowhere' for partition; the columns are key, partition, offset"),
        ("key", "the key column 'size' is int: int32 has no key bytes of its own"),
        ("small from", "rows are in 5, which is not a partition of 5: they are whole numbers from 0 to 4"),
        ("same", "the topic would keep its 12 partitions: nothing would move"),
        ("client", 'there is no client "jav"'),
        ("frame", "a DataFrame of Spark is needed, not list: "),
        ("n", "n, the number of partitions, must be from 1"),
        ("n text", "the number of partitions"),
        ("show", "show is a whole number from 0 to 2147483647, not -1"),
        ("show none", "show is a whole number from 0 to 2147483647, not None"),
        ("offset", "a row has the offset -3, which is not a whole number from 0 on"),
        ("bytes", "a row has the size -3, which is not a whole number from 0 on"),
        (
            "dotted",
            "'a.b' is a path into a struct to Spark: write a column of this name in backquotes, '`a.b`'",
        ),
        ("share", "max_share"),
        ("contract", "partition 8 has "),
        ("no key", "a Spark DataFrame has columns: say which of them is the key, with key="),
    ],
)
def test_a_refusal_is_one_sentence(kind: str, sentence: str, table: Table) -> None:
    given = table(records(rows=200))
    row = sf.col("offset") == 0
    one = (sf.col("partition") == 0) & row
    calls: dict[str, Callable[[], object]] = {
        "null": lambda: pws.fingerprint(given, "key", partition=sf.when(~one, sf.col("partition"))),
        "negative": lambda: pws.fingerprint(
            given, "key", partition=sf.when(one, -1).otherwise(sf.col("partition"))
        ),
        "small n": lambda: pws.fingerprint(given, "key", n=5),
        "text": lambda: pws.fingerprint(given, "key", partition=sf.col("partition").cast("string")),
        "time": lambda: pws.fingerprint(given, "key", timestamp=sf.col("timestamp").cast("string")),
        "absent": lambda: pws.fingerprint(given, "key", partition="nowhere"),
        "key": lambda: pws.check(given, "size", 12),
        "small from": lambda: pws.resize(given, "key", 5, 10, columns=pws.RecordColumns("partition")),
        "same": lambda: pws.resize(given, "key", 12, 12),
        "client": lambda: pws.check(given, "key", 12, "jav"),
        "frame": lambda: pws.fingerprint([1], "key"),  # type: ignore[arg-type]
        "n": lambda: pws.check(given, "key", 0),
        "n text": lambda: pws.fingerprint(given, "key", n="12"),  # type: ignore[arg-type]
        "show": lambda: pws.check(given, "key", 12, limits=pws.CheckLimits(show=-1)),
        "show none": lambda: pws.check(
            given,
            "key",
            12,
            limits=pws.CheckLimits(show=None),  # type: ignore[arg-type]
        ),
        "offset": lambda: pws.fingerprint(given, "key", offset=sf.when(row, -3)),
        "bytes": lambda: pws.resize(given, "key", 12, 24, columns=pws.RecordColumns(size=sf.when(row, -3))),
        "dotted": lambda: pws.check(given.withColumnRenamed("key", "a.b"), "a.b", 12),
        "share": lambda: pws.check(given, "key", 12, limits=pws.CheckLimits(max_share="5")),
        "contract": lambda: pw.check_contract(given, "key", n=12, max_share="10%"),
        "no key": lambda: pw.check_contract(given, n=12, max_share="10%"),
    }
    with pytest.raises(pw.PartwrightError) as refused:
        calls[kind]()
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_both_tables_are_refused_before_a_job_runs(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    given = table(records(rows=20))

    def no_job(*_: object) -> NoReturn:
        raise AssertionError

    monkeypatch.setattr("partwright.spark.audits.kept", no_job)
    with pytest.raises(pw.PartwrightError, match=r"^there is no column 'user'"):
        pws.check_copartition(given, pws.JoinSide(given, key="user"), "key", 12)
    with pytest.raises(pw.PartwrightError, match=r"^n, the number of partitions, must be from 1"):
        pws.check_copartition(given, pws.JoinSide(given, n=0), "key", 12)


def test_audits_at_the_same_time_leave_the_session_as_it_was(table: Table, spark: SparkSession) -> None:
    given = table(records(rows=50))
    before = spark.conf.get(_COALESCED)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: pws.check(given, "key", 12).rows, range(12)))
    assert set(found) == {50}
    assert spark.conf.get(_COALESCED) == before


def test_a_key_of_as_many_rows_in_several_partitions_is_said_to_be_in_the_first(table: Table) -> None:
    draw = random.Random(SEED)
    pairs = [(b"a%d" % key, place) for key in range(8) for place in (3, 7, 0, 11)]
    draw.shuffle(pairs)
    keys, places = (pa.array(column) for column in zip(*pairs, strict=True))
    given = pa.table({"key": keys, "partition": places})
    right = Check(12)
    right.add(keys, places)
    wanted = right.to_dict()["heavy_keys"]
    assert {each["partition"] for each in wanted} == {0}
    assert pws.check(table(given), "key", 12, partition="partition").to_dict()["heavy_keys"] == wanted


def test_what_a_worker_refuses_is_its_sentence(table: Table) -> None:
    short = table(
        pa.table({"key": [b"\x00\x00\x00\x00\x01a", b"\x01"], "partition": pa.array([0, 0], pa.int32())})
    )
    with pytest.raises(pw.PartwrightError, match=r"^row \d: ") as refused:
        pws.fingerprint(short, "key", key_type="confluent:strip-id")
    assert "\n" not in str(refused.value)


def test_a_column_that_cannot_be_partitions_is_not_collected(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partwright.spark.sums_by_key._PARTITIONS", 1000)
    given = spark.range(5000).select(
        sf.col("id").cast("string").alias("key"), sf.col("id").alias("partition")
    )
    with pytest.raises(
        pw.PartwrightError, match=r"^the rows are in more than 1,000 partitions, more than any Kafka"
    ):
        pws.fingerprint(given, "key", partition="partition")


def test_a_stream_is_refused(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().selectExpr("string(value) AS key", "0 AS partition")
    with pytest.raises(pw.PartwrightError, match=r"^an audit looks at all rows and a stream has no end"):
        pws.fingerprint(stream, "key")


def test_times_are_the_same_in_any_zone_and_type(spark: SparkSession, table: Table) -> None:
    given = records(n=12)
    naive = given["timestamp"].cast(pa.timestamp("us"))
    table_ = table(given.set_column(3, "timestamp", given["timestamp"].cast(pa.timestamp("us", "UTC"))))
    wanted = pws.fingerprint(table_, "key", timestamp="timestamp")
    before = spark.conf.get("spark.sql.session.timeZone")
    try:
        spark.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
        assert pws.fingerprint(table_, "key", timestamp="timestamp") == wanted
        columns = (given["key"], given["partition"], naive)
        rows = list(zip(*(column.to_pylist() for column in columns), strict=True))
        wallclock = spark.createDataFrame(rows, "key binary, partition int, timestamp timestamp_ntz")
        assert pws.fingerprint(wallclock, "key", timestamp="timestamp") == wanted
        early = wallclock.withColumn("timestamp", sf.lit("1969-12-31 23:59:59.9985").cast("timestamp_ntz"))
        assert milliseconds(pa.array([-1500], pa.timestamp("us"))).to_pylist() == [-2]
        first = sums_by_key.records(early, "key", "partition", timestamp="timestamp").first()
        assert first is not None
        assert first["time"] == -2
        millis = table_.withColumn("timestamp", sf.unix_millis("timestamp"))
        assert pws.fingerprint(millis, "key", timestamp="timestamp") == wanted
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.parametrize("type_", [pa.float32(), pa.float64(), pa.decimal128(12, 2)])
def test_whole_numbers_may_be_fractional_by_type(type_: pa.DataType, table: Table) -> None:
    """As pandas writes a column of whole numbers in which there is a null."""
    keys = ["a", "b", "a", None]
    places = pa.array([4.0, 8.0, 5.0, None]).cast(type_)
    given = table(pa.table({"key": keys, "p": places}))
    found = pws.check(given, "key", 12, partition="p")
    assert (found.misplaced, found.undetermined, found.nowhere) == (1, 1, 0)
    assert [each.partition for each in found.examples] == [5]
    assert (
        pws.resize(given.where("p IS NOT NULL"), "key", 12, 24, columns=pws.RecordColumns("p")).misplaced == 1
    )
    odd = table(pa.table({"key": keys, "p": pa.array([4, 8, 7.5, None]).cast(type_)}))
    for call in (
        lambda: pws.check(odd, "key", 12, partition="p"),
        lambda: pws.fingerprint(odd, "key", partition="p"),
        lambda: pws.fingerprint(odd, "key", partition=sf.lit(0), offset="p"),
    ):
        with pytest.raises(
            pw.PartwrightError, match=r"^a row has the (partition|offset) 7\.50?, which is not a whole"
        ):
            call()


def test_nan_is_a_null_partition(table: Table) -> None:
    given = table(pa.table({"key": ["a", "a"], "p": [float("nan"), 4.0]}))
    found = pws.check(given, "key", 12, partition="p")
    assert (found.misplaced, found.nowhere) == (1, 1)
    assert [each.partition for each in found.examples] == [None]


def test_without_a_column_of_partitions_nothing_is_compared(table: Table) -> None:
    """Even where the table has one of that name: nobody said what it is."""
    given = table(pa.table({"key": ["a", "b"], "partition": pa.array([0, 0], pa.int32())}))
    for found in (pws.check(given, "key", 12), pw.check_contract(given, "key", n=12, max_share="60%")):
        assert found.misplaced is None
        assert repr(found).startswith("<Check: Partition 4 holds 50.0% of the records, 6.0")
        assert found.to_dict()["misplaced"] is None
        second = document(found).verdicts[1].text
        assert (
            second
            == "Not compared with where the records are: name the column of partitions with partition=."
        )
    assert pws.resize(given, "key", 12, 24).misplaced is None
    assert pws.check(given, "key", 12, partition="partition").misplaced == 2


def test_keys_that_are_all_empty_are_told(table: Table) -> None:
    given = table(pa.table({"key": ["", ""], "partition": pa.array([0, 0], pa.int32())}))
    found = pws.check_copartition(given, given, "key", 12)
    assert (found.a.is_all_empty, found.b.is_all_empty) == (True, True)
    assert pws.check(given, "key", 12).is_all_empty
    assert pws.resize(given, "key", 12, 24).is_all_empty
    assert pws.fingerprint(given, "key").is_all_empty

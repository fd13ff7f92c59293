"""A run against a real Kafka: sources, key types, targets, and each refusal."""

from __future__ import annotations

import gzip
import json
import shutil
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import partwright as pw
from partwright.errors import BrokerError, KeyTypeError, PartwrightError
from partwright.files import ColumnRequest, open_records, text_type
from partwright.kafka.connection import KafkaConfig
from partwright.pipeline import checks
from partwright.pipeline.settings import KafkaTarget, ParquetTarget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from partwright.kafka import EmbeddedKafka
    from partwright.pipeline.report import Report

    Go = Callable[..., Report]

pytestmark = [pytest.mark.spark, pytest.mark.broker]

CSV = (
    'id,text\na,"one, with a comma"\n,a null key\n"",an empty key\nb,"two\nlines"\na,again\né,"a ""quote"""\n'
)


@pytest.fixture
def csv(tmp_path: Path) -> str:
    file = tmp_path / "some records.csv"
    file.write_text(CSV, encoding="utf-8")
    return str(file)


def consumed(kafka: EmbeddedKafka, topic: str) -> list[Any]:
    """Every record of the topic as kafka-python reads it, by partition and offset."""
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(bootstrap_servers=kafka.bootstrap_servers)
    try:
        parts = [
            TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic) or ())
        ]
        consumer.assign(parts)
        consumer.seek_to_beginning(*parts)
        end = consumer.end_offsets(parts)
        records = []
        while any(consumer.position(part) < end[part] for part in parts):
            for batch in consumer.poll(timeout_ms=500).values():
                records.extend(batch)
    finally:
        consumer.close()
    return sorted(records, key=lambda record: (record.partition, record.offset))


def test_a_csv_reaches_kafka_as_it_is_written(
    go: Go, csv: str, topic: str, to: KafkaTarget, kafka: EmbeddedKafka
) -> None:
    report = go(source=csv, key="id", topic=topic, partitions=7, target=to)
    assert report.ok
    assert (report.records, report.keyed, report.null_keys, report.keys, report.n) == (6, 5, 1, 4, 7)
    assert report.proof is not None
    assert (report.proof.equal, report.proof.different) == (5, 0)
    records = consumed(kafka, topic)
    assert len(records) == 6
    keyed = {(r.key, json.loads(r.value)["text"]): r.partition for r in records if r.key is not None}
    assert keyed == {
        (key, text): pw.partition_for_key(key, 7)
        for key, text in [
            (b"a", "one, with a comma"),
            (b"", "an empty key"),
            (b"b", "two\nlines"),
            (b"a", "again"),
            ("é".encode(), 'a "quote"'),
        ]
    }
    (unkeyed,) = [json.loads(r.value) for r in records if r.key is None]
    assert unkeyed == {"id": None, "text": "a null key"}
    assert [json.loads(r.value)["text"] for r in records if r.key == b"a"] == ["one, with a comma", "again"]


@pytest.mark.parametrize(
    ("client", "null_keys"), [("librdkafka", 2), ("librdkafka:murmur2", 0), ("sarama", 1)]
)
def test_another_clients_partitions_are_taken(
    go: Go, csv: str, topic: str, to: KafkaTarget, kafka: EmbeddedKafka, client: str, null_keys: int
) -> None:
    report = go(source=csv, key="id", topic=topic, partitions=7, target=to, client=client)
    assert report.ok
    assert (report.keyed, report.null_keys, report.proof) == (6 - null_keys, null_keys, None)
    assert sum(part.null_keys or 0 for part in report.partitions) == null_keys
    assert report.notes == (f"no proof by the Java producer: client {client} puts keys elsewhere",)
    for record in consumed(kafka, topic):
        where = pw.partition_for_key(record.key, 7, client)
        assert where in {None, record.partition}


@pytest.mark.parametrize(
    ("into_folders", "more"),
    [
        pytest.param(False, {}, id="all are placed"),
        pytest.param(False, {"exactly_once": True}, id="marks of transactions have offsets"),
        pytest.param(True, {}, id="folders"),
    ],
)
def test_what_is_as_it_was_asked_for_is_summed_up_and_not_joined(
    go: Go,
    tmp_path: Path,
    topic: str,
    to: KafkaTarget,
    monkeypatch: pytest.MonkeyPatch,
    into_folders: bool,
    more: dict[str, Any],
) -> None:
    file = tmp_path / "some.jsonl"
    keys = [None if number % 3 == 0 else f"key {number % 20}" for number in range(600)]
    file.write_text("\n".join(json.dumps({"id": key}) for key in keys), encoding="utf-8")
    for name in ("each_record", "each_choice"):
        monkeypatch.setattr(checks, name, None)
    target = ParquetTarget(tmp_path / "folders") if into_folders else to
    report = go(source=str(file), key="id", topic=topic, partitions=3, target=target, **more)
    assert report.ok
    assert report.checks is not None
    assert sum(part.null_keys for part in report.checks.partitions) == report.null_keys == 200


def test_records_that_the_producer_placed_are_looked_at_one_by_one(
    go: Go, tmp_path: Path, topic: str, to: KafkaTarget
) -> None:
    file = tmp_path / "some.jsonl"
    keys = [None if number % 3 == 0 else f"key {number % 20}" for number in range(600)]
    file.write_text("\n".join(json.dumps({"id": key}) for key in keys), encoding="utf-8")
    report = go(source=str(file), key="id", topic=topic, partitions=3, target=to, null_keys="producer")
    assert report.ok
    assert report.checks is not None
    assert sum(part.null_keys for part in report.checks.partitions) == report.null_keys == 200


def test_the_topic_of_the_proof_is_gone_afterwards(
    go: Go, csv: str, topic: str, to: KafkaTarget, kafka: EmbeddedKafka
) -> None:
    from kafka import KafkaConsumer

    go(source=csv, key="id", topic=topic, target=to)
    consumer = KafkaConsumer(bootstrap_servers=kafka.bootstrap_servers)
    names = consumer.topics()
    consumer.close()
    assert topic in names
    assert not [name for name in names if "proof" in name]


def test_json_lines_parquet_and_gzip(go: Go, tmp_path: Path, topic: str, to: KafkaTarget) -> None:
    rows = [{"id": f"k{number % 5}", "at": number} for number in range(50)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "c.parquet", row_group_size=7)
    shares = []
    for name in ("a.jsonl", "b.jsonl.gz", "c.parquet"):
        report = go(source=str(tmp_path / name), key="id", topic=f"{topic}-{name}", target=to)
        assert report.ok
        shares.append([(part.records, part.keys) for part in report.partitions])
    assert shares[0] == shares[1] == shares[2]
    assert sum(records for records, _ in shares[0]) == 50


def test_a_folder_of_files_keeps_the_order_of_their_names(
    go: Go, tmp_path: Path, topic: str, to: KafkaTarget, kafka: EmbeddedKafka
) -> None:
    folder = tmp_path / "in put"
    folder.mkdir()
    # The later file is the longer one, which Spark would read first.
    for name, count in (("1.csv", 3), ("2.csv", 3000)):
        rows = "".join(f"k,{name}-{number:05}\n" for number in range(count))
        (folder / name).write_text(f"id,text\n{rows}", encoding="utf-8")
    report = go(source=str(folder), key="id", topic=topic, target=to)
    assert report.ok
    texts = [json.loads(record.value)["text"] for record in consumed(kafka, topic)]
    assert texts == sorted(texts)
    assert len(texts) == 3003


def test_a_path_that_looks_like_a_pattern(go: Go, tmp_path: Path, topic: str, to: KafkaTarget) -> None:
    folder = tmp_path / "in[put] {1}, 2*"
    folder.mkdir()
    pq.write_table(pa.table({"id": ["a"]}), folder / "a?.parquet")
    assert go(source=str(folder), key="id", topic=topic, target=to).ok
    (folder / "a[1].csv").write_text("id\na\n", encoding="utf-8")
    with pytest.raises(
        PartwrightError, match=r"for a pattern: rename what has one of \\ \{ \} \[ \] \* \? ,"
    ):
        go(source=str(folder / "a[1].csv"), key="id", topic=topic, target=to)


@pytest.mark.parametrize(
    ("column", "key_type", "key"),
    [
        (pa.array([42, -1, None], pa.int64()), "java:long", b"\0\0\0\0\0\0\0*"),
        (pa.array([42, -1, None], pa.int32()), "java:int", b"\0\0\0*"),
        (
            pa.array([b"\0\0\0\0\x07key", b"\0\0\0\0\x08", None], pa.binary()),
            "confluent:strip-id",
            b"\0\0\0\0\x07key",
        ),
        (
            pa.array(["0188C0F2-7A93-7000-8000-00000000ABCD", "0" * 8 + "-0000-0000-0000-" + "0" * 12, None]),
            "java:uuid",
            b"0188c0f2-7a93-7000-8000-00000000abcd",
        ),
    ],
)
def test_key_types(
    go: Go,
    tmp_path: Path,
    topic: str,
    to: KafkaTarget,
    kafka: EmbeddedKafka,
    column: pa.Array,
    key_type: str,
    key: bytes,
) -> None:
    pq.write_table(pa.table({"id": column}), tmp_path / "keys.parquet")
    report = go(source=str(tmp_path / "keys.parquet"), key="id", key_type=key_type, topic=topic, target=to)
    assert report.ok
    (first,) = [record for record in consumed(kafka, topic) if record.key == key]
    assert first.partition == pw.partition_for_key(column, 12, key_type=key_type)[0].as_py()
    assert (report.proof is None) == (key_type == "confluent:strip-id")


def test_numbers_in_a_csv_are_read_as_the_key_type_says(
    go: Go, tmp_path: Path, topic: str, to: KafkaTarget, kafka: EmbeddedKafka
) -> None:
    (tmp_path / "numbers.csv").write_text("id\n42\n-7\n", encoding="utf-8")
    assert go(source=str(tmp_path / "numbers.csv"), key="id", key_type="java:long", topic=topic, target=to).ok
    assert {record.key for record in consumed(kafka, topic)} == {
        pw.encode(42, "java:long"),
        pw.encode(-7, "java:long"),
    }


def test_a_topic_is_copied_into_one_with_more_partitions(
    go: Go, csv: str, topic: str, to: KafkaTarget, kafka: EmbeddedKafka
) -> None:
    go(source=csv, key="id", topic=topic, partitions=3, target=to)
    report = go(source=f"{to}/{topic}", topic=f"{topic}-copy", partitions=10, target=to)
    assert report.ok
    before = sorted((r.key or b"", r.value) for r in consumed(kafka, topic))
    copies = consumed(kafka, f"{topic}-copy")
    assert sorted((r.key or b"", r.value) for r in copies) == before
    assert all(len(r.headers) == 1 for r in copies), (
        "an earlier run's header is replaced, not kept beside the new one"
    )


def test_limit_takes_the_first_records(
    go: Go, csv: str, topic: str, to: KafkaTarget, kafka: EmbeddedKafka
) -> None:
    report = go(source=csv, key="id", topic=topic, target=to, limit=4)
    assert report.ok
    assert report.records == 4
    assert {json.loads(r.value)["text"] for r in consumed(kafka, topic)} == {
        "one, with a comma", "a null key", "an empty key", "two\nlines",
    }  # fmt: skip


@pytest.mark.parametrize("exactly_once", [False, True])
def test_a_dump_of_a_run_s_topic_stays_text(
    exactly_once: bool, go: Go, csv: str, topic: str, to: KafkaTarget, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    report = go(source=csv, key="id", topic=topic, target=to, exactly_once=exactly_once)
    assert report.ok
    assert report.is_marked
    dump = tmp_path / "dump.jsonl"
    found = consumed(kafka, topic)
    keys = [None if record.key is None else record.key.decode() for record in found]
    # As `kcat -J` writes them: bytes as they are.
    lines = [
        b'{"headers":["%s","%s"],"key":%s}\n'
        % (
            record.headers[0][0].encode(),
            record.headers[0][1],
            json.dumps(key).encode(),
        )
        for record, key in zip(found, keys, strict=True)
    ]
    dump.write_bytes(b"".join(lines))
    with open_records(str(dump)) as records:
        read = [
            key
            for (batch,) in records.read([ColumnRequest("key", text_type(None))])
            for key in batch.to_pylist()
        ]
    assert read == keys
    # Each row is there once, under one run.
    values = [record.headers[0][1].decode() for record in found]
    assert len({*values}) == len(found)
    assert len({value[:11] for value in values}) == 1


def test_no_check_leaves_no_header(
    go: Go, csv: str, topic: str, to: KafkaTarget, kafka: EmbeddedKafka
) -> None:
    report = go(source=csv, key="id", topic=topic, target=to, check=False)
    assert (report.ok, report.checks, report.proof) == (True, None, None)
    records = consumed(kafka, topic)
    assert len(records) == 6
    assert not any(record.headers for record in records)


def test_a_value_column_is_taken_as_it_is(
    go: Go, csv: str, topic: str, to: KafkaTarget, kafka: EmbeddedKafka
) -> None:
    assert go(source=csv, key="id", value="text", topic=topic, target=to).ok
    assert b"two\nlines" in {record.value for record in consumed(kafka, topic)}


def test_an_existing_topic_decides_n(go: Go, csv: str, topic: str, to: KafkaTarget) -> None:
    from partwright.kafka import topics

    topics.create_topic(to.bootstrap_servers, topic, 5)
    with pytest.raises(PartwrightError, match="has 5 partitions, not 6"):
        go(source=csv, key="id", topic=topic, partitions=6, target=to)
    assert go(source=csv, key="id", topic=topic, target=to).n == 5


def test_a_second_run_says_so_before_it_writes_twice(
    go: Go, csv: str, topic: str, to: KafkaTarget, kafka: EmbeddedKafka
) -> None:
    go(source=csv, key="id", topic=topic, target=to)
    with pytest.raises(
        PartwrightError, match=r"holds 6 records already \(the run of .* 6 records and finished\)"
    ):
        go(source=csv, key="id", topic=topic, target=to)
    assert len(consumed(kafka, topic)) == 6
    again = go(source=csv, key="id", topic=topic, target=to, append=True)
    assert again.ok, "records of an earlier run are not taken for this one's"
    assert again.checks is not None
    assert again.checks.records == 6
    assert len(consumed(kafka, topic)) == 12


def folders(path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for folder in sorted(each for each in path.iterdir() if each.is_dir()):
        files = sorted(folder.glob("*.parquet"))
        yield folder.name, [row for file in files for row in pq.read_table(file).to_pylist()]


def test_parquet_folders_are_named_as_kafkas_log_folders(go: Go, csv: str, tmp_path: Path) -> None:
    out = tmp_path / "out [1]"
    report = go(source=csv, key="id", topic="t", partitions=4, target=ParquetTarget(out))
    assert report.ok
    found = dict(folders(out))
    assert sorted(found) == ["t-0", "t-1", "t-2", "t-3", "t-null"]
    for name, rows in found.items():
        assert [row["offset"] for row in rows] == list(range(len(rows)))
        if name != "t-null":
            assert {pw.partition_for_key(row["key"], 4) for row in rows} <= {int(name[2:])}
    assert sum(len(rows) for rows in found.values()) == 6
    assert [row["key"] for row in found["t-null"]] == [None]
    with pytest.raises(
        PartwrightError, match="holds 't-0' already, from an earlier run: nothing was written"
    ):
        go(source=csv, key="id", topic="t", partitions=4, target=ParquetTarget(out))


# Bad input: one sentence, and nothing written.


def refused(go: Go, kafka: EmbeddedKafka, topic: str, sentence: str, **settings: Any) -> None:
    from partwright.kafka import topics

    with pytest.raises(PartwrightError, match=sentence) as caught:
        go(topic=topic, **settings)
    assert len(str(caught.value).splitlines()) == 1
    assert topics.partition_count(kafka.bootstrap_servers, topic) is None, "a refused run leaves no topic"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"key": "nope"}, r"there is no column 'nope' \(--key\) in .*: it has id, text"),
        ({"key": None}, r"say which column is the key with --key: .* has id, text"),
        ({"key": "id", "value": "nope"}, r"there is no column 'nope' \(--value\)"),
        ({"key": "text", "key_type": "java:long"}, "one, with a comma"),
        ({"key": "text", "key_type": "java:uuid"}, "is not the 36-character text of a UUID"),
        (
            {"key": "text", "key_type": "confluent:strip-id"},
            "key type confluent:strip-id takes binary, not string",
        ),
    ],
)
def test_a_key_that_will_not_do(
    go: Go,
    kafka: EmbeddedKafka,
    csv: str,
    topic: str,
    to: KafkaTarget,
    settings: dict[str, Any],
    sentence: str,
) -> None:
    refused(go, kafka, topic, sentence, source=csv, target=to, **settings)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"partitions": 0}, "from 1 to 2147483647, not 0"),
        ({"partitions": -1}, "from 1 to 2147483647, not -1"),
        ({"partitions": 2**31}, "from 1 to 2147483647, not 2147483648"),
        ({"client": "jav"}, 'there is no client "jav"'),
        ({"key_type": "lnog"}, 'there is no key type "lnog"'),
        ({"partitions": 10_001}, "a new topic gets at most 10,000 partitions at once, not 10,001"),
        ({"limit": 0}, "--limit takes a whole number from 1 to 2147483647, not 0"),
        ({"topic": "a b"}, "a b"),
    ],
)
def test_a_setting_that_will_not_do(
    go: Go, csv: str, to: KafkaTarget, settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(PartwrightError, match=sentence):
        go(source=csv, key="id", target=to, **settings)


def test_a_number_needs_a_key_type(
    go: Go, kafka: EmbeddedKafka, tmp_path: Path, topic: str, to: KafkaTarget
) -> None:
    pq.write_table(pa.table({"id": [1, 2]}), tmp_path / "numbers.parquet")
    with pytest.raises(KeyTypeError, match="java:short, java:int, java:long or digits"):
        go(source=str(tmp_path / "numbers.parquet"), key="id", topic=topic, target=to)
    refused(go, kafka, topic, "java:long", source=str(tmp_path / "numbers.parquet"), key="id", target=to)


def test_a_key_is_refused_by_the_user_s_name_for_it(
    go: Go, tmp_path: Path, topic: str, to: KafkaTarget
) -> None:
    pq.write_table(pa.table({"k": [{"a": 1}], "m": [Decimal("1.50")]}), tmp_path / "keys.parquet")
    for key, sentence in (
        ("k", "the key column 'k' is struct<a:bigint>, which has no key bytes"),
        ("m", "the key column 'm' is decimal\\(3,2\\): decimal128\\(3, 2\\) has no key bytes of its own"),
    ):
        with pytest.raises(KeyTypeError, match=sentence):
            go(source=str(tmp_path / "keys.parquet"), key=key, topic=topic, target=to)


def broken_sources(folder: Path) -> Iterator[tuple[str, str]]:
    """Sources that cannot be read to their end, and a part of the sentence for each."""
    yield str(folder / "absent.csv"), "there is no file or folder"
    (folder / "empty.csv").touch()
    yield str(folder / "empty.csv"), "is empty"
    (folder / "header.csv").write_text("id,text\n", encoding="utf-8")
    yield str(folder / "header.csv"), "is empty"
    (folder / "ragged.csv").write_text("id,text\na,b\nc,d,e\n", encoding="utf-8")
    yield str(folder / "ragged.csv"), "cannot be read"
    (folder / "bad.jsonl").write_text('{"id": "a"}\n{"id": \n', encoding="utf-8")
    yield str(folder / "bad.jsonl"), "line 2 of .* is not a JSON object"
    packed = gzip.compress(("id,text\n" + "a,b\n" * 100_000).encode())
    (folder / "cut.csv.gz").write_bytes(packed[: len(packed) // 2])
    yield str(folder / "cut.csv.gz"), "cannot be read"
    pq.write_table(pa.table({"id": [f"key {number}" for number in range(10_000)]}), folder / "cut.parquet")
    whole = (folder / "cut.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    yield str(folder / "cut.parquet"), "is not a whole Parquet file"
    (folder / "hole.parquet").write_bytes(whole[:1000] + b"\0" * 20_000 + whole[21_000:])
    yield str(folder / "hole.parquet"), "cannot be read"
    (folder / "words.txt").write_text("id\n", encoding="utf-8")
    yield str(folder / "words.txt"), "is not known by its name"


def test_a_source_that_cannot_be_read_writes_nothing(
    go: Go, kafka: EmbeddedKafka, tmp_path: Path, topic: str, to: KafkaTarget
) -> None:
    looked_at = 0
    for source, sentence in broken_sources(tmp_path):
        refused(go, kafka, topic, sentence, source=source, key="id", target=to)
        looked_at += 1
    assert looked_at == 9


def test_a_kafka_source_that_is_not_there(go: Go, topic: str, to: KafkaTarget) -> None:
    with pytest.raises(PartwrightError, match="there is no topic"):
        go(source=f"{to}/absent-{topic}", target=to)
    with pytest.raises(PartwrightError, match="names no topic"):
        go(source=str(to), target=to)


def test_a_broker_that_is_not_there(go: Go, csv: str) -> None:
    with pytest.raises(BrokerError, match=r"no Kafka answers at 127\.0\.0\.1:9"):
        go(source=csv, key="id", target=KafkaTarget(KafkaConfig.read({}, servers="127.0.0.1:9")))


def test_two_runs_at_once(go: Go, csv: str, topic: str, to: KafkaTarget) -> None:
    from partwright.pipeline.journal import journal_of
    from partwright.pipeline.spark_targets import SparkTopic

    held = journal_of(str(SparkTopic(to.config, topic)))
    refused_then = pytest.raises(PartwrightError, match=r"another run is writing to topic .* right now")
    with held, refused_then:
        go(source=csv, key="id", topic=topic, target=to)
    assert go(source=csv, key="id", topic=topic, target=to).ok


def test_a_broker_that_goes_away_while_it_is_written_to(
    go: Go, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run reports what it knows and ends, and the next one looks before it writes."""
    from partwright.kafka import EmbeddedKafka
    from partwright.pipeline import spark_targets as targets
    from partwright.spark import connector

    rows = "".join(f"key {number % 1000},{number}\n" for number in range(200_000))
    (tmp_path / "many.csv").write_text(f"id,text\n{rows}", encoding="utf-8")
    with EmbeddedKafka() as mortal:
        write = targets.SparkTopic.write

        def dying(self: targets.SparkTopic, placed: Any) -> None:
            import threading

            threading.Timer(0.7, mortal.kill).start()
            write(self, placed)

        monkeypatch.setattr(targets.SparkTopic, "write", dying)
        monkeypatch.setattr(
            connector,
            "PRODUCER",
            dict.fromkeys(connector.PRODUCER, "3000")
            | {"kafka.request.timeout.ms": "1000", "kafka.linger.ms": "0"},
        )
        with pytest.raises(PartwrightError, match="stopped: ") as caught:
            go(
                source=str(tmp_path / "many.csv"),
                key="id",
                topic="t",
                target=KafkaTarget(KafkaConfig.read({}, servers=mortal.bootstrap_servers)),
            )
        assert "of the 200,000 records arrived is not known, for the broker does not answer" in str(
            caught.value
        )
        assert len(str(caught.value).splitlines()) == 1


def test_a_record_that_the_broker_refuses(
    go: Go, tmp_path: Path, topic: str, to: KafkaTarget, kafka: EmbeddedKafka
) -> None:
    """The others of its partition may be there already: the run reports how many, and so does the next one."""
    rows = "".join(f"key {number},{number}\n" for number in range(1000))
    (tmp_path / "large.csv").write_text(f"id,text\n{rows}large,{'x' * 2_000_000}\n", encoding="utf-8")
    settings = {"source": str(tmp_path / "large.csv"), "key": "id", "topic": topic, "target": to}
    with pytest.raises(
        PartwrightError, match=r"stopped: .*2000\d+ bytes.*; [\d,]+ of 1,001 records are written"
    ) as caught:
        go(**settings)
    arrived = len(consumed(kafka, topic))
    assert f"; {arrived:,} of 1,001 records are written" in str(caught.value)
    assert 0 < arrived < 1001
    with pytest.raises(
        PartwrightError, match=rf"holds {arrived:,} records already \(.*stopped before all were written\)"
    ):
        go(**settings)
    assert len(consumed(kafka, topic)) == arrived


def test_a_full_disk(go: Go, tmp_path: Path) -> None:
    """A file system of 100 kB, if this machine lets one be mounted."""
    import subprocess

    small = tmp_path / "small"
    small.mkdir()
    mount = shutil.which("mount")
    if (
        mount is None
        or subprocess.run(
            [mount, "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(small)], check=False, capture_output=True
        ).returncode
    ):
        pytest.skip("no small file system can be mounted here")
    try:
        rows = "".join(f"{number:032x},{number:064x}\n" for number in range(20_000))
        source = tmp_path / "many.csv"
        source.write_text(f"id,text\n{rows}", encoding="utf-8")
        with pytest.raises(PartwrightError, match="No space left on device") as caught:
            go(source=str(source), key="id", topic="t", target=ParquetTarget(small / "out"))
        assert "0 of 20,000 records are written" in str(caught.value)
        assert not [path for path in (small / "out").rglob("*") if path.is_file()], (
            "nothing half written stays"
        )
    finally:
        # Lazily: Spark may hold the file that it could not finish.
        subprocess.run(["umount", "--lazy", str(small)], check=True)

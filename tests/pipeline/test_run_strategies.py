"""A run with a strategy: each of Spark's tasks is a producer, whose choices are read back from a real Kafka."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import partwright as pw
from partwright.errors import PartwrightError
from partwright.kafka.topics import create_topic
from partwright.pipeline.settings import KafkaTarget, ParquetTarget

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from partwright.kafka import EmbeddedKafka
    from partwright.pipeline.report import Report

    Go = Callable[..., Report]

pytestmark = [pytest.mark.spark, pytest.mark.broker]

N, ROWS, SEED = 5, 600, 7
KEYS = [f"k{number % 41}" if number % 3 == 0 else None for number in range(ROWS)]
VALUES = ["v" * (number % 90) + str(number) for number in range(ROWS)]


@pytest.fixture
def source(tmp_path: Path) -> str:
    """One file that is read by one task."""
    table = {
        "id": KEYS,
        "text": VALUES,
        "own": pa.array([number % N if number % 4 == 0 else None for number in range(ROWS)], pa.int32()),
        "user": [str(number % 11) for number in range(ROWS)],
    }
    pq.write_table(pa.table(table), tmp_path / "records.parquet")
    return str(tmp_path / "records.parquet")


def written(kafka: EmbeddedKafka, topic: str) -> list[int]:
    """By row of the source: the partition that has the record."""
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(bootstrap_servers=kafka.bootstrap_servers)
    try:
        parts = [TopicPartition(topic, number) for number in range(N)]
        consumer.assign(parts)
        consumer.seek_to_beginning(*parts)
        found = {}
        while len(found) < ROWS:
            for record in itertools.chain(*consumer.poll(timeout_ms=500).values()):
                found[record.value.decode()] = record.partition
    finally:
        consumer.close()
    return [found[value] for value in VALUES]


def chosen(topic: str, strategy: str, **options: Any) -> list[int | None]:
    """One producer's answer for the same records."""
    columns = options.pop("columns", {})
    producer = pw.Producer(
        pw.Cluster.of({topic: N}).in_metadata_order(), pw.ProducerConfig(strategy, seed=SEED, **options)
    )
    placed: list[int | None] = producer.place({"key": KEYS, "value": VALUES, **columns}).to_pylist()
    return placed


@pytest.mark.parametrize("strategy", ["sticky", "round-robin", "default@2.8", "random"])
def test_records_lie_where_the_strategy_puts_them(
    go: Go, source: str, topic: str, to: KafkaTarget, kafka: EmbeddedKafka, strategy: str
) -> None:
    properties = {"batch.size": "700"}
    report = go(
        source=source, key="id", value="text", topic=topic, partitions=N, target=to,
        strategy=strategy, seed=SEED, properties=properties,
    )  # fmt: skip
    assert report.ok
    wanted = chosen(topic, strategy, configs=properties)
    assert written(kafka, topic) == wanted
    assert set(wanted) == set(range(N))
    keyed = sum(key is not None for key in KEYS)
    assert (report.records, report.keyed, report.null_keys, report.producers) == (
        ROWS,
        keyed,
        ROWS - keyed,
        1,
    )
    assert report.keys == len({*KEYS} - {None})
    assert [part.records for part in report.partitions] == [wanted.count(number) for number in range(N)]
    assert report.strategy == pw.Producer({"t": 1}, strategy).strategy
    by_key = strategy in {"sticky", "default@2.8"}
    assert all((heavy.partition is not None) == by_key for heavy in report.heaviest_keys)
    assert sum(heavy.records for heavy in report.heaviest_keys) >= 10 * 5
    if by_key:
        assert report.proof is not None
        assert (report.proof.keyed, report.proof.equal) == (keyed, keyed)
    else:
        assert report.proof is None
        assert report.notes == (
            "no proof by the Java producer: it was not told what chooses the partitions of records with keys here",
        )


def test_records_name_their_own_partitions(
    go: Go, source: str, topic: str, to: KafkaTarget, kafka: EmbeddedKafka
) -> None:
    settings = {
        "source": source,
        "key": "id",
        "value": "text",
        "partitions": N,
        "target": to,
        "partition": "own",
    }
    report = go(
        **settings, topic=topic, strategy="explicit", properties={"otherwise": "round-robin"}, seed=SEED
    )
    assert report.ok
    own = pa.array([number % N if number % 4 == 0 else None for number in range(ROWS)], pa.int32())
    options = {"columns": {"partition": own}}
    assert written(kafka, topic) == chosen(topic, "explicit", configs={"otherwise": "round-robin"}, **options)
    # Without a strategy the key decides, and the producer chooses for a record with neither.
    report = go(**settings, topic=f"{topic}-key")
    assert report.ok
    wanted = chosen(f"{topic}-key", "key", **options)
    found = written(kafka, f"{topic}-key")
    assert [there if want is not None else None for there, want in zip(found, wanted, strict=True)] == wanted
    assert (report.strategy, report.null_keys) == ("key", wanted.count(None))
    assert wanted.count(None) > 0


def test_a_field_and_another_clients_keys(
    go: Go, source: str, topic: str, to: KafkaTarget, kafka: EmbeddedKafka
) -> None:
    report = go(
        source=source,
        key="id",
        value="text",
        topic=topic,
        partitions=N,
        target=to,
        strategy="field",
        field="user",
    )
    assert report.ok
    assert written(kafka, topic) == pw.partition_for_key([str(n % 11) for n in range(ROWS)], N).to_pylist()


def test_leaders_are_those_of_the_live_topic(
    go: Go, source: str, topic: str, to: KafkaTarget, kafka: EmbeddedKafka
) -> None:
    settings = {
        "source": source, "key": "id", "value": "text", "topic": topic, "target": to, "strategy": "leader",
        "properties": {"leader.host": "127.*", "leader.among": "round-robin"},
    }  # fmt: skip
    with pytest.raises(PartwrightError, match=r"^the strategy leader goes by where .* make the topic first$"):
        go(**settings)
    create_topic(kafka.bootstrap_servers, topic, N)
    assert go(**settings).ok
    assert sorted(written(kafka, topic)) == sorted(number % N for number in range(ROWS))


def test_several_tasks_are_several_producers(go: Go, tmp_path: Path, topic: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(3):
        lines = [json.dumps({"id": None, "text": f"{number}-{row}"}) for row in range(10)]
        (folder / f"{number}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = go(
        source=str(folder), key="id", value="text", topic=topic, partitions=4, strategy="round-robin",
        target=ParquetTarget(tmp_path / "out"), limit=None,
    )  # fmt: skip
    assert report.ok
    assert report.producers is not None
    # Each producer begins as Java's does.
    producer = pw.Producer(pw.Cluster.of({topic: 4}).in_metadata_order(), "round-robin")
    order = [producer.partition(topic) for _ in range(10 * 3)]
    # Spark puts small files together.
    tasks = {1: [30], 2: [20, 10], 3: [10, 10, 10]}[report.producers]
    assert len(tasks) > 1
    wanted = sorted(itertools.chain(*(order[:rows] for rows in tasks)))  # type: ignore[type-var]
    found = [part.partition for part in report.partitions for _ in range(part.records)]
    assert found == wanted


def test_a_limit_is_one_producer(go: Go, source: str, topic: str, to: KafkaTarget) -> None:
    report = go(
        source=source, key="id", value="text", topic=topic, partitions=N, target=to, limit=50, strategy="sticky",
        check=False,
    )  # fmt: skip
    assert (report.records, report.producers, report.checks) == (50, 1, None)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"strategy": "stick"}, 'there is no strategy "stick"; known: sticky, explicit'),
        (
            {"strategy": "explicit"},
            "the strategy explicit goes by a column of the source: name it with --partition",
        ),
        ({"strategy": "field"}, "the strategy field goes by a column of the source: name it with --field"),
        (
            {"strategy": "sticky", "field": "user"},
            "--field is what the strategy field goes by, not sticky@4.4",
        ),
        ({"field": "user"}, "--field is for a strategy: name it with --strategy, such as sticky"),
        ({"seed": 7}, "--seed is for a strategy: name it with --strategy, such as sticky"),
        (
            {"properties": {"batch.size": "1"}},
            "--producer-property is for a strategy: name it with --strategy",
        ),
        (
            {"strategy": "sticky", "properties": {"batch.size": "1k"}},
            "batch.size is a whole number from 0 to",
        ),
        (
            {"strategy": "sticky", "properties": {"batch.sice": "1"}},
            "there is no config 'batch.sice': did you mean",
        ),
        ({"strategy": "sticky", "seed": 2**63}, "the seed is a whole number of 64 bits, not"),
        ({"strategy": "leader"}, "the strategy leader goes by where a leader is: set leader.host"),
        ({"strategy": "random", "partition": "owm"}, "there is no column 'owm' (--partition) in"),
        ({"strategy": "random", "partition": "user"}, None),
        ({"strategy": "field", "field": "usr"}, "there is no column 'usr' (--field) in"),
        ({"strategy": "no_such_module.Mine"}, "the partitioner 'no_such_module.Mine' cannot be imported"),
    ],
)
def test_a_wrong_strategy_is_one_sentence(
    go: Go, source: str, topic: str, to: KafkaTarget, settings: dict[str, Any], sentence: str | None
) -> None:
    with pytest.raises(PartwrightError) as refused:
        go(source=source, key="id", value="text", topic=topic, partitions=N, target=to, **settings)
    if sentence is None:
        # The users are numbers beyond the topic's partitions.
        assert "the record names partition" in str(refused.value)
    else:
        assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)

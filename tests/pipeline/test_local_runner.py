"""`--runner local` does what Spark does, record by record, and goes on after it was killed."""

from __future__ import annotations

import json
import random
import time
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from confluent_kafka import Producer
from parquet_files import held

import partwright as pw
from partwright.errors import PartwrightError
from partwright.kafka import topics
from partwright.kafka.java import java_command
from partwright.kafka.marks import MARK, Mark
from partwright.kafka.reading import headers_of, records
from partwright.pipeline import local_checks
from partwright.pipeline.local_placing import _Digest
from partwright.pipeline.local_records import key_bytes
from partwright.pipeline.local_runner import LocalKind
from partwright.pipeline.settings import ParquetTarget, RunSettings

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from partwright.kafka import EmbeddedKafka
    from partwright.pipeline.report import Report
    from partwright.pipeline.settings import KafkaTarget

    Go = Callable[..., Report]
    Contents = dict[int, list[tuple[Any, ...]]]

N = 7
TEXTS = ["", '""', '"a ""b"" c"', "plain", '"two\nlines"', "ü\\x\t", '"\x01\x1f"', "NA"]


def contents(to: KafkaTarget, topic: str, *, keyed: bool = True) -> Contents:
    """The records of each partition in order, without our header; only those with a key, if asked."""
    held: Contents = {}
    ends = topics.end_offsets(to.config, topic)
    windows = {partition: (0, end) for partition, end in ends.items()}
    for record in records(to.config, topic, windows, committed=True):
        if record.key() is not None or not keyed:
            theirs = [header for header in headers_of(record) if header[0] != MARK]
            held.setdefault(record.partition(), []).append((record.key(), record.value(), theirs))
    return held


def csv_file(path: Path, seed: int, count: int = 3_000) -> Path:
    drawn = random.Random(seed)
    lines = [
        f"{drawn.choice(['', f'k{drawn.randrange(400)}'])},{drawn.randrange(10**6)},{drawn.choice(TEXTS)}"
        for _ in range(count)
    ]
    path.write_text("\n".join(["id,number,text", *lines]) + "\n", encoding="utf-8")
    return path


def csv_folder(path: Path, seed: int) -> Path:
    path.mkdir()
    for each in range(3):
        csv_file(path / f"part {each}.csv", seed + each, 200)
    return path


def json_file(path: Path, seed: int) -> Path:
    drawn = random.Random(seed)
    rows = [
        {
            "z": drawn.randrange(9),
            "id": drawn.choice([None, f"k{drawn.randrange(90)}"]),
            "a": drawn.random() < 0.5,
        }
        for _ in range(2_000)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def parquet_file(path: Path, seed: int) -> Path:
    drawn = random.Random(seed)
    count = 2_000
    table = pa.table(
        {
            "id": pa.array(
                [drawn.choice([None, drawn.randrange(-(2**40), 2**40)]) for _ in range(count)], pa.int64()
            ),
            "text": [drawn.choice([None, "", 'a "b" \\ \n\x07', "ü"]) for _ in range(count)],
            "small": pa.array([drawn.randrange(-128, 128) for _ in range(count)], pa.int8()),
            "flag": [drawn.choice([None, True, False]) for _ in range(count)],
            "day": [date(1970 + drawn.randrange(90), 2, 28) for _ in range(count)],
            # Java 17 writes some numbers of more digits with one digit too many (JDK-4511638).
            "price": [
                round(drawn.uniform(-(10.0 ** drawn.randrange(9)), 10.0 ** drawn.randrange(9)), 2)
                for _ in range(count)
            ],
        }
    )
    pq.write_table(table, path, row_group_size=300)
    return path


def made(
    make: Callable[[Path, int], Path], settings: dict[str, Any], folder: Path, seed: int
) -> tuple[str, dict[str, Any]]:
    """The source, and the settings that fit it."""
    ending = {csv_file: "o.csv", csv_folder: "in", json_file: "o.json", parquet_file: "o.parquet"}[make]
    source = str(make(folder / ending, seed))
    if settings.get("partition"):
        text = Path(source).read_text(encoding="utf-8").splitlines()
        Path(source).write_text("\n".join([text[0], *(f"k{at},{at},x" for at in range(N))]), encoding="utf-8")
    if "only_keys" in settings:
        keys = [each for each in pq.read_table(source)["id"].to_pylist() if each is not None]
        settings = {**settings, "only_keys": tuple(map(str, keys[:40]))}
    return source, settings


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (csv_file, {}),
        (csv_file, {"client": "librdkafka:consistent", "value": "text"}),
        (csv_file, {"partition": "number", "limit": 5}),
        (csv_folder, {"key_type": "utf8"}),
        (json_file, {}),
        (parquet_file, {"key_type": "java:long"}),
        (parquet_file, {"key_type": "java:long", "value": "text", "only_keys": ("7",)}),
    ],
)
@pytest.mark.spark
@pytest.mark.broker
def test_records_are_the_same_as_by_spark(
    make: Callable[[Path, int], Path],
    settings: dict[str, Any],
    go: Go,
    local: Go,
    to: KafkaTarget,
    topic: str,
    tmp_path: Path,
    seed: int,
) -> None:
    source, settings = made(make, settings, tmp_path, seed)
    asked = {"source": source, "key": "id", "target": to, "partitions": N, "proof": False, **settings}
    ours, sparks = local(**asked, topic=f"{topic}-l"), go(**asked, topic=f"{topic}-s")
    assert ours.ok
    assert sparks.ok
    assert contents(to, f"{topic}-l") == contents(to, f"{topic}-s")
    # Records without a key are spread by each runner in its own way.
    for name in ("records", "keyed", "null_keys", "keys", "bytes"):
        assert getattr(ours, name) == getattr(sparks, name), name
    assert [(each.records, each.bytes, each.keys) for each in ours.partitions] == [
        (each.records, each.bytes, each.keys) for each in sparks.partitions
    ]
    assert ours.heaviest_keys[:1] == sparks.heaviest_keys[:1]


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (csv_file, {}),
        (csv_file, {"client": "librdkafka:consistent", "value": "text", "check": False}),
        (csv_file, {"partition": "number", "limit": 5}),
        (csv_folder, {"key_type": "utf8", "limit": 150}),
        (json_file, {}),
        (parquet_file, {"key_type": "java:long", "value": "text", "only_keys": ("7",)}),
    ],
)
@pytest.mark.spark
def test_folders_are_the_same_as_by_spark(
    make: Callable[[Path, int], Path],
    settings: dict[str, Any],
    go: Go,
    local: Go,
    tmp_path: Path,
    seed: int,
) -> None:
    source, settings = made(make, settings, tmp_path, seed)
    asked = {"source": source, "key": "id", "topic": "t", "partitions": N, **settings}
    ours = local(**asked, target=ParquetTarget(tmp_path / "ours"))
    sparks = go(**asked, target=ParquetTarget(tmp_path / "sparks"))
    assert ours.ok
    assert folders(tmp_path / "ours") == folders(tmp_path / "sparks")
    assert told(ours) == told(sparks)


@pytest.mark.spark
@pytest.mark.broker
@pytest.mark.parametrize("check", [True, False])
def test_folders_of_a_topic_are_the_same_as_by_spark(
    check: bool, go: Go, local: Go, to: KafkaTarget, topic: str, tmp_path: Path, seed: int
) -> None:
    drawn = random.Random(seed)
    producer = Producer({"bootstrap.servers": to.config.servers})
    topics.create_topic(to.config, topic, 3)
    for _ in range(300):
        key, value = (drawn.choice([None, b"", b"\xff" + bytes([drawn.randrange(40)])]) for _ in range(2))
        headers = [(f"h{each}", drawn.choice([None, b"", b"x"])) for each in range(drawn.randrange(3))]
        producer.produce(topic, value, key, headers=headers)
    producer.flush()
    asked = {"source": f"{to}/{topic}", "topic": "t", "partitions": N, "check": check}
    ours = local(**asked, target=ParquetTarget(tmp_path / "ours"))
    sparks = go(**asked, target=ParquetTarget(tmp_path / "sparks"))
    assert folders(tmp_path / "ours") == folders(tmp_path / "sparks")
    assert told(ours) == told(sparks)


def folders(folder: Path) -> dict[str, Any]:
    """All that a reader of the folders sees; the run's ID and the names of files are each run's own."""
    manifest = json.loads((folder / "_partwright.t.json").read_bytes())
    run = Mark(MARK, bytes.fromhex(manifest.pop("run"))).prefix
    assert {file["path"] for each in manifest["partitions"] for file in each["files"]} == held(folder).keys()
    for each in manifest["partitions"]:
        each["files"] = [{**file, "path": file["path"].partition("/")[0]} for file in each["files"]]
    rows = {
        path.partition("/")[0]: [
            row | {"headers": row["headers"] and [_unmarked(header, run) for header in row["headers"]]}
            for row in rows
        ]
        for path, rows in held(folder).items()
    }
    schemas = {path.parent.name: pq.read_schema(path).remove_metadata() for path in folder.rglob("*.parquet")}
    return {
        "names": sorted(each.name for each in folder.iterdir()),
        "manifest": manifest,
        "rows": rows,
        "schemas": schemas,
    }


def _unmarked(header: dict[str, Any], run: bytes) -> object:
    """A header; of a mark, only that it is this run's, for each runner numbers rows in its own way."""
    return header["value"].startswith(run) if header["key"] == MARK else header


def told(report: Report) -> dict[str, Any]:
    """What a report says, without what only one runner has: its steps, its log and its own target."""
    whole = report.to_dict()
    for name in ("steps", "seconds", "plan", "target", "log"):
        del whole[name]
    # Keys with as many records have no order of their own.
    whole["heaviest_keys"] = [each["records"] for each in whole["heaviest_keys"]]
    return whole


@pytest.mark.spark
@pytest.mark.broker
def test_the_records_of_a_topic_are_the_same_as_by_spark(
    go: Go, local: Go, to: KafkaTarget, topic: str, seed: int
) -> None:
    drawn = random.Random(seed)
    producer = Producer({"bootstrap.servers": to.config.servers})
    topics.create_topic(to.config, topic, 3)
    for at in range(500):
        key = drawn.choice([None, b"", b"\xff" + bytes([drawn.randrange(40)])])
        value = drawn.choice([None, b"", b"\x00\xff"])
        headers = [(f"h{each}", drawn.choice([None, b"", b"x"])) for each in range(drawn.randrange(3))]
        producer.produce(topic, value, key, headers=headers, timestamp=1_700_000_000_000 + at)
    producer.flush()
    source = f"{to}/{topic}"
    for exactly_once in (False, True):
        name = f"{topic}-{exactly_once:d}"
        asked = {
            "source": source,
            "target": to,
            "partitions": N,
            "proof": False,
            "exactly_once": exactly_once,
        }
        assert local(**asked, topic=f"{name}-l").ok
        assert go(**asked, topic=f"{name}-s").ok
        assert contents(to, f"{name}-l") == contents(to, f"{name}-s")
        again = local(**asked, topic=f"{name}-l", resume=True)
        assert (again.written, again.already_there) == (0, 500)


@pytest.mark.broker
@pytest.mark.parametrize("exactly_once", [False, True])
def test_a_strategy_is_that_of_one_producer(
    exactly_once: bool, local: Go, to: KafkaTarget, topic: str, tmp_path: Path, seed: int
) -> None:
    source = csv_file(tmp_path / "o.csv", seed)
    report = local(
        source=str(source), key="id", target=to, topic=topic, partitions=N, strategy="sticky",
        properties={"batch.size": "500"}, exactly_once=exactly_once,
    )  # fmt: skip
    assert report.ok
    assert report.producers == 1
    assert report.null_keys
    assert len(contents(to, topic, keyed=False)) == N


@pytest.mark.broker
@pytest.mark.parametrize("settings", [{}, {"strategy": "sticky"}, {"exactly_once": True}])
def test_the_java_producer_chooses_the_same_partitions(
    settings: dict[str, Any], local: Go, to: KafkaTarget, topic: str, tmp_path: Path, seed: int
) -> None:
    source = csv_file(tmp_path / "o.csv", seed)
    report = local(source=str(source), key="id", target=to, topic=topic, partitions=N, **settings)
    assert report.ok
    assert report.proof is not None
    assert report.proof.keyed == report.proof.equal == report.keyed > 1000
    assert [step.name for step in report.plan][-2:] == ["let the Java producer choose", "compare"]
    assert topics.partition_count(to.config, topic) == N
    with topics.admin_client(to.config, 5) as admin:
        assert not [name for name in admin.metadata().topics if name.startswith(f"{topic}.proof-")]


@pytest.mark.broker
def test_a_producer_that_chooses_otherwise_fails_the_proof(
    local: Go, to: KafkaTarget, topic: str, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another key hashes elsewhere; the record is known by its mark."""
    real = local_checks.keyed_marks

    def changed(*arguments: Any) -> Iterator[tuple[bytes, bytes]]:
        return ((b"other" if at == 0 else key, mark) for at, (key, mark) in enumerate(real(*arguments)))

    monkeypatch.setattr(local_checks, "keyed_marks", changed)
    source = csv_file(tmp_path / "o.csv", seed)
    other = pw.partition_for_key([b"other"], N)[0].as_py()
    first = next(line.split(",")[0] for line in source.read_text().splitlines()[1:] if line.split(",")[0])
    report = local(source=str(source), key="id", target=to, topic=topic, partitions=N)
    differs = int(pw.partition_for_key([first.encode()], N)[0].as_py() != other)
    assert report.proof is not None
    assert (report.proof.different, report.ok) == (differs, not differs)


@pytest.mark.broker
@pytest.mark.parametrize(
    ("java", "why"),
    [
        ("echo 'Java is broken' >&2; exit 1", "names no Java version"),
        ("case $1 in -version) exec {java} -version;; esac; echo 'Error: no compiler' >&2; exit 1", "a JDK, not a JRE"),
        ("case $1 in -version) exec {java} -version;; esac; echo ready; head -c 9 >/dev/null; echo it broke", None),
    ],
)  # fmt: skip
def test_a_proof_without_java_is_left_out_or_says_what_is_done(
    java: str,
    why: str | None,
    local: Go,
    to: KafkaTarget,
    topic: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n" + java.format(java=java_command()), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    settings = {"source": str(csv_file(tmp_path / "o.csv", 1)), "key": "id", "target": to, "partitions": N}
    if why is None:
        with pytest.raises(
            PartwrightError, match=r"the Java producer stopped: it broke.* 3,000 records were"
        ):
            local(**settings, topic=topic)
        return
    report = local(**settings, topic=topic)
    assert report.ok
    assert report.proof is None
    (note,) = report.notes
    assert note.startswith("no proof by the Java producer: ")
    assert why in note
    assert note.endswith("; --no-proof leaves it out")


@pytest.mark.broker
def test_what_is_kept_on_disk_is_the_same(
    local: Go, to: KafkaTarget, topic: str, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"source": str(csv_file(tmp_path / "o.csv", seed)), "key": "id", "target": to, "partitions": N}
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert local(**asked, topic=f"{topic}-memory").ok
    monkeypatch.setattr("partwright.pipeline.local_placing.KeptRecords.__init__.__defaults__", (1000,))
    assert local(**asked, topic=f"{topic}-disk").ok
    assert contents(to, f"{topic}-memory", keyed=False) == contents(to, f"{topic}-disk", keyed=False)


@pytest.mark.broker
@pytest.mark.long
@pytest.mark.parametrize("exactly_once", [False, True])
def test_a_killed_run_goes_on(
    exactly_once: bool,
    kafka: EmbeddedKafka,
    topic: str,
    started: Callable[..., subprocess.Popen[str]],
    tmp_path: Path,
    seed: int,
) -> None:
    """Killed at random moments again and again, in the end each record is there once, in the source's order."""
    drawn = random.Random(seed)
    source = csv_file(tmp_path / "o.csv", seed, 20_000)
    # It writes slowly: each record travels alone.
    words = [
        *[source, "--key", "id", "--topic", topic, "-n", N, "--to", f"kafka://{kafka.bootstrap_servers}"],
        *["-X", "batch.size=150", "-X", "linger.ms=0", *(["--exactly-once"] * exactly_once)],
        *["--runner", "local", "--json"],
    ]
    amid = 0
    for attempt in range(6):
        process = started(*words, *(["--resume"] * bool(attempt)))
        until = time.monotonic() + drawn.uniform(0.5, 4.0) + (2.0 if attempt == 0 else 0.0)
        while time.monotonic() < until and process.poll() is None:
            time.sleep(0.02)
        amid += process.poll() is None
        process.kill()
        process.wait()
    assert amid, "no run was hit while it ran"
    done = started(*words, "--resume")
    out, err = done.communicate(timeout=240)
    report = json.loads(out)
    assert done.returncode == 0, err
    assert report["checks"]["ok"]
    assert (report["lost"], report["twice"], report["moved"]) == (0, 0, 0)
    assert report["written"] + report["already_there"] == report["records"] == 20_000


@pytest.mark.broker
def test_a_run_is_resumed_by_its_own_runner(
    go: Go, local: Go, to: KafkaTarget, topic: str, tmp_path: Path, seed: int
) -> None:
    asked = {"source": str(csv_file(tmp_path / "o.csv", seed, 50)), "key": "id", "target": to, "topic": topic}
    local(**asked)
    with pytest.raises(PartwrightError, match="it was begun with --runner local"):
        go(**asked, resume=True)
    again = local(**asked, resume=True)
    assert (again.written, again.already_there) == (0, 50)


@pytest.mark.parametrize(
    ("settings", "refusal"),
    [
        ({"master": "local"}, "--master is for Spark"),
        ({"configs": {"a": "b"}}, "--conf is for Spark"),
        ({"options": {"sep": ";"}}, "--option is for Spark"),
        ({"null_keys": "producer"}, "--null-keys producer is for Spark"),
        ({"format": "xml"}, "--format xml is one of Spark's"),
        ({"key": "numbr"}, "did you mean 'number'"),
        ({"key": None}, "say which column is the key"),
    ],
)
def test_what_only_spark_does_is_refused_by_name(
    settings: dict[str, Any], refusal: str, tmp_path: Path
) -> None:
    source = csv_file(tmp_path / "o.csv", 1, 3)
    with pytest.raises(PartwrightError) as refused:
        LocalKind.inspect(*_asked(source, settings))
    assert refusal in str(refused.value)


def parquet(folder: Path, **columns: pa.Array) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), folder / f"{len(list(folder.iterdir()))}.parquet")
    return folder


IDS = pa.array(["a", "b"])


@pytest.mark.parametrize(
    ("files", "settings", "refusal"),
    [
        ([{"id": IDS, "w": pa.array([1, 2])}, {"id": IDS, "w": IDS}], {}, "is int64 in one file and string in another"),
        ([{"id": IDS, "ID": IDS}], {}, "differ only in case"),
        ([{"id": IDS, "t": pa.array([1, 2], pa.timestamp("ms"))}], {}, "the column 't' of"),
        ([{"id": IDS, "n": pa.array([1, 2])}], {"value": "n"}, "a record's value is text or binary"),
        ([{"id": pa.array([1.5, 2.5])}], {}, "the key column 'id'"),
        ([{"id": IDS, "t": pa.array([True, False])}], {"timestamp": "t", "value": "id"}, "(--timestamp) is bool"),
        ([{"id": IDS, "p": pa.array([1, 2], pa.date32())}], {"partition": "p", "value": "id"}, "(--partition) is date"),
    ],
)  # fmt: skip
def test_columns_are_refused_by_name(
    files: list[dict[str, pa.Array]], settings: dict[str, Any], refusal: str, tmp_path: Path
) -> None:
    for columns in files:
        parquet(tmp_path / "in", **columns)
    with pytest.raises(PartwrightError) as refused:
        LocalKind.inspect(*_asked(tmp_path / "in", settings))
    assert refusal in str(refused.value)


def test_columns_in_the_names_of_folders_are_refused(tmp_path: Path) -> None:
    parquet(tmp_path / "in" / "day=1", id=IDS)
    with pytest.raises(PartwrightError, match="names of folders such as day=1"):
        LocalKind.inspect(*_asked(tmp_path / "in", {}))
    LocalKind.inspect(*_asked(tmp_path / "in", {"value": "id"}))


def test_a_digest_does_not_depend_on_how_records_are_cut() -> None:
    keys = pa.array([b"a", None, b"", b"bcd"] * 15, pa.binary())
    values = pa.array([None, b"", b"x", b"yy", b"zzz"] * 12, pa.binary())
    whole = pa.RecordBatch.from_pydict(
        {"key": keys, "value": values, "partition": pa.array(range(60), pa.int32())}
    )

    def cut(*at: int) -> str:
        digest = _Digest()
        for begin, end in zip((0, *at), (*at, 60), strict=True):
            digest.add(whole.slice(begin, end - begin))
        return digest.hex()

    assert cut() == cut(10, 30) == cut(1, 2, 3, 59)
    moved = whole.set_column(0, "key", pa.concat_arrays([keys[1:], keys[:1]]))
    digest = _Digest()
    digest.add(moved)
    assert digest.hex() != cut()


@pytest.mark.parametrize("kind", [pa.binary(6), pa.binary_view(), pa.large_binary(), pa.binary()])
def test_keys_of_a_schema_registry_keep_their_header(kind: pa.DataType) -> None:
    key = b"\0\0\0\0\x01a"
    keys = key_bytes(pa.array([key, None], pa.binary()).cast(kind), "confluent:strip-id")
    assert keys.to_pylist() == [key, None]


def _asked(source: Path, settings: dict[str, Any]) -> tuple[Any, RunSettings]:
    from partwright.pipeline.source import find_source

    made = RunSettings(runner="local", **{"source": str(source), "key": "id", **settings})
    return find_source(made), made


@pytest.mark.broker
def test_a_local_run_imports_neither_spark_nor_pandas(
    to: KafkaTarget,
    topic: str,
    tmp_path: Path,
    seed: int,
    printed_with_imports: Callable[[list[str]], list[str]],
) -> None:
    """Either takes longer to import than all the rest."""
    source = csv_file(tmp_path / "o.csv", seed, 300)
    words = ["run", str(source), "--key", "id", "--to", f"{to}/{topic}", "--runner", "local"]
    printed = printed_with_imports(words)
    assert printed[0].startswith("✓ All 300 records")
    assert printed[-1] == "[]"

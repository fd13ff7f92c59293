"""Malicious files: none names code that runs, and none takes much more memory or time than its content needs."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click
import pyarrow as pa
import pytest
from command_inputs import CLUSTER, JSON, MANIFEST, MEMBERS, SCENARIO
from limited import limited_commands
from pyarrow import feather, parquet

from partwright.cli import partwright

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Command = Callable[..., tuple[int, bytes, str]]

INT, LONG = 2**31 - 1, 2**63 - 1
# A file takes less than 200 MiB and two seconds, a table of a million partitions included.
MIB, SECONDS = 700, 25

NO_FILE = {"advise", "broker", "coordinator", "doctor", "migrate", "which"}
IN_SPARK = {"run", "stream"}
"""Spark reads the source in the JVM; no Python of ours reads a byte of it."""

# Code that a file might name.

PATHS = ("evilmod.X", "evilmod:X")
BEFORE = {"rollout": ["--topic", "t=3", "--plays", "1", "--manifest"]}
"""Words before FILE, where a command takes it by an option."""
TABLES = {
    "batch": "FILE -n 3 --time t --size s --key k",
    "check": "FILE -n 3 --key k --partition p",
    "copartition": "FILE FILE --key k --partition p",
    "fingerprint": "FILE --key k --partition p",
    "place": "FILE -n 3 --key k",
    "resize": "FILE --from 3 --to 4 --key k --plan",
}
TAGS = ("!!python/object/apply:evilmod.X []", "!!python/name:evilmod.X ''", "!!python/module:evilmod ''")


def commands() -> set[str]:
    context = click.Context(partwright)
    return set(partwright.list_commands(context))


def variants(value: Any) -> Iterator[Any]:
    """The same with a path instead of each of its values, one after the other."""
    yield PATHS[0]
    yield [PATHS[1]]
    for place, inside in value.items() if isinstance(value, dict) else ():
        yield from ({**value, place: other} for other in variants(inside))
    for place, inside in enumerate(value) if isinstance(value, list) else ():
        yield from ([*value[:place], other, *value[place + 1 :]] for other in variants(inside))


def tables(folder: Path) -> Iterator[Path]:
    """A table with a path instead of every text, and with data that Python could unpickle, in each format."""
    rows = [{"t": 1, "s": 3, "p": 0, "k": path} for path in PATHS]
    (folder / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (folder / "a.csv").write_text("t,s,p,k\n1,3,0,evilmod.X\n1,3,1,evilmod:X\n", encoding="utf-8")
    # PyArrow's former types for Python objects, in the field and in the table.
    evil = {
        "ARROW:extension:name": "arrow.py_extension_type",
        "ARROW:extension:metadata": b"cevilmod\nX\n.",
        "PYTHON:evilmod.X": b"cevilmod\nX\n.",
    }
    table = pa.Table.from_pylist(rows)
    fields = [field.with_metadata(evil) if field.name == "k" else field for field in table.schema]
    made = table.cast(pa.schema(fields, metadata={"pandas": b'{"index_columns": ["evilmod.X"]}', **evil}))
    parquet.write_table(made, folder / "a.parquet")
    feather.write_feather(made, folder / "a.arrow", compression="uncompressed")
    yield from (folder / f"a.{suffix}" for suffix in ("jsonl", "csv", "parquet", "arrow"))


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder from which modules are imported, with one that no file may name; commands run in it."""
    (tmp_path / "evilmod.py").write_text("class X:\n    name = 'range'\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("evilmod", None)


def test_every_command_that_takes_a_file_is_looked_at() -> None:
    assert commands() == {*JSON, *TABLES} | NO_FILE | IN_SPARK
    assert NO_FILE.isdisjoint({*JSON, *TABLES})


@pytest.mark.parametrize("name", sorted(commands() - NO_FILE - IN_SPARK))
def test_no_file_makes_an_import(name: str, evil: Path, command: Command) -> None:
    asked = 0
    for question in JSON.get(name, ()):
        file = evil / "asked.json"
        file.write_text(json.dumps(question), encoding="utf-8")
        code, _, said = command(name, *BEFORE.get(name, ()), file)
        assert code == 0, said
        for text in map(json.dumps, variants(question)):
            file.write_text(text, encoding="utf-8")
            code, _, said = command(name, *BEFORE.get(name, ()), file)
            assert (code in {0, 2}, "evilmod" in sys.modules) == (True, False), text
            asked += 1
    for file in tables(evil) if name in TABLES else ():
        words = [str(file) if word == "FILE" else word for word in TABLES[name].split()]
        code, _, said = command(name, *words)
        assert (code in {0, 1, 2}, "evilmod" in sys.modules) == (True, False), said
        asked += 1
    assert asked >= 4
    assert "evilmod" not in sys.modules


@pytest.mark.parametrize("tag", TAGS)
def test_no_tag_of_yaml_makes_an_import(tag: str, evil: Path, command: Command) -> None:
    for text in (f"topics: {{t: 3}}\nevents: {tag}\n", f"topics: {{t: 3}}\nevents: '+1'\nassignor: {tag}\n"):
        (evil / "s.yaml").write_text(text, encoding="utf-8")
        for name in ("group", "rollout"):
            code, _, said = command(name, *BEFORE.get(name, ()), evil / "s.yaml")
            assert (code, said.count("\n"), "evilmod" in sys.modules) == (2, 1, False), said


def test_no_text_of_kafkas_tool_makes_an_import(evil: Path, command: Command) -> None:
    (evil / "members.txt").write_text(MEMBERS, encoding="utf-8")
    code, out, said = command(
        "assign", evil / "members.txt", "--topics", "evilmod.X=2", "--assignor", "range"
    )
    assert (code, b"evilmod.X" in out, "evilmod" in sys.modules) == (0, True, False), said


def test_a_script_names_kafkas_own_assignors_alone(evil: Path, command: Command) -> None:
    for named in (
        {"assignor": "evilmod.X"},
        {"config": {"partition.assignment.strategy": ["range", "evilmod:X"]}},
    ):
        (evil / "s.json").write_text(
            json.dumps({"topics": {"t": 3}, "events": "+1", **named}), encoding="utf-8"
        )
        code, out, said = command("group", evil / "s.json")
        assert (code, out) == (2, b"")
        assert (
            "a script takes Kafka's own assignors, range, roundrobin, sticky, cooperative-sticky, and not '"
            in said
        )


# Memory and time.


def merges(levels: int) -> str:
    """YAML in which each object merges nine times the one before."""
    lines = [
        f"a{level}: &a{level} {{<<: [{', '.join([f'*a{level - 1}'] * 9)}]}}" for level in range(1, levels + 1)
    ]
    return "\n".join(["topics: {t: 3}", "events: '+1'", "a0: &a0 {x: 1}", *lines])


def laughs(level: int) -> str:
    """YAML with a list that repeats the previous one nine times, which repeats the one before it nine times."""
    if level == 0:
        return "&a0 [x, x]"
    return f"&a{level} [{', '.join([laughs(level - 1), *[f'*a{level - 1}'] * 8])}]"


def assigned(assignor: str, **other: Any) -> dict[str, Any]:
    return {"assignor": assignor, "topics": {"t": 3}, "members": [{"id": "c", "topics": ["t"]}], **other}


def played(**other: Any) -> dict[str, Any]:
    return {"topics": {"t": 3}, "events": "+2", **other}


def replayed(*events: dict[str, Any], **other: Any) -> dict[str, Any]:
    return {
        "strategy": "sticky",
        "topics": {"t": 3},
        "events": [{"topic": "t", **each} for each in events],
        **other,
    }


def simulated(**other: Any) -> dict[str, Any]:
    return {**SCENARIO, **other}


ROWS = '{"t": 1, "s": 3, "p": 0, "k": "a", "o": 5}\n'
FAR = f'{{"t": {LONG}, "s": {INT}, "p": {INT}, "k": "a", "o": {LONG}}}\n'
# A file's suffix and content, and the command's arguments; FILE is its name.
HOSTILE: list[tuple[str, str, Any]] = [
    ("batch FILE", ".json", simulated(partitions=[{"id": INT, "leader": 0}])),
    ("batch FILE", ".json", simulated(partitions=[{"id": INT}], records=[[0, None, INT, 9]] * 3)),
    ("batch FILE", ".json", simulated(brokers=[{"id": 0, "away": [[0, LONG]]}])),
    ("batch FILE", ".json", simulated(brokers=[{"id": 0, "latency_ms": INT}], flush_ms=LONG)),
    ("batch FILE", ".json", simulated(failed_requests=[0, 1, LONG], config={"retry.backoff.ms": LONG})),
    ("batch FILE", ".json", simulated(records=[[0, None, None, 1], [LONG, None, None, 1]], flush_ms=None)),
    ("batch FILE -n 10000000 --time t --size s", ".jsonl", ROWS),
    (f"batch FILE -n {INT} --time t --size s", ".jsonl", ROWS),
    ("batch FILE -n 3 --time t --size s --partition p", ".jsonl", FAR),
    (f"reassign FILE --add {INT} --replication-factor {INT}", ".json", CLUSTER),
    (f"reassign FILE --power 0={INT},1=1e-300 --disks 0-1={LONG}TB", ".json", CLUSTER),
    (f"reassign FILE --add 0-{INT}", ".json", CLUSTER),
    ("strategy FILE", ".json", replayed({"op": "partition"}, topics={"t": INT})),
    ("strategy FILE", ".json", replayed({"op": "partition"}, topics={"t": [{"id": INT, "leader": 0}]})),
    ("strategy FILE", ".json", replayed(*[{"op": "cluster", "partitions": 900_000}] * 9)),
    ("strategy FILE", ".json", replayed({"op": "cluster", "partitions": INT})),
    (
        "strategy FILE",
        ".json",
        replayed({"op": "load_stats", "queue_sizes": [1, 2], "partition_ids": [INT, 1], "length": INT}),
    ),
    ("assign FILE", ".json", assigned("range", topics={"t": INT})),
    ("assign FILE", ".json", assigned("sticky", topics={"t": 10_000_000})),
    ("assign FILE --compare", ".json", assigned("sticky", topics={"t": 10_000_000})),
    ("assign FILE", ".json", assigned("range", topics={"t": 3, "u": INT})),
    ("assign FILE --jsonl", ".json", f"{json.dumps(assigned('range', topics={'t': 10_000_000}))}\n" * 3),
    (
        "assign FILE",
        ".json",
        assigned("sticky", members=[{"id": "c", "topics": ["t"], "owned": [["t", INT]], "generation": INT}]),
    ),
    (
        "assign FILE",
        ".json",
        assigned("old-range", members=[{"id": f"c{i}", "topics": ["t"], "streams": 10_000} for i in range(200)]),
    ),
    ("assign FILE", ".json", assigned("old-range", members=[{"id": "c", "topics": ["t"], "streams": INT}])),
    ("assign FILE", ".json", "[" * 100_000),
    ("group FILE", ".json", played(topics={"t": INT})),
    ("group FILE", ".json", played(events=[{"at_ms": 0, "join": "a"}, {"at_ms": 1, "add_partitions": {"t": INT}}])),
    ("group FILE", ".json", played(events="+1000000000")),
    ("group FILE", ".json", played(topics={"t": 900_000}, events=f"+3{', t+1' * 60}")),
    ("group FILE", ".json", played(records_per_s=1e15)),
    ("group FILE", ".json", '{"events": ' + "[" * 100_000),
    ("group FILE", ".yaml", merges(9)),
    ("group FILE", ".yaml", f"topics: {{t: {laughs(9)}}}\nevents: '+1'\n"),
    ("group FILE", ".yaml", f"topics: {{t: 3}}\nevents: {laughs(9)}\n"),
    ("group FILE", ".yaml", "topics: {t: 3}\nevents: &e [*e, *e, *e]\n"),
    (f"place FILE --key k -n {INT}", ".jsonl", ROWS),
    (f"check FILE --key k --partition p -n {INT}", ".jsonl", FAR),
    (f"check FILE --key k --partition p -n {INT} --report r.html", ".jsonl", FAR),
    (f"resize FILE --key k --from {INT - 1} --to {INT} --plan", ".jsonl", ROWS),
    (f"resize FILE --key k --partition p --offset o --from {INT} --to 3 --report r.html", ".jsonl", FAR),
    ("fingerprint FILE --key k --partition p", ".jsonl", FAR),
    (f"fingerprint FILE --key k --partition p -n {INT} --report r.html", ".jsonl", FAR),
    (f"copartition FILE FILE --key k --partition p -n {INT}", ".jsonl", FAR),
    ("copartition FILE FILE --key k --partition p", ".jsonl", FAR),
    ("rollout --topic t=3 --manifest FILE", ".json", {**MANIFEST, "spec": {"replicas": INT}}),
    ("rollout --topic t=3 --manifest FILE", ".json", {**MANIFEST, "spec": {"replicas": 2, "minReadySeconds": LONG}}),
    ("rollout --topic t=3 --manifest FILE", ".yaml", merges(9)),
    ("rollout --topic t=3 --manifest FILE", ".yaml", f"kind: Deployment\nspec: {{replicas: {laughs(9)}}}\n"),
    ("rollout --topic t=3 --manifest FILE", ".json", "[" * 100_000),
    (f"rollout --topic t={INT} --replicas 2", ".json", ""),
    (f"rollout --topic t=3 --replicas 2 --plays {INT} --time-limit 1", ".json", ""),
    (f"rollout --topic t=3 --replicas 2 --plays 1 --time-limit 1 --start {LONG}s", ".json", ""),
    (f"which a -n {INT} --explain", ".jsonl", ""),
    (f"coordinator a -n {INT}", ".jsonl", ""),
    (f"advise 100 --consumers {INT} --held {INT}", ".jsonl", ""),
    ("advise 1e300 --power 1e300,1 --growth 1e300", ".jsonl", ""),
]  # fmt: skip


@pytest.fixture(scope="module")
def limited() -> Iterator[Callable[[list[str]], dict[str, Any]]]:
    """Runs a command and returns its cost; see `limited.py`."""
    with limited_commands() as run:
        yield run


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is counted in KiB there")
@pytest.mark.parametrize(
    ("words", "suffix", "text"), HOSTILE, ids=[f"{place}-{each[0]}" for place, each in enumerate(HOSTILE)]
)
def test_a_small_file_takes_little(
    words: str,
    suffix: str,
    text: Any,
    limited: Callable[[list[str]], dict[str, Any]],
    tmp_path: Path,
) -> None:
    file = tmp_path / f"hostile{suffix}"
    file.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    names = {"FILE": str(file), "r.html": str(tmp_path / "r.html")}
    took = limited([names.get(word, word) for word in words.split()])
    assert took["code"] in {0, 1, 2}, took
    assert (took["mib"] < MIB, took["seconds"] < SECONDS) == (True, True), took
    if took["code"] == 2:
        assert took["stderr"].startswith("partwright: ")
        assert took["stderr"].count("\n") == 1


BOMB_MIB, MOST_MIB = 300, 256


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is counted in KiB there")
@pytest.mark.parametrize(
    ("name", "codec", "start", "said"),
    [
        (
            "x.csv.gz",
            "gzip",
            b"k,v\n1,",
            "line 2 of 'x.csv.gz' is longer than 16 MiB: look at its line ends, or",
        ),
        ("x.csv.zst", "zstd", b'k,v\n1,"', "line 2 of 'x.csv.zst' is longer than 16 MiB"),
        ("x.csv.bz2", "bz2", b"k", "line 1 of 'x.csv.bz2' is longer than 16 MiB"),
        ("x.tsv.zst", "zstd", b"k\tv\n", "line 2 of 'x.tsv.zst' is longer than 16 MiB"),
        ("x.jsonl.gz", "gzip", b'{"k":"', "line 1 of 'x.jsonl.gz' is longer than 16 MiB"),
        (
            "x.json.zst",
            "zstd",
            b'[{"k":"',
            "'x.json.zst' is not JSON: the value in line 1 (Unterminated string",
        ),
    ],
)
def test_one_endless_line_takes_little(
    name: str,
    codec: str,
    start: bytes,
    said: str,
    limited: Callable[[list[str]], dict[str, Any]],
    tmp_path: Path,
) -> None:
    """A small compressed file that unpacks to one line is refused before the line fills the memory."""
    file = tmp_path / name
    with pa.CompressedOutputStream(str(file), codec) as bomb:
        bomb.write(start)
        for _ in range(BOMB_MIB):
            bomb.write(b"x" * (1 << 20))
    assert file.stat().st_size < 2 << 20
    took = limited(["place", str(file), "--key", "k", "-n", "12"])
    assert (took["code"], said in took["stderr"].replace(f"{tmp_path}/", "")) == (2, True), took
    assert took["mib"] < MOST_MIB, took


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is counted in KiB there")
@pytest.mark.parametrize(
    ("start", "part", "end", "said"),
    [
        (
            b"k" + b",a" * (7 << 20),
            b"\n",
            b"",
            "line 1 of 'x.csv.zst' has more than 100,000 fields: look at its delimiter",
        ),
        (
            b'k,v\n1,"',
            b"a\n",
            b"",
            "line 2 of 'x.csv.zst' starts a value that has no end within 2,097,152 lines",
        ),
        (
            b'k,v\n1,"' + b"a" * (10 << 20),
            b"\n",
            b"",
            "line 2 of 'x.csv.zst' starts a value that has no end within 2,097,152 lines",
        ),
        (b'k,v\n1,"' + b"a" * (30 << 20), b"\n", b"", "line 2 of 'x.csv.zst' is longer than 16 MiB"),
        (
            b'k,v\n1,"',
            b"a" * 98 + b"\r\n" + b"a" * 99 + b"\n",
            b"",
            "line 2 of 'x.csv.zst' starts a value that has no end within 16 MiB: look at its quotes",
        ),
        (
            b'k,v\n1,"' + b"a" * (15 << 20),
            b"\r\n\n",
            b"",
            "line 2 of 'x.csv.zst' starts a value that has no end within 16 MiB: look at its quotes",
        ),
    ],
    ids=["fields", "lines", "lines-after-a-long-one", "a-longer-one", "longer-lines", "two-line-ends"],
)
def test_many_short_parts_take_little(
    start: bytes,
    part: bytes,
    end: bytes,
    said: str,
    limited: Callable[[list[str]], dict[str, Any]],
    tmp_path: Path,
) -> None:
    """A small compressed file of many fields or lines is refused before each of them is an object."""
    file = tmp_path / "x.csv.zst"
    with pa.CompressedOutputStream(str(file), "zstd") as bomb:
        bomb.write(start)
        for _ in range(30):
            bomb.write(part * ((1 << 21) // len(part)))
        bomb.write(end)
    took = limited(["place", str(file), "--key", "k", "-n", "12"])
    assert (took["code"], said in took["stderr"].replace(f"{tmp_path}/", "")) == (2, True), took
    assert took["mib"] < MOST_MIB, took


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is counted in KiB there")
@pytest.mark.long
@pytest.mark.parametrize("words", ["place FILE -n 12", "check FILE -n 12 --partition p"])
@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
@pytest.mark.parametrize("key", ["k", "u.id"])
def test_a_long_value_in_each_row_is_read_in_pieces(
    words: str, name: str, key: str, limited: Callable[[list[str]], dict[str, Any]], tmp_path: Path
) -> None:
    """A small file that has a long value once, and its place in a dictionary for each row."""
    file, rows = tmp_path / name, 400
    places = pa.array([0] * rows, pa.int32())
    keys = pa.DictionaryArray.from_arrays(places, pa.array(["x" * (1 << 20)]))
    table = pa.table({"k": keys, "u": pa.StructArray.from_arrays([keys], ["id"]), "p": places})
    if name == "x.parquet":
        parquet.write_table(table, file, store_schema=False, dictionary_pagesize_limit=1 << 30)
    else:
        feather.write_feather(table, file, compression="zstd")
    assert file.stat().st_size < 1 << 20
    took = limited([{"FILE": str(file)}.get(word, word) for word in words.split()] + ["--key", key])
    assert (took["code"] < 2, took["mib"] < MOST_MIB) == (True, True), took


def test_every_command_that_takes_a_file_is_limited() -> None:
    assert {words.split()[0] for words, _, _ in HOSTILE} >= commands() - NO_FILE - IN_SPARK

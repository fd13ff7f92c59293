"""`partwright batch` on files of records: the JSON answer, the words, the refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from table_files import write_table

import partwright as pw
from partwright import batching, report
from partwright.answer import Question

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, bytes, str]]

ROWS = 600
TABLE: dict[str, list[Any]] = {
    "ts": [number // 3 for number in range(ROWS)],
    "user": [f"u{number % 7}" if number % 5 == 0 else None for number in range(ROWS)],
    "body": [None if number % 50 == 0 else "é" + "x" * (number % 90) for number in range(ROWS)],
    "bytes": [None if number % 50 == 0 else 2 + number % 90 for number in range(ROWS)],
    "own": [number % 6 if number % 11 == 0 else None for number in range(ROWS)],
}
FILES = ["x.csv", "x.jsonl", "x.parquet", "x.arrow"]
SIZED = ["-n", 6, "--time", "ts", "--size", "bytes"]
GIVEN = ["-n", 6, "--time", "ts", "--key", "user", "--partition", "own", "--brokers", 3]


def write(name: str) -> None:
    table = pa.table(TABLE)
    if name == "x.parquet":
        table = table.set_column(2, "body", table["body"].cast(pa.binary_view()))
    if name != "x.csv":
        write_table(table, name, rows_a_part=100)
    else:
        rows = [["" if one is None else str(one) for one in row.values()] for row in table.to_pylist()]
        Path(name).write_text("\n".join(map(",".join, [list(TABLE), *rows])), encoding="utf-8")


def expected(*strategies: str | pw.ProducerConfig, **options: Any) -> list[dict[str, Any]]:
    brokers = [{"id": number} for number in range(3)]
    topic = [{"id": number, "leader": number % 3} for number in range(6)]
    cluster = pw.Cluster.from_dict({"brokers": brokers, "topics": {"t": topic}})
    records = {
        "time": TABLE["ts"],
        "key": TABLE["user"],
        "size": pa.array(TABLE["bytes"], pa.int32()),
        "partition": pa.array(TABLE["own"], pa.int32()),
    }
    found = batching.compare(records, cluster, strategies, **options).to_arrow()
    rows: list[dict[str, Any]] = found.to_pylist()
    return rows


@pytest.mark.parametrize("size", [["--value", "body"], ["--size", "bytes"]])
@pytest.mark.parametrize("name", FILES)
def test_every_format_is_simulated(name: str, size: list[str], command: Command) -> None:
    write(name)
    words = ["--slow", "1=9", "--producer-property", "batch.size=900", "--seed", 4, "--json"]
    code, out, err = command("batch", name, *GIVEN, *size, *words)
    assert (code, err) == (0, "")
    wanted = expected(
        pw.ProducerConfig("sticky", {"batch.size": 900}, seed=4),
        delivery=batching.Delivery(brokers={1: {"latency_ms": 9}}),
    )
    assert json.loads(out)["strategies"] == wanted
    assert wanted[0]["records"] == ROWS
    assert wanted[0]["slow_share"] is not None


def test_strategies_are_compared(command: Command) -> None:
    write("x.csv")
    words = ["batch", "x.csv", *GIVEN, "--value", "body"]
    code, out, _ = command(*words, "--compare", "--json", "--latency-ms", 3)
    assert code == 0
    compared = ["sticky", "sticky@2.4", "round-robin", "round-robin@2.8"]
    told = json.loads(out)
    assert list(told) == ["summary", "strategies"]
    assert told["strategies"] == expected(*compared, delivery=batching.Delivery(latency_ms=3))
    code, out, _ = command(*words, "--strategy", "random", "--strategy", "sticky@3.3", "--json")
    assert json.loads(out)["strategies"] == expected("random", "sticky@3.3")


def test_latencies_are_drawn(command: Command) -> None:
    write("x.csv")
    words = ["batch", "x.csv", *GIVEN, "--value", "body"]
    words += ["--seed", 2, "--json"]
    code, out, err = command(*words, "--latency-ms", "70..90", "--slow", "1=p50=20,p99=90", "--slow", "2=4")
    assert (code, err) == (0, "")
    brokers = {1: {"latency_ms": {"p50": 20, "p99": 90}}, 2: {"latency_ms": 4}}
    producer = pw.ProducerConfig("sticky", seed=2)
    wanted = expected(
        producer, delivery=batching.Delivery(latency_ms={"from": 70, "to": 90}, brokers=brokers)
    )
    assert json.loads(out)["strategies"] == wanted
    assert wanted != expected(producer, delivery=batching.Delivery(latency_ms=80, brokers=brokers))


def test_the_words(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    write("x.csv")
    words = ["batch", "x.csv", "-n", 6, "--time", "ts", "--value", "body", "--compare", "--brokers", 3]
    monkeypatch.setenv("COLUMNS", "160")
    code, out, err = command(*words, "--slow", "0=30")
    assert (code, err) == (0, "")
    text = out.decode()
    verdict, rows = text.split("Batches and requests\n")
    summary = json.loads(command(*words, "--slow", "0=30", "--json")[1])["summary"]
    assert " ".join(verdict.split()).startswith(summary)
    assert "600 records" in summary
    # The one order of strategies, as everywhere.
    assert [line.split()[0] for line in rows.splitlines() if "%" in line] == [
        "round-robin", "round-robin@2.8", "sticky@2.4", "sticky@4.4",
    ]  # fmt: skip
    assert "to the slow broker" in text
    assert "to the slow broker" not in command(*words)[1].decode()


def test_times_may_be_text(command: Command) -> None:
    Path("x.csv").write_text(
        "at,v\n2026-01-31T12:00:00Z,abc\n2026-01-31T12:00:00.007Z,abc\n", encoding="utf-8"
    )
    code, out, _ = command("batch", "x.csv", "-n", 1, "--time", "at", "--value", "v", "--json")
    assert code == 0
    assert json.loads(out)["strategies"][0]["batches"] == 2


def test_a_value_that_is_none_is_said_without_a_traceback(command: Command) -> None:
    Path("sizes.csv").write_text("ts,size\n1,7\n2,-5\n", encoding="utf-8")
    code, out, err = command("batch", "sizes.csv", "-n", 3, "--time", "ts", "--size", "size")
    assert (code, out) == (2, b"")
    assert err == "partwright: row 1 has the size -5, which is not a whole number from 0 to 2147483647\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-n", 6], "a simulation needs the records' times: name their column with --time"),
        (
            ["-n", 6, "--time", "ts"],
            "a simulation counts bytes: name the column of values with --value, or",
        ),
        (["-n", 6, "--time", "ts", "--value", "body", "--size", "bytes"], "a simulation counts bytes: name"),
        (["-n", 0, "--time", "ts", "--value", "body"], "the number of partitions"),
        (["-n", 6, "--time", "tz", "--value", "body"], "there is no column 'tz' in 'x.csv'"),
        (["-n", 6, "--time", "ts", "--value", "ts"], "'ts' cannot be two of the columns: name another one"),
        (["-n", 6, "--time", "user", "--value", "body"], "the timestamps from row 0 on are not times"),
        (["-n", 6, "--time", "ts", "--size", "body"], "row 1 has the size"),
        ([*SIZED, "--partition", "user"], "row 0 is in 'u0', which is"),
        (
            ["-n", 3, "--time", "ts", "--size", "bytes", "--partition", "own"],
            "row 11: the record names partition 5, which the topic does not have",
        ),
        ([*SIZED, "--slow", "0=1s"], "--slow takes the id of a broker and its"),
        *(
            (
                [*SIZED, "--latency-ms", text],
                f"--latency-ms takes milliseconds, such as 5, 1..9 or p50=2,p99=40, not {text!r}",
            )
            for text in ["5ms", "1..", "p50=2", "p99=4,p50=2", "-1", "", "1" * 20]
        ),
        ([*SIZED, "--latency-ms", "9..1"], "latency_ms: to is a whole number from 9 to 2147483647, not 1"),
        (
            [*SIZED, "--slow", "0=p50=9,p99=1"],
            "broker 0: latency_ms: p99 is a whole number from 9 to 2147483647, not 1",
        ),
        ([*SIZED, "--slow", "4=1"], "there is no broker 4 in the cluster"),
        ([*SIZED, "--strategy", "stick"], 'there is no strategy "stick"'),
        ([*SIZED, "--compare", "--strategy", "sticky"], "--compare names its"),
        ([*SIZED, "--client", "jav"], 'there is no client "jav"'),
        (
            ["-n", 6, "--jsonl"],
            "--jsonl is for scenarios, and -n for a file of records: give only one of them",
        ),
        (
            [*SIZED, "--producer-property", "compression.type=lz4"],
            "a simulation has no compression, and compression.type is 'lz4': leave it out, or say none",
        ),
        ([*SIZED, "--at-most-ms", 5], "--at-most-ms is for --tune: give both"),
        ([*SIZED, "--tune", "--plot", "x"], "a picture is a .svg, .png or .pdf"),
        (
            [*SIZED, "--tune", "--plot", "no/x.svg"],
            "there is no folder 'no' for the picture: make it, or name another file",
        ),
        (["--jsonl", "--plot", "x.svg"], "--report is for one scenario: leave out --jsonl"),
        (["--tune"], "--tune is for a file of records: give its number of partitions with -n"),
        (
            ["--time", "ts"],
            "--time is for a file of records: give its number of partitions with -n",
        ),
        (
            ["--compare"],
            "--compare is for a file of records: give its number of partitions with -n",
        ),
    ],
)
def test_a_refusal_is_one_sentence(words: list[Any], sentence: str, command: Command) -> None:
    write("x.csv")
    code, out, err = command("batch", "x.csv", *words)
    assert (code, out) == (2, b"")
    assert sentence in err
    assert err.count("\n") == 1


def test_times_that_run_backwards_name_their_row(command: Command) -> None:
    rows = [{"t": time, "s": 5} for time in [4, 5, 3]]
    Path("x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    code, _, err = command("batch", "x.jsonl", "-n", 2, "--time", "t", "--size", "s")
    assert code == 2
    assert "row 2" in err


def test_stdin_is_json_lines(process: Any) -> None:
    rows = b"".join(json.dumps({"t": time, "v": "x" * 40}).encode() + b"\n" for time in range(5))
    done = process("batch", "-", "-n", 2, "--time", "t", "--value", "v", "--json", stdin=rows)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["strategies"][0]["records"] == 5


def test_what_was_tried_is_drawn(command: Command) -> None:
    write("x.csv")
    words = ["batch", "x.csv", "-n", 6, "--time", "ts", "--value", "body", "--tune", "--at-most-ms", 30]
    code, out, err = command(*words, "--plot", "x.svg")
    assert (code, out, err) == (*command(*words)[:2], "plot: x.svg\n")
    table = {"time": TABLE["ts"], "size": pa.array(TABLE["bytes"], pa.int32())}
    tuning = batching.tune(table, {"topic": 6}, at_most_ms=30)
    report.write(tuning.with_question(Question((), "batch", "x.csv")), "wanted.svg")
    assert Path("x.svg").read_bytes() == Path("wanted.svg").read_bytes()
    assert command(*words, "--plot", "x.jpg")[0] == 2
    assert not Path("x.jpg").exists()


def test_settings_are_tried_and_one_is_recommended(command: Command) -> None:
    write("x.csv")
    words = ["batch", "x.csv", "-n", 6, "--time", "ts", "--value", "body", "--tune"]
    code, out, err = command(*words, "--at-most-ms", 30, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert {"summary", "recommended", "reason", "default", "settings"} == set(found)
    table = {"time": TABLE["ts"], "size": pa.array(TABLE["bytes"], pa.int32())}
    wanted = batching.tune(table, {"topic": 6}, at_most_ms=30)
    assert found["settings"] == wanted.settings.to_pylist()
    assert (found["recommended"], found["reason"]) == (wanted.recommended, wanted.reason)
    text = command(*words, "--at-most-ms", 30)[1].decode()
    verdict, rows = text.split("Requests against delay\n")
    assert " ".join(verdict.split()) == found["summary"] == wanted.reason
    (taken,) = (line.split() for line in rows.splitlines() if "(take)" in line)
    assert taken[0] == "1"
    assert rows.count("(today)") == 1


def test_a_scenarios_answer_is_shown_with_its_verdict_first(command: Command) -> None:
    from partwright.batching import replay

    scenario = {
        "strategy": "round-robin",
        "brokers": [{"id": 0, "latency_ms": 2}],
        "partitions": [{"id": 0, "leader": 0}, {"id": 1}],
        "failed_requests": [0],
        "records": [[0, None, 0, 10], [1, None, 0, 10], [2, None, 1, 10]],
    }
    Path("scenario.json").write_text(json.dumps(scenario), encoding="utf-8")
    assert command("batch", "scenario.json") == command("batch", "scenario.json", "--json")
    code, out, err = command("batch", "scenario.json", "--output", "text")
    assert (code, err) == (0, "")
    assert out.decode().startswith(
        "3 records go in 2 batches and 2 requests, of which 1 failed.\n\nBatches over time"
    )
    assert "never sent" in out.decode()
    assert json.loads(command("batch", "scenario.json", "--json")[1]) == replay(scenario)
    assert (
        b"### A producer's batches: scenario.json"
        in command("batch", "scenario.json", "--output", "markdown")[1]
    )
    code, out, err = command("batch", "scenario.json", "--jsonl", "--output", "html")
    assert (code, out) == (2, b"")
    assert "--jsonl prints JSON, and --output says html" in err


def test_a_files_format_may_be_told(command: Command) -> None:
    Path("x.dat").write_text("ts|bytes\n1|5\n2|6\n", encoding="utf-8")
    told = ["--format", "csv", "--delimiter", "pipe"]
    code, out, _ = command("batch", "x.dat", *SIZED, *told, "--json")
    assert (code, json.loads(out)["strategies"][0]["records"]) == (0, 2)
    for words in [told[:2], told[2:]]:
        code, _, said = command("batch", "x.dat", *words)
        assert code == 2
        assert f"{words[0]} is for a file of records" in said

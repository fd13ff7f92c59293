"""Reads each layer's measurements from its own format into one list of lines; what was not measured is left out."""

from __future__ import annotations

import json
import re
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BENCHES", "CASES", "Key", "Line", "Results", "read"]

BENCHES = Path(__file__).resolve().parent
LAB: dict[str, Any] = json.loads((BENCHES / "cases.json").read_text(encoding="utf-8"))
CASES: dict[str, dict[str, Any]] = {case["name"]: case for case in LAB["cases"]}
KERNEL_ROWS: int = LAB["rows"]["kernel"]
CALLED: str = LAB["calls"]["case"]
NANO = 1e-9
Key: TypeAlias = tuple[str, str, str, int]
"""Where, the case's name, what, and over how many rows."""
_GO_LINE = re.compile(
    r"BenchmarkPartition/(\w+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op\s+(\d+) rows/op\s+(\d+) sum"
)


@dataclass(frozen=True)
class Line:
    """One line of the table: a median."""

    where: str
    case: str
    what: str
    rows: int
    seconds: float
    spread: float = 0.0
    """How far apart the quartiles are, by the median."""
    ours: Key | None = None
    """What its time is divided by; None where there is none to compare it with."""
    key_bytes: int | None = None
    is_detail: bool = False

    @property
    def key(self) -> Key:
        """The name by which goals refer to it."""
        return (self.where, self.case, self.what, self.rows)


@dataclass
class Results:
    """All measurements of one run."""

    lines: dict[Key, Line] = field(default_factory=dict)
    memory: dict[tuple[str, str], float] = field(default_factory=dict)
    """Bytes a row, by case and what."""
    curve: dict[str, Any] = field(default_factory=dict)
    plays: dict[str, Any] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)
    """What is neither a time nor memory, by name."""
    sums: dict[str, dict[str, int]] = field(default_factory=dict)
    """By layer and case: what the first partitions add up to."""
    seeds: dict[str, str] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    """Versions and settings, for the reader."""

    def ratio(self, line: Line) -> float | None:
        """A line's time divided by ours."""
        ours = None if line.ours is None else self.lines.get(line.ours)
        return None if ours is None else line.seconds / ours.seconds


def read(criterion: Path, bench: Path) -> Results:
    """All files in criterion's folder and in `target/bench`."""
    results = Results()
    lines = (
        *_rust(criterion, bench, results),
        *_java(bench, results),
        *_go(bench / "go.txt", results),
        *_python(bench / "python.json", results),
        *_spark(bench / "spark.json", results),
        *_assignors(bench / "assignors.json", results),
    )
    results.lines = {line.key: line for line in lines}
    memory = _loaded(bench / "memory.json")
    results.memory = {(each["case"], each["what"]): each["bytes_a_row"] for each in memory.get("memory", [])}
    if memory:
        results.seeds["memory"] = memory["seed"]
    results.shares = _worker_share(bench / "spark_worker.json")
    results.curve = _loaded(bench / "assignor_curve.json")
    results.plays = _loaded(bench / "play_curve.json")
    return results


def _loaded(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def _line(key: Key, seconds: list[float], ours: Key | None, **more: Any) -> Line:
    median = statistics.median(seconds)
    quartiles = statistics.quantiles(seconds, n=4) if len(seconds) > 1 else [median, median, median]
    return Line(*key, median, (quartiles[2] - quartiles[0]) / median, ours, **more)


def _rust(criterion: Path, bench: Path, results: Results) -> Iterator[Line]:
    if (sums := bench / "rust_sums.jsonl").exists():
        for said in map(json.loads, sums.read_text(encoding="utf-8").splitlines()):
            results.seeds["Rust"] = said["seed"]
            results.sums.setdefault("Rust", {})[said["case"]] = said["sum"]
    for file in sorted(criterion.glob("**/new/benchmark.json")):
        about = _loaded(file)
        sample = _loaded(file.with_name("sample.json"))
        seconds = [time / count * NANO for time, count in zip(sample["times"], sample["iters"], strict=True)]
        amounts = about["throughput"]
        both = amounts.get("ElementsAndBytes", {"elements": amounts.get("Elements"), "bytes": None})
        case, rows = about["group_id"], both["elements"]
        if case == "calls":
            yield _line(("Rust, a call", CALLED, "the kernel", rows), seconds, None, is_detail=True)
            continue
        if case not in CASES:
            continue
        what = {
            "ours": "ours",
            "scalar_column": "scalar, same column",
            "scalar_apart": "scalar, keys apart",
            "crate_column": "the crate murmur2, same column",
            "crate_apart": "the crate murmur2, keys apart",
            "memcpy": "memory copy",
            "murmur2": "ours, hash alone",
            "client": f"ours, client {about['value_str']}",
            "layout": f"ours, {about['value_str']}",
        }[about["function_id"]]
        yield _line(
            ("Rust", case, what, rows),
            seconds,
            ("Rust", case, "ours", rows),
            key_bytes=both["bytes"],
            is_detail=about["function_id"] in {"layout", "murmur2"} and about["value_str"] != "dictionary",
        )


def _java(bench: Path, results: Results) -> Iterator[Line]:
    if said := _loaded(bench / "java.json"):
        results.seeds["JVM"] = said["seed"]
        results.sums["JVM"] = said["sums"]
        results.about |= {"Java": said["java"], "kafka-clients": said["kafka-clients"]}
    for file in sorted(bench.glob("java-*.json")):
        for measured in json.loads(file.read_text(encoding="utf-8")):
            case, rows = measured["params"]["name"], int(measured["params"]["rows"])
            what = measured["benchmark"].rsplit(".", 1)[1]
            seconds = [each * NANO for each in measured["primaryMetric"]["rawData"][0]]
            ours = "ours" if what == "partitionForKey" else "ours, hash alone"
            results.about["JMH"] = measured["jmhVersion"]
            key = ("JVM", case, what, rows)
            yield _line(key, seconds, ("Rust", case, ours, rows), is_detail=what != "partitionForKey")


def _go(file: Path, results: Results) -> Iterator[Line]:
    if not file.exists():
        return
    text = file.read_text(encoding="utf-8")
    said = dict(re.findall(r"^(seed|go): (\S+)$", text, re.MULTILINE))
    module = (BENCHES / "go" / "go.mod").read_text(encoding="utf-8")
    client = re.search(r"franz-go v(\S+)", module)
    assert client is not None
    results.seeds["Go"] = said["seed"]
    results.about |= {"Go": said["go"].removeprefix("go"), "franz-go": client[1]}
    found: dict[tuple[str, int], list[float]] = {}
    for case, ns, rows, total in _GO_LINE.findall(text):
        found.setdefault((case, int(rows)), []).append(float(ns) * NANO)
        results.sums.setdefault("Go", {})[case] = int(total)
    for (case, rows), seconds in found.items():
        yield _line(("Go", case, "franz-go", rows), seconds, ("Rust", case, "ours", rows))


def _python(file: Path, results: Results) -> Iterator[Line]:
    found = _loaded(file)
    if found:
        results.seeds["Python"] = found["seed"]
        results.about["Python"] = found["machine_info"]["python_version"]
    # Sorted by size first; ours, which each group measures first, is the divisor.
    measured = sorted(found.get("benchmarks", []), key=lambda each: each["extra_info"]["rows"])
    firsts: dict[tuple[str, str, int], str] = {}
    for each in measured:
        about = each["extra_info"]
        if "sum" in about:
            results.sums.setdefault("Python", {})[about["case"]] = about["sum"]
        where = {"calls": "Python", "one key": "Python, one key", "layout": "Python, by layout"}[
            about["kind"]
        ]
        first = firsts.setdefault((where, about["case"], about["rows"]), about["what"])
        stats = each["stats"]
        yield Line(
            where,
            about["case"],
            about["what"],
            about["rows"],
            stats["median"],
            stats["iqr"] / stats["median"],
            (where, about["case"], first, about["rows"]),
            is_detail=about["kind"] == "layout",
        )


def _spark(file: Path, results: Results) -> Iterator[Line]:
    found = _loaded(file)
    if not found:
        return
    results.about |= {f"in Spark, {name}": value for name, value in found["settings"].items()}
    if "seed" in found:
        results.seeds["Spark"] = found["seed"]
    for run in found["runs"]:
        first = ("Spark", CALLED, found["runs"][0]["title"], found["rows"])
        yield _line(("Spark", CALLED, run["title"], found["rows"]), run["seconds"], first)


def _worker_share(file: Path) -> dict[str, float]:
    """The kernel's and our calls' shares of the workers' time, by clocks inside them, at Spark's own batch size."""
    rounds = _loaded(file).get("batches", {}).get(str(LAB["rows"]["batch"]), [])
    names = {"the kernel's": "kernel", "our whole call's": "call"}
    timed = {whose: [each for each in rounds if each.get(f"{part}_rows")] for whose, part in names.items()}
    return {
        f"{whose} share of a Spark worker's time": statistics.median(
            each[f"{part}_s"] / each[f"{part}_rows"] * each["rows"] / each["worker_s"]
            for each in timed[whose]
        )
        for whose, part in names.items()
        if timed[whose]
    }


def _assignors(file: Path, results: Results) -> Iterator[Line]:
    found = _loaded(file)
    if found:
        results.seeds["assignors"] = found["seed"]
    whats = {
        "core": "ours, the core",
        "java": "Kafka's on the JVM",
        "python": "ours, pw.assign",
        "tables": "ours, pw.assign, tables",
    }
    for case in found.get("cases", []):
        first = ("Assignors", case["name"], whats["core"], case["partitions"])
        for side, what in whats.items():
            if side in case:
                yield _line(("Assignors", case["name"], what, case["partitions"]), case[side], first)

"""Joins what criterion, pytest-benchmark and the Spark bench measured into one table, with ours as 1.

`python benches/compare.py` prints it in Markdown; `--all` adds every layout and the bare hash; `--write FILE`
puts it between the marks `<!-- bench -->` and `<!-- /bench -->` of that file. What was not measured is left
out, and said.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BENCHES = Path(__file__).resolve().parent
TARGET = BENCHES.parent / "target"
LAB: dict[str, Any] = json.loads((BENCHES / "cases.json").read_text(encoding="utf-8"))
TITLES = {case["name"]: case["title"] for case in LAB["cases"]}
CALLED = LAB["calls"]["case"]
OPENING, CLOSING = "<!-- bench -->", "<!-- /bench -->"
BLOCK = re.compile(f"{re.escape(OPENING)}.*{re.escape(CLOSING)}", re.DOTALL)
NANO, MICRO = 1e-9, 1e-6


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    where: str
    case: str
    what: str
    seconds: float
    rows: int
    ratio: float | None = None
    """Its time by that of ours; None where there is no ours to compare it with."""
    key_bytes: int | None = None
    is_detail: bool = False

    def __str__(self) -> str:
        ratio = "" if self.ratio is None else _short(self.ratio)
        speed = "" if self.key_bytes is None else _short(self.key_bytes / self.seconds / 1e9)
        a_row, rate = _short(self.seconds / self.rows / NANO), _short(self.rows / self.seconds / 1e6)
        return f"| {self.where} | {self.case} | {self.what} | {a_row} | {rate} | {speed} | {ratio} |"


@dataclass(frozen=True)
class Results:
    """Everything measured so far, by layer; an empty dictionary where a layer was not."""

    criterion: dict[tuple[str, str], tuple[float, int, int | None]]
    """By group and name: median seconds, rows, key bytes."""
    python: dict[str, Any]
    spark: dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or write it; 1 where nothing was measured."""
    options = _parser().parse_args(arguments)
    results = Results(
        _criterion(options.criterion), _loaded(options.python_json), _loaded(options.spark_json)
    )
    for name in ("criterion", "python", "spark"):
        if not getattr(results, name):
            print(f"compare.py: there are no results of {name}: run make bench", file=sys.stderr)
    if results == Results({}, {}, {}):
        return 1
    text = "\n".join(_report(results, options.all))
    if options.write is None:
        print(text)
        return 0
    page = options.write.read_text(encoding="utf-8")
    if BLOCK.search(page) is None:
        print(f"compare.py: {options.write} has no {OPENING} and {CLOSING}", file=sys.stderr)
        return 1
    block = f"{OPENING}\n\n{text}\n\n{CLOSING}"
    options.write.write_text(BLOCK.sub(lambda _: block, page), encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Join the benches' results into one table of Markdown.")
    parser.add_argument("--criterion", type=Path, default=TARGET / "criterion", help="criterion's folder")
    parser.add_argument("--python-json", type=Path, default=TARGET / "bench" / "python.json")
    parser.add_argument("--spark-json", type=Path, default=TARGET / "bench" / "spark.json")
    parser.add_argument("--all", action="store_true", help="every layout, and the hash without the modulo")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the page whose table is replaced")
    return parser


def _loaded(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def _criterion(folder: Path) -> dict[tuple[str, str], tuple[float, int, int | None]]:
    found = {}
    for file in folder.glob("**/new/benchmark.json"):
        about = _loaded(file)
        name = "/".join(filter(None, (about["function_id"], about["value_str"])))
        amounts = about["throughput"]
        both = amounts.get("ElementsAndBytes", {"elements": amounts.get("Elements"), "bytes": None})
        median = _loaded(file.with_name("estimates.json"))["median"]["point_estimate"] * NANO
        found[about["group_id"], name] = (median, both["elements"], both["bytes"])
    return found


def _report(results: Results, everything: bool) -> Iterator[str]:
    yield "| where | keys | what | ns a row | million rows/s | GB of keys/s | time, ours = 1 |"
    yield "| --- | --- | --- | ---: | ---: | ---: | ---: |"
    for line in (*_kernel(results), *_python(results), *_spark(results)):
        if everything or not line.is_detail:
            yield str(line)
    if notes := [*_notes(results)]:
        yield ""
        yield from notes


def _kernel(results: Results) -> Iterator[Line]:
    for case in LAB["cases"]:
        first = case["layouts"][0]
        for rule in ("partition", "murmur2"):
            names = [(f"{rule}/{layout}", f"ours, {layout}") for layout in case["layouts"]]
            names.append((f"scalar_{rule}", "scalar, keys apart"))
            if rule == "partition":
                names.append(("memcpy", "memory copy"))
                names.extend((f"client/{client}", f"client {client}, {first}") for client in LAB["clients"])
            ours = results.criterion.get((case["name"], f"{rule}/{first}"))
            for name, what in names:
                if (found := results.criterion.get((case["name"], name))) is None:
                    continue
                seconds, rows, key_bytes = found
                is_detail = rule == "murmur2" or (
                    name.startswith(f"{rule}/") and not name.endswith((f"/{first}", "/dictionary"))
                )
                yield Line(
                    "Rust" if rule == "partition" else "Rust, hash alone",
                    case["title"],
                    what,
                    seconds,
                    rows,
                    seconds / ours[0] if ours else None,
                    key_bytes,
                    is_detail,
                )


def _python(results: Results) -> Iterator[Line]:
    lines = []
    for measured in results.python.get("benchmarks", []):
        about = measured["extra_info"]
        size = "1 row" if about["rows"] == 1 else f"{about['rows']:,} rows"
        where = {"calls": size, "one key": "one key", "layout": f"{size}, by layout"}
        line = Line(
            f"Python, {where[about['kind']]}",
            TITLES[about["case"]],
            about["what"],
            measured["stats"]["median"],
            about["rows"],
            is_detail=about["kind"] == "layout",
        )
        lines.append(line)
    # By size first, and ours, which each group measures first, is what the others are divided by.
    groups = dict.fromkeys((line.where, line.case) for line in lines)
    for where, case in groups:
        group = [line for line in lines if (line.where, line.case) == (where, case)]
        for line in group:
            yield replace(line, ratio=line.seconds / group[0].seconds)


def _spark(results: Results) -> Iterator[Line]:
    medians = {run["name"]: statistics.median(run["seconds"]) for run in results.spark.get("runs", [])}
    for run in results.spark.get("runs", []):
        seconds = medians[run["name"]]
        ratio = seconds / medians["ours"]
        yield Line("Spark", TITLES[CALLED], run["title"], seconds, results.spark["rows"], ratio)


def _notes(results: Results) -> Iterator[str]:
    """What the table does not say by itself: the boundary, the noise, the machine."""
    calls = {
        measured["extra_info"]["rows"]: measured["stats"]["median"]
        for measured in results.python.get("benchmarks", [])
        if measured["extra_info"]["what"] == "ours"
    }
    for rows in (1, LAB["rows"]["batch"]):
        kernel = results.criterion.get(("calls", f"partition/{rows}"))
        if kernel and rows in calls:
            yield (
                f"- The boundary: a call from Python on a column of {rows:,} took {calls[rows] / MICRO:.1f} µs, "
                f"the kernel in it {kernel[0] / MICRO:.1f} µs."
            )
    if results.spark:
        seconds = results.spark["runs"][0]["seconds"]
        yield (
            f"- Spark: medians of {len(seconds)} interleaved rounds over {results.spark['rows']:,} rows. A round "
            f"of ours took {min(seconds):.2f} to {max(seconds):.2f} s; the second line is the same code again."
        )
        settings = "; ".join(f"{name} {value}" for name, value in results.spark["settings"].items())
        yield f"- Versions and settings of the Spark runs: {settings}."
    if results.python:
        processor = results.python["machine_info"]["cpu"]
        yield (
            f"- Machine: {processor['count']} cores of {processor['brand_raw']}, "
            f"{results.python['machine_info']['system']}; {results.python['datetime'][:10]}."
        )


def _short(number: float) -> str:
    """Three digits that count, and no exponent."""
    if number >= 100:
        return f"{number:,.0f}"
    if number >= 10:
        return f"{number:.1f}"
    return f"{number:.2f}" if number >= 0.1 else f"{number:.3f}"


if __name__ == "__main__":
    sys.exit(main())

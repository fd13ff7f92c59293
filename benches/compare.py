"""Joins the measurements of all layers into one table, with ours as 1, and compares the layers' answers.

`python benches/compare.py` prints it in Markdown; `--all` adds every layout and the bare hash. `--write` puts it into
`results/`, with the pictures and the raw figures, and its headline between the marks `<!-- bench -->` and
`<!-- /bench -->` of README.md. If two layers' partitions of a case add up to different sums, or were made with
different seeds, it fails and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goals import goals
from readings import BENCHES, Results, read
from report import headline, report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = BENCHES.parent
TARGET = ROOT / "target"
RESULTS = BENCHES / "results"
README = ROOT / "README.md"
OPENING, CLOSING = "<!-- bench -->", "<!-- /bench -->"
BLOCK = re.compile(f"{re.escape(OPENING)}.*{re.escape(CLOSING)}", re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or write it; 1 if nothing was measured or the layers disagree."""
    options = _parser().parse_args(arguments)
    about = options.bench / "run.json"
    if not about.exists():
        print(f"compare.py: there is no {about}: run make bench", file=sys.stderr)
        return 1
    run: dict[str, Any] = json.loads(about.read_text(encoding="utf-8"))
    results = read(options.criterion, options.bench)
    wrong = [*_disagreements(results, run)]
    for sentence in wrong:
        print(f"compare.py: {sentence}", file=sys.stderr)
    if wrong:
        return 1
    if not options.write:
        print("\n".join(report(results, run, {}, options.all)))
        return 0
    return _write(results, run, options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Join the benches' results into one table of Markdown.")
    parser.add_argument("--criterion", type=Path, default=TARGET / "criterion", help="criterion's folder")
    parser.add_argument("--bench", type=Path, default=TARGET / "bench", help="the other layers' folder")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where pages are written (%(default)s)")
    parser.add_argument("--readme", type=Path, default=README, help="the page with the marks (%(default)s)")
    parser.add_argument("--all", action="store_true", help="every layout, and the hash without the modulo")
    parser.add_argument(
        "--write", action="store_true", help="into the results, and their headline into README.md"
    )
    return parser


def _disagreements(results: Results, run: dict[str, Any]) -> Iterator[str]:
    if not results.lines:
        yield "nothing was measured: run make bench"
    for layer, seed in results.seeds.items():
        if seed != run["seed"]:
            yield f"{layer} made its keys with seed {seed}, and the run's is {run['seed']}: run make bench anew"
    for case in {case: None for sums in results.sums.values() for case in sums}:
        found = {layer: sums[case] for layer, sums in results.sums.items() if case in sums}
        if len({*found.values()}) > 1:
            said = ", ".join(f"{layer} {total}" for layer, total in found.items())
            yield f"the partitions of {case} do not add up to the same: {said}"


def _write(results: Results, run: dict[str, Any], options: argparse.Namespace) -> int:
    from plots import draw  # noqa: PLC0415 - who prints needs no matplotlib

    readme = options.readme.read_text(encoding="utf-8")
    if BLOCK.search(readme) is None:
        print(f"compare.py: {options.readme} has no {OPENING} and {CLOSING}", file=sys.stderr)
        return 1
    folder, date = options.results, run["date"]
    folder.mkdir(parents=True, exist_ok=True)
    pictures = draw(results, folder, date)
    page = folder / f"{date}.md"
    page.write_text("\n".join(report(results, run, pictures, options.all)) + "\n", encoding="utf-8")
    raw = {
        "run": run,
        "about": results.about,
        "goals": [asdict(goal) for goal in goals(results)],
        "lines": [{**asdict(line), "ratio": results.ratio(line)} for line in results.lines.values()],
        "memory": [
            {"case": case, "what": what, "bytes_a_row": a_row}
            for (case, what), a_row in results.memory.items()
        ],
        "curve": results.curve,
        "plays": results.plays,
        "sums": results.sums,
    }
    (folder / f"{date}.json").write_text(json.dumps(raw, indent=1) + "\n", encoding="utf-8")
    block = "\n".join([OPENING, "", *headline(goals(results), run, address(page)), "", CLOSING])
    options.readme.write_text(BLOCK.sub(lambda _: block, readme), encoding="utf-8")
    print(f"{page} was written, with its pictures and figures, and its headline into {options.readme}")
    return 0


def address(page: Path) -> str:
    """The address of a page of the repository on the web: PyPI shows README too, and follows no relative link."""
    about = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return f"{about['workspace']['package']['repository']}/blob/main/{Path(os.path.relpath(page, ROOT)).as_posix()}"


if __name__ == "__main__":
    sys.exit(main())

"""Counts the instructions of each case of benches/rust/instructions.rs and fails if they grew by more than 3 %.

`python tools/instructions.py` counts with valgrind's callgrind and compares with benches/instructions.json; a count
does not depend on how busy the machine is. `--update WHY` writes the new counts, `--profile CASE` prints where a case's
instructions are, `--trend FILE` writes them for the page of counts by commit. Exit code 1: something grew, or a case is
missing; 2: this machine cannot count.
"""

# ruff: noqa: INP001, T201
from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
WRITTEN = ROOT / "benches" / "instructions.json"
WHAT = "Instructions a row or a partition, counted by `make instructions`, which fails where one grows by more than 3 %"
LIMIT = 0.03
COUNTED = "*instructions::counted*"
"""The function whose instructions count."""
PROFILED = 24
"""So many functions of a profile are looked at, and shown from this share of the instructions on."""
SHOWN = 0.02
ROW = re.compile(r"^\s*([\d,]+) \(\s*[\d.]+%\)\s+\S*?:(\S.*?)(?: \[.*\])?$")


class RefusedError(Exception):
    """This machine cannot count; the message is one sentence."""


@dataclass(frozen=True)
class Count:
    """The cost of one case."""

    instructions: float
    unit: str
    note: str | None = None
    """Why it grew when it last did by more than the limit."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Count, and compare, write or profile."""
    options = _parser().parse_args(arguments)
    try:
        program = _build()
        cases = json.loads(_said([program]))
        if options.profile is not None:
            print("\n".join(_profile(program, options.profile, cases)))
            return 0
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            counted = [*threads.map(lambda case: _count(program, case), cases)]
    except RefusedError as refused:
        print(f"instructions.py: {refused}", file=sys.stderr)
        return 2
    found = {case: count for case, (count, _) in zip(cases, counted, strict=True)}
    conditions = _conditions(counted[0][1])
    before = json.loads(WRITTEN.read_text(encoding="utf-8")) if WRITTEN.exists() else {}
    written = {case: Count(**about) for case, about in before.get("cases", {}).items()}
    print("\n".join(table(written, found)))
    for name, value in conditions.items():
        if before.get("conditions", {}).get(name, value) != value:
            print(f"\nCounted with {name} {value}, and before with {before['conditions'][name]}.")
    if options.trend is not None:
        options.trend.write_text(json.dumps(trend(found), indent=1) + "\n", encoding="utf-8")
    if options.update is None:
        complained = [*complaints(written, found)]
        print(*complained, sep="\n")
        return int(bool(complained))
    if unexplained := [case for case in grown(written, found) if not options.update.strip()]:
        print(f"\nNothing is written: say why {', '.join(unexplained)} grew (--update WHY).")
        return 1
    cases_after = {
        case: _without_none(count) for case, count in updated(written, found, options.update).items()
    }
    report = {"what": WHAT, "conditions": conditions, "cases": cases_after}
    WRITTEN.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0


def trend(found: Mapping[str, Count]) -> list[dict[str, object]]:
    """Each case in the form that github-action-benchmark reads, where less is better."""
    return [
        {"name": case, "unit": f"instructions a {count.unit}", "value": count.instructions}
        for case, count in found.items()
    ]


def grown(written: Mapping[str, Count], found: Mapping[str, Count]) -> list[str]:
    """The cases that need a note."""
    return [case for case in written.keys() & found.keys() if _change(written[case], found[case]) > LIMIT]


def complaints(written: Mapping[str, Count], found: Mapping[str, Count]) -> Iterator[str]:
    """A sentence for each finding that fails the comparison."""
    more = sorted(grown(written, found))
    if more:
        yield f'Grown by more than {LIMIT:.0%}: {"; ".join(more)}: mend it, or make instructions UPDATE="why".'
    if lost := sorted(written.keys() - found.keys()):
        yield f"Written, but no case any more: {'; '.join(lost)}: make instructions UPDATE= takes them out."
    if new := sorted(found.keys() - written.keys()):
        yield f"Never written: {'; '.join(new)}: make instructions UPDATE= takes them in."


def updated(written: Mapping[str, Count], found: Mapping[str, Count], note: str) -> dict[str, Count]:
    """The counts to write: new ones, except for growth within the limit, so that many small steps add up."""
    after = {}
    for case, count in found.items():
        old = written.get(case)
        change = _change(old, count) if old else 0
        if old and 0 <= change <= LIMIT:
            after[case] = old
        elif old and change > LIMIT:
            after[case] = Count(count.instructions, count.unit, note.strip())
        else:
            # An older note's growth is still there, unless the count fell as far.
            after[case] = Count(
                count.instructions, count.unit, old.note if old and change >= -LIMIT else None
            )
    return after


def table(written: Mapping[str, Count], found: Mapping[str, Count]) -> Iterator[str]:
    """Every case, with its written count and its count now."""
    yield f"{'instructions':46}{'of a':>10}{'written':>12}{'now':>12}{'change':>10}"
    for case in {**written, **found}:
        old, new = written.get(case), found.get(case)
        unit = (new or old or Count(0, "")).unit
        shown = "".join(f"{count.instructions:12.2f}" if count else f"{'-':>12}" for count in (old, new))
        change = f"{_change(old, new):+10.2%}" if old and new else f"{'-':>10}"
        mark = "  more than the limit" if old and new and _change(old, new) > LIMIT else ""
        yield f"{case:46}{unit:>10}{shown}{change}{mark}"


def _change(old: Count, new: Count) -> float:
    return round(new.instructions / old.instructions - 1, 9)


def _without_none(count: Count) -> dict[str, Any]:
    return {name: value for name, value in asdict(count).items() if value is not None}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--update", metavar="WHY", help="write the counts; WHY may be empty where none grew")
    parser.add_argument(
        "--trend", type=Path, metavar="FILE", help="write what was counted for the page of counts by commit"
    )
    parser.add_argument("--profile", metavar="CASE", help="where this case's instructions are, in Markdown")
    return parser


def _build() -> Path:
    """The program of all cases, built as `make bench` would build it."""
    if shutil.which("valgrind") is None:
        raise RefusedError("valgrind was not found on PATH: install it (Debian: apt-get install valgrind).")
    which = [
        "--locked",
        "--package",
        "partwright-core",
        "--features",
        "arrow",
        "--bench",
        "instructions",
        "--no-run",
    ]
    built = _said(
        ["cargo", "bench", *which, "--message-format=json-render-diagnostics"], cwd=ROOT, stderr=None
    )
    messages = [json.loads(line) for line in built.splitlines()]
    return Path(next(each["executable"] for each in messages if each.get("executable")))


def _count(program: Path, case: str) -> tuple[Count, Mapping[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        file, about = _callgrind(program, case, Path(folder))
        total = _total(file)
    return Count(round(total / about["count"], 3), about["unit"]), about


def _callgrind(program: Path, case: str, folder: Path) -> tuple[Path, Mapping[str, Any]]:
    """Callgrind's own file about a case, and the program's output."""
    file = folder / "callgrind.out"
    options = [f"--toggle-collect={COUNTED}", f"--callgrind-out-file={file}", "--error-exitcode=99"]
    about: dict[str, Any] = json.loads(
        _said(["valgrind", "--quiet", "--tool=callgrind", *options, program, case])
    )
    if "avx2" not in about["features"]:
        raise RefusedError(
            f"valgrind shows a processor with {', '.join(about['features']) or 'nothing'} on {platform.machine()}: "
            "the counts are of code that needs AVX2, so run it on an x86-64 machine that has it."
        )
    return file, about


def _total(file: Path) -> int:
    text = file.read_text(encoding="utf-8")
    found = re.search(r"^summary: (\d+)$", text, re.MULTILINE)
    if found is None or int(found[1]) == 0:
        raise RefusedError(f"callgrind counted nothing in {COUNTED}: is the program stripped of its symbols?")
    return int(found[1])


def _conditions(about: Mapping[str, Any]) -> dict[str, Any]:
    """The versions and the machine on which the counts depend."""
    compiler = _said(["rustc", "--version"], cwd=ROOT).split()[1]
    return {
        "rustc": compiler,
        "profile": "bench",
        "features": about["features"],
        "valgrind": _said(["valgrind", "--version"]).strip().removeprefix("valgrind-"),
        "libc": " ".join(platform.libc_ver()),
    }


def _profile(program: Path, case: str, cases: Sequence[str]) -> Iterator[str]:
    """The functions that have most of a case's instructions, with their callees and by themselves."""
    if case not in cases:
        raise RefusedError(f"there is no case {case!r}: say one of {'; '.join(cases)}.")
    with tempfile.TemporaryDirectory() as folder:
        file, _ = _callgrind(program, case, Path(folder))
        total = _total(file)
        # A call within a call of the same function: the outer one already has its instructions.
        inclusive = _by_function(file, "--inclusive=yes", lambda name: "'" not in name)
        own = _by_function(file, "--inclusive=no", lambda _: True)
    yield f"| {case} | with its callees | by itself |"
    yield "| --- | ---: | ---: |"
    for name in sorted(inclusive, key=lambda it: -inclusive[it])[:PROFILED]:
        share, alone = inclusive[name] / total, own.get(name, 0) / total
        # A function that contains everything and does nothing itself is not listed.
        if share >= SHOWN and (share < 1 - SHOWN or alone >= SHOWN):
            yield f"| `{name}` | {share:.0%} | {alone:.0%} |"


def _by_function(file: Path, flag: str, counts: Callable[[str], bool]) -> dict[str, int]:
    said = _said(["callgrind_annotate", flag, "--auto=no", "--threshold=99.9", str(file)])
    found: dict[str, int] = {}
    for row in filter(None, map(ROW.match, said.splitlines())):
        if counts(row[2]):
            name = row[2].removeprefix("partwright_core::").partition("'")[0]
            found[name] = found.get(name, 0) + int(row[1].replace(",", ""))
    return found


def _said(
    command: Sequence[str | Path], cwd: Path | None = None, stderr: int | None = subprocess.PIPE
) -> str:
    """A program's output; if it fails, an error with its last line."""
    # The programs are part of this project, and valgrind's.
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=stderr, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        last = ((done.stderr or "").strip().splitlines() or ["it says nothing more"])[-1]
        raise RefusedError(f"{Path(command[0]).name} ended with exit code {done.returncode}: {last}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())

"""A run's results in Markdown: the goals beside what was reached, one table of ratios, and the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goals import goals, short
from readings import CASES, KERNEL_ROWS, Line, Results

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["headline", "report"]


def report(
    results: Results, run: dict[str, Any], pictures: dict[str, str], everything: bool
) -> Iterator[str]:
    """The whole page.

    Args:
        results: What was measured.
        run: What run.py says of the run.
        pictures: Files beside the page, by what they show.
        everything: Every layout, and the hash without the modulo.
    """
    yield f"# Benches of {run['date']}"
    yield ""
    yield (
        "Written by `make bench`; [benches/README.md](../README.md) says how each is measured. Times are medians; what"
        " counts are the ratios, in which ours is 1."
    )
    yield ""
    yield "## Goals"
    yield ""
    yield "| goal | wanted | found | |"
    yield "| --- | --- | ---: | --- |"
    for goal in goals(results):
        yield f"| {goal.text} | {goal.wanted} | {goal.shown} | {goal.verdict} |"
    yield ""
    for text, file in pictures.items():
        yield f"![{text}]({file})"
        yield ""
    yield "## Ratios"
    yield ""
    yield (
        "| where | what is placed | rows | what | time, ours = 1 | ns a row | quartiles apart | GB of keys/s"
        " | memory, bytes a row |"
    )
    yield "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |"
    for line in _sorted(results):
        if everything or not line.is_detail:
            yield _row(results, line)
    yield ""
    yield "## The run"
    yield ""
    yield from _about(results, run)


def headline(results: Results, run: dict[str, Any], page: str, picture: str | None) -> Iterator[str]:
    """What README shows of it."""
    yield f"| measured {run['date']} | wanted | found | |"
    yield "| --- | --- | ---: | --- |"
    for goal in goals(results):
        if goal.is_headline:
            yield f"| {goal.text} | {goal.wanted} | {goal.shown} | {goal.verdict} |"
    if picture is not None:
        yield ""
        yield f"![Time of rivals, ours = 1]({picture})"
    yield ""
    yield f"{_machine(run)}. [The whole table]({page}) has every case, rival and version."


def _sorted(results: Results) -> list[Line]:
    """Keys by case and size with all rivals of a case together; the others as they were read."""
    places = ("Rust", "JVM", "Go")
    names = list(CASES)

    def order(line: Line) -> tuple[int, ...]:
        if line.where in places:
            return (0, names.index(line.case), line.rows != KERNEL_ROWS, line.rows, places.index(line.where))
        return (1,)

    first = {"ours": 0, "memory copy": 1, "scalar, same column": 2}
    lines = sorted(results.lines.values(), key=lambda line: first.get(line.what, 3))
    kernel = sorted((line for line in lines if line.where in places), key=order)
    return [*kernel, *(line for line in results.lines.values() if line.where not in places)]


def _row(results: Results, line: Line) -> str:
    ratio = results.ratio(line)
    layout = CASES[line.case]["layouts"][0] if line.case in CASES else ""
    what = f"ours, {layout}" if (line.where, line.what) == ("Rust", "ours") else line.what
    memory = results.memory.get((line.case, what)) if line.rows == KERNEL_ROWS else None
    cells = (
        line.where,
        CASES[line.case]["title"] if line.case in CASES else line.case,
        f"{line.rows:,}",
        what,
        "" if ratio is None else short(ratio),
        short(line.seconds / line.rows * 1e9),
        f"{line.spread:.0%}",
        "" if line.key_bytes is None else short(line.key_bytes / line.seconds / 1e9),
        "" if memory is None else short(memory),
    )
    return f"| {' | '.join(cells)} |"


def _about(results: Results, run: dict[str, Any]) -> Iterator[str]:
    yield f"- {_machine(run)}; load average when it began: {run['load']}."
    yield f"- Commit {run['commit']}; seed {run['seed']}, which every layer mixed into its keys' seeds."
    took = ", ".join(f"{part} {seconds:.0f} s" for part, seconds in run["took"].items())
    yield f"- It took: {took}."
    versions = "; ".join(f"{name} {value}" for name, value in {**run["versions"], **results.about}.items())
    yield f"- Versions and settings: {versions}."
    sums = ", ".join(results.sums)
    yield f"- The partitions of {sums} were compared by their sums, and those of all rivals with ours."


def _machine(run: dict[str, Any]) -> str:
    return f"{run['machine']['cores']} cores of {run['machine']['processor']}, {run['machine']['system']}"

"""A run's results in Markdown: the goals with the figures reached, one table of ratios, and the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goals import Goal, goals, short
from readings import CASES, KERNEL_ROWS, Line, Results

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["IN_PLAIN_WORDS", "headline", "report"]

IN_PLAIN_WORDS = {
    "12-byte keys: the JVM's time, ours = 1": (
        "The partitions of 1,000,000 keys of 12 bytes, on one thread",
        "Java's speed",
    ),
    "12-byte keys: our time, a memory copy's = 1": (
        "The same, next to copying these keys in memory",
        "the copy's time",
    ),
    "range, 1,000,000 partitions, 2,000 members: Java's time, ours = 1": (
        "`range` shares out 1,000,000 partitions among 2,000 members",
        "Java's speed",
    ),
    "sticky, the same, one member leaves": (
        "`sticky` shares them out again after one member left",
        "Java's speed",
    ),
    "the broker's uniform, 500,000 partitions, 10,000 members, equal": (
        "The broker's `uniform` shares out 500,000 partitions among 10,000 members",
        "Java's speed",
    ),
}
"""README's rows, by the goal's text: what is timed, and how its figure is said."""


def report(
    results: Results, run: dict[str, Any], pictures: dict[str, str], everything: bool
) -> Iterator[str]:
    """The whole page.

    Args:
        results: The measurements.
        run: Facts about the run, from run.py.
        pictures: Files next to the page, by what they show.
        everything: Whether to show every layout, and the hash without the modulo.
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


def headline(goals: Sequence[Goal], run: dict[str, Any], page: str) -> Iterator[str]:
    """The part that README shows: some goals in plain words, and how many of all were reached.

    Args:
        goals: Each goal with the figure reached.
        run: Facts about the run, from run.py.
        page: The address of the whole page.
    """
    found = {goal.text: goal.found for goal in goals}
    yield f"| measured {run['date']} | |"
    yield "| --- | --- |"
    for text, (what, of) in IN_PLAIN_WORDS.items():
        figure = found[text]
        yield f"| {what} | {'not measured' if figure is None else f'{_factor(figure)} {of}'} |"
    yield ""
    headlines = [goal for goal in goals if goal.is_headline]
    missed = [goal for goal in headlines if not goal.is_reached]
    yield (
        f"{len(headlines) - len(missed)} of the {len(headlines)} main goals were reached{_missed(missed)}."
        f" {_machine(run)}; [all cases, rivals and versions]({page})."
    )


def _missed(goals: Sequence[Goal]) -> str:
    said = (f"{goal.text} (wanted: {goal.wanted}, found: {goal.shown or 'nothing'})" for goal in goals)
    return f"; not reached: {'; '.join(said)}" if goals else ""


def _factor(number: float) -> str:
    return f"{number:,.0f}\N{MULTIPLICATION SIGN}" if number >= 10 else f"{number:.1f}\N{MULTIPLICATION SIGN}"


def _sorted(results: Results) -> list[Line]:
    """Sorts lines about keys by case and size, with all rivals of a case together; keeps the order of the others."""
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

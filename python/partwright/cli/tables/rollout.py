"""The output of `partwright rollout`: the verdict, what to set, candidates side by side, and what was assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.cli.tables.console import escape, print_summary, print_verdicts, right_table, stdout_console
from partwright.documents.sentences import of_rollout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright.group.rollouts.answer import Rollout, Spread, Tried

__all__ = ["print_rollout"]


def print_rollout(answer: Rollout) -> None:
    """Print the verdict, then its settings for each client, then all candidates, and last the assumptions."""
    console = stdout_console()
    first, *others = of_rollout(answer)
    print_summary(console, first)
    console.print()
    for client, lines in answer.settings().items():
        is_refused = isinstance(lines, str)
        for number, line in enumerate([lines] if isinstance(lines, str) else lines):
            told = f"[dim]{escape(line)}[/]" if is_refused else escape(line)
            console.print(f"  {'' if number else client:<13} {told}", soft_wrap=True)
    table = right_table(
        "protocol", "members", "unread, s", "p95", "longest, s", "still, s", "rebalances", "moved"
    )
    for column in table.columns[:2]:
        column.justify = "left"
    has_records = answer.best.behind is not None
    for name in ("behind", "read twice") if has_records else ():
        table.add_column(name, justify="right", overflow="fold")
    for place, each in enumerate(answer.tried):
        style = "bold" if place == answer.recommended else ""
        marks = [name for name, at in (("today", answer.today), ("take", answer.recommended)) if at == place]
        table.add_row(*_row(each, marks), style=style)
    console.print(table)
    console.print(f"{counted(len(answer.best.lived), 'roll')} of each.")
    console.print(
        "unread: seconds of partitions without a reader, summed up over the partitions; medians but for p95."
    )
    console.print(
        "longest: one partition's longest wait. still: how long a pod is up and reads nothing, its own start included."
    )
    print_verdicts(console, *others)


def _row(each: Tried, marks: Sequence[str]) -> list[str]:
    candidate = each.candidate
    name = f"KIP-848 {candidate.assignor}" if candidate.protocol == "consumer" else candidate.assignor
    cells = [
        f"{name} ({', '.join(marks)})" if marks else name,
        "static" if candidate.static else "dynamic",
        f"{each.unread_s.median:,.1f}",
        f"{each.unread_s.p95:,.1f}",
        f"{each.longest_unread_s.median:,.1f}",
        f"{each.still_s.median:,.1f}",
        f"{each.rebalances:,}",
        f"{each.moved:,}",
    ]
    return cells + [_records(figure) for figure in (each.behind, each.read_twice) if figure is not None]


def _records(figure: Spread) -> str:
    return f"{figure.median:,.0f}"

"""Advice on a number of partitions, as tables on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from partwright._check import counted
from partwright.cli.tables.console import print_summary, right_table, stdout_console
from partwright.documents.sentences import of_advice

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.cluster.sizing.advice import Advice
    from partwright.cluster.sizing.costs import CostEstimate

__all__ = ["print_advice"]

_WIDTH = 120
_KILO = 1024
_DIGITS = 2


def print_advice(advice: Advice, target: float) -> None:
    """Print what is needed, how many to take, and what each choice costs."""
    console = stdout_console(_WIDTH)
    first, *_ = of_advice(advice, target)
    print_summary(console, first)
    console.print()
    needs = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    needs.add_column("what for")
    needs.add_column("partitions", justify="right")
    needs.add_column("why")
    for need in advice.needs:
        needs.add_row(need.reason, _span(need.low, need.high, _count), need.why)
    console.print(needs)
    costs = right_table(
        "what it costs", *(counted(each.partitions, "partition") for each in advice.choices), ""
    )
    costs.columns[0].justify = "left"
    sources: dict[str, int] = {}
    for rows in zip(*(choice.figures for choice in advice.choices), strict=True):
        number = sources.setdefault(f"{rows[0].assumes} ({rows[0].source})", len(sources) + 1)
        costs.add_row(rows[0].name, *map(_value, rows), f"({number})")
    console.print(costs)
    for source, number in sources.items():
        console.print(f"({number}) {source}", soft_wrap=True)
    for name, title in advice.sources.items():
        console.print(f"{name}: {title}", soft_wrap=True)
    console.print()
    for note in advice.notes:
        console.print(f"[yellow]![/] {note}", soft_wrap=True)
    for choice in advice.choices:
        for warning in choice.warnings:
            console.print(
                f"[yellow]![/] {counted(choice.partitions, 'partition')}: {warning}", soft_wrap=True
            )


def _value(figure: CostEstimate) -> str:
    if figure.unit == "B":
        return _span(figure.low, figure.high, _bytes)
    if not figure.unit:
        return _span(figure.low, figure.high, _count)
    return f"{_span(figure.low, figure.high, _rough)} {figure.unit}"


def _span(low: float, high: float, written: Callable[[float], str]) -> str:
    first, last = written(low), written(high)
    return first if first == last else f"{first} to {last}"


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _rough(value: float) -> str:
    """Two digits: no cost is known more precisely."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{_DIGITS}g}")
    return f"{rounded:,.0f}" if rounded >= 10 ** (_DIGITS - 1) or rounded == int(rounded) else f"{rounded:g}"


def _bytes(value: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < _KILO:
            return f"{_rough(value)} {unit}"
        value /= _KILO
    return f"{_rough(value)} TiB"

"""Figures for `partwright batch`: when batches are open and how full, and how strategies and settings compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from partwright._check import counted
from partwright.batching import Tuning
from partwright.documents import batch_strategies, batch_times, tune
from partwright.documents.sentences import of_batches, of_scenario, summed
from partwright.rendering.colours import ACCENT, in_order, strategies
from partwright.rendering.document import Column, Document, Section, bounded
from partwright.rendering.plots import chart, quantity, tooltip
from partwright.rendering.text import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright._check import Fields
    from partwright.batching import Simulation

__all__ = ["document"]

_BARS = 30
_KAFKAS = 16_384


def document(
    found: Tuning | Simulation | Fields | Sequence[Fields],
    *,
    simulation: Simulation | None = None,
    scenario: Fields | None = None,
) -> Document:
    """The page of a simulation, of several strategies side by side, of a scenario's answer, or of a tuning.

    Args:
        found: The result of `partwright.batching.simulate`, `compare` (as a list of rows), `replay` or `tune`.
        simulation: For a comparison, the first strategy's simulation, for its batches.
        scenario: The scenario.
    """
    if isinstance(found, Tuning):
        return tune.document(found)
    if isinstance(found, dict):
        return _scenario(found, scenario or {})
    if isinstance(found, list):
        return _compared(found, simulation)
    simulation = cast("Simulation", found)
    return _compared(simulation.summary.to_pylist(), simulation)


def _compared(answer: Sequence[Fields], simulation: Simulation | None) -> Document:
    order = in_order((row["strategy"] for row in answer), strategies())
    rows = sorted(answer, key=lambda row: order.index(row["strategy"]))
    figures = [
        batch_strategies.requests(rows),
        batch_strategies.delays(rows),
        batch_strategies.shares(rows),
    ]
    if simulation is not None:
        name = answer[0]["strategy"]
        batches = simulation.batches.to_pylist()
        figures[1:1] = [batch_times.batches(batches, name)]
        figures.append(_waits(simulation, name))
    verdicts = of_batches(answer)
    title = f"Batches of {counted(answer[0]['records'], 'record')}"
    return Document(title, verdicts, tuple(figures), summed(verdicts, {"strategies": list(answer)}))


def _waits(simulation: Simulation, name: str) -> Section:
    waits = [each for each in simulation.records["waited_ms"].to_pylist() if each is not None]
    most = max(waits, default=0)
    wide = max(1, -(-(most + 1) // _BARS))
    counts: dict[int, int] = {}
    for each in waits:
        counts[each // wide] = counts.get(each // wide, 0) + 1
    rows = [{"from": at * wide, "to": (at + 1) * wide, "records": counts[at]} for at in sorted(counts)]
    sentence = "No record is sent."
    if rows:
        top = max(rows, key=lambda row: row["records"])
        sentence = (
            f"Of {counted(len(waits), 'record')} of {name}, {number(top['records'])} wait from {top['from']} to less "
            f"than {top['to']} ms until their batch is first sent, and none longer than {number(most)} ms."
        )
    return Section(
        id="waits",
        title="How long records wait to be sent",
        sentence=sentence,
        spec=chart(
            rows,
            height=220,
            name="main",
            mark={"type": "bar", "color": ACCENT, "stroke": None},
            encoding={
                "x": {**quantity("from", "milliseconds"), "scale": {"nice": False}},
                "x2": {"field": "to"},
                "y": quantity("records", "records", "whole"),
                "y2": {"datum": 0},
                "tooltip": tooltip(
                    **{"from": "from, ms|,", "to": "to less than, ms|,", "records": "records|,"}
                ),
            },
        )
        if rows
        else None,
        columns=(Column("from", "from, ms"), Column("to", "to less than, ms"), Column("records", "records")),
        **bounded(rows),
        marks=len(rows),
    )


def _scenario(answer: Fields, scenario: Fields) -> Document:
    config = scenario.get("config") or {}
    size = config.get("batch.size", _KAFKAS)
    size = (
        size
        if isinstance(size, int) and size > 0
        else int(size)
        if str(size).isdecimal() and int(size)
        else 1
    )
    name = str(scenario.get("strategy", "the strategy"))
    batches = [
        {
            "batch": each["id"],
            "partition": each["partition"],
            "opened_ms": each["opened_ms"],
            "closed_ms": each["closed_ms"],
            "acked_ms": each["acked_ms"],
            "records": each["records"],
            "bytes": each["bytes"],
            "fill": each["bytes"] / size,
            "why": each["why"],
        }
        for each in answer["batches"]
    ]
    figures = (batch_times.batches(batches, name), batch_times.requests(answer["requests"]))
    records = len(answer["placed"])
    verdicts = of_scenario(records, len(batches), answer["requests"])
    return Document("A producer's batches", verdicts, figures, answer)

"""Figures for `partwright run`: records per partition, heaviest keys, and how long each step took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.check import heaviest, partitions
from partwright.documents.sentences import of_run, summed
from partwright.rendering.colours import ACCENT
from partwright.rendering.document import Column, Document, Section, bounded
from partwright.rendering.plots import by_name, quantity, tooltip
from partwright.rendering.text import label

if TYPE_CHECKING:
    from partwright._check import Fields
    from partwright.pipeline.report import Report

__all__ = ["PER_RECORD", "document"]


def document(found: Report) -> Document:
    """The page of a run.

    Args:
        found: The run's report.
    """
    answer = found.to_dict()
    figures = (
        *partitions(answer, answer["heaviest_keys"], "records"),
        heaviest(answer["heaviest_keys"], answer["keyed"], "records"),
        _steps(answer, found),
    )
    title = f"{counted(answer['records'], 'record')} of {label(answer['source'])} to {label(answer['topic'])}"
    verdicts = of_run(found)
    return Document(title, verdicts, figures, summed(verdicts, answer))


def _steps(answer: Fields, found: Report) -> Section:
    rows = [
        {
            "step": step["name"],
            "label": label(step["name"]),
            "seconds": step["seconds"],
            "rate": found.rows_per_second(step["name"]) if step["name"] in PER_RECORD else None,
            "text": f"{step['seconds']:,.1f} s",
        }
        for step in answer["steps"]
    ]
    sentence = "No step was taken."
    if rows:
        longest = max(rows, key=lambda row: row["seconds"])
        sentence = (
            f"All steps took {answer['seconds']:,.1f} s, the longest, {longest['step']}, {longest['text']}"
        )
        written = next((row for row in rows if row["step"] == "write" and row["rate"]), None)
        if written is not None:
            sentence += (
                f"; {counted(round(written['rate']), 'record a second was', 'records a second were')} written"
            )
        sentence += "."
    return Section(
        id="steps",
        title="How long each step took",
        sentence=sentence,
        spec=by_name(
            rows,
            quantity("seconds", "seconds"),
            None,
            tooltip(step="step", seconds="seconds|,.1f", rate="records a second|,.0f"),
            {"value": ACCENT},
        )
        if rows
        else None,
        columns=(
            Column("step", "step", "text"),
            Column("seconds", "seconds"),
            Column("rate", "records a second"),
        ),
        **bounded(rows),
        marks=len(rows),
    )


# The steps that handle each record once.
PER_RECORD = {"read and place", "write", "read back and check", "let the Java producer choose", "compare"}

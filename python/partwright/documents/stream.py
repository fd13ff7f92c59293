"""What a stream wrote until it ended, and whether that was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.run import of_mark
from partwright.rendering.document import Document, Verdict, answered
from partwright.rendering.text import label

if TYPE_CHECKING:
    from partwright.pipeline.stream_run import StreamReport


def document(report: StreamReport) -> Document:
    """Whether each record is there once, in its key's partition, then how many this process wrote."""
    what = f"{counted(report.records, 'record')} of {label(report.source)}"
    where = f"topic {label(report.topic)}, {counted(report.n, 'partition')}"
    if report.lost is None:
        words = (
            f"{what} were written to {where}, and not checked: the stream's next --available-now checks them."
        )
        first = Verdict("open", words, headline=what)
    elif report.ok:
        words = f"All {what} are in {where}, each where it belongs, none lost, none twice."
        first = Verdict("holds", words)
    else:
        counts = f"{report.lost:,} lost, {report.twice:,} twice, {report.moved:,} in another partition than their key's"
        first = Verdict("fails", f"Not all {what} are in {where}, as they should be: {counts}.")
    prior = f", {report.already_there:,} were there already" if report.already_there else ""
    words = (
        f"{report.written:,} were written{prior}, in {counted(report.batches, 'batch', 'batches')} to {report.target}, "
        f"with partitions as client {report.client} chooses them"
    )
    verdicts: list[Verdict | str] = [first, words]
    if report.is_marked:
        verdicts.append(of_mark("only --real-time leaves it out"))
    title = f"Stream of {counted(report.records, 'record')} to {label(report.topic)}"
    return answered(title, verdicts, (), report.to_dict())

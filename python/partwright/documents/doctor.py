"""Which step on the way to a Kafka fails, or which Spark executor, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import all_of, counted
from partwright._text import plain
from partwright.documents.sentences import named
from partwright.rendering.document import Column, Document, Section, Verdict, answered, bounded, columns

if TYPE_CHECKING:
    from partwright.kafka.probe import Diagnosis, ProbeStep
    from partwright.spark.executors.diagnosis import ExecutorDiagnosis, ExecutorRow

_STEPS = columns(name="step|text", where="where|text", said="finding|prose")
_EXECUTORS = columns(
    executor="executor|text",
    host="host|text",
    why="what to do|prose",
    python="Python|text",
    partwright="partwright|text",
    pyarrow="pyarrow|text",
    platform="platform|text",
    lanes="lanes",
)


def of_step(step: ProbeStep) -> Verdict:
    """What a step found, or what to do.

    Examples:
        >>> from partwright.kafka.probe import ProbeStep
        >>> of_step(ProbeStep("connect", "a:9092", True, "something listens at a:9092")).text
        'connect a:9092: something listens at a:9092'
    """
    return Verdict("holds" if step.passed else "fails", plain(f"{step.name} {step.where}: {step.said}"))


def of_executor(row: ExecutorRow) -> Verdict:
    """What an executor has, or what to do about it."""
    seen = f"Python {row.python}, partwright {row.partwright}, pyarrow {row.pyarrow}, {row.platform}"
    return Verdict("holds" if row.ok else "fails", plain(f"{row.where}: {row.why or seen}"))


def document(diagnosis: Diagnosis | ExecutorDiagnosis) -> Document:
    """Whether all is well, and each step or executor; a terminal has shown these already, one by one."""
    answer = diagnosis.to_dict()
    is_kafka = diagnosis.ROWS == "steps"
    passing = "passed" if is_kafka else "ok"
    rows = [
        {
            **row,
            "result": "passed" if row[passing] else "failed",
            "label": f"{row['name']} {row['where']}" if is_kafka else row["executor"] or "one without a name",
        }
        for row in answer[diagnosis.ROWS]
    ]
    failing = [place for place, row in enumerate(rows) if not row[passing]]
    what, columns = ("step", _STEPS) if is_kafka else ("executor", _EXECUTORS)
    if failing:
        of = f"of {counted(len(rows), what)} failed"
        text = f"{counted(len(failing), of, of)}: {named([rows[place]['label'] for place in failing])}."
    else:
        passed = all_of(len(rows), f"{what} passed", f"{what}s passed")
        text = f"{passed[0].upper()}{passed[1:]}."
    verdicts = (Verdict("fails" if failing else "holds", text),)
    section = Section(
        id=diagnosis.ROWS,
        title=f"{what.capitalize()}s",
        columns=(Column("result", "result", "prose"), *columns),
        **bounded(rows),
        picked=frozenset(failing),
        is_detail=True,
    )
    title = "The way to a Kafka" if is_kafka else "Spark's executors"
    return answered(title, verdicts, (section,), answer)

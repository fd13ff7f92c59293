"""What was sent and how, in words: `run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import all_of, counted
from partwright.rendering.document import Verdict
from partwright.rendering.text import label

if TYPE_CHECKING:
    from partwright.pipeline.checks import Checks
    from partwright.pipeline.report import Report

__all__ = ["of_run"]


def _in_short(report: Report) -> Verdict:
    """Whether a run kept its promises, how many records did not arrive as they should, and what to do then."""
    what = f"{counted(report.records, 'record')} of {label(report.source)}"
    where = f"topic {label(report.topic)}, {counted(report.n, 'partition')}"
    checks = report.checks
    if not report.ok:
        wrong = 0 if checks is None else sum(getattr(checks, promise) for promise in checks.PROMISES)
        if checks is not None and not checks.ok:
            first = f" The first: {checks.examples[0]}." if checks.examples else ""
            return Verdict("fails", f"{wrong:,} of {what} are not in {where}, as they should be.{first}")
        if report.n_now not in {None, report.n}:
            now = f"has {report.n_now:,} by now" if report.n_now else "is gone by now"
            return Verdict("fails", f"{what} were written to {where}, and the topic {now}.")
        return Verdict(
            "fails", f"The Java producer puts some of {what} into other partitions than {report.client}."
        )
    if checks is None:
        return Verdict(
            "open", f"{what} were written to {where}, and not checked: leave out --no-check.", headline=what
        )
    return Verdict("holds", f"All {what} are in {where}, each where it belongs, none lost, none twice.")


def of_run(report: Report) -> tuple[Verdict, ...]:
    """Whether a run kept its promises."""
    checks, proof = report.checks, report.proof
    said: list[Verdict] = [_in_short(report)]
    if report.resumed:
        there = f"{counted(report.already_there, 'record was', 'records were')} there already"
        said.append(
            Verdict(
                "said",
                f"went on with an earlier run: {there}, {counted(report.written, 'was', 'were')} written now",
            )
        )
    if checks is None:
        said.append(Verdict("open", "not checked: --no-check was given", headline="not checked"))
    elif checks.ok:
        said.append(
            Verdict(
                "holds",
                f"checked {counted(checks.records, 'record')}: 0 lost, 0 twice, 0 in another partition than asked for, "
                "0 with other bytes, each key in source order, "
                + ("as read_committed reads them" if report.exactly_once else "offsets without a gap"),
            )
        )
    else:
        broken = {promise: getattr(checks, promise) for promise in checks.PROMISES}
        found = ", ".join(f"{count:,} {_PROMISES[promise]}" for promise, count in broken.items() if count)
        said.append(Verdict("fails", f"checked {counted(checks.records, 'record')}: {found}"))
        said += [Verdict("said", f"  {example}") for example in checks.examples]
        if checks.foreign:
            said.append(Verdict("said", f"  {_other_writer(checks)}"))
        if checks.twice and not report.exactly_once:
            said.append(
                Verdict(
                    "said",
                    "  Spark's own sink writes a task's records again when it tries the task again: --dedupe FILE "
                    "names the copies, --exactly-once makes none",
                )
            )
    if report.n_now not in {None, report.n}:
        said.append(Verdict("fails", _other_number(report)))
    if proof is not None:
        words = (
            f"proof: the Java producer, given no partition, chose the same one for {proof.equal:,} of "
            f"{proof.keyed:,} keyed records, another for {proof.different:,}"
            + (f"; {proof.lost:,} did not arrive" if proof.lost else "")
        )
        said.append(Verdict("holds" if proof.ok else "fails", words))
        said += [Verdict("said", f"  {example}") for example in proof.examples]
    return (*said, *(Verdict("said", note) for note in report.notes))


def _other_writer(checks: Checks) -> str:
    """Who wrote the records that the run did not write, as far as that is known."""
    if not checks.other_runs:
        return "another producer wrote to the topic at the same time"
    every = checks.other_runs == checks.foreign
    them = "them" if every else f"{checks.other_runs:,} of them"
    return (
        f"another run of partwright wrote {them} to the topic at the same time: the source may be there twice"
    )


def _other_number(report: Report) -> str:
    """That the topic has another number of partitions than the records were placed for."""
    if not report.n_now:
        return (
            f"the topic that {counted(report.records, 'record was', 'records were')} written to is gone: somebody "
            "deleted it during or after the write; if there is one of its name again, delete that "
            "too, and then run again"
        )
    how = "partitions were added" if report.n_now > report.n else "the topic was made anew"
    return (
        f"{all_of(report.records, 'record was', 'records were')} placed and written for "
        f"{counted(report.n, 'partition')}, and the topic has "
        f"{report.n_now} by now: {how} during or after the write, and clients put keys elsewhere from now on"
    )


_PROMISES = {
    "lost": "lost",
    "twice": "written twice",
    "foreign": "not of this run",
    "misplaced": "in another partition than asked for",
    "key_changed": "with other key bytes",
    "value_changed": "with another value",
    "out_of_order": "before an earlier one of their key",
    "offset_gaps": "partitions with a gap in their offsets",
}

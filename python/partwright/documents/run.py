"""Whether a run kept its promises: records per partition, heaviest keys, and how long each step took."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from partwright._check import Fields, all_of, counted
from partwright.documents.check import heaviest, partitions
from partwright.kafka.marks import LENGTHS, MARK
from partwright.rendering.document import Document, Section, Verdict, answered, bounded, columns
from partwright.rendering.text import bytes_, cut, label

if TYPE_CHECKING:
    from partwright.pipeline.report import Checks, Report

# The steps that handle each record once.
_PER_RECORD = {"read and place", "write", "read back and check", "let the Java producer choose", "compare"}
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
_EXAMPLE = 80


def document(report: Report) -> Document:
    """Whether each record is where it belongs, and how that was checked; then partitions, heaviest keys and steps."""
    answer = report.to_dict()
    # A strategy places records without a key too: they are among the others.
    placed = [part | ({"null_keys": None} if report.places_all else {}) for part in answer["partitions"]]
    sections = (
        partitions({**answer, "partitions": placed}, answer["heaviest_keys"], "records"),
        heaviest(answer["heaviest_keys"], answer["keyed"], "records"),
        _steps(answer, report),
    )
    verdicts = (_in_short(report), *_checked(report), *_about(report))
    title = f"Run of {counted(answer['records'], 'record')} to {label(answer['topic'])}"
    return answered(title, verdicts, sections, answer)


def _in_short(report: Report) -> Verdict:
    """Whether a run kept its promises, how many records did not arrive as they should, and what to do then."""
    what = f"{counted(report.records, 'record')} of {label(report.source)}"
    where = f"topic {label(report.topic)}, {counted(report.n, 'partition')}"
    checks = report.checks
    if checks is not None and not checks.ok:
        wrong = sum(getattr(checks, promise) for promise in checks.PROMISES)
        first = f" The first: {cut(checks.examples[0], _EXAMPLE)}." if checks.examples else ""
        return Verdict("fails", f"{wrong:,} of {what} are not in {where}, as they should be.{first}")
    if report.n_now not in {None, report.n}:
        now = f"has {report.n_now:,} by now" if report.n_now else "is gone by now"
        return Verdict("fails", f"{what} were written to {where}, and the topic {now}.")
    if not report.ok:
        words = f"The Java producer puts some of {what} into other partitions than {report.client}."
        return Verdict("fails", words)
    if checks is None:
        words = f"{what} were written to {where}, and not checked: leave out --no-check."
        return Verdict("open", words, headline=what)
    return Verdict("holds", f"All {what} are in {where}, each where it belongs, none lost, none twice.")


def _checked(report: Report) -> Iterator[Verdict | str]:
    """How much was read, what reading back and the Java producer said, and whether the topic has changed."""
    read, checks, proof = report.read, report.checks, report.proof
    if read is not None and not read["whole"]:
        headline = "a part of the topic was read"
        keys = f", the records of {counted(read['only_keys'], 'key')} alone" if "only_keys" in read else ""
        words = f"{headline}: {read['passed']:,} of {counted(read['of'], 'offset')}{keys}"
        yield Verdict("open", words, headline=headline)
    if checks is None:
        yield Verdict("open", "not checked: --no-check was given", headline="not checked")
    elif checks.ok:
        how = "as read_committed reads them" if report.exactly_once else "offsets without a gap"
        yield Verdict(
            "holds",
            f"checked {counted(checks.records, 'record')}: 0 lost, 0 twice, 0 in another partition than asked for, "
            f"0 with other bytes, each key in source order, {how}",
        )
    else:
        yield from _broken(checks, exactly_once=report.exactly_once)
    if report.n_now not in {None, report.n}:
        yield Verdict("fails", _other_number(report))
    if proof is not None:
        lost = f"; {proof.lost:,} did not arrive" if proof.lost else ""
        words = (
            f"proof: the Java producer, given no partition, chose the same one for {proof.equal:,} of "
            f"{proof.keyed:,} keyed records, another for {proof.different:,}{lost}"
        )
        yield Verdict("holds" if proof.ok else "fails", words)
        yield from proof.examples


def _broken(checks: Checks, *, exactly_once: bool) -> Iterator[Verdict | str]:
    counts = {words: getattr(checks, promise) for promise, words in _PROMISES.items()}
    broken = ", ".join(f"{count:,} {words}" for words, count in counts.items() if count)
    yield Verdict("fails", f"checked {counted(checks.records, 'record')}: {broken}")
    yield from checks.examples
    if checks.foreign and not checks.other_runs:
        yield "another producer wrote to the topic at the same time"
    elif checks.foreign:
        them = "them" if checks.other_runs == checks.foreign else f"{checks.other_runs:,} of them"
        yield f"another run of partwright wrote {them} to the topic at the same time: the source may be there twice"
    if checks.twice and not exactly_once:
        yield (
            "Spark's own sink writes a task's records again when it tries the task again: --dedupe FILE names the "
            "copies, --exactly-once makes none"
        )


def _other_number(report: Report) -> str:
    """That the topic has another number of partitions than the records were placed for."""
    if not report.n_now:
        return (
            f"the topic that {counted(report.records, 'record was', 'records were')} written to is gone: somebody "
            "deleted it during or after the write; if there is one of its name again, delete that too, and then run "
            "again"
        )
    how = "partitions were added" if report.n_now > report.n else "the topic was made anew"
    return (
        f"{all_of(report.records, 'record was', 'records were')} placed and written for "
        f"{counted(report.n, 'partition')}, and the topic has {report.n_now} by now: {how} during or after the write, "
        "and clients put keys elsewhere from now on"
    )


def _about(report: Report) -> Iterator[str]:
    """Where the records went and by whose rule, which had no key, and what else is worth knowing."""
    by = ""
    if report.strategy is not None:
        producers = counted(report.producers or 0, "producer", "producers, a task each")
        by = f" by the strategy {report.strategy}, with {producers}"
    yield (
        f"{bytes_(report.bytes)} of keys and values went to {report.target}, with partitions as client "
        f"{report.client} chooses them{by}; "
        f"{counted(report.keyed, 'record has', 'records have')} one of {counted(report.keys, 'key')}"
    )
    if report.is_marked:
        yield of_mark("--no-check leaves it out, in a run without --exactly-once and --resume")
    if report.resumed:
        earlier_records = f"{counted(report.already_there, 'record was', 'records were')} there already"
        yield f"went on with an earlier run: {earlier_records}, {counted(report.written, 'was', 'were')} written now"
    if report.null_keys:
        yield _null_keys(report)
    yield from report.notes
    if report.log:
        path, home = Path(report.log), Path.home()
        yield f"Spark's log: {f'~/{path.relative_to(home)}' if path.is_relative_to(home) else path}"


def _null_keys(report: Report) -> str:
    """Where the records are that the client does not place by their key."""
    key = "null key" if report.client == "java" else f"key that {report.client} does not go by"
    words = f"{counted(report.null_keys, 'record has', 'records have')} a {key}"
    if report.places_all:
        return words
    if report.spreads_null_keys:
        return f"{words} and were spread evenly over the partitions"
    if report.target.startswith("parquet:"):
        folder = "partition=__HIVE_DEFAULT_PARTITION__" if "://" in report.target else f"{report.topic}-null"
        return f"{words} and stand in {folder}"
    used = sum(1 for part in report.partitions if part.null_keys)
    into = (
        "" if report.checks is None else f", which put them into {used} of {counted(report.n, 'partition')}"
    )
    return f"{words} and were left to the producer{into}"


def _steps(answer: Fields, report: Report) -> Section:
    rates = {name: round(report.rows_per_second(name) or 0) or None for name in _PER_RECORD}
    rows = [step | {"rate": rates.get(step["name"])} for step in answer["steps"]]
    return Section(
        id="steps",
        title="How long each step took",
        sentence=f"All steps took {answer['seconds']:,.1f} s.",
        columns=columns(name="step|text", seconds="seconds|seconds", rate="records a second"),
        **bounded(rows),
        bar="seconds",
    )


def of_mark(way_out: str) -> str:
    """That each record has one more header than its source gave it, and how to leave that out.

    Examples:
        >>> of_mark("--no-check leaves it out")
        'each record has one more header, partwright, 11 to 22 characters, to know it again: --no-check leaves it out'
    """
    low, high = LENGTHS
    return f"each record has one more header, {MARK}, {low} to {high} characters, to know it again: {way_out}"

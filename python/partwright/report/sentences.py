"""Answers in words, the same in the terminal and on the page: what holds, what does not, and why."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from partwright.keys.key_text import short
from partwright.report.figure import Verdict
from partwright.report.text import bytes_, counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partwright._check import Json
    from partwright.assignors.compare import Compared
    from partwright.audit import Change, Fingerprint, Resize
    from partwright.audit.check import Check
    from partwright.audit.copartition import Meeting
    from partwright.group import Timeline
    from partwright.pipeline.checks import Checks
    from partwright.pipeline.report import Report

__all__ = [
    "contract",
    "of_check",
    "of_comparison",
    "of_fingerprint",
    "of_meeting",
    "of_reading",
    "of_resize",
    "of_run",
    "of_timeline",
    "places",
    "seconds",
    "skew",
]

# Below this, an uneven spread of keys is not put down to chance.
_UNLIKELY = 0.01
# So many of a list are named; of the others it says how many there are.
_NAMED = 6


def of_check(found: Check, *, is_checked: bool) -> tuple[Verdict, ...]:
    """What a check found: the places first, then the contract, then how even it is."""
    return (places(found, is_checked=is_checked), *contract(found), *skew(found), *_noted(found.note))


def of_reading(told: Json) -> Verdict:
    """What was read of a topic, and of how much: an answer is one of that."""
    records, of, bounds = told["records"], told["of"], told["bounds"]
    holes = told["passed"] - told["deleted"] - records
    counts = (
        (holes, "without a record, as compaction and transactions leave them"),
        (told["deleted"], "deleted before they could be read"),
        (told["came"], "that came meanwhile, not read"),
    )
    said = [f"{counted(records, 'record')} read, of {counted(of, 'offset')}"]
    said += [f"{counted(count, 'offset')} {what}" for count, what in counts if count]
    if told["tombstones"]:
        said.append(f"{counted(told['tombstones'], 'record')} without a value (tombstones)")
    if told.get("interrupted"):
        said.append("Ctrl-C ended the reading")
    if told["whole"]:
        return Verdict("said", "; ".join(said))
    limits = [f"{name} {_time(bounds[name])}" for name in ("since", "until") if name in bounds]
    if "last" in bounds:
        limits.append(f"the newest {bounds['last']:,} of each partition")
    if "partitions" in bounds:
        pairs = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in bounds["partitions"])
        limits.append(f"partitions {pairs}")
    part = f" ({'; '.join(limits)})" if limits else ""
    headline = "the answer is of a part of the topic"
    return Verdict("open", f"{headline}{part}: {'; '.join(said)}", headline=headline)


def places(found: Check, *, is_checked: bool) -> Verdict:
    """Whether records are where their client puts them."""
    undetermined = f"; undetermined: {found.undetermined:,}" if found.undetermined else ""
    if not is_checked:
        if found.has_contract:
            return Verdict("said", f"places are not checked, for no --partition was given{undetermined}")
        return Verdict("open", f"not checked: no --partition was given{undetermined}", headline="not checked")
    if not found.rows:
        return Verdict("open", "nothing was checked: there are no rows", headline="nothing was checked")
    if not found.misplaced:
        return Verdict(
            "holds", f"checked {found.rows:,} rows: all are where {found.client} puts them{undetermined}"
        )
    return Verdict(
        "fails",
        f"checked {found.rows:,} rows: {found.misplaced:,} misplaced, by client {found.client}{undetermined}",
    )


def contract(found: Check) -> Iterable[Verdict]:
    """Whether the shares keep their contract, if there is one."""
    if found.has_contract and not found.broken:
        return (Verdict("holds", "the shares keep the contract"),)
    return tuple(Verdict("fails", sentence) for sentence in found.broken)


def skew(found: Check) -> Iterable[Verdict]:
    """How uneven it is, and whether chance or heavy keys make it so."""
    of = found.skew
    words = f"the largest partition has {of.largest_over_mean:.2f} times an even one's rows"
    if of.expected_used is not None and found.rows > found.null_keys:
        words += f"; so many keys use {of.expected_used:,.1f} partitions by chance"
    said = [Verdict("said", words)]
    if of.p_value is not None:
        spread = (
            "as evenly as chance has it" if of.p_value >= _UNLIKELY else "more unevenly than chance has it"
        )
        said.append(
            Verdict(
                "said",
                f"the keys, each counted once, are spread {spread}: chi-square {of.chi_square:,.1f} with "
                f"{found.among - 1:,} degrees of freedom, p = {of.p_value:.2g}",
            )
        )
    return said


def _noted(*notes: str | None) -> Iterable[Verdict]:
    return tuple(Verdict("said", short(note)) for note in notes if note)


_TRANSFORMS = {
    "confluent:strip-id": "without the five bytes that a schema registry's serializer puts before them",
    "json-unquote": "without their JSON quotes",
}


def of_fingerprint(found: Fingerprint) -> tuple[Verdict, ...]:
    """Which client wrote a topic."""
    said = []
    if found.key_transform is not None:
        said.append(f"Keys are taken {_TRANSFORMS[found.key_transform]} ({found.key_transform}).")
    if len(found.family) > 1 and found.verdict != "undecided":
        said.append(f"No key of these tells them apart: {', '.join(found.family)}.")
    if found.deciding_keys:
        said.append(f"The nearest other rule puts {found.deciding_keys:,} of the keys elsewhere.")
    if found.change is not None:
        said.append(_when(found.change))
    return (
        Verdict("said", f"{found.verdict}: {_writers(found)}", headline=found.verdict),
        *(Verdict("said", each) for each in said),
    )


def _writers(found: Fingerprint) -> str:
    of_n = "" if found.n is None else f", for {found.n} partitions"
    shares = ", ".join(
        f"{name} {share:.1%}" for name, share in sorted(found.shares.items(), key=lambda one: -one[1])
    )
    rest = f"; no rule explains {found.unexplained:.1%}" if found.unexplained >= _LEAST else ""
    if found.verdict == "undecided":
        return f"too few keys tell the clients apart; {len(found.family)} are left: {', '.join(found.family)}{of_n}"
    steps = " to ".join(str(step) for step in (found.change.steps if found.change else ()))
    return {
        "one-writer": f"{found.family[0] if found.family else ''} explains where the records are{of_n}{rest}",
        "mixture": f"{shares}{rest}{of_n}",
        "n-change": f"from {steps} partitions ({shares}){rest}",
        "writer-change": f"from {steps}{of_n} ({shares}){rest}",
        "round-robin": f"keys are there and not gone by: partitions are taken in turn{of_n}",
        "no-rule": "keys are there, and no client puts them where they are: a partitioner of one's own, or partitions "
        "given or drawn",
        "no-keys": "no record has a key, so each producer chose as it liked"
        if found.rows
        else "there are no records",
    }[found.verdict]


# Less than this is not shown.
_LEAST = 0.0005


def _when(change: Change) -> str:
    words = "no timestamps or offsets tell when"
    if change.last_timestamp_before is not None and change.first_timestamp_after is not None:
        words = (
            f"the last record as before: {_time(change.last_timestamp_before)}, the first as after: "
            f"{_time(change.first_timestamp_after)}"
        )
    if change.first_offset_after:
        offsets = ", ".join(
            f"{partition}:{offset}" for partition, offset in change.first_offset_after.items()
        )
        words += f"\nFirst offsets as after, by partition: {offsets}"
    return f"When: {words}"


def _time(milliseconds: int) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return f"{milliseconds} ms"


def of_resize(plan: Resize) -> tuple[Verdict, ...]:
    """What moves, how even it is before and after, and what that means."""
    about = "about " if plan.is_estimated else ""
    size = ""
    if plan.bytes is not None and plan.bytes_moved is not None:
        size = f", {bytes_(plan.bytes_moved)} of {bytes_(plan.bytes)},"
    before, after = plan.largest_share
    moved = (
        f"{about}{plan.keys_moved:,} of {plan.keys:,} keys ({plan.keys_moved / (plan.keys or 1):.1%}) and "
        f"{plan.rows_moved:,} of {plan.rows:,} rows ({plan.rows_moved / (plan.rows or 1):.1%})"
    )
    even = (
        f"the largest partition has {before:.1%} of the rows, an even one {1 / plan.from_:.1%}; "
        f"afterwards {after:.1%}, an even one {1 / plan.to:.1%}"
    )
    # Of some partitions nothing tells how full the others are.
    said = [even] if plan.among == plan.from_ else []
    if plan.keys_moved:
        said.append(
            f"of a compacted topic, {about}{plan.keys_moved:,} old records would never be replaced, nor deleted by a "
            "tombstone"
        )
    if plan.misplaced:
        said.append(
            f"{plan.misplaced:,} rows are not where {plan.client} puts them now: partwright fingerprint says who wrote "
            "them"
        )
    return (
        Verdict("said", f"{moved}{size} go elsewhere", headline=moved),
        *(Verdict("said", each) for each in said),
    )


def of_comparison(found: Iterable[Compared]) -> tuple[Verdict, ...]:
    """Why an assignor has no assignment, of those that have none."""
    return tuple(Verdict("fails", each.error) for each in found if each.error is not None)


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def of_timeline(timeline: Timeline) -> tuple[Verdict, ...]:
    """What a group's life cost, and what went wrong in it."""
    cost = timeline.cost
    records = ""
    if cost.not_read or cost.read_twice:
        missed, again = round(cost.not_read), round(cost.read_twice)
        read_twice = f"{again:,} {_were(again)} read twice"
        records = f" {counted(missed, 'record')} {_were(missed)} not read meanwhile, and {read_twice}."
    said = [
        Verdict(
            "said",
            f"{counted(cost.generations, 'generation')} in {seconds(timeline.ended_ms)}: "
            f"{counted(cost.moved, 'partition')} moved, and "
            f"{cost.unowned_s:,.1f} s of partitions without a reader, {cost.longest_s:,.1f} s at the longest.{records}",
        )
    ]
    said += [
        Verdict("fails", f"{each['member']} ended at {seconds(each['at_ms'])} with {each['error']}")
        for each in timeline.failures()
    ]
    for commit in timeline.commits():
        answered = "was taken" if commit["error"] == "NONE" else f"was refused as {commit['error']}"
        said.append(Verdict("said", f"{commit['member']}'s commit at {seconds(commit['at_ms'])} {answered}"))
    unread = timeline.unread_at_the_end()
    if unread:
        more = f" and {len(unread) - _NAMED:,} more" if len(unread) > _NAMED else ""
        said.append(Verdict("open", f"Nobody reads {', '.join(unread[:_NAMED])}{more} at the end."))
    if not timeline.settled:
        said.append(Verdict("open", "The group had not come to rest when the play ended."))
    return tuple(said)


def of_meeting(found: Meeting) -> tuple[Verdict, ...]:
    """Whether two tables meet, and each reason why not."""
    sampled = ", of those that were looked at" if found.is_sampled else ""
    if found.ok:
        words = (
            f"They meet: all {found.keys_shared:,} keys that are in both are in the same partition of both"
        )
    else:
        words = f"They do not meet: {_shares_apart(found)}"
    headline = "They meet" if found.ok else "They do not meet"
    reasons = (
        Verdict("said", f"{reason.kind}: {reason.sentence}", headline=reason.kind) for reason in found.reasons
    )
    return (Verdict("holds" if found.ok else "fails", words + sampled, headline=headline), *reasons)


def _shares_apart(found: Meeting) -> str:
    apart = found.keys_shared - found.keys_meeting
    if not apart:
        return f"{found.keys_shared:,} of {found.a.keys:,} keys of A and {found.b.keys:,} of B are in both"
    rows = found.a.rows_not_meeting + found.b.rows_not_meeting
    of = found.a.rows_shared + found.b.rows_shared
    return (
        f"{apart:,} of {found.keys_shared:,} keys that are in both ({found.share_of_keys:.1%}), with {rows:,} of "
        f"their {of:,} records ({found.share_of_rows:.1%})"
    )


def of_run(report: Report) -> tuple[Verdict, ...]:
    """Whether a run kept its promises."""
    checks, proof = report.checks, report.proof
    said: list[Verdict] = []
    if report.resumed:
        there = f"{report.already_there:,} records were there already"
        said.append(
            Verdict("said", f"went on with an earlier run: {there}, {report.written:,} were written now")
        )
    if checks is None:
        said.append(Verdict("open", "not checked: --no-check was given", headline="not checked"))
    elif checks.ok:
        said.append(
            Verdict(
                "holds",
                f"checked {checks.records:,} records: 0 lost, 0 twice, 0 in another partition than asked for, "
                "0 with other bytes, each key in source order, "
                + ("as read_committed reads them" if report.exactly_once else "offsets without a gap"),
            )
        )
    else:
        broken = {promise: getattr(checks, promise) for promise in checks.PROMISES}
        found = ", ".join(f"{count:,} {_PROMISES[promise]}" for promise, count in broken.items() if count)
        said.append(Verdict("fails", f"checked {checks.records:,} records: {found}"))
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
    """Who wrote the records that the run did not write, as far as they say."""
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
        return f"the topic is gone: somebody deleted it after all {report.records:,} records were written"
    how = "partitions were added" if report.n_now > report.n else "the topic was made anew"
    return (
        f"all {report.records:,} records were placed and written for {report.n} partitions, and the topic has "
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


def seconds(ms: int) -> str:
    """A time of a play."""
    return f"{ms / 1000:,.1f} s"

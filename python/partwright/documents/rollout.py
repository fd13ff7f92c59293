"""Whether to change a deployment's consumers before its next roll, to what, and what each candidate costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.group_timeline import timeline_section
from partwright.rendering.document import Document, Section, Verdict, answered, bounded, columns

if TYPE_CHECKING:
    from partwright.group import Rollout


def document(rollout: Rollout) -> Document:
    """Candidates side by side, what to set, and who reads what in a roll with the recommended one."""
    title = f"A roll of {counted(rollout.workload.replicas, 'pod')} of a {rollout.workload.kind}"
    sections = (_candidates(rollout), _settings(rollout), _roll(rollout))
    return answered(title, _verdicts(rollout), sections, rollout.to_dict())


def _verdicts(rollout: Rollout) -> Iterator[Verdict | str]:
    best, now = rollout.best, rollout.present
    yield rollout.summary
    failures = [(each.candidate.label, error) for each in rollout.tried for error in each.failures]
    yield from (Verdict("fails", f"{name}: a member ended with {error}") for name, error in failures)
    fewest = min(len(each.lived) for each in rollout.tried)
    if fewest < rollout.plays:
        words = f"There was time for {fewest:,} of {counted(rollout.plays, 'roll')} of each candidate"
        yield Verdict("open", f"{words}: allow more by --time-limit.", words)
    if rollout.assumed:
        yield f"Assumed: {'; '.join(rollout.assumed)}."
    yield from (f"{each[:1].upper()}{each[1:]}." for each in rollout.of_group)
    readiness = rollout.readiness()
    if readiness is not None:
        is_open = rollout.blocks_roll or rollout.may_block_roll
        headline = readiness[: readiness.index(".") + 1] if is_open else ""
        yield Verdict("open" if is_open else "said", readiness, headline)
    if best.workload.kind != rollout.workload.kind:
        yield "It needs a StatefulSet, whose pods keep their names."
    if best.idle:
        pods = counted(best.idle, "pod is", "pods are")
        yield f"{pods} idle with it: partitions are too few, or go to others."
    if now is not None and now.idle > best.idle:
        idle = counted(now.idle, "pod")
        yield f"Today's {now.candidate.assignor} leaves {idle} idle."
    calm = rollout.steadiest
    if calm.moved < best.moved:
        as_set = ", as a StatefulSet" if calm.workload.kind != rollout.workload.kind else ""
        yield (
            f"If state or caches make moves expensive, take {calm.candidate.label}: "
            f"{counted(calm.moved, 'partition moves', 'partitions move')} in place of {best.moved:,}, for "
            f"{calm.unread_s.median:,.1f} s without a reader{as_set}."
        )
    if rollout.left_out:
        yield f"Not played: {'; '.join(rollout.left_out)}."


def _candidates(rollout: Rollout) -> Section:
    rows = []
    for place, each in enumerate(rollout.tried):
        name, _, members = each.candidate.label.removesuffix(" members").rpartition(", ")
        marks = [
            word for word, at in (("today", rollout.today), ("take", rollout.recommended)) if at == place
        ]
        mark = f" ({'keep' if len(marks) > 1 else marks[0]})" if marks else ""
        row = {
            "candidate": f"{name}{mark}",
            "members": members,
            "unread": each.unread_s.median,
            "p95": each.unread_s.p95,
            "longest": each.longest_unread_s.median,
            "still": each.still_s.median,
            "rebalances": each.rebalances,
            "moved": each.moved,
            "idle": each.idle,
        }
        if each.behind is not None and each.read_twice is not None:
            row |= {"behind": round(each.behind.median), "read_twice": round(each.read_twice.median)}
        rows.append(row)
    rolls = counted(len(rollout.best.lived), "roll")
    return Section(
        id="candidates",
        title="Candidates side by side",
        sentence=(
            f"Seconds, as medians of {rolls} of each: unread adds up the times of partitions without a reader (p95: at "
            "most that in 95 of 100 rolls), longest is one partition's longest, and still is how long a pod is up and "
            "reads nothing."
        ),
        columns=columns(
            candidate="candidate|text",
            members="members|text",
            unread="unread|seconds",
            p95="p95|seconds",
            moved="moved",
            longest="longest|seconds",
            still="still|seconds",
            rebalances="rebalances",
            idle="idle pods" if any(row["idle"] for row in rows) else None,
            behind="behind" if "behind" in rows[0] else None,
            read_twice="read twice" if "behind" in rows[0] else None,
        ),
        **bounded(rows),
        bar="unread",
        picked=frozenset(at for at in (rollout.recommended, rollout.today) if at is not None),
    )


def _settings(rollout: Rollout) -> Section:
    lines = {
        client: [lines] if isinstance(lines, str) else lines for client, lines in rollout.settings().items()
    }
    wide = max(map(len, lines))
    return Section(
        id="settings",
        title=f"Settings for {rollout.best.candidate.label}",
        steps=tuple(rollout.steps()),
        code=tuple(
            f"{'' if number else client:<{wide}}  {line}"
            for client, each in lines.items()
            for number, line in enumerate(each)
        ),
    )


def _roll(rollout: Rollout) -> Section | None:
    """Members by time in the median roll with the recommended candidate; nothing if that is too large."""
    timeline = rollout.median_roll
    if timeline is None:
        return None
    section = timeline_section(timeline, list(timeline.generations()))
    title = f"A roll with {rollout.best.candidate.label}"
    words = "The first minute is the start-up, which is not counted."
    return replace(section, title=title, sentence=words, is_detail=True)

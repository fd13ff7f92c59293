"""What a group costs over time, in words: `group` and `rollout`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.documents.sentences.figures import named, of_assumed, seconds
from partwright.documents.sentences.led import of_leaders
from partwright.errors import PartwrightError
from partwright.rendering.document import Verdict
from partwright.rendering.text import label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from partwright._check import Fields
    from partwright.group import Rollout, Timeline

__all__ = ["of_lives", "of_rollout", "of_timeline"]

_FEW = 3
# A member's idle time is mentioned from this many milliseconds on.
_LEAST_STILL = 50


def _idle(names: Sequence[str]) -> str:
    verb = "is" if len(names) == 1 else "are"
    return f"{counted(len(names), 'member')} {verb} idle ({named(names, _FEW)})"


def of_timeline(timeline: Timeline) -> tuple[Verdict, ...]:
    """What a group costs over time, who was idle and who stood still, and what went wrong."""
    cost = timeline.cost
    failures, unread = timeline.failures(), timeline.unread_at_the_end()
    words = (
        f"In {seconds(timeline.ended_ms)} the group went through {counted(cost.generations, 'generation')}"
    )
    words += f", and {counted(cost.moved, 'partition')} moved"
    if cost.unowned_s:
        longest = max(timeline.partitions().to_pylist(), key=lambda row: row["longest_ms"])
        where = label(f"{longest['topic']}-{longest['partition']}")
        words += (
            f". Partitions had no reader for {cost.unowned_s:,.1f} s, added up over all of them; {where} waited "
            f"longest, {cost.longest_s:,.1f} s"
        )
    else:
        words += ". Each partition had a reader all the time"
    said = [f"{words}.{_records(cost.not_read, cost.read_twice)}{_at_rest(timeline)}"]
    state = "fails" if failures else "open" if unread or not timeline.settled else "said"
    found = [Verdict(state, said[0])]
    found += [
        Verdict("fails", f"{each['member']} ended at {seconds(each['at_ms'])}{_reason(each['error'])}")
        for each in failures
    ]
    found += of_leaders(timeline)
    found += _without_leader(timeline)
    for commit in timeline.commits():
        answered = "was taken" if commit["error"] == "NONE" else f"was refused as {commit['error']}"
        found.append(Verdict("said", f"{commit['member']}'s commit at {seconds(commit['at_ms'])} {answered}"))
    if unread:
        found.append(Verdict("open", f"Nobody reads {named(unread)} at the end."))
    if not timeline.settled:
        found.append(Verdict("open", "The group had not come to rest when the play ended."))
    return tuple(found)


def _without_leader(timeline: Timeline) -> list[Verdict]:
    """Which partitions had no leader when a broker went, a sentence for each time."""
    spans: dict[tuple[int, int], list[str]] = {}
    for each in timeline.without_leader():
        spans.setdefault((each["from_ms"], each["to_ms"]), []).append(each["partition"])
    return [
        Verdict("said", f"From {seconds(from_ms)} to {seconds(to_ms)} {named(those)} had no leader.")
        for (from_ms, to_ms), those in spans.items()
    ]


def _reason(error: str) -> str:
    """Kafka's name of an error, or a sentence of a leader's client."""
    return f" with {error}" if error.isupper() else f": {error}"


def _records(not_read: float, read_twice: float) -> str:
    if not (not_read or read_twice):
        return ""
    missed, again = round(not_read), round(read_twice)
    return (
        f" {counted(missed, 'record was', 'records were')} not read meanwhile, and {counted(again, 'was', 'were')} "
        f"read "
        "twice."
    )


def _at_rest(timeline: Timeline) -> str:
    """Who reads nothing at the end, and who stood still longest before."""
    last: dict[str, list[tuple[str, int]]] = {}
    belonged: dict[str, list[tuple[int, int]]] = {}
    since = None
    for each in timeline.generations():
        _belong(belonged, last, since, each["at_ms"])
        last, since = each["assignment"], each["at_ms"]
    _belong(belonged, last, since, timeline.ended_ms)
    idle = [member for member, pairs in last.items() if not pairs]
    said = f" At the end {_idle(idle)}." if idle else ""
    still = _still(timeline, belonged)
    if still:
        most = max(still, key=lambda member: still[member])
        if still[most] >= _LEAST_STILL:
            said += f" {label(most)} stood still longest, {seconds(still[most])}."
    return said


def _belong(
    belonged: dict[str, list[tuple[int, int]]], members: Iterable[str], since: int | None, until: int
) -> None:
    """Add the time in which these were members of a generation."""
    for member in members if since is not None else ():
        times = belonged.setdefault(member, [])
        if times and times[-1][1] == since:
            times[-1] = (times[-1][0], until)
        else:
            times.append((since or 0, until))


def _still(timeline: Timeline, belonged: Mapping[str, Sequence[tuple[int, int]]]) -> dict[str, int]:
    """By member, how many milliseconds it was a member and read nothing, after it first read something."""
    try:
        readers = timeline.readers()
    except PartwrightError:
        # The play kept no spans, so this is unknown.
        return {}
    found = {}
    for name, changes in readers.changes(list(belonged)).items():
        count, since = 0, None
        gaps = []
        for at, by in sorted(changes):
            if not count and since is not None and at > since:
                gaps.append((since, at))
            count += by
            since = at
        found[name] = _overlap(gaps, belonged[name])
    return found


def _overlap(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> int:
    """How long two sorted lists of time spans overlap.

    Examples:
        >>> _overlap([(0, 5), (8, 9)], [(3, 20)])
        3
    """
    total = at = 0
    for low, high in a:
        while at < len(b) and b[at][1] <= low:
            at += 1
        for start, end in b[at:]:
            if start >= high:
                break
            total += min(high, end) - max(low, start)
    return total


def of_lives(rows: Sequence[Fields]) -> tuple[Verdict, ...]:
    """Which protocol leaves partitions unread least in the same life, and what went wrong.

    Args:
        rows: The result of `partwright.group.costs`.
    """

    def name(row: Fields) -> str:
        return f"{row['protocol']} with {'static' if row['static'] else 'dynamic'} members"

    def rank(row: Fields) -> tuple[bool, float, int]:
        return bool(row["failures"]), row["unowned_s"], row["moved"]

    best, worst = min(rows, key=rank), max(rows, key=rank)
    equal = [name(row) for row in rows if rank(row) == rank(best)]
    words = f"Take {named(equal)}".replace(" and ", " or ")
    words += (
        f": partitions have no reader for {best['unowned_s']:,.1f} s, added up over all of them, and "
        f"{counted(best['moved'], 'partition moves', 'partitions move')}"
    )
    if rank(worst) != rank(best):
        words += f"; {name(worst)} costs most, {worst['unowned_s']:,.1f} s"
    said = [Verdict("said", f"{words}.")]
    said += [
        Verdict(
            "fails", f"{name(row)}: {each['member']} ended at {seconds(each['at_ms'])} with {each['error']}"
        )
        for row in rows
        for each in row["failures"]
    ]
    return tuple(said)


def of_rollout(answer: Rollout) -> tuple[Verdict, ...]:
    """Which candidate to take and why, how to change to it, what went wrong, and what was assumed."""
    said = [Verdict("said", answer.summary), *(Verdict("said", each) for each in answer.steps())]
    readiness = answer.readiness()
    if readiness is not None:
        is_open = answer.blocks_roll or answer.may_block_roll
        headline = readiness[: readiness.index(".") + 1] if is_open else ""
        said.append(Verdict("open" if is_open else "said", readiness, headline=headline))
    said += [
        Verdict("fails", f"{each.candidate.label}: a member ended with {error}")
        for each in answer.tried
        for error in each.failures
    ]
    fewest = min(len(each.lived) for each in answer.tried)
    if fewest < answer.plays:
        told = (
            f"There was time for {fewest:,} of {counted(answer.plays, 'roll')} of each candidate: allow more by "
            "--time-limit."
        )
        said.append(Verdict("open", told, headline=told))
    if answer.left_out:
        said.append(Verdict("said", f"Not played: {'; '.join(answer.left_out)}."))
    if answer.assumed:
        said.append(Verdict("said", f"Assumed: {'; '.join(answer.assumed)}."))
    return (*said, *of_assumed(answer.of_group))

"""Who reads what, and what a group costs over time, in words: `assign`, `group` and `rollout`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from partwright._check import all_of, counted, span
from partwright.documents.sentences.figures import named, seconds
from partwright.documents.sentences.led import of_leaders
from partwright.errors import PartwrightError
from partwright.rendering.document import Verdict
from partwright.rendering.text import label, share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from partwright._check import Fields
    from partwright.assignors.assignment import Assignment
    from partwright.assignors.compare import Compared
    from partwright.group import Timeline

__all__ = ["of_assignment", "of_comparison", "of_lives", "of_timeline"]

_NAMED = 6
_FEW = 3
# A member's idle time is mentioned from this many milliseconds on.
_LEAST_STILL = 50


def of_assignment(found: Assignment, assignor: str | None = None) -> tuple[Verdict, ...]:
    """Who is idle, who has the most, and what to try."""
    assignment = found.to_dict()
    spread = found.spread()
    partitions = sum(map(len, assignment.values()))
    by = "" if assignor is None else f" by {assignor}"
    members = counted(len(assignment), "member reads", "members read")
    words = f"{members} {counted(partitions, 'partition')}{by}"
    if not assignment:
        return (
            Verdict(
                "open",
                "The group has no members, so nobody reads anything.",
                headline="The group has no members",
            ),
        )
    even = spread.min == spread.max
    words += f", {span(spread.min, spread.max)} each"
    unread = found.subscribed_partitions() - partitions
    if unread > 0:
        # A cooperative assignor withholds what another member must give up first.
        what = f"{counted(unread, 'partition has', 'partitions have')} no reader until the next rebalance"
        return (Verdict("said", f"{words}; {what}.", headline=words),)
    idle = [member for member, pairs in assignment.items() if not pairs]
    if not idle or even:
        return (Verdict("said", f"{words}{_evenness(found)}."),)
    what = (
        "there are more members than partitions"
        if len(assignment) > partitions
        else "--compare shows what other assignors give"
    )
    return (Verdict("open", f"{words}; {_idle(idle)}: {what}.", headline=words),)


def _evenness(found: Assignment) -> str:
    """How even an assignment without idle members is, and what to try, after its figures."""
    spread, of_topics = found.spread(), found.per_topic_spread()
    if spread.max - spread.min > 1:
        assignment = found.to_dict()
        busiest = max(assignment, key=lambda member: len(assignment[member]))
        return f"; {label(busiest)} reads the most. --compare shows what other assignors give"
    gaps = {topic: each.max - each.min for topic, each in of_topics.items()}
    topic = max(gaps, key=gaps.__getitem__, default="")
    if gaps.get(topic, 0) > 1:
        # Equally many partitions are not equal work if topics differ.
        return f", but {gaps[topic]:,} apart in {label(topic)}: --compare shows what other assignors give"
    return "" if spread.min == spread.max else ", as even as can be"


def _idle(names: Sequence[str]) -> str:
    verb = "is" if len(names) == 1 else "are"
    return f"{counted(len(names), 'member')} {verb} idle ({named(names, _FEW)})"


def of_comparison(found: Iterable[Compared]) -> tuple[Verdict, ...]:
    """Which assignor to take, with its ties and by what it is judged, and why an assignor has no assignment."""
    found = list(found)
    errors = tuple(Verdict("fails", each.error) for each in found if each.error is not None)
    able = [each for each in found if each.error is None]
    if not able:
        return (Verdict("fails", "No assignor can assign this group."), *errors)
    best = min(map(_rank, able))
    equal = [each for each in able if _rank(each) == best]
    first = equal[0]
    words = f"Take {label(first.assignor)}"
    if len(equal) == len(able) and len(able) > 1:
        words = f"Take any: {all_of(len(able), 'assignor is', 'assignors are')} equal"
    elif len(equal) > 1:
        words = f"Take {named([each.assignor for each in equal])}, which are equal".replace(" and ", " or ")
    judged = [each for each in _JUDGED if each.place < _ALWAYS or any(map(each.figure, able))]
    told = [each.words(first) for each in judged if each.place <= _ALWAYS or each.figure(first)]
    words += f": {', '.join(told)}"
    worst = max(able, key=_rank)
    if _rank(worst) != best:
        last = [each.assignor for each in able if _rank(each) == _rank(worst)]
        lost = next(each for each in judged if each.figure(worst) != each.figure(first))
        words += f"; {lost.worst} {'is' if len(last) == 1 else 'are'} {named(last)}, {lost.words(worst)}"
        # A cooperative assignor withholds what another member must give up first.
        words += " until the next rebalance" if worst.unread and not lost.place else ""
    words += f". Judged by {', then by '.join(each.name for each in judged)}."
    for each in judged[1:]:
        least = min(map(each.figure, able))
        if each.figure(first) > least:
            better = [one for one in able if each.figure(one) == least]
            words += f" {each.best}: {named([one.assignor for one in better])}, {each.words(better[0])}."
    return (Verdict("said", words), *errors)


class _Criterion(NamedTuple):
    """A figure by which assignors are compared; less is better."""

    place: int
    name: str
    figure: Callable[[Compared], float]
    words: Callable[[Compared], str]
    best: str
    worst: str


def _rank(each: Compared) -> tuple[float, ...]:
    return tuple(criterion.figure(each) for criterion in _JUDGED)


_JUDGED = (
    _Criterion(
        0,
        "partitions a member",
        lambda each: each.spread.max - each.spread.min,
        lambda each: f"{span(each.spread.min, each.spread.max, 'partition')} a member",
        "",
        "least even",
    ),
    _Criterion(
        1,
        "the spread within a topic",
        lambda each: each.topic_spread,
        lambda each: f"{each.topic_spread:,} apart in one topic",
        "Most even within a topic",
        "least even within a topic",
    ),
    _Criterion(
        2,
        "moves",
        lambda each: each.moved,
        lambda each: counted(each.moved, "partition moves", "partitions move"),
        "Fewest moves",
        "worst",
    ),
    _Criterion(
        3,
        "partitions without a reader",
        lambda each: each.unread,
        lambda each: f"{each.unread:,} unread until the next rebalance",
        "Fewest unread",
        "worst",
    ),
    _Criterion(
        4,
        "racks",
        lambda each: -(each.in_rack_share or 0.0),
        lambda each: f"{share(each.in_rack_share or 0.0)} read in their rack",
        "Most in their rack",
        "worst",
    ),
)
# The first criteria are named for every group, the others if they matter.
_ALWAYS = 2


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

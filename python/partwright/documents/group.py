"""A consumer group over time: what it cost, who read what and when, and when nobody did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from partwright._check import Fields, Json, counted
from partwright.documents.assign import unseen
from partwright.documents.group_timeline import SPAN, timeline_section
from partwright.documents.sentences import named, seconds
from partwright.errors import PartwrightError
from partwright.group import Lives
from partwright.rendering.colours import EMPHASIS, PROTOCOLS, in_order
from partwright.rendering.document import Document, Section, Verdict, answered, bounded, columns, places
from partwright.rendering.plots import chart, quantity, tooltip
from partwright.rendering.text import label, shown

if TYPE_CHECKING:
    from partwright.group import Cost, Timeline

# Of more partitions than this, the ones that were longest without a reader come first.
_BY_PLACE = 48
# A member's idle time is mentioned from this many milliseconds on.
_LEAST_STILL = 50


def document(answer: Timeline | Lives) -> Document:
    """What a group cost, who read what and when, and the times without a reader; or several lives side by side."""
    if isinstance(answer, Lives):
        return _lives(answer)
    made = answer.to_dict()
    generations = made["generations"]
    sketch = tuple(answer.chart(answer.chart_width).split("\n"))
    timeline = replace(timeline_section(answer, generations), sketch=sketch)
    sections = (timeline, _unread(answer), _partitions(answer))
    verdicts = (*_verdicts(answer, generations), *_races(answer.races))
    return answered("A group over time", verdicts, sections, made)


def _races(costs: Mapping[str, Cost]) -> Iterator[str]:
    """How much races between clients' threads change the costs, if they do."""
    spread = {name: cost.unowned_s for name, cost in costs.items()}
    if len(set(spread.values())) > 1:
        yield (
            f"The clients' threads race: partitions have no reader for {spread['slow']:,.1f} s if network threads are "
            f"slow, and {spread['fast']:,.1f} s if they are fast (--race)."
        )


def _verdicts(timeline: Timeline, generations: Sequence[Json]) -> Iterator[Verdict | str]:
    """What a group costs over time, who was idle and who stood still, and what went wrong."""
    cost = timeline.cost
    failures, unread = timeline.failures(), timeline.unread_at_the_end()
    words = (
        f"In {seconds(timeline.ended_ms)} the group went through {counted(cost.generations, 'generation')}, and "
        f"{counted(cost.moved, 'partition')} moved"
    )
    if cost.unowned_s:
        longest = max(timeline.partitions().to_pylist(), key=lambda row: row["longest_ms"])
        where = label(f"{longest['topic']}-{longest['partition']}")
        words += (
            f". Partitions had no reader for {cost.unowned_s:,.1f} s, added up over all of them; {where} waited "
            f"longest, {cost.longest_s:,.1f} s"
        )
    else:
        words += ". Each partition had a reader all the time"
    state = "fails" if failures else "open" if unread or not timeline.is_settled else "said"
    yield Verdict(state, f"{words}.")
    for each in failures:
        # Kafka's name of an error, or a sentence of a leader's client.
        reason = f" with {each['error']}" if each["error"].isupper() else f": {each['error']}"
        yield Verdict("fails", f"{each['member']} ended at {seconds(each['at_ms'])}{reason}")
    if at_rest := " ".join([*_records(cost), *_at_rest(timeline, generations)]):
        yield at_rest
    yield from _of_leaders(generations)
    yield from _without_leader(timeline)
    for commit in timeline.commits():
        result = "was taken" if commit["error"] == "NONE" else f"was refused as {commit['error']}"
        yield f"{commit['member']}'s commit at {seconds(commit['at_ms'])} {result}"
    if unread:
        yield Verdict("open", f"Nobody reads {named(unread)} at the end.")
    if not timeline.is_settled:
        yield Verdict("open", "The group had not come to rest when the play ended.")


def _without_leader(timeline: Timeline) -> Iterator[str]:
    """Which partitions had no leader when a broker went, a sentence for each time."""
    spans: dict[tuple[int, int], list[str]] = {}
    for each in timeline.without_leader():
        spans.setdefault((each["from_ms"], each["to_ms"]), []).append(each["partition"])
    for (from_ms, to_ms), those in spans.items():
        yield f"From {seconds(from_ms)} to {seconds(to_ms)} {named(those)} had no leader."


def _records(cost: Cost) -> Iterator[str]:
    missed, again = round(cost.not_read), round(cost.read_twice)
    if cost.not_read or cost.read_twice:
        what = f"{counted(missed, 'record was', 'records were')} not read meanwhile"
        yield f"{what}, and {counted(again, 'was', 'were')} read twice."


def _at_rest(timeline: Timeline, generations: Sequence[Json]) -> Iterator[str]:
    """Who reads nothing at the end, and who stood still longest before."""
    last: dict[str, list[tuple[str, int]]] = {}
    belonged: dict[str, list[tuple[int, int]]] = {}
    since = None
    for each in generations:
        _belong(belonged, last, since, each["at_ms"])
        last, since = each["assignment"], each["at_ms"]
    _belong(belonged, last, since, timeline.ended_ms)
    idle = [member for member, pairs in last.items() if not pairs]
    if idle:
        yield f"At the end {counted(len(idle), 'member is', 'members are')} idle ({named(idle, 3)})."
    still = _still(timeline, belonged)
    most = max(still, key=lambda member: still[member], default="")
    if still.get(most, 0) >= _LEAST_STILL:
        yield f"{label(most)} stood still longest, {seconds(still[most])}."


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
    times = {}
    for name, changes in readers.changes(list(belonged)).items():
        count, since = 0, None
        gaps = []
        for at, by in sorted(changes):
            if not count and since is not None and at > since:
                gaps.append((since, at))
            count += by
            since = at
        times[name] = _overlap(gaps, belonged[name])
    return times


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


def _unread(timeline: Timeline) -> Section:
    readers = timeline.readers()
    changes, end = dict(readers.unread()[0]), readers.end_ms
    rows: list[Json] = []
    count = 0
    for at, until in pairwise(sorted({*changes, end})):
        count += changes.get(at, 0)
        if count:
            rows.append({"from": at / 1000, "to": until / 1000, "partitions": count})
    most = max((row["partitions"] for row in rows), default=0)
    encoding = {
        "x": {**quantity("from", "seconds"), "scale": {"domain": [0, end / 1000], "nice": False}},
        "x2": {"field": "to"},
        "y": quantity("partitions", "partitions", "whole"),
        "y2": {"datum": 0},
        "tooltip": tooltip(partitions="partitions|,", **SPAN),
    }
    mark = {"type": "bar", "color": EMPHASIS, "stroke": EMPHASIS, "strokeWidth": 1}
    return Section(
        id="unread",
        title="Partitions without a reader",
        sentence=f"At most {counted(most, 'partition')} had no reader at the same time." if rows else "",
        spec=chart(rows, height=160, name="main", mark=mark, encoding=encoding) if rows else None,
        columns=columns(**{"from": "from, s", "to": "to, s", "partitions": "partitions without a reader"}),
        **bounded(rows),
        is_detail=True,
    )


def _partitions(timeline: Timeline) -> Section:
    rows = [
        {
            "partition": shown(f"{row['topic']}-{row['partition']}"),
            "unowned": row["unowned_ms"] / 1000,
            "longest": row["longest_ms"] / 1000,
            "moves": row["moves"],
        }
        for row in timeline.partitions().to_pylist()
    ]
    by_time = sorted(rows, key=lambda row: -row["unowned"])
    return Section(
        id="partitions",
        title="How long each partition had no reader",
        columns=columns(
            partition="partition|text",
            unowned="without a reader, s|seconds",
            longest="longest, s|seconds",
            moves="moved",
        ),
        **bounded(rows if len(rows) <= _BY_PLACE else by_time),
        bar="unowned",
        is_detail=True,
    )


def _of_leaders(generations: Sequence[Json]) -> Iterator[Verdict | str]:
    """Sentences about members that leaders left out or forgot, and about chance; none if all use Java's client."""
    left_out, forgotten = (
        list(dict.fromkeys(name for each in generations for name in each.get(field, ())))
        for field in ("left_out", "forgotten")
    )
    forgetting, drawn = (
        [str(each["generation"]) for each in generations if each.get(field)]
        for field in ("forgotten", "chance")
    )
    yield from unseen(left_out, forgotten, _in(forgetting))
    if drawn:
        yield f"The leader's client draws a part of its answer{_in(drawn)}: this is one of several."


def _in(generations: Sequence[str]) -> str:
    return f" in generation{'s' if len(generations) > 1 else ''} {named(generations)}"


def _lives(lives: Lives) -> Document:
    """Which protocol leaves partitions unread least in the same life, what went wrong, and all costs."""
    answer = lives.to_dict()
    order = in_order((each["protocol"] for each in answer["lives"]), PROTOCOLS)
    rows = [
        {
            **each,
            "members": "static" if each["static"] else "dynamic",
            "not_read": round(each["not_read"]),
            "read_twice": round(each["read_twice"]),
        }
        for each in sorted(answer["lives"], key=lambda each: (order.index(each["protocol"]), each["static"]))
    ]
    title, verdicts = "The same script under each protocol", _of_lives(answer["lives"])
    return answered(title, verdicts, [_costs(rows)], answer)


def _of_lives(rows: Sequence[Fields]) -> Iterator[Verdict | str]:
    best, worst = min(rows, key=_cost_rank), max(rows, key=_cost_rank)
    equal = [row for row in rows if _cost_rank(row) == _cost_rank(best)]
    names = named([_life(row) for row in equal], 2)
    if len({row["static"] for row in equal}) == 1:
        names = f"{named([row['protocol'] for row in equal])} with {_membership(best)}"
    words = (
        f"Take {names.replace(' and ', ' or ')}: partitions have no reader for {best['unowned_s']:,.1f} s in all, and "
        f"{counted(best['moved'], 'partition moves', 'partitions move')}"
    )
    if _cost_rank(worst) != _cost_rank(best):
        words += f"; {_life(worst)} costs most, {worst['unowned_s']:,.1f} s"
    yield f"{words}."
    for row in rows:
        for each in row["failures"]:
            end = f"{each['member']} ended at {seconds(each['at_ms'])} with {each['error']}"
            yield Verdict("fails", f"{_life(row)}: {end}")


def _life(row: Fields) -> str:
    return f"{row['protocol']} with {_membership(row)}"


def _membership(row: Fields) -> str:
    return "static members" if row["static"] else "dynamic members"


def _cost_rank(row: Fields) -> tuple[bool, float, int]:
    return bool(row["failures"]), row["unowned_s"], row["moved"]


def _costs(rows: Sequence[Fields]) -> Section:
    least = min(map(_cost_rank, rows))
    has_records = any(row["not_read"] for row in rows)
    return Section(
        id="lives",
        title="Without a reader",
        sentence=(
            "Unread adds up the seconds in which partitions had no reader, and longest is one partition's longest; "
            "range and sticky rebalance eagerly, and consumer is KIP-848 with the broker's uniform."
        ),
        columns=columns(
            protocol="protocol|prose",
            members="members|text",
            unowned_s="unread|seconds",
            longest_s="longest|seconds",
            moved="moved",
            not_read="not read" if has_records else None,
            read_twice="read twice" if has_records else None,
            generations="generations",
        ),
        **bounded(rows),
        bar="unowned_s",
        picked=places(_cost_rank(row) == least for row in rows),
    )

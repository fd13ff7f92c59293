"""A reassignment in words, for terminal and page: what moves, how even brokers become, and what a loss costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.rendering.document import Verdict
from partwright.rendering.text import bytes_, number, share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from partwright._check import Json
    from partwright.cluster.reassignment import Batch, ClusterLoss, Reassignment

__all__ = ["of_batches", "of_reassignment", "spread", "time_of"]

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def of_reassignment(
    found: Reassignment, min_insync_replicas: int | Mapping[str, int] = 1
) -> tuple[Verdict, ...]:
    """What a reassignment moves, what every plan must move, how even it makes brokers, and what losses cost."""
    said = [Verdict("said", _headline(found)), *_bounds(found), *_evenness(found)]
    leaderless = sum(each.leader is None and bool(each.added) for each in found.moves)
    if leaderless:
        text = f"{counted(leaderless, 'partition')} to move without a leader: new replicas wait until one is back"
        said.append(Verdict("fails", text))
    if found.bytes_within is None and found.replicas_moved:
        said.append(
            Verdict(
                "open", "bytes are not known: give --sizes to make them even and to know how long it takes"
            )
        )
    before, after = found.losses(min_insync_replicas)
    return (*said, *_losses(before, after))


def of_batches(batches: Sequence[Batch], throttle: int | None) -> Iterable[Verdict]:
    """How a plan is cut, and how long it takes."""
    times = [each.seconds for each in batches]
    if not batches:
        return ()
    text = counted(len(batches), "batch", "batches")
    if throttle is not None and None not in times:
        whole = sum(each for each in times if each is not None)
        text += f", {time_of(whole)} in all at {bytes_(throttle)}/s for each broker, and what is produced meanwhile"
    return (Verdict("said", text),)


def time_of(seconds: float) -> str:
    """A time as people say it.

    Examples:
        >>> time_of(42), time_of(5400), time_of(200_000)
        ('42 s', '1.5 h', '2.3 days')
    """
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.1f} min"
    return f"{seconds / _HOUR:.1f} h" if seconds < _DAY else f"{seconds / _DAY:.1f} days"


def _headline(found: Reassignment) -> str:
    if not found.moves:
        if not found.leaders_elected:
            return "Nothing moves: the cluster is as even as it can be"
        back = "partition gets its preferred leader back", "partitions get their preferred leaders back"
        return f"No replica moves; {counted(found.leaders_elected, *back)}"
    replicas = sum(each.replicas for each in found.brokers)
    of = f"of {counted(replicas, 'replica')}"
    size = "" if found.bytes_moved is None else f" ({bytes_(found.bytes_moved)})"
    return (
        f"{counted(found.replicas_moved, f'{of} moves', f'{of} move')}{size}, and "
        f"{counted(found.leaders_moved, 'partition gets', 'partitions get')} another preferred leader"
    )


def _bounds(found: Reassignment) -> Iterable[Verdict]:
    bounds, moved = found.bounds, found.replicas_moved
    if moved == bounds.replicas:
        yield Verdict("holds", f"no plan as even moves fewer replicas than {moved:,}")
    elif moved == bounds.fewest:
        yield Verdict(
            "holds",
            f"no plan as even moves fewer replicas than {moved:,}: a minimum-cost flow says so (counting alone says "
            f"{bounds.replicas:,})",
        )
    else:
        more = moved - bounds.fewest
        yield Verdict(
            "said",
            f"{counted(more, 'replica of them moves', 'replicas of them move')} to make bytes even",
        )
    if bounds.bytes is not None and found.bytes_moved:
        within = share(found.bytes_within)
        yield Verdict(
            "said", f"any plan with bytes within {within} of the shares copies {bytes_(bounds.bytes)} or more"
        )


def _evenness(found: Reassignment) -> Iterable[Verdict]:
    even = found.even()
    for name in ("replicas", "leaders"):
        yield Verdict("said", f"{name} of a broker: {spread(even[name])}")
    apart = sum(each.leader != each.replicas[0] for those in found.before.topics.values() for each in those)
    if apart:
        whose = "its" if apart == 1 else "their"
        yield Verdict(
            "said",
            f"preferred leaders of a broker: {spread(even['preferred_leaders'])} "
            f"({counted(apart, 'partition')} not led by {whose} preferred leader today)",
        )
    if elected := found.leaders_elected:
        change = "changes its" if elected == 1 else "change their"
        yield Verdict(
            "said",
            f"{counted(elected, 'partition')} {change} leader, by a preferred leader election at the end "
            "(--execute holds it; or use elections.json of --out)",
        )
    if "bytes" in even and found.bytes_within is not None:
        off = (
            max(
                abs((each.bytes or 0) / found.byte_shares[each.broker] - 1)
                for each in found.brokers
                if each.stays and found.byte_shares[each.broker]
            )
            if any(found.byte_shares.values())
            else 0.0
        )
        state = "holds" if off <= found.bytes_within else "fails"
        yield Verdict(
            state, f"bytes of a broker: within {share(off)} of its share ({share(found.bytes_within)} asked)"
        )
    if found.thin_before:
        yield Verdict(
            "said",
            f"{counted(found.thin_before, 'partition')} in fewer racks than possible today, {found.thin:,} after it",
        )


def spread(ends: Json, form: Callable[[float | None], str] = number) -> str:
    """The least and the most of brokers, before and after the plan.

    Args:
        ends: One of what `Reassignment.even` returns.
        form: How a number is written.

    Examples:
        >>> spread({"before": {"least": 0, "most": 2}, "after": {"least": 1, "most": 1}})
        '0 to 2 today, 1 after it'
    """
    before, after = (
        form(each["least"])
        if each["least"] == each["most"]
        else f"{form(each['least'])} to {form(each['most'])}"
        for each in (ends["before"], ends["after"])
    )
    return f"{before} today, {after} after it"


def _losses(before: Sequence[ClusterLoss], after: Sequence[ClusterLoss]) -> Iterable[Verdict]:
    """The worst loss of a broker and of a rack, before and after."""
    for kind in ("broker", "rack"):
        pair = [[each for each in found if each.kind == kind] for found in (before, after)]
        if not all(pair):
            continue
        words = []
        for name, what in (
            ("offline", "offline"),
            ("below_min_insync", "closed for acks=all"),
            ("taken_over", "with a new leader"),
        ):
            old, new = (max(getattr(each, name) for each in found) for found in pair)
            words.append(f"{old:,} → {new:,} {what}")
        yield Verdict("said", f"the worst loss of a {kind}, in partitions: {', '.join(words)}")

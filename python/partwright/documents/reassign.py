"""What a reassignment moves, how even it makes brokers, what a loss costs before and after it, and its batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from partwright._check import Fields, Json, counted
from partwright.cluster.reassignment.saved import CheckedPlan
from partwright.kafka.throttles import Throttles
from partwright.rendering.document import (
    Column,
    Document,
    Section,
    Verdict,
    answered,
    bounded,
    columns,
    filled,
    places,
)
from partwright.rendering.text import bytes_, label, number, share

if TYPE_CHECKING:
    from partwright.cluster.reassignment import Reassignment

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_SIDES = ("today", "after")
_LOST = {
    "taken_over": "with a new leader",
    "below_min_insync": "closed for acks=all",
    "offline": "offline",
    "coordinators": "coordinators",
    "most_taken_over": "most taken over by one",
}


def document(plan: Reassignment | CheckedPlan | Throttles) -> Document:
    """How much moves, and the least that any plan moves; then each broker, each loss and each batch."""
    if isinstance(plan, Throttles):
        return _of_throttles(plan)
    answer = plan.to_dict()
    if isinstance(plan, CheckedPlan):
        return _of_saved(plan, answer)
    verdicts = (
        _headline(answer),
        *_limits(plan, answer),
        *_changes(plan, answer),
        *_worst_losses(answer),
        *_time(plan, answer),
    )
    sections = (_brokers(plan, answer), _losses(answer), _batches(answer))
    title = f"A reassignment to {counted(len(plan.after.brokers), 'broker')}"
    return answered(title, verdicts, sections, answer, plan.assumed)


def _of_saved(plan: CheckedPlan, answer: Fields) -> Document:
    """The size of a saved plan, and what has become of it."""
    size = f"{counted(answer['partitions'], 'partition')} in {counted(answer['batches'], 'batch', 'batches')}"
    if answer["leaders_elected"]:
        size += f", and {counted(answer['leaders_elected'], 'preferred leader')} to elect"
    then = "the plan is executed" if plan.is_executed else "the cluster is as it was planned for"
    return answered(f"The plan {label(plan.folder)}", [f"{size}: {then}."], (), answer)


def _of_throttles(throttles: Throttles) -> Document:
    """What an interrupted execution has left, which is removed."""
    words = "No broker and no topic has a throttle: nothing is removed."
    if throttles.rates or throttles.topics:
        words = f"Removed: {throttles}; what Kafka still moves has no limit now."
    return answered("Throttles", [words], (), throttles.to_dict())


def _headline(answer: Fields) -> str:
    if not answer["partitions_changed"]:
        if not answer["leaders_elected"]:
            return "Nothing moves: the cluster is as even as it can be."
        back = "partition gets its preferred leader back", "partitions get their preferred leaders back"
        return f"No replica moves; {counted(answer['leaders_elected'], *back)}."
    of = f"of {counted(sum(each['replicas'] for each in answer['brokers']), 'replica')}"
    size = "" if answer["bytes_moved"] is None else f" ({bytes_(answer['bytes_moved'])})"
    return (
        f"{counted(answer['replicas_moved'], f'{of} moves', f'{of} move')}{size}, and "
        f"{counted(answer['leaders_moved'], 'partition gets', 'partitions get')} another preferred leader."
    )


def _limits(plan: Reassignment, answer: Fields) -> Iterator[Verdict | str]:
    """What is not known, what waits, and the least that any plan moves."""
    bounds, moved = plan.bounds, answer["replicas_moved"]
    if plan.bytes_within is None and moved:
        yield Verdict(
            "open", "Bytes are not known: give --sizes to make them even and to know how long it takes."
        )
    if leaderless := sum(each.leader is None and bool(each.added) for each in plan.moves):
        yield Verdict(
            "fails",
            f"{counted(leaderless, 'partition')} to move without a leader: new replicas wait until one is back.",
        )
    if moved > bounds.fewest:
        more = counted(moved - bounds.fewest, "replica of them moves", "replicas of them move")
        yield f"{more} to make bytes even."
    elif moved:
        flow = f": a minimum-cost flow says so (counting alone says {bounds.replicas:,})"
        yield Verdict(
            "holds",
            f"No plan as even moves fewer replicas than {moved:,}{'' if moved == bounds.replicas else flow}.",
        )
    if bounds.bytes is not None and answer["bytes_moved"]:
        yield (
            f"Any plan with bytes within {share(plan.bytes_within)} of the shares copies {bytes_(bounds.bytes)} or "
            "more."
        )


def _changes(plan: Reassignment, answer: Fields) -> Iterator[Verdict | str]:
    if elected := answer["leaders_elected"]:
        yield (
            f"{counted(elected, 'partition changes its', 'partitions change their')} leader, by a preferred leader "
            "election at the end (--execute holds it; or use elections.json of --out)."
        )
    if plan.bytes_within is not None:
        shares = plan.byte_shares
        staying = [each for each in plan.brokers if each.stays and shares[each.broker]]
        off = max((abs((each.bytes or 0) / shares[each.broker] - 1) for each in staying), default=0.0)
        yield Verdict(
            "holds" if off <= plan.bytes_within else "fails",
            f"Bytes of a broker: within {share(off)} of its share ({share(plan.bytes_within)} asked).",
        )
    if plan.thin_before:
        thin = counted(plan.thin_before, "partition is", "partitions are")
        yield f"{thin} in fewer racks than possible today, {plan.thin:,} after it."


def _worst_losses(answer: Fields) -> Iterator[Verdict | str]:
    for kind in ("broker", "rack"):
        before, after = (
            [each for each in side if each["kind"] == kind] for side in answer["losses"].values()
        )
        if before and after:
            words = [
                f"{max(each[name] for each in before):,} → {max(each[name] for each in after):,} {_LOST[name]}"
                for name in ("offline", "below_min_insync", "taken_over")
            ]
            yield f"The worst loss of a {kind}, in partitions: {', '.join(words)}."


def _time(plan: Reassignment, answer: Fields) -> Iterator[Verdict | str]:
    times = [each["seconds"] for each in answer["batches"]]
    if times:
        words = counted(len(times), "batch", "batches")
        if None not in times:
            rate = bytes_(plan.parts[0].throttle)
            words += (
                f", {_lasting(sum(times))} in all at {rate}/s for each broker, and what is produced meanwhile"
            )
        yield f"{words}."


def _lasting(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.1f} min"
    return f"{seconds / _HOUR:.1f} h" if seconds < _DAY else f"{seconds / _DAY:.1f} days"


def _brokers(plan: Reassignment, answer: Fields) -> Section:
    listed = {each.id for each in plan.before.brokers}
    rows = []
    for each in answer["brokers"]:
        note = "" if each["broker"] in listed else " (joins)"
        rows.append({**each, "label": f"{each['broker']}{note if each['stays'] else ' (leaves)'}"})
    sides = [
        Column(field, f"{name} {when}", "bytes" if name == "bytes" else "number")
        for name in ("replicas", "leaders", "bytes")
        for when, field in zip(_SIDES, (f"{name}_before", name), strict=True)
    ]
    more = columns(bytes_in="received|bytes", rack="rack|text")
    return Section(
        id="brokers",
        title="What each broker carries",
        sentence=_evenness(plan, answer),
        columns=(Column("label", "broker", "text"), *filled(rows, *sides, *more)),
        **bounded(rows),
        bar="replicas" if plan.bytes_within is None else "bytes",
        picked=places(row["label"] != str(row["broker"]) for row in rows),
    )


def _evenness(plan: Reassignment, answer: Fields) -> str:
    even = answer["even"]
    words = [f"Replicas of a broker: {_spread(even['replicas'])}", f"leaders: {_spread(even['leaders'])}"]
    apart = sum(each.leader != each.replicas[0] for those in plan.before.topics.values() for each in those)
    if apart:
        phrase = "partition is not led by its" if apart == 1 else "partitions are not led by their"
        words.append(
            f"preferred leaders: {_spread(even['preferred_leaders'])} ({apart:,} {phrase} preferred leader today)"
        )
    if "bytes" in even:
        words.append(f"bytes: {_spread(even['bytes'], bytes_)}")
    return f"{'; '.join(words)}."


def _spread(ends: Json, form: Callable[[float | None], str] = number) -> str:
    """The least and the most of brokers, before and after; one number if both look the same."""
    before, after = (
        " to ".join(dict.fromkeys(form(ends[side][end]) for end in ("least", "most")))
        for side in ("before", "after")
    )
    return f"{before} today, {after} after it"


def _losses(answer: Fields) -> Section:
    sides = [{(each["kind"], each["name"]): each for each in side} for side in answer["losses"].values()]
    rows = []
    for kind, name in sorted({**sides[0], **sides[1]}, key=_order):
        row: Json = {"label": f"{kind} {label(name)}"}
        for when, side in zip(_SIDES, sides, strict=True):
            row |= {f"{field} {when}": side.get((kind, name), {}).get(field) for field in _LOST}
        rows.append(row)
    # Most clusters do not list the topics that have coordinators.
    counts = [
        Column(f"{field} {when}", f"{words}, {when}") for field, words in _LOST.items() for when in _SIDES
    ]
    return Section(
        id="losses",
        title="What the loss of a broker or a rack costs, in partitions",
        columns=(Column("label", "lost", "text"), *filled(rows, *counts)),
        **bounded(rows),
        is_detail=True,
    )


def _order(key: tuple[str, str]) -> tuple[str, int, str]:
    kind, name = key
    return (kind, int(name) if kind == "broker" else 0, name)


def _batches(answer: Fields) -> Section | None:
    rows = [
        {**each, "batch": place, "time": None if each["seconds"] is None else _lasting(each["seconds"])}
        for place, each in enumerate(answer["batches"], 1)
    ]
    if len(rows) <= 1:
        return None
    return Section(
        id="batches",
        title="Batches",
        columns=columns(batch="batch", partitions="partitions", replicas="replicas")
        + filled(rows, *columns(bytes="bytes|bytes", time="time|text")),
        **bounded(rows),
        bar="bytes" if any(row["bytes"] is not None for row in rows) else "replicas",
    )

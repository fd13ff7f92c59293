"""Which client wrote a topic, and since when: what each client's rule explains, and what to set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from partwright._check import Fields, Json, all_of, counted, enumeration
from partwright.documents.sentences import all_empty, time
from partwright.keys.client_profiles import client_names, clients
from partwright.keys.key_text import shown_key
from partwright.rendering.colours import colours_of, in_order
from partwright.rendering.document import Document, Section, Verdict, answered, bounded, columns, places
from partwright.rendering.plots import by_kind, chart, quantity, tooltip
from partwright.rendering.text import label, share, shown

if TYPE_CHECKING:
    from partwright.audit import Fingerprint
    from partwright.audit.faulty_rules import Fault

# Less than this is not shown.
_LEAST = 0.0005
_STRAYS = 3
_TRANSFORMS = {
    "confluent:strip-id": "without the five bytes that a schema registry's serializer puts before them",
    "json-unquote": "without their JSON quotes",
    "little-endian": "as little-endian numbers, whose bytes Java has the other way round",
    "utf-16-le": "as UTF-16 in little-endian order, where Java's serializer has UTF-8",
    "utf-16-le-bom": "as UTF-16 in little-endian order with a byte order mark, where Java's serializer has UTF-8",
    "utf-16-be": "as UTF-16 in big-endian order, where Java's serializer has UTF-8",
    "utf-16": "as UTF-16 in big-endian order with a byte order mark, where Java's serializer has UTF-8",
    "cut-at-characters": "cut at as many bytes as they have characters, as rdkafka-ruby cut a partition_key",
}
_ADVICE = {
    "mixture": " Give all producers one partitioner: a key's order is lost where two writers disagree.",
    "n-change": " Keys from before the change are elsewhere since: partwright resize says which.",
    "writer-change": " Keys that both wrote are in two partitions: give all producers one partitioner.",
    "round-robin": " A key's order is lost, and joins by key do not meet.",
    "undecided": " Read more records.",
}


def document(fingerprint: Fingerprint) -> Document:
    """Who wrote it and what to do, then what each rule explains, keys without one place, and when a writer changed."""
    answer = fingerprint.to_dict()
    change = answer["change"]
    names = fingerprint.family if fingerprint.verdict == "one-writer" else tuple(fingerprint.shares)
    sections = (
        _rules(answer),
        _scattered(fingerprint) if fingerprint.scattered_keys else None,
        None if "java" in fingerprint.family else settings(names),
        _writers(answer) if answer["shares"] else None,
        _course(answer) if answer["course"] else None,
        _since(change["first_offset_after"]) if change and change["first_offset_after"] else None,
    )
    verdicts = (*all_empty(fingerprint.is_all_empty), *_verdicts(fingerprint))
    return answered(f"Who wrote {counted(fingerprint.rows, 'record')}", verdicts, sections, answer)


def _verdicts(origin: Fingerprint) -> Iterator[Verdict | str]:
    """Which client wrote a topic, and what to do if it is not a single client."""
    is_alone = origin.verdict == "mixture" and len(origin.shares) == 1 and origin.fault is None
    advice = _ADVICE.get(origin.verdict, "")
    if is_alone:
        advice = " Look at who else writes: another client, a custom partitioner, or a script that names partitions."
    headline = "faulty-rule" if origin.fault is not None and not origin.shares else origin.verdict
    yield Verdict("said", f"{headline}: {_answer(origin)}.{advice}", headline=headline)
    if is_alone:
        yield "Or it is one writer, with a rule of its own that agrees in part."
    yield from _exceptions(origin)
    yield from _rivals(origin)


def _exceptions(origin: Fingerprint) -> Iterator[str]:
    """What does not follow the rule of the one writer, or would not follow the right one, and since when."""
    if origin.fault is not None and not origin.shares:
        if origin.fault.products:
            yield f"It is the rule of {enumeration(origin.fault.products)}."
        yield (
            f"{origin.fault.client} itself would put {counted(origin.fault.elsewhere, 'record')} elsewhere. Correct "
            "this writer, and its keys move: those records stay where they are."
        )
    elif origin.fault is not None and origin.fault.client in origin.shares:
        yield (
            f"That rule and {origin.fault.client}'s agree where a key's hash is not negative: how many of those "
            "records each wrote is estimated from the other records."
        )
    if origin.elsewhere is not None and origin.verdict == "one-writer":
        all_ = counted(origin.explained[origin.family[0]][1], "record")
        yield f"{origin.family[0]} itself would put {origin.elsewhere:,} of {all_} elsewhere ({origin.key_transform})."
    elif origin.key_transform is not None:
        yield f"Keys are taken {_TRANSFORMS[origin.key_transform]} ({origin.key_transform})."
    if origin.strays:
        right, of = origin.explained[origin.family[0]]
        strays = ", ".join(
            f"{label(shown_key(key))} in {partition} (not {expected})"
            for key, partition, expected, _ in origin.strays[:_STRAYS]
        )
        yield f"{counted(of - right, 'exception')}{', the heaviest' if of - right > _STRAYS else ''}: {strays}."
    if origin.change is not None:
        before, after = origin.change.last_timestamp_before, origin.change.first_timestamp_after
        if before is not None and after is not None:
            yield f"When: the last record by the old rule: {time(before)}, the first by the new one: {time(after)}."
        elif not origin.change.first_offset_after:
            yield "When: no timestamps or offsets tell."


def _rivals(origin: Fingerprint) -> Iterator[str]:
    """The clients that keys cannot tell apart, the next best rule, and how many keys were looked at."""
    if len(origin.family) > 1:
        those = (
            "are left" if origin.verdict == "undecided" else "share one rule, so keys cannot distinguish them"
        )
        yield f"These clients {those}: {', '.join(origin.family)}."
    if origin.deciding_keys:
        yield f"The next best rule would put {counted(origin.deciding_keys, 'key')} of {origin.keys:,} elsewhere."
    if origin.is_sampled:
        keys = counted(origin.keys, "key was", "keys were")
        yield f"There were too many keys to look at all: {keys}, with all their records."


def _answer(origin: Fingerprint) -> str:
    of_n = "" if origin.n is None else f", for {counted(origin.n, 'partition')}"
    by_share = sorted(origin.shares.items(), key=lambda each: -each[1])
    shares = ", ".join(f"{name} {share(part)}" for name, part in by_share)
    left = f"; no rule explains {share(origin.unexplained)}" if origin.unexplained >= _LEAST else ""
    if origin.fault is not None and origin.shares:
        part = 1 - sum(origin.shares.values()) - origin.unexplained
        left = f"; one writer whose rule is {_faulty_rule(origin.fault)} explains {share(part)}{left}"
    steps = " to ".join(str(step) for step in (origin.change.steps if origin.change else ()))
    if origin.verdict == "one-writer":
        changed = (
            ""
            if origin.elsewhere is None
            else f"'s rule, with keys {_TRANSFORMS[origin.key_transform or '']},"
        )
        return f"{origin.family[0]}{changed} {_explains(*origin.explained[origin.family[0]])}{of_n}"
    return {
        "undecided": f"too few keys tell the clients apart; {_left(origin.family)}{of_n}",
        "mixture": f"{shares}{left}{of_n}",
        "n-change": f"from {steps} partitions ({shares}){left}",
        "writer-change": f"from {steps}{of_n} ({shares}){left}",
        "round-robin": f"records have keys, which are ignored: partitions are taken in turn{of_n}",
        "no-rule": _no_rule(origin, of_n),
        "no-keys": "no record has a key, so each producer chose as it liked"
        if origin.rows
        else "there are no records",
    }[origin.verdict]


def _left(family: tuple[str, ...]) -> str:
    only = f": {family[0]}" if len(family) == 1 else ""
    return f"{counted(len(family), 'is left', 'are left')}{only}"


def _explains(right: int, of: int) -> str:
    if right == of:
        return f"explains where {all_of(of, 'record with a key is', 'records with a key are')}"
    return (
        f"explains where {right:,} of {counted(of, 'record with a key is', 'records with a key are')} "
        f"({share(right / of)})"
    )


def _no_rule(origin: Fingerprint, of_n: str) -> str:
    """No client's rule; perhaps a faulty one, which one writer has."""
    if origin.is_all_empty and origin.scattered_keys:
        return "these records are in several partitions, as records without a key are"
    if origin.fault is None:
        return (
            "records have keys, and no client's rule puts them where they are: a custom partitioner, or partitions "
            "that were given or drawn"
        )
    if len(origin.fault.numbers) > 1:
        of_n = f", for {enumeration([str(n) for n in origin.fault.numbers])} partitions"
    return f"one writer whose rule is {_faulty_rule(origin.fault)} {_explains(*origin.fault.explained)}{of_n}"


def _faulty_rule(fault: Fault) -> str:
    hash_ = fault.name.rpartition("-")[0]
    rule, own = (each.replace("hash", hash_) for each in (fault.rule, fault.right))
    lacks = "without the sign mask" if fault.lacks_mask else "with the sign of its hash taken otherwise"
    return f"{fault.client}'s {lacks} ({rule}; not {own})"


def _rules(answer: Fields) -> Section:
    """A row for each group of rules that explain equally much; those that the answer names stand out."""
    equal: dict[tuple[int, int], list[str]] = {}
    for name in in_order(answer["explained"], client_names()):
        equal.setdefault(tuple(answer["explained"][name]), []).append(name)
    rows: list[Json] = [
        {"clients": names, "client": ", ".join(names), "right": right, "of": of, "share": right / (of or 1)}
        for (right, of), names in equal.items()
    ]
    rows.sort(key=lambda row: -row["share"])
    named_ = {*answer["family"], *answer["shares"]}
    records = counted(answer["rows"], "record")
    keys = f"{counted(answer['keys'], 'different key')}; {answer['null_keys']:,} of {records} have none."
    return Section(
        id="rules",
        title="What each client's rule explains",
        sentence=keys if rows else f"No client's rule fits: {keys}",
        columns=columns(
            client="clients with the rule|prose", right="explains", of="of records", share="share|share"
        ),
        **bounded(rows),
        bar="share",
        picked=places(named_.intersection(row["clients"]) for row in rows),
    )


def _scattered(origin: Fingerprint) -> Section:
    rows = [
        {"key": shown(shown_key(key)), "partitions": ", ".join(map(str, partitions))}
        for key, partitions in origin.scattered
    ]
    return Section(
        id="scattered",
        title=f"{counted(origin.scattered_keys, 'key is', 'keys are')} in several partitions",
        columns=columns(key="key|text", partitions="its partitions|prose"),
        **bounded(rows),
    )


def settings(names: Iterable[str]) -> Section | None:
    """The settings with which clients put their keys where Java puts them; nothing if none of them needs one."""
    own = {row["client"]: row["setting"] for row in clients().to_pylist()}
    lines = tuple(f"{name}: {own[name]}" for name in names if own.get(name))
    return Section(id="settings", title="To put every key where java puts it", code=lines) if lines else None


def _writers(answer: Fields) -> Section:
    parts = sorted(answer["shares"].items(), key=lambda each: -each[1])
    if answer["fault"]:
        parts.append((answer["fault"]["name"], 1 - sum(answer["shares"].values()) - answer["unexplained"]))
    parts.append(("no rule", answer["unexplained"]))
    return Section(
        id="writers",
        title="Who wrote how much",
        columns=columns(name="writer|text", share="share|share"),
        **bounded([{"name": name, "share": part} for name, part in parts]),
        bar="share",
        is_detail=True,
    )


def _course(answer: Fields) -> Section:
    """The share of each writer's rule over time."""
    spans = answer["course"]
    start, kinds = spans[0]["from_ms"], list(spans[0]["rows"])
    rows: list[Json] = []
    for span in spans:
        times = {name: (span[f"{name}_ms"] - start) / 1000 for name in ("from", "to")}
        total, at = sum(span["rows"].values()), 0.0
        for kind in filter(span["rows"].get, kinds):
            part = span["rows"][kind] / total
            counts = {"kind": kind, "records": span["rows"][kind], "share": part}
            rows.append({**times, **counts, "low": at, "high": at + part})
            at += part
    first, last = (max(span["rows"], key=span["rows"].__getitem__) for span in (spans[0], spans[-1]))
    tips = tooltip(kind="rule", **{"from": "from, s|,"}, to="to, s|,", share="share|.1%", records="records|,")
    return Section(
        id="course",
        title="Who wrote when",
        sentence=(
            f"In {counted(len(spans), 'span')} of {(spans[0]['to_ms'] - start) / 1000:,.1f} s each, the records "
            f"that one rule alone explains: at first mostly of {first}, at last of {last}."
        ),
        spec=chart(
            rows,
            height=220,
            name="main",
            mark={"type": "bar"},
            encoding={
                "x": {**quantity("from", f"seconds since {time(start)}"), "scale": {"nice": False}},
                "x2": {"field": "to"},
                "y": quantity("low", "share of the records", "share", scale={"domain": [0, 1]}),
                "y2": {"field": "high"},
                "color": by_kind("kind", kinds, list(colours_of(kinds).values())),
                "tooltip": tips,
            },
        ),
        columns=columns(
            **{"from": "from, s"}, to="to, s", kind="rule|text", records="records", share="share|share"
        ),
        **bounded(rows),
        is_detail=True,
    )


def _since(first_offset_after: Mapping[int, int]) -> Section:
    rows = [{"partition": at, "offset": offset} for at, offset in sorted(first_offset_after.items())]
    return Section(
        id="since",
        title="Since which offset",
        columns=columns(partition="partition", offset="first offset by the new rule"),
        **bounded(rows),
        bar="offset",
    )

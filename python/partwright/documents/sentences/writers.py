"""Who wrote a topic, in words: `fingerprint`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import all_of, counted
from partwright.documents.sentences.figures import time
from partwright.documents.sentences.placing import all_empty
from partwright.keys.key_text import shown_key
from partwright.rendering.document import Verdict
from partwright.rendering.text import label, share

if TYPE_CHECKING:
    from partwright.audit import Change, Fingerprint

__all__ = ["of_fingerprint"]

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
# Less than this is not shown.
_LEAST = 0.0005
_NAMED = 3
_OFFSETS = 48


def of_fingerprint(found: Fingerprint) -> tuple[Verdict, ...]:
    """Which client wrote a topic, and what to do if it is not a single client."""
    said = []
    if found.fault is not None:
        said.append(
            f"{found.fault.client} itself would put {counted(found.fault.elsewhere, 'record')} elsewhere. Correct this "
            "writer, and its keys move: those records stay where they are."
        )
    if found.key_transform is not None and found.elsewhere is None:
        said.append(f"Keys are taken {_TRANSFORMS[found.key_transform]} ({found.key_transform}).")
    if found.elsewhere is not None:
        of = found.explained[found.family[0]][1]
        said.append(
            f"{found.family[0]} itself would put {found.elsewhere:,} of {counted(of, 'record')} elsewhere "
            f"({found.key_transform})."
        )
    if len(found.family) > 1 and found.verdict != "undecided":
        said.append(
            f"These clients share one rule, so keys cannot distinguish them: {', '.join(found.family)}."
        )
    if found.deciding_keys:
        said.append(
            f"The next best rule would put {counted(found.deciding_keys, 'key')} of {found.keys:,} elsewhere."
        )
    if found.change is not None:
        said.append(_when(found.change))
    if found.is_sampled:
        said.append(
            f"There were too many keys to look at all: {counted(found.keys, 'key was', 'keys were')}, with all "
            f"their records."
        )
    advice = _ADVICE.get(found.verdict, "")
    if found.verdict == "mixture" and len(found.shares) == 1:
        advice = (
            " Look at who else writes: another client, a custom partitioner, or a script that names partitions. Or it "
            "is one writer, with a rule of its own that agrees in part."
        )
    headline = found.verdict if found.fault is None else "faulty-rule"
    return (
        *all_empty(found.is_all_empty),
        Verdict("said", f"{headline}: {_writers(found)}.{advice}", headline=headline),
        *(Verdict("said", each) for each in said),
    )


_ADVICE = {
    "mixture": " Give all producers one partitioner: a key's order is lost where two writers disagree.",
    "n-change": " Keys from before the change are elsewhere since: partwright resize says which.",
    "writer-change": " Keys that both wrote are in two partitions: give all producers one partitioner.",
    "round-robin": " A key's order is lost, and joins by key do not meet.",
    "undecided": " Read more records.",
}


def _writers(found: Fingerprint) -> str:
    of_n = "" if found.n is None else f", for {counted(found.n, 'partition')}"
    shares = ", ".join(
        f"{name} {share(part)}" for name, part in sorted(found.shares.items(), key=lambda one: -one[1])
    )
    rest = f"; no rule explains {share(found.unexplained)}" if found.unexplained >= _LEAST else ""
    if found.verdict == "undecided":
        return f"too few keys tell the clients apart; {len(found.family)} are left: {', '.join(found.family)}{of_n}"
    steps = " to ".join(str(step) for step in (found.change.steps if found.change else ()))
    return {
        "one-writer": _one_writer(found, of_n),
        "mixture": f"{shares}{rest}{of_n}",
        "n-change": f"from {steps} partitions ({shares}){rest}",
        "writer-change": f"from {steps}{of_n} ({shares}){rest}",
        "round-robin": f"records have keys, which are ignored: partitions are taken in turn{of_n}",
        "no-rule": _no_rule(found, of_n),
        "no-keys": "no record has a key, so each producer chose as it liked"
        if found.rows
        else "there are no records",
    }[found.verdict]


def _one_writer(found: Fingerprint, of_n: str) -> str:
    """The rule that explains all records, or nearly all, and then the exceptions."""
    name = found.family[0] if found.family else ""
    right, of = found.explained.get(name, (0, 0))
    if found.elsewhere is not None and found.key_transform is not None:
        name = f"one that hashes its keys {_TRANSFORMS[found.key_transform]}, and then follows {name}'s rule,"
    if right == of:
        return f"{name} explains where {all_of(of, 'record with a key is', 'records with a key are')}{of_n}"
    words = (
        f"{name} explains where {right:,} of {counted(of, 'record with a key is', 'records with a key are')} "
        f"({share(right / of)}){of_n}"
    )
    strays = [
        f"{label(shown_key(key))} in {partition} (not {expected})"
        for key, partition, expected, _ in found.strays
    ]
    if not strays:
        return words
    more = ", the heaviest" if of - right > _NAMED else ""
    return f"{words}; {counted(of - right, 'exception')}{more}: {', '.join(strays[:_NAMED])}"


def _no_rule(found: Fingerprint, of_n: str) -> str:
    """No client's rule; perhaps a faulty one, which one writer has."""
    if found.is_all_empty and found.scattered_keys:
        return "these records are in several partitions, as records without a key are"
    if found.fault is None:
        return (
            "records have keys, and no client's rule puts them where they are: a custom partitioner, or partitions "
            "that were given or drawn"
        )
    right, of = found.fault.explained
    hash_ = found.fault.name.rpartition("-")[0]
    rule, own = (each.replace("hash", hash_) for each in (found.fault.rule, found.fault.right))
    lacks = "without the sign mask" if "0x7fffffff" in own else "with the sign of its hash taken otherwise"
    records = f"all {counted(of, 'record')}" if right == of else f"{right:,} of {counted(of, 'record')}"
    return (
        f"one writer whose rule is {found.fault.client}'s {lacks} ({rule}; not {own}) explains where {records} with a "
        f"key are{of_n}"
    )


def _when(change: Change) -> str:
    words = "no timestamps or offsets tell when"
    if change.last_timestamp_before is not None and change.first_timestamp_after is not None:
        words = (
            f"the last record by the old rule: {time(change.last_timestamp_before)}, the first by the new one: "
            f"{time(change.first_timestamp_after)}"
        )
    if change.first_offset_after:
        pairs = [f"{partition}:{offset}" for partition, offset in change.first_offset_after.items()]
        more = f" and {len(pairs) - _OFFSETS:,} more in the JSON" if len(pairs) > _OFFSETS else ""
        words += f"\nFirst offsets by the new rule, for each partition: {', '.join(pairs[:_OFFSETS])}{more}"
    return f"When: {words}"

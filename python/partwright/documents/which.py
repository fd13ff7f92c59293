"""Where each client puts a key, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from partwright._check import counted
from partwright.rendering.document import Document, Section, Verdict, answered, bounded, columns, places
from partwright.rendering.text import label

if TYPE_CHECKING:
    from partwright.keys.client_profiles import KeyPlacement, KeyPlacements

# How many of a key's bytes are shown.
_BYTES = 64


def document(answer: KeyPlacements) -> Document:
    """What the first client does and how many others agree, a row for each rule, and how to make all agree."""
    key = _named(answer)
    verdicts = (_summary(answer, key), *_details(answer))
    sections = (_rules(answer), _settings(answer), _ways(answer), _arithmetic(answer), _types(answer))
    return answered(f"Where {key} goes", verdicts, sections, answer.to_dict())


def _named(answer: KeyPlacements) -> str:
    key = answer.key_bytes
    if not key:
        return "a record without a key" if key is None else "an empty key"
    # For a date or a decimal, show the text that it becomes.
    value = answer.key
    return f"key {label(repr(value) if isinstance(value, (str, bytes, int, float)) else key.decode())}"


def _summary(answer: KeyPlacements, key: str) -> str:
    first, *others = answer.placements
    clients = counted(len(others), "client")
    if first.partition is None:
        placing = sum(each.partition is not None for each in others)
        more = counted(placing, f"of the other {clients} does", f"of the other {clients} do")
        return f"{first.client} gives {key} no fixed partition ({first.why}){f'; {more}' if others else ''}."
    if first.partition < 0:
        return f"{first.client} fails at {key}, whose partition would be {first.partition:,}."
    words = f"{first.client} puts {key} into partition {first.partition:,} of {answer.n:,}"
    differ = [each for each in others if each.partition != first.partition]
    if not differ:
        alike = f", and so do{'es' if len(others) == 1 else ''} the other {clients}" if others else ""
        return f"{words}{alike}."
    # A bare name is a library's default rule.
    other = next((each for each in differ if ":" not in each.client), differ[0])
    where = "no fixed partition" if other.partition is None else f"{other.partition:,}"
    return (
        f"{words}, like {len(others) - len(differ)} of the other {clients}; {len(differ)} do not, such as "
        f"{other.client} with {where}."
    )


def _details(answer: KeyPlacements) -> Iterator[Verdict | str]:
    if key := answer.key_bytes:
        as_type = f"As {answer.key_type} the" if answer.key_type else "The"
        yield f"{as_type} key has {counted(len(key), 'byte')}: {_hex(key)}."
    if len(answer.placements) == 1:
        yield from _product(answer.placements[0])
    if numbers := answer.as_numbers:
        others = ", ".join(f"{each.partition:,} as {each.key_type}" for each in numbers)
        yield f"As a number it is another key: partition {others} (--key-type)."
    for each in answer.placements:
        if each.partition is not None and each.partition < 0:
            text = (
                f"{each.client}: Math.abs({each.hash}) is negative, and so is its remainder by {answer.n}: a producer "
                "with this partitioner fails at this key."
            )
            yield Verdict("fails", text)


def _product(each: KeyPlacement) -> Iterator[str]:
    if each.key_bytes is not None:
        rule = f"the rule of {each.stands_for}" if each.stands_for else "a rule of its own"
        yield f"{each.client} has {rule}, over {each.key_bytes} ({each.evidence})."


def _hex(key: bytes) -> str:
    half = _BYTES // 2
    return key.hex(" ") if len(key) <= _BYTES else f"{key[:half].hex(' ')} … {key[-half:].hex(' ')}"


def _rules(answer: KeyPlacements) -> Section:
    """A row for each rule, with the clients that have it: the first client's first, last those without a partition."""
    clients_of: dict[tuple[int | None, str, str | None], list[str]] = {}
    for each in answer.placements:
        rule = (each.why, None) if each.why else (f"{each.hash_name} {each.hash}", each.sign)
        clients_of.setdefault((each.partition, *rule), []).append(each.client)
    ordered = sorted(clients_of.items(), key=lambda each: (each[0][0] is None, each[1][0] != "java"))
    rows = [
        {"partition": partition, "clients": ", ".join(clients), "hash": hashed, "then": then}
        for (partition, hashed, then), clients in ordered
    ]
    return Section(
        id="rules",
        title="Partition by client",
        columns=columns(
            partition="partition", clients="clients|prose", hash="hash or choice|prose", then="then|prose"
        ),
        **bounded(rows),
        picked=places("java" in clients for _, clients in ordered),
    )


def _settings(answer: KeyPlacements) -> Section | None:
    settings: dict[str, list[str]] = {}
    for each in answer.placements:
        if each.setting is not None:
            settings.setdefault(each.setting, []).append(each.client)
    lines = tuple(
        f"{those[0] if len(those) == 1 else those[0].split(':')[0]}: {setting}"
        for setting, those in settings.items()
    )
    return Section(id="settings", title="To put every key where java puts it", code=lines) if lines else None


def _ways(answer: KeyPlacements) -> Section | None:
    if (read := answer.read) is None:
        return None
    options = {"kafka.bootstrap.servers": read["servers"], "assign": read["assign"]}
    spark = f"spark.read.format('kafka').options(**{options}).load()"
    needs = (
        f"This Kafka needs {answer.protocol}: give each command its configuration too (kcat -F FILE, "
        "kafka-console-consumer.sh --consumer.config FILE, Spark's options kafka.NAME)."
    )
    return Section(
        id="read",
        title=f"To read partition {read['partition']} of {read['topic']} alone, where {read['client']} puts it",
        sentence="" if answer.protocol == "PLAINTEXT" else needs,
        code=(read["kcat"], read["kafka-console-consumer"], spark),
    )


def _arithmetic(answer: KeyPlacements) -> Section | None:
    rules: dict[tuple[str, str], KeyPlacement] = {}
    for each in answer.placements:
        if each.hash is not None:
            rules.setdefault((each.hash_name, each.sign), each)
    lines = tuple(_steps(each, answer.n) for each in rules.values())
    return (
        Section(id="steps", title="The arithmetic of each rule", code=lines, is_detail=True)
        if lines
        else None
    )


def _steps(each: KeyPlacement, n: int) -> str:
    steps = [f"{each.hash_name} = {each.hash}"]
    if each.sign_name.startswith("masked"):
        steps.append(f"{each.hash} & 0x7fffffff = {each.dividend}")
    elif each.dividend != each.hash:
        steps.append(f"abs({each.hash}) = {each.dividend}")
    steps.append(f"{each.dividend} % {n} = {each.remainder}")
    if each.remainder != each.partition:
        steps.append(f"abs({each.remainder}) = {each.partition}")
    return f"{each.client}: " + "; ".join(steps)


def _types(answer: KeyPlacements) -> Section | None:
    present = answer.key_type or "utf8"
    rows = [
        {
            "type": each.key_type + (" (asked for)" if each.key_type == present else ""),
            "bytes": _hex(each.key_bytes),
            "partition": each.partition,
        }
        for each in answer.as_types
    ]
    section = Section(
        id="types",
        title="The same KEY under other key types",
        columns=columns(type="key type|text", partition="partition", bytes="key bytes|prose"),
        **bounded(rows),
        picked=places(each.key_type == present for each in answer.as_types),
        is_detail=True,
    )
    return section if rows else None

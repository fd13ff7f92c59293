"""Where records are and where they would be, in words: `check`, `resize`, `copartition`; what was read of a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import all_of, counted
from partwright.documents.sentences.figures import times
from partwright.documents.sentences.writers import all_empty, time
from partwright.keys.key_text import short
from partwright.rendering.document import Verdict
from partwright.rendering.text import label, share

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partwright._check import Fields, Json
    from partwright.audit.check import Check
    from partwright.audit.copartition import Meeting

__all__ = ["contract", "of_check", "of_meeting", "of_reading", "places", "skew"]

# Below this, an uneven spread of keys is not put down to chance.
_UNLIKELY = 0.01
# The fullest partition is mentioned if it has at least this many times its fair share.
_SKEWED = 2.0
# Splitting keys is worth its price if it reduces the largest share by this much.
_WORTH = 0.9
# Name the cheapest salt that helps nearly as much as any.
_NEARLY = 1.1


def of_check(found: Check, answer: Fields) -> tuple[Verdict, ...]:
    """What a check found: the verdict first, then the contract, how even it is, and what salting would do.

    Args:
        found: The check.
        answer: The result of its `to_dict`, which takes a while for many keys.
    """
    broken = contract(found)
    first = places(found)
    if found.rows and not found.misplaced:
        contracted = f"The contract is broken: {'; '.join(found.broken)}. " if found.broken else ""
        fullest = _fullest(found, answer)
        words = f"{first.text} {fullest}"
        if found.misplaced is None:
            words = f"{contracted}{fullest}{_remedy(found, answer)} {first.text}"
        elif broken:
            words = f"{contracted}{fullest}{_remedy(found, answer)}"
        first = Verdict(_state(found), words)
    first = first._replace(text=f"{all_empty(found.is_all_empty)}{first.text}")
    examples = [Verdict("said", str(example)) for example in found.examples]
    salting = () if found.is_all_empty else _salting(answer)
    return (first, *broken, *skew(found), *salting, *_noted(found.note), *examples)


def _state(found: Check) -> str:
    if found.broken:
        return "fails"
    return "said" if found.misplaced is None and not found.has_contract else "holds"


def _fullest(found: Check, answer: Fields) -> str:
    """The fullest partition, how many times its fair share it has, and the key that makes it so."""
    parts = [part for part in answer["partitions"] if part["rows"]]
    if not parts:
        return "No record is in a partition."
    fullest = max(parts, key=lambda part: part["rows"])
    words = (
        f"Partition {fullest['partition']} holds {share(found.largest_share)} of the records, "
        f"{times(found.skew.largest_over_mean)} its fair share"
    )
    heavy = answer["heavy_keys"]
    if heavy and _is_skewed(found):
        key = heavy[0]
        words += f"; key {label(key['key'])} alone has {share(key['rows'] / found.rows)}"
    return f"{words}."


def _is_skewed(found: Check) -> bool:
    """Whether a partition is fuller than it should be; never with fewer records than partitions."""
    return found.skew.largest_over_mean >= _SKEWED and found.rows >= found.among


def _remedy(found: Check, answer: Fields) -> str:
    """The cheapest salt that helps, if any does."""
    able = [each for each in answer["salted"] if each["largest_share"] < _WORTH * found.largest_share]
    if not able or not _is_skewed(found) or found.is_all_empty:
        return ""
    least = min(each["largest_share"] for each in able)
    best = next(each for each in able if each["largest_share"] <= _NEARLY * least)
    what = "that key" if best["keys"] == 1 else f"the {counted(best['keys'], 'heaviest key')}"
    after = share(best["largest_share"])
    return f" Salt {what} {best['ways']} ways: the largest partition would then hold {after}."


def _salting(answer: Fields) -> Iterable[Verdict]:
    """What splitting the heavy keys would achieve, if it helps."""
    salted = answer["salted"]
    if not any(each["largest_share"] < answer["largest_share"] for each in salted):
        return ()
    what = (
        "the heaviest key" if salted[0]["keys"] == 1 else f"the {counted(salted[0]['keys'], 'heaviest key')}"
    )
    shares = ", ".join(f"{each['ways']} ways {share(each['largest_share'])}" for each in salted)
    return (Verdict("said", f"With {what} salted, the largest partition would hold: {shares}."),)


def places(found: Check) -> Verdict:
    """Whether records are where their client puts them."""
    if not found.rows:
        return Verdict("open", "Nothing was checked: there are no records.", headline="Nothing was checked")
    if found.misplaced is None:
        headline = "Not compared"
        return Verdict(
            "said" if found.has_contract else "open",
            f"{headline} with where the records are: no column of partitions was named.{_undetermined(found)}",
            headline="" if found.has_contract else headline,
        )
    if not found.misplaced:
        them = "it" if found.rows == 1 else "them"
        return Verdict(
            "holds",
            f"{_all(found.rows)} where {found.client} puts {them}.{_undetermined(found)}",
        )
    undetermined, said = _undetermined(found), []
    of = counted(found.rows, "record")
    if wrong := found.misplaced - found.nowhere:
        them = "it" if wrong == 1 else "them"
        part = _all(found.rows)
        if wrong < found.rows:
            part = f"{wrong:,} of {of} ({share(wrong / found.rows)}) {_are(wrong)}"
        words = f"{part} not where {found.client} puts {them}"
        first = next((each for each in found.examples if each.partition is not None), None)
        if first is not None:
            wanted = "elsewhere" if first.expected is None else f"in {first.expected}"
            words += (
                f"; the first: key {label(first.key)} is in {label(first.partition)} and belongs {wanted}"
            )
        said.append(f"{words}.")
    if found.nowhere:
        have = "has" if found.nowhere == 1 else "have"
        said.append(
            f"{found.nowhere:,} of {of} {have} no partition (null or empty): look at the column named with --partition."
        )
    # Records without a partition are refused there.
    advice = "" if found.nowhere else " Run partwright fingerprint to learn who wrote them."
    return Verdict("fails", f"{' '.join(said)}{undetermined}{advice}")


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _all(rows: int) -> str:
    words = all_of(rows, "record is", "records are")
    return f"{words[0].upper()}{words[1:]}"


def _undetermined(found: Check) -> str:
    return f" Undetermined: {found.undetermined:,}." if found.undetermined else ""


def contract(found: Check) -> tuple[Verdict, ...]:
    """Whether the shares keep their contract, if there is one."""
    if found.has_contract and not found.broken:
        return (Verdict("holds", "The shares keep the contract."),)
    return tuple(Verdict("fails", f"{sentence[0].upper()}{sentence[1:]}.") for sentence in found.broken)


def skew(found: Check) -> Iterable[Verdict]:
    """How uneven it is, and whether chance or heavy keys make it so."""
    of = found.skew
    said = []
    if of.expected_used is not None and found.rows > found.null_keys:
        of_them = f"of {counted(found.among, 'partition')}"
        said.append(
            Verdict(
                "said",
                f"{counted(found.used, f'{of_them} has', f'{of_them} have')} "
                f"records; hashing alone would fill {of.expected_used:,.0f}.",
            )
        )
    if of.p_value is not None:
        is_even = of.p_value >= _UNLIKELY
        because = "; heavy keys cause the skew" if is_even and of.largest_over_mean >= _SKEWED else ""
        spread = "evenly" if is_even else "unevenly"
        said.append(Verdict("said", f"Distinct keys hash {spread} (p = {of.p_value:.2g}){because}."))
    return said


def _noted(*notes: str | None) -> Iterable[Verdict]:
    return tuple(Verdict("said", f"{note[0].upper()}{short(note[1:])}.") for note in notes if note)


def of_reading(told: Json) -> tuple[Verdict, ...]:
    """How much of a topic was read, which is what the answer is about; nothing where it was plainly everything."""
    if told["whole"] and told["records"] == told["of"] and not (told["tombstones"] or told["came"]):
        return ()
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
        return (Verdict("said", "; ".join(said)),)
    limits = [f"{name} {time(bounds[name])}" for name in ("since", "until") if name in bounds]
    if "last" in bounds:
        limits.append(f"the newest {bounds['last']:,} of each partition")
    if "partitions" in bounds:
        pairs = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in bounds["partitions"])
        limits.append(f"partitions {pairs}")
    part = f" ({'; '.join(limits)})" if limits else ""
    headline = "the answer is of a part of the topic"
    return (Verdict("open", f"{headline}{part}: {'; '.join(said)}", headline=headline),)


def of_meeting(found: Meeting) -> tuple[Verdict, ...]:
    """Whether two tables meet, and each reason why not."""
    sampled = ", of those that were looked at" if found.is_sampled else ""
    if found.ok:
        all_keys = all_of(found.keys_shared, "shared key is", "shared keys are")
        words = f"They meet: {all_keys} in the same partition in both"
    else:
        words = f"They do not meet: {_shares_apart(found)}"
    headline = "They meet" if found.ok else "They do not meet"
    reasons = (
        Verdict("said", f"{reason.kind}: {reason.sentence}", headline=reason.kind) for reason in found.reasons
    )
    sides = {"A": found.a.is_all_empty, "B": found.b.is_all_empty}
    empty = "".join(name for name, is_empty in sides.items() if is_empty)
    first = f"{all_empty(bool(empty), '' if all(sides.values()) else empty)}{words}{sampled}{_first_apart(found)}."
    return (Verdict("holds" if found.ok else "fails", first, headline=headline), *reasons)


def _first_apart(found: Meeting) -> str:
    """The heaviest key that does not meet."""
    if found.a.n != found.b.n:
        return f"; A has {counted(found.a.n, 'partition')} and B {found.b.n:,}"
    if found.ok or not found.examples:
        return ""
    first = found.examples[0]
    a, b = (", ".join(map(str, each)) or "any" for each in (first.a, first.b))
    return f"; key {label(first.key)} is in partition {a} of A and {b} of B"


def _shares_apart(found: Meeting) -> str:
    apart = found.keys_shared - found.keys_meeting
    if not apart:
        return f"{found.keys_shared:,} of {counted(found.a.keys, 'key')} of A and {found.b.keys:,} of B are in both"
    rows = found.a.rows_not_meeting + found.b.rows_not_meeting
    of = found.a.rows_shared + found.b.rows_shared
    return (
        f"{apart:,} of {counted(found.keys_shared, 'shared key')} ({share(found.share_of_keys)}), with {rows:,} of "
        f"their {counted(of, 'record')} ({share(found.share_of_rows)})"
    )

"""Two tables' descriptions, and why they do not meet: a kind and a sentence for each reason."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

from partwright import _core
from partwright._check import counted
from partwright.audit.encodings import words
from partwright.keys.key_text import short, shown_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partwright._check import Json
    from partwright.audit.encodings import Same
    from partwright.audit.fingerprint_answer import Fingerprint

__all__ = ["HARMLESS", "Counts", "Reason", "Summary", "reasons", "who"]

# Reasons that do not keep any key from meeting.
HARMLESS = frozenset({"null-keys"})


@dataclass(frozen=True)
class Reason:
    """Why keys do not meet.

    Attributes:
        kind: `key-bytes`, `n`, `client`, `moved`, `no-rule`, `no-shared-keys`; or `null-keys`, which keeps no key
            apart.
        sentence: The reason in words.
    """

    kind: str
    sentence: str


@dataclass(frozen=True)
class Summary:
    """One of two tables, described.

    Attributes:
        n: How many partitions it has.
        is_n_found: Whether n was found from the partitions of its keys.
        client: The client that would place its keys; None if their partitions are known.
        writer: Who wrote it, if the partitions are known.
        rows: All its records.
        null_keys: Records without a key.
        keys: How many different keys were looked at.
        keys_alone: Keys that the other table lacks.
        rows_alone: Their records.
        rows_shared: The records of keys that both have.
        rows_not_meeting: The ones among them whose key does not meet.
    """

    n: int
    is_n_found: bool
    client: str | None
    writer: Fingerprint | None
    rows: int
    null_keys: int
    is_all_empty: bool
    keys: int
    keys_alone: int
    rows_alone: int
    rows_shared: int
    rows_not_meeting: int

    def to_dict(self) -> Json:
        """The object for the JSON output."""
        found = asdict(self)
        writer = self.writer
        found["writer"] = writer and {
            "verdict": writer.verdict,
            "family": writer.family,
            "shares": writer.shares,
            "key_transform": writer.key_transform,
            "change": None if writer.change is None else writer.change.to_dict(),
        }
        return found


class Counts(NamedTuple):
    """How many different keys meet, and how many do not.

    Attributes:
        shared: In both tables.
        together: Of those, in one partition with the same number in both tables.
        scattered: In several partitions of A, and of B.
        apart: In one partition of each, and not in the same.
    """

    shared: int
    together: int
    scattered: tuple[int, int]
    apart: int


def reasons(
    a: Summary, b: Summary, counts: Counts, same: Same | None, *, is_sampled: bool
) -> tuple[Reason, ...]:
    """The reasons why not all keys meet, the first to fix first; empty if all meet.

    Args:
        a: The one table.
        b: The other.
        counts: How many keys meet.
        same: Encodings under which differing keys would be the same.
        is_sampled: Whether only some keys were looked at.
    """
    found = [
        *_key_bytes(counts, same, is_sampled=is_sampled),
        *_n(a, b, counts, is_sampled=is_sampled),
        *_client(a, b, counts),
        *_moved(a, b, counts, is_sampled=is_sampled),
    ]
    explained = any(each.kind == "client" for each in found) or _is_grown(a) or _is_grown(b)
    if a.n == b.n and counts.apart and not explained:
        found.append(_no_rule(a, b, counts, is_sampled=is_sampled))
    if not counts.shared and same is None:
        found.append(_no_shared_keys(a, b, is_sampled=is_sampled))
    if a.null_keys or b.null_keys:
        found.append(
            Reason(
                "null-keys",
                f"{counted(a.null_keys, 'record')} of A and {b.null_keys:,} of B without a key meet nobody",
            )
        )
    return tuple(found)


def who(side: Summary) -> str:
    """Who put a table's keys where they are, in words."""
    if side.writer is None:
        return str(side.client)
    writer = side.writer
    behind = "" if writer.key_transform is None else f" by its keys {words(writer.key_transform)}"
    if len(writer.shares) > 1 or writer.verdict == "mixture":
        parts = sorted(writer.shares.items(), key=lambda each: -each[1])
        return f"{', '.join(f'{name} {share:.1%}' for name, share in parts)}{behind}"
    if writer.verdict == "undecided":
        if len(writer.family) > 1:
            return f"one of {', '.join(writer.family)}"
        return f"perhaps {writer.family[0]}" if writer.family else "undecided"
    return f"{writer.family[0]}{behind}" if writer.family else writer.verdict


def _key_bytes(counts: Counts, same: Same | None, *, is_sampled: bool) -> Iterator[Reason]:
    if same is not None:
        of_a, of_b = (short(shown_key(key)) for key in (same.of_a, same.of_b))
        in_a, in_b = map(words, same.names)
        are = _keys(same.keys, "key", is_sampled=is_sampled)
        yield Reason(
            "key-bytes",
            f"{are} the same if A's are read {in_a} and B's {in_b}, but {counts.shared:,} byte for "
            f"byte: {of_a} of A and {of_b} of B are one key",
        )


def _n(a: Summary, b: Summary, counts: Counts, *, is_sampled: bool) -> Iterator[Reason]:
    if a.n != b.n:
        looked_at = " that were looked at" if is_sampled else ""
        of = f"of {counted(counts.shared, 'shared key')}{looked_at}"
        by_chance = f"; {counted(counts.together, f'{of} is', f'{of} are')} in the same one by chance"
        yield Reason(
            "n",
            f"A has {counted(a.n, 'partition')} and B has {b.n}: Kafka Streams refuses to join them"
            f"{by_chance if counts.together else ''}",
        )


def _client(a: Summary, b: Summary, counts: Counts) -> Iterator[Reason]:
    """Different rules; or several writers, if keys are apart."""
    of_a, of_b = (_rules(each, is_transformed=counts.shared > 0) for each in (a, b))
    if not of_a or not of_b:
        return
    fails = a.n != b.n or not counts.shared or counts.together < counts.shared
    several = a.n == b.n and counts.apart > 0 and any(len(_shares(each)) > 1 for each in (a, b))
    if several or (fails and not of_a & of_b):
        yield Reason("client", f"A's keys are put by {who(a)}, and B's by {who(b)}")


def _moved(a: Summary, b: Summary, counts: Counts, *, is_sampled: bool) -> Iterator[Reason]:
    for letter, side, scattered in zip("AB", (a, b), counts.scattered, strict=True):
        change = side.writer and side.writer.change
        why = ""
        if change and change.kind == "n":
            # A file may hold records of a topic that was made anew with fewer partitions.
            got = (
                "more partitions"
                if list(change.steps) == sorted(change.steps, key=int)
                else "other numbers of them"
            )
            why = f", which got {got}: from {' to '.join(map(str, change.steps))}"
        elif len(_shares(side)) > 1:
            why = f", which several clients wrote: {who(side)}"
        elif side.writer and side.writer.verdict == "round-robin":
            why = ", which are taken in turn"
        if scattered:
            yield Reason(
                "moved", f"{_keys(scattered, is_sampled=is_sampled)} in several partitions of {letter}{why}"
            )
        elif _is_grown(side) and counts.apart and a.n == b.n:
            yield Reason("moved", f"keys are where they were before in {letter}{why}")


def _no_rule(a: Summary, b: Summary, counts: Counts, *, is_sampled: bool) -> Reason:
    letters = [
        letter for letter, side in zip("AB", (a, b), strict=True) if not _rules(side, is_transformed=True)
    ]
    why = (
        f"no client's rule puts the keys of {' and '.join(letters)} where they are"
        if letters
        else "one client's rule explains the others: these were given their partitions, or the client does not go by "
        "their keys, as librdkafka by an empty one"
    )
    apart = _keys(counts.apart, is_sampled=is_sampled)
    return Reason("no-rule", f"{apart} in another partition of B than of A: {why}")


def _no_shared_keys(a: Summary, b: Summary, *, is_sampled: bool) -> Reason:
    for letter, side in (("A", a), ("B", b)):
        if side.rows == side.null_keys:
            return Reason(
                "no-shared-keys",
                f"{letter} has no record with a key" if side.rows else f"{letter} has no records",
            )
    # A key that has other bytes in the other table is kept in both samples only by chance.
    where = (
        f" among the {a.keys:,} of A and {b.keys:,} of B that were looked at"
        if is_sampled
        else ", and no encoding that is tried makes a tenth of them the same"
    )
    return Reason("no-shared-keys", f"no key is in both{where}")


def _is_grown(side: Summary) -> bool:
    return side.writer is not None and side.writer.verdict == "n-change"


def _shares(side: Summary) -> dict[str, float]:
    return {} if side.writer is None else side.writer.shares


def _rules(side: Summary, *, is_transformed: bool) -> set[tuple[str, str, str | None]]:
    """The rules that may have put the keys where they are.

    Args:
        side: The table.
        is_transformed: Whether it matters that a rule uses only a part of the key; it does not if the other table's
            keys lack the rest.
    """
    names: set[str | None] = {side.client}
    transform = None
    if side.writer is not None:
        names = {*(side.writer.shares if len(side.writer.shares) > 1 else side.writer.family)}
        transform = side.writer.key_transform if is_transformed else None
    return {(row["hash"], row["sign"], transform) for row in _core.clients() if row["client"] in names}


def _keys(count: int, name: str = "shared key", *, is_sampled: bool) -> str:
    """A number of keys with its verb; for a sample, `at least`."""
    least = "at least " if is_sampled else ""
    return f"{least}{counted(count, f'{name} is', f'{name}s are')}"

"""Whether records of one key are in the same partition of two topics or tables, and if not, why: a kind and a sentence.

>>> from partwright.audit.key_sums import Observed
>>> from partwright.audit.check import Placer
>>> keys = pa.array([b"user-%d" % i for i in range(100)])
>>> a, b = Observed(), Observed()
>>> add_placed(a, Placer(12), keys)
>>> add_placed(b, Placer(12, "librdkafka"), keys)
>>> found = meet(JoinedKeys(a, 12, "java"), JoinedKeys(b, 12, "librdkafka"))
>>> found.ok, found.keys_shared, found.keys_meeting, [reason.kind for reason in found.reasons]
(False, 100, 7, ['client'])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import pyarrow as pa
import pyarrow.compute as pc

from partwright import _core
from partwright._check import Json, counted, spelled
from partwright.answer import Answer
from partwright.audit.encodings import same_keys, words
from partwright.audit.fingerprint_judge import judge
from partwright.audit.pair_tables import PAIRS, table_of, total
from partwright.errors import PartwrightError
from partwright.files.formats import in_one
from partwright.files.scalars import number
from partwright.keys.columns import as_arrow
from partwright.keys.hashing import encode
from partwright.keys.key_text import short, shown_key

if TYPE_CHECKING:
    from partwright.audit.check import Placer
    from partwright.audit.encodings import Same
    from partwright.audit.fingerprint_answer import Fingerprint
    from partwright.audit.key_sums import Observed
    from partwright.files.formats import Column

# The mark of a key that its client may put into any partition, as librdkafka does with an empty key.
ANYWHERE = -1
_EXAMPLES = 10
_LETTERS = "ab"


@dataclass(frozen=True, slots=True)
class JoinSide:
    """One of two topics or tables, with settings of its own: what is not set here is the same for both.

    Attributes:
        records: The records: what `partwright.check` takes, or a DataFrame of Spark.
        key: The column with the keys; in Spark also as a Column.
        n: The number of partitions; None for a topic's own, or to find it from where the keys are.
        client: The client profile that would place the keys; instead of `partition`.
        key_type: How a value becomes key bytes; see `partwright.encode`.
        partition: The column with the partitions, whole numbers without nulls; instead of `client`.
    """

    records: Any
    key: Any = None
    n: SupportsIndex | None = None
    client: str | None = None
    key_type: str | None = None
    partition: Any = None


def both_sides(
    common: JoinSide, a: object, b: object, is_topic: Callable[[Any], bool]
) -> tuple[JoinSide, JoinSide]:
    """Two topics or tables with all their settings.

    A column or a client of a side's own replaces both of the common ones. If only one side is a topic, the common
    settings are the other's, unless that has its own.

    Args:
        common: The settings of both.
        a: Records, or a `JoinSide`.
        b: The same.
        is_topic: Whether records are a topic's.
    """
    first, second = (each if isinstance(each, JoinSide) else JoinSide(each) for each in (a, b))

    def whole(side: JoinSide, other: JoinSide) -> JoinSide:
        is_table_beside = is_topic(side.records) and not is_topic(other.records)
        settings = {}
        for name in ("key", "n", "client", "key_type", "partition"):
            own = getattr(side, name)
            taken = is_table_beside and getattr(other, name) is None
            settings[name] = getattr(common, name) if own is None and not taken else own
        if side.client is not None or side.partition is not None:
            settings |= {"client": side.client, "partition": side.partition}
        return JoinSide(side.records, **settings)

    return whole(first, second), whole(second, first)


@dataclass(frozen=True)
class JoinedKeys:
    """One of the two tables.

    Attributes:
        seen: Its records, summed up.
        n: Its number of partitions; None finds it from where the keys are.
        client: The client that would place them; None if their partitions are known.
        key_type: How its keys are shown.
    """

    seen: Observed
    n: int | None = None
    client: str | None = None
    key_type: str | None = None


@dataclass(frozen=True)
class KeyApart:
    """A shared key that does not meet: its partitions in each table; an empty list if its client puts it anywhere."""

    key: str
    a: tuple[int, ...]
    b: tuple[int, ...]


@dataclass(frozen=True)
class Meeting(Answer):
    """Whether two tables meet.

    A key meets if all of its records are in one partition, with the same number in both tables, and both have the same
    number of partitions. If the numbers of partitions differ, no key meets: Kafka Streams refuses to start, a consumer
    gets different partitions of the two topics, and a key is in the same partition of both only by chance.

    Attributes:
        a: The first table.
        b: The second table.
        keys_shared: How many different keys are in both, byte for byte.
        keys_meeting: How many of them meet.
        share_of_keys: The share of the shared keys that do not meet, 0 to 1; None if there are none.
        share_of_rows: The share of both tables' rows with a shared key that does not meet; None if there are none.
        readings: How each table's keys have to be read to be the same; None if they already are.
        reasons: Why not all meet.
        examples: The keys with most rows that do not.
        is_sampled: Whether there were too many keys to look at all of them; all records of a sampled key count.
        names: What the tables are called; None if nobody named them.
        read: For each of them, how much of a topic was read, None for a file; None if both are files.
    """

    DOCUMENT = "copartition"
    ROWS = "examples"

    a: Summary
    b: Summary
    keys_shared: int
    keys_meeting: int
    share_of_keys: float | None
    share_of_rows: float | None
    readings: tuple[str | None, str | None] | None
    reasons: tuple[Reason, ...]
    examples: tuple[KeyApart, ...]
    is_sampled: bool
    names: tuple[str, str] | None = None
    read: tuple[Json | None, ...] | None = None

    @property
    def ok(self) -> bool:
        """Whether they meet: there are shared keys, and nothing keeps any of them apart."""
        return all(reason.kind in HARMLESS for reason in self.reasons)

    def to_dict(self) -> Json:
        """The object for the JSON output."""
        whole = asdict(self)
        del whole["names"]
        if self.read is None:
            del whole["read"]
        return {
            "ok": self.ok,
            **whole,
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "readings": self.readings and dict(zip(_LETTERS, self.readings, strict=True)),
        }


def add_placed(seen: Observed, placer: Placer, keys: Column) -> None:
    """Take the next rows' keys of a table, in the partitions where a client would put them.

    Raises:
        PartwrightError: A key has no key bytes under the key type.
    """
    places = in_one(placer.place(keys)).cast(pa.int64())
    seen.add(
        in_one(encode(as_arrow(keys, placer.key_type), placer.key_type)),
        pc.fill_null(places, number(ANYWHERE)),
    )


def meet(a: JoinedKeys, b: JoinedKeys) -> Meeting:
    """Whether two tables meet, and why not.

    Raises:
        PartwrightError: A record is in a partition that n does not have, n cannot be found, or one table has so many
            keys and the other so few that the kept samples share none.
    """
    about = [_about(a, "A", spelled("n")), _about(b, "B", spelled("n_b"))]
    pairs_a, pairs_b, kept = a.seen.comparable(b.seen)
    for letter, side, left in (("A", a, pairs_a), ("B", b, pairs_b)):
        if side.seen.pairs().num_rows and not left.num_rows:
            raise PartwrightError(
                f"no key of {letter} is among the part of the other's keys that fits into memory: compare "
                f"{letter} with fewer of the other's records"
            )
    keys = _by_key(pairs_a, pairs_b)
    own = [keys.filter(pc.is_valid(keys[f"{each}_min"])) for each in _LETTERS]
    shared = own[0].filter(pc.is_valid(own[0]["b_min"]))
    in_one = [pc.equal(shared[f"{each}_min"], shared[f"{each}_max"]) for each in _LETTERS]
    together = pc.and_(pc.and_(*in_one), pc.equal(shared["a_min"], shared["b_min"]))
    # If a client takes any partition for a key, there is no partition to compare.
    together = pc.and_(together, pc.not_equal(shared["a_min"], number(ANYWHERE)))
    failing = shared.filter(pc.invert(together)) if about[0]["n"] == about[1]["n"] else shared
    summary_a, summary_b = (
        Summary(
            **each,
            keys=table.num_rows,
            keys_alone=table.num_rows - shared.num_rows,
            rows_alone=total(table[rows]) - total(shared[rows]),
            rows_shared=total(shared[rows]),
            rows_not_meeting=total(failing[rows]),
        )
        for each, table, rows in zip(about, own, ("a_rows", "b_rows"), strict=True)
    )
    counts = Counts(
        is_sampled=kept < 1,
        shared=shared.num_rows,
        together=total(together),
        scattered=(total(pc.invert(in_one[0])), total(pc.invert(in_one[1]))),
        apart=total(pc.and_not(pc.and_(*in_one), together)),
        keys=tuple(pc.min(table["key"]).as_py() for table in own),
    )
    same = same_keys(own[0]["key"], own[1]["key"], shared.num_rows, kept)
    rows = summary_a.rows_shared + summary_b.rows_shared
    rows_failing = summary_a.rows_not_meeting + summary_b.rows_not_meeting
    return Meeting(
        summary_a,
        summary_b,
        keys_shared=shared.num_rows,
        keys_meeting=shared.num_rows - failing.num_rows,
        share_of_keys=failing.num_rows / shared.num_rows if shared.num_rows else None,
        share_of_rows=rows_failing / rows if rows else None,
        readings=None if same is None else same.names,
        reasons=reasons(summary_a, summary_b, counts, same),
        examples=_examples(failing, pairs_a, pairs_b, a.key_type),
        is_sampled=kept < 1,
    )


def _about(side: JoinedKeys, letter: str, option: str) -> Json:
    """Describe one of the two tables; its number of partitions is found if it is not given."""
    seen, n, writer = side.seen, side.n, None
    largest = max(seen.rows_in, default=-1)
    if n is not None and largest >= n:
        raise PartwrightError(
            f"a record of {letter} is in partition {largest}, which a topic of {counted(n, 'partition')} has not: "
            f"check {option}"
        )
    if side.client is None:
        writer = judge(seen, n)
        # With few keys, many numbers of partitions fit.
        if n is None and writer.verdict != "undecided":
            n = writer.n
    if n is None or largest >= n:
        raise PartwrightError(f"nothing tells how many partitions {letter} has: say it with {option}")
    return {
        "n": n,
        "is_n_found": side.n is None,
        "client": side.client,
        "writer": writer,
        "rows": seen.rows,
        "null_keys": seen.null_keys,
        "is_all_empty": seen.is_all_empty,
    }


def _by_key(a: pa.Table, b: pa.Table) -> pa.Table:
    """A row for each key: its first and last partition and its rows in each table; null if the table lacks the key."""
    # The core's sums by key have room for two tables: a pair's partition counts as the time of one that is in A, and as
    # the offset of one that is in B, whose rows count as bytes.
    key_sums = _core.KeySums()
    for pairs, is_a in ((a, True), (b, False)):
        for batch in pairs.to_batches():
            place, rows, nowhere = batch["partition"], batch["rows"], pa.nulls(batch.num_rows, pa.int64())
            sums = [None, place, place, None, None] if is_a else [rows, None, None, place, place]
            own_rows = rows if is_a else pa.repeat(number(0), batch.num_rows)
            key_sums.add(batch["key"], nowhere, sums, own_rows)
    names = ["key", "a_rows", "b_rows", "a_min", "a_max", "b_min", "b_max"]
    return table_of(key_sums).select(PAIRS.names[1:]).rename_columns(names)


def _examples(failing: pa.Table, a: pa.Table, b: pa.Table, key_type: str | None) -> tuple[KeyApart, ...]:
    rows = pc.add(failing["a_rows"], failing["b_rows"])
    order = [("rows", "descending"), ("key", "ascending")]
    heavy = pa.table({"key": failing["key"], "rows": rows}).sort_by(order).slice(0, _EXAMPLES)["key"]
    places = [_places(pairs, heavy) for pairs in (a, b)]
    return tuple(
        KeyApart(shown_key(key, key_type), *(of_key.get(key, ()) for of_key in places))
        for key in heavy.to_pylist()
    )


def _places(pairs: pa.Table, keys: object) -> dict[bytes, tuple[int, ...]]:
    partitions_by_key: dict[bytes, tuple[int, ...]] = {}
    pairs_of_keys = pairs.filter(pc.is_in(pairs["key"], value_set=pc.unique(keys))).sort_by("partition")
    for row in pairs_of_keys.filter(pc.not_equal(pairs_of_keys["partition"], number(ANYWHERE))).to_pylist():
        partitions_by_key[row["key"]] = (*partitions_by_key.get(row["key"], ()), row["partition"])
    return partitions_by_key


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
        fields = asdict(self)
        writer = self.writer
        fields["writer"] = writer and {
            "verdict": writer.verdict,
            "family": writer.family,
            "shares": writer.shares,
            "key_transform": writer.key_transform,
            "change": None if writer.change is None else writer.change.to_dict(),
        }
        return fields


class Counts(NamedTuple):
    """How many different keys meet, and how many do not.

    Attributes:
        is_sampled: Whether only some keys were looked at.
        shared: In both tables.
        together: Of those, in one partition with the same number in both tables.
        scattered: In several partitions of A, and of B.
        apart: In one partition of each, and not in the same.
        keys: A key of each table, the least by its bytes; None if it has none.
    """

    is_sampled: bool
    shared: int
    together: int
    scattered: tuple[int, int]
    apart: int
    keys: tuple[bytes | None, bytes | None] = (None, None)


def reasons(a: Summary, b: Summary, counts: Counts, same: Same | None) -> tuple[Reason, ...]:
    """The reasons why not all keys meet, the first to fix first; empty if all meet.

    Args:
        a: The one table.
        b: The other.
        counts: How many keys meet.
        same: Encodings under which differing keys would be the same.
    """
    causes = [
        *_key_bytes(counts, same),
        *_n(a, b, counts),
        *_client(a, b, counts),
        *_moved(a, b, counts),
    ]
    explained = any(each.kind == "client" for each in causes) or _is_grown(a) or _is_grown(b)
    if a.n == b.n and counts.apart and not explained:
        causes.append(_no_rule(a, b, counts))
    if not counts.shared and same is None:
        causes.append(_no_shared_keys(a, b, counts))
    if a.null_keys or b.null_keys:
        causes.append(
            Reason(
                "null-keys",
                f"{counted(a.null_keys, 'record')} of A and {b.null_keys:,} of B without a key meet nobody",
            )
        )
    return tuple(causes)


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


def _key_bytes(counts: Counts, same: Same | None) -> Iterator[Reason]:
    if same is not None:
        of_a, of_b = (short(shown_key(key)) for key in (same.of_a, same.of_b))
        in_a, in_b = map(words, same.names)
        are = _keys(same.keys, counts, "key")
        yield Reason(
            "key-bytes",
            f"{are} the same if A's are read {in_a} and B's {in_b}, but {counts.shared:,} byte for "
            f"byte: {of_a} of A and {of_b} of B are one key",
        )


def _n(a: Summary, b: Summary, counts: Counts) -> Iterator[Reason]:
    if a.n != b.n:
        looked_at = " that were looked at" if counts.is_sampled else ""
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


def _moved(a: Summary, b: Summary, counts: Counts) -> Iterator[Reason]:
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
            yield Reason("moved", f"{_keys(scattered, counts)} in several partitions of {letter}{why}")
        elif _is_grown(side) and counts.apart and a.n == b.n:
            yield Reason("moved", f"keys are where they were before in {letter}{why}")


def _no_rule(a: Summary, b: Summary, counts: Counts) -> Reason:
    letters = [
        letter for letter, side in zip("AB", (a, b), strict=True) if not _rules(side, is_transformed=True)
    ]
    why = (
        f"no client's rule puts the keys of {' and '.join(letters)} where they are"
        if letters
        else "one client's rule explains the others: these were given their partitions, or the client does not go by "
        "their keys, as librdkafka by an empty one"
    )
    apart = _keys(counts.apart, counts)
    return Reason("no-rule", f"{apart} in another partition of B than of A: {why}")


def _no_shared_keys(a: Summary, b: Summary, counts: Counts) -> Reason:
    for letter, side in (("A", a), ("B", b)):
        if side.rows == side.null_keys:
            return Reason(
                "no-shared-keys",
                f"{letter} has no record with a key" if side.rows else f"{letter} has no records",
            )
    # A key that has other bytes in the other table is kept in both samples only by chance.
    where = (
        f" among the {a.keys:,} of A and {b.keys:,} of B that were looked at"
        if counts.is_sampled
        else ", and no encoding that is tried makes a tenth of them the same"
    )
    of_a, of_b = (short(shown_key(key)) for key in counts.keys)
    return Reason("no-shared-keys", f"no key is in both{where}: {of_a} is a key of A, and {of_b} of B")


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


def _keys(count: int, counts: Counts, name: str = "shared key") -> str:
    """A number of keys with its verb; for a sample, `at least`."""
    least = "at least " if counts.is_sampled else ""
    return f"{least}{counted(count, f'{name} is', f'{name}s are')}"

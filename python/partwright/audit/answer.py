"""What is said of a topic's records once its writers are found, or none is."""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from partwright.audit.rules import Writer, follows, rules
from partwright.clients import clients
from partwright.errors import PartwrightError
from partwright.files.literals import FALSE, TRUE, number
from partwright.hashing import partition_for_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright.audit.observed import Observed

__all__ = ["Answers", "Change", "Fingerprint"]

# The share of records that no rule explains, where there is one writer all the same.
_UNEXPLAINED = 0.01
_EXAMPLES = 5


@dataclass(frozen=True)
class Change:
    """When a topic's writer or its number of partitions changed.

    Attributes:
        kind: `n` or `writer`.
        before: The number of partitions, or the writer's profile, before.
        after: The same after.
        last_timestamp_before: That of the last record which only the former explains; None without timestamps.
        first_timestamp_after: That of the first record which only the latter explains; None without timestamps.
        first_offset_after: By partition, the offset of the first record which only the latter explains; empty
            without offsets.
    """

    kind: str
    before: int | str
    after: int | str
    last_timestamp_before: int | None
    first_timestamp_after: int | None
    first_offset_after: dict[int, int]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        names = {"before": "from", "after": "to"}
        return {names.get(name, name): value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Fingerprint:
    """Which client wrote a topic.

    Attributes:
        verdict: `one-writer`; `mixture` of several, or of one and what follows no rule; `n-change` and
            `writer-change` at a point in time; `round-robin` where keys are there and partitions follow a cycle;
            `no-rule` where keys are there and no profile puts them where they are; `no-keys`; `undecided` where
            too few keys tell the profiles apart.
        n: For how many partitions it was written, the latest; None where nothing tells.
        family: The profiles that these keys cannot tell apart, in the order of `partwright.clients`.
        shares: Of the records with a key, the share of each writer, by one profile of its family.
        key_transform: What had to be done to the keys first; None for nothing.
        change: When the writer or n changed.
        explained: By profile, the records whose partition it explains and those whose partition it determines.
        deciding_keys: How many different keys the nearest other rule puts elsewhere.
        rows: All records.
        null_keys: Those without a key.
        keys: How many different keys were looked at.
        scattered_keys: How many of them are in several partitions.
        scattered: Some of those, with their partitions.
        unexplained: The share of the records with a key that no writer put where they are; what agrees with a rule by
            chance is estimated, and counted here.
        is_sampled: Whether there were too many keys to look at all: of those that were, all records count.
    """

    verdict: str
    n: int | None
    family: tuple[str, ...]
    shares: dict[str, float]
    key_transform: str | None
    change: Change | None
    explained: dict[str, tuple[int, int]]
    deciding_keys: int
    rows: int
    null_keys: int
    keys: int
    scattered_keys: int
    scattered: tuple[tuple[bytes, tuple[int, ...]], ...]
    unexplained: float
    is_sampled: bool

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; keys are hex."""
        found = asdict(self)
        found["change"] = None if self.change is None else self.change.to_dict()
        found["scattered"] = [
            {"key_hex": key.hex(), "partitions": list(partitions)} for key, partitions in self.scattered
        ]
        return found


class Answers:
    """Makes the answers about some pairs of a key and a partition.

    Args:
        seen: All that was seen.
        pairs: Its pairs, their keys as they are or with something taken off.
        n: How many partitions the topic has; None where nobody knows.
        transform: What was taken off.
    """

    def __init__(self, seen: Observed, pairs: pa.Table, n: int | None, transform: str | None = None) -> None:
        self.seen = seen
        self.pairs = pairs
        self.n = n
        self.transform = transform
        by_key = pairs.group_by("key", use_threads=False).aggregate([("partition", "count")])
        self.keys = by_key.num_rows
        self.scattered = by_key.filter(pc.greater(by_key["partition_count"], number(1)))["key"]

    def without_writer(self, verdict: str, n: int | None) -> Fingerprint:
        """No rule is seen."""
        return self._made(verdict, n, unexplained=1.0 if self.pairs.num_rows else 0.0)

    def undecided(self, left: Sequence[Writer]) -> Fingerprint:
        """Some rules are left, or one is left by chance."""
        numbers = {each.n for each in left}
        n = numbers.pop() if len(numbers) == 1 else self.n
        families = {name for each in left for name in self._family(each)}
        family = tuple(name for name in _names() if name in families)
        return self._made("undecided", n, family=family, explained={} if n is None else self._explained(n))

    def by(self, writers: Sequence[Writer]) -> Fingerprint:
        """Some writers are seen."""
        alone = {writer: self._rows(self._alone(writer, writers)) for writer in writers}
        # What another writer has alone by chance only is none.
        writers = [writer for writer in writers if alone[writer]]
        unexplained = self._unexplained(writers)
        shares: dict[str, float] = {}
        for writer in writers:
            name = self._family(writer)[0]
            part = alone[writer] / sum(alone.values())
            shares[name] = shares.get(name, 0.0) + (1 - unexplained) * part
        change = self._change(writers)
        verdict = "one-writer" if len(writers) == 1 and unexplained <= _UNEXPLAINED else "mixture"
        if change is not None:
            verdict = f"{change.kind}-change"
        last = max(writers, key=lambda writer: writer.n)
        return self._made(
            verdict,
            last.n,
            family=self._family(last),
            shares=shares,
            change=change,
            explained=self._explained(last.n),
            deciding_keys=self._deciding(last),
            unexplained=unexplained,
        )

    def _unexplained(self, writers: Sequence[Writer]) -> float:
        found = [follows(self.pairs, writer) for writer in writers]
        followed = functools.reduce(pc.or_, (pc.fill_null(each, FALSE) for each in found))
        determined = functools.reduce(pc.or_, (each.is_valid() for each in found))
        rows = self._rows(determined)
        unexplained = 1 - self._rows(followed) / rows if rows else 0.0
        # Of what follows no rule, each writer's agrees with one of n by chance.
        by_chance = sum(1 / writer.n for writer in writers)
        return min(1.0, unexplained / (1 - by_chance)) if by_chance < 1 else unexplained

    def _alone(self, writer: Writer, writers: Sequence[Writer]) -> Any:  # noqa: ANN401 - an Arrow column
        """The pairs that one of several writers alone explains."""
        alone = pc.fill_null(follows(self.pairs, writer), FALSE)
        for other in writers:
            if other != writer:
                alone = pc.and_not(alone, pc.fill_null(follows(self.pairs, other), FALSE))
        return alone

    def _change(self, writers: Sequence[Writer]) -> Change | None:
        """From one writer or n to another, if there are two and one came after the other."""
        try:
            a, b = writers
        except ValueError:
            return None
        spans = {writer: _Span(self.pairs.filter(self._alone(writer, writers))) for writer in writers}
        if a.n != b.n:
            # It only grows.
            before, after = sorted(writers, key=lambda writer: writer.n)
            return self._changed("n", before.n, after.n, spans[before], spans[after])
        for before, after in ((a, b), (b, a)):
            if spans[before].is_before(spans[after]):
                names = (self._family(before)[0], self._family(after)[0])
                return self._changed("writer", *names, spans[before], spans[after])
        return None

    @staticmethod
    def _changed(kind: str, before: int | str, after: int | str, former: _Span, latter: _Span) -> Change:
        return Change(kind, before, after, former.last, latter.first, latter.first_offsets)

    def _family(self, writer: Writer) -> tuple[str, ...]:
        """The profiles that explain all that a writer explains, and put nothing elsewhere that it leaves open."""
        own = follows(self.pairs, writer)
        names = []
        for name in _names():
            other = follows(self.pairs, Writer(name, writer.n))
            if other is None or not pc.any(other, min_count=0).as_py():
                continue
            elsewhere = pc.fill_null(pc.invert(other), FALSE)
            against = pc.any(pc.and_(pc.fill_null(own, TRUE), elsewhere), min_count=0).as_py()
            right, determined = self._null_keys(name, writer.n)
            if not against and right == determined:
                names.append(name)
        return tuple(names) or (writer.client,)

    def _null_keys(self, client: str, n: int) -> tuple[int, int]:
        """How many null keys are where a client puts them, of how many that it puts somewhere."""
        place = partition_for_key(pa.array([None], pa.binary()), n, client)[0].as_py()
        return (0, 0) if place is None else (self.seen.null_keys_in[place], self.seen.null_keys)

    def _explained(self, n: int) -> dict[str, tuple[int, int]]:
        explained = {}
        for name in _names():
            found = follows(self.pairs, Writer(name, n))
            if found is not None:
                right, determined = self._null_keys(name, n)
                right += self._rows(pc.fill_null(found, FALSE))
                explained[name] = (right, determined + self._rows(found.is_valid()))
        return explained

    def _deciding(self, writer: Writer) -> int:
        keys = pc.unique(self.pairs["key"])
        own = partition_for_key(keys, writer.n, writer.client)
        found = []
        for rule in rules():
            try:
                other = partition_for_key(keys, writer.n, rule)
            except PartwrightError:
                continue
            if rule != writer.client:
                found.append(pc.sum(pc.not_equal(own, other)).as_py() or 0)
        return min(found, default=0)

    def _rows(self, mask: Any) -> int:  # noqa: ANN401 - an Arrow column
        return pc.sum(self.pairs["rows"].filter(mask)).as_py() or 0

    def _made(
        self,
        verdict: str,
        n: int | None,
        *,
        family: tuple[str, ...] = (),
        shares: dict[str, float] | None = None,
        change: Change | None = None,
        explained: dict[str, tuple[int, int]] | None = None,
        deciding_keys: int = 0,
        unexplained: float = 0.0,
    ) -> Fingerprint:
        some = self.scattered.take(pc.sort_indices(self.scattered).slice(0, _EXAMPLES))
        return Fingerprint(
            verdict=verdict,
            n=n,
            family=family,
            shares=shares or {},
            key_transform=self.transform,
            change=change,
            explained=explained or {},
            deciding_keys=deciding_keys,
            rows=self.seen.rows,
            null_keys=self.seen.null_keys,
            keys=self.keys,
            scattered_keys=len(self.scattered),
            scattered=tuple(self._places(key) for key in some),
            unexplained=unexplained,
            is_sampled=self.seen.is_sampled,
        )

    def _places(self, key: Any) -> tuple[bytes, tuple[int, ...]]:  # noqa: ANN401 - a binary scalar
        places = self.pairs.filter(pc.equal(self.pairs["key"], key))["partition"]
        return key.as_py(), tuple(sorted(places.to_pylist()))


class _Span:
    """From when to when some pairs have records, in time and in each partition."""

    def __init__(self, pairs: pa.Table) -> None:
        self.first: int | None = pc.min(pairs["first"]).as_py()
        self.last: int | None = pc.max(pairs["last"]).as_py()
        by_partition = pairs.group_by("partition", use_threads=False).aggregate(
            [("first_offset", "min"), ("last_offset", "max")]
        )
        rows = [row for row in by_partition.to_pylist() if row["first_offset_min"] is not None]
        self.first_offsets: dict[int, int] = {
            row["partition"]: row["first_offset_min"]
            for row in sorted(rows, key=lambda row: row["partition"])
        }
        self.last_offsets: dict[int, int] = {row["partition"]: row["last_offset_max"] for row in rows}

    def is_before(self, other: _Span) -> bool:
        """Whether it ends before another begins: by the times, or by the offsets of the partitions that both have."""
        if self.last is not None and other.first is not None:
            return self.last <= other.first
        both = self.last_offsets.keys() & other.first_offsets.keys()
        return bool(both) and all(self.last_offsets[each] < other.first_offsets[each] for each in both)


def _names() -> list[str]:
    names: list[str] = clients()["client"].to_pylist()
    return names

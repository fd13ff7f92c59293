"""The answer about a topic's records, whether writers were found or not."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import Json, counted
from partwright.answer import Answer
from partwright.audit.faulty_rules import Fault, follows_fault
from partwright.audit.fingerprint_search import CandidateWriter, alike, follows, rules
from partwright.audit.key_sums import Observed
from partwright.audit.pair_tables import rows_by_key, value_counts
from partwright.audit.writer_change import Change, Parting, course, parting
from partwright.errors import PartwrightError
from partwright.files.scalars import FALSE, TRUE, number
from partwright.keys.client_profiles import client_names
from partwright.keys.hashing import partition_for_key

# Up to this share of unexplained records there is still one writer: strays are its exceptions.
_UNEXPLAINED = 0.02
_EXAMPLES = 5
_TWO = 2


@dataclass(frozen=True)
class Fingerprint(Answer):
    """Which client wrote a topic.

    Attributes:
        verdict: `one-writer`; `mixture` of several writers, or of one and records without a rule; `n-change` and
            `writer-change` at a point in time; `round-robin` if there are keys and partitions follow a cycle; `no-rule`
            if there are keys but no profile puts them there, though a `fault` may; `no-keys`; `undecided` if there are
            too few keys to tell the profiles apart.
        n: The latest number of partitions for which it was written; None if unknown.
        family: The profiles that these keys cannot tell apart, in the order of `partwright.clients`.
        shares: Of the records with a key, the share of each writer, by one profile of its family.
        key_transform: How keys had to be changed first; None if unchanged.
        change: When the writer or n changed.
        explained: By profile, how many records are where it puts them, and for how many it determines the partition.
        deciding_keys: How many different keys the nearest other rule puts elsewhere.
        rows: All records.
        null_keys: Those without a key.
        keys: How many different keys were looked at.
        scattered_keys: How many of them are in several partitions.
        scattered: Some of those, with their partitions.
        unexplained: The share of the records with a key that no writer put where they are; agreement by chance is
            estimated, and counted here.
        is_sampled: Whether there were too many keys to look at all of them; all records of a sampled key count.
        strays: If there is one writer, its exceptions with the most records: key, partition, partition by the rule,
            records.
        course: If the writer or n changed, how many records each alone explains over time: `from_ms`, `to_ms` and
            `rows` by writer, or by number of partitions; empty without timestamps.
        fault: The faulty rule of one writer. If the verdict is `no-rule`, it explains all records, or nearly all;
            otherwise nearly all that the writers of `shares` leave, and wrote what these and `unexplained` do not have.
        is_all_empty: Whether every record has a key, and every key is empty: their writer may have meant none.
        elsewhere: If the writer hashes other bytes than its keys have: how many records the first client of the family,
            which hashes the keys themselves, would put elsewhere. None otherwise.
    """

    DOCUMENT = "fingerprint"

    verdict: str
    n: int | None
    family: tuple[str, ...] = ()
    shares: dict[str, float] = field(default_factory=dict)
    key_transform: str | None = None
    change: Change | None = None
    explained: dict[str, tuple[int, int]] = field(default_factory=dict)
    deciding_keys: int = 0
    rows: int = 0
    null_keys: int = 0
    keys: int = 0
    scattered_keys: int = 0
    scattered: tuple[tuple[bytes, tuple[int, ...]], ...] = ()
    unexplained: float = 0.0
    is_sampled: bool = False
    strays: tuple[tuple[bytes, int, int, int], ...] = ()
    course: tuple[Json, ...] = ()
    fault: Fault | None = None
    is_all_empty: bool = False
    elsewhere: int | None = None

    def to_dict(self) -> Json:
        """The object for the JSON output; keys are hex."""
        fields = asdict(self)
        fields["change"] = None if self.change is None else self.change.to_dict()
        fields["scattered"] = [
            {"key_hex": key.hex(), "partitions": list(partitions)} for key, partitions in self.scattered
        ]
        fields["strays"] = [
            {"key_hex": key.hex(), "partition": partition, "expected": expected, "rows": rows}
            for key, partition, expected, rows in self.strays
        ]
        return fields

    def to_arrow(self) -> pa.Table:
        """A row for each client: how many records are where it puts them, and for how many it determines that."""
        right, of = ([counts[at] for counts in self.explained.values()] for at in range(_TWO))
        schema = pa.schema({"client": pa.string(), "rows": pa.int64(), "rows_placed": pa.int64()})
        return pa.table([list(self.explained), right, of], schema=schema)


class VerdictMaker:
    """Make the answers about some pairs of a key and a partition.

    Args:
        seen: The sums of all records.
        pairs: Its pairs, with keys unchanged or transformed.
        n: How many partitions the topic has; None if unknown.
        transform: The transform of the keys.
    """

    def __init__(self, seen: Observed, pairs: pa.Table, n: int | None, transform: str | None = None) -> None:
        self.seen = seen
        self.pairs = pairs
        self.n = n
        self.transform = transform
        self._following: dict[CandidateWriter, Any] = {}

    @functools.cached_property
    def _partitions_of_keys(self) -> pa.Table:
        """Each key, and in how many partitions it is."""
        if any(
            each is not None and not each.null_count and pc.all(each, min_count=0).as_py()
            for each in self._following.values()
        ):
            # A rule that explains all pairs puts each key in one partition, so there is nothing to count.
            ones = pa.repeat(number(1), self.pairs.num_rows)
            return pa.table({"key": self.pairs["key"], "rows": ones})
        return rows_by_key(self.pairs["key"], self.pairs["partition"].is_valid().cast(pa.int64()))

    @property
    def keys(self) -> int:
        """How many different keys there are."""
        count: int = self._partitions_of_keys.num_rows
        return count

    @functools.cached_property
    def scattered(self) -> pa.ChunkedArray:
        """The keys that are in several partitions."""
        by_key = self._partitions_of_keys
        return by_key.filter(pc.greater(by_key["rows"], number(1)))["key"]

    def without_writer(self, verdict: str, n: int | None) -> Fingerprint:
        """The answer if no rule is found."""
        return self._made(verdict, n, unexplained=1.0 if self.pairs.num_rows else 0.0)

    def by_fault(self, fault: Fault) -> Fingerprint:
        """The answer if one writer with a faulty rule is found."""
        right, of = fault.explained
        explained = self._explained(fault.n)
        return self._made("no-rule", fault.n, explained=explained, unexplained=1 - right / of, fault=fault)

    def by_other_bytes(self, fingerprint: Fingerprint) -> Fingerprint:
        """The answer about a writer that hashes other bytes, with what its client makes of these keys themselves."""
        right, of = self._explained(fingerprint.n or 1)[fingerprint.family[0]]
        return replace(fingerprint, elsewhere=of - right)

    def undecided(self, left: Sequence[CandidateWriter]) -> Fingerprint:
        """The answer if several rules fit, or one that may fit by chance."""
        numbers = {each.n for each in left}
        n = numbers.pop() if len(numbers) == 1 else self.n
        families = {each.client for each in left if self._null_keys_fit(each.client, [each])}
        family = tuple(name for name in client_names() if name in families)
        return self._made("undecided", n, family=family, explained={} if n is None else self._explained(n))

    def without(self, writers: Sequence[CandidateWriter]) -> pa.Table:
        """The pairs that no writer explains, and that each of them determines."""
        explained = (pc.fill_null(self._follows(writer), TRUE) for writer in writers)
        return self.pairs.filter(pc.invert(functools.reduce(pc.or_, explained)))

    def share_of_own(
        self, fault: Fault, writer: CandidateWriter, writers: Sequence[CandidateWriter]
    ) -> float:
        """The share of the records that only this one of several writers explains and a faulty rule explains, too."""
        own = self._alone(writer, writers)
        both = own.filter(follows_fault(own, fault))
        return (pc.sum(both["rows"]).as_py() or 0) / (pc.sum(own["rows"]).as_py() or 1)

    def by(self, writers: Sequence[CandidateWriter], fault: Fault | None = None) -> Fingerprint:
        """The answer if writers are found, and perhaps one with a faulty rule beside them."""
        writer_shares, unexplained = self._shares(writers, fault)
        # A writer that explains less than one record is dropped.
        rows = pc.sum(self.pairs["rows"]).as_py()
        writers = [
            writer for writer, share in zip(writers, writer_shares, strict=True) if share * rows >= 1
        ] or writers[:1]
        writer_shares, unexplained = self._shares(writers, fault)
        families = {writer: self._family(writer, writers) for writer in writers}
        by_name: dict[str, float] = {}
        for writer, share in zip(writers, writer_shares, strict=True):
            name = families[writer][0]
            by_name[name] = by_name.get(name, 0.0) + share
        change = self._change(writers, families)
        is_one = len(writers) == 1 and fault is None and unexplained <= _UNEXPLAINED
        verdict = "one-writer" if is_one else "mixture"
        if change is not None:
            verdict = f"{change.kind}-change"
        last = max(writers, key=lambda writer: writer.n)
        return self._made(
            verdict,
            last.n,
            family=families[last],
            shares=by_name,
            change=change,
            explained=self._explained(last.n),
            deciding_keys=self._deciding(last),
            unexplained=unexplained,
            strays=self._strays(last) if verdict == "one-writer" else (),
            course=() if change is None else self._course(change, writers, families),
            fault=fault,
        )

    def _course(
        self,
        change: Change,
        writers: Sequence[CandidateWriter],
        families: dict[CandidateWriter, tuple[str, ...]],
    ) -> tuple[Json, ...]:
        """How much each writer wrote over time; by number of partitions, if that changed."""
        names = {
            writer: counted(writer.n, "partition") if change.kind == "n" else families[writer][0]
            for writer in writers
        }
        return course({names[writer]: self._alone(writer, writers) for writer in writers})

    def _strays(self, writer: CandidateWriter) -> tuple[tuple[bytes, int, int, int], ...]:
        """The pairs with the most records that a rule puts elsewhere."""
        expected = partition_for_key(self.pairs["key"], writer.n, writer.client).cast(pa.int64())
        elsewhere = pc.fill_null(pc.not_equal(expected, self.pairs["partition"]), FALSE)
        strays = self.pairs.append_column("expected", expected).filter(elsewhere)
        order = [("rows", "descending"), ("key", "ascending"), ("partition", "ascending")]
        some = strays.sort_by(order).slice(0, _EXAMPLES)
        names = ("key", "partition", "expected", "rows")
        return tuple(zip(*(some[name].to_pylist() for name in names), strict=True))

    def _follows(self, writer: CandidateWriter) -> Any:
        """Which pairs follow a writer, as `follows` says it; profiles that are alike are asked once."""
        first = alike(writer)
        if first not in self._following:
            self._following[first] = follows(self.pairs, first)
        return self._following[first]

    def _followed(self, writer: CandidateWriter) -> pa.Array | pa.ChunkedArray:
        following = self._follows(writer)
        return pa.repeat(FALSE, len(self.pairs)) if following is None else pc.fill_null(following, FALSE)

    def _shares(self, writers: Sequence[CandidateWriter], fault: Fault | None) -> tuple[list[float], float]:
        """Each writer's share of the records that some writer determines, and the share of records without a writer.

        What a faulty rule wrote is in neither.
        """
        following = [self._follows(writer) for writer in writers]
        numbers = [writer.n for writer in writers]
        if fault is not None:
            following.append(follows_fault(self.pairs, fault))
            numbers.append(fault.n)
        determined = functools.reduce(pc.or_, (each.is_valid() for each in following))
        # A number with a bit for each writer that explains a pair.
        explained = functools.reduce(
            pc.add,
            (
                pc.multiply(pc.fill_null(each, FALSE).cast(pa.int64()), number(1 << place))
                for place, each in enumerate(following)
            ),
        ).filter(determined)
        rows = self.pairs["rows"].filter(determined)
        patterns = [
            Pattern(
                tuple(bool(bits >> place & 1) for place in range(len(following))),
                pc.sum(rows.filter(pc.equal(explained, number(bits)))).as_py(),
                pairs,
            )
            for bits, pairs in value_counts(explained).items()
        ]
        parts, unexplained = shares(patterns, len(following), max(numbers))
        return parts[: len(writers)], unexplained

    def _alone(self, writer: CandidateWriter, writers: Sequence[CandidateWriter]) -> pa.Table:
        """The pairs that only this one of several writers explains."""
        alone = self._followed(writer)
        for other in writers:
            if other != writer:
                alone = pc.and_not(alone, self._followed(other))
        return self.pairs.filter(alone)

    def _change(
        self, writers: Sequence[CandidateWriter], families: dict[CandidateWriter, tuple[str, ...]]
    ) -> Change | None:
        """The change from one writer or n to another, if they followed one another."""
        if len(writers) == 1:
            return None
        alone = {writer: self._alone(writer, writers) for writer in writers}
        dated = all(each["first"].null_count < len(each) for each in alone.values())
        if dated:
            order = sorted(writers, key=lambda writer: _middle(alone[writer]))
        else:
            # n only grows; offsets show who wrote first.
            order = sorted(writers, key=lambda writer: writer.n)
        kind = "n" if len({writer.n for writer in writers}) == len(writers) else "writer"
        parted = [parting(alone[a], alone[b]) for a, b in pairwise(order)]
        if None in parted and kind == "writer" and not dated and len(order) == _TWO:
            order = order[::-1]
            parted = [parting(alone[a], alone[b]) for a, b in pairwise(order)]
        if None in parted and (dated or kind == "writer"):
            return None
        last = parted[-1] or Parting(None, None, {})
        if kind == "n":
            steps: tuple[int | str, ...] = tuple(writer.n for writer in order)
        else:
            steps = tuple(families[writer][0] for writer in order)
        return Change(
            kind, steps[-2], steps[-1], last.last_before, last.first_after, last.first_offsets, steps
        )

    def _family(self, writer: CandidateWriter, writers: Sequence[CandidateWriter]) -> tuple[str, ...]:
        """The profiles that explain all that a writer explains, and contradict no pair that it leaves open."""
        own = pc.fill_null(self._follows(writer), TRUE)

        @functools.cache
        def fits(other: CandidateWriter) -> bool:
            following = self._follows(other)
            if following is None or not pc.any(following, min_count=0).as_py():
                return False
            elsewhere = pc.fill_null(pc.invert(following), FALSE)
            return not pc.any(pc.and_(own, elsewhere), min_count=0).as_py()

        names = (
            name
            for name in client_names()
            if fits(alike(CandidateWriter(name, writer.n))) and self._null_keys_fit(name, writers)
        )
        return tuple(names) or (writer.client,)

    def _null_keys_fit(self, client: str, writers: Sequence[CandidateWriter]) -> bool:
        """Whether null keys are where a client that hashes them puts them, now or when the topic had another n."""
        places = {place for each in writers if (place := _place_of_null(client, each.n)) is not None}
        if not places or not self.seen.null_keys:
            return True
        right = sum(self.seen.null_keys_in[place] for place in places)
        # If there are several writers, the others may have put null keys anywhere.
        several = len({each.client for each in writers}) > 1
        return right > 0 if several else right == self.seen.null_keys

    def _null_keys(self, client: str, n: int) -> tuple[int, int]:
        """How many null keys are where a client puts them, and for how many it determines the partition."""
        place = _place_of_null(client, n)
        return (0, 0) if place is None else (self.seen.null_keys_in[place], self.seen.null_keys)

    def _explained(self, n: int) -> dict[str, tuple[int, int]]:
        @functools.cache
        def counted(writer: CandidateWriter) -> tuple[int, int] | None:
            following = self._follows(writer)
            if following is None:
                return None
            return self._rows(pc.fill_null(following, FALSE)), self._rows(following.is_valid())

        explained = {}
        for name in client_names():
            with_key = counted(alike(CandidateWriter(name, n)))
            if with_key is not None:
                (right, determined), (nulls_right, nulls) = with_key, self._null_keys(name, n)
                explained[name] = (right + nulls_right, determined + nulls)
        return explained

    def _deciding(self, writer: CandidateWriter) -> int:
        keys = self.pairs["key"] if self.keys == self.pairs.num_rows else pc.unique(self.pairs["key"])
        own = partition_for_key(keys, writer.n, writer.client)
        differences = []
        for rule in rules():
            try:
                other = partition_for_key(keys, writer.n, rule)
            except PartwrightError:
                continue
            if rule != writer.client:
                differences.append(pc.sum(pc.not_equal(own, other)).as_py() or 0)
        return min(differences, default=0)

    def _rows(self, mask: object) -> int:
        return pc.sum(self.pairs["rows"].filter(mask)).as_py() or 0

    def _made(self, verdict: str, n: int | None, **known: Any) -> Fingerprint:
        """An answer with what is known of the writers, and all that is known of the records without them."""
        some = self.scattered.take(pc.sort_indices(self.scattered).slice(0, _EXAMPLES))
        return Fingerprint(
            verdict,
            n,
            key_transform=self.transform,
            rows=self.seen.rows,
            null_keys=self.seen.null_keys,
            keys=self.keys,
            scattered_keys=len(self.scattered),
            scattered=tuple(self._places(key) for key in some),
            is_sampled=self.seen.is_sampled,
            is_all_empty=self.seen.is_all_empty,
            **known,
        )

    def _places(self, key: pa.Scalar) -> tuple[bytes, tuple[int, ...]]:
        places = self.pairs.filter(pc.equal(self.pairs["key"], key))["partition"]
        return key.as_py(), tuple(sorted(places.to_pylist()))


def _place_of_null(client: str, n: int) -> int | None:
    place: int | None = partition_for_key(pa.nulls(1, pa.binary()), n, client)[0].as_py()
    return place


def _middle(pairs: pa.Table) -> float:
    """The median of the pairs' times, weighted by rows."""
    times = pairs.filter(pc.is_valid(pairs["first"]))
    weighted = pc.multiply(
        pc.add(times["first"].cast(pa.float64()), times["last"].cast(pa.float64())), times["rows"]
    )
    middle: float = pc.sum(weighted).as_py() / (pc.sum(times["rows"]).as_py() or 1)
    return middle


_ROUNDS = 500
_STILL = 1e-9


class Pattern(NamedTuple):
    """Records that the same writers explain.

    Attributes:
        explains: For each writer, whether it explains them.
        rows: How many records there are.
        pairs: How many pairs of a key and a partition they form.
    """

    explains: tuple[bool, ...]
    rows: int
    pairs: int


def shares(patterns: Sequence[Pattern], writers: int, n: int) -> tuple[list[float], float]:
    """Each writer's share, and the share of records without a rule, which may be in any of n partitions.

    By expectation and maximisation: records that several writers explain are divided by the writers' shares, and
    records that chance explains are subtracted. Chance may act on each record or on each key, whichever leaves less
    unexplained.

    Args:
        patterns: All records.
        writers: How many writers there are.
        n: How many partitions there are.

    Returns:
        The writers' shares of the records, and the rest; together they are 1.

    Examples:
        >>> seen = [Pattern((True, False), 60, 6), Pattern((False, True), 20, 2), Pattern((True, True), 20, 2)]
        >>> found, rest = shares(seen, 2, 12)
        >>> [round(share, 2) for share in found], rest
        ([0.75, 0.25], 0.0)
    """
    by_rows = _shares(patterns, [each.rows for each in patterns], writers, n)
    by_pairs = _shares(patterns, [each.pairs for each in patterns], writers, n)
    *writer_shares, unexplained = min(by_rows, by_pairs, key=lambda each: each[-1])
    return writer_shares, unexplained


def _shares(patterns: Sequence[Pattern], weights: Sequence[int], writers: int, n: int) -> list[float]:
    estimates = [1.0] * (writers + 1)
    if all(any(each.explains) for each in patterns):
        # Nothing is left for chance.
        estimates[-1] = 0.0
    estimates = [share / sum(estimates) for share in estimates]
    for _ in range(_ROUNDS):
        before, estimates = estimates, _split(patterns, weights, estimates, n)
        if max(abs(old - new) for old, new in zip(before, estimates, strict=True)) < _STILL:
            break
    return _split(patterns, [each.rows for each in patterns], estimates, n)


def _split(
    patterns: Sequence[Pattern], weights: Sequence[int], shares_: Sequence[float], n: int
) -> list[float]:
    """Divide the weights among the writers by their shares."""
    counts = [0.0] * len(shares_)
    for pattern, weight in zip(patterns, weights, strict=True):
        parts = [share * by for share, by in zip(shares_, (*pattern.explains, 1 / n), strict=True)]
        # If no writer has a share left, nobody explains it.
        whole = sum(parts) or 1.0
        for place, part in enumerate(parts):
            counts[place] += weight * part / whole
    total = sum(weights) or 1
    return [count / total for count in counts]

"""Which rules the pairs of a key and a partition follow, and which of them only by chance."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from partwright import _core
from partwright.errors import PartwrightError
from partwright.files.scalars import TRUE, number_column
from partwright.keys.clients import client_names
from partwright.keys.hashing import partition_for_key

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Writer", "find_writers", "follows", "rules"]

# With so many pairs every n is tried: a writer of a tenth of them shows. What it leaves is sampled again.
_SAMPLED = 500
# The numbers of partitions that are tried: all up to the first, and up to twice the largest partition, to the second.
_TRIED = 1_024
_MOST_TRIED = 20_000
# Numbers of partitions are too large where that keys are in the first ones alone has a probability of e to minus this.
_HARDLY = 7.0
_FEW = 50
# How improbable it must be that keys which know nothing of a rule follow it.
_CHANCE = 1e-2
_CHANCE_OF_ANOTHER = 1e-6
_WRITERS = 4
# String.hashCode of numbered keys goes up with the numbers, so that it agrees in part with whatever does so too.
_OF_NUMBERS = "java:string-hash"
_NEARLY_ALL = 0.9


class Writer(NamedTuple):
    """A rule, by one of the profiles that have it, for a number of partitions."""

    client: str
    n: int


def rules() -> list[str]:
    """A profile of each way from a hash to a partition.

    Examples:
        >>> rules()[:3]
        ['java', 'java:string-hash', 'librdkafka']
    """
    found: dict[tuple[str, str], str] = {}
    for row in _core.clients():
        found.setdefault((row["hash"], row["sign"]), row["client"])
    return list(found.values())


def follows(pairs: pa.Table, writer: Writer) -> Any:
    """Which pairs follow a rule, null where it determines nothing; None where a key stops such a client."""
    try:
        placed = partition_for_key(pairs["key"], writer.n, writer.client)
    except PartwrightError:
        return None
    return pc.equal(placed.cast(pa.int64()), pairs["partition"])


def find_writers(pairs: pa.Table, n: int | None, largest: int) -> tuple[list[Writer], list[Writer]]:
    """Those who wrote the pairs; where too few keys tell, nobody and all profiles that are left.

    Args:
        pairs: A row for each key in each partition.
        n: How many partitions the topic has; None tries many numbers.
        largest: The largest partition.
    """
    sample = _sample(pairs)
    numbers = [n] if n is not None else _numbers(largest, pc.count_distinct(pairs["key"]).as_py())
    agreeing, looked_at = _best(sample, rules(), numbers)
    # A rule that explains all; one for the number of partitions that is known before any other.
    left = (
        [each for each in agreeing.best if _numbers_left(pairs, each.client, [each.n])]
        if agreeing.is_all
        else []
    )
    if left:
        improbable = _chance(agreeing.determined, agreeing.follow, left[0].n) * looked_at
        if len(left) == 1 and improbable <= _CHANCE:
            return left, []
        return [], _left(pairs, sample, numbers)
    return _several(pairs, numbers if n is None else [*range(1, min(n, _MOST_TRIED)), n], n), []


def _several(pairs: pa.Table, numbers: Sequence[int], n: int | None) -> list[Writer]:
    """Who explains most, who explains most of the rest, and so on as long as that is not chance."""
    found: list[Writer] = []
    left = pairs
    while left.num_rows and len(found) < _WRITERS:
        most, looked_at = _best(_sample(left), rules(), numbers)
        # Who knows n prefers it.
        best = next((each for each in most.best if each.n == n), most.best[0])
        if best.client == _OF_NUMBERS and most.follow < _NEARLY_ALL * most.determined:
            most, looked_at = _best(_sample(left), [each for each in rules() if each != _OF_NUMBERS], numbers)
            best = next((each for each in most.best if each.n == n), most.best[0])
        improbable = _chance(most.determined, most.follow, best.n) * looked_at
        following = follows(left, best)
        # A key that the sample did not have may stop such a client: then it wrote some at most.
        if improbable > (_CHANCE_OF_ANOTHER if found else _CHANCE) or following is None:
            break
        found.append(best)
        left = left.filter(pc.invert(pc.fill_null(following, TRUE)))
    return found


def _numbers(largest: int, keys: int) -> list[int]:
    """The numbers of partitions that a topic may have, or have had, for its largest partition and so many keys.

    Of many more partitions, few keys would hardly all be in the first ones; and few keys may agree by chance.
    """
    most = (largest + 1) * math.exp(_HARDLY / max(keys, 1)) if keys < _FEW else math.inf
    most = min(most, max(_TRIED, 2 * largest + 2), _MOST_TRIED)
    return [*range(1, int(most) + 1), largest + 1]


def _sample(pairs: pa.Table) -> pa.Table:
    """Some of the pairs; drawn, for pairs in an order of their own may follow a rule by turns."""
    if pairs.num_rows <= _SAMPLED:
        return pairs
    rows = random.Random(pairs.num_rows).sample(range(pairs.num_rows), _SAMPLED)  # noqa: S311 - no secret
    return pairs.take(number_column(sorted(rows)))


class _Most(NamedTuple):
    """The rules that most of a sample follows: how many do, of how many that are determined."""

    best: list[Writer]
    follow: int
    determined: int

    @property
    def is_all(self) -> bool:
        return self.follow == self.determined


def _best(sample: pa.Table, clients_: Sequence[str], numbers: Sequence[int]) -> tuple[_Most, int]:
    """Whom most of a sample follows, and how many rules were looked at."""
    most, looked_at = (-1, 0), 0
    best: list[Writer] = []
    for client in clients_:
        determined, follow = _following(sample, client, numbers)
        for n, count in follow.items():
            if count is None:
                continue
            looked_at += 1
            # As many as possible, and as few as possible that do not.
            found = (count, sample.num_rows - determined)
            if found > most:
                most, best = found, []
            if found == most:
                best.append(Writer(client, n))
    return _Most(best, most[0], sample.num_rows - most[1]), looked_at


def _following(pairs: pa.Table, client: str, numbers: Sequence[int]) -> tuple[int, dict[int, int | None]]:
    """How many pairs a client determines, and by number of partitions how many follow it; None where a key stops it.

    Each key is hashed once, however many numbers there are.
    """
    numbers = list(dict.fromkeys(numbers))
    keys, partitions = (pairs[name].combine_chunks() for name in ("key", "partition"))
    determined, follow = _core.following(keys, partitions, client, numbers)
    return determined, dict(zip(numbers, follow, strict=True))


def _left(pairs: pa.Table, sample: pa.Table, numbers: Sequence[int]) -> list[Writer]:
    """All profiles and numbers that no pair speaks against."""
    left = []
    for client in client_names():
        # Of the sample first: what is left of many numbers is few.
        some = _numbers_left(sample, client, numbers)
        left += [Writer(client, n) for n in _numbers_left(pairs, client, some)]
    return left


def _numbers_left(pairs: pa.Table, client: str, numbers: Sequence[int]) -> list[int]:
    """The numbers of partitions that no pair speaks against, and one speaks for."""
    if not numbers:
        return []
    determined, follow = _following(pairs, client, numbers)
    return [n for n, count in follow.items() if count and count == determined]


def _chance(pairs: int, agreeing: int, n: int) -> float:
    """A bound on how probable it is that so many pairs follow a rule that had nothing to do with them (Chernoff).

    Examples:
        >>> _chance(100, 8, 12), round(_chance(10, 10, 10), 15)
        (1.0, 1e-10)
    """
    if n == 1 or agreeing * n <= pairs:
        return 1.0
    share, by_chance = agreeing / pairs, 1 / n
    divergence = share * math.log(share / by_chance)
    if share < 1:
        divergence += (1 - share) * math.log((1 - share) / (1 - by_chance))
    return math.exp(-pairs * divergence)

"""Which rules the pairs of a key and a partition follow, and which of them only by chance."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from partwright import _core
from partwright.errors import PartwrightError
from partwright.files.scalars import TRUE, number_column
from partwright.keys.client_profiles import client_names, libraries
from partwright.keys.hashing import partition_for_key

# A sample of this many pairs is tried with every n: enough to show a writer of a tenth of them. The rest is sampled
# again.
_SAMPLED = 500
# The numbers of partitions to try: all up to the first; beyond it, up to twice the largest partition, but at most the
# second.
_TRIED = 1_024
_MOST_TRIED = 20_000
# A number of partitions is too large if the probability that all keys are in the first ones is below e to minus this.
_HARDLY = 7.0
_FEW = 50
# How improbable it must be that keys follow a rule by chance.
CHANCE = 1e-2
CHANCE_OF_ANOTHER = 1e-6
# The same, for pairs that follow a rule modulo a divisor of its n. The rule has passed one of the others before.
_CHANCE_BY_A_DIVISOR = 0.2
_WRITERS = 4
# String.hashCode of numbered keys grows with the numbers, so it partly agrees with anything else that does.
_OF_NUMBERS = "java:string-hash"
_NEARLY_ALL = 0.9
# Strays of a key with many records make many pairs, each of few records.
_MOSTLY = 0.5


class CandidateWriter(NamedTuple):
    """A rule for a number of partitions, named by one of the profiles that share it."""

    client: str
    n: int


def rules() -> list[str]:
    """One profile for each rule.

    Examples:
        >>> rules()[:3]
        ['java', 'java:string-hash', 'librdkafka']
    """
    first_clients: dict[tuple[str, str], str] = {}
    for row in libraries():
        first_clients.setdefault((row["hash"], row["sign"]), row["client"])
    return list(first_clients.values())


def alike(writer: CandidateWriter) -> CandidateWriter:
    """The writer of the first profile that puts every key where this one puts it; null keys may be elsewhere.

    Examples:
        >>> alike(CandidateWriter("kafka-python", 12))
        CandidateWriter(client='java', n=12)
        >>> alike(CandidateWriter("sarama:crc32", 12))  # librdkafka's own does not hash empty keys.
        CandidateWriter(client='librdkafka:consistent', n=12)
    """
    return CandidateWriter(_first_alike()[writer.client], writer.n)


@functools.cache
def _first_alike() -> dict[str, str]:
    first: dict[tuple[str, ...], str] = {}
    return {
        row["client"]: first.setdefault((row["hash"], row["sign"], row["empty_key"]), row["client"])
        for row in libraries()
    }


def follows(pairs: pa.Table, writer: CandidateWriter) -> Any:
    """Which pairs follow a rule, null if it determines nothing; None if such a client fails at a key."""
    try:
        placed = partition_for_key(pairs["key"], writer.n, writer.client)
    except PartwrightError:
        return None
    return pc.equal(placed.cast(pa.int64()), pairs["partition"])


def find_writers(
    pairs: pa.Table, n: int | None, largest: int
) -> tuple[list[CandidateWriter], list[CandidateWriter]]:
    """The writers of the pairs; if there are too few keys to tell, no writers and all remaining profiles.

    Args:
        pairs: A row for each key in each partition.
        n: How many partitions the topic has; None tries many numbers.
        largest: The largest partition.
    """
    sample = sample_of(pairs)
    all_numbers = numbers_to_try(largest, pairs, n)
    numbers = all_numbers if n is None else [n]
    agreeing, looked_at = _best(sample, rules(), numbers)
    # A rule that explains all, preferably for the known number of partitions.
    left = (
        [each for each in agreeing.best if _numbers_left(pairs, each.client, [each.n])]
        if agreeing.is_all
        else []
    )
    if left:
        improbable = chance(agreeing.determined, agreeing.follow, left[0].n) * looked_at
        if len(left) == 1 and improbable <= CHANCE:
            return left, []
        return [], _left(pairs, sample, numbers)
    return _several(pairs, all_numbers, n), []


def is_of_one(pairs: pa.Table, n: int | None, largest: int, tried: int) -> bool:
    """Whether one rule explains most pairs of a sample, and not by chance: a look before the search.

    Args:
        pairs: The sample, with its keys changed.
        n: How many partitions the topic has; None tries many numbers.
        largest: The largest partition.
        tried: In how many ways keys are changed, each of which may agree by chance.
    """
    best, looked_at = _best(pairs, rules(), numbers_to_try(largest, pairs, n))
    improbable = chance(best.determined, best.follow, min(each.n for each in best.best)) * looked_at * tried
    return best.follow >= _MOSTLY * best.determined and improbable <= CHANCE_OF_ANOTHER


def _several(pairs: pa.Table, numbers: Sequence[int], n: int | None) -> list[CandidateWriter]:
    """The writer that explains most, then the one that explains most of the rest, and so on until it may be chance."""
    writers: list[CandidateWriter] = []
    left = pairs
    while left.num_rows and len(writers) < _WRITERS:
        most, looked_at = _best(sample_of(left), rules(), numbers)
        # A known n is preferred.
        best = next((each for each in most.best if each.n == n), most.best[0])
        if best.client == _OF_NUMBERS and most.follow < _NEARLY_ALL * most.determined:
            most, looked_at = _best(
                sample_of(left), [each for each in rules() if each != _OF_NUMBERS], numbers
            )
            best = next((each for each in most.best if each.n == n), most.best[0])
        improbable = chance(most.determined, most.follow, best.n) * looked_at
        following = follows(left, best)
        # A client may fail at a key outside the sample: then it wrote some of the records at most.
        if improbable > (CHANCE_OF_ANOTHER if writers else CHANCE) or following is None:
            break
        if writers and _by_a_divisor(sample_of(left), best) > _CHANCE_BY_A_DIVISOR:
            break
        writers.append(best)
        left = left.filter(pc.invert(pc.fill_null(following, TRUE)))
    # If several wrote, as for several n, the pairs of the others agree modulo a divisor, too.
    alone = len(writers) == 1 and _by_a_divisor(sample_of(pairs), writers[0]) > _CHANCE_BY_A_DIVISOR
    return [] if alone else writers


def numbers_to_try(largest: int, pairs: pa.Table, n: int | None) -> list[int]:
    """The numbers of partitions that a topic may have, or have had, given its largest partition and its pairs.

    With many more partitions, keys would hardly all be in the first ones; and few keys may agree by chance. If n is
    known, no number is larger: a topic may have had fewer partitions when it was written, as partitions are only added.
    """
    most = math.inf
    # Each key is in one of the partitions at least, and at most in all of them and in none.
    if pairs.num_rows < _FEW * (largest + 2) and (keys := pc.count_distinct(pairs["key"]).as_py()) < _FEW:
        most = (largest + 1) * math.exp(_HARDLY / max(keys, 1))
    most = min(most, max(_TRIED, 2 * largest + 2), _MOST_TRIED)
    if n is not None:
        return [*range(1, min(int(most) + 1, n)), n]
    return [*range(1, int(most) + 1), largest + 1]


def sample_of(pairs: pa.Table) -> pa.Table:
    """A random sample of the pairs, because their order may favour a rule."""
    if pairs.num_rows <= _SAMPLED:
        return pairs
    rows = random.Random(pairs.num_rows).sample(range(pairs.num_rows), _SAMPLED)  # noqa: S311 - no secret
    return pairs.take(number_column(sorted(rows)))


class _Most(NamedTuple):
    """The rules that most pairs of a sample follow: how many follow them, and how many are determined."""

    best: list[CandidateWriter]
    follow: int
    determined: int

    @property
    def is_all(self) -> bool:
        return self.follow == self.determined


def _best(sample: pa.Table, clients_: Sequence[str], numbers: Sequence[int]) -> tuple[_Most, int]:
    """The rules that most pairs of a sample follow, and how many rules were tried."""
    most, looked_at = (-1, 0), 0
    best: list[CandidateWriter] = []
    for client in clients_:
        determined, follow = _following(sample, client, numbers)
        for n, count in follow.items():
            if count is None:
                continue
            looked_at += 1
            # The most pairs that follow, then the fewest that are determined otherwise.
            score = (count, sample.num_rows - determined)
            if score > most:
                most, best = score, []
            if score == most:
                best.append(CandidateWriter(client, n))
    return _Most(best, most[0], sample.num_rows - most[1]), looked_at


def _following(pairs: pa.Table, client: str, numbers: Sequence[int]) -> tuple[int, dict[int, int | None]]:
    """How many pairs a client determines, and by number of partitions how many follow it; None if it fails at a key.

    Each key is hashed only once for all numbers.
    """
    numbers = list(dict.fromkeys(numbers))
    keys, partitions = (pairs[name].combine_chunks() for name in ("key", "partition"))
    determined, follow = _core.following(keys, partitions, client, numbers)
    return determined, dict(zip(numbers, follow, strict=True))


def _left(pairs: pa.Table, sample: pa.Table, numbers: Sequence[int]) -> list[CandidateWriter]:
    """All profiles and numbers that no pair contradicts."""
    left = []
    for client in client_names():
        # The sample first, because it leaves few of many numbers.
        some = _numbers_left(sample, client, numbers)
        left += [CandidateWriter(client, n) for n in _numbers_left(pairs, client, some)]
    return left


def _numbers_left(pairs: pa.Table, client: str, numbers: Sequence[int]) -> list[int]:
    """The numbers of partitions that no pair contradicts, and at least one supports."""
    if not numbers:
        return []
    determined, follow = _following(pairs, client, numbers)
    return [n for n, count in follow.items() if count and count == determined]


def _by_a_divisor(sample: pa.Table, writer: CandidateWriter) -> float:
    """A bound on the probability that pairs follow a rule only because they follow it modulo a divisor of its n.

    What one faulty writer did with the same hash often agrees modulo 4 or 8: then other numbers of partitions fit more
    of its pairs than independent ones would, and none of them has ever been the topic's.
    """
    placed = partition_for_key(sample["key"], writer.n, writer.client).to_pylist()
    pairs = [
        pair for pair in zip(placed, sample["partition"].to_pylist(), strict=True) if pair[0] is not None
    ]
    agreeing = sum(rule == partition for rule, partition in pairs)
    return max(
        chance(
            sum(not (rule - partition) % (writer.n // prime) for rule, partition in pairs), agreeing, prime
        )
        for prime in _prime_factors(writer.n)
    )


def _prime_factors(n: int) -> list[int]:
    """The different prime factors of a number; 1 has itself.

    Examples:
        >>> _prime_factors(12), _prime_factors(17), _prime_factors(1)
        ([2, 3], [17], [1])
    """
    factors, left = [], n
    for factor in range(2, math.isqrt(n) + 1):
        if left % factor == 0:
            factors.append(factor)
        while left % factor == 0:
            left //= factor
    return [*factors, left] if left > 1 or not factors else factors


def chance(pairs: int, agreeing: int, n: int) -> float:
    """A bound on the probability that this many pairs follow an unrelated rule by chance (Chernoff).

    Examples:
        >>> chance(100, 8, 12), round(chance(10, 10, 10), 15)
        (1.0, 1e-10)
    """
    if n == 1 or agreeing * n <= pairs:
        return 1.0
    share, by_chance = agreeing / pairs, 1 / n
    divergence = share * math.log(share / by_chance)
    if share < 1:
        divergence += (1 - share) * math.log((1 - share) / (1 - by_chance))
    return math.exp(-pairs * divergence)

"""Which rules the pairs of a key and a partition follow, and which of them by chance."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from partwright.clients import clients
from partwright.errors import PartwrightError
from partwright.files.literals import TRUE
from partwright.hashing import partition_for_key

__all__ = ["Writer", "find_writers", "follows", "rules"]

# With so many pairs every n is tried: a writer of a tenth of them shows. What it leaves is sampled again.
_SAMPLED = 500
# The numbers of partitions that are tried: all up to the first, and up to twice the largest partition, to the second.
_TRIED = 1_024
_MOST_TRIED = 20_000
# How improbable it must be that keys which know nothing of a rule follow it.
_CHANCE = 1e-2
_CHANCE_OF_ANOTHER = 1e-6
_WRITERS = 4


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
    for row in clients().to_pylist():
        found.setdefault((row["hash"], row["sign"]), row["client"])
    return list(found.values())


def follows(pairs: pa.Table, writer: Writer) -> Any:  # noqa: ANN401 - an Arrow column
    """Which pairs follow a rule, null where it determines nothing; None where a key stops such a client."""
    try:
        placed = partition_for_key(pairs["key"], writer.n, writer.client)
    except PartwrightError:
        return None
    return pc.equal(placed.cast(pa.int64()), pairs["partition"])


def find_writers(pairs: pa.Table, n: int | None, largest: int) -> tuple[list[Writer], list[Writer]]:
    """Those who wrote the pairs; where too few keys tell, nobody and all who may have.

    Args:
        pairs: A row for each key in each partition.
        n: How many partitions the topic has; None tries many numbers.
        largest: The largest partition.
    """
    tried = _tried(n, largest)
    found: list[Writer] = []
    left = pairs
    while left.num_rows and len(found) < _WRITERS:
        step = -(-left.num_rows // _SAMPLED)
        best, agreeing, determined, candidates = _best(left.take(_every(step, left.num_rows)), tried, n)
        improbable = _chance(determined, agreeing, best[0].n) * candidates
        if found and improbable > _CHANCE_OF_ANOTHER:
            break
        if not found and agreeing == determined:
            best = [each for each in best if _follow_all(pairs, each)] or best
            if len(best) > 1 or improbable > _CHANCE:
                return [], best
        if not found and improbable > _CHANCE:
            break
        found.append(best[0])
        following = follows(left, best[0])
        if following is None:
            # A key that the sample did not have stops such a client, so it wrote some at most.
            found.pop()
            break
        left = left.filter(pc.invert(pc.fill_null(following, TRUE)))
    return found, []


def _tried(n: int | None, largest: int) -> list[int]:
    """The numbers of partitions that a topic may have, or have had: it only grows."""
    if n is not None:
        return [*range(1, min(n, _MOST_TRIED)), n]
    return [*range(1, min(max(_TRIED, 2 * largest + 2), _MOST_TRIED)), max(_MOST_TRIED, largest + 1)]


def _every(step: int, rows: int) -> pa.Array:
    return pa.array(range(0, rows, step), pa.int64())


def _best(sample: pa.Table, tried: list[int], n: int | None) -> tuple[list[Writer], int, int, int]:
    """Whom most of a sample follows; how many do, of how many that are determined, by how many rules looked at."""
    most, looked_at = (-1, 0), 0
    best: list[Writer] = []
    for writer in (Writer(client, each) for client in rules() for each in tried):
        following = follows(sample, writer)
        if following is None:
            continue
        looked_at += 1
        # As many as possible, and as few as possible that do not.
        found = (pc.sum(following).as_py() or 0, following.null_count)
        if found > most:
            most, best = found, []
        if found == most:
            best.append(writer)
    # Who knows n prefers it.
    best = [each for each in best if each.n == n] or best
    return best, most[0], sample.num_rows - most[1], looked_at


def _follow_all(pairs: pa.Table, writer: Writer) -> bool:
    following = follows(pairs, writer)
    return following is not None and pc.all(following, min_count=0).as_py() is True


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

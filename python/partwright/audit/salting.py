"""How large the largest partition would be if the heaviest keys were salted, that is, split by a number at their end.

>>> heavy = {b"US": {8: 900}}
>>> [(each.ways, round(each.largest_share, 3)) for each in salted(heavy, {8: 905, 4: 50, 2: 45}, 1000, 12)]
[(2, 0.5), (4, 0.45), (8, 0.269), (16, 0.213)]
>>> [(each.ways, round(each.largest_share, 3)) for each in salted(heavy, {8: 905, 4: 50, 2: 45}, 1000, 12, ways=[3])]
[(3, 0.6)]
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partwright._check import MOST_MADE, listed, whole
from partwright.errors import PartwrightError
from partwright.files.scalars import binary_column
from partwright.keys.hashing import partition_for_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["WAYS", "Salted", "salted"]

WAYS = (2, 4, 8, 16)


@dataclass(frozen=True)
class Salted:
    """The heaviest keys, split.

    Attributes:
        ways: Into how many keys each is split: `US-0`, `US-1` and so on.
        keys: How many keys are split.
        largest_share: The largest partition's share of the rows then, 0 to 1.
    """

    ways: int
    keys: int
    largest_share: float


def salted(
    heavy: Mapping[bytes, Mapping[int, int]],
    rows_in: Mapping[int, int],
    rows: int,
    n: int,
    client: str = "java",
    ways: Sequence[int] = WAYS,
) -> list[Salted]:
    """The largest share for several numbers of ways; empty if no key has more rows than an even partition, or than one.

    Args:
        heavy: For each of the heaviest keys its rows by partition; if another client writes, it may be in several.
        rows_in: Rows by partition.
        rows: All rows that are in a partition.
        n: How many partitions there are.
        client: The client profile that places the keys.
        ways: Into how many keys each of the heaviest is split, one number after the other.

    Raises:
        PartwrightError: A number of ways is not one from 2 to 1000000.
    """
    counts = [whole(each, "ways", 2, MOST_MADE) for each in listed(ways, "ways")]
    split = {
        key: places for key, places in heavy.items() if (its := sum(places.values())) > 1 and its * n > rows
    }
    if not split or n == 1:
        return []
    found = []
    for each in counts:
        # A salt at which the client fails cannot be used.
        with suppress(PartwrightError):
            found.append(Salted(each, len(split), _largest(split, rows_in, n, client, each) / rows))
    return found


def _largest(
    split: Mapping[bytes, Mapping[int, int]], rows_in: Mapping[int, int], n: int, client: str, ways: int
) -> float:
    after = Counter(rows_in)
    for key, places in split.items():
        after.subtract(places)
        salts = [key + b"-%d" % salt for salt in range(ways)]
        whole, more = divmod(sum(places.values()), ways)
        for salt, partition in enumerate(partition_for_key(binary_column(salts), n, client).to_pylist()):
            after[partition] += whole + (salt < more)
    return max(after.values())

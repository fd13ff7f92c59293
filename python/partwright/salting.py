"""What the largest partition would have, were the heaviest keys salted: each split into several by a number at its end.

>>> from partwright.observed import HeavyKey
>>> heavy = [HeavyKey(b"US", 900, 900, 8)]
>>> [(each.ways, round(each.largest_share, 3)) for each in salted(heavy, {8: 905, 4: 50, 2: 45}, 1000, 12)]
[(2, 0.5), (4, 0.45), (8, 0.269), (16, 0.213)]
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partwright.hashing import partition_for_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from partwright.observed import HeavyKey

__all__ = ["Salted", "salted"]

_WAYS = (2, 4, 8, 16)


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
    heavy: Sequence[HeavyKey], rows_in: Mapping[int, int], rows: int, n: int, client: str = "java"
) -> list[Salted]:
    """The largest share for several numbers of ways; empty where no key has more rows than an even partition, or one.

    Args:
        heavy: The heaviest keys.
        rows_in: Rows by partition.
        rows: All rows that are in a partition.
        n: How many partitions there are.
        client: The client profile that places the keys.
    """
    split = [each for each in heavy if each.partition is not None and each.rows * n > rows and each.rows > 1]
    if not split or n == 1:
        return []
    return [Salted(ways, len(split), _largest(split, rows_in, n, client, ways) / rows) for ways in _WAYS]


def _largest(split: Sequence[HeavyKey], rows_in: Mapping[int, int], n: int, client: str, ways: int) -> float:
    after: Counter[int] = Counter()
    after.update(rows_in)
    for each in split:
        after[each.partition or 0] -= each.rows
        salts = [each.key + b"-%d" % salt for salt in range(ways)]
        whole, more = divmod(each.rows, ways)
        for salt, partition in enumerate(partition_for_key(salts, n, client).to_pylist()):
            after[partition] += whole + (salt < more)
    return max(after.values())

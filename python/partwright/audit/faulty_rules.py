"""Faulty rules: a client's hash, made into a partition in another way than any client makes it.

A port of a client often has the hash right and its sign wrong. Then it agrees with the client for the half of the keys
whose hash is not negative, which looks like two writers.

>>> import pyarrow as pa
>>> from partwright.keys.hashing import murmur2
>>> keys = [f"user-{i}" for i in range(300)]
>>> partitions = [(hash_ & 0xFFFFFFFF) % 12 for hash_ in murmur2(keys).to_pylist()]
>>> pairs = pa.table({"key": pa.array(keys, pa.binary()), "partition": partitions, "rows": [1] * len(keys)})
>>> fault = find_fault(pairs, range(1, 100), 0)
>>> fault.name, fault.client, fault.n, fault.explained
('murmur2-unsigned', 'java', 12, (300, 300))
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from partwright import _core
from partwright.audit.fingerprint_search import CHANCE, chance, sample_of
from partwright.files.scalars import number_column

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

__all__ = ["Fault", "find_fault"]

_HALF, _WHOLE = 1 << 31, 1 << 32


def _signed(hash_: int) -> int:
    return hash_ - _WHOLE if hash_ >= _HALF else hash_


class _Way(NamedTuple):
    """How a hash of 32 bits becomes a partition: in words, and as a function of the unsigned hash and n."""

    rule: str
    place: Callable[[int, int], int]


_WAYS = {
    "masked": _Way("(hash & 0x7fffffff) % n", lambda hash_, n: (hash_ & (_HALF - 1)) % n),
    "unsigned": _Way("hash % n, unsigned", lambda hash_, n: hash_ % n),
    "signed": _Way("hash % n, signed, plus n if negative", lambda hash_, n: _signed(hash_) % n),
    "absolute": _Way("abs(hash % n), signed", lambda hash_, n: abs(_signed(hash_)) % n),
}
# The clients' own ways, as the core's table of clients writes them.
_OWN = {
    "(hash & 0x7fffffff) % n": "masked",
    "hash % n, unsigned": "unsigned",
    "abs(hash % n), signed": "absolute",
    "abs(hash) % n, signed": "absolute",
}


@dataclass(frozen=True)
class Fault:
    """A faulty rule that explains where the keys are.

    Attributes:
        name: The hash, and how it becomes a partition: `murmur2-unsigned`.
        client: The first profile with that hash.
        rule: The faulty rule.
        right: That profile's own.
        n: For how many partitions.
        explained: How many records are where the rule puts them, and for how many it determines the partition.
        elsewhere: How many records the profile itself would put elsewhere.
    """

    name: str
    client: str
    rule: str
    right: str
    n: int
    explained: tuple[int, int]
    elsewhere: int


def find_fault(pairs: pa.Table, numbers: Sequence[int], most: float) -> Fault | None:
    """The faulty rule that explains the pairs of a key and a partition; None if there is none, or no single one.

    Args:
        pairs: A row for each key in each partition.
        numbers: The numbers of partitions to try.
        most: The largest share of the records that may be exceptions.
    """
    numbers = list(dict.fromkeys(numbers))
    sample = sample_of(pairs)
    # The order of the pairs may favour a rule, and one that does not fit has to show it early.
    sample = sample.take(number_column(random.Random(0).sample(range(len(sample)), len(sample))))  # noqa: S311
    ways = [(client, hash_, way) for client, hash_, own in _hashes() for way in _WAYS if way not in own]
    hashed = {client: _hashed(sample, client) for client, _, _ in ways}
    fitting = [
        (client, hash_, way, n)
        for client, hash_, way in ways
        for n in numbers
        if _fits(hashed[client], way, n, most, tried=len(ways) * len(numbers))
    ]
    faults = [_fault(pairs, *each) for each in fitting]
    faults = [each for each in faults if each.explained[0] >= (1 - most) * each.explained[1]]
    # Two hashes may be the same for these keys; with few keys, several numbers fit.
    single = len({(each.n, each.name.rpartition("-")[2]) for each in faults}) == 1
    return faults[0] if single else None


def _hashes() -> list[tuple[str, str, set[str]]]:
    """Each hash with its first profile, and the ways in which its profiles make it a partition."""
    found: dict[str, tuple[str, str, set[str]]] = {}
    for row in _core.clients():
        if row["sign"] in _OWN:
            found.setdefault(row["hash"], (row["client"], row["hash"], set()))[2].add(_OWN[row["sign"]])
    return list(found.values())


def _hashed(pairs: pa.Table, client: str) -> list[tuple[int, int, int]]:
    """The hash, the partition and the rows of each pair whose key a client hashes."""
    columns = (pairs[name].to_pylist() for name in ("key", "partition", "rows"))
    steps = ((_core.steps(key, 1, client), at, rows) for key, at, rows in zip(*columns, strict=True))
    return [(step[0] % _WHOLE, at, rows) for step, at, rows in steps if step is not None]


def _fits(hashed: Sequence[tuple[int, int, int]], way: str, n: int, most: float, tried: int) -> bool:
    """Whether a rule explains nearly all records of a sample's pairs, and so many pairs that it is not by chance.

    Strays of a key with many records make many pairs, each of few records.
    """
    place, left, agreeing = _WAYS[way].place, most * sum(rows for _, _, rows in hashed), 0
    for hash_, partition, rows in hashed:
        if place(hash_, n) == partition:
            agreeing += 1
            continue
        left -= rows
        if left < 0:
            return False
    return agreeing > 0 and chance(len(hashed), agreeing, n) * tried <= CHANCE


def _fault(pairs: pa.Table, client: str, hash_name: str, way: str, n: int) -> Fault:
    (row,) = [row for row in _core.clients() if row["client"] == client]
    hashed = _hashed(pairs, client)
    place, own = _WAYS[way].place, _WAYS[_OWN[row["sign"]]].place
    right = sum(rows for hash_, partition, rows in hashed if place(hash_, n) == partition)
    elsewhere = sum(rows for hash_, partition, rows in hashed if own(hash_, n) != partition)
    return Fault(
        name=f"{hash_name}-{way}",
        client=client,
        rule=_WAYS[way].rule,
        right=row["sign"],
        n=n,
        explained=(right, sum(rows for _, _, rows in hashed)),
        elsewhere=elsewhere,
    )

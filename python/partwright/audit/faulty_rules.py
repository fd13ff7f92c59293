"""Faulty rules: a client's hash, made into a partition in another way than any client makes it.

A port of a client often has the hash right and its sign wrong. Then it agrees with the client for the half of the keys
whose hash is not negative, which looks like two writers.

>>> import pyarrow as pa
>>> from partwright.keys.hashing import murmur2
>>> keys = [f"user-{i}" for i in range(300)]
>>> partitions = [(hash_ & 0xFFFFFFFF) % 12 for hash_ in murmur2(keys).to_pylist()]
>>> pairs = pa.table({"key": pa.array(keys, pa.binary()), "partition": partitions, "rows": [1] * len(keys)})
>>> fault = find_fault(pairs, pairs, range(1, 100), 0)
>>> fault.name, fault.client, fault.n, fault.explained
('murmur2-unsigned', 'java', 12, (300, 300))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from partwright import _core
from partwright.audit.fingerprint_search import CHANCE, CHANCE_OF_ANOTHER, chance, sample_of
from partwright.audit.pair_tables import total
from partwright.files.scalars import TRUE
from partwright.keys.client_profiles import libraries

_HALF, _WHOLE = 1 << 31, 1 << 32
# For how many numbers of partitions one writer's records may be, because its topic got more.
_NUMBERS = 3


def _signed(hash_: int) -> int:
    return hash_ - _WHOLE if hash_ >= _HALF else hash_


class _Way(NamedTuple):
    """How a hash becomes a partition: in words, and the number of which the remainder by n is that partition."""

    rule: str
    number: Callable[[int], int]


_WAYS = {
    "masked": _Way("(hash & 0x7fffffff) % n", lambda hash_: hash_ & (_HALF - 1)),
    "unsigned": _Way("hash % n, unsigned", lambda hash_: hash_),
    "signed": _Way("hash % n, signed, plus n if negative", _signed),
    "absolute": _Way("abs(hash % n), signed", lambda hash_: abs(_signed(hash_))),
}
# The libraries' own ways, by the name of the step.
_OWN = {"masked": "masked", "unsigned": "unsigned", "abs-of-remainder": "absolute", "abs": "absolute"}


class _Rule(NamedTuple):
    """A hash, by the first profile that has it, and what is made of it."""

    client: str
    hash: str
    way: str


@dataclass(frozen=True)
class Fault:
    """A faulty rule that explains where the keys are.

    Attributes:
        name: The hash, and how it becomes a partition: `murmur2-unsigned`.
        client: The first profile with that hash.
        rule: The faulty rule.
        right: That profile's own.
        lacks_mask: Whether what it lacks is the mask that drops the sign.
        products: The products whose own rule it is.
        n: For how many partitions, at last.
        numbers: All numbers of partitions, the smallest first: more than one if the topic got more.
        explained: How many records are where the rule puts them, and for how many it determines the partition.
        elsewhere: How many records the profile itself would put elsewhere.
    """

    name: str
    client: str
    rule: str
    right: str
    lacks_mask: bool
    products: tuple[str, ...]
    n: int
    numbers: tuple[int, ...]
    explained: tuple[int, int]
    elsewhere: int


def find_fault(
    pairs: pa.Table, unexplained: pa.Table, numbers: Sequence[int], most: float, improbable: float = CHANCE
) -> Fault | None:
    """The faulty rule that explains the rest of the pairs of a key and a partition; None if no single one does.

    Args:
        pairs: A row for each key in each partition.
        unexplained: Those of them that no client's rule explains, or all.
        numbers: The numbers of partitions to try.
        most: The largest share of the rest's records that may be exceptions.
        improbable: How improbable it must be that keys follow a rule by chance.
    """
    numbers = list(dict.fromkeys(numbers))
    rules = [_Rule(client, hash_, way) for client, hash_, own in _hashes() for way in _WAYS if way not in own]
    partition_counts: list[int] = []
    left = unexplained
    while len(partition_counts) < _NUMBERS:
        best = _best(sample_of(left), rules, numbers, improbable)
        if best is None:
            return None
        rule, n = best
        partition_counts.append(n)
        before = total(left["rows"])
        left = left.filter(pc.invert(pc.fill_null(_following(left, rule, [n]), TRUE)))
        # A number that explains no more than may be exceptions explains some of these: they agree modulo a divisor.
        if before - total(left["rows"]) <= most * total(unexplained["rows"]):
            return None
        if total(left["rows"]) <= most * total(unexplained["rows"]):
            return _fault(pairs, rule, tuple(sorted(partition_counts)))
        # One writer had one rule for each number.
        rules, improbable = [rule], CHANCE_OF_ANOTHER
    return None


def follows_fault(pairs: pa.Table, fault: Fault) -> pa.Array:
    """Which pairs follow a faulty rule, null if its client hashes no such key."""
    return _following(pairs, _rule_of(fault), fault.numbers)


def _rule_of(fault: Fault) -> _Rule:
    hash_, _, way = fault.name.rpartition("-")
    return _Rule(fault.client, hash_, way)


def _hashes() -> list[tuple[str, str, set[str]]]:
    """Each hash with its first profile, and the ways in which its profiles make it a partition."""
    by_hash: dict[str, tuple[str, str, set[str]]] = {}
    for row in libraries():
        by_hash.setdefault(row["hash"], (row["client"], row["hash"], set()))[2].add(_OWN[row["sign_name"]])
    return list(by_hash.values())


def _hashed(pairs: pa.Table, client: str) -> list[int | None]:
    """The hash of each pair's key, None if the client does not hash it."""
    steps = (_core.steps(key, 1, client) for key in pairs["key"].to_pylist())
    return [None if step is None else step[0] % _WHOLE for step in steps]


def _best(
    sample: pa.Table, rules: Sequence[_Rule], numbers: Sequence[int], improbable: float
) -> tuple[_Rule, int] | None:
    """The rule and the number that most pairs of a sample follow; None if it may be by chance, or several do."""
    best: list[tuple[_Rule, int]] = []
    most, determined = 0, 0
    partitions = sample["partition"].to_pylist()
    hashed = {client: _hashed(sample, client) for client in {rule.client for rule in rules}}
    for rule in rules:
        number = _WAYS[rule.way].number
        # A partition is a number's remainder by n if n divides their difference, and is larger than the partition.
        pairs = [
            (number(hash_) - partition, partition)
            for hash_, partition in zip(hashed[rule.client], partitions, strict=True)
            if hash_ is not None
        ]
        for n in numbers:
            agreeing = sum(not difference % n and partition < n for difference, partition in pairs)
            if agreeing > most:
                most, best, determined = agreeing, [], len(pairs)
            if agreeing == most:
                best.append((rule, n))
    # Two hashes may be the same for these keys; with few keys, several numbers fit.
    is_single = len({(rule.way, n) for rule, n in best}) == 1
    tried = len(rules) * len(numbers)
    return best[0] if is_single and chance(determined, most, best[0][1]) * tried <= improbable else None


def _following(pairs: pa.Table, rule: _Rule, numbers: Sequence[int]) -> pa.Array:
    """Which pairs follow a rule for one of some numbers, null if its client hashes no such key."""
    number = _WAYS[rule.way].number
    each = zip(_hashed(pairs, rule.client), pairs["partition"].to_pylist(), strict=True)
    return pa.array(
        (None if hash_ is None else any(number(hash_) % n == at for n in numbers) for hash_, at in each),
        pa.bool_(),
    )


def _fault(pairs: pa.Table, rule: _Rule, numbers: tuple[int, ...]) -> Fault:
    (row,) = [row for row in libraries() if row["client"] == rule.client]
    following = _following(pairs, rule, numbers)
    own = _following(pairs, rule._replace(way=_OWN[row["sign_name"]]), numbers)
    return Fault(
        name=f"{rule.hash}-{rule.way}",
        client=rule.client,
        rule=_WAYS[rule.way].rule,
        right=row["sign"],
        lacks_mask=row["sign_name"] == "masked",
        products=tuple(
            row["client"]
            for row in _core.clients()
            if not (row["is_library"] or row["stands_for"])
            and (row["hash"], row["sign_name"]) == (rule.hash, rule.way)
        ),
        n=numbers[-1],
        numbers=numbers,
        explained=(
            total(pairs.filter(following)["rows"]),
            total(pairs.filter(following.is_valid())["rows"]),
        ),
        elsewhere=total(pairs.filter(pc.invert(own))["rows"]),
    )

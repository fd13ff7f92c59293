"""Which client wrote a topic, and for how many partitions, judged by its keys' partitions.

>>> keys = pa.array([f"user-{i}" for i in range(100)], pa.binary())
>>> seen = Observed()
>>> seen.add(keys, partition_for_key(keys, 12, "librdkafka").cast(pa.int64()))
>>> found = judge(seen)
>>> found.verdict, found.n, found.family[:3]
('one-writer', 12, ('librdkafka', 'librdkafka:consistent', 'sarama:crc32'))
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from partwright._check import counted, spelled
from partwright.audit.encodings import OTHER_BYTES, TRANSFORMS
from partwright.audit.faulty_rules import find_fault
from partwright.audit.fingerprint_answer import Fingerprint, VerdictMaker
from partwright.audit.fingerprint_search import (
    CHANCE_OF_ANOTHER,
    find_writers,
    is_of_one,
    numbers_to_try,
    sample_of,
)
from partwright.audit.key_sums import Observed
from partwright.audit.pair_tables import merged, rows_by_key
from partwright.errors import PartwrightError
from partwright.keys.hashing import partition_for_key

if TYPE_CHECKING:
    from partwright.audit.fingerprint_search import CandidateWriter

# Partitions are taken in turn if all have had equally many turns at this share of the times, over this many turns.
_CYCLE = 0.9
_TURNS = 5
# If no more than this share is unexplained, no better explanation is looked for.
_EXPLAINED = 0.01
# A faulty rule, or one that gets other bytes, may have up to this share of exceptions if the clients' rules leave more
# than it unexplained.
_EXCEPTIONS = 0.1
# Numbered keys agree with weak hashes more often than by chance: a rule that leaves more than this unexplained is
# dropped.
_BY_STRUCTURE = 0.75
# A key's main partition has at least this share of its records, and main partitions this share of all records.
_MAIN = 0.9


def judge(seen: Observed, n: int | None = None) -> Fingerprint:
    """Find which client wrote these records.

    Args:
        seen: The records' sums.
        n: How many partitions the topic has; by default it is found, too.

    Raises:
        PartwrightError: n is invalid, or a record is in a partition that n does not have.
    """
    largest = max(seen.rows_in, default=-1)
    if n is not None:
        partition_for_key(None, n)
        if largest >= n:
            raise PartwrightError(
                f"a record is in partition {largest}, which a topic of {counted(n, 'partition')} has not: check "
                f"{spelled('n')}"
            )
    pairs = seen.pairs()
    answers = VerdictMaker(seen, pairs, n)
    if not pairs.num_rows:
        return answers.without_writer("no-keys", n)
    best = _best(answers, largest)
    if best is not None and best.fingerprint.unexplained <= _EXPLAINED:
        return best.fingerprint
    left = 1.0 if best is None else best.fingerprint.unexplained
    # Where the clients' rules leave much, what leaves less than half as much is the better explanation.
    most = min(_EXCEPTIONS, left / 2) if left > _EXCEPTIONS else _EXPLAINED
    faulty = _by_other_bytes(answers, largest, most) or _by_fault(answers, largest, most)
    if faulty is None and best is not None:
        faulty = _beside_fault(best, largest)
    if faulty is not None:
        return faulty
    if _is_cycle(seen, answers):
        known = largest + 1 if len(seen.rows_in) == largest + 1 else None
        return answers.without_writer("round-robin", n or known)
    # Pairs count, too: one heavy key in another partition must not hide the rule of all others.
    if best is not None and min(best.fingerprint.unexplained, best.unexplained_pairs) <= _BY_STRUCTURE:
        return best.fingerprint
    return answers.without_writer("no-rule", n)


class _Explanation(NamedTuple):
    """An answer, the writers that it is about, and the maker of such answers."""

    fingerprint: Fingerprint
    writers: Sequence[CandidateWriter]
    answers: VerdictMaker

    @property
    def unexplained_pairs(self) -> float:
        """The share of pairs that no writer explains, regardless of their numbers of records."""
        pairs = self.answers.pairs.num_rows
        return self.answers.without(self.writers).num_rows / pairs if self.writers else 0.0


def _best(answers: VerdictMaker, largest: int) -> _Explanation | None:
    """The answer by rules that explains most, with the keys as they are or transformed."""
    candidates = [_by_rules(answers, largest) or _by_main_places(answers, largest)]
    # Rules may agree in part, as FNV-1a does with and without zeros before a key: the best explanation counts.
    if candidates[0] is None or candidates[0].fingerprint.unexplained > _EXPLAINED:
        for name, transform in TRANSFORMS.items():
            changed = _with_keys(answers.pairs, transform)
            if changed is not None:
                candidates.append(_by_rules(VerdictMaker(answers.seen, changed, answers.n, name), largest))
    return min(
        (each for each in candidates if each is not None),
        key=lambda each: each.fingerprint.unexplained,
        default=None,
    )


def _by_rules(answers: VerdictMaker, largest: int) -> _Explanation | None:
    """The answer if the keys follow rules; None otherwise."""
    return _of_writers(answers, *find_writers(answers.pairs, answers.n, largest))


def _of_writers(
    answers: VerdictMaker, writers: list[CandidateWriter], left: list[CandidateWriter]
) -> _Explanation | None:
    """The answer about writers that were found, or about all profiles that are left; None if there are neither."""
    if writers:
        return _Explanation(answers.by(writers), writers, answers)
    return _Explanation(answers.undecided(left), [], answers) if left else None


def _with_keys(pairs: pa.Table, transform: Callable[[pa.Array], pa.Array | None]) -> pa.Table | None:
    """The pairs with their keys changed; None if these keys cannot be."""
    changed = transform(pairs["key"])
    if changed is None:
        return None
    # One key after two schemas' IDs is two pairs, which become one.
    return merged(pairs.set_column(pairs.schema.names.index("key"), "key", changed))


def _by_other_bytes(answers: VerdictMaker, largest: int, most: float) -> Fingerprint | None:
    """The answer if one writer's rule explains all but a share of the records by other bytes of their keys."""
    sample = sample_of(answers.pairs)
    for name, transform in OTHER_BYTES.items():
        # Of many keys, most transforms fail at a few already.
        some = _with_keys(sample, transform)
        if some is None or not is_of_one(some, answers.n, largest, len(OTHER_BYTES)):
            continue
        changed = _with_keys(answers.pairs, transform)
        found = (
            None
            if changed is None
            else _by_rules(VerdictMaker(answers.seen, changed, answers.n, name), largest)
        )
        if found is None or len(found.writers) != 1:
            continue
        right, of = found.fingerprint.explained[found.fingerprint.family[0]]
        if right >= (1 - most) * of:
            return answers.by_other_bytes(found.fingerprint)
    return None


def _by_fault(answers: VerdictMaker, largest: int, most: float) -> Fingerprint | None:
    """The answer if one writer's faulty rule explains all but a share of the records."""
    fault = find_fault(answers.pairs, answers.pairs, numbers_to_try(largest, answers.pairs, answers.n), most)
    return None if fault is None else answers.by_fault(fault)


def _beside_fault(explanation: _Explanation, largest: int) -> Fingerprint | None:
    """The answer if one faulty rule explains nearly all that the clients' rules leave.

    A client of whose own records it explains nearly all, too, has agreed with it by chance.
    """
    answers, writers = explanation.answers, explanation.writers
    numbers = numbers_to_try(largest, answers.pairs, answers.n)
    fault = find_fault(answers.pairs, answers.without(writers), numbers, _EXCEPTIONS, CHANCE_OF_ANOTHER)
    if fault is None:
        return None
    real = [writer for writer in writers if answers.share_of_own(fault, writer, writers) < 1 - _EXCEPTIONS]
    return answers.by(real, fault) if real else answers.by_fault(fault)


def _by_main_places(answers: VerdictMaker, largest: int) -> _Explanation | None:
    """The answer if keys follow rules once each counts only in the partition with nearly all of its records.

    If there are few keys with many records each, a few strays make many pairs of a key and a partition without a rule.
    """
    pairs = answers.pairs
    of_keys = rows_by_key(pairs["key"], pairs["rows"]).rename_columns(["key", "rows_sum"])
    main = pairs.join(of_keys, "key", join_type="inner", use_threads=False)
    main = main.filter(
        pc.greater_equal(main["rows"].cast(pa.float64()), pc.multiply(main["rows_sum"], _MAIN))
    )
    kept, rows = (pc.sum(each["rows"]).as_py() or 0 for each in (main, pairs))
    if main.num_rows == pairs.num_rows or kept < _MAIN * rows:
        return None
    return _of_writers(answers, *find_writers(main.select(pairs.schema.names), answers.n, largest))


def _is_cycle(seen: Observed, answers: VerdictMaker) -> bool:
    """Whether partitions are taken in turn over time, regardless of the keys."""
    turns, order = len(seen.rows_in), seen.order()
    # If every key occurs only once, keys may be disregarded, too.
    disregarded = len(answers.scattered) > 0 or answers.keys == pc.sum(answers.pairs["rows"]).as_py()
    times, partitions = order["time"].to_pylist(), order["partition"].to_pylist()
    # Records deleted from a partition's beginning do not count as missed turns.
    first = max((partitions.index(each) for each in seen.rows_in if each in partitions), default=0)
    # Do not start within a millisecond, whose records may be in any order.
    while first and times[first] is not None and times[first - 1] == times[first]:
        first -= 1
    times, partitions = times[first:], partitions[first:]
    if turns == 1 or len(times) < _TURNS * turns or not disregarded:
        return False
    count_of = dict.fromkeys(seen.rows_in, 0)
    # By number of records, how many partitions have had that many.
    having = Counter({0: turns})
    least, most, level, looked_at = 0, 0, 0, 0
    for row, (time, partition, later) in enumerate(
        zip(times, partitions, [*times[1:], None], strict=True), 1
    ):
        count = count_of[partition]
        count_of[partition] += 1
        having[count] -= 1
        having[count + 1] += 1
        most = max(most, count + 1)
        least += not having[least]
        # Records of one millisecond may be in any order, so look only after the last of them. Several producers, each
        # with its own turns, stay close together; random partitions spread several times as far.
        if time is None or time != later:
            looked_at += 1
            level += most - least <= max(1.0, math.sqrt(row / turns) / 2)
    return level >= _CYCLE * looked_at

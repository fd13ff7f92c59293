"""Compare the last value of each key of two compacted topics, each of which may lose older ones at any time."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from partwright.kafka.reading import headers_of, records

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partwright.kafka.reading import Record
    from partwright.migration.ledger import State
    from partwright.migration.settings import Migration, Side
    from partwright.migration.topics import DescribedTopic

__all__ = ["last_values"]

# A mark that no value can have.
_DELETED = b""
_STEP = 10_000


def last_values(
    migration: Migration,
    state: State,
    source: DescribedTopic,
    target: DescribedTopic,
    progress: Callable[[int, int], None],
) -> tuple[int, int, int, int, int]:
    """Compare them; this takes memory for each key.

    Args:
        migration: What is migrated.
        state: The progress.
        source: The old topic as it is.
        target: The new topic as it is.
        progress: Called with how many records were read, and how many there are.

    Returns:
        For how many keys each topic has a last value, how many the new one lacks, how many it has in addition, and how
        many differ.
    """
    whole = sum(source.ends) - sum(source.begin) + sum(target.ends) - sum(target.begin)
    old, old_later, read = _last(migration.source, source, state.at, lambda many: progress(many, whole))
    new, new_later, _ = _last(migration.target, target, state.ends, lambda many: progress(read + many, whole))
    lost = changed = twice = 0
    for key, value in old.items():
        # A later record of the key may have replaced its copy.
        if key not in new:
            lost += value != _DELETED and key not in new_later
        else:
            changed += new[key] != value
    for key, value in new.items():
        twice += key not in old and value != _DELETED and key not in old_later
    return len(old), len(new), lost, twice, changed


def _last(
    side: Side, topic: DescribedTopic, ends: Sequence[int], progress: Callable[[int], None]
) -> tuple[dict[bytes, bytes], set[bytes], int]:
    """By a key's digest, the digest of its last record before some offsets; and the keys with later records."""
    last: dict[bytes, bytes] = {}
    later: set[bytes] = set()
    read = 0
    windows = dict(enumerate(zip(topic.begin, topic.ends, strict=True)))
    for record in records(side.config, side.topic, windows, committed=True):
        key = blake2b(record.key() or b"", digest_size=16).digest()
        if record.offset() < ends[record.partition()]:
            last[key] = _digest(record)
        else:
            later.add(key)
        read += 1
        if not read % _STEP:
            progress(read)
    progress(read)
    return last, later, read


def _digest(record: Record) -> bytes:
    value = record.value()
    if value is None:
        return _DELETED
    parts = repr((value, list(headers_of(record)), record.timestamp()[1])).encode()
    return blake2b(parts, digest_size=16).digest()

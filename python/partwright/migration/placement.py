"""The new partition of each record: by its key, or, if the client does not hash the key, by where it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from partwright.keys.hashing import placer

if TYPE_CHECKING:
    from partwright.migration.settings import Migration

__all__ = ["RecordPlacement", "placement"]


class RecordPlacement:
    """Where records go.

    A record that the client would place anywhere goes to a partition that follows from its old partition and offset:
    the same one whenever it is copied, and spread evenly. If the new number of partitions is a multiple of the old one,
    that new partition has records of only this old one, as for records with keys.

    Args:
        old: How many partitions the old topic has.
        new: How many the new one has.
        client: The client whose rule places each key.
        key_type: How a key's bytes are hashed; see `partwright.partition_for_key`.

    Examples:
        >>> partitions, offsets = pa.array([0, 1, 1]), pa.array([5, 8, 9])
        >>> RecordPlacement(3, 6, "java", None).of(pa.array([b"a", None, None]), partitions, offsets).to_pylist()
        [4, 1, 4]
    """

    def __init__(self, old: int, new: int, client: str, key_type: str | None) -> None:
        self._old, self._new = old, new
        self._place = placer(new, client, key_type)
        self._home = placer(old, client, key_type)

    def of(self, keys: pa.Array, partitions: pa.Array, offsets: pa.Array) -> pa.Array:
        """The new partition of each record.

        Args:
            keys: Their key bytes, null for records without a key.
            partitions: Their old partitions.
            offsets: Their offsets there.
        """
        found = self._place(keys)
        if not found.null_count:
            return found
        keyless = pc.is_null(found)
        places = zip(partitions.filter(keyless).to_pylist(), offsets.filter(keyless).to_pylist(), strict=True)
        return pc.replace_with_mask(
            found, keyless, pa.array([self.of_keyless(*place) for place in places], found.type)
        )

    def of_keyless(self, partition: int, offset: int) -> int:
        """The new partition of a record that the client would place anywhere."""
        return (partition + self._old * offset) % self._new

    def home(self, keys: pa.Array) -> pa.Array:
        """The old partition that the client gives each key; null if the client does not use the key."""
        return self._home(keys)


def placement(migration: Migration, old: int) -> RecordPlacement:
    """Where a migration puts the records of a topic that had so many partitions."""
    return RecordPlacement(old, migration.partitions, migration.client, migration.key_type)

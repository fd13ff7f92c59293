"""In which new partition each record goes: by its key, and where the client goes by none, by where it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright.keys.hashing import placer

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

__all__ = ["Placement"]


class Placement:
    """Where records go.

    A record that the client would place anywhere goes to a partition that follows from its old partition and offset:
    the same one whenever it is copied, spread evenly, and where the new number of partitions is a multiple of the old
    one, to a new partition that has records of that old one alone, as those with keys do.

    Args:
        old: How many partitions the old topic has.
        new: How many the new one has.
        client: The client whose rule places each key.
        key_type: How a key's bytes are hashed; see `partwright.partition_for_key`.

    Examples:
        >>> Placement(3, 6, "java", None).of(pa.array([b"a", None, None]), [0, 1, 1], [5, 8, 9])
        [2, 1, 4]
    """

    def __init__(self, old: int, new: int, client: str, key_type: str | None) -> None:
        self._old, self._new = old, new
        self._place = placer(new, client, key_type)
        self._home = placer(old, client, key_type)

    def of(self, keys: pa.Array, partitions: Sequence[int], offsets: Sequence[int]) -> list[int]:
        """The new partition of each record.

        Args:
            keys: Their key bytes, null where a record has no key.
            partitions: Their old partitions.
            offsets: Their offsets there.
        """
        found: list[int | None] = self._place(keys).to_pylist()
        return [
            self.of_keyless(partition, offset) if target is None else target
            for target, partition, offset in zip(found, partitions, offsets, strict=True)
        ]

    def of_keyless(self, partition: int, offset: int) -> int:
        """The new partition of a record that the client would place anywhere."""
        return (partition + self._old * offset) % self._new

    def keyed(self, keys: pa.Array) -> pa.Array:
        """The new partition by the key alone; null where the client does not go by it."""
        return self._place(keys)

    def home(self, keys: pa.Array) -> pa.Array:
        """The old partition that the client gives each key; null where the client does not go by it."""
        return self._home(keys)

"""Where clients put one key: the answer of `partwright which`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from partwright.answer import Answer
from partwright.errors import PartwrightError
from partwright.keys.clients import key_bytes_of, key_types, placements
from partwright.keys.typed_text import read_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from partwright._check import Json
    from partwright.keys.clients import KeyPlacement
    from partwright.keys.hashing import Key

_DIGITS = re.compile(r"-?[0-9]{1,20}", re.ASCII)

__all__ = ["KeyPlacements", "TypedKey", "under_each_type"]


class TypedKey(NamedTuple):
    """What a word is as a key of one type.

    Attributes:
        key_type: The type.
        key_bytes: The key's bytes.
        partition: Where one client puts it; None if the client does not hash it.
    """

    key_type: str
    key_bytes: bytes
    partition: int | None


@dataclass(frozen=True)
class KeyPlacements(Answer):
    """Where each client, or one of them, puts one key.

    Attributes:
        key: The key; None for a record without one.
        n: How many partitions there are.
        placements: Each client's answer; see `partwright.keys.clients.placements`.
        key_type: How the key becomes bytes.
        read: How to read the key's partition of a topic alone, as JSON has it; None if no topic was named.
        protocol: The `security.protocol` by which the topic's Kafka is reached.
        as_types: What the same word is under each key type that accepts it.

    Examples:
        >>> KeyPlacements("TT0124", 15, tuple(placements("TT0124", 15))).to_dict()["partitions"]["java"]
        10
    """

    DOCUMENT = "which"

    key: Key | None
    n: int
    placements: tuple[KeyPlacement, ...]
    key_type: str | None = None
    read: Json | None = None
    protocol: str = "PLAINTEXT"
    as_types: tuple[TypedKey, ...] = ()

    @property
    def key_bytes(self) -> bytes | None:
        """The key's bytes."""
        return key_bytes_of(self.key, self.key_type)

    @property
    def as_numbers(self) -> tuple[TypedKey, ...]:
        """Where the first client puts a key of digits if it is a number of Java's instead of text."""
        if self.key_type is not None or not isinstance(self.key, str) or not _DIGITS.fullmatch(self.key):
            return ()
        return under_each_type(self.key, self.n, self.placements[0].client, ("java:long", "java:int"))

    def to_arrow(self) -> pa.Table:
        """A row for each client: `client`, `partition`, `hash_name`, `sign`, `hash`, `why`, `setting` and the steps."""
        import pyarrow as pa  # noqa: PLC0415 - an answer without a table needs none

        return pa.Table.from_pylist([each._asdict() for each in self.placements])

    def to_dict(self) -> Json:
        """The object of `--json`; `read` only if a topic was named."""
        key = self.key_bytes
        return {
            "key_hex": None if key is None else key.hex(),
            "n": self.n,
            "partitions": {each.client: each.partition for each in self.placements},
            "hashes": {each.hash_name: each.hash for each in self.placements if each.hash is not None},
            **({"read": self.read} if self.read else {}),
        }


def under_each_type(
    word: str, n: int, client: str = "java", types: Iterable[str] | None = None
) -> tuple[TypedKey, ...]:
    """The key that a word of the command line is under each key type, or each of `types`, that accepts it.

    Examples:
        >>> [each.key_type for each in under_each_type("x", 12)]
        ['utf8', 'bytes', 'java:string']
    """
    found = []
    for key_type in key_types() if types is None else types:
        try:
            value = read_key(word, key_type)
            [placed] = placements(value, n, client, key_type)
            found.append(TypedKey(key_type, key_bytes_of(value, key_type) or b"", placed.partition))
        except PartwrightError:
            continue
    return tuple(found)

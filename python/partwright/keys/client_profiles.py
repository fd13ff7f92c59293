"""The table of clients and products with their rules, and where each puts one key, as `partwright which` answers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex

from partwright import _core
from partwright._check import Fields, Json
from partwright.answer import Answer
from partwright.errors import KeyTypeError, PartwrightError
from partwright.keys.key_text import read_key, text_bytes

if TYPE_CHECKING:
    # The command `which` answers before pyarrow could be imported.
    import pyarrow as pa

    from partwright.keys.hashing import Key


def clients() -> pa.Table:
    """Every client profile, with the source of its rule: libraries, then products that write to Kafka.

    Returns:
        A table with one row for each profile, Java's first:

        ====================  ======  ==========================================================================
        column                type    holds
        ====================  ======  ==========================================================================
        `client`              string  the profile's name; a library's bare name is its default
        `hash`                string  the hash of the key's bytes
        `sign`                string  how the hash becomes a partition
        `null_key`            string  `hashed` as an empty key, or how the client chooses: the answer is null
        `empty_key`           string  the same for a key without bytes
        `agrees_with_java`    bool    whether every key goes where `java` puts it, null and empty keys included
        `setting`             string  the line of configuration that makes it agree, null where it does or none does
        `library`             string  what is installed
        `version`             string  the library's version that the rule is proven against
        `source`              string  the function or class in it that was called for this
        `stands_for`          string  for a product: the library's profile with its rule, null if no library has it
        `key_bytes`           string  for a product: which bytes are hashed; null for a library
        `evidence`            string  for a product: how its rule is known; null for a library
        ====================  ======  ==========================================================================

    Examples:
        >>> table = clients()
        >>> table["client"][0].as_py(), table["hash"][0].as_py()
        ('java', 'murmur2')
        >>> [telegraf] = [row for row in table.to_pylist() if row["client"] == "telegraf"]
        >>> telegraf["stands_for"], telegraf["key_bytes"]
        ('sarama', 'the value of routing_tag, else routing_key')
    """
    import pyarrow as pa  # noqa: PLC0415 - `import partwright` does without it

    fields = [
        pa.field("client", pa.string(), nullable=False),
        pa.field("hash", pa.string(), nullable=False),
        pa.field("sign", pa.string(), nullable=False),
        pa.field("null_key", pa.string(), nullable=False),
        pa.field("empty_key", pa.string(), nullable=False),
        pa.field("agrees_with_java", pa.bool_(), nullable=False),
        pa.field("setting", pa.string()),
        pa.field("library", pa.string(), nullable=False),
        pa.field("version", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("stands_for", pa.string()),
        pa.field("key_bytes", pa.string()),
        pa.field("evidence", pa.string()),
    ]
    return pa.Table.from_pylist(_core.clients(), pa.schema(fields))


def which(
    key: Key | None,
    n: SupportsIndex,
    client: str | None = None,
    key_type: str | None = None,
    *,
    products: bool = False,
) -> dict[str, int | None]:
    """Where each client puts one key.

    Args:
        key: The key: text, binary, or under a `java:` key type a number, boolean or UUID; None is a null key.
        n: How many partitions the topic has, 1 to 2^31-1.
        client: One client or product; all libraries by default.
        key_type: How the key becomes bytes; see `partwright.encode`.
        products: Java and all products in place of all libraries.

    Returns:
        The partition by profile, in the order of `clients()`. It is None if the client does not hash the key (a null
        key, for some an empty one), or if the key is not text and the client hashes text, or if a product fails at it.
        The number of `java:string-hash` is negative where Java's own is: such a producer fails there.

    Raises:
        KeyTypeError: The key has no bytes under this key type, or is a column.
        PartwrightError: `n` out of range, an unknown client or key type.

    Examples:
        >>> found = which("TT0124", 15)
        >>> found["java"], found["librdkafka"], found["sarama"]
        (10, 9, 2)
        >>> which("", 15, "librdkafka")
        {'librdkafka': None}
        >>> which("TT0124", 15, "kafka-connect:json")
        {'kafka-connect:json': 6}
    """
    try:
        placed = placements(key, n, client, key_type, products=products)
        return {each.client: each.partition for each in placed}
    except KeyTypeError as error:
        if hasattr(key, "columns") or hasattr(key, "__arrow_c_stream__"):
            raise KeyTypeError(
                f"{error}; `which` takes one key, and `fingerprint` finds the client that wrote a table of records"
            ) from None
        raise


class KeyPlacement(NamedTuple):
    """Where one client puts one key, and how it gets there.

    Attributes:
        client: The profile.
        partition: The partition; None if the client does not hash the key.
        hash_name: The hash.
        sign: The step from the hash to a partition, in words.
        sign_name: The same by its name, such as `masked`.
        hash: The hash as the client sees it, with or without a sign; None if there is none.
        dividend: The number that is divided by n: the hash after the client's sign rule.
        remainder: The remainder; negative where Java's and Go's remainders are.
        why: How the client chooses if it does not hash; otherwise None.
        setting: The line of configuration that makes it agree with `java`; None if it already does, or none does.
        stands_for: For a product, the library's profile with its rule; None if no library has it.
        key_bytes: For a product, which bytes are hashed; None for a library.
        evidence: For a product, how its rule is known; None for a library.
    """

    client: str
    partition: int | None
    hash_name: str
    sign: str
    sign_name: str
    hash: int | None
    dividend: int | None
    remainder: int | None
    why: str | None
    setting: str | None
    stands_for: str | None
    key_bytes: str | None
    evidence: str | None


def placements(
    key: Key | None,
    n: SupportsIndex,
    client: str | None = None,
    key_type: str | None = None,
    *,
    products: bool = False,
) -> list[KeyPlacement]:
    """Where each client puts one key, with the steps; see `which`.

    Examples:
        >>> [java] = placements("TT0124", 15, "java")
        >>> java.hash, java.dividend, java.partition
        (-1442328778, 705154870, 10)
    """
    key_type = _core.check(n, "java" if client is None else client, key_type)
    key_bytes = key_bytes_of(key, key_type)
    if not isinstance(key_bytes, bytes | None):
        raise KeyTypeError(
            f"one key is looked up, not {type(key).__name__}: partition_for_key takes a column"
        )
    if client is None:
        rows = [
            row for row in _core.clients() if row["is_library"] is not products or row["client"] == "java"
        ]
    else:
        rows = [row for row in _core.clients() if row["client"] == client]
    return [_placement(row, key_bytes, n, key_type) for row in rows]


def key_bytes_of(key: Key | None, key_type: str | None = None) -> bytes | None:
    r"""The key bytes of one key; `partwright.encode` without pyarrow, which text and bytes need not.

    Examples:
        >>> key_bytes_of("TT0124"), key_bytes_of(42, "java:short"), key_bytes_of(None)
        (b'TT0124', b'\x00*', None)
    """
    if key is None:
        return None
    if isinstance(key, str) and key_type in {None, "utf8", "java:string"}:
        return text_bytes(key, key_type)
    if isinstance(key, bytes) and key_type in {None, "bytes"}:
        return key
    from partwright.keys.hashing import encode  # noqa: PLC0415 - see above

    return encode(key, key_type)


def _placement(row: Fields, key: bytes | None, n: SupportsIndex, key_type: str | None) -> KeyPlacement:
    steps = _core.steps(key, n, row["client"], key_type)
    hashed, dividend, remainder, partition = steps or (None, None, None, None)
    why = None
    if steps is None:
        unlike = "the key is shorter than its window" if row["form"] == "windowed" else "the key is not text"
        why = row["null_key"] if key is None else row["empty_key"] if key == b"" else unlike
        partition = _core.partition_for_bytes(key, n, row["client"]) if not row["is_library"] else None
    elif partition is not None and partition < 0 and not row["is_library"]:
        partition, why = None, "none: it fails at this key"
    return KeyPlacement(
        client=row["client"],
        partition=partition,
        hash_name=row["hash"],
        sign=row["sign"],
        sign_name=row["sign_name"],
        hash=hashed,
        dividend=dividend,
        remainder=remainder,
        why=why,
        setting=row["setting"],
        stands_for=row["stands_for"],
        key_bytes=row["key_bytes"],
        evidence=row["evidence"],
    )


def libraries() -> list[Fields]:
    """The core's rows of libraries, with the fields of `clients()` and the names of their steps.

    Examples:
        >>> libraries()[0]["client"], libraries()[0]["sign_name"]
        ('java', 'masked')
    """
    return [row for row in _core.clients() if row["is_library"]]


def client_names() -> list[str]:
    """The names of the libraries' profiles, in the order of `clients()`.

    Examples:
        >>> client_names()[:3]
        ['java', 'java:string-hash', 'librdkafka']
    """
    return [row["client"] for row in libraries()]


def key_types() -> list[str]:
    """The names of the key types that `partwright.encode` knows.

    Examples:
        >>> key_types()[:3]
        ['utf8', 'bytes', 'java:short']
    """
    return list(_core.key_types())


_DIGITS = re.compile(r"-?[0-9]{1,20}", re.ASCII)


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
        placements: Each client's answer; see `partwright.keys.client_profiles.placements`.
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
        hashes: Json = {}
        for each in self.placements:
            # A product may see the same bits with another sign.
            if each.hash is not None:
                hashes.setdefault(each.hash_name, each.hash)
        return {
            "key_hex": None if key is None else key.hex(),
            "n": self.n,
            "partitions": {each.client: each.partition for each in self.placements},
            "hashes": hashes,
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
    typed_keys = []
    for key_type in key_types() if types is None else types:
        try:
            value = read_key(word, key_type)
            [placed] = placements(value, n, client, key_type)
            typed_keys.append(TypedKey(key_type, key_bytes_of(value, key_type) or b"", placed.partition))
        except PartwrightError:
            continue
    return tuple(typed_keys)

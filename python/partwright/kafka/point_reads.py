r"""Reading the one partition that a key is in, in the place of the whole topic: for Spark, kcat and Kafka's own tools.

>>> assign_json("orders", ["TT0124", "N14228"], 12)
'{"orders": [8, 10]}'
>>> print(read_commands("orders", "N14228", 12, servers="127.0.0.1:9092")["kcat"])
kcat -C -b 127.0.0.1:9092 -t orders -p 8 -o beginning -e -f '%k\t%s\n'
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, cast

import pyarrow.compute as pc

from partwright.errors import KeyTypeError, PartwrightError
from partwright.kafka.topics import check_topic_name
from partwright.keys.hashing import encode, partition_for_key
from partwright.keys.key_text import shown_key

if TYPE_CHECKING:
    import pyarrow as pa

    from partwright.keys.hashing import Column, Key

__all__ = ["assign_json", "read_commands"]

# How the tools show a key that is a number: kcat's pack format, and Kafka's own class.
_NUMBERS = {"java:short": (">h", "Short"), "java:int": (">i", "Integer"), "java:long": (">q", "Long")}
_SILENCE_MS = 10_000


def assign_json(
    topic: str, keys: Key | Column | None, n: int, client: str = "java", key_type: str | None = None
) -> str:
    """The partitions that hold the records of some keys, for the option `assign` of Spark's Kafka source.

    It is `n` as the topic had it when the records were written that counts. Of a topic that got more partitions since,
    the old records of a key are where the old number put them: ask for each number, and read both.

    Args:
        topic: The topic.
        keys: One key, or a column of them; see `partwright.partition_for_key`.
        n: How many partitions the topic has.
        client: The client profile that wrote the records.
        key_type: How a value becomes key bytes; see `partwright.encode`.

    Returns:
        A JSON object of the topic and its partitions, sorted, each once.

    Raises:
        PartwrightError: There is no key, or the client does not place one of them by its bytes, as most do not a null
            key: its records may be in any partition. Or the topic's name, n, the client or the key type is none.
        KeyTypeError: The keys' type has no key bytes under this key type.

    Examples:
        >>> assign_json("orders", 42, 12, key_type="java:long")
        '{"orders": [4]}'
        >>> assign_json("orders", ["TT0124", None], 12)
        Traceback (most recent call last):
            ...
        partwright.errors.PartwrightError: row 1: the key null has no partition of its own by client java, so its records may be in any: leave it out, or read the whole topic
    """  # noqa: E501 - the error's sentence is one line
    check_topic_name(topic)
    found = partition_for_key(keys, n, client, key_type)
    if found is None or isinstance(found, int):
        return json.dumps({topic: [_placed(found, cast("Key | None", keys), client, key_type)]})
    if not len(found):
        raise PartwrightError("there are no keys: name one at least")
    if found.null_count:
        row = pc.index(pc.is_null(found), True).as_py()
        key_bytes = cast("pa.Array", encode(keys, key_type))[row].as_py()
        raise _unplaced(key_bytes, client, key_type).at_row(row)
    return json.dumps({topic: sorted(pc.unique(found).to_pylist())})


def read_commands(
    topic: str,
    key: Key | None,
    n: int,
    *,
    servers: str = "localhost:9092",
    client: str = "java",
    key_type: str | None = None,
) -> dict[str, str]:
    """The shell's lines that read the one partition of a key, with kcat and with Kafka's own console consumer.

    Each prints key and value of every record in that partition, and ends with it.

    Args:
        topic: The topic.
        key: The key.
        n: How many partitions the topic has; see `assign_json`.
        servers: Where the brokers are, `host:port`, several with commas between.
        client: The client profile that wrote the records.
        key_type: How the key becomes bytes; short, int and long are printed as numbers.

    Returns:
        By tool, `kcat` and `kafka-console-consumer`, its line. All versions of the console consumer know `--property`;
        from 4.2 on it says first that `--formatter-property` is its new name.

    Raises:
        PartwrightError: As `assign_json` does; the key is a column.

    Examples:
        >>> lines = read_commands("orders", 42, 12, key_type="java:long")
        >>> print(lines["kafka-console-consumer"])  # doctest: +NORMALIZE_WHITESPACE
        kafka-console-consumer.sh --bootstrap-server localhost:9092 --topic orders --partition 4 --offset earliest
        --timeout-ms 10000 --property print.key=true
        --property key.deserializer=org.apache.kafka.common.serialization.LongDeserializer
    """
    check_topic_name(topic)
    found = partition_for_key(key, n, client, key_type)
    if not (found is None or isinstance(found, int)):
        raise KeyTypeError(f"one key is looked up, not {type(key).__name__}: assign_json takes a column")
    partition = str(_placed(found, key, client, key_type))
    format_, class_ = _NUMBERS.get(key_type or "", (None, None))
    kcat = ["kcat", "-C", "-b", servers, "-t", topic, "-p", partition, "-o", "beginning", "-e"]
    kcat += ["-s", f"key={format_}"] if format_ else []
    console = ["kafka-console-consumer.sh", "--bootstrap-server", servers, "--topic", topic]
    console += ["--partition", partition, "--offset", "earliest", "--timeout-ms", str(_SILENCE_MS)]
    console += ["--property", "print.key=true"]
    if class_:
        console += [
            "--property",
            f"key.deserializer=org.apache.kafka.common.serialization.{class_}Deserializer",
        ]
    return {
        "kcat": shlex.join([*kcat, "-f", r"%k\t%s\n"]),
        "kafka-console-consumer": shlex.join(console),
    }


def _placed(found: int | None, key: Key | None, client: str, key_type: str | None) -> int:
    if found is None:
        raise _unplaced(encode(key, key_type), client, key_type)
    return found


def _unplaced(key: bytes | None, client: str, key_type: str | None) -> PartwrightError:
    return PartwrightError(
        f"the key {shown_key(key, key_type)} has no partition of its own by client {client}, so its records may "
        "be in any: leave it out, or read the whole topic"
    )

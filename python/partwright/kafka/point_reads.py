r"""Read only the partition of a key instead of the whole topic: for Spark, kcat and Kafka's own tools.

>>> assign_json("orders", ["TT0124", "N14228"], 12)
'{"orders": [8, 10]}'
>>> print(read_commands("orders", "N14228", 12, servers="127.0.0.1:9092")["kcat"])
kcat -C -b 127.0.0.1:9092 -t orders -p 8 -o beginning -e -f '%k\t%s\n'
"""

from __future__ import annotations

import json
import shlex
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from partwright.errors import KeyTypeError, PartwrightError
from partwright.kafka.topics import check_topic_name
from partwright.keys.columns import as_arrow, is_single
from partwright.keys.hashing import Column, Key, encode, partition_for_key
from partwright.keys.key_text import shown_key

# How the tools print a numeric key: kcat's pack format, and Kafka's deserializer class.
_NUMBERS = {"java:short": (">h", "Short"), "java:int": (">i", "Integer"), "java:long": (">q", "Long")}
_SILENCE_MS = 10_000


def assign_json(
    topic: str, keys: Key | Column | None, n: int, client: str = "java", key_type: str | None = None
) -> str:
    """The partitions with the records of some keys, for the option `assign` of Spark's Kafka source.

    Give the `n` at the time when the records were written. If the topic has got more partitions since, the key's old
    records stay where the old number put them: ask for both numbers and read both partitions.

    Args:
        topic: The topic.
        keys: One key, or a column of them; see `partwright.partition_for_key`.
        n: How many partitions the topic has.
        client: The client profile that wrote the records.
        key_type: How a value becomes key bytes; see `partwright.encode`.

    Returns:
        A JSON object: the topic with its partitions, sorted, each once.

    Raises:
        PartwrightError: There is no key, or the client does not place one of the keys by its bytes, so that its records
            may be in any partition (with most clients: a null key). Or the topic's name, n, the client or the key type
            is invalid.
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
    if not is_single(keys):
        keys = as_arrow(keys, key_type)
    partitions = partition_for_key(keys, n, client, key_type)
    if partitions is None or isinstance(partitions, int):
        return json.dumps({topic: [_placed(partitions, cast("Key | None", keys), client, key_type)]})
    if not len(partitions):
        raise PartwrightError("there are no keys: name at least one")
    if partitions.null_count:
        row = pc.index(pc.is_null(partitions), True).as_py()
        key_bytes = cast("pa.Array", encode(keys, key_type))[row].as_py()
        raise _unplaced(key_bytes, client, key_type).at_row(row)
    return json.dumps({topic: sorted(pc.unique(partitions).to_pylist())})


def read_commands(
    topic: str,
    key: Key | None,
    n: int,
    *,
    servers: str = "localhost:9092",
    client: str = "java",
    key_type: str | None = None,
) -> dict[str, str]:
    """The shell commands that read only the partition of a key, with kcat and with Kafka's own console consumer.

    Each prints the key and value of every record in that partition, and ends.

    Args:
        topic: The topic.
        key: The key.
        n: How many partitions the topic has; see `assign_json`.
        servers: The brokers, `host:port`; separate several with commas.
        client: The client profile that wrote the records.
        key_type: How the key becomes bytes; short, int and long are printed as numbers.

    Returns:
        The command by tool, `kcat` and `kafka-console-consumer`. All versions of the console consumer know
        `--property`; from 4.2 on it first prints that `--formatter-property` is the new name.

    Raises:
        PartwrightError: See `assign_json`; or the key is a column.

    Examples:
        >>> lines = read_commands("orders", 42, 12, key_type="java:long")
        >>> print(lines["kafka-console-consumer"])  # doctest: +NORMALIZE_WHITESPACE
        kafka-console-consumer.sh --bootstrap-server localhost:9092 --topic orders --partition 4 --offset earliest
        --timeout-ms 10000 --property print.key=true
        --property key.deserializer=org.apache.kafka.common.serialization.LongDeserializer
    """
    check_topic_name(topic)
    number = partition_for_key(key, n, client, key_type)
    if not (number is None or isinstance(number, int)):
        raise KeyTypeError(f"one key is looked up, not {type(key).__name__}: assign_json takes a column")
    partition = str(_placed(number, key, client, key_type))
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


def _placed(partition: int | None, key: Key | None, client: str, key_type: str | None) -> int:
    if partition is None:
        raise _unplaced(encode(key, key_type), client, key_type)
    return partition


def _unplaced(key: bytes | None, client: str, key_type: str | None) -> PartwrightError:
    return PartwrightError(
        f"the key {shown_key(key, key_type)} has no partition of its own by client {client}, so its records may "
        "be in any: leave it out, or read the whole topic"
    )

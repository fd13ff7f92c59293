"""`partwright which --topic`: how to read the one partition that a key is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import counted, is_topic
from partwright.cli.echo import echo
from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from partwright._check import Json
    from partwright.cli.input.connection import Connection
    from partwright.keys.hashing import Key

__all__ = ["topic_of", "ways_to_read"]

_SERVERS = "localhost:9092"
_PLAIN = "PLAINTEXT"


def topic_of(
    given: str | None, servers: str | None, n: int | None, connection: Connection
) -> tuple[str | None, str, int, str]:
    """The topic's name, where its brokers are, how many partitions it has, and its `security.protocol`.

    Args:
        given: The value of --topic: a name, an address, or nothing.
        servers: The value of --servers.
        n: The value of -n; by default a live topic is asked.
        connection: How its Kafka is reached.

    Raises:
        PartwrightError: The options do not fit together, or n is unknown.
        BrokerError: No Kafka answers, or there is no such topic.
    """
    if given is None and servers is not None:
        raise PartwrightError(
            f"--servers {servers!r} are those of a topic: name it with --topic, or leave them out"
        )
    if servers is not None and not servers.strip():
        raise PartwrightError("--servers is empty: name one, such as localhost:9092")
    if given is not None and is_topic(given):
        if servers is not None:
            raise PartwrightError(f"{given!r} says where its brokers are: leave out --servers")
        return _live(given, n, connection)
    if connection.is_given:
        raise PartwrightError(
            "--command-config and -X are for reaching a Kafka: name its topic with --topic kafka://host:port/topic"
        )
    if n is None:
        raise PartwrightError(
            "give the topic's number of partitions with -n or --topic kafka://host:port/topic"
        )
    return given, _SERVERS if servers is None else servers, n, _PLAIN


def _live(address: str, n: int | None, connection: Connection) -> tuple[str, str, int, str]:
    from partwright.kafka.address import parse_topic
    from partwright.kafka.topics import end_offsets

    servers, topic = parse_topic(address)
    config = connection.config(servers)
    partitions = len(end_offsets(config, topic))
    if n not in {None, partitions}:
        echo(f"the topic has {counted(partitions, 'partition')}, -n says {n}", err=True)
    return topic, config.required_servers(), partitions if n is None else n, config.security_protocol


def ways_to_read(
    topic: str,
    servers: str,
    key: Key | None,
    n: int,
    client: str,
    key_type: str | None,
) -> Json:
    """How to read a key's records without other partitions, as an object for the JSON output.

    Raises:
        PartwrightError: The client does not place the key, or the topic's name is invalid.
    """
    from partwright.kafka.point_reads import assign_json, read_commands
    from partwright.keys.hashing import partition_for_key

    return {
        "topic": topic,
        "servers": servers,
        "client": client,
        "partition": partition_for_key(key, n, client, key_type),
        "assign": assign_json(topic, key, n, client, key_type),
        **read_commands(topic, key, n, servers=servers, client=client, key_type=key_type),
    }

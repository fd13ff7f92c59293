"""The address of a Kafka on the command line: `kafka://host[:9092][,host…][/topic]`, or `kafka:///topic`."""

from __future__ import annotations

from partwright.errors import PartwrightError
from partwright.kafka.connection.servers import is_server

__all__ = ["parse_kafka", "parse_topic", "plain_servers"]

_SCHEME = "kafka://"
_PORT = 9092


def parse_kafka(address: str) -> tuple[str | None, str | None]:
    """The bootstrap servers and the topic of `kafka://host[:9092][,host…][/topic]`.

    Returns:
        The servers, each with its port; None if the address names none, because the client configuration does. The
        topic; None if the address names none.

    Raises:
        PartwrightError: The address is not of this form, or has a user or a password.

    Examples:
        >>> parse_kafka("kafka://127.0.0.1/flights")
        ('127.0.0.1:9092', 'flights')
        >>> parse_kafka("kafka://a:9092,b:9093")
        ('a:9092,b:9093', None)
        >>> parse_kafka("kafka:///flights")
        (None, 'flights')
    """
    if "@" in address:
        # Wherever the @ is: a password may contain a slash, and no topic contains an @.
        raise PartwrightError(
            "an address has no user or password, which the process list and logs would show: put sasl.username and "
            "sasl.password into a file and name it by --command-config"
        )
    if not address.startswith(_SCHEME):
        raise _no_address(address)
    servers, _, topic = address.removeprefix(_SCHEME).partition("/")
    if not servers:
        return None, topic or None
    found = [each if is_server(each) else f"{each}:{_PORT}" for each in servers.split(",")]
    if not all(map(is_server, found)):
        raise _no_address(address)
    return ",".join(found), topic or None


def parse_topic(address: str) -> tuple[str | None, str]:
    """The servers and the topic of `kafka://host:port/topic`; None for servers that the configuration names.

    Raises:
        PartwrightError: It names no topic, or no Kafka.

    Examples:
        >>> parse_topic("kafka://127.0.0.1/flights")
        ('127.0.0.1:9092', 'flights')
    """
    servers, topic = parse_kafka(address)
    if topic is None:
        raise PartwrightError(f"{address!r} names no topic: write kafka://host:port/topic")
    return servers, topic


def plain_servers(given: str) -> str:
    """The servers of an option that takes `host:port` or an address.

    Raises:
        PartwrightError: It is an address that names a topic, or no servers.

    Examples:
        >>> plain_servers("kafka://127.0.0.1"), plain_servers("a:9092,b:9093")
        ('127.0.0.1:9092', 'a:9092,b:9093')
    """
    if not given.startswith(_SCHEME):
        return given
    servers, topic = parse_kafka(given)
    if servers is None or topic is not None:
        raise PartwrightError(f"{given!r} is not the address of brokers alone: write host:port")
    return servers


def _no_address(address: str) -> PartwrightError:
    return PartwrightError(
        f"{address!r} does not name a Kafka: write kafka://host:port, for example kafka://127.0.0.1:9092"
    )

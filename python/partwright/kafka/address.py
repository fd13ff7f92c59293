"""The address of a Kafka on the command line: `kafka://host:port[,host:port][/topic]`."""

from __future__ import annotations

import re

from partwright.errors import PartwrightError

__all__ = ["parse_kafka"]

_BROKER = re.compile(r"(\[[0-9a-fA-F:]+\]|[^\s:/\[\],]+):([0-9]{1,5})")
_LARGEST_PORT = 65535


def parse_kafka(address: str) -> tuple[str, str | None]:
    """The bootstrap servers and the topic of `kafka://host:port[,host:port][/topic]`.

    Raises:
        PartwrightError: The address is not of this form.

    Examples:
        >>> parse_kafka("kafka://127.0.0.1:9092/flights")
        ('127.0.0.1:9092', 'flights')
        >>> parse_kafka("kafka://a:9092,b:9092")
        ('a:9092,b:9092', None)
    """
    servers, _, topic = address.removeprefix("kafka://").partition("/")
    for server in servers.split(","):
        match = _BROKER.fullmatch(server)
        if not address.startswith("kafka://") or match is None or not 0 < int(match[2]) <= _LARGEST_PORT:
            raise PartwrightError(
                f"{address!r} is no Kafka: write kafka://host:port, kafka://127.0.0.1:9092 say"
            )
    return servers, topic or None

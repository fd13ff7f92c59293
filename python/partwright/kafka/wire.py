"""Two requests, as bytes, that find out whether a port belongs to a Kafka: librdkafka does not report it.

Their formats never change: these are the first versions, and every broker since Kafka 0.10 answers them before a login.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from partwright.kafka.client import confluent_kafka

if TYPE_CHECKING:
    import socket

__all__ = ["Handshake", "api_versions", "sasl_handshake"]

# org.apache.kafka.common.protocol.ApiKeys.
_SASL_HANDSHAKE, _API_VERSIONS = 17, 18
_TAKEN, _OTHER_MECHANISMS, _NO_SASL_HERE = "NO_ERROR", "UNSUPPORTED_SASL_MECHANISM", "ILLEGAL_SASL_STATE"
# The bytes of the correlation id at the beginning of an answer.
_CORRELATION = 4
_LARGEST_ANSWER = 1 << 20


class Handshake(NamedTuple):
    """A listener's answer about SASL.

    Attributes:
        is_asked: Whether the listener asks clients to log in.
        taken: Whether it accepts the mechanism.
        mechanisms: The mechanisms that it accepts.
    """

    is_asked: bool
    taken: bool
    mechanisms: tuple[str, ...]


def api_versions(connection: socket.socket) -> None:
    """Asks for the supported requests, as every client does first; returns when a Kafka has answered.

    Raises:
        EOFError: The connection ended.
        ValueError: The server is not a Kafka; the error contains the first bytes of its answer.
    """
    _ask(connection, _API_VERSIONS, 0, b"")


def sasl_handshake(connection: socket.socket, mechanism: str) -> Handshake:
    """Asks for a mechanism of SASL.

    Raises:
        EOFError: The connection ended.
        ValueError: The server is not a Kafka, or one that does not know this request.
    """
    name = mechanism.encode()
    answer = _ask(connection, _SASL_HANDSHAKE, 1, struct.pack(">h", len(name)) + name)
    at, found = 6, []
    try:
        code, count = struct.unpack_from(">hi", answer)
        for _ in range(count):
            (length,) = struct.unpack_from(">h", answer, at)
            found.append(answer[at + 2 : at + 2 + length].decode())
            at += 2 + length
    except struct.error:
        raise ValueError(answer) from None
    error = confluent_kafka().KafkaError(code).name()
    if error not in {_TAKEN, _OTHER_MECHANISMS, _NO_SASL_HERE}:
        raise ValueError(answer)
    return Handshake(error != _NO_SASL_HERE, error == _TAKEN, tuple(found))


def _ask(connection: socket.socket, api: int, version: int, body: bytes) -> bytes:
    """Sends a request and returns the body of the answer."""
    client = b"partwright"
    request = struct.pack(">hhih", api, version, 1, len(client)) + client + body
    connection.sendall(struct.pack(">i", len(request)) + request)
    head = _received(connection, 8)
    size, correlation = struct.unpack(">ii", head)
    if correlation != 1 or not _CORRELATION <= size <= _LARGEST_ANSWER:
        raise ValueError(head)
    return _received(connection, size - _CORRELATION)


def _received(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        some = connection.recv(size - len(found))
        if not some:
            # Another server may send a few bytes before it disconnects; they tell what it is.
            if found:
                raise ValueError(found)
            raise EOFError
        found += some
    return found

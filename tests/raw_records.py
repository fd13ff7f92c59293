"""Records as a client writes them that keeps no rule of Kafka's libraries: header names of any bytes, over a socket."""

from __future__ import annotations

import socket
import struct
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    Headers = Sequence[tuple[bytes, bytes | None]]

# Castagnoli's polynomial, reversed.
_POLYNOMIAL = 0x82F63B78


def produce_raw(
    servers: str, topic: str, partition: int, records: Sequence[tuple[bytes, bytes, Headers]]
) -> None:
    """Write records of a key, a value and headers to a partition, as one batch."""
    batch, name = _batch(records), topic.encode()
    body = struct.pack(">hhih", 0, 3, 1, 1) + b"t" + struct.pack(">hhi", -1, -1, 10_000)
    body += struct.pack(">ih", 1, len(name)) + name + struct.pack(">iii", 1, partition, len(batch)) + batch
    host, port = servers.rsplit(":", 1)
    with socket.create_connection((host, int(port))) as connection, connection.makefile("rb") as answers:
        connection.sendall(struct.pack(">i", len(body)) + body)
        answer = answers.read(*struct.unpack(">i", answers.read(4)))
    (error,) = struct.unpack_from(">h", answer, 4 + 4 + 2 + len(name) + 4 + 4)
    assert error == 0, f"Kafka's error {error}"


def _batch(records: Sequence[tuple[bytes, bytes, Headers]]) -> bytes:
    now = int(time.time() * 1000)
    tail = struct.pack(">hiqqqhii", 0, len(records) - 1, now, now, -1, -1, -1, len(records))
    tail += b"".join(_record(at, *record) for at, record in enumerate(records))
    inner = struct.pack(">ibI", -1, 2, _crc(tail)) + tail
    return struct.pack(">qi", 0, len(inner)) + inner


def _record(at: int, key: bytes, value: bytes, headers: Headers) -> bytes:
    body = b"\0" + _varint(0) + _varint(at) + _sized(key) + _sized(value) + _varint(len(headers))
    return _sized(body + b"".join(_sized(part) for header in headers for part in header))


def _sized(data: bytes | None) -> bytes:
    return _varint(-1) if data is None else _varint(len(data)) + data


def _varint(number: int) -> bytes:
    left = (number << 1) ^ (number >> 63)
    found = bytearray()
    while left > 0x7F:
        found.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*found, left])


def _crc(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (_POLYNOMIAL if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF

"""Listeners on 127.0.0.1 that are not a Kafka, or not quite one, each for a `with` block."""

from __future__ import annotations

import base64
import json
import socket
import ssl
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["answering", "closed_port", "mute", "relay", "tls", "tokens", "web"]

_HOST = "127.0.0.1"
_LOOK_S = 0.2
_CHUNK = 1 << 16


def closed_port() -> int:
    """A port where nothing listens."""
    with socket.socket() as free:
        free.bind((_HOST, 0))
        return int(free.getsockname()[1])


@contextmanager
def _listening(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Calls `serve` with each connection, in its own thread; returns the port."""
    ended = threading.Event()
    threads: list[threading.Thread] = []

    def take(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            serve(connection)

    def accept() -> None:
        while not ended.is_set():
            with suppress(TimeoutError):
                connection, _ = listener.accept()
                threads.append(threading.Thread(target=take, args=(connection,), daemon=True))
                threads[-1].start()

    with socket.create_server((_HOST, 0)) as listener:
        listener.settimeout(_LOOK_S)
        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield int(listener.getsockname()[1])
        finally:
            ended.set()
            accepting.join()


def address(host: bytes, port: int) -> bytes:
    """A broker's address in Kafka's answers: names of the same length take as many bytes."""
    assert len(host) == len(_HOST)
    return host + port.to_bytes(4, "big")


@contextmanager
def mute() -> Iterator[int]:
    """Takes each connection, reads it, and says nothing; returns the port."""

    def serve(connection: socket.socket) -> None:
        while connection.recv(_CHUNK):
            pass

    with _listening(serve) as port:
        yield port


@contextmanager
def answering(*bodies: bytes | None) -> Iterator[int]:
    """Answers the requests of each connection with these bodies, as a Kafka, and then hangs up; returns the port.

    Args:
        bodies: The answers; None for an answer that never comes.
    """

    def serve(connection: socket.socket) -> None:
        for body in bodies:
            # The first bytes of TLS are not a request, and a Kafka hangs up.
            if connection.recv(_CHUNK)[:1] in {b"", b"\x16"}:
                return
            if body is not None:
                connection.sendall((len(body) + 4).to_bytes(4, "big") + (1).to_bytes(4, "big") + body)
        # Requests without an answer are read all the same, so that the connection ends without a reset.
        connection.recv(_CHUNK)

    with _listening(serve) as port:
        yield port


@contextmanager
def web() -> Iterator[int]:
    """A web server; returns the port."""

    def serve(connection: socket.socket) -> None:
        connection.recv(_CHUNK)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")

    with _listening(serve) as port:
        yield port


@contextmanager
def tls(pem: Path, *, asks: bool = False) -> Iterator[int]:
    """Speaks TLS, and ends the connection after the first word; returns the port.

    Args:
        pem: The file with its key and its certificate.
        asks: Whether it speaks TLS 1.2, which asks for a client's certificate while it connects.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    if asks:
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.verify_mode = ssl.CERT_REQUIRED

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secured:
            secured.recv(_CHUNK)

    with _listening(serve) as port:
        yield port


@contextmanager
def tokens(pem: Path, user: str, client_id: str, client_secret: str) -> Iterator[int]:
    """An authorization server of OIDC over TLS, whose tokens are unsigned; returns the port.

    Args:
        pem: The file with its key and its certificate.
        user: The user of its tokens.
        client_id: The client that gets one, by `client_credentials`.
        client_secret: That client's secret.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    login = "Basic " + base64.b64encode(f"{client_id}:{client_secret}".encode()).decode()

    def part(claims: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secured:
            asked = secured.recv(_CHUNK).decode()
            now = int(time.time())
            token = f"{part({'alg': 'none'})}.{part({'sub': user, 'iat': now, 'exp': now + 3600})}."
            said = json.dumps({"access_token": token, "token_type": "Bearer", "expires_in": 3600})
            status = "200 OK"
            if f"authorization: {login}".lower() not in asked.lower():
                status, said = "401 Unauthorized", json.dumps({"error": "invalid_client"})
            head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(said)}\r\n"
            secured.sendall(f"{head}Connection: close\r\n\r\n{said}".encode())

    with _listening(serve) as port:
        yield port


@contextmanager
def relay(
    port: int,
    *,
    elsewhere: tuple[bytes, int] | None = None,
    slowed: Callable[[int], None] = lambda _: None,
    changed: Callable[[bytes], bytes] = lambda said: said,
) -> Iterator[int]:
    """Relays to a Kafka that advertises 127.0.0.1, and claims that it is elsewhere; returns the port.

    Args:
        port: The Kafka's.
        elsewhere: The claimed name, as long as 127.0.0.1, and the port; by default this relay's own.
        slowed: Called with the number of bytes that Kafka sends, each time before they are passed on.
        changed: Returns what is passed on in place of what Kafka sends, as many bytes.
    """

    def asked(client: socket.socket, kafka: socket.socket) -> None:
        with suppress(OSError):
            while said := client.recv(_CHUNK):
                kafka.sendall(said)
            kafka.shutdown(socket.SHUT_WR)

    def serve(connection: socket.socket) -> None:
        with ExitStack() as ending:
            kafka = ending.enter_context(socket.create_connection((_HOST, port)))
            threading.Thread(target=asked, args=(connection, kafka), daemon=True).start()
            while said := kafka.recv(_CHUNK):
                slowed(len(said))
                connection.sendall(changed(said).replace(address(_HOST.encode(), port), address(*places[0])))

    # It knows its own address only once it listens.
    places = [elsewhere] if elsewhere else []
    with _listening(serve) as at:
        places.append((_HOST.encode(), at))
        yield at

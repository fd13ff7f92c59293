"""Test the connection to a broker step by step: name, port, TLS, SASL. The first step that fails explains the reason.

librdkafka reports a wrong password in the broker's words, but says little about the earlier steps. An expired
certificate, a wrong name in it and a wrong authority are the same error, and a listener that expects TLS gets no
message at all. So if librdkafka fails, the steps are repeated with Python's own sockets.

Two requests, as bytes, find out whether a port belongs to a Kafka, which librdkafka does not report. Their formats
never change: these are the first versions, and every broker since Kafka 0.10 answers them before a login.
"""

from __future__ import annotations

import re
import socket
import ssl
import struct
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from partwright._check import Json
from partwright.answer import Answer
from partwright.kafka.address import host_port
from partwright.kafka.client import confluent_kafka

if TYPE_CHECKING:
    from partwright.kafka.connection import KafkaConfig
    from partwright.kafka.connection.tls import Tls

# OpenSSL's X509_V_ERR_….
_EXPIRED, _NOT_YET, _OTHER_NAMES = 10, 9, {62, 64}
# TLS alerts about the client's certificate, by OpenSSL's names.
_ABOUT_CLIENT = re.compile(r"ALERT_.*(CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)")
# The alert with which a TLS server answers anything that is not TLS.
_ALERT = b"\x15\x03"
_WEB = b"HTTP/"
# org.apache.kafka.common.protocol.ApiKeys.
_SASL_HANDSHAKE, _API_VERSIONS = 17, 18
_TAKEN, _OTHER_MECHANISMS, _NO_SASL_HERE = "NO_ERROR", "UNSUPPORTED_SASL_MECHANISM", "ILLEGAL_SASL_STATE"
# The bytes of the correlation id at the beginning of an answer.
_CORRELATION = 4
_LARGEST_ANSWER = 1 << 20
PROBE_S = 3.0
"""The most seconds for each step, which normally takes milliseconds. A request with a shorter timeout keeps its own."""


class ProbeStep(NamedTuple):
    """One step of a connection to a Kafka.

    Attributes:
        name: The step: `resolve`, `connect`, `TLS`, `Kafka` or `SASL`, or a later one of `partwright doctor`.
        where: Its target: `host:port`, or the thing that is asked for.
        passed: Whether it succeeded.
        said: The finding, or the reason of the failure and the remedy, without a full stop.
        why: The reason of the failure without the remedy; empty if it succeeded.
    """

    name: str
    where: str
    passed: bool
    said: str
    why: str = ""


@dataclass(frozen=True)
class Diagnosis(Answer):
    """All that `partwright doctor` tried.

    Attributes:
        steps: The steps of a connection to a Kafka, in order.
    """

    DOCUMENT = "doctor"
    ROWS = "steps"

    steps: tuple[ProbeStep, ...]

    @property
    def ok(self) -> bool:
        """Whether every step passed."""
        return all(step.passed for step in self.steps)

    def to_dict(self) -> Json:
        """The object of `--json`."""
        return {"ok": self.ok, "steps": [step._asdict() for step in self.steps]}


class _FailedError(Exception):
    """The reason why a step failed, and the remedy."""

    def __init__(self, why: str, what_to_do: str) -> None:
        super().__init__(f"{why}: {what_to_do}")
        self.why = why


class _Server(NamedTuple):
    """One broker, how it is reached, and the seconds for each step."""

    host: str
    port: int
    config: KafkaConfig
    timeout: float

    @property
    def where(self) -> str:
        return host_port(self.host, self.port)

    @property
    def tls(self) -> Tls | None:
        return self.config.tls

    def open(self) -> AbstractContextManager[socket.socket]:
        return _connected(self) if self.tls is None else _secured(self, self.tls)


def each_server(servers: str) -> list[tuple[str, int]]:
    """Hosts and ports in `bootstrap.servers`, which must be addresses.

    Examples:
        >>> each_server("a:9092,[::1]:9093")
        [('a', 9092), ('::1', 9093)]
    """
    pairs = (server.strip().rpartition(":") for server in servers.split(","))
    return [(host.strip("[]"), int(port)) for host, _, port in pairs]


def way_to(host: str, port: int, config: KafkaConfig, timeout: float) -> Iterator[ProbeStep]:
    """The steps to one broker, up to the first one that fails.

    Args:
        host: Its name or its address.
        port: Its port.
        config: The client configuration.
        timeout: Seconds for each step.

    Yields:
        `resolve`, `connect`, `TLS` if it is configured, `Kafka`, and `SASL`, which only asks for the mechanism: no
        password is sent.
    """
    server = _Server(host, port, config, timeout)
    steps = {"resolve": _resolve, "connect": _connect, "TLS": _secure, "Kafka": _speak, "SASL": _ask_for_sasl}
    if config.tls is None:
        del steps["TLS"]
    for name, take in steps.items():
        try:
            yield ProbeStep(name, server.where, True, take(server))
        except _FailedError as error:
            yield ProbeStep(name, server.where, False, str(error), error.why)
            return


def _resolve(server: _Server) -> str:
    addresses = ", ".join(_addresses(server))
    return f"{server.host} is {'an address' if addresses == server.host else addresses}"


def _connect(server: _Server) -> str:
    _connected(server).close()
    return f"something listens at {server.where}"


def _addresses(server: _Server) -> list[str]:
    """The addresses that the system gives for a name, IPv4 first."""
    question: Future[list[Any]] = Future()

    def ask() -> None:
        try:
            question.set_result(socket.getaddrinfo(server.host, None, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            question.set_exception(error)

    # The system's own timeout may be half a minute and cannot be changed.
    threading.Thread(target=ask, daemon=True).start()
    try:
        infos = question.result(server.timeout)
    except TimeoutError as error:
        raise _FailedError(
            f"the name {server.host!r} is not resolved in {server.timeout:g} s",
            "check this machine's DNS, or its VPN",
        ) from error
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise _FailedError(
            f"the name {server.host!r} cannot be resolved ({why})", "check it, or this machine's DNS"
        ) from error
    infos.sort(key=lambda each: each[0] != socket.AF_INET)
    return list(dict.fromkeys(str(each[4][0]) for each in infos))


def _connected(server: _Server) -> socket.socket:
    """A connection to the first address of a name that accepts one."""
    until = time.monotonic() + server.timeout
    addresses = _addresses(server)
    refused: OSError | None = None
    for left, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
        try:
            seconds = max(0.1, until - time.monotonic()) / left
            connection = socket.create_connection((address, server.port), seconds)
        except OSError as error:
            refused = error if refused is None or isinstance(refused, TimeoutError) else refused
        else:
            connection.settimeout(server.timeout)
            return connection
    if isinstance(refused, TimeoutError):
        raise _FailedError(
            f"no Kafka answers at {server.where} (no connection in {server.timeout:g} s)",
            "check the address, and that no firewall, VPN or security group is in between",
        ) from refused
    why = (refused and refused.strerror) or refused
    raise _FailedError(
        f"no Kafka answers at {server.where} ({why})", "is it running? `partwright broker start` starts one"
    ) from refused


def _secure(server: _Server) -> str:
    with server.open() as connection:
        version = connection.version() if isinstance(connection, ssl.SSLSocket) else ""
    is_checked = server.tls is not None and server.tls.check_certificate
    return f"{version}, and {'the certificate is right' if is_checked else 'no certificate is checked'}"


@contextmanager
def _secured(server: _Server, tls: Tls) -> Iterator[ssl.SSLSocket]:
    context = _context(tls)
    with _connected(server) as plain:
        try:
            secured = context.wrap_socket(plain, server_hostname=server.host)
        except ssl.SSLCertVerificationError as error:
            raise _wrong_certificate(server.where, tls, error) from error
        except TimeoutError as error:
            raise _FailedError(
                f"no Kafka answers at {server.where} (it took the connection and does not answer to TLS in "
                f"{server.timeout:g} s)",
                "check the port, and whether security.protocol should be one without SSL",
            ) from error
        except OSError as error:
            raise _no_tls(server, error) from error
    with secured:
        yield secured


def _context(tls: Tls) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cadata=tls.ca_pem)
    except (ssl.SSLError, ValueError) as error:
        raise _FailedError(
            f"the trusted certificates cannot be read ({_reason(error)})",
            "check ssl.ca.location or ssl.truststore",
        ) from error
    context.check_hostname = tls.check_host and tls.check_certificate
    if not tls.check_certificate:
        context.verify_mode = ssl.CERT_NONE
    # Since 3.13 Python's checks are stricter than those of Java and librdkafka.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if tls.client is not None:
        # Python's ssl takes only files. Only this user can read them, and they are removed at once.
        with tempfile.TemporaryDirectory(prefix="partwright-") as folder:
            file = Path(folder) / "client.pem"
            file.touch(0o600)
            file.write_text(f"{tls.client.key.clear()}\n{tls.client.certificate_pem}\n", encoding="ascii")
            try:
                context.load_cert_chain(file)
            except (ssl.SSLError, ValueError) as error:
                raise _FailedError(
                    f"the client's certificate and key do not go together ({_reason(error)})",
                    "check them and ssl.key.password",
                ) from error
    return context


def _wrong_certificate(where: str, tls: Tls, error: ssl.SSLCertVerificationError) -> _FailedError:
    reason = error.verify_message.rstrip(".")
    trusted = "the system trusts" if tls.ca_pem is None else "the configuration trusts"
    why = f"is not signed by an authority that {trusted} ({reason})"
    fix = "name the file of its authority with ssl.ca.location, or with ssl.truststore.location and its type"
    if error.verify_code == _EXPIRED:
        why, fix = "has expired", "whoever runs that Kafka has to renew it"
    elif error.verify_code == _NOT_YET:
        why, fix = "is not valid yet", "is this machine's clock right?"
    elif error.verify_code in _OTHER_NAMES:
        why, ways = f"is for another name ({reason})", "an empty ssl.endpoint.identification.algorithm"
        fix = f"use a name that it has, or, where you trust the way there, {ways}"
    return _FailedError(f"the certificate of {where} {why}", fix)


def _no_tls(server: _Server, error: OSError) -> _FailedError:
    """Why the TLS handshake failed: before TLS 1.3 the client's certificate is checked within it."""
    where, reason = server.where, _reason(error)
    has_certificate = server.tls is not None and server.tls.client is not None
    if _ABOUT_CLIENT.search(reason):
        return _client_certificate(server, error)
    is_plain = isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError, ConnectionError))
    if not is_plain and "WRONG_VERSION" not in reason:
        question = "" if has_certificate else "does it ask for a client's certificate? If not, "
        return _FailedError(
            f"TLS with {where} fails ({reason})",
            f"{question}compare both sides: openssl s_client -connect {where}",
        )
    try:
        with _connected(server) as connection:
            _ask_for_versions(connection)
    except ValueError as other:
        return _no_kafka(where, other.args[0], "")
    except (EOFError, OSError, _FailedError):
        # The server may be anything. Do not call it a Kafka without TLS: then the user would send it a password in
        # clear text.
        return _FailedError(
            f"{where} ends the connection during TLS ({reason})",
            "check the port, whether it takes connections from this address alone by a list, and whether it asks for "
            "a client's certificate",
        )
    return _FailedError(
        f"{where} does not speak TLS ({reason})",
        "set security.protocol to PLAINTEXT, or to SASL_PLAINTEXT if that Kafka asks for a password",
    )


def _reason(error: Exception) -> str:
    """The message of OpenSSL or the system, without its source line."""
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
    return str(reason or "it ends the connection")


def _speak(server: _Server) -> str:
    where, tls, protocol = server.where, server.tls, server.config.security_protocol
    with server.open() as connection:
        try:
            _ask_for_versions(connection)
        except ssl.SSLError as error:
            # Under TLS 1.3 the client's certificate is checked after the handshake.
            raise _client_certificate(server, error) from error
        except ValueError as error:
            raise _no_kafka(where, error.args[0], protocol) from error
        except TimeoutError as error:
            raise _FailedError(
                f"no Kafka answers at {where} (it took the connection and says nothing in {server.timeout:g} s)",
                "check the port",
            ) from error
        except (EOFError, OSError) as error:
            if tls is None and _speaks_tls(server):
                raise _expects_tls(where, protocol) from error
            has_none = tls is not None and tls.client is None
            raise _FailedError(
                f"no Kafka answers at {where} (it ends the connection at the first word)",
                "check the port" + ", or does it ask for a client's certificate?" * has_none,
            ) from error
    return f"a Kafka answers at {where}"


def _no_kafka(where: str, answer: bytes, protocol: str) -> _FailedError:
    if answer.startswith(_ALERT):
        return _expects_tls(where, protocol)
    what = "a web server" if answer.startswith(_WEB) else "something else"
    return _FailedError(f"no Kafka answers at {where}, but {what}", "check the port")


def _expects_tls(where: str, protocol: str) -> _FailedError:
    plain = "SSL, or to SASL_SSL if that Kafka asks for a password"
    better = "SASL_SSL" if protocol.startswith("SASL") else plain
    return _FailedError(f"{where} expects TLS", f"set security.protocol to {better}")


def _client_certificate(server: _Server, error: Exception) -> _FailedError:
    if server.tls is not None and server.tls.client is not None:
        return _FailedError(
            f"{server.where} refuses the client's certificate ({_reason(error)})",
            "is it signed by an authority that this Kafka trusts, and still valid?",
        )
    return _FailedError(
        f"{server.where} asks for a client's certificate ({_reason(error)})",
        "name one with ssl.certificate.location and ssl.key.location, or with ssl.keystore.location",
    )


def _speaks_tls(server: _Server) -> bool:
    """Whether the server speaks TLS, with any certificate: nothing is sent over the connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((server.host, server.port), server.timeout) as plain,
            context.wrap_socket(plain, server_hostname=server.host),
        ):
            return True
    except OSError:
        return False


def _ask_for_sasl(server: _Server) -> str:
    """The listener's answer about SASL and the mechanism."""
    where, config = server.where, server.config
    mechanism = config.mechanism if config.security_protocol.startswith("SASL") else None
    try:
        with server.open() as connection:
            _ask_for_versions(connection)
            error, mechanisms = _sasl_handshake(connection, mechanism or "PLAIN")
    except TimeoutError as failure:
        raise _FailedError(
            f"{where} does not answer in {server.timeout:g} s as it is asked for SASL", "see the broker's log"
        ) from failure
    except (EOFError, ValueError, OSError) as failure:
        if mechanism is None:
            # A server that speaks Kafka's protocol without SASL need not know this request.
            return "no user is asked for, as far as can be told"
        does = "gives no answer of a Kafka" if isinstance(failure, ValueError) else "ends the connection"
        raise _FailedError(f"{where} {does} as it is asked for SASL", "see the broker's log") from failure
    taken = " or ".join(mechanisms)
    if mechanism is None and error != _NO_SASL_HERE:
        raise _FailedError(
            f"{where} asks for a user",
            f"set security.protocol to SASL_{config.security_protocol}, and sasl.mechanism to {taken}",
        )
    if mechanism is None:
        return "no user is asked for"
    if error == _NO_SASL_HERE:
        raise _FailedError(
            f"{where} asks for no user, and security.protocol is {config.security_protocol}",
            f"set it to {config.security_protocol.removeprefix('SASL_')}",
        )
    if error != _TAKEN:
        raise _FailedError(
            f"{where} does not take the mechanism {mechanism}", f"set sasl.mechanism to {taken}"
        )
    return f"{where} takes {mechanism}"


def _ask_for_versions(connection: socket.socket) -> None:
    """Asks for the supported requests, as every client does first; returns when a Kafka has answered.

    Raises:
        EOFError: The connection ended.
        ValueError: The server is not a Kafka; the error contains the first bytes of its answer.
    """
    _ask(connection, _API_VERSIONS, 0, b"")


def _sasl_handshake(connection: socket.socket, mechanism: str) -> tuple[str, list[str]]:
    """Asks for a mechanism of SASL: Kafka's name of the error, and the mechanisms that the listener accepts.

    Raises:
        EOFError: The connection ended.
        ValueError: The server is not a Kafka, or one that does not know this request.
    """
    name = mechanism.encode()
    answer = _ask(connection, _SASL_HANDSHAKE, 1, struct.pack(">h", len(name)) + name)
    at, mechanisms = 6, []
    try:
        code, count = struct.unpack_from(">hi", answer)
        for _ in range(count):
            (length,) = struct.unpack_from(">h", answer, at)
            mechanisms.append(answer[at + 2 : at + 2 + length].decode())
            at += 2 + length
    except struct.error:
        raise ValueError(answer) from None
    error: str = confluent_kafka().KafkaError(code).name()
    if error not in {_TAKEN, _OTHER_MECHANISMS, _NO_SASL_HERE}:
        raise ValueError(answer)
    return error, mechanisms


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
    received = b""
    while len(received) < size:
        some = connection.recv(size - len(received))
        if not some:
            # Another server may send a few bytes before it disconnects; they tell what it is.
            if received:
                raise ValueError(received)
            raise EOFError
        received += some
    return received

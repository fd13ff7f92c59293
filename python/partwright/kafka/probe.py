"""Test the connection to a broker step by step: name, port, TLS, SASL. The first step that fails explains the reason.

librdkafka reports a wrong password in the broker's words, but says little about the earlier steps. An expired
certificate, a wrong name in it and a wrong authority are the same error, and a listener that expects TLS gets no
message at all. So if librdkafka fails, the steps are repeated with Python's own sockets.
"""

from __future__ import annotations

import re
import socket
import ssl
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from partwright.answer import Answer
from partwright.kafka.connection.servers import host_port
from partwright.kafka.wire import api_versions, sasl_handshake

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from partwright._check import Json
    from partwright.kafka.connection import KafkaConfig
    from partwright.kafka.connection.tls import Tls

__all__ = ["PROBE_S", "Diagnosis", "ProbeStep", "each_server", "way_to"]

# OpenSSL's X509_V_ERR_….
_EXPIRED, _NOT_YET, _OTHER_NAMES = 10, 9, {62, 64}
# TLS alerts about the client's certificate, by OpenSSL's names.
_ABOUT_CLIENT = re.compile(r"ALERT_.*(CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)")
_WEB = b"HTTP/"
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


def each_server(servers: str) -> list[tuple[str, int]]:
    """Hosts and ports in `bootstrap.servers`, which must be addresses.

    Examples:
        >>> each_server("a:9092,[::1]:9093")
        [('a', 9092), ('::1', 9093)]
    """
    found = []
    for server in servers.split(","):
        host, _, port = server.strip().rpartition(":")
        found.append((host.strip("[]"), int(port)))
    return found


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
    where = host_port(host, port)
    name = "resolve"
    try:
        addresses = ", ".join(_resolved(host, timeout))
        yield ProbeStep(name, where, True, f"{host} is {'an address' if addresses == host else addresses}")
        name = "connect"
        _connected(host, port, timeout).close()
        yield ProbeStep(name, where, True, f"something listens at {where}")
        tls = config.tls
        if tls is not None:
            name = "TLS"
            with _secured(host, port, tls, timeout) as connection:
                checked = "the certificate is right" if tls.check_certificate else "no certificate is checked"
                said = f"{connection.version()}, and {checked}"
            yield ProbeStep(name, where, True, said)
        name = "Kafka"
        with _open(host, port, tls, timeout) as connection:
            _spoken_to(connection, where, host, port, config, timeout)
        yield ProbeStep(name, where, True, f"a Kafka answers at {where}")
        name = "SASL"
        with _open(host, port, tls, timeout) as connection:
            said = _mechanism(connection, where, config, timeout)
        yield ProbeStep(name, where, True, said)
    except _FailedError as error:
        yield ProbeStep(name, where, False, str(error), error.why)


def _resolved(host: str, timeout: float) -> list[str]:
    """The addresses that the system gives for a name, IPv4 first."""
    found: list[str] = []
    failed: list[Exception] = []

    def ask() -> None:
        try:
            told = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            failed.append(error)
        else:
            told.sort(key=lambda each: each[0] != socket.AF_INET)
            found.extend(dict.fromkeys(str(each[4][0]) for each in told))

    # The system's own timeout may be half a minute and cannot be changed.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(timeout)
    if failed:
        why = getattr(failed[0], "strerror", None) or failed[0]
        raise _FailedError(f"the name {host!r} cannot be resolved ({why})", "check it, or this machine's DNS")
    if not found:
        raise _FailedError(
            f"the name {host!r} is not resolved in {timeout:g} s", "check this machine's DNS, or its VPN"
        )
    return found


def _connected(host: str, port: int, timeout: float) -> socket.socket:
    """A connection to the first address of a name that accepts one."""
    where, until = host_port(host, port), time.monotonic() + timeout
    addresses = _resolved(host, timeout)
    refused: OSError | None = None
    for left, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
        try:
            found = socket.create_connection((address, port), max(0.1, until - time.monotonic()) / left)
        except OSError as error:
            refused = error if refused is None or isinstance(refused, TimeoutError) else refused
        else:
            found.settimeout(timeout)
            return found
    if isinstance(refused, TimeoutError):
        raise _FailedError(
            f"no Kafka answers at {where} (no connection in {timeout:g} s)",
            "check the address, and that no firewall, VPN or security group is in between",
        ) from refused
    why = (refused and refused.strerror) or refused
    raise _FailedError(
        f"no Kafka answers at {where} ({why})", "is it running? `partwright broker start` starts one"
    ) from refused


def _open(host: str, port: int, tls: Tls | None, timeout: float) -> AbstractContextManager[socket.socket]:
    return _connected(host, port, timeout) if tls is None else _secured(host, port, tls, timeout)


@contextmanager
def _secured(host: str, port: int, tls: Tls, timeout: float) -> Iterator[ssl.SSLSocket]:
    where = host_port(host, port)
    context = _context(tls)
    with _connected(host, port, timeout) as plain:
        try:
            secured = context.wrap_socket(plain, server_hostname=host)
        except ssl.SSLCertVerificationError as error:
            raise _certificate(where, tls, error) from error
        except TimeoutError as error:
            raise _FailedError(
                f"no Kafka answers at {where} (it took the connection and does not answer to TLS in {timeout:g} s)",
                "check the port, and whether security.protocol should be one without SSL",
            ) from error
        except OSError as error:
            raise _no_tls(host, port, tls, error, timeout) from error
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


def _certificate(where: str, tls: Tls, error: ssl.SSLCertVerificationError) -> _FailedError:
    said = error.verify_message.rstrip(".")
    if error.verify_code == _EXPIRED:
        return _FailedError(
            f"the certificate of {where} has expired", "whoever runs that Kafka has to renew it"
        )
    if error.verify_code == _NOT_YET:
        return _FailedError(f"the certificate of {where} is not valid yet", "is this machine's clock right?")
    if error.verify_code in _OTHER_NAMES:
        return _FailedError(
            f"the certificate of {where} is for another name ({said})",
            "use a name that it has, or, where you trust the way there, an empty ssl.endpoint.identification.algorithm",
        )
    trusted = "the system trusts" if tls.ca_pem is None else "the configuration trusts"
    return _FailedError(
        f"the certificate of {where} is not signed by an authority that {trusted} ({said})",
        "name the file of its authority with ssl.ca.location, or with ssl.truststore.location and its type",
    )


def _no_tls(host: str, port: int, tls: Tls, error: OSError, timeout: float) -> _FailedError:
    """Why the TLS handshake failed: before TLS 1.3 the client's certificate is checked within it."""
    where, reason = host_port(host, port), _reason(error)
    if _ABOUT_CLIENT.search(reason):
        return _client_certificate(where, tls, error)
    is_plain = isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError, ConnectionError))
    if not is_plain and "WRONG_VERSION" not in reason:
        asked = "does it ask for a client's certificate? If not, " if tls.client is None else ""
        return _FailedError(
            f"TLS with {where} fails ({reason})",
            f"{asked}compare both sides: openssl s_client -connect {where}",
        )
    try:
        with _connected(host, port, timeout) as connection:
            api_versions(connection)
    except ValueError as said:
        return _no_kafka(where, said.args[0], "")
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
    told = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
    return str(told or "it ends the connection")


def _spoken_to(
    connection: socket.socket, where: str, host: str, port: int, config: KafkaConfig, timeout: float
) -> None:
    tls, protocol = config.tls, config.security_protocol
    try:
        api_versions(connection)
    except ssl.SSLError as error:
        # Under TLS 1.3 the client's certificate is checked after the handshake.
        raise _client_certificate(where, tls, error) from error
    except ValueError as error:
        raise _no_kafka(where, error.args[0], protocol) from error
    except TimeoutError as error:
        raise _FailedError(
            f"no Kafka answers at {where} (it took the connection and says nothing in {timeout:g} s)",
            "check the port",
        ) from error
    except (EOFError, OSError) as error:
        if tls is None and _speaks_tls(host, port, timeout):
            raise _expects_tls(where, protocol) from error
        shown = tls is not None and tls.client is None
        raise _FailedError(
            f"no Kafka answers at {where} (it ends the connection at the first word)",
            "check the port" + (", or does it ask for a client's certificate?" if shown else ""),
        ) from error


def _no_kafka(where: str, said: bytes, protocol: str) -> _FailedError:
    # The alert with which a TLS server answers anything that is not TLS.
    if said[:2] == b"\x15\x03":
        return _expects_tls(where, protocol)
    what = "a web server" if said.startswith(_WEB) else "something else"
    return _FailedError(f"no Kafka answers at {where}, but {what}", "check the port")


def _expects_tls(where: str, protocol: str) -> _FailedError:
    wanted = (
        "SASL_SSL" if protocol.startswith("SASL") else "SSL, or to SASL_SSL if that Kafka asks for a password"
    )
    return _FailedError(f"{where} expects TLS", f"set security.protocol to {wanted}")


def _client_certificate(where: str, tls: Tls | None, error: Exception) -> _FailedError:
    if tls is not None and tls.client is not None:
        return _FailedError(
            f"{where} refuses the client's certificate ({_reason(error)})",
            "is it signed by an authority that this Kafka trusts, and still valid?",
        )
    return _FailedError(
        f"{where} asks for a client's certificate ({_reason(error)})",
        "name one with ssl.certificate.location and ssl.key.location, or with ssl.keystore.location",
    )


def _speaks_tls(host: str, port: int, timeout: float) -> bool:
    """Whether the server speaks TLS, with any certificate: nothing is sent over the connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), timeout) as plain,
            context.wrap_socket(plain, server_hostname=host),
        ):
            return True
    except OSError:
        return False


def _mechanism(connection: socket.socket, where: str, config: KafkaConfig, timeout: float) -> str:
    """The listener's answer about SASL and the mechanism."""
    wanted = config.mechanism if config.security_protocol.startswith("SASL") else None
    try:
        api_versions(connection)
        found = sasl_handshake(connection, _of_kafka(wanted or "PLAIN"))
    except TimeoutError as error:
        raise _FailedError(
            f"{where} does not answer in {timeout:g} s as it is asked for SASL", "see the broker's log"
        ) from error
    except (EOFError, ValueError, OSError) as error:
        if wanted is None:
            # A server that speaks Kafka's protocol without SASL need not know this request.
            return "no user is asked for, as far as can be told"
        does = "gives no answer of a Kafka" if isinstance(error, ValueError) else "ends the connection"
        raise _FailedError(f"{where} {does} as it is asked for SASL", "see the broker's log") from error
    taken = " or ".join(found.mechanisms)
    if wanted is None:
        if found.is_asked:
            raise _FailedError(
                f"{where} asks for a user",
                f"set security.protocol to SASL_{config.security_protocol}, and sasl.mechanism to {taken}",
            )
        return "no user is asked for"
    if not found.is_asked:
        raise _FailedError(
            f"{where} asks for no user, and security.protocol is {config.security_protocol}",
            f"set it to {config.security_protocol.removeprefix('SASL_')}",
        )
    if not found.taken:
        raise _FailedError(f"{where} does not take the mechanism {wanted}", f"set sasl.mechanism to {taken}")
    return f"{where} takes {wanted}"


def _of_kafka(mechanism: str) -> str:
    """The broker's name of the mechanism: librdkafka treats MSK's as a token."""
    return re.sub(r"[^A-Z0-9_-]", "", mechanism.upper())

"""The address of a Kafka on the command line: `kafka://host[:9092][,host…][/topic]`, or `kafka:///topic`."""

from __future__ import annotations

import re

from partwright._check import shown
from partwright.errors import PartwrightError

# Host and port as in Kafka's Utils.HOST_PORT_PATTERN (4.4), optionally after the name of a protocol.
_SERVER = re.compile(
    r"(?:(?P<scheme>[0-9a-zA-Z\-%._]*)://)?(?P<host>\[[0-9a-zA-Z\-%._:]+\]|[0-9a-zA-Z\-%._]+):(?P<port>[0-9]{1,5})"
)
_LARGEST_PORT = 65_535
_FIELD = "bootstrap.servers"


def is_server(text: str) -> bool:
    """Whether a text is host:port, or [::1]:port.

    Examples:
        >>> is_server("a:9092"), is_server("[::1]:9092"), is_server("a"), is_server("a:99999")
        (True, True, False, False)
    """
    match = _SERVER.fullmatch(text)
    return match is not None and match["scheme"] is None and 0 < int(match["port"]) <= _LARGEST_PORT


def bootstrap_servers(text: str, name: str = _FIELD) -> str:
    """The servers as host:port, separated by commas, without blanks and without a protocol before the host.

    Args:
        text: The setting's value.
        name: Its name in the sentence.

    Raises:
        PartwrightError: One of them is not host:port. Java refuses it too: neither library has a port by default.

    Examples:
        >>> bootstrap_servers("SASL_SSL://a:9092, [::1]:9093")
        'a:9092,[::1]:9093'
        >>> bootstrap_servers("localhost")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: bootstrap.servers 'localhost' has no port: write 'localhost:9092'
    """
    if "@" in text:
        raise PartwrightError(
            f"{name} has an @, and servers are host:port: a user and a password are sasl.username and sasl.password",
            field=_FIELD,
        )
    servers: list[str] = []
    for server in filter(None, (each.strip() for each in text.split(","))):
        match = _SERVER.fullmatch(server)
        if match is None or not 0 < int(match["port"]) <= _LARGEST_PORT:
            no_port = _SERVER.fullmatch(f"{server}:9092") is not None
            reason = f"has no port: write {shown(f'{server}:9092')}" if no_port else "is not host:port"
            if match is not None:
                reason = f"has a port that is not 1 to {_LARGEST_PORT}: correct it"
            raise PartwrightError(
                f"{name} {shown(server)} {reason}", field=_FIELD, value=server, reason=reason
            )
        servers.append(f"{match['host']}:{int(match['port'])}")
    if not servers:
        raise PartwrightError(f"{name} is empty: write host:port", field=_FIELD, value=text)
    return ",".join(servers)


def host_port(host: str, port: int) -> str:
    """A host and its port in the form host:port.

    Examples:
        >>> host_port("a", 9092), host_port("::1", 9092)
        ('a:9092', '[::1]:9092')
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def schemes(servers: str) -> set[str]:
    """The protocols before the hosts; Kafka's clients ignore them.

    Examples:
        >>> schemes("SASL_SSL://a:9092,b:9092")
        {'SASL_SSL'}
    """
    matches = (_SERVER.fullmatch(each.strip()) for each in servers.split(","))
    return {match["scheme"].upper() for match in matches if match and match["scheme"]}


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
    with_ports = [each if is_server(each) else f"{each}:{_PORT}" for each in servers.split(",")]
    if not all(map(is_server, with_ports)):
        raise _no_address(address)
    return ",".join(with_ports), topic or None


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


def plain_servers(text: str) -> str:
    """The servers of an option that takes `host:port` or an address.

    Raises:
        PartwrightError: It is an address that names a topic, or no servers.

    Examples:
        >>> plain_servers("kafka://127.0.0.1"), plain_servers("a:9092,b:9093")
        ('127.0.0.1:9092', 'a:9092,b:9093')
    """
    if not text.startswith(_SCHEME):
        return text
    servers, topic = parse_kafka(text)
    if servers is None or topic is not None:
        raise PartwrightError(f"{text!r} is not the address of brokers alone: write host:port")
    return servers


def _no_address(address: str) -> PartwrightError:
    return PartwrightError(
        f"{address!r} does not name a Kafka: write kafka://host:port, for example kafka://127.0.0.1:9092"
    )

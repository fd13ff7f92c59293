"""Settings of every client apart from SASL and TLS: names and timeouts, in both spellings, with their limits.

>>> of_librdkafka("request.timeout.ms", "45000")
('socket.timeout.ms', '45000', None)
"""

from __future__ import annotations

from dataclasses import dataclass

from partwright._check import shown
from partwright.errors import PartwrightError

__all__ = ["COMMON", "RECONNECT", "checked", "of_java", "of_librdkafka"]

_INT = 2**31 - 1
_LONG = 2**63 - 1


@dataclass(frozen=True, slots=True)
class _Setting:
    """One setting: its name on each side (None if that side has none), and the bounds of a number on each side."""

    java: str | None
    librdkafka: str | None
    least: int | None = None
    most: int = _INT
    own_least: int = 0
    own_most: int = _INT
    words: tuple[str, ...] = ()


_FLAG = ("true", "false")
_TABLE = (
    _Setting("client.id", "client.id"),
    _Setting(
        "client.dns.lookup",
        "client.dns.lookup",
        words=("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
    ),
    _Setting("connections.max.idle.ms", "connections.max.idle.ms", -1, _LONG),
    _Setting("enable.metrics.push", "enable.metrics.push", words=_FLAG),
    _Setting("metadata.max.age.ms", "metadata.max.age.ms", 0, _LONG, 1, 86_400_000),
    _Setting("metadata.recovery.strategy", "metadata.recovery.strategy", words=("none", "rebootstrap")),
    _Setting(
        "metadata.recovery.rebootstrap.trigger.ms", "metadata.recovery.rebootstrap.trigger.ms", 0, _LONG
    ),
    _Setting("receive.buffer.bytes", "socket.receive.buffer.bytes", -1, _INT, 0, 100_000_000),
    _Setting("reconnect.backoff.max.ms", "reconnect.backoff.max.ms", 0, _LONG, 0, 3_600_000),
    _Setting("reconnect.backoff.ms", "reconnect.backoff.ms", 0, _LONG, 0, 3_600_000),
    _Setting("request.timeout.ms", "socket.timeout.ms", 0, _INT, 10, 300_000),
    _Setting("retry.backoff.max.ms", "retry.backoff.max.ms", 0, _LONG, 1, 300_000),
    _Setting("retry.backoff.ms", "retry.backoff.ms", 0, _LONG, 1, 300_000),
    _Setting("send.buffer.bytes", "socket.send.buffer.bytes", -1, _INT, 0, 100_000_000),
    _Setting(
        "socket.connection.setup.timeout.ms", "socket.connection.setup.timeout.ms", 0, _LONG, 1000, _INT
    ),
    *(
        _Setting(None, name, least, most, least, most)
        for name, least, most in [
            ("api.version.request.timeout.ms", 1, 300_000),
            ("broker.address.ttl", 0, 86_400_000),
            ("max.in.flight.requests.per.connection", 1, 1_000_000),
            ("socket.max.fails", 0, 1_000_000),
            ("topic.metadata.propagation.max.ms", 0, 3_600_000),
            ("topic.metadata.refresh.fast.interval.ms", 1, 60_000),
            ("topic.metadata.refresh.interval.ms", -1, 3_600_000),
        ]
    ),
    *(
        _Setting(None, name, words=words)
        for name, words in [
            ("broker.address.family", ("any", "v4", "v6")),
            ("socket.keepalive.enable", _FLAG),
            ("socket.nagle.disable", _FLAG),
            ("topic.metadata.refresh.sparse", _FLAG),
            ("ssl.ca.certificate.stores", ()),
            ("ssl.curves.list", ()),
            ("ssl.engine.id", ()),
            ("ssl.engine.location", ()),
            ("ssl.providers", ()),
            ("ssl.sigalgs.list", ()),
        ]
    ),
    # A consumer's settings for reading, with librdkafka's bounds.
    _Setting("check.crcs", "check.crcs", words=_FLAG),
    _Setting("client.rack", "client.rack"),
    _Setting(None, "fetch.error.backoff.ms", 0, 300_000, 0, 300_000),
    # librdkafka requires at least message.max.bytes.
    _Setting("fetch.max.bytes", "fetch.max.bytes", 0, _INT, 1_000_000, 2_147_483_135),
    _Setting("fetch.max.wait.ms", "fetch.wait.max.ms", 0, _INT, 0, 300_000),
    _Setting("fetch.min.bytes", "fetch.min.bytes", 0, _INT, 1, 100_000_000),
    _Setting(None, "fetch.queue.backoff.ms", 0, 300_000, 0, 300_000),
    _Setting("isolation.level", "isolation.level", words=("read_uncommitted", "read_committed")),
    _Setting("max.partition.fetch.bytes", "fetch.message.max.bytes", 0, _INT, 1, 1_000_000_000),
    _Setting(None, "queued.max.messages.kbytes", 1, 2_097_151, 1, 2_097_151),
    _Setting(None, "queued.min.messages", 1, 10_000_000, 1, 10_000_000),
)
RECONNECT = {"reconnect.backoff.ms": 100, "reconnect.backoff.max.ms": 10_000}
"""The first and the longest wait before a reconnect, in milliseconds, with librdkafka's defaults."""
COMMON = {each.java or each.librdkafka or "": each for each in _TABLE}
"""The settings by the name under which they are kept."""


def checked(name: str, value: str, spoken: str | None = None) -> str:
    """A setting's value as both libraries write it.

    Args:
        name: The setting.
        value: The given value.
        spoken: The setting's name in sentences; by default `name`.

    Raises:
        PartwrightError: The value is not valid for this setting.

    Examples:
        >>> checked("enable.metrics.push", "False")
        'false'
        >>> checked("retry.backoff.ms", "soon")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: retry.backoff.ms is a whole number from 0 to 9223372036854775807, not 'soon'
    """
    setting = COMMON[name]
    if setting.words:
        if value.lower() not in setting.words:
            reason = f"is {' or '.join(setting.words)}, not {shown(value)}"
            raise PartwrightError(f"{spoken or name} {reason}", field=name, value=value, reason=reason)
        return value.lower()
    if setting.least is None:
        return value
    try:
        number = int(value) if value.isascii() and "_" not in value else None
    except ValueError:
        number = None
    if number is None or not setting.least <= number <= setting.most:
        reason = f"is a whole number from {setting.least} to {setting.most}, not {shown(value)}"
        raise PartwrightError(f"{spoken or name} {reason}", field=name, value=value, reason=reason)
    return str(number)


def of_librdkafka(name: str, value: str) -> tuple[str, str, str | None] | None:
    """Name and value for librdkafka, and a sentence if its bounds are narrower; None if it has no such setting."""
    setting = COMMON[name]
    if setting.librdkafka is None:
        return None
    if setting.least is None:
        return setting.librdkafka, value, None
    number = int(value)
    taken = min(max(number, setting.own_least), setting.own_most)
    # Java's -1 is librdkafka's 0: no limit, or the system's limit.
    told = None
    if number not in {taken, -1}:
        told = f"{name} is {number}, and librdkafka takes {setting.own_least} to {setting.own_most}: it gets {taken}"
    return setting.librdkafka, str(taken), told


def of_java(name: str, value: str) -> tuple[str, str] | None:
    """Name and value for Java's clients; None if they have no such setting.

    Examples:
        >>> of_java("socket.max.fails", "1"), of_java("client.id", "a")
        (None, ('client.id', 'a'))
    """
    java = COMMON[name].java
    return None if java is None else (java, value)

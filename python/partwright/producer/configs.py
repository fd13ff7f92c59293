"""How a producer is set up: its strategy, and the part of its configuration that decides where a record goes.

>>> read_configs({"batch.size": "1000", "partitioner.ignore.keys": True, "acks": "all"}).batch_size
1000
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from partwright._check import bits, meant, shown, whole
from partwright.errors import PartwrightError

_INT, _LONG = range(-(2**31), 2**31), range(-(2**63), 2**63)
_OF_KAFKA_4 = ("sticky@4.4", "round-robin", "random")
_NEAR = 0.8


def _number(least: int, values: range) -> Callable[[str, object], int]:
    def read(key: str, value: object) -> int:
        number = value
        if isinstance(value, str):
            try:
                # Java's parseInt accepts no underscores.
                number = None if "_" in value else int(value.strip())
            except ValueError:
                number = None
        if type(number) is not int or number not in values or number < least:
            # The sentence shows the given value, text as text.
            number = value
        return whole(number, key, least, values[-1]) if least > values[0] else bits(number, key, values)

    return read


def _flag(key: str, value: object) -> bool:
    flag = {"true": True, "false": False}.get(value.strip().lower()) if isinstance(value, str) else value
    if not isinstance(flag, bool):
        raise PartwrightError(f"{key} is true or false, not {shown(value)}")
    return flag


def _text(key: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise PartwrightError(f"{key} is text, not {shown(value)}")
    return value


def _one_of(*known: str) -> Callable[[str, object], str]:
    def read(key: str, value: object) -> str:
        if value not in known:
            raise PartwrightError(f"{key} is {', '.join(known[:-1])} or {known[-1]}, not {shown(value)}")
        return str(value)

    return read


def _config(key: str, default: object, read: Callable[[str, object], object]) -> Any:
    return field(default=default, metadata={"key": key, "read": read})


@dataclass(frozen=True, slots=True)
class Configs:
    """A strategy's configuration; the defaults are Kafka's.

    Attributes:
        batch_size: `batch.size` in bytes.
        linger_ms: `linger.ms`; None is the default of the strategy's Kafka.
        ignore_keys: `partitioner.ignore.keys`.
        adaptive: `partitioner.adaptive.partitioning.enable`.
        availability_timeout_ms: `partitioner.availability.timeout.ms`.
        rack_aware: `partitioner.rack.aware`.
        client_rack: `client.rack`.
        max_request_size: `max.request.size` in bytes, which only affects batches, like the next two.
        max_in_flight: `max.in.flight.requests.per.connection`.
        retry_backoff_ms: `retry.backoff.ms`.
        refresh_ms: `topic.metadata.refresh.interval.ms` of Kafka 0.8; below 0 is never.
        partitioner_class: `partitioner.class`, which names a strategy.
        random_available: `random.available`: whether `random` draws only from the partitions with a leader.
        leader_host: `leader.host`: where `leader` wants a partition's leader: a host, the beginning of one followed by
            `*`, or a network (`10.1.0.0/16`).
        leader_rack: `leader.rack`: its rack, or the rack's beginning with `*`.
        leader_region: `leader.region`: its region, or the region's beginning with `*`.
        leader_among: `leader.among`: which of several it is: first, random, round-robin or key.
        field_type: `field.type`: the type of the field for `field`: value, or address for an IP address.
        field_prefix_ipv4: `field.prefix.ipv4`: how many bits of an address of version 4 count.
        field_prefix_ipv6: `field.prefix.ipv6`: how many bits of an address of version 6 count.
        otherwise: `otherwise`: what to do with a record that names no partition under `explicit`, has no field under
            `field`, or finds no matching leader under `leader`: error, round-robin or random. With either of the
            latter, -1 also means no partition under `explicit`, as in kafka-go.
    """

    batch_size: int = _config("batch.size", 16_384, _number(0, _INT))
    linger_ms: int | None = _config("linger.ms", None, _number(0, _LONG))
    ignore_keys: bool = _config("partitioner.ignore.keys", default=False, read=_flag)
    adaptive: bool = _config("partitioner.adaptive.partitioning.enable", default=True, read=_flag)
    availability_timeout_ms: int = _config("partitioner.availability.timeout.ms", 0, _number(0, _LONG))
    rack_aware: bool = _config("partitioner.rack.aware", default=False, read=_flag)
    client_rack: str | None = _config("client.rack", "", _text)
    max_request_size: int = _config("max.request.size", 1_048_576, _number(0, _INT))
    max_in_flight: int = _config("max.in.flight.requests.per.connection", 5, _number(1, _INT))
    retry_backoff_ms: int = _config("retry.backoff.ms", 100, _number(0, _LONG))
    refresh_ms: int = _config("topic.metadata.refresh.interval.ms", 600_000, _number(_INT[0], _INT))
    partitioner_class: str | None = _config("partitioner.class", None, _text)
    random_available: bool = _config("random.available", default=False, read=_flag)
    leader_host: str | None = _config("leader.host", None, _text)
    leader_rack: str | None = _config("leader.rack", None, _text)
    leader_region: str | None = _config("leader.region", None, _text)
    leader_among: str = _config("leader.among", "random", _one_of("first", "random", "round-robin", "key"))
    field_type: str = _config("field.type", "value", _one_of("value", "address"))
    field_prefix_ipv4: int = _config("field.prefix.ipv4", 32, _number(0, range(33)))
    field_prefix_ipv6: int = _config("field.prefix.ipv6", 128, _number(0, range(129)))
    otherwise: str = _config("otherwise", "error", _one_of("error", "round-robin", "random"))


@dataclass(frozen=True, slots=True)
class ProducerConfig:
    """How a producer is set up, in plain Python and in Spark; whoever uses it checks it.

    Attributes:
        strategy: A name from `strategies()`, `sticky` for the newest; `default@2.8`, `round-robin@3.1` and so on for
            the behaviour of a Kafka version; one of Kafka's class names; or your own partitioner, as an object, a class
            or the class's dotted path (see `partwright.producer.custom`). None: as `partitioner.class` says, otherwise
            `sticky`.
        configs: Kafka's own keys and values; see `Configs`.
        client: Whose rule places records by key, a name in `partwright.clients()`.
        key_type: How a key becomes key bytes; see `partwright.encode`.
        seed: The seed of all draws, a whole number of 64 bits.

    Examples:
        >>> from partwright import Producer
        >>> Producer({"orders": 3}, ProducerConfig("sticky", seed=7)).partition("orders")
        0
    """

    strategy: Any = None
    configs: Mapping[str, object] | None = None
    client: str = "java"
    key_type: str | None = None
    seed: int = 0

    @classmethod
    def of(cls, producer: object) -> ProducerConfig:
        """A producer's whole configuration, or that of its strategy alone."""
        return producer if isinstance(producer, cls) else cls(producer)

    @property
    def partitioner(self) -> Any:
        """The strategy, or else what `partitioner.class` names, or else `sticky`.

        Raises:
            PartwrightError: As for `read_configs`.
        """
        named = read_configs(self.configs).partitioner_class or "sticky"
        return named if self.strategy is None else self.strategy


def keys() -> list[str]:
    """The Kafka keys that are known here.

    Examples:
        >>> keys()[:2]
        ['batch.size', 'linger.ms']
    """
    return [one.metadata["key"] for one in fields(Configs)]


def linger(configs: Configs, strategy: str) -> int:
    """`linger.ms`: Kafka's default is 5 since 4.0, and was 0 before.

    Examples:
        >>> linger(Configs(), "sticky@4.4"), linger(Configs(), "sticky@2.4")
        (5, 0)
    """
    if configs.linger_ms is not None:
        return configs.linger_ms
    return 5 if strategy in _OF_KAFKA_4 else 0


def settings_of(configs: Configs, strategy: str) -> dict[str, object]:
    """The settings that affect batches, by the core's names."""
    return {
        "batch_size": configs.batch_size,
        "linger_ms": linger(configs, strategy),
        "max_request_size": configs.max_request_size,
        "max_in_flight": configs.max_in_flight,
        "retry_backoff_ms": configs.retry_backoff_ms,
        "ignore_keys": configs.ignore_keys,
        "adaptive": configs.adaptive,
        "availability_timeout_ms": configs.availability_timeout_ms,
        "rack_aware": configs.rack_aware,
        "client_rack": configs.client_rack or "",
    }


def read_configs(configs: Mapping[str, object] | None) -> Configs:
    """Read a configuration of Kafka's keys, whose values may be text as in a properties file.

    A producer's other keys (`acks`, `bootstrap.servers`) are ignored: they do not decide where a record goes.

    Args:
        configs: The keys and their values.

    Returns:
        The given values, and the defaults.

    Raises:
        PartwrightError: A value that Kafka refuses; a key that is nearly one of these.

    Examples:
        >>> read_configs({"partitioner.ignore.key": True})
        Traceback (most recent call last):
            ...
        partwright.errors.PartwrightError: there is no config 'partitioner.ignore.key': did you mean partitioner.ignore.keys?
        >>> read_configs({"batch.size": -1})
        Traceback (most recent call last):
            ...
        partwright.errors.PartwrightError: batch.size is a whole number from 0 to 2147483647, not -1
    """  # noqa: E501 - the error's sentence is one line
    known = {one.metadata["key"]: one for one in fields(Configs)}
    if configs is not None and not isinstance(configs, Mapping):
        raise PartwrightError(f"configs are Kafka's keys and their values, not {shown(configs)}")
    values = {}
    for key, value in (configs or {}).items():
        one = known.get(key)
        if one is not None:
            values[one.name] = one.metadata["read"](key, value)
            continue
        near = meant(str(key), known, least=_NEAR, form=str)
        if near or not isinstance(key, str):
            raise PartwrightError(f"there is no config {shown(key)}{near or ': keys are text'}", value=key)
    return Configs(**values)

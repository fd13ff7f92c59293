"""The parts of a cluster, brokers and partitions, as a caller or JSON gives them, and what is refused of them."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from typing import TYPE_CHECKING, Any

from partwright.errors import PartwrightError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Broker",
    "Partition",
    "hex_key",
    "known",
    "listed",
    "number",
    "object_fields",
    "once",
    "read_broker",
    "read_partitions",
    "shown",
    "there_are",
    "unknown",
]

_HIGHEST = 2**31 - 1
_HIGHEST_PORT = 65535
_SHOWN = 8
_BROKER = ("id", "host", "port", "rack", "region")
_PARTITION = ("id", "leader", "replicas", "in_sync_replicas", "isr", "offline_replicas")


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker (`org.apache.kafka.common.Node`).

    Attributes:
        id: Its `node.id`, from 0 on.
        host: Where clients reach it; None where that is not known, as for all below.
        port: The port there, 0 to 65535.
        rack: Its `broker.rack`.
        region: Which region it is in, a word that Kafka does not have.

    Raises:
        PartwrightError: A value is of another type or out of its range.

    Examples:
        >>> Broker(0, rack="eu-west-1a").rack
        'eu-west-1a'
    """

    id: int
    host: str | None = None
    port: int | None = None
    rack: str | None = None
    region: str | None = None

    def __post_init__(self) -> None:
        number(self.id, "a broker's id")
        if self.port is not None:
            number(self.port, f"the port of broker {self.id}", _HIGHEST_PORT)
        for name in ("host", "rack", "region"):
            _text(getattr(self, name), f"broker {self.id}: {name}")


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of a topic (`org.apache.kafka.common.PartitionInfo`).

    Attributes:
        id: Its number, from 0 on.
        leader: The id of the broker that leads it; None where none does.
        replicas: The ids of the brokers that have it.  Some may be no brokers of the cluster: metadata lists live ones.
        in_sync_replicas: Those of them that are in sync.
        offline_replicas: Those of them that are offline.

    Raises:
        PartwrightError: A value is of another type, or below 0.

    Examples:
        >>> Partition(3, leader=1, replicas=[1, 2]).replicas
        (1, 2)
    """

    id: int
    leader: int | None = None
    replicas: tuple[int, ...] = ()
    in_sync_replicas: tuple[int, ...] = ()
    offline_replicas: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        number(self.id, "a partition's id")
        if self.leader is not None:
            number(self.leader, f"the leader of partition {self.id}", otherwise=" (none if it has none)")
        for name in ("replicas", "in_sync_replicas", "offline_replicas"):
            what = f"partition {self.id}: {name}"
            ids = tuple(number(each, what) for each in listed(getattr(self, name), what))
            object.__setattr__(self, name, ids)


def read_broker(given: Any) -> Broker:  # noqa: ANN401 - what is checked here
    """A broker of an object with its fields, or as it is.

    Examples:
        >>> read_broker({"id": 0, "rack": None})
        Broker(id=0, host=None, port=None, rack=None, region=None)
    """
    if isinstance(given, Broker):
        return given
    return Broker(**object_fields(given, "a broker", _BROKER, needs="id"))


def read_partitions(topic: str, given: Any, leader: int) -> tuple[Partition, ...]:  # noqa: ANN401
    """A topic's partitions of a list of objects, or of their number, all with the one leader.

    Examples:
        >>> [each.leader for each in read_partitions("t", [{"id": 0, "leader": None}, {"id": 1, "leader": 3}], 0)]
        [None, 3]
    """
    if isinstance(given, int):
        number(given, f"topic {topic!r}: the number of partitions")
        return tuple(Partition(partition, leader) for partition in range(given))
    return tuple(_read_partition(topic, each) for each in listed(given, f"topic {topic!r}"))


def _read_partition(topic: str, given: Any) -> Partition:  # noqa: ANN401
    if isinstance(given, Partition):
        return given
    found = object_fields(given, f"a partition of topic {topic!r}", _PARTITION, needs="id")
    if "isr" in found:
        if "in_sync_replicas" in found:
            raise PartwrightError(
                f"partition {shown(found['id'])} of topic {topic!r} has isr and in_sync_replicas: leave one out"
            )
        found["in_sync_replicas"] = found.pop("isr")
    absent = [name for name, value in found.items() if value is None and name not in {"id", "leader"}]
    try:
        return Partition(**{name: value for name, value in found.items() if name not in absent})
    except PartwrightError as error:
        raise PartwrightError(f"topic {topic!r}: {error}") from None


def known(part: Broker | Partition) -> dict[str, Any]:
    """A part's fields as `read_broker` and `read_partitions` take them: the id, and what is known; a leader always.

    Examples:
        >>> known(Broker(0, rack="a")), known(Partition(1, replicas=(0,)))
        ({'id': 0, 'rack': 'a'}, {'id': 1, 'leader': None, 'replicas': [0]})
    """
    values = ((each.name, getattr(part, each.name)) for each in dataclass_fields(part))
    told = {name: list(value) if isinstance(value, tuple) else value for name, value in values}
    return {name: value for name, value in told.items() if name == "leader" or value not in (None, [])}


def object_fields(given: Any, what: str, names: Sequence[str], needs: str | None) -> dict[str, Any]:  # noqa: ANN401
    """An object's fields, if it has only those that there are, and the one that it needs, if any.

    Examples:
        >>> object_fields({"id": 0, "rak": "a"}, "a broker", ["id", "rack"], "id")
        Traceback (most recent call last):
        partwright.errors.PartwrightError: a broker has no field 'rak': did you mean 'rack'? There are id and rack
    """
    if not isinstance(given, Mapping):
        having = f" with {needs}" if needs is not None else ""
        raise PartwrightError(f"{what} is an object{having}, not {shown(given)}")
    for name in given:
        if name not in names:
            raise PartwrightError(f"{what} has no field {shown(name)}{_near_or_all(name, names)}")
    if needs is not None and needs not in given:
        raise PartwrightError(f"{what} has no {needs}: name it")
    return dict(given)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, of which no field may be there twice: JSON would silently take the last."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise PartwrightError(f"{shown(name)} is there twice in one object: each name once")
        found[name] = value
    return found


def listed(given: Any, what: str, of: type | None = None) -> tuple[Any, ...]:  # noqa: ANN401
    """Any list, as a tuple, and all of one type where one is asked for."""
    if not isinstance(given, Iterable) or isinstance(given, (str, bytes, Mapping)):
        raise PartwrightError(f"{what}: a list is needed, not {shown(given)}")
    found = tuple(given)
    for each in found:
        if of is not None and not isinstance(each, of):
            raise PartwrightError(f"{what}: {shown(each)} is no {of.__name__}")
    return found


def hex_key(where: str, given: object) -> bytes | None:
    """The bytes of a key, of their hex digits in JSON; None for a null key."""
    if given is None:
        return None
    try:
        return bytes.fromhex(given)  # type: ignore[arg-type]  # a TypeError is one of the refusals
    except (TypeError, ValueError):
        raise PartwrightError(f"{where}: a key is bytes in hex, or null, not {shown(given)}") from None


def number(given: Any, what: str, highest: int = _HIGHEST, otherwise: str = "") -> int:  # noqa: ANN401
    """A whole number from 0 to the highest one, of Java's `int` as a rule."""
    if type(given) is not int or not 0 <= given <= highest:
        raise PartwrightError(f"{what} is a whole number, 0 to {highest}{otherwise}, not {shown(given)}")
    return given


def unknown(name: object, what: str, names: Iterable[str], where: str = "the cluster") -> PartwrightError:
    """The sentence for a name that is not there, with the nearest one.

    Examples:
        >>> print(unknown("ordres", "topic", ["orders", "users"]))
        there is no topic 'ordres' in the cluster: did you mean 'orders'? There are orders and users
    """
    names = list(names)
    if not names:
        return PartwrightError(f"there is no {what} {shown(name)} in {where}: it has none")
    return PartwrightError(f"there is no {what} {shown(name)} in {where}{_near_or_all(name, names)}")


def there_are(ids: Iterable[int], what: str) -> str:
    """Which ids there are, as the end of a sentence.

    Examples:
        >>> there_are([0, 1, 2], "brokers"), there_are([], "brokers")
        ('there are the brokers 0, 1 and 2', 'there are no brokers')
    """
    names = [str(each) for each in sorted(ids)]
    return f"there are the {what} {_and(names)}" if names else f"there are no {what}"


def shown(given: object) -> str:
    """A value as the part of a sentence, cut where it is very long."""
    try:
        return reprlib.repr(given)
    except ValueError:
        # A number of more digits than Python writes.
        return f"a value of type {type(given).__name__}"


def _text(given: Any, what: str) -> None:  # noqa: ANN401
    if given is not None and not isinstance(given, str):
        raise PartwrightError(f"{what} is text, not {shown(given)}")


def meant(name: object, names: Iterable[str]) -> str:
    """The end of a sentence that asks whether the nearest name was meant; nothing where none is near.

    Examples:
        >>> meant("clasic", ["classic", "consumer"])
        ": did you mean 'classic'?"
    """
    near = difflib.get_close_matches(name, list(names), 1) if isinstance(name, str) else []
    return f": did you mean {near[0]!r}?" if near else ""


def _near_or_all(name: object, names: Sequence[str]) -> str:
    near = meant(name, names)
    return f"{near} There are {_and(names)}" if near else f": there are {_and(names)}"


def _and(names: Sequence[str]) -> str:
    if len(names) > _SHOWN:
        return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]

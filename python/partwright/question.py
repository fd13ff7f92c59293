"""What was asked, as an answer carries it and its page repeats it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Question", "masked"]

# Settings that a page must not repeat, because pages are passed on to others.
_SECRETS = ("password", "secret", "token", "jaas", "credential", "ssl.key", "keystore.key", "basic.auth")
# Everything after the first = behind a secret's name, also in a=b=c.
_SECRET = re.compile(
    rf"([^=]*(?:=[^=]*)*?(?:{'|'.join(map(re.escape, _SECRETS))})[^=]*)=.*", re.IGNORECASE | re.DOTALL
)


def masked(text: str) -> str:
    """A setting as name=value, without the value of a secret.

    Examples:
        >>> masked("linger.ms=5"), masked("sasl.password=hunter2")
        ('linger.ms=5', 'sasl.password=...')
    """
    found = _SECRET.fullmatch(text)
    return text if found is None else f"{found[1]}=..."


@dataclass(frozen=True)
class Question:
    """What was asked: by a command line, or by a function with its options objects.

    Attributes:
        options: The options objects of a function, such as a `ProducerConfig` and a `Workload`.
        command: The command's name; None for a function.
        source: The file, the topic or the cluster.
        settings: The command's other options, by name, without secrets.
        read: For a topic, how much of it was read; see `partwright.kafka.records.TopicRecords.read_counts`.
        line: The command line, quoted for a shell.

    Examples:
        >>> from partwright import ProducerConfig, Workload
        >>> Question((ProducerConfig("sticky", {"linger.ms": 5}), Workload(key="id"))).facts()
        [('strategy', 'sticky'), ('linger.ms', '5'), ('key', 'id')]
    """

    options: tuple[Any, ...] = ()
    command: str | None = None
    source: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    read: dict[str, Any] | None = None
    line: str | None = None

    def facts(self) -> list[tuple[str, str]]:
        """Its parts that are not by default, each name with its value."""
        named = {"command": self.command and f"partwright {self.command}", "source": self.source}
        facts = [(name, value) for name, value in named.items() if value is not None]
        return [*facts, *self.settings.items(), *(fact for each in self.options for fact in _options(each))]


def _options(options: Any) -> Iterator[tuple[str, str]]:
    for each in fields(options):
        value = getattr(options, each.name)
        if each.name in {"config", "configs"}:
            texts = (masked(f"{key}={one}") for key, one in (value or {}).items())
            yield from ((key, one) for key, _, one in (text.partition("=") for text in texts))
        elif value is not None and value != each.default:
            yield each.name, str(value)

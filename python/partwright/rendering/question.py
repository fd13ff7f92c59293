"""The question that an answer's page repeats."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partwright._check import Json

__all__ = ["Asked", "version"]


@dataclass(frozen=True)
class Asked:
    """The question that a page answers.

    Attributes:
        command: The command's name.
        source: The file, the topic or the cluster.
        settings: The other options, by name.
        read: For a topic, how much of it was read; see `partwright.kafka.records.TopicRecords.told`.
        line: The command line, quoted for a shell.
    """

    command: str
    source: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    read: Json | None = None
    line: str | None = None

    def facts(self) -> list[tuple[str, str]]:
        """All parts, each name with its value."""
        facts = [("command", f"partwright {self.command}")]
        if self.source is not None:
            facts.append(("source", self.source))
        return [*facts, *self.settings.items(), ("version", version())]


def version() -> str:
    """Partwright's own."""
    # Only pages show it, and this is slow to import.
    from importlib import metadata  # noqa: PLC0415

    return metadata.version("partwright")

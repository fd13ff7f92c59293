"""The members of a script's group while it is read, and the consumers that assign themselves partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partwright._check import shown, unknown
from partwright.errors import PartwrightError
from partwright.group.coordinator import is_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partwright.group.configs import MemberConfigs

__all__ = ["ScriptMembers", "SelfAssigned", "text_of"]

Span = tuple[str, int, int | None, tuple[tuple[str, int], ...]]


class SelfAssigned:
    """Consumers that assign themselves partitions, and are not members.

    Attributes:
        spans: What they read: name, when from and to, partitions.
    """

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def names(self) -> list[str]:
        """Those that read something now."""
        return [name for name, _, to_ms, _ in self.spans if to_ms is None]

    def add(self, at_ms: int, name: str, partitions: tuple[tuple[str, int], ...]) -> None:
        """One reads these partitions from now on."""
        self.spans.append((name, at_ms, None, partitions))

    def end(self, at_ms: int, given: object, topic: str | None = None) -> bool:
        """One reads its partitions no more, or those of a topic; whether it did."""
        for place, (name, from_ms, to_ms, partitions) in enumerate(self.spans):
            kept = tuple(pair for pair in partitions if topic not in (None, pair[0]))
            if to_ms is None and name == given and kept != partitions:
                gone = tuple(pair for pair in partitions if pair not in kept)
                self.spans[place] = (name, from_ms, at_ms, gone)
                if kept:
                    self.spans.append((name, from_ms, None, kept))
                return True
        return False

    def refuse(self, where: str, given: str) -> None:
        """A consumer that has assigned itself partitions does nothing that members of a group do."""
        if given in self.names():
            raise PartwrightError(
                f"{where}: {given!r} has assigned itself partitions and cannot subscribe as well (Kafka's consumer "
                "throws IllegalStateException): let it leave, crash or assign itself others, or take another name"
            )


class ScriptMembers:
    """The members.

    Args:
        defaults: A member's settings, of which no event says anything.
        is_static: Whether a member's name is its `group.instance.id`.

    Attributes:
        configs: By name, what each that has joined is set to.
        numbers: By name, its number, in the order of the first mention.
        alive: By name, from when on it is there; in the future where it restarts.
        crashed: By name, when the coordinator misses it.
        subscribed: By name, the topics as the script has them.
        instances: By name, its `group.instance.id`.
        assignors: Those that members name, in the order of the first mention.
        clients: Their clients, in the same order.
    """

    def __init__(self, defaults: MemberConfigs, *, is_static: bool) -> None:
        self._defaults, self._is_static = defaults, is_static
        self._ids: set[str] = set()
        self.configs: dict[str, MemberConfigs] = {}
        self.numbers: dict[str, int] = {}
        self.alive: dict[str, int] = {}
        self.crashed: dict[str, int] = {}
        self.subscribed: dict[str, object] = {}
        self.instances: dict[str, str | None] = {}
        self.assignors: dict[str, None] = {}
        self.clients: dict[str, None] = {}

    def number_of(self, name: str) -> int:
        """A member's number."""
        return self.numbers.setdefault(name, len(self.numbers))

    def known(self, where: str, name: str) -> str:
        """One that was a member at some time."""
        if name not in self.configs:
            raise PartwrightError(f"{where}: {unknown(name, 'member', self.configs, 'the group')}")
        return name

    def alive_member(self, where: str, at_ms: int, name: str) -> str:
        """One that is there now."""
        self.known(where, name)
        if name not in self.alive:
            raise PartwrightError(f"{where}: {name!r} is not there at {at_ms} ms: let it join first")
        if self.alive[name] > at_ms:
            raise PartwrightError(f"{where}: {name!r} is down until {self.alive[name]} ms")
        return name

    def start(self, where: str, name: str, fields: Mapping[str, object]) -> MemberConfigs:
        """One joins, for the first time or again: its settings are those of before, but for what the event says."""
        known = self.configs.get(name, self._defaults)
        if self._is_static and name not in self.configs:
            fields = {"instance_id": name, **fields}
        configs = known.changed(where, fields)
        for member_id in configs.member_ids:
            if member_id in self._ids:
                raise PartwrightError(
                    f"{where}: member_id {member_id!r} was another's: Kafka draws each once, so take another one"
                )
            self._ids.add(member_id)
        self.configs[name] = configs
        self.crashed.pop(name, None)
        self.instances[name] = configs.instance_id
        self.clients.setdefault(configs.client)
        for assignor in configs.assignors:
            self.assignors.setdefault(assignor)
        return configs


def text_of(where: str, given: object) -> str:
    """A member's name, of an event."""
    if not is_text(given):
        raise PartwrightError(f"{where}: a member is named by text, not {shown(given)}")
    return given

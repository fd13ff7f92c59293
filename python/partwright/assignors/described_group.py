"""A consumer group as a tool describes it: who reads what, without what the members subscribe to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from partwright._check import Json

# `Uuid` in base64, as members of KIP-848 are called, except by clients that name themselves otherwise.
_UUID = re.compile(r"[0-9a-zA-Z_/+-]{22}")


@dataclass
class DescribedGroup:
    """What a text says of one group.

    Attributes:
        tool: The command that printed it, or the page.
        members: By ID, as `partwright.assign` takes them, without their topics.
        client_ids: By member ID.
        topics: By name, how many partitions are seen.
        assignor: As the tool names it; empty if it does not.
        count: How many members it says that there are; None if it does not.
        lists_idle: Whether members that read nothing are in it.
        is_modern: Whether the broker assigns (KIP-848).
        has_ids: Whether it has members' IDs; if not, they are named by client ID and host.
    """

    tool: str
    members: dict[str, Json] = field(default_factory=dict)
    client_ids: dict[str, str] = field(default_factory=dict)
    topics: dict[str, int] = field(default_factory=dict)
    assignor: str = ""
    count: int | None = None
    lists_idle: bool = False
    is_modern: bool = False
    has_ids: bool = True

    def add(self, member: str, client_id: str, instance_id: str = "") -> None:
        """A member, unless it is known."""
        own = self.members.setdefault(member, {"id": member, "owned": {}, "generation": 1})
        self.client_ids.setdefault(member, client_id)
        if instance_id not in {"", "-"}:
            own["instance_id"] = instance_id

    def add_unnamed(self, client_id: str, host: str, instance_id: str = "") -> str:
        """A member whose ID is not known, and what it is called."""
        self.has_ids = False
        name = f"{client_id}@{host.lstrip('/')}".lstrip("@")
        alike = sum(each == name or each.startswith(f"{name}#") for each in self.members)
        member = f"{name}#{alike + 1}" if alike else name
        self.add(member, client_id, instance_id)
        return member

    def read(self, member: str | None, topic: str, partitions: Iterable[int]) -> None:
        """What a member reads, or that partitions exist which nobody reads."""
        for each in partitions:
            self.topics[topic] = max(self.topics.get(topic, 0), each + 1)
            owned = [] if member is None else self.members[member]["owned"].setdefault(topic, [])
            if each not in owned:
                owned.append(each)

    @property
    def broker_assigns(self) -> bool:
        """Whether it is a group of KIP-848, by its epochs or its members' IDs."""
        return self.is_modern or (bool(self.members) and all(map(_UUID.fullmatch, self.members)))

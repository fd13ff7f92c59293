"""The candidates of a roll: each assignor of either protocol, with dynamic and with static members.

>>> [(each.protocol, each.assignor) for each in candidates() if each.static]
[('classic', 'range'), ('classic', 'roundrobin'), ('classic', 'sticky'), ('classic', 'cooperative-sticky'), ('consumer', 'uniform'), ('consumer', 'range')]
"""  # noqa: E501 - an example is one line

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from partwright.assignors.names import CLIENT_ASSIGNORS
from partwright.errors import PartwrightError
from partwright.group.configs import MemberConfigs, read_configs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Candidate", "Client", "candidates", "covering"]

_SERVER = ("uniform", "range")
_MARGIN = 1.5
_STEP_MS = 15_000
# `group.max.session.timeout.ms` of a broker that nobody has configured.
_LONGEST_MS = 1_800_000
_SESSION = {"classic": "session.timeout.ms", "consumer": "group.consumer.session.timeout.ms"}
_DEFAULT_MS = 45_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to run the group.

    Attributes:
        protocol: classic, or consumer (KIP-848).
        assignor: Its name; with the protocol consumer the broker's.
        static: Whether members have a `group.instance.id`.
        config: Further settings that the candidate needs.
    """

    protocol: str
    assignor: str
    static: bool
    config: dict[str, int] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Its name in a sentence.

        Examples:
            >>> Candidate("consumer", "uniform", static=False).label
            'KIP-848 (uniform), dynamic members'
        """
        name = f"KIP-848 ({self.assignor})" if self.protocol == "consumer" else self.assignor
        return f"{name}, {'static' if self.static else 'dynamic'} members"


@dataclass(frozen=True, slots=True)
class Client:
    """A consumer's settings as a deployment has them today.

    Attributes:
        protocol: `group.protocol`.
        assignor: The assignor that the group runs.
        static: Whether `group.instance.id` is set.
        config: All other settings, of members and of the broker.
        members: The members' settings with Kafka's defaults.
    """

    protocol: str
    assignor: str
    static: bool
    config: Mapping[str, object]
    members: MemberConfigs

    @classmethod
    def read(cls, given: Mapping[str, object] | None) -> Client:
        """Today's settings, of one object with Kafka's keys.

        Raises:
            PartwrightError: A key is not one that a play takes, or its value is invalid.

        Examples:
            >>> today = Client.read({"group.protocol": "consumer", "group.instance.id": "pod-0"})
            >>> today.protocol, today.assignor, today.static
            ('consumer', 'uniform', True)
        """
        config = dict(given or {})
        protocol = str(config.pop("group.protocol", "classic")).lower()
        if protocol not in _SESSION:
            raise PartwrightError(f"group.protocol is classic or consumer, not {protocol!r}")
        static = config.pop("group.instance.id", None) not in (None, "")
        _, members = read_configs(config, None, protocol)
        # Kafka's default list begins with range, which all members then have in common.
        assignor = members.assignors[0] if protocol == "classic" else members.remote_assignor or _SERVER[0]
        for key in ("partition.assignment.strategy", "group.remote.assignor"):
            config.pop(key, None)
        return cls(protocol, assignor, static, config, members)

    def place(self, among: Sequence[Candidate]) -> int | None:
        """Which of the candidates runs today."""
        today = (self.protocol, self.assignor, self.static)
        places = (
            place for place, each in enumerate(among) if (each.protocol, each.assignor, each.static) == today
        )
        return next(places, None)


def candidates() -> list[Candidate]:
    """Every candidate: the classic protocol's four assignors and the broker's two, dynamic and static."""
    kinds = [("classic", name) for name in CLIENT_ASSIGNORS] + [("consumer", name) for name in _SERVER]
    return [Candidate(protocol, name, static) for static in (False, True) for protocol, name in kinds]


def covering(candidate: Candidate, client: Client, longest_ms: int) -> Candidate | None:
    """The candidate with the session timeout that a static member needs to be back in time.

    Args:
        candidate: Static or not; a dynamic one has nothing to wait for.
        client: Today's settings; a longer timeout of theirs stays.
        longest_ms: The longest time between the old consumer's end and the new one's start.

    Returns:
        The candidate; None if no broker allows such a long timeout.

    Examples:
        >>> covering(Candidate("classic", "sticky", static=True), Client.read(None), 50_000).config
        {'session.timeout.ms': 90000}
    """
    if not candidate.static:
        return candidate
    key = _SESSION[candidate.protocol]
    today = int(str(client.config.get(key, _DEFAULT_MS)))
    # The session counts from the last heartbeat, which may be one interval old.
    needed = (longest_ms + client.members.heartbeat_interval_ms) * _MARGIN
    if needed <= today:
        return candidate
    timeout = -int(-needed // _STEP_MS) * _STEP_MS
    if timeout > _LONGEST_MS:
        return None
    return replace(candidate, config={key: timeout})

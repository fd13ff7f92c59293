"""The candidates of a roll, each assignor of either protocol with dynamic and with static members, and their settings.

>>> [(each.protocol, each.assignor) for each in all_candidates() if each.static]
[('classic', 'range'), ('classic', 'roundrobin'), ('classic', 'sticky'), ('classic', 'cooperative-sticky'), ('consumer', 'uniform'), ('consumer', 'range')]
>>> [each.label for each in all_candidates(["kafka-go"])], lacking(["kafkajs"])
(['range, dynamic members', 'roundrobin, dynamic members'], ['KIP-848: kafkajs does not have it', 'static members: kafkajs does not have them'])
>>> lines = client_lines(Candidate("classic", "cooperative-sticky", static=True, config={"session.timeout.ms": 90000}))
>>> lines["librdkafka"][0], lines["librdkafka"][2]
('partition.assignment.strategy=cooperative-sticky', 'session.timeout.ms=90000')
>>> lines["kafkajs"]
'kafkajs does not have cooperative-sticky'
"""  # noqa: E501 - an example is one line

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from partwright._check import shown
from partwright.assignors.mixed.clients import DEFAULT_ASSIGNORS, answering_version, assignors_of
from partwright.errors import PartwrightError
from partwright.group.configs import MemberConfigs, read_configs
from partwright.group.member_client import JAVA, assignors_version, has_static_members, speaks_kip_848

_SERVER = ("uniform", "range")
_BY_RACKS = "rack-affinity"
_MARGIN = 1.5
_STEP_MS = 15_000
# `group.max.session.timeout.ms` of a broker that nobody has configured.
_LONGEST_MS = 1_800_000
_SESSION = {"classic": "session.timeout.ms", "consumer": "group.consumer.session.timeout.ms"}
# `group.consumer.session.timeout.ms` of a broker that nobody has configured.
_BROKERS_MS = 45_000

CLIENTS = tuple(DEFAULT_ASSIGNORS)

# By client, its setting for a classic assignor: by the assignor's wire name, and as the names of classes have it.
_CLASSIC = {
    "java": "partition.assignment.strategy=org.apache.kafka.clients.consumer.{name}Assignor",
    "librdkafka": "partition.assignment.strategy={assignor}",
    "sarama": "config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{{"
    "sarama.NewBalanceStrategy{name}()}}",
    "kafka-go": "GroupBalancers: []kafka.GroupBalancer{{kafka.{name}GroupBalancer{{}}}}",
    "franz-go": "kgo.Balancers(kgo.{name}Balancer())",
    "kafkajs": "partitionAssigners: [PartitionAssigners.roundRobin]",
    "kafka-python": "partition_assignment_strategy=[{name}PartitionAssignor]",
    "aiokafka": "partition_assignment_strategy=[{name}PartitionAssignor]",
}
_COOPERATIVE_OF_PYTHON = "partition_assignment_strategy=[CooperativeStickyAssignor]"
_NAMES = {
    "range": "Range",
    "roundrobin": "RoundRobin",
    "sticky": "Sticky",
    "cooperative-sticky": "CooperativeSticky",
}
_NEXT = 'kgo.WithContext(context.WithValue(ctx, "opt_in_kafka_next_gen_balancer_beta", true))'
_CONSUMER = ("group.protocol=consumer", "group.remote.assignor={assignor}")
# The balancer says which of the broker's assignors is asked for; the protocol is behind a flag that may change.
_FRANZ_GO = {"uniform": "kgo.CooperativeStickyBalancer()", "range": "kgo.RangeBalancer()"}
_POD = "<the pod's name>"
_STATIC: dict[str, str] = {
    "java": f"group.instance.id={_POD}",
    "librdkafka": f"group.instance.id={_POD}",
    "sarama": "config.Consumer.Group.InstanceId = podName",
    "franz-go": "kgo.InstanceID(podName)",
    "kafka-python": "group_instance_id=pod_name",
    "aiokafka": "group_instance_id=pod_name",
}
_SESSION_LINES = {
    "java": "session.timeout.ms={ms}",
    "librdkafka": "session.timeout.ms={ms}",
    "sarama": "config.Consumer.Group.Session.Timeout = {ms} * time.Millisecond",
    "franz-go": "kgo.SessionTimeout({ms} * time.Millisecond)",
    "kafka-python": "session_timeout_ms={ms}",
    "aiokafka": "session_timeout_ms={ms}",
}


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
    """A deployment's consumers as they are set today.

    Attributes:
        protocol: `group.protocol`.
        assignor: The assignor that the group runs.
        static: Whether `group.instance.id` is set.
        config: All other settings, of members and of the broker.
        members: The members' settings with their client's defaults; of several clients, the ones that are soonest
            missed.
    """

    protocol: str
    assignor: str
    static: bool
    config: Mapping[str, object]
    members: MemberConfigs

    @classmethod
    def read(cls, settings: Mapping[str, object] | None, clients: Sequence[str] = (JAVA,)) -> Client:
        """Today's settings, of one object with Kafka's keys.

        Args:
            settings: The object.
            clients: The clients of the members, each once, with `@VERSION` if it is an older one.

        Raises:
            PartwrightError: A key is not one that a play takes, its value is invalid, or a client lacks it.

        Examples:
            >>> today = Client.read({"group.protocol": "consumer", "group.instance.id": "pod-0"})
            >>> today.protocol, today.assignor, today.static
            ('consumer', 'uniform', True)
        """
        config = dict(settings or {})
        protocol = str(config.pop("group.protocol", "classic")).lower()
        if protocol not in _SESSION:
            raise PartwrightError(f"group.protocol is classic or consumer, not {shown(protocol)}")
        static = config.pop("group.instance.id", None) not in (None, "")
        of_clients = [read_configs(config, None, protocol, client)[1] for client in clients]
        members = min(of_clients, key=lambda each: each.session_timeout_ms)
        # The coordinator takes what all members have, and all prefer the first.
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


def all_candidates(clients: Sequence[str] = (JAVA,)) -> list[Candidate]:
    """Every candidate: the assignors of the classic protocol, and the broker's two, with dynamic and static members.

    Args:
        clients: The clients of the members, each once: a candidate is one that all of them can run.

    Raises:
        PartwrightError: The clients have no assignor in common.
    """
    own = [name for name in _assignors(clients[0]) if all(name in _assignors(each) for each in clients)]
    if not own:
        raise PartwrightError(
            f"{' and '.join(clients)} have no assignor in common, so that they cannot share a group: name one client"
        )
    kinds = [("classic", name) for name in own if name != _BY_RACKS]
    if all(map(speaks_kip_848, clients)):
        kinds += [("consumer", name) for name in _SERVER]
    memberships = (False, True) if all(map(has_static_members, clients)) else (False,)
    return [Candidate(protocol, name, static) for static in memberships for protocol, name in kinds]


def lacking(clients: Sequence[str]) -> list[str]:
    """The candidates that there are not, because of the clients: a sentence for each kind."""

    def without(has: Callable[[str], bool]) -> str:
        return " and ".join(each for each in clients if not has(each))

    sentences = []
    if names := without(speaks_kip_848):
        sentences.append(f"KIP-848: {names} {_does(names)} not have it")
    if names := without(has_static_members):
        sentences.append(f"static members: {names} {_does(names)} not have them")
    if any(_BY_RACKS in _assignors(each) for each in clients):
        sentences.append(f"{_BY_RACKS}: it assigns by racks, and a roll knows none")
    return sentences


def _does(names: str) -> str:
    return "do" if " and " in names else "does"


def _assignors(client: str) -> list[str]:
    """The wire names of a client's assignors in its version."""
    name, version = assignors_version(client)
    return [each for each in assignors_of(name) if answering_version(name, each, version) is not None]


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
    today = client.members.session_timeout_ms
    if candidate.protocol == "consumer":
        today = int(str(client.config.get(key, _BROKERS_MS)))
    # The session counts from the last heartbeat, which may be one interval old.
    needed = (longest_ms + client.members.heartbeat_interval_ms) * _MARGIN
    if needed <= today:
        return candidate
    timeout = -int(-needed // _STEP_MS) * _STEP_MS
    if timeout > _LONGEST_MS:
        return None
    return replace(candidate, config={key: timeout})


def client_lines(candidate: Candidate, clients: Sequence[str] = CLIENTS) -> dict[str, list[str] | str]:
    """The lines of each client's configuration, in place of whatever it has of these settings.

    Args:
        candidate: The candidate.
        clients: The clients to give lines for; their `@VERSION` does not change a setting's name.

    Returns:
        By client its lines, or one sentence that says why it cannot run the candidate. The broker's own settings are
        not among them: `broker_lines` has those.
    """
    return {client: _lines(client.partition("@")[0], candidate) for client in clients}


def broker_lines(candidate: Candidate) -> list[str]:
    """The broker's settings.

    Examples:
        >>> broker_lines(Candidate("consumer", "uniform", True, {"group.consumer.session.timeout.ms": 90000}))
        ['group.consumer.session.timeout.ms=90000']
    """
    return [f"{key}={value}" for key, value in candidate.config.items() if key.startswith("group.consumer.")]


def _lines(client: str, candidate: Candidate) -> list[str] | str:
    assignor = candidate.assignor
    if candidate.protocol == "consumer":
        if not speaks_kip_848(client):
            return f"{client} does not have KIP-848"
        lines = [line.format(assignor=assignor) for line in _CONSUMER]
        if client == "franz-go":
            lines = [_NEXT, f"kgo.Balancers({_FRANZ_GO[assignor]})"]
    elif assignor not in assignors_of(client):
        return f"{client} does not have {assignor}"
    elif client == "kafka-python" and assignor == "cooperative-sticky":
        lines = [_COOPERATIVE_OF_PYTHON]
    else:
        lines = [_CLASSIC[client].format(assignor=assignor, name=_NAMES.get(assignor))]
    if candidate.static:
        if client not in _STATIC:
            return f"{client} does not have static members"
        lines.append(_STATIC[client])
    timeout = candidate.config.get("session.timeout.ms")
    if timeout is not None:
        lines.append(_SESSION_LINES[client].format(ms=timeout))
    return lines

"""A candidate as the configuration lines of each client, or why a client has none.

>>> from partwright.group.rollouts.candidates import Candidate
>>> lines = client_lines(Candidate("classic", "cooperative-sticky", static=True, config={"session.timeout.ms": 90000}))
>>> lines["librdkafka"][0], lines["librdkafka"][2]
('partition.assignment.strategy=cooperative-sticky', 'session.timeout.ms=90000')
>>> lines["kafkajs"]
'kafkajs does not have cooperative-sticky'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partwright.group.rollouts.candidates import Candidate

__all__ = ["CLIENTS", "broker_lines", "client_lines"]

CLIENTS = ("java", "librdkafka", "sarama", "kafka-go", "franz-go", "kafkajs", "kafka-python", "aiokafka")

_JAVA = "org.apache.kafka.clients.consumer"
_STRATEGY = "partition.assignment.strategy="
_SARAMA = (
    "config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategy"
)
_PYTHON = "partition_assignment_strategy=["
# By client, the setting for a classic assignor; a client does not have the ones that are missing here.
_CLASSIC: dict[str, dict[str, str]] = {
    "java": {
        "range": f"{_STRATEGY}{_JAVA}.RangeAssignor",
        "roundrobin": f"{_STRATEGY}{_JAVA}.RoundRobinAssignor",
        "sticky": f"{_STRATEGY}{_JAVA}.StickyAssignor",
        "cooperative-sticky": f"{_STRATEGY}{_JAVA}.CooperativeStickyAssignor",
    },
    "librdkafka": {name: f"{_STRATEGY}{name}" for name in ("range", "roundrobin", "cooperative-sticky")},
    "sarama": {
        "range": f"{_SARAMA}Range()}}",
        "roundrobin": f"{_SARAMA}RoundRobin()}}",
        "sticky": f"{_SARAMA}Sticky()}}",
        "cooperative-sticky": f"{_SARAMA}CooperativeSticky()}}",
    },
    "kafka-go": {
        "range": "GroupBalancers: []kafka.GroupBalancer{kafka.RangeGroupBalancer{}}",
        "roundrobin": "GroupBalancers: []kafka.GroupBalancer{kafka.RoundRobinGroupBalancer{}}",
    },
    "franz-go": {
        "range": "kgo.Balancers(kgo.RangeBalancer())",
        "roundrobin": "kgo.Balancers(kgo.RoundRobinBalancer())",
        "sticky": "kgo.Balancers(kgo.StickyBalancer())",
        "cooperative-sticky": "kgo.Balancers(kgo.CooperativeStickyBalancer())",
    },
    "kafkajs": {"RoundRobinAssigner": "partitionAssigners: [PartitionAssigners.roundRobin]"},
    "kafka-python": {
        "range": f"{_PYTHON}RangePartitionAssignor]",
        "roundrobin": f"{_PYTHON}RoundRobinPartitionAssignor]",
        "sticky": f"{_PYTHON}StickyPartitionAssignor]",
        "cooperative-sticky": f"{_PYTHON}CooperativeStickyAssignor]",
    },
    "aiokafka": {
        "range": f"{_PYTHON}RangePartitionAssignor]",
        "roundrobin": f"{_PYTHON}RoundRobinPartitionAssignor]",
        "sticky": f"{_PYTHON}StickyPartitionAssignor]",
    },
}
_NEXT = 'kgo.WithContext(context.WithValue(ctx, "opt_in_kafka_next_gen_balancer_beta", true))'
_CONSUMER: dict[str, list[str]] = {
    "java": ["group.protocol=consumer", "group.remote.assignor={assignor}"],
    "librdkafka": ["group.protocol=consumer", "group.remote.assignor={assignor}"],
}
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
_SESSION: dict[str, str] = {
    "java": "session.timeout.ms={ms}",
    "librdkafka": "session.timeout.ms={ms}",
    "sarama": "config.Consumer.Group.Session.Timeout = {ms} * time.Millisecond",
    "franz-go": "kgo.SessionTimeout({ms} * time.Millisecond)",
    "kafka-python": "session_timeout_ms={ms}",
    "aiokafka": "session_timeout_ms={ms}",
}


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
        >>> from partwright.group.rollouts.candidates import Candidate
        >>> broker_lines(Candidate("consumer", "uniform", True, {"group.consumer.session.timeout.ms": 90000}))
        ['group.consumer.session.timeout.ms=90000']
    """
    return [f"{key}={value}" for key, value in candidate.config.items() if key.startswith("group.consumer.")]


def _lines(client: str, candidate: Candidate) -> list[str] | str:
    if candidate.protocol == "consumer":
        if client == "franz-go":
            lines = [_NEXT, f"kgo.Balancers({_FRANZ_GO[candidate.assignor]})"]
        elif client in _CONSUMER:
            lines = [line.format(assignor=candidate.assignor) for line in _CONSUMER[client]]
        else:
            return f"{client} does not have KIP-848"
    elif candidate.assignor not in _CLASSIC[client]:
        return f"{client} does not have {candidate.assignor}"
    else:
        lines = [_CLASSIC[client][candidate.assignor]]
    if candidate.static:
        if client not in _STATIC:
            return f"{client} does not have static members"
        lines.append(_STATIC[client])
    timeout = candidate.config.get("session.timeout.ms")
    if timeout is not None:
        lines.append(_SESSION[client].format(ms=timeout))
    return lines

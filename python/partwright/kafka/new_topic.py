"""What a topic that is to be made shall be like, apart from its number of partitions, and how Kafka is asked for it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from partwright.cluster.placement.manual import explicit
from partwright.errors import PartwrightError
from partwright.kafka.client import confluent_kafka

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from confluent_kafka.admin import NewTopic as Request

__all__ = ["NewTopic", "requested"]

_MOST_REPLICAS = 2**15 - 1


@dataclass(frozen=True)
class NewTopic:
    """What a topic that is to be made shall be like, apart from its number of partitions.

    Attributes:
        replication_factor: How many replicas each partition has; None takes the cluster's default.
        replica_assignment: The brokers of each partition, its preferred leader first; None leaves them to Kafka.
        configs: The topic's own settings, by Kafka's names.
    """

    replication_factor: int | None = None
    replica_assignment: tuple[tuple[int, ...], ...] | None = None
    configs: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def read(
        cls,
        partitions: int | None,
        replication_factor: int | None,
        replica_assignment: str | None,
        configs: Mapping[str, str],
    ) -> NewTopic:
        """What the options of a command say.

        Args:
            partitions: What `-n` says, which an assignment says too.
            replication_factor: What `--replication-factor` says.
            replica_assignment: What `--replica-assignment` says, `0:1,1:2`.
            configs: The pairs of `--topic-config`.

        Raises:
            PartwrightError: No topic can be like that, or two options say the same thing.

        Examples:
            >>> NewTopic.read(None, None, "0:1,1:2", {}).replica_assignment
            ((0, 1), (1, 2))
        """
        if replication_factor is not None and not 1 <= replication_factor <= _MOST_REPLICAS:
            raise PartwrightError(
                f"--replication-factor takes a whole number from 1 to {_MOST_REPLICAS}, not {replication_factor}"
            )
        if replica_assignment is None:
            return cls(replication_factor, None, configs)
        for option, given in (("-n", partitions), ("--replication-factor", replication_factor)):
            if given is not None:
                raise PartwrightError(
                    f"--replica-assignment {replica_assignment} says how many partitions and replicas there are: "
                    f"leave out {option} {given}"
                )
        return cls(None, explicit(replica_assignment).replicas, configs)

    @property
    def partitions(self) -> int | None:
        """How many partitions the assignment has; None where there is no assignment."""
        return None if self.replica_assignment is None else len(self.replica_assignment)

    @property
    def is_default(self) -> bool:
        """Whether all of it is left to the cluster."""
        return self == NewTopic()

    def for_same_records(self) -> NewTopic:
        """A second topic that takes the same records: what decides how large they may be, and nothing else."""
        return NewTopic(
            configs={name: value for name, value in self.configs.items() if name == "max.message.bytes"}
        )


def requested(
    topic: str,
    partitions: int,
    factor: int | None,
    assignment: Sequence[Sequence[int]] | None,
    configs: Mapping[str, str],
) -> Request:
    """A new topic as confluent-kafka asks for it; see `partwright.kafka.topics.create_topic`.

    Raises:
        PartwrightError: The assignment is not of as many partitions, or a factor is given too.
    """
    replicas: dict[str, object] = {} if factor is None else {"replication_factor": factor}
    if assignment is not None:
        if factor is not None:
            raise PartwrightError(
                f"a replica assignment says how many replicas there are: leave out the replication factor {factor}"
            )
        if len(assignment) != partitions:
            raise PartwrightError(
                f"the replica assignment is of {len(assignment)} partitions, and the topic gets {partitions}: name the "
                "brokers of each"
            )
        replicas["replica_assignment"] = [list(each) for each in assignment]
    made = confluent_kafka().admin.NewTopic(
        topic, num_partitions=partitions, config=dict(configs), **replicas
    )
    return cast("Request", made)

"""The properties of a new topic except its number of partitions, and the request that creates it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from partwright._check import counted
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
    """The properties of a topic that will be created, except its number of partitions.

    Attributes:
        replication_factor: The number of replicas of each partition; None takes the cluster's default.
        replica_assignment: The brokers of each partition, its preferred leader first; None lets Kafka choose.
        configs: The topic's own settings, by Kafka's names.
    """

    replication_factor: int | None = None
    replica_assignment: Sequence[Sequence[int]] | None = None
    configs: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def read(
        cls,
        partitions: int | None,
        replication_factor: int | None,
        replica_assignment: str | None,
        configs: Mapping[str, str],
    ) -> NewTopic:
        """The properties that the options of a command give.

        Args:
            partitions: The value of `-n`; an assignment gives it too.
            replication_factor: The value of `--replication-factor`.
            replica_assignment: The value of `--replica-assignment`, such as `0:1,1:2`.
            configs: The pairs of `--topic-config`.

        Raises:
            PartwrightError: No topic can have these properties, or two options give the same one.

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
        """The number of partitions in the assignment; None without an assignment."""
        return None if self.replica_assignment is None else len(self.replica_assignment)

    @property
    def is_default(self) -> bool:
        """Whether the cluster decides all properties."""
        return self == NewTopic()

    def for_same_records(self) -> NewTopic:
        """A second topic that accepts the same records: it gets only the settings that limit their size."""
        return NewTopic(
            configs={name: value for name, value in self.configs.items() if name == "max.message.bytes"}
        )


def requested(topic: str, partitions: int, properties: NewTopic) -> Request:
    """The new topic in confluent-kafka's form; see `partwright.kafka.topics.create_topic`.

    Raises:
        PartwrightError: The assignment has another number of partitions, or a replication factor is given too.
    """
    factor, assignment = properties.replication_factor, properties.replica_assignment
    replicas: dict[str, object] = {} if factor is None else {"replication_factor": factor}
    if assignment is not None:
        if factor is not None:
            raise PartwrightError(
                f"a replica assignment says how many replicas there are: leave out the replication factor {factor}"
            )
        if len(assignment) != partitions:
            raise PartwrightError(
                f"the replica assignment has {counted(len(assignment), 'partition')}, and the topic gets {partitions}: "
                "name the brokers of each"
            )
        replicas["replica_assignment"] = [list(each) for each in assignment]
    made = confluent_kafka().admin.NewTopic(
        topic, num_partitions=partitions, config=dict(properties.configs), **replicas
    )
    return cast("Request", made)

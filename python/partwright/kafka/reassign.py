"""Reassign a live Kafka: read the cluster and its sizes, and give Kafka's own tool one batch after the other.

No Python client can send the request that reassigns partitions, so `ReassignPartitionsCommand` of Kafka's tools does.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partwright._check import counted
from partwright.cluster.reassignment import Batch
from partwright.cluster.reassignment.saved import off_plan, refuse_changed
from partwright.errors import BrokerError, PartwrightError
from partwright.kafka.client import TIMEOUT_S, admin_client, confluent_kafka
from partwright.kafka.connection.properties import properties_text
from partwright.kafka.errors import Meaning, meaning
from partwright.kafka.jars import jar_files
from partwright.kafka.java import java_command
from partwright.kafka.metadata import existing_partitions, live_cluster
from partwright.kafka.throttles import find_throttles, remove_throttles
from partwright.signals import Ended

if TYPE_CHECKING:
    from partwright.cluster import Cluster, Partition
    from partwright.cluster.reassignment import Move
    from partwright.kafka.connection import KafkaConfig
    from partwright.kafka.throttles import Throttles

_REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
_LOG_DIRS = "org.apache.kafka.tools.LogDirsCommand"
# The log of KRaft's controllers is not a topic that can move.
_NEVER = {"__cluster_metadata"}
_LOOK_S = 0.5
_TOOL_S = 300


def live(config: KafkaConfig) -> Cluster:
    """A live cluster with all its topics, including Kafka's internal ones.

    Raises:
        BrokerError: No Kafka answers, it refuses, or has no topic.
        MissingExtraError: confluent-kafka is missing.
    """
    with admin_client(config, TIMEOUT_S) as admin:
        names = sorted(set(admin.metadata().topics) - _NEVER)
        if not names:
            raise BrokerError(f"Kafka {admin.where} shows this user no topic: there is nothing to reassign")
    return live_cluster(None, names, timeout=TIMEOUT_S, kafka_config=config)


def live_sizes(config: KafkaConfig) -> dict[str, Any]:
    """The bytes of all replicas, as Kafka's own `LogDirsCommand` prints them, in the form of `Capacity.sizes`.

    Raises:
        BrokerError: It fails.
        MissingExtraError: There is no Java.
    """
    output = _tool(config, _LOG_DIRS, ["--describe"])
    printed = next((line for line in output.splitlines() if line.startswith("{")), None)
    if printed is None:
        raise BrokerError(f"Kafka's tool reports no sizes: {_last(output)}")
    sizes: dict[str, Any] = json.loads(printed)
    return sizes


def execute(
    config: KafkaConfig,
    before: Cluster,
    batches: Sequence[Batch],
    *,
    elect: Iterable[tuple[str, int]] = (),
    throttle: int | None,
    timeout: float,
    progress: Callable[[int, int], None],
    note: Callable[[str], None],
) -> int:
    """Gives Kafka the batches of a plan one after the other, and then elects the preferred leaders.

    When it ends, in whatever way, no throttle of its own is left, unless Kafka still moves partitions: then the error
    says so, and how to remove it.

    Args:
        config: The client's configuration.
        before: The cluster for which the plan was made.
        batches: The plan.
        elect: Topic and number of partitions that do not move, and get their preferred leader as well.
        throttle: The most bytes a second that each broker copies; None for no limit. It also holds for what an
            interrupted execution has left Kafka to do.
        timeout: Seconds for each batch.
        progress: Called with the number of partitions that are done and the number in all.
        note: Called with a sentence about a throttle that an earlier execution left.

    Returns:
        The number of partitions that the election gave their preferred leader.

    Raises:
        PartwrightError: The cluster has changed since the plan was made.
        BrokerError: Kafka refuses, or a batch takes longer than the timeout; in this case Kafka continues with it.
        MissingExtraError: There is no Java, or confluent-kafka is missing.
        Ended: A signal came; its text says what is left.
    """
    moves = [each for batch in batches for each in batch.moves]
    to_elect = sorted({*elect, *((each.topic, each.partition) for each in moves)})
    if not moves:
        return _elect(config, to_elect)
    run = _Execution(config, moves, throttle)
    try:
        run.give_all(before, batches, timeout, progress, note)
        if run.owns_throttle and (throttles := run.find_throttles()):
            remove_throttles(config, throttles)
        return _elect(config, to_elect)
    except PartwrightError as error:
        raise error.followed_by(run.clean_up()) from None
    except KeyboardInterrupt as error:
        number = error.number if isinstance(error, Ended) else signal.SIGINT
        raise Ended(number, f"{Ended(number)}; {run.clean_up()}") from None


@dataclass
class _Execution:
    """What an execution does to Kafka.

    Attributes:
        config: How the Kafka is reached.
        moves: All moves of the plan.
        throttle: The most bytes a second that it sets; None if it sets no limit.
        awaited: The moves that it has given to Kafka, or found there.
        takes_over: Whether it has said that it changes the throttle of an earlier execution.
        gone: The topics that a broker has listed no more. Another broker learns that later, and lists them still.
    """

    config: KafkaConfig
    moves: Sequence[Move]
    throttle: int | None
    awaited: list[Move] = field(default_factory=list)
    takes_over: bool = False
    gone: set[str] = field(default_factory=set)

    @property
    def owns_throttle(self) -> bool:
        """Whether a throttle on the plan's topics is its own to remove."""
        return self.takes_over or (self.throttle is not None and bool(self.awaited))

    def find_throttles(self) -> Throttles | None:
        """The throttles on the plan's topics and on the brokers."""
        return find_throttles(self.config, {each.topic for each in self.moves} - self.gone)

    def give_all(
        self,
        before: Cluster,
        batches: Sequence[Batch],
        timeout: float,
        progress: Callable[[int, int], None],
        note: Callable[[str], None],
    ) -> None:
        """Give Kafka each batch, and wait until it is done; see `execute`."""
        refuse_changed(before, self.moves, live(self.config))
        earlier = self.find_throttles()
        if earlier is not None and earlier.topics:
            rate = self.throttle
            change = "removes it" if rate is None else f"sets {counted(rate, 'byte')} a second"
            self.takes_over = True
            note(f"an earlier execution left a throttle ({earlier}): this one {change}")
            if rate is None:
                remove_throttles(self.config, earlier)
        done = 0
        for batch in batches:
            self._give_rest(before, batch)
            done += len(batch.moves)
            for left in self._until_done(batch, timeout):
                progress(done - left, len(self.moves))
            progress(done, len(self.moves))

    def _give_rest(self, before: Cluster, batch: Batch) -> None:
        """Give Kafka what is not done of a batch; an interrupted execution may have given it some."""
        cluster = live(self.config)
        self.gone |= {each.topic for each in batch.moves} - cluster.topics.keys()
        refuse_changed(before, batch.moves, cluster)
        now = _partitions(cluster.topics)
        waiting = _waiting(batch.moves, now)
        begun = [each for each in waiting if now[each.topic, each.partition].replicas != each.before]
        self.awaited += waiting
        # What was given before is given again with a throttle, because that changes its throttle.
        if len(begun) < len(waiting) or (waiting and self.throttle is not None):
            rate = [] if self.throttle is None else ["--throttle", str(self.throttle)]
            _give(self.config, Batch(tuple(waiting)), [*rate, *["--additional"] * bool(begun)])

    def _until_done(self, batch: Batch, timeout: float) -> Iterator[int]:
        """Waits until a batch is done, and yields how many partitions are left.

        Raises:
            BrokerError: It is not done in time, or somebody moves a partition to another place.
        """
        until = time.monotonic() + timeout
        while left := len(_waiting(batch.moves, now := self._read_partitions(batch.moves))):
            if others := off_plan(batch.moves, now):
                raise BrokerError(f"{others[0]}, and the plan moves it: make a new plan")
            yield left
            if time.monotonic() > until:
                raise BrokerError(
                    f"{counted(left, 'partition of the batch is', 'partitions of the batch are')} not yet where the "
                    f"plan has them after {timeout:g} s: give a longer --timeout"
                )
            time.sleep(_LOOK_S)

    def _read_partitions(self, moves: Sequence[Move]) -> dict[tuple[str, int], Partition]:
        """The partitions of a plan's topics, as far as they exist."""
        names = {each.topic for each in moves}
        topics = _existing(self.config, names - self.gone)
        self.gone |= names - topics.keys()
        return _partitions(topics)

    def clean_up(self) -> str:
        """Removes its own throttle, unless Kafka still moves partitions, and says what it leaves behind."""
        command = f"`partwright reassign kafka://{self.config.required_servers()} --unthrottle`"
        try:
            moving = self._moving()
            if not moving:
                # A broker learns from the controller a little later what Kafka was given last.
                time.sleep(_LOOK_S)
                moving = self._moving()
            throttles = self.find_throttles()
            if not moving and throttles is not None and self.owns_throttle:
                remove_throttles(self.config, throttles)
        except PartwrightError as error:
            return f"whether a throttle is left is unknown ({error}): {command} removes it"
        if not moving:
            state = "no throttle is left"
            if throttles is not None:
                state = (
                    f"a throttle that this execution has not set stays ({throttles}): {command} removes it"
                )
            if throttles is not None and self.owns_throttle:
                state = f"its throttle ({throttles}) is removed"
            return f"Kafka moves nothing of the plan now, and {state}"
        goes_on = f"Kafka goes on with {counted(moving, 'partition')}"
        if throttles is None:
            return f"{goes_on}, without a throttle: run the plan again to finish it (--plan)"
        return (
            f"{goes_on} at its throttle ({throttles}), which stays: run the plan again to finish it and to remove the "
            f"throttle (--plan), or {command} to remove the throttle alone"
        )

    def _moving(self) -> int:
        """How many partitions of the plan Kafka moves."""
        now = self._read_partitions(self.moves)
        # While replicas are only added, Kafka lists what it lists afterwards.
        adding = {each for each in self.awaited if each.added and not each.removed}
        return sum(
            each.is_moving(own.replicas)
            or (each in adding and own.replicas == each.after and not _is_done(each, own))
            for each in self.moves
            if (own := now.get((each.topic, each.partition))) is not None
        )


def _existing(config: KafkaConfig, names: Iterable[str]) -> dict[str, tuple[Partition, ...]]:
    """The partitions of those of some topics that exist."""
    with admin_client(config, TIMEOUT_S) as admin:
        return existing_partitions(admin, sorted(names))


def _partitions(topics: Mapping[str, Sequence[Partition]]) -> dict[tuple[str, int], Partition]:
    return {(name, each.id): each for name, those in topics.items() for each in those}


def _give(config: KafkaConfig, batch: Batch, words: Sequence[str]) -> None:
    """Gives Kafka a batch with its own tool."""
    with tempfile.TemporaryDirectory(prefix="partwright-reassign-") as folder:
        file = Path(folder, "batch.json")
        file.write_text(batch.json(), encoding="utf-8")
        _tool(config, _REASSIGN, ["--reassignment-json-file", str(file), "--execute", *words])


def _waiting(moves: Iterable[Move], now: Mapping[tuple[str, int], Partition]) -> list[Move]:
    """The partitions that are not yet in their new place with all replicas in sync."""
    return [
        each
        for each in moves
        if (own := now.get((each.topic, each.partition))) is None or not _is_done(each, own)
    ]


def _is_done(move: Move, now: Partition) -> bool:
    return now.replicas == move.after and {*move.after} <= {*now.in_sync_replicas}


def _elect(config: KafkaConfig, partitions: Sequence[tuple[str, int]]) -> int:
    """Makes the preferred leaders of some partitions lead, and returns how many did not lead before."""
    if not partitions:
        return 0
    kafka = confluent_kafka()
    places = [kafka.TopicPartition(*each) for each in partitions]
    with admin_client(config, TIMEOUT_S) as admin:
        # confluent-kafka 2.15 takes no request_timeout here, though it documents one: it raises SystemError.
        question = admin.client.elect_leaders(kafka.ElectionType.PREFERRED, places)
        answers = admin.answer(question, "ALTER")
    errors = [error for error in answers.values() if error is not None]
    bad = [error for error in errors if meaning(error) is not Meaning.NOTHING_TO_DO]
    if bad:
        raise BrokerError(
            f"Kafka did not elect the preferred leaders of {counted(len(bad), 'partition')}: {bad[0].str()}"
        )
    return len(places) - len(errors)


def _tool(config: KafkaConfig, name: str, words: Sequence[str]) -> str:
    """The output of one of Kafka's tools.

    Raises:
        BrokerError: It fails; the message is its last line.
    """
    path = os.pathsep.join(str(each) for each in [*jar_files("tools"), *jar_files("broker")])
    with tempfile.TemporaryDirectory(prefix="partwright-tool-") as folder:
        settings = Path(folder, "client.properties")
        # The file may contain secrets; only its owner can read the folder.
        settings.write_text(properties_text(config.java()), encoding="ascii")
        reached = ["--bootstrap-server", config.required_servers(), "--command-config", str(settings)]
        command = [str(java_command()), "-cp", path, name, *reached, *words]
        # In a session of its own, Ctrl-C does not reach it: what it has begun it ends.
        with subprocess.Popen(  # noqa: S603 - a list, no shell: the Java that was found
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as tool:
            try:
                output, _ = tool.communicate(timeout=_TOOL_S)
            except KeyboardInterrupt:
                # Only then is it known what Kafka was given.
                tool.communicate(timeout=_TOOL_S)
                raise
            except subprocess.TimeoutExpired:
                tool.kill()
                raise BrokerError(
                    f"Kafka's tool {name} does not end within {_TOOL_S} s: is the Kafka at {config.servers} well?"
                ) from None
    shown = config.redacted(output)
    if tool.returncode:
        raise BrokerError(f"Kafka's tool {name.rpartition('.')[2]} refuses: {_last(shown)}")
    return shown


def _last(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip() and not line.startswith("\tat ")]
    return lines[0] if lines else "it says nothing"

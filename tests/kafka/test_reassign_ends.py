"""What an execution that ends early says is left in Kafka, and which throttle it removes, with made-up answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

import partwright as pw
from partwright.cluster import Broker, Cluster, Partition
from partwright.cluster.reassignment import Batch
from partwright.cluster.reassignment.moves import Move
from partwright.kafka import reassign as live_reassign
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.throttles import Throttles

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BROKERS = tuple(Broker(each) for each in (1, 2, 3, 4))
THEIRS = Throttles({1: 1000, 2: 1000}, ("t",))
SAID = "1,000 bytes a second on brokers 1 and 2, for topic t"
NOTHING = "Kafka moves nothing of the plan now, and"


def partition(id_: int, *replicas: int, in_sync: tuple[int, ...] | None = None) -> Partition:
    return Partition(id_, replicas[0], replicas, replicas if in_sync is None else in_sync)


@dataclass
class Stub:
    """A Kafka that answers with these partitions of one topic, and takes the place of the live one."""

    partitions: dict[int, Partition]
    throttles: Throttles | None = None
    on_give: dict[int, Partition] = field(default_factory=dict)
    removed: list[Throttles] = field(default_factory=list)
    elected: list[tuple[str, int]] = field(default_factory=list)
    deleted_at: int | None = None

    def cluster(self) -> Cluster:
        return Cluster(BROKERS, {"t": tuple(self.partitions.values())})

    def existing(self, names: Iterable[str]) -> dict[str, tuple[Partition, ...]]:
        """One broker knows that the topic is deleted, and those that answer later still list it."""
        if self.deleted_at is not None:
            self.deleted_at -= 1
        listed = {} if self.deleted_at == 0 else self.cluster().topics
        return {name: own for name, own in listed.items() if name in names}

    def give(self, _: object, batch: Batch, words: Sequence[str]) -> None:
        del batch
        self.partitions |= self.on_give
        if "--throttle" in words:
            self.throttles = THEIRS

    def remove(self, _: object, throttles: Throttles) -> None:
        self.removed.append(throttles)
        self.throttles = None

    def elect(self, _: object, partitions: Sequence[tuple[str, int]]) -> int:
        self.elected += partitions
        return len(partitions)

    def execute(
        self, before: Sequence[Partition], *after: tuple[int, ...], throttle: int | None = None, **more: float
    ) -> list[str]:
        moves = tuple(
            Move("t", old.id, old.replicas, new, old.leader)
            for old, new in zip(before, after, strict=True)
            if old.replicas != new
        )
        notes: list[str] = []
        live_reassign.execute(
            KafkaConfig.read(servers="127.0.0.1:1"),
            Cluster(BROKERS, {"t": tuple(before)}),
            [Batch(moves)],
            elect=[("t", 0)],
            throttle=throttle,
            timeout=more.get("timeout", 60),
            progress=lambda *_: None,
            note=notes.append,
        )
        return notes


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Stub:
    kafka = Stub({0: partition(0, 1), 1: partition(1, 1)})
    monkeypatch.setattr(live_reassign, "live", lambda _: kafka.cluster())
    monkeypatch.setattr(live_reassign, "_existing", lambda _, names: kafka.existing(names))
    monkeypatch.setattr(live_reassign, "find_throttles", lambda *_: kafka.throttles)
    for name, does in (
        ("remove_throttles", kafka.remove),
        ("_give", kafka.give),
        ("_elect", kafka.elect),
        ("_LOOK_S", 0),
    ):
        monkeypatch.setattr(live_reassign, name, does)
    return kafka


TODAY = [partition(0, 1), partition(1, 1)]


def test_moved_partitions_and_those_of_the_plan_are_elected(stub: Stub) -> None:
    stub.on_give = {1: partition(1, 2)}
    assert stub.execute(TODAY, (1,), (2,)) == []
    assert stub.elected == [("t", 0), ("t", 1)]


def test_a_partition_that_somebody_moved_elsewhere_does_not_go_on(stub: Stub) -> None:
    stub.partitions[1] = partition(1, 4)
    with pytest.raises(pw.PartwrightError) as error:
        stub.execute(TODAY, (1,), (2,))
    assert "partition t-1 is on the brokers 4, and was on 1" in str(error.value)
    assert str(error.value).endswith(f"; {NOTHING} no throttle is left")


def test_a_partition_that_is_copied_goes_on(stub: Stub) -> None:
    stub.on_give = {1: partition(1, 2, 1, in_sync=(1,))}
    with pytest.raises(pw.BrokerError) as error:
        stub.execute(TODAY, (1,), (2,), throttle=1000, timeout=0)
    assert f"Kafka goes on with 1 partition at its throttle ({SAID}), which stays" in str(error.value)
    assert stub.removed == []


def test_a_replica_that_is_only_added_goes_on_if_this_execution_waits_for_it(stub: Stub) -> None:
    """Kafka lists such a partition's new replicas at once, so that its list does not tell."""
    stub.on_give = {1: partition(1, 1, 2, in_sync=(1,))}
    with pytest.raises(pw.BrokerError, match="; Kafka goes on with 1 partition, without a throttle"):
        stub.execute(TODAY, (1,), (1, 2), timeout=0)


def test_a_replica_that_fell_out_of_sync_does_not_go_on_after_a_refusal(stub: Stub) -> None:
    stub.partitions = {0: partition(0, 4), 1: partition(1, 1, 2, in_sync=(1,))}
    with pytest.raises(pw.PartwrightError, match=f"; {NOTHING} no throttle is left"):
        stub.execute(TODAY, (2,), (1, 2))


def test_a_refused_plan_leaves_the_throttle_of_another_execution(stub: Stub) -> None:
    stub.throttles = THEIRS
    stub.partitions[1] = partition(1, 4)
    with pytest.raises(pw.PartwrightError) as error:
        stub.execute(TODAY, (1,), (2,), throttle=5000)
    said = f"{NOTHING} a throttle that this execution has not set stays ({SAID}): `partwright reassign "
    assert said in str(error.value)
    assert str(error.value).endswith("--unthrottle` removes it")
    assert stub.removed == []


def test_its_own_throttle_is_removed_and_named(stub: Stub) -> None:
    stub.on_give = {1: partition(1, 4)}
    with pytest.raises(pw.PartwrightError) as error:
        stub.execute(TODAY, (1,), (2,), throttle=1000)
    assert str(error.value).endswith(f"; {NOTHING} its throttle ({SAID}) is removed")
    assert stub.removed == [THEIRS]


def test_a_deleted_topic_does_not_go_on_where_a_broker_still_lists_it(stub: Stub) -> None:
    stub.on_give = {1: partition(1, 2, 1, in_sync=(1,))}
    stub.deleted_at = 2
    with pytest.raises(pw.BrokerError) as error:
        stub.execute(TODAY, (1,), (2,), throttle=1000)
    assert str(error.value).startswith("topic t is gone, and the plan moves it: make a new plan")
    assert str(error.value).endswith(f"; {NOTHING} its throttle ({SAID}) is removed")


def test_a_throttle_that_it_announced_is_removed(stub: Stub) -> None:
    stub.throttles = THEIRS
    stub.partitions[1] = partition(1, 2)
    notes = stub.execute(TODAY, (1,), (2,), throttle=5000)
    assert notes == [f"an earlier execution left a throttle ({SAID}): this one sets 5,000 bytes a second"]
    assert stub.removed == [THEIRS]


@pytest.mark.parametrize(
    ("throttles", "said"),
    [
        (Throttles({1: 5, 2: 5}, ()), "5 bytes a second on brokers 1 and 2"),
        (Throttles({3: 1}, ("orders", "users")), "1 byte a second on broker 3, for topics orders and users"),
        (Throttles({}, ("orders",)), "limits on the replicas of topic orders, without a rate"),
    ],
)
def test_throttles_agree_in_number(throttles: Throttles, said: str) -> None:
    assert str(throttles) == said

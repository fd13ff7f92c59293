"""A reassignment is the best of all plans: compared with every plan of small clusters, and with bounds on others."""

from __future__ import annotations

import json
import pickle
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reassigned import best_leaders, best_replicas, outside, random_wanted, unlike

import partwright as pw
from partwright.cluster import Broker, Capacity, Cluster, Partition, reassign
from partwright.cluster.placement import explicit, striped
from partwright.cluster.reassignment.leaders import lead, leader_boxes
from partwright.cluster.reassignment.problem import fewest_moves
from partwright.cluster.reassignment.replicas import spread

if TYPE_CHECKING:
    from partwright.cluster import Reassignment

CASES = 300


def of_striped(topics: int, brokers: int, racks: int = 0, partitions: int = 10, replicas: int = 3) -> Cluster:
    """Topics as Kafka's controller places them, each with its own draws."""
    nodes = [Broker(id_, rack=f"r{id_ % racks}" if racks else None) for id_ in range(brokers)]
    found = {
        f"t{number:04}": striped(nodes, partitions, replicas, seed=unlike(number)).to_cluster("t").topics["t"]
        for number in range(topics)
    }
    return Cluster(tuple(nodes), found)


def test_no_plan_of_a_small_cluster_is_more_even_or_moves_less(seed: int) -> None:
    """Tries every possible plan; the counted bound is never above the best one."""
    draw = random.Random(seed)
    reached = 0
    for case in range(CASES):
        wanted = random_wanted(draw)
        found, (least, most) = spread(wanted), wanted.boxes()
        best = best_replicas(wanted)
        assert (outside(found.loads(), least, most), found.moved()) == best, (seed, case)
        if best[0] == 0:
            bound = fewest_moves(wanted, least, most)
            assert bound <= best[1], (seed, case)
            reached += bound == best[1]
    assert reached > CASES / 2, seed


def test_no_choice_of_leaders_is_more_even_or_changes_fewer(seed: int) -> None:
    draw = random.Random(seed)
    for case in range(CASES):
        wanted = random_wanted(draw)
        replicas = spread(wanted).sets
        boxes = leader_boxes(wanted, replicas)
        leaders = lead(wanted, replicas)
        loads = [base + leaders.count(at) for at, base in enumerate(wanted.base_leaders)]
        new = sum(own != today for own, today in zip(leaders, wanted.leaders, strict=True))
        assert all(leader in own for leader, own in zip(leaders, replicas, strict=True))
        assert (outside(loads, *boxes), new) == best_leaders(wanted, replicas, boxes), (seed, case)


def kept(plan: Reassignment, factor: int | None = None) -> None:
    """Properties of every plan: each partition has its replicas, in allowed places, and nothing else has changed."""
    staying = {broker.id for broker in plan.after.brokers}
    moved = {(move.topic, move.partition): move for move in plan.moves}
    for topic, partitions in plan.after.topics.items():
        for each, old in zip(partitions, plan.before.topics[topic], strict=True):
            assert len(set(each.replicas)) == len(each.replicas) == (factor or len(old.replicas))
            assert staying.issuperset(each.replicas)
            move = moved.get((topic, each.id))
            assert (old.replicas, each.replicas) == (
                (move.before, move.after) if move else (each.replicas, old.replicas)
            )
    assert sum(each.replicas for each in plan.brokers) == sum(
        len(each.replicas) for those in plan.after.topics.values() for each in those
    )


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 4),
    st.integers(2, 9),
    st.integers(0, 4),
    st.integers(0, 3),
    st.integers(1, 4),
    st.integers(0, 10**6),
)
def test_brokers_come_and_go(
    topics: int, brokers: int, racks: int, coming: int, factor: int, seed: int
) -> None:
    draw = random.Random(seed)
    cluster = of_striped(topics, brokers, racks, draw.randint(1, 12), min(3, brokers))
    leaving = draw.sample(range(brokers), draw.randint(0, brokers - 1))
    new = [Broker(brokers + at, rack=f"r{at % racks}" if racks else None) for at in range(coming)]
    left = brokers + coming - len(leaving)
    factor = min(factor, left)
    plan = reassign(cluster, add=new, remove=leaving, replication_factor=factor)
    kept(plan, factor)
    assert plan.thin == 0
    assert plan.replicas_moved == plan.bounds.fewest >= plan.bounds.replicas
    loads = [each.replicas for each in plan.brokers if each.stays]
    leaders = [each.leaders for each in plan.brokers if each.stays]
    if not racks:
        assert max(loads) - min(loads) <= 1
    if not racks or factor == left:
        assert max(leaders) - min(leaders) <= 1
    # Once it is done, there is nothing left to do.
    again = reassign(plan.after)
    assert again.moves == ()


@pytest.mark.parametrize("racks", [0, 3, 10])
@pytest.mark.parametrize(("today", "after"), [(90, 100), (100, 90), (100, 100)])
def test_a_large_cluster_moves_no_more_than_the_bound(racks: int, today: int, after: int) -> None:
    """200 topics of 10 partitions with 3 replicas each."""
    cluster = of_striped(200, today, racks)
    new = [Broker(at, rack=f"r{at % racks}" if racks else None) for at in range(today, after)]
    plan = reassign(cluster, add=new, remove=range(after, today))
    kept(plan)
    assert plan.replicas_moved == plan.bounds.replicas == plan.bounds.fewest
    even = plan.even()
    assert even["leaders"]["after"]["most"] - even["leaders"]["after"]["least"] <= 1
    if racks != 3:
        assert even["replicas"]["after"]["most"] - even["replicas"]["after"]["least"] <= 1
    assert plan.thin == 0


@pytest.mark.parametrize("shape", ["even", "heavy"])
def test_bytes_are_within_what_was_asked_for(shape: str) -> None:
    draw = random.Random(7)
    cluster = of_striped(300, 27, 3)
    size = {
        name: draw.uniform(1, 100) if shape == "even" else draw.paretovariate(1.2) for name in cluster.topics
    }
    sizes = {
        name: [int(1e6 * size[name] * draw.uniform(0.8, 1.2)) for _ in those]
        for name, those in cluster.topics.items()
    }
    plan = reassign(
        cluster, add=[Broker(27 + at, rack=f"r{at}") for at in range(3)], capacity=Capacity(sizes=sizes)
    )
    kept(plan)
    for each in plan.brokers:
        assert each.bytes is not None
        assert abs(each.bytes / plan.byte_shares[each.broker] - 1) <= 0.1
    assert plan.bytes_moved is not None
    assert plan.bounds.bytes is not None
    assert plan.bytes_moved == sum(each.bytes_in or 0 for each in plan.brokers) >= plan.bounds.bytes
    loads = {each.replicas for each in plan.brokers}
    assert max(loads) - min(loads) <= 1


def test_unequal_brokers_get_unequal_shares() -> None:
    cluster = of_striped(20, 4)
    plan = reassign(cluster, add=[4], capacity=Capacity(power={0: 1, 1: 1, 2: 1, 3: 1, 4: 2}))
    assert [each.replicas for each in plan.brokers] == [100, 100, 100, 100, 200]
    assert [each.leaders for each in plan.brokers][4] in {66, 67}
    sizes = {name: [10] * 10 for name in cluster.topics}
    plan = reassign(cluster, capacity=Capacity(sizes=sizes, disks={0: 3000, 1: 3000, 2: 3000, 3: 1000}))
    assert [each.bytes for each in plan.brokers] == [1800, 1800, 1800, 600]


def test_the_forms_that_kafka_takes() -> None:
    plan = reassign(explicit("0:1,1:0,0:1,1:0").to_cluster("t"), add=[2])
    told = json.loads(plan.json())
    assert told["version"] == 1
    for each, move in zip(told["partitions"], plan.moves, strict=True):
        assert (each["topic"], each["partition"], each["replicas"]) == (
            "t",
            move.partition,
            list(move.after),
        )
        assert each["log_dirs"] == ["any"] * len(move.after)
    back = json.loads(plan.rollback())
    assert [each["replicas"] for each in back["partitions"]] == [list(move.before) for move in plan.moves]
    assert pickle.loads(pickle.dumps(plan)) == plan  # noqa: S301 - our own plan
    assert plan.to_arrow().num_rows == len(plan.moves)
    json.dumps(plan.to_dict())
    assert repr(plan).startswith("<Reassignment: ")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"remove": [0, 1]}, "topic 't' needs 2 brokers for as many replicas, and 1 broker is left"),
    ({"replication_factor": 4}, "topic 't' needs 4 brokers for as many replicas, and 3 brokers are left"),
    ({"replication_factor": 0}, "the replication factor of topic 't' is a whole number, 1 to 32767, not 0"),
    ({"replication_factor": {"u": 1}}, "there is no topic 'u' in what is planned"),
    ({"add": [3]}, "broker 3 has no rack and others have one: give it its rack"),
    ({"remove": [9]}, "remove: there is no broker 9: there are the brokers 0, 1 and 2"),
    ({"remove": [0, 1, 2]}, "no broker is left"),
    ({"add": [Broker(3, rack="a")], "remove": [3]}, "remove: there is no broker 3"),
    ({"add": [0], "remove": [0]}, "broker 0 is to be added and removed: name it once"),
    ({"brokers": [0, 1], "add": [2]}, "brokers names all that are to have replicas"),
    ({"brokers": []}, "no broker is left"),
    ({"brokers": [0, 0]}, "brokers has 0 twice: each id once"),
    ({"add": 3}, "add: a list is needed, not 3"),
    ({"topics": ["x"]}, "there is no topic 'x' in the cluster"),
    ({"topics": []}, "topics is empty"),
    ({"sizes": {}}, "sizes lacks topic 't'"),
    ({"sizes": {"t": [1, 2]}}, "sizes lacks partition 2 of topic 't'"),
    ({"sizes": {"t": [1, 2, -3]}}, "the size of t-2 is a whole number from 0 to"),
    ({"sizes": {"t": 5}}, "sizes of topic 't' are a list by partition"),
    (
        {"sizes": {"version": 1, "brokers": [{"logDirs": [{"partitions": [{"partition": "t"}]}]}]}},
        "sizes: 't'",
    ),
    ({"disks": {0: 1, 1: 1}}, "disks lacks broker 2"),
    ({"power": {0: 1, 1: 1, 2: 0}}, "power of broker 2 is a whole number from 1"),
    ({"power": {7: 1}}, "power: there is no broker 7"),
    ({"disks": {0: 1, 1: 1, 2: 1}, "sizes": {"t": [5, 5, 5]}}, "broker 0 would hold 10 bytes"),
    ({"bytes_within": 2}, "bytes_within is a part of a share, 0 to 1, not 2"),
    ({"rack_aware": 1}, "rack_aware is true or false, not 1"),
]


@pytest.mark.parametrize(("asked", "said"), REFUSED, ids=[said[:40] for _, said in REFUSED])
def test_what_is_refused(asked: dict[str, Any], said: str) -> None:
    brokers = [Broker(id_, rack="abc"[id_]) for id_ in range(3)]
    cluster = explicit("0:1,1:2,2:0", brokers).to_cluster("t")
    capacity = Capacity(**{name: asked[name] for name in asked if name in Capacity.__slots__})
    others = {name: value for name, value in asked.items() if name not in Capacity.__slots__}
    with pytest.raises(pw.PartwrightError) as error:
        reassign(cluster, **others, capacity=capacity)
    assert said in str(error.value)


def test_a_cluster_that_cannot_be_planned() -> None:
    with pytest.raises(pw.PartwrightError, match="nothing is known of the replicas of partition 0"):
        reassign(Cluster.of({"t": 3}))
    with pytest.raises(pw.PartwrightError, match="a cluster is needed"):
        reassign("t")  # type: ignore[arg-type]
    down = Cluster([Broker(0)], {"t": [Partition(0, leader=0, replicas=(0, 1))]})
    with pytest.raises(
        pw.PartwrightError, match="broker 1 has replicas and is not in the cluster's metadata"
    ):
        reassign(down)
    assert reassign(down, remove=[1], replication_factor=1).after.topics["t"][0].replicas == (0,)
    twice = Cluster([Broker(0)], {"t": [Partition(0, leader=0, replicas=(0, 0))]})
    with pytest.raises(pw.PartwrightError, match="partition 0 has a broker more than once"):
        reassign(twice)
    some = explicit("0,1").to_cluster("t").with_topic("u", [Partition(0, leader=1, replicas=(1,))])
    with pytest.raises(pw.PartwrightError, match="broker 1 leaves, and has a replica of topic 'u'"):
        reassign(some, ["t"], remove=[1])


def test_todays_leaders_are_the_clusters_and_preferred_ones_are_named_so() -> None:
    """Broker 1 is preferred twice, but each broker leads one partition."""
    partitions = [Partition(0, leader=0, replicas=(1, 0)), Partition(1, leader=1, replicas=(1, 0))]
    plan = reassign(Cluster([Broker(0), Broker(1)], {"t": partitions}))
    assert [each.leaders_before for each in plan.brokers] == [1, 1]
    assert [each.preferred_before for each in plan.brokers] == [0, 2]
    assert [each.leaders for each in plan.brokers] == [1, 1]
    one_each = {"least": 1, "most": 1}
    assert plan.even()["leaders"] == {"before": one_each, "after": one_each}
    assert plan.even()["preferred_leaders"] == {"before": {"least": 0, "most": 2}, "after": one_each}
    before, after = plan.losses()
    assert [(each.name, each.leaders, each.most_taken_over) for each in before] == [("0", 1, 1), ("1", 1, 1)]
    assert [each.leaders for each in after] == [1, 1]
    # One list is reordered, and its leader is already the one that it prefers then.
    assert (plan.leaders_moved, plan.leaders_elected) == (1, 0)
    assert json.loads(plan.elections()) == {"partitions": []}


def test_a_partition_without_a_leader_counts_for_no_broker() -> None:
    partitions = [Partition(0, leader=None, replicas=(0, 1)), Partition(1, leader=1, replicas=(1, 0))]
    plan = reassign(Cluster([Broker(0), Broker(1)], {"t": partitions}))
    assert [(each.leaders_before, each.preferred_before) for each in plan.brokers] == [(0, 1), (1, 1)]
    assert [each.leaders for each in plan.losses()[0]] == [0, 1]
    assert plan.leaders_elected == 1


def test_an_election_is_also_for_partitions_that_do_not_move() -> None:
    partitions = [Partition(0, leader=2, replicas=(1, 2)), Partition(1, leader=2, replicas=(2, 1))]
    plan = reassign(Cluster([Broker(1), Broker(2)], {"t": partitions}))
    assert plan.moves == ()
    assert plan.partitions_to_elect == (("t", 0),)
    assert plan.leaders_elected == 1
    assert json.loads(plan.elections()) == {"partitions": [{"topic": "t", "partition": 0}]}

"""A cluster as a producer's metadata shows it: each way to make one, each refusal, and the order of Java's client."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import partwright as pw
from partwright.cluster import Broker, Cluster, Partition

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

OF_A_FILE = "; of a file, pass its text: Cluster.from_json(Path('cluster.json').read_text())"
GOLDEN = Path(__file__).parents[1] / "golden" / "strategies"
VERSIONS = {"metadata_order": "4.4.0", "metadata_order-2.8": "2.8.2"}
ORDERS = {name: json.loads((GOLDEN / f"{name}.json").read_text(encoding="ascii")) for name in VERSIONS}
RUNS = 5
BROKERS = [Broker(0, "b0", 9092, "a", "eu"), Broker(7)]
LED = [Partition(0, 7, (7, 0), (7,), (0,)), Partition(1), Partition(2, 0)]


def cluster() -> Cluster:
    return Cluster(BROKERS, {"orders": LED, "users": [Partition(0, leader=0)]})


def ids(of: Cluster, topic: str) -> list[int]:
    return [partition.id for partition in of.partitions(topic)]


# Each way to make one.


def test_a_cluster_of_counts_is_led_by_one_broker() -> None:
    found = pw.Cluster.of({"orders": 3, "users": 1})
    assert found.brokers == (Broker(0),)
    assert list(found.topics) == ["orders", "users"]
    assert found.partitions("orders") == (Partition(0, 0), Partition(1, 0), Partition(2, 0))
    assert found == Cluster(
        [Broker(0)], {"orders": [Partition(n, 0) for n in range(3)], "users": [Partition(0, 0)]}
    )


def test_the_object_of_the_replay_is_a_cluster() -> None:
    """As in interfaces.md, section 5."""
    topics = '{"t": [{"id": 0, "leader": 0}, {"id": 1, "leader": null}]}'
    text = f'{{"brokers": [{{"id": 0, "rack": null}}], "topics": {topics}}}'
    found = Cluster.from_json(text)
    assert found == Cluster([Broker(0)], {"t": [Partition(0, 0), Partition(1)]})
    assert found == Cluster.from_dict(json.loads(text)) == Cluster.from_json(text.encode())


def test_every_field_of_an_object_is_read() -> None:
    told = {
        "brokers": [{"id": 0, "host": "b0", "port": 9092, "rack": "a", "region": "eu"}, {"id": 7}],
        "topics": {
            "orders": [
                {"id": 0, "leader": 7, "replicas": [7, 0], "in_sync_replicas": [7], "offline_replicas": [0]},
                {"id": 1, "leader": None},
                {"id": 2, "leader": 0},
            ],
            "users": [{"id": 0, "leader": 0}],
        },
    }
    assert Cluster.from_dict(told) == cluster()
    assert cluster().to_dict() == told
    named: Any = copy.deepcopy(told)
    named["topics"]["orders"][0]["isr"] = named["topics"]["orders"][0].pop("in_sync_replicas")
    named["topics"]["orders"][1] |= {"replicas": None, "isr": None, "offline_replicas": None}
    assert Cluster.from_dict(named) == cluster()


def test_a_count_is_led_by_the_first_broker_given() -> None:
    found = Cluster.from_dict({"brokers": [{"id": 7}, {"id": 0}], "topics": {"t": 2}})
    assert [partition.leader for partition in found.partitions("t")] == [7, 7]


@pytest.mark.parametrize("brokers", [{}, {"brokers": None}])
def test_without_brokers_they_are_those_that_lead(brokers: dict[str, Any]) -> None:
    found = Cluster.from_dict(
        brokers | {"topics": {"t": [{"id": 0, "leader": 7}, {"id": 1, "leader": 3}, {"id": 2}]}}
    )
    assert found.brokers == (Broker(3), Broker(7))
    assert Cluster.from_dict(brokers | {"topics": {"t": 2}}).brokers == (Broker(0),)


def test_a_replay_has_holes_and_brokers_that_nobody_lists() -> None:
    given = {"brokers": [{"id": 0}], "topics": {"t": [{"id": 9, "leader": 5}, {"id": 2}], "none": []}}
    found = Cluster.from_dict(given, strict=False)
    assert ids(found, "t") == [9, 2]
    assert found.brokers == (Broker(0), Broker(5))
    assert found.leader_of("t", 9) == Broker(5)
    assert found.partitions("none") == ()
    later = found.with_topic("t", [{"id": 4, "leader": 6}])
    assert later.leader_of("t", 4) == Broker(6)
    assert pickle.loads(pickle.dumps(later)) == later  # noqa: S301
    assert sorted(ids(found.in_metadata_order(), "t")) == [2, 9]
    assert Cluster([], {}, strict=False).topics == {}


# What it is asked.


def test_partitions_stand_as_they_are_given() -> None:
    found = cluster()
    assert found.partitions("orders") == tuple(LED)
    assert found.available("orders") == (LED[0], LED[2]) == found.check_leaders("orders")
    assert found.leader_of("orders", 0) == BROKERS[1]
    assert found.leader_of("orders", 1) is None
    assert found.broker(0) is BROKERS[0]
    backwards = Cluster(BROKERS, {"orders": LED[::-1]})
    assert ids(backwards, "orders") == [2, 1, 0]
    assert backwards.available("orders") == (LED[2], LED[0])
    assert backwards != Cluster(BROKERS, {"orders": LED})


def test_a_topic_more_is_another_cluster() -> None:
    found = cluster()
    more = found.with_topic("users", [Partition(1, 7), {"id": 0, "leader": 0}]).with_topic("new", 2)
    assert list(more.topics) == ["orders", "users", "new"]
    assert more.partitions("users") == (Partition(1, 7), Partition(0, 0))
    assert more.partitions("new") == (Partition(0, 0), Partition(1, 0))
    assert more.brokers == found.brokers
    assert found == cluster()


def test_nothing_can_be_changed() -> None:
    found: Any = cluster()
    with pytest.raises(FrozenInstanceError):
        found.brokers = ()
    with pytest.raises(FrozenInstanceError):
        found.brokers[0].rack = "b"
    with pytest.raises(FrozenInstanceError):
        found.partitions("orders")[0].leader = 0
    with pytest.raises(TypeError):
        found.topics["more"] = ()
    given = {"t": [Partition(0)]}
    kept = Cluster([], given)
    given["t"].append(Partition(1))
    given["u"] = []
    assert kept == Cluster([], {"t": [Partition(0)]})


def test_equal_clusters_have_one_hash_and_survive_a_pickle() -> None:
    found = cluster()
    assert len({found, cluster(), found.with_topic("users", 2)}) == 2
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found), replace(found)):  # noqa: S301
        assert again == found
        assert hash(again) == hash(found)
        assert again.leader_of("orders", 0) == BROKERS[1]
    assert found != Cluster(BROKERS[:1], {"orders": [LED[1], Partition(0)]})


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (cluster(), "Cluster(2 brokers; orders: 3 partitions, 1 without leader; users: 1 partition)"),
        (Cluster([], {"t": [Partition(0)]}), "Cluster(0 brokers; t: 1 partition, 1 without leader)"),
        (
            Cluster.of({f"t{number}": number for number in range(1, 8)}),
            "Cluster(1 broker; t1: 1 partition; t2: 2 partitions; t3: 3 partitions; t4: 4 partitions; 3 more topics)",
        ),
        (Cluster.of({f"t{number}": 1 for number in range(5)}).topics["t0"][0], repr(Partition(0, 0))),
    ],
)
def test_it_is_shown_in_a_line(found: object, shown: str) -> None:
    assert repr(found) == shown


# The order of Java's client.


@pytest.mark.parametrize("name", VERSIONS)
def test_the_file_says_who_answered(name: str) -> None:
    package = "" if name == "metadata_order" else ".v2_8"
    program = f"partwright{package}.MetadataOrderVectors"
    assert ORDERS[name][0] == {"library": "kafka-clients", "version": VERSIONS[name], "program": program}


def check(case: dict[str, Any]) -> None:
    """A line of the file, compared with our answer."""
    counts = dict(pair for told in case["rounds"] for pair in told)
    leaders = {topic: dict.fromkeys(case["leaderless"].get(topic, ())) for topic in counts}
    topics = {
        topic: [Partition(number, leaders[topic].get(number, 0)) for number in range(count)]
        for topic, count in counts.items()
    }
    found = Cluster([Broker(0)], topics).in_metadata_order()
    assert {topic: ids(found, topic) for topic in counts} == case["order"], case
    for topic, available in case["available"].items():
        assert [partition.id for partition in found.available(topic)] == available, case


@pytest.mark.parametrize("name", VERSIONS)
def test_the_metadata_has_partitions_in_javas_order(name: str) -> None:
    assert len(ORDERS[name]) > 90
    for case in ORDERS[name][1:]:
        check(case)
    kinds = {case["name"].split("/")[0] for case in ORDERS[name][1:]}
    assert kinds == {"one", "several", "learned", "same-hash", "same-bin", "growing"}
    assert any(case["available"] for case in ORDERS[name][1:])


@pytest.mark.reference
@pytest.mark.parametrize(
    ("kafka", "program"),
    [("", "partwright.MetadataOrderVectors"), ("2.8", "partwright.v2_8.MetadataOrderVectors")],
)
def test_random_metadata_is_in_javas_order(
    kafka: str, program: str, reference: Callable[[str], ModuleType], tmp_path: Path, seed: int
) -> None:
    builds = reference("builds")
    command = builds.build_java(tmp_path, kafka)
    file = tmp_path / "orders.json"
    for each in range(seed, seed + RUNS):
        builds.run([*command, program, str(file), str(each)])
        said = json.loads(file.read_text(encoding="ascii"))[1:]
        assert len(said) > 90
        for case in said:
            check(case)


def test_the_orders_that_are_known_from_a_real_producer() -> None:
    wanted = {
        "test": [1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10],
        "topicA": [1, 0, 3, 2, 9, 8, 11, 10, 5, 4, 7, 6],
        "orders": [7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6],
    }
    for topic, order in wanted.items():
        assert ids(Cluster.of({topic: 12}).in_metadata_order(), topic) == order
    # With more topics the map has more bins.
    assert ids(Cluster.of({"test": 12, "orders": 30}).in_metadata_order(), "test") != wanted["test"]


# Each refusal.


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Cluster.of({}), "a cluster without topics has no partition to write to: name at least one"),
        (lambda: Cluster.of({"t": 0}), "topic 't' has no partitions: there is nowhere to write to"),
        (lambda: Cluster([], {"t": []}), "topic 't' has no partitions: there is nowhere to write to"),
        (lambda: Cluster([], {"t": [Partition(3), Partition(0), Partition(2)]}),
         "topic 't' has the partition 3 and lacks 1: Kafka's ids have no holes"),
        (lambda: Cluster([], {"t": [Partition(1)]}),
         "topic 't' has the partition 1 and lacks 0: Kafka's ids have no holes"),
        (lambda: Cluster([], {"t": [Partition(0), Partition(1), Partition(0)]}),
         "topic 't' has the partition 0 twice: each once"),
        (lambda: Cluster.from_dict({"topics": {"t": [{"id": 5}, {"id": 5}]}}, strict=False),
         "topic 't' has the partition 5 twice: each once"),
        (lambda: Cluster.from_dict({"topics": {"t": [{"id": -1}]}}),
         "topic 't': a partition's id is a whole number, 0 to 2147483647, not -1"),
        (lambda: Partition(2**31), "a partition's id is a whole number, 0 to 2147483647, not 2147483648"),
        (lambda: Partition(10**5000),
         "a partition's id is a whole number, 0 to 2147483647, not a value of type int"),
        (lambda: Cluster.of({"t": True}),
         "topic 't': the number of partitions is a whole number, 0 to 2147483647, not True"),
        (lambda: Cluster.of({"t": -2}),
         "topic 't': the number of partitions is a whole number, 0 to 2147483647, not -2"),
        (lambda: Cluster.from_dict({"topics": {"t": [{"id": 0, "leader": -1}]}}),
         "topic 't': the leader of partition 0 is a whole number, 0 to 2147483647 (none if it has none), not -1"),
        (lambda: Cluster([Broker(0), Broker(1), Broker(4)], {"t": [Partition(0, 0), Partition(1, leader=3)]}),
         "topic 't': partition 1 is led by 3, which is not a broker: there are the brokers 0, 1 and 4"),
        (lambda: Cluster.from_dict({"brokers": [], "topics": {"t": 1}}),
         "topic 't': partition 0 is led by 0, which is not a broker: there are no brokers"),
        (lambda: Cluster([Broker(1), Broker(0), Broker(1, rack="a")], {"t": [Partition(0)]}),
         "brokers has 1 twice: each id once"),
        (lambda: Cluster([Broker(0)], {"t": [Partition(0), Partition(1)]}).check_leaders("t"),
         "topic 't': none of its partitions (2) has a leader"),
        (lambda: Cluster.from_dict({"topics": {"t": [{"id": 0, "laeder": 1}]}}),
         ("a partition of topic 't' has no field 'laeder': did you mean 'leader'? There are id, leader, replicas, "
          "in_sync_replicas, isr and offline_replicas")),
        (lambda: Cluster.from_dict({"brokers": [{"id": 0, "racks": "a"}], "topics": {"t": 1}}),
         "a broker has no field 'racks': did you mean 'rack'? There are id, host, port, rack and region"),
        (lambda: Cluster.from_dict({"topics": {"t": 1}, "strategy": "sticky"}),
         "a cluster has no field 'strategy': there are brokers and topics"),
        (lambda: Cluster.from_dict({"topics": {"t": [{"id": 0, "isr": [0], "in_sync_replicas": [0]}]}}),
         "partition 0 of topic 't' has isr and in_sync_replicas: leave one out"),
        (lambda: Cluster.from_dict({"topics": {"t": [{"leader": 0}]}}),
         "a partition of topic 't' has no id: name it"),
        (lambda: Cluster.from_dict({"brokers": [{}], "topics": {"t": 1}}), "a broker has no id: name it"),
        (lambda: Cluster.from_dict({"brokers": []}), "a cluster has no topics: name it"),
        (lambda: Cluster.from_json("[1]"), "a cluster is an object with topics, not [1]"),
        (lambda: Cluster.from_dict({"topics": ["t"]}), "topics has lists of partitions by name, not ['t']"),
        (lambda: Cluster([], ["t"]),  # type: ignore[arg-type]
         "topics has lists of partitions by name, not ['t']"),
        (lambda: Cluster.from_dict({"topics": {"t": "3"}}), "topic 't': a list is needed, not '3'"),
        (lambda: Cluster.from_dict({"topics": {"t": [0, 1]}}),
         "a partition of topic 't' is an object with id, not 0"),
        (lambda: Cluster([], {"t": [{"id": 0}]}),  # type: ignore[list-item]
         "topic 't': {'id': 0} is not of type Partition"),
        (lambda: Cluster.from_dict({"brokers": 3, "topics": {"t": 1}}), "brokers: a list is needed, not 3"),
        (lambda: Cluster.from_json('{"topics": {"t": [{"id": 0, "leader": 1.0}]}}'),
         "topic 't': the leader of partition 0 is a whole number, 0 to 2147483647 (none if it has none), not 1.0"),
        (lambda: Cluster.from_dict({"topics": {"t": [{"id": 0, "replicas": ["0"]}]}}),
         "topic 't': partition 0: replicas is a whole number, 0 to 2147483647, not '0'"),
        (lambda: Broker(2, rack=5), "broker 2: rack is text, not 5"),  # type: ignore[arg-type]
        (lambda: Broker(2, port=65536), "the port of broker 2 is a whole number, 0 to 65535, not 65536"),
        (lambda: Cluster.of({5: 1}),  # type: ignore[dict-item]
         "a topic's name is text of at least one letter, not 5"),
        (lambda: Cluster.of({"\ud800": 1}),
         r"the topic's name '\ud800' is not UTF-8, as every name in Kafka is"),
        (lambda: Cluster.from_json("{"),
         "this is not JSON of a cluster: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (lambda: Cluster.from_json("cluster.json"),
         f"this is not JSON of a cluster: Expecting value: line 1 column 1 (char 0){OF_A_FILE}"),
        (lambda: Cluster.from_json(Path("cluster.json")),  # type: ignore[arg-type]
         f"from_json takes text, not {Path('cluster.json')!r}{OF_A_FILE}"),
        (lambda: Cluster.from_json(""),
         "this is not JSON of a cluster: Expecting value: line 1 column 1 (char 0)"),
        (lambda: Cluster.from_json(5), "from_json takes text, not 5"),  # type: ignore[arg-type]
        (lambda: Cluster.from_json('{"topics": {"t": 1, "t": 2}}'),
         "'t' is there twice in one object: each name once"),
        (lambda: cluster().partitions("order"),
         "there is no topic 'order' in the cluster: did you mean 'orders'? There are orders and users"),
        (lambda: cluster().available(["orders"]),  # type: ignore[arg-type]
         "there is no topic ['orders'] in the cluster: there are orders and users"),
        (lambda: cluster().leader_of("orders", 3),
         "topic 'orders' has no partition 3: there are the partitions 0, 1 and 2"),
        (lambda: cluster().broker(1), "there is no broker 1: there are the brokers 0 and 7"),
        (lambda: cluster().broker("0"),  # type: ignore[arg-type]
         "a broker's id is a whole number, 0 to 2147483647, not '0'"),
        (lambda: cluster().with_topic("new", [{"id": 1}]),
         "topic 'new' has the partition 1 and lacks 0: Kafka's ids have no holes"),
        (lambda: Cluster.from_kafka(SimpleNamespace(list_topics=dict)),
         ("no cluster can be read from a SimpleNamespace: give host:port, an admin client of kafka-python 3, "
          "or an AdminClient, Producer or Consumer of confluent-kafka")),
        (lambda: Cluster.from_kafka("localhost:1", "orders"), "topics is a list of names, not 'orders'"),
        (lambda: Cluster.from_kafka("localhost:1", 5),  # type: ignore[arg-type]
         "topics is a list of names, not 5"),
        (lambda: Cluster.from_kafka("localhost:1", timeout=float("nan")),
         "the timeout is seconds, more than 0 and up to 86400, not nan"),
        (lambda: Cluster.from_kafka("localhost:1", timeout="5"),  # type: ignore[arg-type]
         "the timeout is seconds, more than 0 and up to 86400, not '5'"),
        (lambda: Cluster.from_kafka("localhost:1", timeout=-1),
         "the timeout is seconds, more than 0 and up to 86400, not -1"),
        (lambda: Cluster.from_kafka("localhost"),
         "bootstrap.servers 'localhost' has no port: write 'localhost:9092'"),
    ],
)  # fmt: skip
def test_a_refusal_is_one_sentence(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        make()
    assert str(refused.value) == sentence


def test_a_host_that_is_no_name_has_no_kafka() -> None:
    with pytest.raises(pw.BrokerError, match=f"no Kafka answers at {'a' * 64}:1 .Failed to resolve"):
        Cluster.from_kafka(f"{'a' * 64}:1")


@pytest.mark.parametrize("text", ["", "\udc00", "[" * 100_000, '{"topics": {"t": ' + "9" * 5000 + "}}"])
def test_any_text_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(pw.PartwrightError, match="this is not JSON of a cluster: "):
        Cluster.from_json(text)

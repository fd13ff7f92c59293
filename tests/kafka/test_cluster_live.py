"""Effects that need several brokers: racks, leaders that move, a coordinator that moves, replicas that Kafka places."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from confluent_kafka import ElectionType, TopicPartition
from confluent_kafka.admin import AdminClient
from faults import LIGHT, Watched, read_directly, records_file, writers
from live_cluster import PATIENCE_S, SETTINGS, alive, commits, in_sync, leaders, wait_for
from live_readers import Confluent, Java, JavaMembers, Pair, all_get

import partwright as pw
from partwright.cluster import placement, storage
from partwright.kafka import EmbeddedKafka, KafkaPythonPartitioner, topics
from partwright.kafka.groups import GROUPS, coordinator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from types import ModuleType

pytestmark = [
    pytest.mark.broker,
    pytest.mark.reference,
    pytest.mark.timeout(600),
    # kafka-python leaves the socket to a broker that has gone to the garbage collector.
    pytest.mark.filterwarnings(
        "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"
    ),
]

RACKS = {1: "a", 2: "b", 3: "c"}
STICKY = {"sticky", "cooperative-sticky"}
RECORDS, N = 12_000, 6
# Each broker leads a third, and the next one follows.
PLACED = [[1, 2, 3], [2, 3, 1], [3, 1, 2]] * 2


@pytest.fixture(scope="module")
def three() -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(brokers=3, racks=list(RACKS.values()), overrides=SETTINGS, timeout=300) as running:
        yield running


@pytest.fixture(scope="module")
def program(reference: Callable[[str], ModuleType], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command for a program of tests/reference/java, without its name."""
    command: list[str] = reference("builds").build_java(tmp_path_factory.mktemp("reference"))
    return command


@pytest.fixture(scope="module")
def java(program: list[str]) -> Iterator[JavaMembers]:
    members = JavaMembers([*program, "partwright.GroupMembers"])
    yield members
    members.end()


@pytest.fixture
def topic() -> str:
    return f"topic-{uuid4().hex[:8]}"


@contextmanager
def lost_and_back(kafka: EmbeddedKafka, topic: str, broker: int) -> Iterator[None]:
    """A broker is killed, and missed; then it comes back, and leads again what it led before.

    It comes back also if a test fails, because other tests use the same cluster.
    """
    kafka.kill(broker)
    try:
        wait_for("it is not missed", lambda: broker not in alive(kafka) | set(leaders(kafka, topic)))
        yield
    finally:
        kafka.start(broker)
        wait_for("it does not catch up", lambda: all(broker in each for each in in_sync(kafka, topic)))
        with AdminClient({"bootstrap.servers": kafka.bootstrap_servers}) as admin:
            admin.elect_leaders(ElectionType.PREFERRED).result(PATIENCE_S)


# Members in the order of their IDs, which is not the order of the racks: without racks each would read elsewhere.
@pytest.mark.parametrize(
    ("client", "assignor"),
    [("java", "range"), ("java", "sticky"), ("java", "cooperative-sticky"), ("confluent-kafka", "range")],
)
def test_members_read_in_their_own_racks(
    client: str, assignor: str, three: EmbeddedKafka, java: JavaMembers, topic: str
) -> None:
    servers = three.bootstrap_servers
    topics.create_topic(servers, topic, 6, topics.NewTopic(replica_assignment=[[1], [1], [2], [2], [3], [3]]))
    found = pw.Cluster.from_kafka(servers, [topic])
    rack_of = {each.id: each.rack for each in found.brokers}
    racks = {topic: [[rack_of[broker] for broker in each.replicas] for each in found.topics[topic]]}
    assert racks == {topic: [["a"], ["a"], ["b"], ["b"], ["c"], ["c"]]}
    made = {"java": partial(Java, java), "confluent-kafka": Confluent}[client]
    given: dict[str, list[Pair]] = {}
    readers: list[Any] = []
    try:
        for number, rack in enumerate("cba"):
            config = {"client.id": f"member-{number}", "client.rack": rack}
            readers.append(made(servers, f"group-{topic}", [topic], assignor, config))
            wanted = partial(expected, topic, assignor=assignor, before=given, racks=racks)
            given = all_get(f"{number + 1} members", readers, wanted)
        assert [sorted(given[each.id]) for each in readers] == [
            [(topic, 4), (topic, 5)],
            [(topic, 2), (topic, 3)],
            [(topic, 0), (topic, 1)],
        ]
        if assignor == "range":
            without = expected(topic, list(given), assignor, {}, None)
            assert sorted(without[readers[0].id]) == [(topic, 0), (topic, 1)]
    finally:
        for each in readers:
            each.leave()


def expected(
    topic: str,
    ids: Sequence[str],
    assignor: str,
    before: dict[str, list[Pair]],
    racks: dict[str, list[list[str | None]]] | None,
) -> dict[str, list[Pair]]:
    """The assignment of a group with members in racks c, b and a: cooperative ones need a second rebalance."""
    while True:
        members: list[dict[str, Any]] = [
            {"id": each, "topics": [topic], "rack": rack if racks else None}
            for each, rack in zip(ids, "cba", strict=False)
        ]
        for member in members:
            if assignor in STICKY and member["id"] in before:
                member |= {"owned": before[member["id"]], "generation": 1}
        found = pw.assign({topic: 6}, members, assignor, racks=racks).to_dict()
        if sum(map(len, found.values())) == 6:
            return found
        before = found


def written_to(kafka: EmbeddedKafka, topic: str, before: dict[int, int]) -> set[int]:
    """The partitions that have grown."""
    now = topics.end_offsets(kafka.bootstrap_servers, topic)
    return {each for each, end in now.items() if end > before.get(each, 0)}


def test_producers_write_where_a_leader_is_near_and_follow_the_leaders(
    three: EmbeddedKafka, program: list[str], topic: str, tmp_path: Path
) -> None:
    from kafka import KafkaProducer

    servers = three.bootstrap_servers
    topics.create_topic(servers, topic, N, topics.NewTopic(replica_assignment=PLACED))
    configs = {"partitioner.rack.aware": "true", "client.rack": "b", "batch.size": "200"}
    file = tmp_path / "producer.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in configs.items()), encoding="ascii")

    def by_java() -> set[int]:
        before = topics.end_offsets(servers, topic)
        words = [*program, "partwright.TopicWriter", servers, topic, str(file)]
        subprocess.run(words, input="null\n" * 600, text=True, check=True, timeout=PATIENCE_S)
        return written_to(three, topic, before)

    def by_ours() -> set[int]:
        cluster = pw.Cluster.from_kafka(servers, [topic]).in_metadata_order()
        ours = pw.Producer(cluster, pw.ProducerConfig("sticky@4.4", configs=configs, seed=6))
        return {ours.place_record(topic, None, b"v" * 60) for _ in range(600)} - {None}

    def by_leader(rack: str) -> set[int]:
        partitioner = KafkaPythonPartitioner(strategy="leader", configs={"leader.rack": rack}, seed=6)
        with KafkaProducer(bootstrap_servers=servers, partitioner=partitioner) as producer:
            sent = [producer.send(topic, value=b"v") for _ in range(60)]
            return {record.get(timeout=PATIENCE_S).partition for record in sent}

    assert leaders(three, topic) == [each[0] for each in PLACED]
    assert by_java() == by_ours() == {1, 4}
    assert by_leader("b") == {1, 4}
    with lost_and_back(three, topic, 2):
        # The next of its replicas leads what broker 2 led, and the rack b leads nothing.
        assert leaders(three, topic) == [1, 3, 3, 1, 3, 3]
        assert by_ours() == set(range(N))
        # Each broker hears of new leaders by itself, so the one that Java asks may be the last.
        wait_for("Java does not write everywhere", lambda: by_java() == set(range(N)))
        assert by_leader("c") == {1, 2, 4, 5}
        with pytest.raises(pw.PartwrightError, match="leader"):
            by_leader("b")
    wait_for("it does not lead again", lambda: leaders(three, topic) == [each[0] for each in PLACED])
    assert by_java() == {1, 4}


def test_a_group_goes_on_where_its_coordinator_has_moved_to(three: EmbeddedKafka, topic: str) -> None:
    servers, group = three.bootstrap_servers, "KafkaConsumerDemo"
    topics.create_topic(servers, topic, 1, topics.NewTopic(replica_assignment=[[1, 2, 3]]))
    wait_for("it is not committed", partial(commits, servers, group, TopicPartition(topic, 0, 7)))
    before = coordinator(servers, group)
    assert (before["n"], before["partition"]) == (50, 35)
    leader = before["leader"]["id"]
    found = placement.Placement.of(pw.Cluster.from_kafka(servers, [GROUPS]), GROUPS)
    told = found.lost([leader])
    assert not told.offline
    with lost_and_back(three, GROUPS, leader):
        # Everything that the broker led has the leaders that we predict; the coordinator is one of them.
        assert Counter(leaders(three, GROUPS)) == dict(told.leaders)
        after = coordinator(servers, group)
        assert after["leader"]["id"] == next(each for each in found.replicas[35] if each != leader)
        assert after["partition"] == 35
        # A new leader answers with what it knows to be replicated, which takes a moment.
        wait_for(
            "its offsets are not there", lambda: coordinator(servers, group)["offsets"] == before["offsets"]
        )
        wait_for("it is not committed", partial(commits, servers, group, TopicPartition(topic, 0, 8)))
    assert [each["offset"] for each in coordinator(servers, group)["offsets"] if each["topic"] == topic] == [
        8
    ]


def test_a_topic_lies_where_it_was_placed_when_it_was_made(three: EmbeddedKafka) -> None:
    servers = three.bootstrap_servers
    for wanted in (placement.modulo([*RACKS], *each) for each in ((3, 1), (6, 2), (5, 3))):
        factor, count = len(wanted.replicas[0]), len(wanted.replicas)
        name = f"firstTopic{factor}"
        config = {"min.insync.replicas": str(factor)}
        topics.create_topic(
            servers, name, count, topics.NewTopic(replica_assignment=wanted.replicas, configs=config)
        )
        cluster = pw.Cluster.from_kafka(servers, [name])
        assert placement.Placement.of(cluster, name).replicas == wanted.replicas
        assert leaders(three, name) == [each[0] for each in wanted.replicas]
        for broker, node in three.nodes.items():
            there = {path.name for path in (node.settings.folder / "data").glob(f"{name}-*")}
            held = [number for number, each in enumerate(wanted.replicas) if broker in each]
            assert there == {storage.log_directories(name, count)[each] for each in held}
    for given, said in (
        (
            {"replication_factor": 4},
            ": ask for fewer replicas, or start more brokers",
        ),
        (
            {"replica_assignment": [[1, 9]]},
            "no such broker is registered",
        ),
    ):
        with pytest.raises(pw.BrokerError) as refused:
            topics.create_topic(servers, "too-much", 1, topics.NewTopic(**given))
        assert said in str(refused.value)


def test_what_the_controller_draws_is_what_its_placer_may_draw(three: EmbeddedKafka, seed: int) -> None:
    servers, rng = three.bootstrap_servers, random.Random(seed)
    # A rack with two brokers.
    extra = three.add("a")
    brokers = [pw.cluster.Broker(each, rack=rack) for each, rack in {**RACKS, extra: "a"}.items()]
    for partitions, factor in ((3, 1), (6, 2), (4, 2), (3, 3), (30, 3)):
        name = f"drawn-{partitions}-{factor}"
        topics.create_topic(servers, name, partitions, topics.NewTopic(replication_factor=factor))
        found = placement.Placement.of(pw.Cluster.from_kafka(servers, [name]), name)
        rack_of = {each.id: each.rack for each in brokers}
        assert all(len({rack_of[broker] for broker in each}) == factor for each in found.replicas)
        if partitions <= 6:
            # So few that all outcomes are seen: 6, 48 or 72 of them.
            may_be = {
                placement.striped(brokers, partitions, factor, seed=rng.getrandbits(48)).replicas
                for _ in range(3000)
            }
            assert len(may_be) < 100
            assert found.replicas in may_be
    three.kill(extra)
    wait_for("it is not missed", lambda: alive(three) == set(RACKS))
    topics.create_topic(servers, "one-is-fenced", 6, topics.NewTopic(replication_factor=3))
    found = placement.Placement.of(pw.Cluster.from_kafka(servers, ["one-is-fenced"]), "one-is-fenced")
    assert extra not in {each for replicas in found.replicas for each in replicas}


@pytest.mark.spark
def test_the_main_job_loses_nothing_while_brokers_die_and_leaders_move(
    three: EmbeddedKafka, topic: str, tmp_path: Path, seed: int, cases: Callable[[int], int]
) -> None:
    source = records_file(tmp_path / "some.jsonl", RECORDS, wide=700)
    for exactly_once in writers(seed, cases(1)):
        name, servers = f"{topic}-{exactly_once}", three.bootstrap_servers
        run = Watched(
            [
                *[
                    "run",
                    source,
                    "--key",
                    "id",
                    "--topic",
                    name,
                    "-n",
                    N,
                    "--to",
                    f"kafka://{servers}",
                    "--json",
                ],
                *[
                    "--replication-factor",
                    "3",
                    "--topic-config",
                    "min.insync.replicas=2",
                    "--no-proof",
                    *LIGHT,
                ],
                # Each batch goes to the brokers' disks by itself, so that the write takes a while.
                *["--topic-config", "flush.messages=1", *["--exactly-once"] * exactly_once],
            ],
            tmp_path / name,
        )
        try:
            assert run.until_held(servers, name, RECORDS // 8), run.lines
            with lost_and_back(three, name, 2):
                # The write continues with the two that are left.
                assert set(leaders(three, name)) <= {1, 3}
            code = run.end()
            print("\n".join(run.lines))  # noqa: T201 - pytest shows it if the test fails
            twice = int(str(run.report["twice"]))
        finally:
            run.close()
        found = read_directly(servers, name, [source], N)
        assert (found.lost, found.moved, found.twice) == (0, 0, twice)
        assert code == (1 if twice else 0)
        assert in_sync(three, name) == [{1, 2, 3}] * N


def test_the_coordinator_is_asked_for_and_a_wrong_rule_is_named(three: EmbeddedKafka) -> None:
    """Redpanda's rule is wrong for a Kafka wherever another broker leads its partition."""
    topics.create_topic(three.bootstrap_servers, "asked-for", 1)
    seen = set()
    for group in (f"asked-{number}" for number in range(12)):
        at = TopicPartition("asked-for", 0, 1)
        wait_for("the coordinator takes a commit", partial(commits, three.bootstrap_servers, group, at))
        kafka = coordinator(three.bootstrap_servers, group)
        assert (kafka["rule_agrees"], kafka["partition"]) == (
            True,
            pw.coordinator_partition(group, kafka["n"]),
        )
        other = coordinator(three.bootstrap_servers, group, broker_kind="redpanda")
        assert other["leader"] == kafka["leader"]
        assert other["by_rule"] == pw.coordinator_partition(group, 50, broker_kind="redpanda")
        seen.add(other["rule_agrees"])
        if not other["rule_agrees"]:
            assert other["partition"] is None
            wrong = group
    assert False in seen
    words = ["coordinator", wrong, "--broker", three.bootstrap_servers, "--broker-kind", "redpanda"]
    out = subprocess.run(
        [sys.executable, "-m", "partwright", *words], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert "as FindCoordinator answers" in " ".join(out.split())
    assert "The rule is wrong here: jump_consistent_hash(xxh64(id), n) = " in out
    assert "To read that partition" not in out

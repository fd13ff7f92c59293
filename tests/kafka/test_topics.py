"""A live broker's answers about its topics, and the errors if there is no broker."""

from __future__ import annotations

import re
import socket
import threading
import time
from concurrent.futures import Future
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from confluent_kafka import KafkaError, TopicPartition
from kafka import KafkaProducer

from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import topics
from partwright.kafka.client import Admin
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.errors import RetriableError, refusal
from partwright.kafka.topics import NewTopic, differences

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.kafka import EmbeddedKafka

live = pytest.mark.broker


@pytest.mark.parametrize("name", ["a", "flights", "a.b_c-D9", "...", "x" * 249])
def test_a_legal_name_is_returned(name: str) -> None:
    assert topics.check_topic_name(name) == name


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a/b", "é", "a\n", "x" * 250, "a,b", "٣"])
def test_an_illegal_name_is_refused(name: str) -> None:
    with pytest.raises(PartwrightError, match="cannot be a topic's name: use 1 to 249 of") as refusal:
        topics.check_topic_name(name)
    assert repr(name) in str(refusal.value)


ASKED: list[Callable[[str], object]] = [
    lambda bootstrap: topics.partition_count(bootstrap, "t"),
    lambda bootstrap: topics.create_topic(bootstrap, "t", 1),
    lambda bootstrap: topics.delete_topic(bootstrap, "t"),
    lambda bootstrap: topics.end_offsets(bootstrap, "t"),
    lambda bootstrap: topics.beginning_offsets(bootstrap, "t"),
    topics.cluster_id,
]


@pytest.mark.parametrize("ask", ASKED)
def test_no_broker_is_said_at_once(ask: Callable[[str], object], capfd: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()
    with pytest.raises(BrokerError) as refusal:
        ask("127.0.0.1:9")
    assert time.monotonic() - began < 2
    assert str(refusal.value) == (
        "no Kafka answers at 127.0.0.1:9 (Connection refused): "
        "`partwright doctor --bootstrap 127.0.0.1:9` names the step that fails"
    )
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("mute", [True, False])
def test_another_server_is_said_in_time(mute: bool, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        if not mute:
            threading.Thread(target=answer_nonsense, args=(other,), daemon=True).start()
        bootstrap = f"127.0.0.1:{other.getsockname()[1]}"
        began = time.monotonic()
        said = (
            f"Kafka at {bootstrap} does not answer in time " if mute else f"no Kafka answers at {bootstrap} "
        )
        with pytest.raises(BrokerError, match=f"^{said}"):
            topics.partition_count(bootstrap, "t", timeout=1)
        assert time.monotonic() - began < 5
    assert capfd.readouterr() == ("", "")
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("kafka-io")]


def answer_nonsense(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.recv(1024)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


@pytest.mark.parametrize("servers", [":", "127.0.0.1:", "127.0.0.1:kafka", "127.0.0.1:65536", "a:9092,b"])
def test_no_address_is_a_sentence(servers: str) -> None:
    with pytest.raises(
        PartwrightError, match=r"bootstrap\.servers .*(is not host:port|has no port|has a port that is not)"
    ):
        topics.partition_count(servers, "t")


@pytest.mark.parametrize("file", ["127.0.0.1", ""])
def test_what_has_no_port_is_the_name_of_a_file(file: str) -> None:
    with pytest.raises(PartwrightError, match=r"^the .*configuration file .*(no such file|is empty)"):
        topics.partition_count(file, "t")


@pytest.mark.parametrize("partitions", [0, -1, 2**31])
def test_no_number_of_partitions_is_a_sentence(partitions: int) -> None:
    with pytest.raises(PartwrightError, match=f"^a topic cannot have {partitions:,} partitions"):
        topics.create_topic("127.0.0.1:9", "t", partitions)


@pytest.mark.parametrize(
    ("assignment", "factor", "sentence"),
    [
        ([[1], [1]], None, "the replica assignment has 2 partitions, and the topic gets 3"),
        ([[1], [1], [1]], 2, "leave out the replication factor 2"),
    ],
)
def test_an_assignment_that_contradicts_itself(
    assignment: list[list[int]], factor: int | None, sentence: str
) -> None:
    with pytest.raises(PartwrightError, match=sentence):
        topics.create_topic(
            "127.0.0.1:9", "t", 3, topics.NewTopic(replication_factor=factor, replica_assignment=assignment)
        )


@pytest.mark.parametrize(
    ("partitions", "factor", "assignment", "sentence"),
    [
        (None, 0, None, "--replication-factor takes a whole number from 1 to 32767, not 0"),
        (3, None, "1,1", "--replica-assignment 1,1 says how many .* leave out -n 3"),
        (None, 1, "1,1", "leave out --replication-factor 1"),
        (None, None, "1:x", "partition 0: 'x' is not an id of a broker"),
        (None, None, "1:2,1", "partition 1 has 1 replica and partition 0 has 2"),
    ],
)
def test_options_of_a_new_topic_that_will_not_do(
    partitions: int | None, factor: int | None, assignment: str | None, sentence: str
) -> None:
    with pytest.raises(PartwrightError, match=sentence):
        NewTopic.read(partitions, factor, assignment, {})


def test_an_offset_that_a_leader_did_not_tell_in_time_is_not_taken_for_one() -> None:
    # As librdkafka answers once a leader has been silent for the request's time: without an error.
    offsets = [{0: 7, 1: -1001}, {0: 7, 1: 8}]
    admin = Admin(KafkaConfig.read({}, servers="127.0.0.1:9"), 0.3)
    admin.close()

    def listed(places: dict[TopicPartition, Any], **_: object) -> dict[TopicPartition, Future[Any]]:
        told = offsets.pop(0) if len(offsets) > 1 else offsets[0]
        answers: dict[TopicPartition, Future[Any]] = {place: Future() for place in places}
        for place, answer in answers.items():
            answer.set_result(SimpleNamespace(offset=told[place.partition]))
        return answers

    admin.client = cast("Any", SimpleNamespace(list_offsets=listed))
    assert topics.offsets_of(admin, "t", range(2), "latest") == {0: 7, 1: 8}
    offsets[:] = [{0: 7, 1: -1001}]
    with pytest.raises(RetriableError):
        topics.offsets_of(admin, "t", range(2), "latest")
    # No record has such a time.
    offsets[:] = [{0: 7, 1: -1}]
    assert topics.offsets_of(admin, "t", range(2), 1000) == {0: 7, 1: -1}


class TestWithABroker:
    """Each test has topics of its own."""

    pytestmark = live

    def test_a_new_topic_is_as_it_was_asked_for(self, broker: EmbeddedKafka) -> None:
        assert topics.partition_count(broker.bootstrap_servers, "new") is None
        topics.create_topic(broker.bootstrap_servers, "new", 64)
        assert topics.partition_count(broker.bootstrap_servers, "new") == 64
        nothing = dict.fromkeys(range(64), 0)
        assert topics.beginning_offsets(broker.bootstrap_servers, "new") == nothing
        assert topics.end_offsets(broker.bootstrap_servers, "new") == nothing

    def test_offsets_count_the_records(self, broker: EmbeddedKafka) -> None:
        topics.create_topic(broker.bootstrap_servers, "counted", 3)
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            for partition in (0, 2, 2):
                producer.send("counted", b"v", partition=partition).get(10)
        assert topics.end_offsets(broker.bootstrap_servers, "counted") == {0: 1, 1: 0, 2: 2}
        assert topics.beginning_offsets(broker.bootstrap_servers, "counted") == {0: 0, 1: 0, 2: 0}

    def test_a_deleted_topic_can_be_made_again_at_once(self, broker: EmbeddedKafka) -> None:
        for partitions in (3, 5, 2):
            topics.create_topic(broker.bootstrap_servers, "again", partitions)
            assert topics.partition_count(broker.bootstrap_servers, "again") == partitions
            topics.delete_topic(broker.bootstrap_servers, "again")
            assert topics.partition_count(broker.bootstrap_servers, "again") is None

    def test_a_topic_that_is_there_is_not_made_again(self, broker: EmbeddedKafka) -> None:
        topics.create_topic(broker.bootstrap_servers, "there", 1)
        with pytest.raises(
            BrokerError, match=r"^the topic 'there' exists already at 127\.0\.0\.1:\d+: use it"
        ):
            topics.create_topic(broker.bootstrap_servers, "there", 2)
        assert topics.partition_count(broker.bootstrap_servers, "there") == 1

    def test_settings_reach_the_broker(self, broker: EmbeddedKafka) -> None:
        small = {"max.message.bytes": "100"}
        topics.create_topic(broker.bootstrap_servers, "small", 1, topics.NewTopic(configs=small))
        producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers)
        with producer, pytest.raises(Exception, match=r"(Message|Record)(Size)?TooLarge"):
            producer.send("small", b"v" * 1000).get(10)

    def test_what_the_broker_refuses_is_its_own_sentence(self, broker: EmbeddedKafka) -> None:
        with pytest.raises(
            BrokerError, match=r"refuses the topic 'odd' .*: Unknown topic config name: no\.such"
        ):
            topics.create_topic(broker.bootstrap_servers, "odd", 1, topics.NewTopic(configs={"no.such": "1"}))
        assert topics.partition_count(broker.bootstrap_servers, "odd") is None

    @pytest.mark.parametrize(
        ("given", "sentence"),
        [
            ({"replication_factor": 3}, "replication factor of 3 cannot be reached because only 1 broker"),
            ({"replica_assignment": [[1], [7], [1]]}, "includes broker 7, but no such broker is registered"),
            (
                {"configs": {"cleanup.policy": "cmpact"}},
                "Invalid value cmpact for configuration cleanup.policy",
            ),
        ],
    )
    def test_what_the_broker_would_refuse_is_said_before_anything_is_made(
        self, broker: EmbeddedKafka, given: dict[str, Any], sentence: str
    ) -> None:
        with pytest.raises(BrokerError, match=sentence):
            topics.create_topic(
                broker.bootstrap_servers, "refused", 3, topics.NewTopic(**given), validate_only=True
            )
        allowed = {"replica_assignment": [[1]] * 3, "configs": {"cleanup.policy": "compact"}}
        topics.create_topic(
            broker.bootstrap_servers, "refused", 3, topics.NewTopic(**allowed), validate_only=True
        )
        assert topics.partition_count(broker.bootstrap_servers, "refused") is None

    def test_a_topic_is_made_as_asked_and_what_differs_is_named(self, broker: EmbeddedKafka) -> None:
        configs = {
            "cleanup.policy": "compact, delete",
            "min.cleanable.dirty.ratio": "0.50",
            "preallocate": "TRUE",
        }
        topics.create_topic(
            broker.bootstrap_servers,
            "asked",
            5,
            topics.NewTopic(replica_assignment=[[1]] * 5, configs=configs),
        )
        config = KafkaConfig.read({}, servers=broker.bootstrap_servers)
        # Kafka returns lists, numbers and truth values in its own spelling.
        assert differences(config, "asked", NewTopic(1, None, configs)) == []
        assert differences(config, "asked", NewTopic(None, ((1,),) * 5, {"segment.ms": "604800000"})) == []
        assert differences(
            config, "asked", NewTopic(3, None, {"cleanup.policy": "compact", "no.such": "1"})
        ) == [
            "partition 0 has 1 replica, not 3",
            "partition 1 has 1 replica, not 3",
            "partition 2 has 1 replica, not 3",
            "2 more partitions differ alike",
            "cleanup.policy is compact,delete, not compact",
            "its brokers know no setting no.such",
        ]
        assert differences(config, "asked", NewTopic(None, ((1,),) * 4 + ((7, 1),))) == [
            "partition 4 is on 1, not on 7:1"
        ]
        assert differences(config, "asked", NewTopic(None, ((1,),) * 4)) == ["it has 5 partitions, not 4"]
        assert differences(config, "not-there", NewTopic(3)) == []

    @pytest.mark.parametrize("ask", [topics.end_offsets, topics.beginning_offsets, topics.delete_topic])
    def test_a_topic_that_is_not_there_is_named(
        self, broker: EmbeddedKafka, ask: Callable[[str, str], object]
    ) -> None:
        with pytest.raises(
            BrokerError, match=r"^there is no topic 'absent' at 127\.0\.0\.1:\d+: check its name"
        ):
            ask(broker.bootstrap_servers, "absent")

    def test_a_second_address_is_tried(self, broker: EmbeddedKafka) -> None:
        assert topics.cluster_id(f"127.0.0.1:9,{broker.bootstrap_servers}")

    def test_nothing_stays_open(self, broker: EmbeddedKafka) -> None:
        topics.create_topic(broker.bootstrap_servers, "closed", 2)
        topics.end_offsets(broker.bootstrap_servers, "closed")
        assert not [
            thread for thread in threading.enumerate() if thread.name.startswith("kafka-io-kafka-python")
        ]

    @pytest.mark.parametrize("code", [KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.OFFSET_NOT_AVAILABLE])
    def test_offsets_are_asked_for_until_each_leader_knows_them(
        self, code: int, broker: EmbeddedKafka, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        name = f"grown-{code}"
        topics.create_topic(broker.bootstrap_servers, name, 2)
        refusals = 1
        answered = Admin.answer

        def unwilling(admin: Admin, asked: Future[Any], operation: str, of: str) -> Any:
            nonlocal refusals
            refusals -= 1
            if refusals >= 0:
                raise refusal(admin.config, KafkaError(code), operation, of)
            return answered(admin, asked, operation, of)

        monkeypatch.setattr(Admin, "answer", unwilling)
        assert topics.end_offsets(broker.bootstrap_servers, name) == {0: 0, 1: 0}
        refusals = 1000
        with pytest.raises(BrokerError, match=re.escape(KafkaError(code).str())):
            topics.end_offsets(broker.bootstrap_servers, name, timeout=0.3)
        assert refusals < 999

    def test_creation_waits_for_every_partition(
        self, broker: EmbeddedKafka, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[str] = []
        listed = topics.offsets_of

        def unwilling_at_first(admin: Admin, topic: str, partitions: range, spec: str) -> dict[int, int]:
            asked.append(spec)
            if len(asked) < 3:
                not_leader = KafkaError(KafkaError.NOT_LEADER_FOR_PARTITION)
                raise refusal(admin.config, not_leader, "DESCRIBE", f"the topic {topic!r}")
            return listed(admin, topic, partitions, spec)

        monkeypatch.setattr(topics, "offsets_of", unwilling_at_first)
        topics.create_topic(broker.bootstrap_servers, "waited", 4)
        assert asked == ["earliest", "earliest", "earliest", "latest"]

    def test_a_partition_that_never_answers_is_said(
        self, broker: EmbeddedKafka, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(topics, "_answers_everywhere", lambda *_: False)
        with pytest.raises(
            BrokerError, match=r"^not every partition of the new topic 'never' answers after 0\.5 s"
        ):
            topics.create_topic(broker.bootstrap_servers, "never", 4, timeout=0.5)

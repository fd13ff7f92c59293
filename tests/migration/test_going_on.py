"""A copy waits while other brokers answer, since they take over; where it ends nevertheless, it says how to go on."""

from __future__ import annotations

import importlib
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NoReturn, cast

import pytest
from confluent_kafka import KafkaError
from confluent_kafka.admin import AdminClient, ListConsumerGroupsResult

from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import reading, troubles
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.probe import Step
from partwright.kafka.reading import Reading
from partwright.kafka.troubles import Named, RetriableError
from partwright.migration import Migration, Side, topics
from partwright.migration.groups import groups_of
from partwright.migration.ledger import State
from partwright.migration.streams import Streams
from partwright.migration.topics import Found, Settings, patiently

if TYPE_CHECKING:
    from collections.abc import Callable

HOST, DEAD, OTHER = "127.0.0.1", 9, 7
CONFIG = KafkaConfig.read({}, servers=f"{HOST}:{DEAD},{HOST}:{OTHER}")
LATE = f"Kafka at {CONFIG.servers} does not answer in time: is it too busy, or just starting?"


class Gone:
    """librdkafka's event about a broker to which the connection failed."""

    def code(self) -> int:
        return -195

    def str(self) -> str:
        return f"{HOST}:{DEAD}/2: Connect to ipv4#{HOST}:{DEAD} failed: Connection refused"


@pytest.mark.parametrize(
    ("does_other_answer", "said"),
    [
        (True, "sends nothing more of the topic 'old' for 1 s"),
        (False, f"broker 2 advertises {HOST}:{DEAD}, which does not work from here"),
    ],
)
def test_records_are_waited_for_while_another_broker_answers(
    does_other_answer: bool, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def way(_: str, port: int, *_given: object) -> list[Step]:
        passes = does_other_answer and port == OTHER
        return [Step("connect", f"{HOST}:{port}", passes, "it refuses", "it refuses")]

    named = Named("cluster", [(HOST, OTHER, 1), (HOST, DEAD, 2)])
    monkeypatch.setattr(troubles, "named_brokers", lambda *_: named)
    monkeypatch.setattr(troubles, "way_to", way)
    # As after 1.5 s and after 20 s, and with shorter waits.
    monkeypatch.setattr(troubles.Troubles.check, "__defaults__", (1e-9,))
    monkeypatch.setattr(reading, "_ABSENT_S", 0.1)
    monkeypatch.setattr(reading, "TIMEOUT_S", 0.3)
    if does_other_answer:
        # It also answers that the topic is there.
        monkeypatch.setattr(Reading, "_same", lambda *_: None)
    with Streams(CONFIG, "old", {0: 0}) as streams:
        monkeypatch.setattr(streams.reading, "_stall", 1.0)
        noted = streams.reading._troubles
        noted.note(cast("KafkaError", Gone()))
        # Nobody is at these addresses, which librdkafka would report.
        monkeypatch.setattr(noted, "_is_cut", False)
        monkeypatch.setattr(noted, "_looked", True)
        with pytest.raises(RetriableError, match=said):
            streams.head(0, 1)


def test_the_time_between_two_polls_is_no_silence_of_the_brokers(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    monkeypatch.setattr(Reading, "_refuse_standstill", lambda _, seconds: asked.append(seconds))
    with Streams(CONFIG, "old", {0: 0}) as streams:
        monkeypatch.setattr(streams.reading, "_stall", 0.5)
        streams.reading.poll()
        # As a copy that follows a topic to which nothing is written.
        time.sleep(0.6)
        streams.reading.poll()
        assert not asked
        streams.reading.poll()
        assert asked
        assert asked[0] < 1.0


def test_a_question_is_asked_again_while_a_broker_may_take_over(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Callable[[], int]] = [late, late, lambda: 5]

    def ask() -> int:
        return answers.pop(0)()

    assert patiently(ask) == 5
    # What will not pass is not waited for.
    answers += [denied, late]
    with pytest.raises(BrokerError, match="no right"):
        patiently(ask)
    assert answers == [late]
    monkeypatch.setattr(topics, "_SETTLE_S", 0.3)
    with pytest.raises(RetriableError, match="does not answer in time"):
        patiently(late)


def late() -> NoReturn:
    raise RetriableError(LATE)


def denied() -> NoReturn:
    raise BrokerError("Kafka gives this user no right to READ")


def test_groups_that_a_broker_does_not_list_are_not_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = KafkaError(KafkaError._TIMED_OUT)

    def listed(_: AdminClient, **_times: float) -> Future[ListConsumerGroupsResult]:
        answer: Future[ListConsumerGroupsResult] = Future()
        answer.set_result(ListConsumerGroupsResult(valid=[], errors=[cast("Any", silent)]))
        return answer

    monkeypatch.setattr(AdminClient, "list_consumer_groups", listed)
    with pytest.raises(
        RetriableError, match=r"a broker .* does not list its groups \(.*[Tt]imed out\): start it"
    ):
        groups_of(Side(CONFIG, "old"), ())


@pytest.mark.parametrize(("must_exist", "step"), [(False, "copy"), (True, "cutover")])
def test_the_end_of_a_step_that_has_begun_says_how_to_go_on(
    must_exist: bool, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("partwright.migration.copy")
    migration = Migration(Side(CONFIG, "old"), Side(CONFIG, "new"), 3)
    state = State(["c", "old", "1"], ["c", "new", "2"], {}, "copying", [0], [0], [0, 0, 0])

    class Ledger:
        def __init__(self, *_: object) -> None: ...

        def last(self) -> State:
            return state

    def ended(end: Callable[[], NoReturn]) -> str:
        monkeypatch.setattr(module, "Writer", lambda *_: end())
        with (
            pytest.raises(PartwrightError) as error,
            module.opened(migration, (), lambda *_: None, must_exist=must_exist),
        ):
            pass
        return str(error.value)

    monkeypatch.setattr(module, "source_of", lambda _: (Found("1", [0], [9], [9]), ("c", "1")))
    monkeypatch.setattr(module, "Ledger", Ledger)
    monkeypatch.setattr(module, "is_there", lambda _: False)
    monkeypatch.setattr(module, "settings_of", lambda _: Settings({}, {}))
    assert ended(late) == f"{LATE}; run {step} again: it goes on where it stopped"
    # Where that would not help, it is not said.
    assert ended(denied) == "Kafka gives this user no right to READ"

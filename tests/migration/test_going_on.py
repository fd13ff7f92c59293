"""A copy waits while other brokers answer, since they take over; where it ends nevertheless, it says how to go on."""

from __future__ import annotations

import importlib
import time
from concurrent.futures import Future
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

import pytest
from confluent_kafka import KafkaError
from confluent_kafka.admin import AdminClient, ListConsumerGroupsResult

from partwright.errors import BrokerError, PartwrightError
from partwright.kafka import reading, troubles
from partwright.kafka.connection import KafkaConfig
from partwright.kafka.errors import RetriableError
from partwright.kafka.reading import Reading
from partwright.migration import Migration, Side, topics
from partwright.migration.groups import groups_of
from partwright.migration.ledger import State
from partwright.migration.streams import Streams
from partwright.migration.topics import DescribedTopic, Settings, patiently

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable

HOST, DEAD, OTHER = "127.0.0.1", 9, 7
CONFIG = KafkaConfig.read({}, servers=f"{HOST}:{DEAD},{HOST}:{OTHER}")
LATE = f"Kafka at {CONFIG.servers} does not answer in time: is it too busy, or just starting?"


class Event(NamedTuple):
    """An event of librdkafka's."""

    kind: str
    text: str = ""

    def name(self) -> builtins.str:
        return self.kind

    def str(self) -> builtins.str:
        return self.text


GONE = Event("_TRANSPORT", f"{HOST}:{DEAD}/2: Connect to ipv4#{HOST}:{DEAD} failed: Connection refused")


@pytest.mark.parametrize(("are_all_down", "least_s", "most_s"), [(False, 1.0, 5.0), (True, 0.3, 0.9)])
def test_records_are_waited_for_while_another_broker_is_there(
    are_all_down: bool, least_s: float, most_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With shorter waits.
    monkeypatch.setattr(troubles, "_OTHER_ADDRESSES_S", 0.0)
    monkeypatch.setattr(reading, "_ABSENT_S", 0.1)
    monkeypatch.setattr(reading, "TIMEOUT_S", 0.3)
    monkeypatch.setattr(reading, "_POLL_S", 0.05)
    if not are_all_down:
        # Another broker answers that the topic is there.
        monkeypatch.setattr(Reading, "_same", lambda *_: None)
    with closing(Streams(CONFIG, "old", {0: 0})) as streams:
        monkeypatch.setattr(streams.reading, "_stall", 1.0)
        noted = streams.reading._troubles
        # Nobody is at these addresses, which librdkafka would report.
        events, noted.note = noted.note, lambda _: None  # type: ignore[method-assign]
        for event in [Event("_ALL_BROKERS_DOWN")] * are_all_down + [GONE]:
            events(cast("KafkaError", event))
        began = time.monotonic()
        said = rf"^broker 2 advertises {HOST}:{DEAD}, .* \(Connection refused\): `partwright doctor"
        with pytest.raises(RetriableError, match=said):
            streams.head(0, 1)
        assert least_s < time.monotonic() - began < most_s


def test_the_time_between_two_polls_is_no_silence_of_the_brokers(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    monkeypatch.setattr(Reading, "_refuse_standstill", lambda _, seconds: asked.append(seconds))
    with closing(Streams(CONFIG, "old", {0: 0})) as streams:
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
    module = importlib.import_module("partwright.migration.copy_step")
    migration = Migration(Side(CONFIG, "old"), Side(CONFIG, "new"), 3)
    state = State(["c", "old", "1"], ["c", "new", "2"], {}, "copying", [0], [0], [0, 0, 0])

    class Ledger:
        def __init__(self, *_: object) -> None: ...

        def last(self) -> State:
            return state

    def ended(end: Callable[[], NoReturn]) -> str:
        monkeypatch.setattr(module, "MigrationWriter", lambda *_: end())
        with (
            pytest.raises(PartwrightError) as error,
            module.opened(migration, (), lambda *_: None, must_exist=must_exist),
        ):
            pass
        return str(error.value)

    monkeypatch.setattr(module, "source_of", lambda _: (DescribedTopic("1", [0], [9], [9]), ("c", "1")))
    monkeypatch.setattr(module, "MigrationLedger", Ledger)
    monkeypatch.setattr(module, "is_there", lambda _: False)
    monkeypatch.setattr(module, "settings_of", lambda _: Settings({}, {}))
    assert ended(late) == f"{LATE}; run {step} again: it goes on where it stopped"
    # Where that would not help, it is not said.
    assert ended(denied) == "Kafka gives this user no right to READ"

"""An answer carries its question: no function and no rendering is told it again."""

from __future__ import annotations

import copy
import functools
import pickle
from typing import TYPE_CHECKING

import pytest

import partwright as pw
from partwright import report
from partwright.answer import Question
from partwright.assignors.comparison import compare
from partwright.audit.check import Check
from partwright.batching import Delivery, simulate, tune
from partwright.cluster import BrokerFleet, Capacity, Cluster, TopicClients, advise, reassign
from partwright.group import PodConsumers, RolledPods, rollout

if TYPE_CHECKING:
    from partwright.answer import Answer

RECORDS = {"at": [0, 1, 9], "bytes": [100] * 3}
WORKLOAD = pw.Workload(time="at", size="bytes")
PRODUCER = pw.ProducerConfig("round-robin@2.8", {"linger.ms": 3, "ssl.key.password": "hunter2"}, seed=7)
DELIVERY = Delivery(latency_ms=2)
FACTS = [
    ("strategy", "round-robin@2.8"),
    ("linger.ms", "3"),
    ("ssl.key.password", "..."),
    ("seed", "7"),
    ("size", "bytes"),
    ("time", "at"),
    ("latency_ms", "2"),
]
CLUSTER = Cluster.from_dict(
    {
        "brokers": [{"id": 0}, {"id": 1}],
        "topics": {"t": [{"id": at, "leader": at, "replicas": [at, 1 - at]} for at in (0, 1)]},
    }
)


@functools.cache
def answers() -> dict[str, tuple[Answer, tuple[object, ...]]]:
    """One of each function with options objects, and those objects."""
    clients, fleet, capacity = TopicClients(consumers=6), BrokerFleet(brokers=5), Capacity(power={0: 2})
    pods, consumers = RolledPods(2, "StatefulSet"), PodConsumers("kafka-go")
    simulated = (PRODUCER, WORKLOAD, DELIVERY)
    return {
        "simulate": (
            simulate(RECORDS, {"t": 2}, PRODUCER, workload=WORKLOAD, delivery=DELIVERY),
            simulated,
        ),
        "tune": (tune(RECORDS, {"t": 2}, [PRODUCER], workload=WORKLOAD, delivery=DELIVERY), simulated),
        "advise": (advise(100, clients, fleet), (clients, fleet)),
        "reassign": (reassign(CLUSTER, capacity=capacity), (capacity,)),
        "rollout": (rollout({"t": 3}, pods, consumers, plays=1), (pods, consumers)),
    }


@pytest.mark.parametrize("name", ["simulate", "tune", "advise", "reassign", "rollout"])
def test_an_answer_has_the_options_objects_of_its_function(name: str) -> None:
    answer, options = answers()[name]
    assert answer.question.options == options
    asked = report.page(answer).partition("<h2 id=")[2].split("What was asked")[1]
    for _, value in answer.question.facts():
        assert f"<dd>{value}</dd>".replace("'", "&#39;") in asked


def test_only_what_is_not_by_default_is_a_fact_and_secrets_are_masked() -> None:
    answer, _ = answers()["simulate"]
    assert answer.question.facts() == FACTS
    assert Question((pw.Workload(), pw.ProducerConfig())).facts() == []
    assert "hunter2" not in report.page(answer)


def test_a_question_is_no_part_of_the_value() -> None:
    plain = pw.assign({"t": 2}, {"a": ["t"]})
    asked = plain.with_question(Question(command="assign", source="orders.json"))
    assert plain.question == Question()
    assert asked.to_dict() == plain.to_dict()
    assert asked.to_arrow() == plain.to_arrow()
    assert report.document(asked).title == f"{report.document(plain).title}: orders.json"
    for again in (copy.copy(asked), pickle.loads(pickle.dumps(asked))):  # noqa: S301 - our own bytes
        assert again.to_dict() == plain.to_dict()


def test_each_answer_can_carry_one() -> None:
    """Also those with slots, and those that are a sequence, a mapping, or fed batch by batch."""
    check = Check(3)
    check.add(["a", "b", "a"])
    lives = pw.group.compare({"topics": {"t": 2}, "events": "+2, -1"})
    for answer in (check, lives, compare({"t": 2}, {"a": ["t"]}), reassign(CLUSTER)):
        question = Question(command="x", source="file.csv")
        asked = answer.with_question(question)
        assert asked.question == question
        assert asked.to_dict() == answer.to_dict()
        assert report.document(asked).question == question

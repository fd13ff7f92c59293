"""Replicas are where Kafka's own placers put them; loads, losses, and each refusal."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import partwright as pw
from partwright.cluster import Broker, Partition, placement
from partwright.cluster.placement import Placement, admin_utils, explicit, modulo, striped

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

GOLDEN = Path(__file__).parents[1] / "golden" / "placement"
CASES = 1000


def golden(name: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    lines = (GOLDEN / f"{name}.jsonl").read_text(encoding="ascii").splitlines()
    cases = [json.loads(line) for line in lines[1:]]
    assert len(cases) > 50
    return [(case["question"], case["answer"]) for case in cases]


def answer_striped(question: dict[str, Any], **numbers: Any) -> dict[str, Any]:
    """Our answer to a question about KRaft's placer."""
    brokers = [Broker(id_, rack=rack) for id_, rack, _ in question["brokers"]]
    fenced = [id_ for id_, _, away in question["brokers"] if away]
    try:
        found = striped(
            brokers, question["partitions"], question["replication_factor"], fenced=fenced, **numbers
        )
    except pw.PartwrightError:
        return {"error": "InvalidReplicationFactorException"}
    return {"replicas": [list(each) for each in found.replicas], "draws": list(found.draws)}


def answer_with_zookeeper(question: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """Our answer to a question about AdminUtils, with the numbers that it drew, if it drew any."""
    drawn = {name: said[name] for name in ("start_index", "shift") if name in said}
    try:
        found = admin_utils(
            [Broker(id_, rack=rack) for id_, rack in question["brokers"]],
            question["partitions"],
            question["replication_factor"],
            start_partition=max(0, question["start_partition"]),
            **({"start_index": question["start_index"]} if "start_index" in question else drawn),
        )
    except pw.PartwrightError:
        return {"error": said.get("error", "we refuse what Kafka takes")}
    return {**drawn, "replicas": [list(each) for each in found.replicas]}


def answer_explicit(question: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """Our answer to a text; the parser accepts two more forms, which the controller refuses."""
    try:
        found = explicit(question["text"])
    except pw.PartwrightError:
        taken = said.get("replicas", [[]])
        refused_later = not taken or any(not each or min(each) < 0 for each in taken)
        return said if "error" in said or refused_later else {"error": "we refuse what Kafka takes"}
    return {"replicas": [list(each) for each in found.replicas]}


def test_stripes_are_those_of_krafts_placer() -> None:
    answered = [answer for _, answer in golden("striped")]
    assert sum("replicas" in answer for answer in answered) > 80
    for question, said in golden("striped"):
        assert answer_striped(question, seed=question["seed"]) == said, question
        if "draws" in said:
            assert answer_striped(question, draws=said["draws"]) == said, question


def test_replicas_under_zookeeper_are_those_of_adminutils() -> None:
    answered = [answer for _, answer in golden("admin-utils")]
    assert sum("replicas" in answer for answer in answered) > 30
    assert sum("shift" in answer for answer in answered) > 15
    for question, said in golden("admin-utils"):
        assert answer_with_zookeeper(question, said) == said, question


def test_a_written_assignment_is_read_as_kafka_topics_does() -> None:
    assert sum("error" in answer for _, answer in golden("explicit")) > 20
    for question, said in golden("explicit"):
        assert answer_explicit(question, said) == said, question


def mock_draws(count: int, bounds: Callable[[int], int]) -> list[int]:
    """Numbers of the `MockRandom` of Kafka's own tests, each below a bound."""
    state, found = 17, []
    for place in range(count):
        bound = bounds(place)
        while True:
            state = (state * 2862933555777941757 + 3037000493) % 2**64
            bits = state >> (64 - 31)
            if bound & (bound - 1) == 0:
                drawn = (bound * bits) >> 31
                break
            drawn = bits % bound
            if bits - drawn + bound - 1 < 2**31:
                break
        found.append(drawn)
    return found


def test_the_cases_of_kafkas_own_tests() -> None:
    """`AdminRackAwareTest`, and `StripedReplicaPlacerTest` with the numbers of its `MockRandom`."""
    said = ["012", "123", "234", "340", "401", "023", "134", "240", "301", "412"]
    assert joined(admin_utils(range(5), 10, 3)) == said
    racks = dict(enumerate(["r1", "r3", "r3", "r2", "r2", "r1"]))
    brokers = [Broker(id_, rack=rack) for id_, rack in racks.items()]
    assert placement.rack_alternated(brokers) == (0, 3, 1, 5, 4, 2)
    assert joined(admin_utils(brokers, 7, 3)) == ["031", "315", "154", "542", "420", "203", "042"]
    # One fenced broker and four others: a draw for each list, and one for the racks.
    draws = mock_draws(3, lambda place: [1, 4, 1][place])
    with_fenced = striped([3, 1, 0, 4, 2], 4, 4, fenced=[1], draws=draws)
    assert joined(with_fenced) == ["3402", "4023", "0234", "2340"]
    # A list and the rack; then the list of one rack's name, which draws nothing, and the list of four.
    draws = mock_draws(5, lambda place: [4, 1, 4, 3, 2][place])
    assert joined(striped(range(4), 5, 3, draws=draws)) == ["230", "301", "012", "123", "102"]


def joined(found: Placement) -> list[str]:
    return ["".join(map(str, each)) for each in found.replicas]


def test_the_documents_rule() -> None:
    assert modulo([2, 0, 1], 5).preferred_leaders == (0, 1, 2, 0, 1)
    assert modulo([7, 5], 3, 2).replicas == ((5, 7), (7, 5), (5, 7))


@given(st.integers(1, 12), st.integers(1, 200), st.integers(1, 12))
def test_every_placement_is_as_even_as_it_can_be(brokers: int, partitions: int, replicas: int) -> None:
    replicas = min(replicas, brokers)
    for found in (
        modulo(range(brokers), partitions, replicas),
        admin_utils(range(brokers), partitions, replicas),
    ):
        leaders = [each.leaders for each in found.load()]
        assert max(leaders) - min(leaders) <= 1
        assert sum(leaders) == partitions
        assert sum(each.replicas for each in found.load()) == partitions * replicas
        assert all(len(set(each)) == replicas for each in found.replicas)
    for found in (striped(range(brokers), partitions, replicas, seed=partitions),):
        assert all(len(set(each)) == replicas for each in found.replicas)
        assert sum(each.replicas for each in found.load()) == partitions * replicas


@given(st.integers(2, 5), st.integers(1, 4), st.integers(1, 80), st.integers())
def test_replicas_are_in_as_many_racks_as_they_can_be(
    racks: int, in_each: int, partitions: int, seed: int
) -> None:
    brokers = [Broker(place, rack=f"r{place % racks}") for place in range(racks * in_each)]
    for count in (min(2, len(brokers)), len(brokers)):
        for found in (
            striped(brokers, partitions, count, seed=seed % 2**63),
            admin_utils(brokers, partitions, count),
        ):
            for row in found.replicas:
                assert len({brokers[each].rack for each in row}) == min(count, racks)


def test_a_lost_broker() -> None:
    found = admin_utils(range(3), 6, 2)
    assert found.replicas == ((0, 1), (1, 2), (2, 0), (0, 2), (1, 0), (2, 1))
    lost = found.lost([0], min_insync_replicas=2)
    assert lost.brokers == (0,)
    assert lost.offline == ()
    assert lost.under_replicated == lost.below_min_insync == (0, 2, 3, 4)
    assert lost.new_leaders == {0: 1, 3: 2}
    assert lost.leaders == {1: 3, 2: 3}
    assert found.lost([0, 1]).offline == (0, 4)
    # More replicas in sync than exist at all are not refused (`Partition.effectiveMinIsr`).
    assert found.lost(min_insync_replicas=3).below_min_insync == ()
    assert found.lost([0], min_insync_replicas=3).below_min_insync == (0, 2, 3, 4)
    assert found.lost([0, 1, 2]).offline == tuple(range(6))
    assert pickle.loads(pickle.dumps(lost)) == lost  # noqa: S301
    assert found.lost() == pw.cluster.placement.Loss((), (), (), (), {}, {0: 2, 1: 2, 2: 2})


def test_a_lost_rack() -> None:
    brokers = [Broker(0, rack="a"), Broker(1, rack="a"), Broker(2, rack="b"), Broker(3)]
    found = Placement(brokers, [[0, 1], [1, 2], [2, 3], [3, 0]])
    lost = found.lost(racks=["a"])
    assert (lost.brokers, lost.offline, lost.under_replicated) == ((0, 1), (0,), (1, 3))
    assert found.lost([2], racks=["a"]).offline == (0, 1)


def test_more_partitions_keep_their_numbers() -> None:
    more = admin_utils(range(3), 2, 2, start_partition=4)
    assert more.first == 4
    assert more.lost([more.replicas[0][0]]).new_leaders == {4: more.replicas[0][1]}
    assert more.to_arrow().column("partition").to_pylist() == [4, 4, 5, 5]
    assert json.loads(more.to_json("t"))["partitions"][0]["partition"] == 4


def test_a_live_topics_replicas_are_as_its_metadata_says() -> None:
    partitions = [
        Partition(1, leader=2, replicas=(2, 9), in_sync_replicas=(2,)),
        Partition(0, leader=1, replicas=(1, 2), in_sync_replicas=(1, 2)),
    ]
    found = Placement.of(pw.Cluster([Broker(1, rack="a"), Broker(2)], {"t": partitions}), "t")
    assert found.replicas == ((1, 2), (2, 9))
    assert [broker.id for broker in found.brokers] == [1, 2, 9]
    # Broker 9 has a replica that is not in sync: it cannot lead.
    assert found.lost([2]).offline == (1,)
    assert found.lost().under_replicated == (1,)
    offline = [Partition(0, replicas=(1, 2), in_sync_replicas=(1,), offline_replicas=(1,))]
    assert Placement.of(pw.Cluster([Broker(2)], {"t": offline}), "t").lost().offline == (0,)
    with pytest.raises(pw.PartwrightError, match="nothing is known of the replicas of partition 0"):
        Placement.of(pw.Cluster.of({"t": 2}), "t")


def test_a_placement_as_kafkas_tools_take_it() -> None:
    found = modulo(range(3), 4, 2)
    assert explicit(found.to_text(), range(3)) == found
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301
    assert hash(found) == hash(modulo(range(3), 4, 2))
    assert found.to_cluster("t").leader_of("t", 3) == Broker(0)
    table = found.to_arrow()
    assert table.schema.names == ["partition", "position", "broker", "rack"]
    assert table.num_rows == 8
    assert table.column("rack").null_count == 8


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: modulo([], 1), "brokers is empty"),
        (lambda: modulo([1, 1], 1), "brokers has 1 twice"),
        (lambda: modulo([1, Broker(1)], 1), "brokers has 1 twice"),
        (lambda: modulo([True], 1), "a broker's id is a whole number, 0 to 2147483647, not True"),
        (lambda: modulo([-1], 1), "a broker's id is a whole number"),
        (lambda: modulo(3, 1), "brokers: a list is needed, not 3"),
        (lambda: modulo("012", 1), "brokers: a list is needed, not '012'"),
        (lambda: modulo([0], 0), "partitions is a whole number, 1 to 1000000, not 0"),
        (lambda: modulo([0], True), "partitions is a whole number, 1 to 1000000, not True"),
        (lambda: modulo([0], float("nan")), "partitions is a whole number, 1 to 1000000, not nan"),
        (lambda: modulo([0], 2**31), "partitions is a whole number, 1 to 1000000"),
        (lambda: modulo([0], 10**5000), "partitions is a whole number, 1 to 1000000, not a value of type int"),
        (lambda: modulo([0], 1, 0), "replication_factor is a whole number, 1 to 32767, not 0"),
        (lambda: modulo([0, 2], 1, 3), "3 replicas of a partition need as many brokers, and there are the brokers"),
        (lambda: admin_utils([0, 1], 1, start_index=2), "start_index is a whole number, 0 to 1, not 2"),
        (lambda: admin_utils([0, 1], 1, shift=-1), "shift is a whole number, 0 to 1, not -1"),
        (lambda: admin_utils([0], 9, start_partition=2**31), "start_partition is a whole number, 0 to"),
        (lambda: admin_utils([0, Broker(1, rack="a")], 1), "broker 0 has no rack and others have one"),
        (lambda: placement.rack_alternated([Broker(1)]), "broker 1 has no rack"),
        (lambda: striped([0, 1], 1, fenced=[0, 1]), "all 2 brokers are fenced"),
        (lambda: striped([0], 1, fenced=[1]), "fenced: there is no broker 1: there are the brokers 0"),
        (lambda: striped([0], 1, fenced=[False]), "fenced: there is no broker False"),
        (lambda: striped([0], 1, seed=1, draws=[]), "give seed or draws, not both"),
        (lambda: striped([0], 1, seed=2**63), "seed is a whole number of Java's long"),
        (lambda: striped([0], 1, seed=0.5), "seed is a whole number of Java's long, not 0.5"),
        (lambda: striped([0, 1], 1, draws=[0]), "draws ends after 1 of them, and this placement draws more"),
        (lambda: striped([0, 1], 1, draws=[2, 0]), "draws: the number at 0 is drawn from 0 to 1, and cannot be 2"),
        (lambda: striped([0, 1], 1, draws=[True, 0]), "cannot be True"),
        (lambda: striped([0, 1], 1, draws=7), "draws: a list is needed, not 7"),
        (lambda: striped([Broker(0, rack="\ud800")], 1), "rack '\\ud800' is not UTF-8"),
        (lambda: admin_utils([Broker(0, rack="\ud800")], 1), "rack '\\ud800' is not UTF-8"),
        (lambda: explicit(""), "partition 0: '' is not an id of a broker"),
        (lambda: explicit(","), "names no partition"),
        (lambda: explicit([]), "names no partition"),
        (lambda: explicit(":"), "partition 0 has an empty list of replicas"),
        (lambda: explicit([[0], []]), "partition 1 has an empty list of replicas"),
        (lambda: explicit("0:1,1"), "partition 1 has 1 replica and partition 0 has 2"),
        (lambda: explicit("0:0"), "partition 0 has the broker 0 more than once"),
        (lambda: explicit("0:4", range(3)), "partition 0: there is no broker 4: there are the brokers 0, 1 and 2"),
        (lambda: explicit("-1"), "'-1' is not an id of a broker"),
        (lambda: explicit([[True]]), "a broker's id is a whole number, 0 to 2147483647, not True"),
        (lambda: explicit([["0"]]), "not '0'"),
        (lambda: explicit(7), "the replica assignment: a list is needed, not 7"),
        (lambda: explicit("9" * 5000), "is not an id of a broker"),
        (lambda: Placement([0], []), "replicas has no partition"),
        (lambda: Placement([0], [[0]], first=-1), "the first partition is a whole number"),
        (lambda: Placement([0], [[0]], in_sync=[[0], [0]]), "in_sync has 2 partitions and replicas 1"),
        (lambda: Placement([0, 1], [[0]], in_sync=[[1]]), "partition 0: 1 is in sync but not a replica"),
        (lambda: Placement([0], [[0]], draws=7), "draws: a list is needed, not 7"),
        (lambda: Placement.of(None, "t"), "a cluster is needed, such as Cluster.from_kafka(...), not None"),
        (lambda: Placement.of(pw.Cluster.of({"t": 1}), "u"), "there is no topic 'u' in the cluster"),
        (lambda: modulo([0], 1).to_cluster([]), "a topic's name is text of at least one letter, not []"),
        (lambda: modulo([0], 1).to_json("a b"), "a topic cannot be called 'a b'"),
        (lambda: modulo([0], 1).lost([3]), "there is no broker 3: there are the brokers 0"),
        (lambda: modulo([0], 1).lost(0), "brokers: a list is needed, not 0"),
        (lambda: modulo([0], 1).lost(racks=["a"]), "there is no rack 'a': no broker names its rack"),
        (lambda: modulo([Broker(0, rack="b")], 1).lost(racks=["a"]), "there is no rack 'a': there are 'b'"),
        (lambda: modulo([0], 1).lost(min_insync_replicas=0), "min_insync_replicas is a whole number, 1 to"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        call()
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_hundred_thousand_partitions_are_placed() -> None:
    brokers = [Broker(place, rack="abc"[place % 3]) for place in range(30)]
    for found in (
        modulo(brokers, 100_000, 3),
        admin_utils(brokers, 100_000, 3),
        striped(brokers, 100_000, 3),
    ):
        assert len(found.replicas) == 100_000
        assert not found.lost(racks=["a"], min_insync_replicas=2).offline


def answer(name: str, question: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """Our answer to a question of one of the golden files' kinds."""
    if name == "admin-utils":
        return answer_with_zookeeper(question, said)
    if name == "explicit":
        return answer_explicit(question, said)
    found = answer_striped(question, seed=question["seed"])
    assert "error" in found or answer_striped(question, draws=found["draws"]) == found
    return found


@pytest.mark.reference
@pytest.mark.parametrize("name", ["striped", "admin-utils", "explicit"])
def test_random_questions_have_kafkas_answers(
    name: str, reference: Callable[[str], ModuleType], tmp_path: Path, seed: int, cases: Callable[[int], int]
) -> None:
    """A failure prints the seed: PARTWRIGHT_SEED repeats it, and PARTWRIGHT_CASES asks more questions."""
    asking = reference("placements")
    count = cases(CASES)
    questions = list(asking.program(name).questions(seed, count))
    _, answers = asking.ask(asking.build(name, tmp_path), questions)
    assert len(answers) >= count
    for question, said in zip(questions, answers, strict=True):
        assert answer(name, question, said) == said, question

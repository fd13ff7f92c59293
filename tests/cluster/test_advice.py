"""How many partitions are advised, what each figure consists of, and each refusal."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import partwright as pw
from partwright.cluster.sizing import costs

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.cluster.sizing.advice import Advice

POWERS = st.lists(st.integers(1, 9), min_size=1, max_size=6)


def advise(target_mb_s: Any, **settings: Any) -> Advice:
    """`pw.cluster.advise` by the names of the settings of its options objects."""
    clients, fleet = (
        kind(**{each.name: settings.pop(each.name) for each in fields(kind) if each.name in settings})
        for kind in (pw.cluster.TopicClients, pw.cluster.BrokerFleet)
    )
    return pw.cluster.advise(target_mb_s, clients, fleet, **settings)


def figure(advice: Advice, name: str, choice: int = 0) -> tuple[float, float]:
    (found,) = [each for each in advice.choices[choice].figures if each.name == name]
    return found.low, found.high


def test_the_formula_of_jun_rao() -> None:
    """max(t/p, t/c), in the form of his example: 100 at 10 and at 5 MB/s."""
    advice = advise(100, produce_mb_s=10, consume_mb_s=5, brokers=4, replication_factor=2)
    assert [need.high for need in advice.needs] == [10, 20, 1, 4]
    assert advice.at_least == (20, 20)
    assert advice.recommended == 20
    assert [choice.partitions for choice in advice.choices] == [20, 40, 200]
    assert advice.choices[0].leaders == (5, 5, 5, 5)


def test_a_range_stays_one_and_its_worse_end_decides() -> None:
    advice = advise(90, produce_mb_s=(9, 30), consume_mb_s=90, brokers=4)
    assert advice.at_least == (4, 10)
    assert advice.recommended == 12


def test_the_documents_three_brokers() -> None:
    """At least as many partitions as brokers, a multiple of them, and more if brokers differ."""
    assert advise(1, produce_mb_s=10, consume_mb_s=10, brokers=3).recommended == 3
    assert advise(1, produce_mb_s=10, consume_mb_s=10, consumers=4, brokers=3).recommended == 6
    unequal = advise(1, produce_mb_s=10, consume_mb_s=10, power=[1, 1, 2])
    assert unequal.recommended == 4
    assert unequal.choices[0].leaders == (1, 1, 2)
    assert any("give them 1, 1, 2 by kafka-topics.sh" in note for note in unequal.notes)


def test_numbers_are_taken_as_they_are_written() -> None:
    assert advise(1.1, produce_mb_s=0.01, consume_mb_s=1, growth=1, brokers=1).recommended == 110
    assert advise(0.3, produce_mb_s=0.1, consume_mb_s=1, brokers=1).recommended == 3
    assert advise(100, produce_mb_s=10, consume_mb_s=100, growth=1.1, brokers=1).recommended == 11


def test_each_figure_is_what_it_says() -> None:
    advice = advise(
        1000,
        produce_mb_s=10,
        consume_mb_s=20,
        consumers=50,
        groups=2,
        producers=7,
        brokers=5,
        replication_factor=3,
        held=40,
        segments=(2, 5),
        batch_size=1 << 20,
        replica_fetchers=4,
        cleaner_threads=2,
        clean_s=3,
    )
    assert advice.recommended == 100
    assert figure(advice, "leaders") == (20, 20)
    assert figure(advice, "replicas") == (100, 100)
    assert figure(advice, "open files") == (200, 500)
    assert figure(advice, "memory map areas") == (400, 1000)
    assert figure(advice, "mapped indexes") == (100 * 20 * 2**20,) * 2
    assert figure(advice, "leaders away after a crash") == (9 + 20 * 37 / 2_000_000, 9.1)
    # 10 partitions from each of four other brokers, 20 ms for a thousand, four fetchers.
    assert figure(advice, "latency of replication") == (0, pytest.approx(0.05))
    assert figure(advice, "a round of the log cleaner") == (150, 150)
    assert figure(advice, "memory of a producer") == (1 << 20, 100 << 20)
    assert figure(advice, "fetched by a consumer") == (0, 2 << 20)
    assert figure(advice, "sockets of clients") == (107, 207)
    assert figure(advice, "consumer threads") == (50, 100)
    assert figure(advice, "consumer threads", 2) == (50, 1000)
    assert any("buffer.memory is 33,554,432" in warning for warning in advice.choices[0].warnings)


def test_every_figure_has_a_source_and_an_assumption() -> None:
    advice = advise(100)
    names = [each.name for each in advice.choices[0].figures]
    assert len(names) == len(set(names)) == 12
    for choice in advice.choices:
        for each in choice.figures:
            assert each.source
            assert each.assumes
            assert 0 <= each.low <= each.high < math.inf
    told = advice.to_dict()
    assert json.loads(json.dumps(told))["sources"] == costs.SOURCES
    named = {part for each in advice.choices[0].figures for part in each.source.split("; ")}
    assert named >= set(costs.SOURCES) - {costs.RAO_2018}


def test_too_many_are_warned_of() -> None:
    advice = advise(5000, produce_mb_s=1, consume_mb_s=10, brokers=3, consumers=2)
    few, _, many = advice.choices
    assert few.partitions == 5001
    assert any("rule of thumb with ZooKeeper (Jun Rao 2018)" in warning for warning in few.warnings)
    assert any("raise vm.max_map_count" in warning for warning in few.warnings)
    assert any("100 x brokers x replicas partitions, here 900" in warning for warning in few.warnings)
    assert len(many.warnings) >= len(few.warnings)
    assert any(
        "2 consumers of a group may read no more than 20 MB/s of 5,000: run 500" in n for n in advice.notes
    )
    assert not any("resize" not in note and "given" in note for note in advice.notes)
    assert any("produce_mb_s not given" in n for n in advise(1, consume_mb_s=1).notes)


@given(
    st.floats(0.1, 1000),
    st.floats(0.5, 100),
    st.floats(0.5, 100),
    st.integers(1, 40),
    POWERS,
)
def test_whatever_is_advised_serves_all_needs(
    target: float, produce: float, consume: float, consumers: int, power: list[int]
) -> None:
    advice = advise(target, produce_mb_s=produce, consume_mb_s=consume, consumers=consumers, power=power)
    assert advice.recommended >= advice.at_least[1] >= advice.at_least[0] >= 1
    assert advice.recommended * produce >= target * (1 - 1e-9)
    assert advice.recommended >= max(consumers, len(power))
    if len(set(power)) == 1:
        assert advice.recommended - advice.at_least[1] < len(power)
    for choice in advice.choices:
        assert sum(choice.leaders) == choice.partitions
        assert min(choice.leaders) >= 1
        shares = [choice.partitions * one / sum(power) for one in power]
        if min(shares) >= 1:
            assert all(abs(led - share) < 1 for led, share in zip(choice.leaders, shares, strict=True))


def test_very_unequal_brokers_have_an_answer_too() -> None:
    many = advise(5000, produce_mb_s=1, consume_mb_s=1, power=list(range(1, 1001)))
    assert many.recommended >= 5000
    assert max(many.choices[-1].leaders) == many.choices[-1].leaders[-1]
    # In proportion, the weak brokers would lead none, however many partitions there are: they lead one.
    two = advise(100, produce_mb_s=1, consume_mb_s=1, power=[1e-9, 1])
    assert two.choices[0].leaders == (1, 99)
    four = advise(100, produce_mb_s=1, consume_mb_s=1, power=[1e-9, 1, 1e-9, 2])
    assert four.choices[0].leaders == (1, 33, 1, 65)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"target_mb_s": 0}, "target_mb_s is a number above 0, 1,000,000,000,000 at most, not 0"),
        ({"target_mb_s": -1.5}, "target_mb_s is a number above 0"),
        ({"target_mb_s": float("nan")}, "not nan"),
        ({"target_mb_s": float("inf")}, "not inf"),
        ({"target_mb_s": True}, "not True"),
        ({"target_mb_s": "100"}, "not '100'"),
        ({"target_mb_s": 10**5000}, "not a value of type int"),
        ({"produce_mb_s": (12, 8)}, "produce_mb_s is a range from 12 to 8: turn it round"),
        ({"produce_mb_s": (1, 2, 3)}, "produce_mb_s is a number or a range of two, not (1, 2, 3)"),
        ({"produce_mb_s": 1e-9}, "need more than 100,000 partitions: cut the topic"),
        ({"consume_mb_s": None}, "consume_mb_s is a number above 0"),
        ({"consumers": 0}, "consumers is a whole number, 1 to 1000000, not 0"),
        ({"consumers": 1.0}, "consumers is a whole number"),
        ({"consumers": 200_000}, "200,000 consumers need as many partitions"),
        ({"brokers": 1001}, "brokers is a whole number, 1 to 1000, not 1001"),
        ({"brokers": True}, "brokers is a whole number, 1 to 1000, not True"),
        ({"brokers": 2, "replication_factor": 3}, "3 replicas of a partition need as many brokers"),
        ({"replication_factor": 0}, "replication_factor is a whole number"),
        ({"power": []}, "the number of powers is a whole number, 1 to 1000, not 0"),
        ({"power": [1, 0]}, "power is a number above 0"),
        ({"power": 3}, "power: a list is needed, not 3"),
        ({"power": [1, 2], "brokers": 3}, "power has 2 numbers and brokers is 3"),
        ({"growth": 0}, "growth is a number above 0"),
        ({"held": -1}, "held is a whole number, 0 to 1000000, not -1"),
        ({"segments": 0}, "segments is a number above 0"),
        ({"batch_size": 0}, "batch_size is a whole number, 1 to"),
        ({"buffer_memory": "32MB"}, "buffer_memory is a whole number"),
        ({"replica_fetchers": 0}, "replica_fetchers is a whole number"),
        ({"cleaner_threads": None}, "cleaner_threads is a whole number"),
        ({"clean_s": (0, 1)}, "clean_s is a number above 0"),
        ({"groups": 0}, "groups is a whole number"),
        ({"producers": -1}, "producers is a whole number"),
    ],
)
def test_what_is_wrong_is_one_sentence(given: dict[str, Any], sentence: str) -> None:
    call: Callable[..., Advice] = advise
    with pytest.raises(pw.PartwrightError) as refused:
        call(**{"target_mb_s": 100, **given})
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_other_things_than_options_objects_are_one_sentence() -> None:
    for arguments, sentence in [
        (({"consumers": 6},), "clients is a partwright.cluster.TopicClients(...), not {'consumers': 6}"),
        ((None, 3), "fleet is a partwright.cluster.BrokerFleet(...), not 3"),
    ]:
        with pytest.raises(pw.PartwrightError) as refused:
            pw.cluster.advise(100, *arguments)
        assert str(refused.value) == sentence

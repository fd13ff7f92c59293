"""Which assignor a group takes: the setting as kafka-clients read it, the votes as Kafka's coordinator counted them."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

import partwright as pw
from partwright import _core
from partwright.assignors.names import CLIENT_ASSIGNORS, assignors

GOLDEN = Path(__file__).parents[1] / "golden" / "assignors"
CLASS = "org.apache.kafka.clients.consumer."


class Mine:
    """A user's own assignor, of the cooperative protocol only."""

    name = "mine"
    supported_protocols = ("COOPERATIVE",)

    def assign(self, *_: Any) -> Any:
        raise NotImplementedError


# `ConsumerConfig.configDef().defaultValues()` of each of these.
@pytest.mark.parametrize("version", ["2.3.1", "2.4.0", "2.8.2", "3.0.0", "3.0.2", "3.9.2", "4.1.1", "4.4.0"])
def test_the_default_is_that_of_the_version(version: str) -> None:
    expected = ["range"] if version < "3" else ["range", "cooperative-sticky"]
    assert pw.assignment_strategy(version=version) == expected
    # A consumer rebalances cooperatively only if all its assignors can; range cannot.
    assert pw.rebalance_protocol(version=version) == "EAGER"


def test_a_setting_is_a_list_or_text_with_kafkas_classes_or_names() -> None:
    both = ["sticky", "range"]
    for strategy in (
        both,
        "sticky,range",
        f" {CLASS}StickyAssignor ,\t{CLASS}RangeAssignor ",
        (f"{CLASS}StickyAssignor", "range"),
    ):
        assert pw.assignment_strategy(strategy) == both
    classes = [f"{CLASS}{name}Assignor" for name in ("Range", "RoundRobin", "Sticky", "CooperativeSticky")]
    assert pw.assignment_strategy(classes) == ["range", "roundrobin", "sticky", "cooperative-sticky"]
    assert pw.assignment_strategy([Mine, "range"]) == ["mine", "range"]
    assert (
        pw.assign({"t": 1}, {"c": ["t"]}, classes[2]).to_dict() == pw.assign({"t": 1}, {"c": ["t"]}).to_dict()
    )


def test_a_name_twice_is_what_the_version_makes_of_it() -> None:
    """As `new KafkaConsumer` of 3.0.2, 3.1.0, 3.3.2, 3.9.2, 4.1.1, 4.2.0, 4.3.1 and 4.4.0 accepts it."""
    twice = f"range, {CLASS}RangeAssignor"
    assert pw.assignment_strategy(twice, "3.0.2") == ["range", "range"]
    for version in ("3.1.0", "3.3.2", "3.9.2", "4.1.1"):
        with pytest.raises(pw.PartwrightError) as refused:
            pw.assignment_strategy(twice, version)
        assert str(refused.value) == (
            f"partition.assignment.strategy has 'range' twice, which kafka-clients {version} refuses: each name once"
        )
    for version in ("4.2.0", "4.3.1", "4.4.0"):
        assert pw.assignment_strategy(twice, version) == ["range"]


@pytest.mark.parametrize(
    ("strategy", "version", "sentence"),
    [
        ("stiky", "4.4.0", 'there is no assignor "stiky"; known: '),
        ("range,", "4.4.0", 'there is no assignor ""; known: '),
        ("", "4.4.0", "partition.assignment.strategy is empty: name at least one assignor"),
        ([], "4.4.0", "partition.assignment.strategy is empty: name at least one assignor"),
        (5, "4.4.0", "partition.assignment.strategy is a list or text with commas, not 5"),
        ([5], "4.4.0", "an assignor is named by text, not 5"),
        (f"{CLASS}StreamsAssignor", "4.4.0", f"the assignor '{CLASS}StreamsAssignor' cannot be imported"),
        *(
            (
                ["range", name],
                "4.4.0",
                f"partition.assignment.strategy cannot have {name!r}: there are range, ",
            )
            for name in assignors()[4:]
        ),
        ("range", "four", "a version of kafka-clients is written as 3.9.2, not 'four'"),
        ("range", 4, "a version of kafka-clients is written as 3.9.2, not 4"),
    ],
)
def test_a_setting_that_is_none_is_refused(strategy: Any, version: Any, sentence: str) -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        pw.assignment_strategy(strategy, version)
    assert str(refused.value).startswith(sentence)


def test_a_consumer_rebalances_by_the_highest_common_protocol() -> None:
    assert pw.rebalance_protocol("cooperative-sticky") == "COOPERATIVE"
    assert pw.rebalance_protocol("cooperative-sticky, sticky") == "EAGER"
    assert pw.rebalance_protocol(["cooperative-sticky", Mine]) == "COOPERATIVE"
    with pytest.raises(pw.PartwrightError) as refused:
        pw.rebalance_protocol([Mine, "range"])
    assert str(refused.value) == (
        "the assignors mine, range have no rebalance protocol in common (Kafka's own consumer throws "
        "IllegalArgumentException)"
    )


# The choice of `ClassicGroup.selectProtocol` of kafka-group-coordinator 4.1.1 and 4.3.1 for equal votes.
TIES = {
    ("range", "sticky"): "sticky",
    ("range", "roundrobin"): "range",
    ("range", "cooperative-sticky"): "range",
    ("roundrobin", "sticky"): "sticky",
    ("roundrobin", "cooperative-sticky"): "roundrobin",
    ("sticky", "cooperative-sticky"): "sticky",
    ("range", "roundrobin", "cooperative-sticky"): "range",
    ("range", "roundrobin", "sticky"): "sticky",
    ("range", "sticky", "cooperative-sticky"): "sticky",
    ("roundrobin", "sticky", "cooperative-sticky"): "sticky",
}


@pytest.mark.parametrize(("names", "chosen"), TIES.items(), ids=" ".join)
def test_of_equal_votes_the_first_of_javas_map_wins(names: tuple[str, ...], chosen: str) -> None:
    for order in permutations(names):
        # Each member prefers another one, and all have all.
        members = {f"c{place}": [*order[place:], *order[:place]] for place in range(len(order))}
        assert pw.select_assignor(members) == chosen


def test_members_vote_for_the_first_that_all_have() -> None:
    members: dict[str, Any] = {"c1": "sticky, range", "c2": "sticky, range", "c3": None}
    assert pw.select_assignor(members) == "range"
    assert pw.select_assignor({**members, "c4": "range"}, "2.8.2") == "range"
    votes = {"c1": "cooperative-sticky, range", "c2": "range, cooperative-sticky", "c3": members["c1"]}
    assert pw.select_assignor({**votes, "c3": "cooperative-sticky, range"}) == "cooperative-sticky"
    assert pw.select_assignor({"c1": [Mine, "range"], "c2": ["range", Mine], "c3": [Mine, "range"]}) == "mine"
    with pytest.raises(pw.PartwrightError) as refused:
        pw.select_assignor({"c1": "range", "c2": "sticky"})
    assert str(refused.value) == (
        "the members have no assignor in common, so the coordinator lets the last of them not join "
        "(INCONSISTENT_GROUP_PROTOCOL): 'c1' has range; 'c2' has sticky; set one that all have"
    )
    with pytest.raises(pw.PartwrightError, match="a group without members has no assignor"):
        pw.select_assignor({})
    for odd in (["range"], {1: "range"}):
        with pytest.raises(
            pw.PartwrightError, match=r"strategies has a partition\.assignment\.strategy by member, not "
        ):
            pw.select_assignor(odd)  # type: ignore[arg-type]


def test_names_are_walked_over_as_java_walks() -> None:
    """The golden file's own maps."""
    maps = [
        each
        for each in json.loads((GOLDEN / "java_order.json").read_text(encoding="ascii"))
        if "names" in each
    ]
    assert len(maps) > 50
    for each in maps:
        assert _core.walk_names(each["names"]) == each["walk"], each["name"]


def test_a_member_that_no_kafka_could_name_is_refused() -> None:
    with pytest.raises(pw.PartwrightError, match="is not UTF-8"):
        pw.select_assignor({"c\ud800": "range"})


def test_a_group_takes_what_kafkas_coordinator_takes() -> None:
    votes = json.loads((GOLDEN / "votes.json").read_text(encoding="ascii"))
    assert {vote["selected"] for vote in votes} == {*CLIENT_ASSIGNORS, None}
    for vote in votes:
        if vote["selected"] is None:
            with pytest.raises(pw.PartwrightError, match="the members have no assignor in common"):
                pw.select_assignor(vote["members"])
        else:
            assert pw.select_assignor(vote["members"]) == vote["selected"], vote

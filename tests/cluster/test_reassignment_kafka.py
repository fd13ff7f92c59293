"""Plans next to those of `kafka-reassign-partitions.sh --generate`: what moves, and how even brokers get."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from reassigned import unlike

from partwright.cluster import Broker, Cluster, reassign
from partwright.cluster.placement import admin_utils, striped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS / "reference"))
from generated_plans import CLUSTERS, PARTITIONS, REPLICAS, TOPICS, digest, named  # noqa: E402

GOLDEN = TESTS / "golden" / "placement" / "generate.jsonl"
PAGE = TESTS.parent / "docs" / "reassign.md"
FAST = (3, 90, 100)


class Figures(NamedTuple):
    """The moves of a plan, and the brokers' loads after it."""

    moved: int
    replicas: tuple[int, int]
    leaders: tuple[int, int]


def nodes(racks: int, count: int) -> list[Broker]:
    return [Broker(id_, rack=f"r{id_ % racks}" if racks else None) for id_ in range(count)]


def today(racks: int, count: int) -> Cluster:
    """Topics as Kafka's controller places them."""
    brokers = nodes(racks, count)
    topics = {
        f"t{number:04}": striped(brokers, PARTITIONS, REPLICAS, seed=unlike(number))
        .to_cluster("t")
        .topics["t"]
        for number in range(TOPICS)
    }
    return Cluster(tuple(brokers), topics)


def figures(cluster: Cluster, plan: Mapping[str, Sequence[Sequence[int]]], brokers: int) -> Figures:
    replicas, leaders, moved = [0] * brokers, [0] * brokers, 0
    for name, rows in plan.items():
        for own, old in zip(rows, cluster.topics[name], strict=True):
            moved += len(set(own) - set(old.replicas))
            leaders[own[0]] += 1
            for each in own:
                replicas[each] += 1
    return Figures(moved, (min(replicas), max(replicas)), (min(leaders), max(leaders)))


def generated(racks: int, before: int, after: int) -> dict[str, Any]:
    """Kafka's own plan, rebuilt from its draws; the digest proves that it is the same."""
    lines = [json.loads(line) for line in GOLDEN.read_text(encoding="ascii").splitlines()[1:]]
    name = named(racks, before, after)
    told = next(line["answer"] for line in lines if line["question"]["cluster"] == name)
    brokers = nodes(racks, after)
    plan = {
        f"t{number:04}": admin_utils(brokers, PARTITIONS, REPLICAS, start_index=start, shift=shift).replicas
        for number, (start, shift) in enumerate(told["draws"])
    }
    assert digest(plan) == told["sha256"]
    return plan


def compared(racks: int, before: int, after: int) -> tuple[Figures, Figures, Figures, int]:
    """The figures of our plan, of Kafka 3.9's, and of one that 4.x may draw; and the bound."""
    cluster = today(racks, before)
    brokers = nodes(racks, after)
    plan = reassign(cluster, brokers=brokers)
    ours = {name: [each.replicas for each in those] for name, those in plan.after.topics.items()}
    newer = {
        name: striped(brokers, PARTITIONS, REPLICAS, seed=unlike(TOPICS + number)).replicas
        for number, name in enumerate(cluster.topics)
    }
    return (
        figures(cluster, ours, after),
        figures(cluster, generated(racks, before, after), after),
        figures(cluster, newer, after),
        plan.bounds.replicas,
    )


def row(racks: int, before: int, after: int) -> str:
    """The row of the page's table."""
    ours, old, new, bound = compared(racks, before, after)
    cells = [f"{before} → {after}", str(racks) if racks else "none", f"{bound:,}"]
    for each in (ours, old, new):
        ends = " / ".join(f"{low} to {high}" for low, high in (each.replicas, each.leaders))
        cells += [f"{each.moved:,}", ends]
    return f"| {' | '.join(cells)} |"


def check(racks: int, before: int, after: int) -> None:
    ours, old, new, bound = compared(racks, before, after)
    assert ours.moved == bound
    for theirs in (old, new):
        assert ours.moved < theirs.moved / 5
        for own, other in ((ours.replicas, theirs.replicas), (ours.leaders, theirs.leaders)):
            assert own[1] - own[0] <= other[1] - other[0]


def test_a_plan_moves_a_fraction_of_what_kafkas_own_moves() -> None:
    check(*FAST)


@pytest.mark.long
@pytest.mark.parametrize("cluster", CLUSTERS, ids=[named(*each) for each in CLUSTERS])
def test_the_pages_table_is_what_both_plan(cluster: tuple[int, int, int]) -> None:
    check(*cluster)
    rows = re.findall(r"^\| \d+ → .*\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert row(*cluster) in rows

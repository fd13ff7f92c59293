"""Figures say what the JSON says: their tables, their marks, their sentences; and they are bounded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIGURES = {
    "check": ["partitions", "heavy-keys", "misplaced"],
    "fingerprint": ["rules", "writers"],
    "fingerprint-change": ["rules", "writers", "since"],
    "resize": ["flow", "partitions", "heavy-keys", "nearby"],
    "assign": ["map", "members"],
    "assign-compare": ["spread", "moved"],
    "group": ["timeline", "unread", "partitions"],
    "group-compare": ["unowned", "moved"],
    "batch": ["requests", "batches", "delays", "bytes", "waits"],
    "batch-tune": ["trade-off"],
    "batch-scenario": ["batches", "requests"],
}


def numbers(rows: list[list[str]]) -> list[list[Any]]:
    """A table's rows, its numbers as JSON reads them."""
    return [[json.loads(cell) if _is_number(cell) else cell for cell in row] for row in rows[1:]]


def _is_number(cell: str) -> bool:
    try:
        return isinstance(json.loads(cell), int | float)
    except ValueError:
        return False


@pytest.mark.parametrize("name", FIGURES)
def test_a_page_has_its_figures(name: str, read: Callable[[str], Any]) -> None:
    found = read(name)
    assert list(found.tables) == FIGURES[name]
    for figure, sentence in found.sentences.items():
        assert sentence.endswith("."), figure
        assert sentence.count(". ") == 0, sentence
        assert len(found.tables[figure]) > 1, figure


def test_the_answer_in_the_page_is_that_of_json(
    name: str, read: Callable[[str], Any], run: Callable[..., Any]
) -> None:
    found = read(name)
    is_json = name in {"assign", "assign-many", "batch-scenario"}
    told = json.loads(run(name, *([] if is_json else ["--json"])).stdout)
    if name == "assign-compare":
        # How long it took is another time each time.
        for each in [*told, *found.answer]:
            each.pop("seconds")
    assert found.answer == told


def test_partitions_are_those_of_the_json(read: Callable[[str], Any]) -> None:
    found = read("check")
    rows = numbers(found.tables["partitions"])
    parts = found.answer["partitions"]
    assert [(row[0], row[1], row[3]) for row in rows] == [
        (part["partition"], part["rows"], part["keys"]) for part in parts
    ]
    assert [row[2] for row in rows] == pytest.approx([part["rows"] / 3000 for part in parts])
    drawn = found.plots["partitions"]["data"]["values"]
    for part in parts:
        assert sum(each["size"] for each in drawn if each["partition"] == part["partition"]) == part["rows"]
    largest = max(parts, key=lambda part: part["rows"])
    sentence = found.sentences["partitions"]
    assert f"Partition {largest['partition']} has the most, {largest['rows']:,} of 3,000 records" in sentence
    heavy = numbers(found.tables["heavy-keys"])
    assert [(str(row[0]), row[1]) for row in heavy] == [
        (each["key"], each["rows"]) for each in found.answer["heavy_keys"]
    ]


def test_misplaced_records_are_counted_by_where_they_are_and_belong(
    read: Callable[[str], Any], folder: Path
) -> None:
    import csv

    import partwright as pw

    found = read("check")
    with (folder / "orders.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    expected = pw.partition_for_key([row["customer"] for row in rows], 12).to_pylist()
    counts: dict[tuple[int, int], int] = {}
    for row, right in zip(rows, expected, strict=True):
        if int(row["partition"]) != right:
            pair = (int(row["partition"]), right)
            counts[pair] = counts.get(pair, 0) + 1
    assert {
        (each["partition"], each["expected"]): each["rows"] for each in found.answer["misplaced_by"]
    } == counts
    assert sum(counts.values()) == found.answer["misplaced"] > 0
    assert {(row[0], row[1]): row[2] for row in numbers(found.tables["misplaced"])} == counts
    assert found.marks["misplaced"] == len(counts)


def test_flows_come_to_what_each_partition_has(read: Callable[[str], Any]) -> None:
    for name in ("resize", "resize-map"):
        answer = read(name).answer
        for end, side in (("from", "before"), ("to", "after")):
            for part in answer[side]:
                flows = [each["rows"] for each in answer["flows"] if each[end] == part["partition"]]
                assert sum(flows) == part["rows"]
        moved = sum(each["rows"] for each in answer["flows"] if each["from"] != each["to"])
        assert moved == answer["rows_moved"]


def test_rules_are_sorted_by_what_they_explain(read: Callable[[str], Any]) -> None:
    found = read("fingerprint")
    rows = numbers(found.tables["rules"])
    assert {row[0]: [row[1], row[2]] for row in rows} == found.answer["explained"]
    assert [row[3] for row in rows] == sorted((row[3] for row in rows), reverse=True)
    assert rows[0][0] == "java"


def test_the_map_has_each_partition_of_each_member(read: Callable[[str], Any]) -> None:
    found = read("assign")
    pairs = {
        (member, topic, partition)
        for member, those in found.answer["assignment"].items()
        for topic, partition in those
    }
    assert {tuple(row) for row in numbers(found.tables["map"])} == pairs
    assert found.marks["map"] == len(pairs) == 13
    assert "1 member reads nothing" in found.sentences["map"]


def test_many_members_are_bounded_and_it_says_so(read: Callable[[str], Any]) -> None:
    found = read("assign-many")
    assert "the 50 members and the 60 topics with the most are drawn" in found.sentences["map"]
    assert len(found.tables["map"]) == 201
    assert found.plots["map"]["encoding"]["x"]["sort"] == [f"topic-{place}" for place in range(80)]
    assert "more in the JSON" in found.text
    assert len(found.plots["members"]["data"]["values"]) == 50
    lots = read("check-many")
    assert "the 200 largest are drawn" in lots.sentences["partitions"]
    drawn = {int(each["partition"]): each["size"] for each in lots.plots["partitions"]["data"]["values"]}
    largest = sorted(lots.answer["partitions"], key=lambda part: (-part["rows"], part["partition"]))[:200]
    assert set(drawn) == {part["partition"] for part in largest if part["rows"]}
    assert len(lots.tables["partitions"]) == 201
    assert "4,800 more in the JSON" in lots.text


def test_the_timeline_has_each_span_that_somebody_or_nobody_read(read: Callable[[str], Any]) -> None:
    import partwright as pw

    timeline = pw.group.play({"topics": {"t": 6}, "events": "+3, -1, x1, +2"})
    found = read("group")
    bars = found.plots["timeline"]["data"]["values"]
    read = [bar for bar in bars if bar["member"] != "nobody"]
    assert len(read) == timeline.ownership().num_rows
    lost: dict[str, float] = {}
    for bar in bars:
        if bar["member"] == "nobody":
            lost[bar["partition"]] = lost.get(bar["partition"], 0.0) + bar["to"] - bar["from"]
    wanted = {name: gap / 1000 for name, gap in timeline.unowned_ms.items() if gap}
    assert lost == pytest.approx(wanted)
    area = sum(
        row["partitions"] * (row["to"] - row["from"]) for row in found.plots["unread"]["data"]["values"]
    )
    assert area == pytest.approx(timeline.cost.unowned_s)
    generations = numbers(found.tables["timeline"])
    assert [row[0] for row in generations] == [each["generation"] for each in found.answer["generations"]]


def test_costs_and_assignors_stand_in_their_one_order(read: Callable[[str], Any]) -> None:
    found = read("group-compare")
    rows = numbers(found.tables["unowned"])
    assert [(row[0], row[1]) for row in rows] == [
        (each["protocol"], "static" if each["static"] else "dynamic") for each in found.answer
    ]
    assert [row[4] for row in rows] == [each["unowned_s"] for each in found.answer]
    compared = read("assign-compare")
    moved = numbers(compared.tables["moved"])
    assert [(row[0], row[1]) for row in moved] == [
        (each["assignor"], each["moved"]) for each in compared.answer
    ]


def test_batches_and_settings_are_those_of_the_json(read: Callable[[str], Any]) -> None:
    found = read("batch")
    told = {row["strategy"]: row for row in found.answer["strategies"]}
    for row in numbers(found.tables["requests"]):
        of = told[row[0]]
        assert row[1:7] == [
            of["batches"], of["requests"], of["mean_fill"], of["p50_delay_ms"], of["p99_delay_ms"], of["largest_share"]
        ]  # fmt: skip
    assert sum(row[2] for row in numbers(found.tables["waits"])) == 3000
    tuned = read("batch-tune")
    rows = numbers(tuned.tables["trade-off"])
    assert [(row[2], row[3], row[4], row[5]) for row in rows] == [
        (each["batch_size"], each["linger_ms"], each["requests"], each["p99_delay_ms"])
        for each in tuned.answer["settings"]
    ]
    scenario = read("batch-scenario")
    assert [row[:4] for row in numbers(scenario.tables["batches"])] == [
        [each["id"], each["partition"], each["opened_ms"], each["closed_ms"]]
        for each in scenario.answer["batches"]
    ]

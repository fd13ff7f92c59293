"""Figures agree with the JSON: their tables, their marks, their sentences; and their size is bounded."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from partwright.cluster import reassign
from partwright.cluster.placement import explicit
from partwright.documents.reassign import document

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIGURES = {
    "check": ["partitions", "heavy-keys", "misplaced"],
    "fingerprint": ["rules", "scattered", "writers"],
    "fingerprint-change": ["rules", "writers", "course", "since"],
    "copartition": ["sides", "keys", "settings", "apart"],
    "advise": ["needs", "costs", "assumed", "sources"],
    "advise-replicas": ["shares"],
    "check-large": ["partitions", "heavy-keys", "misplaced"],
    "resize-large": ["heavy-keys", "nearby", "in-place", "replay", "partitions", "flow"],
    "resize": ["heavy-keys", "nearby", "in-place", "replay", "partitions", "flow"],
    "assign": ["map", "members"],
    "assign-compare": ["spread"],
    "assign-now": ["members"],
    "assign-leaders": ["leaders"],
    "assign-clients": ["clients"],
    "assign-roll": ["leader-last", "leader-first"],
    "group": ["timeline", "unread", "partitions"],
    "group-compare": ["lives"],
    "reassign": ["brokers", "losses", "batches"],
    "rollout": ["candidates", "settings", "timeline"],
    "batch": ["requests", "batches", "bytes", "waits"],
    "batch-tune": ["trade-off"],
    "batch-scenario": ["batches", "requests"],
}


def numbers(rows: list[list[str]]) -> list[list[Any]]:
    """A table's rows, with its numbers as JSON reads them."""
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
        assert not sentence or sentence.endswith("."), figure
        assert sentence.count(". ") == 0, sentence
        # Settings and sources are lines to copy; a replay is steps.
        assert len(found.tables[figure]) > 1 or figure in {"settings", "sources", "replay"}, figure


def test_the_answer_in_the_page_is_that_of_json(
    name: str, read: Callable[[str], Any], run: Callable[..., Any]
) -> None:
    found = read(name)
    told = json.loads(run(name, "--json").stdout)
    if name == "assign-compare":
        # The time that it took differs each time.
        for each in [*told["assignors"], *found.answer["assignors"]]:
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
    explained = {name: [row[1], row[2]] for row in rows for name in row[0].split(", ")}
    assert explained == found.answer["explained"]
    assert len({(row[1], row[2]) for row in rows}) == len(rows)
    assert [row[3] for row in rows] == sorted((row[3] for row in rows), reverse=True)
    assert rows[0][0].startswith("java, ")


def test_the_map_has_each_partition_of_each_member(read: Callable[[str], Any]) -> None:
    found = read("assign")
    pairs = {
        (member, topic, partition)
        for member, those in found.answer["assignment"].items()
        for topic, partition in those
    }
    assert {tuple(row) for row in numbers(found.tables["map"])} == pairs
    assert found.marks["map"] == len(pairs) == 13
    assert "1 member is idle (idle)" in found.answer["summary"]


def test_many_members_and_topics_are_all_drawn_in_cells(read: Callable[[str], Any]) -> None:
    found = read("assign-many")
    cells = found.plots["map"]["data"]["values"]
    read_ = sum(map(len, found.answer["assignment"].values()))
    assert sum(cell["count"] for cell in cells) == read_ == 3200
    assert len(cells) == found.marks["map"]
    assert found.answer["summary"].startswith("150 members read 3,200 partitions by server-uniform, ")
    assert len({row[1] for row in [*found.tables["map"][1:], *found.rest["map"]]}) == 80
    assert "All are drawn; a cell holds 3 members by 2 topics" in found.sentences["map"]
    assert {(cell["right"] - cell["left"], cell["bottom"] - cell["top"]) for cell in cells} == {(2, 3)}
    # The first rows are shown; the filter has all of them.
    assert len(found.tables["map"]) == 201
    assert (
        len(found.rest["map"])
        == sum(len({topic for topic, _ in pairs}) for pairs in found.answer["assignment"].values()) - 200
    )
    assert sum(row[1] for row in numbers(found.tables["spread"])) == 150


def test_a_map_in_which_every_cell_is_the_same_is_a_sentence() -> None:
    import partwright as pw
    from partwright.documents.assign import document as drawn

    topics = {f"t{place}": 120 for place in range(3)}
    members = {f"m{place}": list(topics) for place in range(60)}
    even = {section.id: section for section in drawn(pw.assign(topics, members)).sections}
    assert list(even) == ["map", "members"]
    assert even["map"].sentence == "Each member reads 2 partitions of each topic."
    assert even["map"].spec is None
    # One partition more is one cell that differs.
    uneven = {section.id: section for section in drawn(pw.assign({**topics, "t0": 121}, members)).sections}
    assert list(uneven) == ["map", "spread", "members"]
    assert uneven["map"].spec is not None
    strengths = {cell["mean"] for cell in uneven["map"].spec["data"]["values"]}
    assert strengths == {2.0, 2.5}
    assert uneven["spread"].rows == ({"partitions": "6", "members": 59}, {"partitions": "7", "members": 1})


def test_idle_members_stand_out(read: Callable[[str], Any]) -> None:
    found = read("assign-large")
    idle = sum(not pairs for pairs in found.answer["assignment"].values())
    assert idle > 0
    assert numbers(found.tables["spread"])[0] == ["0 (idle)", idle]
    assert f"{idle} members are idle" in found.text.split("</section>")[0]


def test_many_partitions_are_all_drawn_by_their_size(read: Callable[[str], Any]) -> None:
    found = read("check-large")
    parts = [part["rows"] for part in found.answer["partitions"]]
    ranked = found.plots["partitions"]["data"]["values"]
    used = sum(1 for rows in parts if rows)
    assert ranked[-1]["to"] == used
    assert (ranked[0]["most"], ranked[-1]["least"]) == (max(parts), 1)
    assert [row[1] for row in numbers(found.tables["partitions"])] == sorted(parts, reverse=True)[:200]
    ascending = sorted(parts)
    assert f"{2000 - used:,} are empty, and there are at most " in found.sentences["partitions"]
    for name, part in {"half": 0.5, "three quarters": 0.75, "nine tenths": 0.9, "99%": 0.99}.items():
        most = ascending[round(part * 1999)]
        # Of parts with the same size, the largest stands for all.
        assert f"{most:,} in " in found.sentences["partitions"], name
    assert f"{ascending[round(0.99 * 1999)]:,} in 99% of all partitions" in found.sentences["partitions"]


def test_many_flows_are_all_drawn_in_cells(read: Callable[[str], Any]) -> None:
    for name, flows, figure in (
        ("check-large", "misplaced_by", "misplaced"),
        ("resize-large", "flows", "flow"),
    ):
        found = read(name)
        cells = found.plots[figure]["data"]["values"]
        rows = sum(each["rows"] for each in found.answer[flows])
        assert sum(cell["moved"] + cell["stays"] for cell in cells) == rows
        assert (
            f"all {len(found.answer[flows]):,} flows are drawn, in {len(cells):,} cells"
            in found.sentences[figure]
        )
        ends = ("from", "to") if figure == "flow" else ("partition", "expected")
        told = [(each[ends[0]] == each[ends[1]], -each["rows"]) for each in found.answer[flows]]
        shown = [*numbers(found.tables[figure]), *found.rest.get(figure, [])]
        # Those that move come first, the largest before others.
        assert [(str(row[0]).replace(",", "") == str(row[1]), -row[2]) for row in shown] == sorted(told)


def test_many_batches_are_all_drawn_over_the_time_since_the_first(read: Callable[[str], Any]) -> None:
    found = read("batch-large")
    cells = found.plots["batches"]["data"]["values"]
    (told,) = found.answer["strategies"]
    assert sum(cell["count"] for cell in cells) == told["batches"]
    assert min(cell["left"] for cell in cells) == 0
    assert max(cell["right"] for cell in cells) < 200_000
    assert "since 2023-11-14T22:13:20" in found.plots["batches"]["encoding"]["x"]["title"]


def test_the_verdict_is_the_same_everywhere(
    name: str, read: Callable[[str], Any], run: Callable[..., Any]
) -> None:
    if name == "batch-scenario":
        # It prints only JSON.
        return
    summary = read(name).answer["summary"]
    printed = run(name).stdout
    words = " ".join(printed.removeprefix("✓ ").removeprefix("✗ ").split())
    assert words.startswith(" ".join(summary.split()))
    verdict = html.unescape(
        re.findall(
            r'<p class="[a-z]+ summary">(?:<span[^>]*>.*?</span>)?(.*?)</p>', read(name).text, re.DOTALL
        )[0]
    )
    assert verdict == summary


def test_who_wrote_when_adds_up(read: Callable[[str], Any]) -> None:
    found = read("fingerprint-change")
    spans = found.answer["course"]
    assert (spans[0]["rows"]["12 partitions"], spans[-1]["rows"]["8 partitions"]) == (0, 0)
    assert spans[0]["from_ms"] == 1_700_000_000_000
    assert sum(sum(span["rows"].values()) for span in spans) <= 2000
    shares: dict[float, float] = {}
    for bar in found.plots["course"]["data"]["values"]:
        shares[bar["from"]] = shares.get(bar["from"], 0) + bar["share"]
    assert all(share == pytest.approx(1) for share in shares.values())


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
    rows = numbers(found.tables["lives"])
    assert [(row[0], row[1]) for row in rows] == [
        (each["protocol"], "static" if each["static"] else "dynamic") for each in found.answer["lives"]
    ]
    assert [(row[2], row[4]) for row in rows] == [
        (each["unowned_s"], each["moved"]) for each in found.answer["lives"]
    ]
    compared = read("assign-compare")
    moved = numbers(compared.tables["spread"])
    assert [(row[0], row[4]) for row in moved] == [
        (each["assignor"], each["moved"]) for each in compared.answer["assignors"]
    ]


def test_candidates_are_those_of_the_json_and_two_of_them_stand_out(read: Callable[[str], Any]) -> None:
    found = read("rollout")
    told = found.answer["candidates"]
    assert [row[2:6] for row in numbers(found.tables["candidates"])] == [
        [
            each["unread_s"]["median"],
            each["unread_s"]["p95"],
            each["moved"],
            each["longest_unread_s"]["median"],
        ]
        for each in told
    ]
    names = [row[0] for row in found.tables["candidates"][1:]]
    marked = [place for place, name in enumerate(names) if name.endswith(("(today)", "(take)", "(keep)"))]
    assert marked == sorted({found.answer["recommended"], found.answer["today"]})


def test_batches_and_settings_are_those_of_the_json(read: Callable[[str], Any]) -> None:
    found = read("batch")
    told = {row["strategy"]: row for row in found.answer["strategies"]}
    for row in numbers(found.tables["requests"]):
        of = told[row[0]]
        assert row[1:7] == [
            of["batches"], of["requests"], of["mean_fill"], of["p50_delay_ms"], of["p99_delay_ms"], of["largest_share"]
        ]  # fmt: skip
    assert sum(row[1] for row in numbers(found.tables["waits"])) == 3000
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


def test_a_page_says_how_even_brokers_are_and_what_losses_cost() -> None:
    plan = reassign(explicit("0:1,1:0,0:1,1:0").to_cluster("t"), add=[2, 3])
    page = document(replace(plan, min_insync_replicas=2))
    sections = {section.id: section for section in page.sections}
    assert (
        sections["brokers"].sentence
        == "Replicas of a broker: 4 today, 2 after it; leaders: 2 today, 1 after it."
    )
    assert [row["label"] for row in sections["brokers"].rows] == ["0", "1", "2 (joins)", "3 (joins)"]
    assert sections["brokers"].picked == {2, 3}
    worst = "0 → 0 offline, 4 → 2 closed for acks=all, 2 → 1 with a new leader"
    assert f"The worst loss of a broker, in partitions: {worst}." in [each.text for each in page.verdicts]
    lost = sections["losses"].rows
    assert [(row["label"], row["taken_over today"], row["taken_over after"]) for row in lost] == [
        ("broker 0", 2, 1), ("broker 1", 2, 1), ("broker 2", None, 1), ("broker 3", None, 1)
    ]  # fmt: skip
    # No topic has coordinators.
    assert not [column for column in sections["losses"].columns if "coordinators" in column.title]


def test_tied_keys_are_not_heavy(read: Callable[[str], Any]) -> None:
    found = read("check-hostile")
    assert {each["rows"] for each in found.answer["heavy_keys"]} == {1}
    assert found.sentences["heavy-keys"] == "These 9 keys have 1 record each, and no key has more."
    assert 'data-bar="' not in _section(found.text, "heavy-keys")
    # No bar is in the colour of the heaviest keys.
    assert {bar["kind"] for bar in found.plots["partitions"]["data"]["values"]} == {"all others"}
    assert "of the heaviest keys" not in found.tables["partitions"][0]
    assert [row[1] for row in numbers(read("check").tables["heavy-keys"])][:2] == [982, 619]
    assert 'data-bar="' in _section(read("check").text, "heavy-keys")


def test_rows_that_stand_out_are_picked(read: Callable[[str], Any]) -> None:
    for name, figure, first in (
        ("fingerprint", "rules", "java, "),
        ("resize", "nearby", "24"),
        ("copartition", "keys", "in both, in other partitions"),
    ):
        rows = re.findall(r'<tr class="(.*?)"><th.*?>(.*?)</th>', _section(read(name).text, figure))
        assert [re.sub("<.*?>", "", cell)[: len(first)] for kind, cell in rows if "picked" in kind] == [first]


def _section(text: str, figure: str) -> str:
    return text.partition(f'<section class="figure" id="{figure}"')[2].partition("</section>")[0]

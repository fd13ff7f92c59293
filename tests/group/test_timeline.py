"""A timeline's record batches, and what the core makes of them for charts and pages."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from partwright import PartwrightError, group

if TYPE_CHECKING:
    from partwright.group import Timeline

ASSIGNED = {"at_ms": 0, "assign": "beside", "partitions": [["t", 0], ["t", 1]]}


@pytest.fixture(params=[{"assignor": "range"}, {"assignor": "cooperative-sticky"}, {"protocol": "consumer"}])
def timeline(request: pytest.FixtureRequest, seed: int) -> Timeline:
    """A life with members that come, go and restart, a topic that grows, and one that is deleted."""
    draw = random.Random(seed)
    events: list[dict[str, Any]] = [ASSIGNED, *({"at_ms": 0, "join": f"c{number}"} for number in range(5))]
    at_ms = 30_000
    for number in range(20):
        at_ms += draw.randrange(20_000, 60_000)
        events.append({"at_ms": at_ms, "restart": f"c{number % 5}", "down_ms": draw.randrange(1, 15_000)})
        if number == 7:
            events.append({"at_ms": at_ms, "add_partitions": {"t": 3}})
        if number == 12:
            events.append({"at_ms": at_ms, "delete_topic": "u"})
    return group.play({"topics": {"t": 4, "u": 3}, "events": events, **request.param})


def changes(rows: list[dict[str, Any]]) -> dict[int, int]:
    """By time, how many spans begin less how many end."""
    found: dict[int, int] = {}
    for row in rows:
        found[row["from_ms"]] = found.get(row["from_ms"], 0) + 1
        if row["to_ms"] is not None:
            found[row["to_ms"]] = found.get(row["to_ms"], 0) - 1
    return {at_ms: by for at_ms, by in found.items() if by}


@pytest.mark.parametrize("rows", [1, 7, 1_000_000])
def test_batches_are_the_table_in_pieces(timeline: Timeline, rows: int) -> None:
    table = timeline.ownership()
    batches = list(timeline.ownership_batches(rows))
    assert pa.Table.from_batches(batches, table.schema).equals(table)
    assert all(0 < batch.num_rows <= rows for batch in batches)
    table.validate(full=True)
    assert table.schema.names == ["member", "topic", "partition", "from_ms", "to_ms", "group"]
    assert {row["member"] for row in table.to_pylist() if not row["group"]} == {"beside"}


def test_rows_stand_by_partition_and_time(timeline: Timeline) -> None:
    told = [row for row in timeline.ownership().to_pylist() if row["group"]]
    places = [(row["topic"], row["partition"], row["from_ms"]) for row in told]
    assert places == sorted(places)


def test_readers_sum_up_what_the_table_has(timeline: Timeline) -> None:
    rows = timeline.ownership().to_pylist()
    readers = timeline.readers()
    found = readers.changes(readers.names)
    for name in readers.names:
        summed: dict[int, int] = {}
        for at_ms, by in found[name]:
            summed[at_ms] = summed.get(at_ms, 0) + by
        own = [row for row in rows if row["member"] == name]
        assert {at_ms: by for at_ms, by in summed.items() if by} == changes(own)
    assert set(readers.partitions) == {f"{row['topic']}-{row['partition']}" for row in rows}


def test_gaps_come_to_the_time_without_a_reader(timeline: Timeline) -> None:
    readers = timeline.readers()
    gaps = readers.gaps()
    lost = dict.fromkeys(timeline.unowned_ms, 0)
    for name, from_ms, to_ms in gaps:
        assert from_ms < to_ms
        lost[name] += to_ms - from_ms
    assert lost == timeline.unowned_ms
    summed, longest = readers.unread()
    assert dict(summed) == {
        at_ms: sum((start == at_ms) - (end == at_ms) for _, start, end in gaps) for at_ms, _ in summed
    }
    assert longest == max(gaps, key=lambda gap: gap[2] - gap[1])


def test_a_group_that_never_began_has_no_gaps() -> None:
    timeline = group.play({"topics": {"t": 2}, "events": [ASSIGNED]})
    readers = timeline.readers()
    assert (readers.began, readers.gaps(), readers.unread()) == (False, [], ([], None))
    assert timeline.ownership().num_rows == 2


@pytest.mark.parametrize("rows", [0, -1, True, 1.5, None, "7", 10**9])
def test_a_batch_has_a_number_of_rows(rows: object) -> None:
    timeline = group.play({"topics": {"t": 1}, "events": "+1"})
    with pytest.raises(PartwrightError, match="a record batch's rows"):
        timeline.ownership_batches(rows)  # type: ignore[arg-type]


def test_what_was_not_kept_is_not_summed_up() -> None:
    timeline = group.play({"topics": {"t": 1}, "events": "+1"}, ownership=False)
    for ask in (timeline.ownership_batches, timeline.readers):
        with pytest.raises(PartwrightError, match="ownership=True"):
            ask()


def test_members_that_name_the_same_topics_have_the_same_numbers() -> None:
    named = [["u", "t"], ["t", "u"], ["u", "t", "u"], "t", ["later", "t"]]
    events = [
        {"at_ms": 1000 * number, "join": f"c{number}", "topics": topics}
        for number, topics in enumerate(named)
    ]
    script = group.script.read_script(
        {"topics": {"t": 2, "u": 1}, "events": [*events, {"at_ms": 9000, "create_topic": {"later": 1}}]}
    )
    assert [action["join"][2] for _, action in script.actions if "join" in action] == [
        [1, 0],
        [0, 1],
        [1, 0],
        [0],
        [2, 0],
    ]

"""`resize`: what moves is what a dictionary of places counts, in every format, and what is told of it."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partwright as pw
from partwright import observed
from partwright.audit.resize import Resize
from partwright.cli import main
from partwright.observed import Observed

CLIENTS = [client for client in pw.clients()["client"].to_pylist() if client != "java:string-hash"]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.none() | st.text("abé", max_size=2), max_size=8), max_size=4),
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from(CLIENTS),
)
def test_what_moves_is_counted(batches: list[list[str | None]], from_: int, to: int, client: str) -> None:
    if from_ == to:
        to += 1
    plan = Resize(from_, to, client)
    for batch in batches:
        plan.add(pa.array(batch, pa.string()))
    rows = Counter(key for batch in batches for key in batch)
    before, after = (
        {key: pw.which(key, n, client)[client] for key in rows} if rows else {} for n in (from_, to)
    )
    # A null key that a client hashes is in one partition; it is no key that could be counted among others.
    placed = {key: count for key, count in rows.items() if before[key] is not None}
    moved = {key: count for key, count in placed.items() if before[key] != after[key]}
    found = plan.to_dict()
    assert (found["rows"], found["rows_moved"]) == (sum(placed.values()), sum(moved.values()))
    assert found["unplaced"] == rows.total() - found["rows"]
    assert (found["keys"], found["keys_moved"]) == (len(placed.keys() - {None}), len(moved.keys() - {None}))
    for name, places in (("from", before), ("to", after)):
        by_place: Counter[Any] = Counter()
        for key, count in placed.items():
            by_place[places[key]] += count
        assert found["largest_share"][name] == max(by_place.values(), default=0) / (found["rows"] or 1)
    wanted = sorted(
        ((key, count) for key, count in moved.items() if key is not None),
        key=lambda one: (-one[1], one[0].encode()),
    )
    assert [(each["key"], each["rows"], each["from"], each["to"]) for each in found["heaviest_moved"]] == [
        (key or "(empty)", count, before[key], after[key]) for key, count in wanted[:10]
    ]


def test_numbers_nearby_are_those_that_would_be_asked_for() -> None:
    draw = random.Random(20261121)
    keys = [f"user-{draw.randrange(500)}" for _ in range(5000)] + [None] * 3000
    # The second hashes null keys, too.
    for client in ("java", "librdkafka:murmur2"):
        plan = Resize(12, 16, client)
        plan.add(pa.array(keys))
        nearby = plan.nearby()
        assert nearby is not None
        assert [choice.to for choice in nearby] == [13, 14, 15, 16, 17, 18, 19, 20, 21, 22]
        for choice in nearby:
            other = Resize(12, choice.to, client)
            other.add(pa.array(keys))
            assert (choice.rows_moved, choice.largest_share) == (other.rows_moved, other.largest_share[1])
    assert [choice.to for choice in Resize(12, 3).nearby() or []] == [1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_twice_as_many_move_one_half_and_no_one_moves_back() -> None:
    keys = pa.array([f"user-{row}" for row in range(20_000)])
    plan = Resize(48, 96)
    plan.add(keys)
    assert plan.rows_moved == pytest.approx(10_000, rel=0.03)
    # To the partition that is n further on, each of them.
    moved = plan.heaviest_moved()
    assert moved
    assert {each.to - each.from_ for each in moved} == {48}


def test_rows_are_exact_where_keys_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed, "_PENDING", 0)
    draw = random.Random(20261121)
    keys = pa.array([f"user-{row}" for row in range(20_000)] + ["user-1", "user-2"] * 4_000)
    sizes = pa.array([draw.randrange(100) for _ in range(len(keys))])
    exact, over = Resize(12, 18), Resize(12, 18)
    over._seen = Observed(most=2000)
    for plan in (exact, over):
        for start in range(0, len(keys), 5000):
            plan.add(keys.slice(start, 5000), sizes=sizes.slice(start, 5000))
    known, found = exact.to_dict(), over.to_dict()
    assert (known["keys_estimated"], found["keys_estimated"]) == (False, True)
    names = {"keys", "keys_moved", "keys_estimated", "nearby", "heaviest_moved"}
    assert {name: found[name] for name in found.keys() - names} == {
        name: known[name] for name in known.keys() - names
    }
    for name in ("keys", "keys_moved"):
        assert found[name] == pytest.approx(known[name], rel=0.1)
    for ours, right in zip(found["nearby"], known["nearby"], strict=True):
        assert ours["to"] == right["to"]
        assert ours["rows_moved"] == pytest.approx(right["rows_moved"], rel=0.1)
        assert ours["largest_share"] == pytest.approx(right["largest_share"], rel=0.1)
    heavy = known["heaviest_moved"][0]
    assert found["heaviest_moved"][0] == heavy | {"rows": found["heaviest_moved"][0]["rows"]}
    assert 0.9 * heavy["rows"] < found["heaviest_moved"][0]["rows"] <= heavy["rows"]


def call(capfd: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["resize", *map(str, words)])
    out, err = capfd.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet"])
def test_every_format_is_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    keys = [f"user-{row % 300}" for row in range(2000)] + [None] * 5
    if name == "x.parquet":
        pq.write_table(pa.table({"k": keys}), name)
    elif name == "x.csv":
        Path(name).write_text("k,v\n" + "".join(f"{key or ''},1\n" for key in keys), encoding="utf-8")
    else:
        Path(name).write_text("".join(json.dumps({"k": key}) + "\n" for key in keys), encoding="utf-8")
    code, out, err = call(capfd, name, "--key", "k", "--from", 12, "--to", 24, "--client", "sarama", "--json")
    plan = Resize(12, 24, "sarama")
    plan.add(pa.array(keys))
    assert (code, err, json.loads(out)) == (0, "", plan.to_dict())
    code, out, err = call(capfd, name, "--key", "k", "--from", 12, "--to", 24, "--client", "sarama")
    assert (code, err) == (0, "")
    assert out.startswith(
        f"12 to 24 partitions, 2,000 rows of {name} that have a place by their key, 5 that have none\n"
    )
    assert f"{plan.keys_moved} of 300 keys" in out
    assert "asked for, moves least" in out
    assert "their order is kept only if consumers are done with the\nold records" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["x.csv", "--key", "k", "--from", 12, "--to", 12],
            "12 partitions are as many as 12: nothing would move",
        ),
        (["x.csv", "--key", "k", "--from", 0, "--to", 12], "the number of partitions must be from 1"),
        (["x.csv", "--key", "k", "--from", 12, "--to", 0], "the number of partitions must be from 1"),
        (
            ["x.csv", "--key", "k", "--to", 12],
            "say how many partitions the topic of 'x.csv' has, with --from",
        ),
        (["x.csv", "--from", 6, "--to", 12], "say which column of 'x.csv' is the key, with --key"),
        (["x.csv", "--key", "k", "--from", 6], "Missing option '--to'"),
        (["x.csv", "--key", "q", "--from", 6, "--to", 12], "there is no column 'q' in 'x.csv'"),
        (["x.csv", "--key", "k", "--from", 6, "--to", 12, "--client", "jav"], 'there is no client "jav"'),
        (["kafka://127.0.0.1:9/t", "--to", 0], "the number of partitions must be from 1"),
        (["kafka://127.0.0.1:9/t", "--to", 12, "--client", "jav"], 'there is no client "jav"'),
        (["kafka://127.0.0.1:9/t", "--to", 12], "no Kafka answers at 127.0.0.1:9"),
        (["kafka://127.0.0.1:9/t", "--key", "k", "--to", 12], "--key 'k' names a column of a file"),
    ],
)
def test_wrong_use_is_one_sentence(
    words: list[object],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("k\na\n", encoding="utf-8")
    code, out, err = call(capfd, *words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1

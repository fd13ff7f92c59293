"""`resize`: the keys that move, compared with a dictionary of places, in every format, and the sentences about them."""

from __future__ import annotations

import json
import random
import shlex
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partwright as pw
from partwright.audit.key_sums import Observed
from partwright.audit.resize import Resize
from partwright.keys.client_profiles import client_names
from partwright.report import document

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, str, str]]

CLIENTS = [client for client in client_names() if client != "java:string-hash"]


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
    # A null key that a client hashes is in one partition; it does not count as a key among others.
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
    # The second client also hashes null keys.
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
    # Each goes to the partition that is n further on.
    moved = plan.heaviest_moved()
    assert moved
    assert {each.to - each.from_ for each in moved} == {48}


def test_rows_are_exact_where_keys_are_too_many() -> None:
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


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.lists(st.tuples(st.none() | st.text("abé", max_size=2), st.integers(0, 4), st.integers(0, 99)))
    ),
    st.integers(1, 9),
    st.sampled_from(CLIENTS),
)
def test_where_records_are_says_what_to_drain(
    batches: list[list[tuple[str | None, int, int]]], to: int, client: str
) -> None:
    to += to >= 5
    plan, ends = Resize(5, to, client), [0] * 5
    lying = []
    for batch in batches:
        offsets = []
        for key, at, size in batch:
            lying.append((key, at, ends[at], size))
            offsets.append(ends[at])
            ends[at] += 1
        keys, places, sizes = zip(*batch, strict=True) if batch else ((), (), ())
        plan.add(
            pa.array(keys, pa.string()),
            pa.array(places, pa.int32()),
            pa.array(offsets, pa.int64()),
            pa.array(sizes, pa.int64()),
        )
    place = {key: (pw.which(key, 5, client)[client], pw.which(key, to, client)[client]) for key, *_ in lying}
    placed = [record for record in lying if place[record[0]][0] is not None]
    moved = [record for record in placed if place[record[0]][0] != place[record[0]][1]]
    found = plan.to_dict()
    # Without a batch, nothing was compared.
    assert (found["misplaced"] or 0) == sum(at != place[key][0] for key, at, _, _ in placed)
    assert (found["bytes"] or 0, found["bytes_moved"] or 0) == (
        sum(record[3] for record in placed),
        sum(record[3] for record in moved),
    )
    for part in found["before"]:
        at = part["partition"]
        assert part["rows"] == sum(record[1] == at for record in placed)
        assert part["rows_moved"] == sum(record[1] == at for record in moved)
        assert part["drain_to"] == max((record[2] + 1 for record in moved if record[1] == at), default=None)
        assert part["end"] == (ends[at] or None)
    assert [part["partition"] for part in found["before"]] == list(range(5))
    assert [(part["rows"], part["bytes"] or 0) for part in found["after"]] == [
        (sum(place[key][1] == new for key, *_ in placed), sum(r[3] for r in placed if place[r[0]][1] == new))
        for new in range(to)
    ]


@pytest.mark.parametrize("client", CLIENTS)
def test_each_new_partition_is_fed_by_as_many_as_is_said(client: str) -> None:
    keys = [f"user-{row}" for row in range(30_000)]
    for from_, to in ((12, 18), (12, 24), (7, 10), (24, 8)):
        places = (pw.partition_for_key(keys, n, client).to_pylist() for n in (from_, to))
        feeding: dict[int, set[int]] = {}
        for old, new in zip(*places, strict=True):
            feeding.setdefault(new, set()).add(old)
        assert {len(old) for old in feeding.values()} == {Resize(from_, to, client).fed_by}


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"partitions": ["4", "x"]},
         "row 7 is in 'x', which is not a partition of 5: they are whole numbers from 0 to 4"),
        ({"partitions": [5, 0]}, "row 6 is in 5, which is not a partition of 5: they are whole numbers from 0 to 4"),
        (
            {"partitions": [0, None]},
            (
                "row 7 is in no partition of 5: they are whole numbers from 0 to 4; leave out rows without one, whose "
                "records were not written"
            ),
        ),
        ({"offsets": [3, -1]}, "row 7 has the offset -1, which is not a whole number from 0 on"),
        ({"sizes": ["3.5", "1"]}, "row 6 has the size '3.5', which is not a whole number from 0 to 2147483647"),
        ({"sizes": [2**31 - 1, 2**63 - 1]},
         "row 7 has the size 9223372036854775807, which is not a whole number from 0 to 2147483647"),
    ],
)  # fmt: skip
def test_what_is_no_place_is_named_with_its_row(columns: dict[str, list[Any]], sentence: str) -> None:
    plan = Resize(5, 7)
    plan.add(pa.array(["a"] * 6))
    with pytest.raises(pw.PartwrightError) as refused:
        plan.add(pa.array(["a", "b"]), **{name: pa.array(values) for name, values in columns.items()})
    assert str(refused.value) == sentence


@pytest.mark.parametrize("type_", [pa.int64(), pa.string(), pa.string_view()])
def test_offsets_are_as_large_as_kafka_s(type_: pa.DataType) -> None:
    plan = Resize(1, 2)
    assert [pw.partition_for_key(key, 2) for key in ("a", "d")] == [0, 1]
    plan.add(pa.array(["a", "a", "d"]), offsets=pa.array([10**10, 8 * 10**18, None]).cast(type_))
    plan.add(pa.array(["d"]), offsets=pa.array([10**18]).cast(type_))
    (part,) = plan.before()
    assert (part.drain_to, part.end) == (10**18 + 1, 8 * 10**18 + 1)


@pytest.mark.parametrize(
    ("client", "to_client", "from_", "to"),
    [
        ("filebeat:7.12", "filebeat", 3, None),
        ("sarama", "java", 12, 18),
        ("librdkafka", "librdkafka:murmur2_random", 7, None),
        # Null keys, which only one of them hashes.
        ("librdkafka:consistent", "java", 12, 12),
        ("java", "materialize", 12, 5),
    ],
)
def test_another_writer_moves_the_keys_that_it_puts_elsewhere(
    client: str, to_client: str, from_: int, to: int | None
) -> None:
    keys = [f"user-{i % 700}" for i in range(1_000)] + [None, "", None]
    plan = pw.resize({"key": keys}, "key", from_, to, client, to_client=to_client)
    before = pw.partition_for_key(keys, from_, client).to_pylist()
    after = pw.partition_for_key(keys, to or from_, to_client).to_pylist()
    moves = [
        (key, old, new)
        for key, old, new in zip(keys, before, after, strict=True)
        if None not in {old, new} and old != new
    ]
    assert plan.rows == sum(old is not None for old in before)
    assert plan.rows_moved == len(moves)
    assert plan.keys_moved == len({key for key, _, _ in moves if key is not None})
    answer = plan.to_dict()
    assert (answer["client"], answer["to_client"], answer["to"]) == (client, to_client, to or from_)
    chosen = next(each for each in answer["nearby"] if each["to"] == plan.to)
    assert chosen["rows_moved"] == len(moves)


def test_a_plan_for_another_writer_leaves_the_partitions_alone(resize: Command) -> None:
    Path("x.csv").write_text("k\n" + "\n".join(f"user-{row}" for row in range(100)), encoding="utf-8")
    words = [
        "x.csv",
        "--key",
        "k",
        "--from",
        3,
        "--client",
        "filebeat:7.12",
        "--to-client",
        "filebeat",
        "--plan",
    ]
    code, out, err = resize(*words)
    assert (code, err) == (0, "")
    assert "Start the producers as filebeat." in " ".join(out.split())
    assert "--alter" not in out


def test_offsets_of_json_lines_are_as_large_as_kafka_s(resize: Command) -> None:
    Path("x.jsonl").write_text('{"k": "a", "o": 1099511627776}\n{"k": "c", "o": null}\n', encoding="utf-8")
    code, out, err = resize("x.jsonl", "--key", "k", "--from", 1, "--to", 2, "--offset", "o", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["before"][0]["end"] == 1099511627777


def test_a_number_nearby_at_which_the_client_fails_is_left_out() -> None:
    """Its hash code is the one that Math.abs leaves negative; with powers of two it is in partition 0 all the same."""
    plan = Resize(4, 8, "java:string-hash")
    plan.add(pa.array(["polygenelubricants", "a"]))
    assert [choice.to for choice in plan.nearby()] == [8]
    with pytest.raises(pw.PartwrightError, match="a producer with this partitioner fails"):
        Resize(4, 7, "java:string-hash").add(pa.array(["polygenelubricants"]))


def test_a_plan_s_steps_have_each_partition_s_numbers(resize: Command) -> None:
    keys = [f"user-{row}" for row in range(200)]
    places = pw.partition_for_key(keys, 60).to_pylist()
    lines = (f"{key},{at},{row},{row}" for row, (key, at) in enumerate(zip(keys, places, strict=True)))
    Path("x.csv").write_text("\n".join(["k,p,o,s", *lines]) + "\n", encoding="utf-8")
    words = ["x.csv", "--key", "k", "--from", 60, "--partition", "p", "--offset", "o", "--size", "s"]
    code, out, err = resize(*words, "--to", 90, "--plan")
    assert (code, err) == (0, "")
    out = " ".join(out.split())
    assert "kafka-topics.sh --alter --topic TOPIC --partitions 90" in out
    assert " kB of 19.9 kB) move. " in out
    assert "The heaviest key that moves is user-" in out
    # With this many partitions, only the fullest one.
    assert "12 more" in out
    assert "42 more" in out
    assert "each new partition is fed by 2 old partitions" in out
    code, out, err = resize(*words, "--to", 30, "--plan")
    assert "Kafka cannot remove a partition" in out
    assert "--alter" not in out


@pytest.fixture
def resize(told: Command, own_folder: None) -> Command:
    del own_folder
    return partial(told, "resize")


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet"])
def test_every_format_is_read(name: str, resize: Command) -> None:
    keys = [f"user-{row % 300}" for row in range(2000)] + [None] * 5
    if name == "x.parquet":
        pq.write_table(pa.table({"k": keys}), name)
    elif name == "x.csv":
        Path(name).write_text("k,v\n" + "".join(f"{key or ''},1\n" for key in keys), encoding="utf-8")
    else:
        Path(name).write_text("".join(json.dumps({"k": key}) + "\n" for key in keys), encoding="utf-8")
    code, out, err = resize(name, "--key", "k", "--from", 12, "--to", 24, "--client", "sarama", "--json")
    plan = Resize(12, 24, "sarama")
    plan.add(pa.array(keys))
    found = json.loads(out)
    assert found.pop("summary").startswith("From 12 to 24 partitions, ")
    assert (code, err, found) == (0, "", plan.to_dict())
    code, out, err = resize(name, "--key", "k", "--from", 12, "--to", 24, "--client", "sarama")
    assert (code, err) == (0, "")
    assert "5 records have no place by a key." in out
    assert f"{plan.keys_moved} of 300 keys" in out
    assert "asked for, moves least" in out
    assert "Let consumers finish the old records first" in " ".join(out.split())


@pytest.mark.usefixtures("own_folder")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("x.csv --key k --from 12 --to 12", "the topic would keep its 12 partitions: nothing would move"),
        ("x.csv --key k --from 0 --to 12", "--from must be from 1 to 2147483647, not 0"),
        ("x.csv --key k --from 12 --to 0", "--to must be from 1 to 2147483647, not 0"),
        ("x.csv --key k --to 12", "give the number of partitions of the topic of 'x.csv' with --from"),
        (
            "x.csv --key k --from 6 --to 12 --partition k",
            "'k' cannot be both the key and the partition: name another column with --partition",
        ),
        ("x.csv --key k --from 6 --to 12 --size q", "there is no column 'q' in 'x.csv'"),
        ("kafka://127.0.0.1:9/t --to 12 --size s", "--size 's' names a column of a file"),
        ("x.csv --from 6 --to 12", "name the key's column of 'x.csv' with --key"),
        ("x.csv --key k --from 6", "give the new number of partitions with --to"),
        ("x.csv --key q --from 6 --to 12", "there is no column 'q' in 'x.csv'"),
        ("x.csv --key k --from 6 --to 12 --client jav", 'there is no client "jav"'),
        ("kafka://127.0.0.1:9/t --to 0", "--to must be from 1 to 2147483647, not 0"),
        ("kafka://127.0.0.1:9/t --to 12 --client jav", 'there is no client "jav"'),
        ("kafka://127.0.0.1:9/t --to 12", "no Kafka answers at 127.0.0.1:9"),
        ("kafka://127.0.0.1:9/t --key k --to 12", "--key 'k' names a column of a file"),
    ],
)
def test_wrong_use_is_one_sentence(words: str, sentence: str, refusal: Callable[..., str]) -> None:
    Path("x.csv").write_text("k\na\n", encoding="utf-8")
    assert sentence in refusal("resize", *shlex.split(words))


def test_without_partitions_nothing_is_compared() -> None:
    plan = Resize(5, 10)
    plan.add(pa.array(["a", "b"]))
    assert (plan.misplaced, plan.to_dict()["misplaced"]) == (None, None)
    plan = Resize(5, 10)
    places = pa.array(pw.partition_for_key(["a", "b"], 5)).cast(pa.float64())
    plan.add(pa.array(["a", "b"]), places, pa.array(["7.0", " 8"]), pa.array([100.0, None]))
    assert (plan.misplaced, plan.bytes) == (0, 100)


@pytest.mark.parametrize(
    ("keys", "is_all_empty"), [(["", ""], True), (["", None], False), (["", "a"], False), ([None], False)]
)
def test_keys_that_are_all_empty_are_told_first(keys: list[str | None], is_all_empty: bool) -> None:
    plan = Resize(5, 10)
    plan.add(pa.array(keys, pa.string()))
    assert plan.to_dict()["is_all_empty"] is is_all_empty
    assert document(plan).verdicts[0].text.startswith("Every key is empty, and none is null") is is_all_empty

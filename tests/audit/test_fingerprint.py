"""`fingerprint` names each client from its real answers: alone, mixed, one after another; and refuses other records."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from fingerprinting import fingerprint
from written_keys import FAMILIES, SEED, family_of, placed, users

import partwright as pw
from partwright.audit import Fingerprint
from partwright.audit.fingerprint_search import CandidateWriter, _following, alike, follows
from partwright.audit.record_columns import milliseconds
from partwright.keys.client_profiles import client_names

GOLDEN = [
    json.loads(path.read_text(encoding="ascii"))
    for path in sorted((Path(__file__).resolve().parents[1] / "golden" / "clients").glob("*.json"))
]
PROFILES = sorted(name for golden in GOLDEN for name in golden["profiles"])


def test_the_families_are_all_profiles() -> None:
    assert sorted(name for family in FAMILIES for name in family) == PROFILES


@pytest.mark.parametrize(("n", "given"), [(7, 7), (12, None), (100, 100)])
@pytest.mark.parametrize("profile", PROFILES)
def test_what_the_real_client_answered_is_its_own(profile: str, n: int, given: int | None) -> None:
    """Two thousand keys, most of them random bytes, with the released client's partitions."""
    (golden,) = [golden for golden in GOLDEN if profile in golden["profiles"]]
    at, place = golden["profiles"].index(profile), golden["partitions"].index(n)
    answers = [(bytes.fromhex(key), partitions[at]) for _, key, *partitions in golden["keys"]]
    rows = [(key, said[place]) for key, said in answers if said is not None and said[place] >= 0]
    found = fingerprint([key for key, _ in rows], [said for _, said in rows], n=given)
    assert (found.verdict, found.n, set(found.family)) == ("one-writer", n, family_of(profile))
    assert list(found.shares.values()) == [1.0]
    assert found.explained[profile] == (len(rows), len(rows))
    assert found.deciding_keys > 0.3 * len(rows)
    assert (found.key_transform, found.change) == (None, None)
    assert (found.scattered_keys, found.unexplained) == (0, 0)


@pytest.mark.parametrize("client", PROFILES)
def test_keys_that_are_hashed_once_follow_whom_they_follow_hashed_for_each_number(
    client: str, seed: int
) -> None:
    """Random keys, some empty, some without a partition, and one on which `java:string-hash` sometimes fails."""
    draw = random.Random(seed)
    keys = [
        draw.choice("abc") * draw.randrange(9) + str(draw.randrange(999))[draw.randrange(3) :]
        for _ in range(300)
    ]
    keys += ["", "polygenelubricants"]
    n = draw.randrange(2, 99)
    own = [*pw.partition_for_key(keys[:-1], n, client).to_pylist(), 0]
    partitions = [draw.choice([place, place, None, draw.randrange(n)]) for place in own]
    pairs = pa.table(
        {"key": pa.array([key.encode() for key in keys]), "partition": pa.array(partitions, pa.int64())}
    )
    numbers = [n, *draw.sample(range(1, 20_000), 50), 1 << 20, (1 << 31) - 1]
    determined, follow = _following(pairs, client, numbers)
    assert list(follow) == list(dict.fromkeys(numbers))
    for number, count in follow.items():
        following = follows(pairs, CandidateWriter(client, number))
        if following is None:
            assert count is None, f"seed {seed}"
        else:
            found = (sum(map(bool, following.to_pylist())), len(pairs) - following.null_count)
            assert (count, determined) == found, f"seed {seed}"


@pytest.mark.parametrize("client", ["java", "librdkafka", "sarama", "sarama:reference", "kafkajs:legacy"])
@pytest.mark.parametrize("keys", [5, 50, 50_000])
def test_few_keys_are_enough_where_n_is_known(client: str, keys: int) -> None:
    names = [f"user-{row}" for row in range(keys)]
    found = fingerprint(names, placed(names, 12, client), n=12)
    assert found.verdict == "one-writer"
    assert client in found.family
    assert set(found.family) == family_of(client)


def test_too_few_keys_are_undecided_and_all_who_are_left_are_named() -> None:
    """One key with two partitions leaves half of the rules, and the true writer is among them."""
    for client in PROFILES:
        found = fingerprint(["TT0124"], placed(["TT0124"], 2, client), n=2)
        assert found.verdict == "undecided"
        assert client in found.family
        assert found.family == tuple(
            name
            for name, partition in pw.which("TT0124", 2).items()
            if partition == pw.which("TT0124", 2, client)[client]
        )
    # With one partition, every rule is right.
    found = fingerprint(users(1000, 1000), [0] * 1000)
    assert (found.verdict, len(found.family)) == ("undecided", 23)


@pytest.mark.parametrize("seed", range(5))
def test_five_keys_without_n_are_right_or_undecided(seed: int) -> None:
    names = [f"{seed}-{row}" for row in range(5)]
    found = fingerprint(names, placed(names, 12, "librdkafka"))
    assert "librdkafka" in found.family
    assert found.verdict == "undecided" or found.n == 12


@pytest.mark.parametrize(("share", "n"), [(0.5, None), (0.979, 12), (0.999, 12)])
def test_two_writers_have_their_shares(share: float, n: int | None) -> None:
    draw, keys = random.Random(SEED + 1), users(3000, 40_000)
    both = zip(placed(keys, 12), placed(keys, 12, "librdkafka"), strict=True)
    found = fingerprint(keys, [java if draw.random() < share else other for java, other in both], n=n)
    assert (found.verdict, found.n, found.change) == ("mixture", 12, None)
    assert found.shares == {
        "java": pytest.approx(share, abs=0.005),
        "librdkafka": pytest.approx(1 - share, abs=0.005),
    }
    assert found.scattered_keys > 0
    assert found.scattered[0][0].startswith(b"user-")
    assert len(found.scattered[0][1]) == 2


def test_three_writers_have_their_shares() -> None:
    draw, keys = random.Random(SEED + 1), users(3000, 40_000)
    clients = ["java", "librdkafka", "sarama"]
    places = zip(*(placed(keys, 12, client) for client in clients), strict=True)
    found = fingerprint(keys, [draw.choices(each, [6, 3, 1])[0] for each in places])
    assert found.verdict == "mixture"
    assert list(found.shares.values()) == [pytest.approx(share, abs=0.02) for share in (0.6, 0.3, 0.1)]
    assert list(found.shares) == ["java", "librdkafka", "librdkafka:fnv1a"]


def test_what_follows_no_rule_is_told_from_what_does() -> None:
    """If records were put anywhere, a rule is right for one in twelve by chance: that share is subtracted."""
    draw, keys = random.Random(SEED + 1), users(3000, 40_000)
    found = fingerprint(
        keys, [java if draw.random() < 0.7 else draw.randrange(12) for java in placed(keys, 12)]
    )
    assert found.verdict == "mixture"
    assert found.shares == {"java": pytest.approx(0.7, abs=0.01)}
    assert found.unexplained == pytest.approx(0.3, abs=0.01)
    right, determined = found.explained["java"]
    assert right / determined == pytest.approx(0.7 + 0.3 / 12, abs=0.01)


@pytest.mark.parametrize("n", [None, 24])
@pytest.mark.parametrize("dated", [True, False])
def test_a_topic_that_grew_has_its_date(dated: bool, n: int | None) -> None:
    keys = users(3000, 20_000)
    partitions = placed(keys[:9000], 12) + placed(keys[9000:], 24)
    found = fingerprint(keys, partitions, range(20_000) if dated else None, n=n)
    assert (found.verdict, found.n, found.shares) == ("n-change", 24, {"java": pytest.approx(1.0)})
    assert found.change is not None
    assert (found.change.kind, found.change.before, found.change.after) == ("n", 12, 24)
    if not dated:
        assert (found.change.last_timestamp_before, found.change.first_timestamp_after) == (None, None)
        return
    # Keys that are in the same partition before and after tell nothing.
    tells = [java != later for java, later in zip(placed(keys, 12), placed(keys, 24), strict=True)]
    assert found.change.last_timestamp_before == max(row for row in range(9000) if tells[row])
    assert found.change.first_timestamp_after == min(row for row in range(9000, 20_000) if tells[row])


def test_a_writer_that_changed_has_its_date_and_its_offsets() -> None:
    keys = users(3000, 20_000)
    partitions = placed(keys[:9000], 12) + placed(keys[9000:], 12, "librdkafka")
    offsets, next_ = [], [0] * 12
    for partition in partitions:
        offsets.append(next_[partition])
        next_[partition] += 1
    tells = [a != b for a, b in zip(placed(keys, 12), placed(keys, 12, "librdkafka"), strict=True)]
    times = pa.array(range(20_000), pa.timestamp("ms"))
    for timestamps, at in ((times, offsets), (None, offsets), (times, None)):
        found = fingerprint(keys, partitions, timestamps, offsets=at)
        assert (found.verdict, found.n) == ("writer-change", 12)
        assert found.change is not None
        assert (found.change.before, found.change.after) == ("java", "librdkafka")
        assert found.shares == {
            "java": pytest.approx(0.45, abs=0.01),
            "librdkafka": pytest.approx(0.55, abs=0.01),
        }
        if timestamps is not None:
            assert found.change.last_timestamp_before == max(row for row in range(9000) if tells[row])
            assert found.change.first_timestamp_after == min(row for row in range(9000, 20_000) if tells[row])
        if at is not None:
            first = {
                partition: min(
                    offsets[row] for row in range(9000, 20_000) if tells[row] and partitions[row] == partition
                )
                for partition in range(12)
            }
            assert found.change.first_offset_after == first
    # In another order of rows, which is not the order of time.
    back = fingerprint(keys[::-1], partitions[::-1], pa.array(range(19_999, -1, -1)))
    assert back.change is not None
    assert (back.change.before, back.change.after) == ("java", "librdkafka")
    # Without times and offsets, nobody can say which writer came first.
    assert fingerprint(keys, partitions).verdict == "mixture"


@pytest.mark.parametrize("keys", [1, 30, 3000])
def test_round_robin_is_told(keys: int) -> None:
    names = users(keys, 6000)
    found = fingerprint(names, [row % 12 for row in range(6000)])
    assert (found.verdict, found.n, found.family, found.shares) == ("round-robin", 12, (), {})
    # By their times, in whatever order they are read; by their offsets, if one millisecond has many.
    order = list(range(6000))
    random.Random(SEED).shuffle(order)
    times = [row // 40 for row in order]
    # By partition, as a topic is read, with many records in one millisecond.
    read = sorted(range(6000), key=lambda row: (row % 12, row))
    found = fingerprint(
        [names[row] for row in read], [row % 12 for row in read], [row // 100 for row in read]
    )
    assert found.verdict == "round-robin"
    for timestamps in (order, times):
        assert (
            fingerprint([names[row] for row in order], [row % 12 for row in order], timestamps).verdict
            == "round-robin"
        )


def test_numbered_keys_agree_with_a_weak_hash_and_follow_none() -> None:
    """String.hashCode of user-1, user-2, ... rises by one like the numbers: a sixth of a cycle agrees at n = 11."""
    keys = [f"user-{row}" for row in range(3000)]
    found = fingerprint(keys, [row % 12 for row in range(3000)])
    assert (found.verdict, found.n, found.explained) == ("round-robin", 12, {})
    draw = random.Random(SEED)
    for places in ([row // 250 for row in range(3000)], [draw.randrange(12) for _ in keys]):
        assert fingerprint(keys, places).verdict == "no-rule"


def test_a_rule_of_ones_own_is_none() -> None:
    draw, keys = random.Random(SEED + 1), users(3000, 20_000)
    assert fingerprint(keys, [draw.randrange(12) for _ in keys]).verdict == "no-rule"
    # Each key is in one partition, but by no client's rule; and a cycle that follows the key.
    assert fingerprint(keys, [int(key[5:]) // 250 for key in keys]).verdict == "no-rule"
    numbers = [f"user-{row % 120}" for row in range(6000)]
    assert fingerprint(numbers, [row % 12 for row in range(6000)]).verdict == "no-rule"


@pytest.mark.parametrize(
    ("around", "transform"),
    [
        (lambda key: b"\0\0\0\0\x2a" + key.encode(), "confluent:strip-id"),
        (lambda key: f'"{key}"'.encode(), "json-unquote"),
    ],
)
def test_what_is_around_a_key_is_taken_off(around: Any, transform: str) -> None:
    keys = users(300, 2000)
    for client in ("java", "librdkafka", "sarama"):
        found = fingerprint([around(key) for key in keys], placed(keys, 12, client))
        assert (found.verdict, found.key_transform, found.n) == ("one-writer", transform, 12)
        assert set(found.family) == family_of(client)
        # If the key was hashed with everything around it, nothing is removed.
        whole = [around(key) for key in keys]
        found = fingerprint(whole, pw.partition_for_key(whole, 12, client))
        assert (found.verdict, found.key_transform) == ("one-writer", None)


def test_null_and_empty_keys_tell_those_apart_that_others_cannot() -> None:
    draw, keys = random.Random(SEED + 1), users(300, 2000)
    partitions = placed(keys, 12)
    anywhere = [draw.randrange(12) for _ in range(100)]
    found = fingerprint([*keys, *[None] * 100], partitions + anywhere)
    assert set(found.family) == family_of("java") - {"librdkafka:murmur2"}
    assert (found.rows, found.null_keys, found.explained["java"]) == (2100, 100, (2000, 2000))
    assert found.explained["librdkafka:murmur2"] == (2000 + anywhere.count(9), 2100)
    crc = placed(keys, 12, "librdkafka")
    found = fingerprint([*keys, *[""] * 100], crc + anywhere)
    assert found.family == ("librdkafka", "kafka-go:crc32")
    found = fingerprint([*keys, *[""] * 100], crc + [0] * 100)
    assert set(found.family) == family_of("librdkafka")


def test_without_keys_there_is_no_answer() -> None:
    for rows in (0, 5):
        found = fingerprint(pa.nulls(rows, pa.string()), pa.array([3] * rows, pa.int32()))
        assert (found.verdict, found.n, found.rows, found.null_keys, found.family) == (
            "no-keys",
            None,
            rows,
            rows,
            (),
        )
        assert found.to_dict()["explained"] == {}


@pytest.mark.parametrize(
    ("partitions", "timestamps", "n", "sentence"),
    [
        (
            [3, -1],
            None,
            None,
            "row 1 is in -1, which is not a partition: they are whole numbers from 0 to 2147483646",
        ),
        (
            [3, None],
            None,
            None,
            "row 1 is in no partition: they are whole numbers from 0 to 2147483646; leave out rows without one",
        ),
        (["3", "x"], None, None, "row 1 is in 'x', which is not a partition"),
        ([3.0, 1.5], None, None, "row 1 is in 1.5, which is not a partition: they are whole numbers from 0"),
        ([3], None, None, "the column .key. has 2 rows and .partition. 1: give as many in each"),
        ([3, 4], [1], None, "the column .key. has 2 rows and .timestamp. 1: give as many in each"),
        ([3, 4], ["soon", "7"], None, "the timestamps from row 0 on are not times"),
        ([3, 14], None, 12, "a record is in partition 14, which a topic of 12 partitions has not: check n="),
        ([0, 0], None, 0, "n, the number of partitions, must be from 1"),
        ([3, 2**31], None, None, "row 1 is in 2147483648, which is not a partition"),
    ],
)
def test_bad_input_is_one_sentence(
    partitions: list[Any], timestamps: Any, n: int | None, sentence: str
) -> None:
    with pytest.raises(pw.PartwrightError, match=sentence):
        fingerprint(["a", "b"], partitions, timestamps, n=n)


def test_the_answer_is_json() -> None:
    keys = users(3000, 20_000)
    found = fingerprint(keys, placed(keys[:9000], 12) + placed(keys[9000:], 24), range(20_000))
    assert isinstance(found, Fingerprint)
    answer = json.loads(json.dumps(found.to_dict()))
    assert {
        "verdict",
        "n",
        "family",
        "shares",
        "key_transform",
        "change",
        "explained",
        "deciding_keys",
    } <= set(answer)
    assert set(answer["change"]) == {
        "kind",
        "from",
        "to",
        "last_timestamp_before",
        "first_timestamp_after",
        "first_offset_after",
        "steps",
    }
    assert answer["scattered"][0] == {"key_hex": b"user-0".hex(), "partitions": list(found.scattered[0][1])}


UNIQUE = [f"{random.Random(row).getrandbits(64):x}" for row in range(12_000)]


@pytest.mark.parametrize("keys", [4, 5, 1000, 1001])
def test_keys_that_begin_with_zeros_may_be_any_number(keys: int) -> None:
    """An even number of records was too much for a slice without an end."""
    names = [f"{row:05}" for row in range(keys)]
    whole = [b"\0\0\0\0\x07" + name.encode() for name in names]
    found = fingerprint(whole, placed(names, 12), n=12)
    assert (found.verdict, found.key_transform) == ("one-writer", "confluent:strip-id")
    anywhere = [row * 7 // 3 % 5 for row in range(keys)]
    assert fingerprint(pa.array(range(keys), pa.int64()), anywhere, key_type="java:long").family == ()


def test_two_schemas_before_one_key_scatter_nothing() -> None:
    names = [f"user-{row}" for row in range(501)]
    whole = [b"\0\0\0\0" + bytes([schema]) + name.encode() for schema in (7, 8) for name in names]
    found = fingerprint(whole, placed(names, 12) * 2)
    assert (found.verdict, found.key_transform, found.keys, found.scattered_keys) == (
        "one-writer",
        "confluent:strip-id",
        501,
        0,
    )


@pytest.mark.parametrize("rows", [6000, 6500, 12_000])
@pytest.mark.parametrize("turns", [2, 5, 10, 12])
def test_what_goes_by_turns_is_not_sampled_by_turns(rows: int, turns: int) -> None:
    places = [row % turns for row in range(rows)]
    for n in (None, turns):
        found = fingerprint(UNIQUE[:rows], places, range(rows), n=n)
        assert (found.verdict, found.n) == ("round-robin", turns)
    # With repeated keys and without times, turns are not recognised, but the verdict is not undecided either.
    numbers = [str(row) for row in range(rows)] * 2
    assert fingerprint(numbers, places * 2, n=turns).verdict in {"no-rule", "one-writer", "mixture"}


def test_shares_of_rules_that_agree_often() -> None:
    """Two kinds of FNV-1a agree on half of the keys, and so do 12 and 24 partitions."""
    draw = random.Random(SEED + 2)
    for clients, weights in (
        (["sarama", "sarama:reference", "java"], [70, 10, 20]),
        (["java", "librdkafka", "sarama", "kafkajs:legacy"], [25, 25, 25, 25]),
    ):
        places = zip(*(placed(UNIQUE, 12, client) for client in clients), strict=True)
        found = fingerprint(UNIQUE, [draw.choices(each, weights)[0] for each in places], n=12)
        assert found.verdict == "mixture"
        wanted = {client: weight / sum(weights) for client, weight in zip(clients, weights, strict=True)}
        for name, share in found.shares.items():
            (client,) = [client for client in clients if name in family_of(client)]
            assert share == pytest.approx(wanted[client], abs=0.02)
        assert len(found.shares) == len(clients)


@pytest.mark.parametrize("dated", [True, False])
def test_a_topic_that_grew_twice_has_its_steps(dated: bool) -> None:
    keys = [f"user-{row}" for row in range(3000)]
    partitions = placed(keys, 6) + placed(keys, 12) + placed(keys, 24)
    found = fingerprint(keys * 3, partitions, range(9000) if dated else None)
    assert (found.verdict, found.n, found.shares) == ("n-change", 24, {"java": pytest.approx(1.0)})
    assert found.change is not None
    assert (found.change.steps, found.change.before, found.change.after) == ((6, 12, 24), 12, 24)
    if dated:
        assert found.change.last_timestamp_before is not None
        assert found.change.first_timestamp_after is not None
        assert 5950 < found.change.last_timestamp_before < 6000 <= found.change.first_timestamp_after < 6050


def test_a_topic_that_was_made_anew_with_fewer_is_told_in_its_order() -> None:
    keys = [f"user-{row}" for row in range(3000)]
    found = fingerprint(keys * 2, placed(keys, 24) + placed(keys, 12), range(6000))
    assert found.change is not None
    assert (found.verdict, found.change.before, found.change.after) == ("n-change", 24, 12)


def test_two_numbers_at_the_same_time_are_a_mixture() -> None:
    """As with a producer that has the number of partitions in its code."""
    keys = users(3000, 8000)
    pairs = zip(placed(keys, 12), placed(keys, 24), strict=True)
    found = fingerprint(keys, [pair[row % 2] for row, pair in enumerate(pairs)], range(8000))
    assert (found.verdict, found.change) == ("mixture", None)


@pytest.mark.parametrize("noise", [0.0, 0.002, 0.01])
@pytest.mark.parametrize("overlap", [0, 3, 40])
def test_a_change_stands_a_few_that_are_late(noise: float, overlap: int) -> None:
    """As during a rolling deployment, and with records that somebody placed by hand."""
    draw, keys = random.Random(SEED + 3), [f"user-{row}" for row in range(3000)]
    for after in (placed(keys, 12, "librdkafka"), placed(keys, 24)):
        places = [
            draw.randrange(12) if draw.random() < noise else place for place in placed(keys, 12) + after
        ]
        times = list(range(6000))
        for late in range(overlap):
            times[2999 - 2 * late] = 3000 + 3 * late
        found = fingerprint(keys * 2, places, times)
        assert found.verdict == ("n-change" if max(after) > 11 else "writer-change")
        assert found.change is not None
        assert found.change.last_timestamp_before is not None
        assert found.change.first_timestamp_after is not None
        assert abs(found.change.last_timestamp_before - 3000) < 40 + 4 * overlap
        assert abs(found.change.first_timestamp_after - 3000) < 40 + 4 * overlap


@pytest.mark.parametrize("producers", [2, 3, 5])
def test_several_producers_that_take_turns_are_round_robin(producers: int) -> None:
    draw, keys = random.Random(SEED + 4), users(300, 20_000)
    next_ = [draw.randrange(12) for _ in range(producers)]
    places = []
    for _ in keys:
        producer = draw.randrange(producers)
        next_[producer] += 1
        places.append(next_[producer] % 12)
    assert fingerprint(keys, places, range(20_000)).verdict == "round-robin"
    assert fingerprint(keys, [draw.randrange(12) for _ in keys], range(20_000)).verdict == "no-rule"


def test_round_robin_with_a_null_key_a_deleted_head_and_jitter() -> None:
    draw, keys = random.Random(SEED + 5), users(300, 20_000)
    places = [row % 12 for row in range(20_000)]
    assert fingerprint([*UNIQUE[:1000], None], places[:1001], range(1001), n=12).verdict == "round-robin"
    kept = [row for row in range(20_000) if row // 12 >= places[row] * 3]
    found = fingerprint([keys[row] for row in kept], [places[row] for row in kept], kept)
    assert found.verdict == "round-robin"
    jitter = [2 * row + draw.randrange(10) for row in range(20_000)]
    assert fingerprint(keys, places, jitter).verdict == "round-robin"


def test_a_heavy_key_elsewhere_hides_no_rule() -> None:
    keys = [f"user-{row}" for row in range(3000)]
    salted = (placed(["hot"], 12)[0] + 1) % 12
    found = fingerprint(["hot"] * 27_000 + keys, [salted] * 27_000 + placed(keys, 12), n=12)
    assert found.verdict == "mixture"
    assert found.shares == {"java": pytest.approx(0.1, abs=0.01)}
    assert found.unexplained == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize("client", ["librdkafka:murmur2", "librdkafka:fnv1a", "librdkafka:consistent"])
def test_null_keys_of_a_topic_that_grew_rule_nobody_out_who_hashes_them(client: str) -> None:
    keys = [*(f"user-{row}" for row in range(1000)), *[None] * 100]
    places = [place for n in (6, 9) for place in pw.partition_for_key(keys, n, client).to_pylist()]
    found = fingerprint(keys * 2, places, range(len(places)))
    assert found.verdict == "n-change"
    assert client in found.family


@pytest.mark.parametrize("client", ["sarama:crc32", "librdkafka", "java", "sarama"])
def test_few_keys_and_empty_ones_leave_who_wrote_them(client: str) -> None:
    for key in ("0000000000", "x", "TT0124"):
        names = [key] + [""] * 5
        places = [
            3 if place is None else place for place in pw.partition_for_key(names, 8, client).to_pylist()
        ]
        found = fingerprint(names, places, n=8)
        assert client in found.family
        assert found.n == 8


def test_microseconds_and_nanoseconds_are_times() -> None:
    keys = users(100, 500)
    stamps = [f"2026-01-01T10:00:{row // 10:02}.{row % 10}00123" for row in range(500)]
    assert fingerprint(keys, placed(keys, 12), [f"{stamp}456" for stamp in stamps]).verdict == "one-writer"
    assert fingerprint(keys, placed(keys, 12), stamps).verdict == "one-writer"


@pytest.mark.parametrize(("unit", "of_second"), [("us", 10**6), ("ns", 10**9)])
def test_a_time_before_1970_is_of_the_millisecond_that_it_is_in(unit: str, of_second: int) -> None:
    whole = of_second // 1000
    times = pa.array([-2 * whole, -whole - 1, -whole, -1, 0, 1, whole, None], pa.timestamp(unit, "UTC"))
    assert milliseconds(times).to_pylist() == [-2, -2, -1, -1, 0, 0, 1, None]


def test_offsets_that_are_none_are_refused() -> None:
    with pytest.raises(pw.PartwrightError, match="row 1 has the offset 'x', which is not a whole number"):
        fingerprint(["a", "b"], [1, 2], offsets=["7", "x"])


def test_of_few_numbered_keys_no_absurd_number_of_partitions_is_found() -> None:
    for start in range(12):
        keys = [f"k{row}" for row in range(1, 7)]
        found = fingerprint(keys, [(row + start) % 12 for row in range(1, 7)])
        assert found.verdict != "one-writer" or (found.n or 0) < 60


@pytest.mark.parametrize("keys", [6, 20, 198])
@pytest.mark.parametrize("n", [None, 12, 48])
def test_strays_are_exceptions_of_the_rule_that_explains_the_rest(keys: int, n: int | None) -> None:
    """Two of 200 records are elsewhere: even with few keys, java is named, and the keys that it does not explain."""
    written = [f"k{place % keys}" for place in range(200)]
    places = pw.partition_for_key(written, 12).to_pylist()
    for stray in (50, 151):
        places[stray] = (places[stray] + 5) % 12
    found = fingerprint(written, places, n=n)
    assert (found.verdict, found.n, found.family[0]) == ("one-writer", 12, "java")
    assert found.explained["java"] == (198, 200)
    right = pw.partition_for_key(written, 12).to_pylist()
    assert sorted(found.strays) == sorted(
        (written[stray].encode(), places[stray], right[stray], 1) for stray in (50, 151)
    )
    assert found.unexplained == pytest.approx(0.01, abs=0.002)


@pytest.mark.parametrize("n", [1, 2, 7, 48, 1000])
def test_profiles_that_are_alike_put_every_key_into_the_same_partition(n: int) -> None:
    draw = random.Random(n)
    keys = pa.array([b"", b"a", b"42", *(draw.randbytes(draw.randrange(40)) for _ in range(500))])
    names = set(client_names())
    assert len({alike(CandidateWriter(name, n)) for name in names}) < len(names) // 2
    for name in sorted(names - {"java:string-hash"}):
        first = alike(CandidateWriter(name, n))
        assert first.n == n
        assert pw.partition_for_key(keys, n, name).equals(pw.partition_for_key(keys, n, first.client)), name
    assert alike(CandidateWriter("java:string-hash", n)) == CandidateWriter("java:string-hash", n)


@pytest.mark.parametrize(
    ("keys", "is_all_empty"),
    [(["", ""], True), (["", None], False), (["", "a"], False), ([], False), ([None], False)],
)
def test_keys_that_are_all_empty_are_told(keys: list[str | None], is_all_empty: bool) -> None:
    found = fingerprint(pa.array(keys, pa.string()), pa.array([0] * len(keys), pa.int64()), n=3)
    assert (found.is_all_empty, found.to_dict()["is_all_empty"]) == (is_all_empty, is_all_empty)

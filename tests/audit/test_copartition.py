"""Whether two tables meet, compared with dictionaries of places; each reason is given if it holds, and only then."""

from __future__ import annotations

import json
import random
import struct
import uuid
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import partwright as pw
from partwright.audit.check import Placer
from partwright.audit.copartition import JoinedKeys, KeyApart, Meeting, add_placed, meet, who
from partwright.audit.encodings import same_keys
from partwright.audit.key_sums import Observed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CLIENTS = ["java", "librdkafka", "sarama", "kafka-go:crc32", "kafkajs", "librdkafka:consistent"]
USERS = [b"user-%d" % row for row in range(300)]

Records = list[tuple["bytes | None", int]]


@pytest.fixture
def draw(seed: int) -> random.Random:
    return random.Random(seed)


def observed(records: Records, most: int = 1_000_000) -> Observed:
    seen = Observed(most)
    half = len(records) // 2
    for some in (records[:half], records[half:]):
        keys, places = zip(*some, strict=True) if some else ((), ())
        seen.add(pa.array(keys, pa.binary()), pa.array(places, pa.int64()))
    return seen


def written(keys: Sequence[bytes | None], n: int, client: str = "java") -> Records:
    """Where a client puts keys; those that it may put anywhere go round robin."""
    places = pw.partition_for_key(pa.array(keys, pa.binary()), n, client).to_pylist()
    return [
        (key, row % n if place is None else place)
        for row, (key, place) in enumerate(zip(keys, places, strict=True))
    ]


def kinds(found: Meeting) -> list[str]:
    return [reason.kind for reason in found.reasons]


def between(a: Records, b: Records, n: int | None = 12, n_b: int | None = 12) -> Meeting:
    return meet(JoinedKeys(observed(a), n), JoinedKeys(observed(b), n_b))


def some_table(draw: random.Random, n: int) -> Records:
    """A table: of one client, of several, with keys that moved, without some keys, or with random places."""
    users = draw.sample(range(60), draw.randint(0, 40))
    keys: list[bytes | None] = [b"" if user == 7 else b"user-%d" % user for user in users]
    keys = [draw.choice([*keys, None]) for _ in range(draw.randint(0, 200))]
    records = written(keys, n, draw.choice(CLIENTS))
    if draw.random() < 0.3:
        half = len(keys) // 2
        records[half:] = written(keys[half:], n, draw.choice(CLIENTS))
    if draw.random() < 0.3:
        records = [(key, draw.randrange(n) if draw.random() < 0.1 else place) for key, place in records]
    return records


def naive(a: Records, b: Records, is_same_n: bool) -> dict[str, Any]:
    """The same by dictionaries."""
    places: list[dict[bytes, set[int]]] = [defaultdict(set), defaultdict(set)]
    rows: list[Counter[bytes]] = [Counter(), Counter()]
    for each, count, records in zip(places, rows, (a, b), strict=True):
        for key, place in records:
            if key is not None:
                each[key].add(place)
                count[key] += 1
    shared = places[0].keys() & places[1].keys()
    apart = {key for key in shared if not is_same_n or len(places[0][key] | places[1][key]) > 1}
    heavy = sorted(apart, key=lambda key: (-rows[0][key] - rows[1][key], key))[:10]
    rows_shared = [sum(count[key] for key in shared) for count in rows]
    rows_apart = [sum(count[key] for key in apart) for count in rows]
    return {
        "keys_shared": len(shared),
        "keys_meeting": len(shared - apart),
        "share_of_keys": len(apart) / len(shared) if shared else None,
        "share_of_rows": sum(rows_apart) / sum(rows_shared) if shared else None,
        "examples": [
            {
                "key": key.decode() or "(empty)",
                "a": sorted(places[0][key]),
                "b": sorted(places[1][key]),
            }
            for key in heavy
        ],
        **{
            letter: {
                "rows": len(records),
                "null_keys": sum(key is None for key, _ in records),
                "keys": len(of_key),
                "keys_alone": len(of_key) - len(shared),
                "rows_alone": count.total() - own_shared,
                "rows_shared": own_shared,
                "rows_not_meeting": own_apart,
            }
            for letter, records, of_key, count, own_shared, own_apart in zip(
                "ab", (a, b), places, rows, rows_shared, rows_apart, strict=True
            )
        },
    }


def test_it_is_what_dictionaries_say(draw: random.Random) -> None:
    met = []
    for _ in range(150):
        n_a = draw.choice([1, 2, 3, 5, 7, 12, 13, 24, 48, 100])
        n_b = n_a if draw.random() < 0.8 else draw.choice([1, 5, 12, 30])
        a, b = some_table(draw, n_a), some_table(draw, n_b)
        if draw.random() < 0.3:
            b = draw.choices(a, k=50) if a and n_a == n_b else b
        answer = between(a, b, n_a, n_b)
        found, wanted = json.loads(json.dumps(answer.to_dict())), naive(a, b, n_a == n_b)
        for letter in "ab":
            found[letter] = {name: found[letter][name] for name in wanted[letter]}
        assert {name: found[name] for name in wanted} == wanted
        # Keys that do not meet have a reason; if all meet, the only reason is null keys.
        all_meet = wanted["keys_shared"] == wanted["keys_meeting"] > 0 and answer.readings is None
        assert answer.ok == all_meet
        assert ("null-keys" in kinds(answer)) == any(wanted[letter]["null_keys"] for letter in "ab")
        assert ("n" in kinds(answer)) == (n_a != n_b)
        assert all(reason.sentence for reason in answer.reasons)
        met.append(answer.ok)
    assert {True, False} == set(met)


def test_the_other_way_round_is_the_same(draw: random.Random) -> None:
    for _ in range(20):
        n = draw.choice([3, 12, 30])
        a, b = some_table(draw, n), some_table(draw, n)
        there, back = between(a, b, n, n), between(b, a, n, n)
        assert (there.a, there.b, sorted(kinds(there))) == (back.b, back.a, sorted(kinds(back)))
        assert [(each.key, each.a, each.b) for each in there.examples] == [
            (each.key, each.b, each.a) for each in back.examples
        ]


def test_the_same_client_meets() -> None:
    found = between(written(USERS * 3, 12), written(USERS[100:], 12, "kafkajs"))
    assert (found.ok, found.reasons, found.examples) == (True, (), ())
    assert (found.keys_shared, found.keys_meeting, found.share_of_keys, found.share_of_rows) == (
        200,
        200,
        0.0,
        0.0,
    )
    assert (found.a.keys_alone, found.a.rows_alone, found.b.keys_alone) == (100, 300, 0)


def test_two_clients_do_not() -> None:
    found = between(written(USERS, 12), written(USERS, 12, "librdkafka"))
    assert (found.ok, kinds(found)) == (False, ["client"])
    assert found.reasons[0].sentence == ("A's keys are put by java, and B's by librdkafka")
    assert found.share_of_keys == pytest.approx(11 / 12, abs=0.05)
    assert len(found.examples) == 10
    # Whichever client writes them, all keys are in the only partition.
    assert between(written(USERS, 1), written(USERS, 1, "librdkafka"), 1, 1).ok


def test_a_mixture_on_one_side_is_a_client_too() -> None:
    """Each key has one writer, so no key is in several partitions."""
    mixed = written(USERS[:150], 12) + written(USERS[150:], 12, "sarama")
    found = between(written(USERS, 12), mixed)
    assert (found.ok, kinds(found)) == (False, ["client"])
    # The first client of its family stands for sarama.
    assert (
        found.reasons[0].sentence == "A's keys are put by java, and B's by java 50.4%, librdkafka:fnv1a 49.6%"
    )


def test_what_one_client_wrote_in_part_says_so() -> None:
    half = written(USERS[:150], 12) + [(key, row * row % 11) for row, key in enumerate(USERS[150:])]
    found = between(written(USERS, 12), half)
    assert (found.ok, kinds(found)) == (False, ["no-rule"])
    assert found.b.writer is not None
    assert found.b.writer.verdict == "mixture"
    assert who(found.b) == "java 49.8%"
    assert (
        "one client's rule explains the others: these were given their partitions"
        in found.reasons[0].sentence
    )


def test_another_number_of_partitions_meets_nowhere() -> None:
    found = between(written(USERS, 12), written(USERS, 24), 12, 24)
    assert (found.ok, kinds(found), found.keys_meeting, found.share_of_keys) == (False, ["n"], 0, 1.0)
    same = sum(a == b for a, b in zip(written(USERS, 12), written(USERS, 24), strict=True))
    assert found.reasons[0].sentence == (
        "A has 12 partitions and B has 24: Kafka Streams refuses to join them; "
        f"{same} of 300 shared keys are in the same one by chance"
    )
    # No record is in the partitions that only B has: that B has them is enough.
    assert kinds(between(written(USERS, 12), written(USERS, 12), 12, 13)) == ["n"]
    found = between(written(USERS, 12), written(USERS, 24, "librdkafka"), 12, 24)
    assert kinds(found) == ["n", "client"]


def test_n_is_found_where_the_keys_tell() -> None:
    found = between(written(USERS, 12), written(USERS, 15), None, None)
    assert (found.a.n, found.b.n, found.a.is_n_found, found.b.is_n_found) == (12, 15, True, True)
    assert kinds(found) == ["n"]


@pytest.mark.parametrize(
    "records", [[], [(None, 3)], written(USERS[:2], 12), [(b"a", 1), (b"b", 0), (b"a", 0)]]
)
def test_n_that_nothing_tells_is_asked_for(records: Records) -> None:
    with pytest.raises(
        pw.PartwrightError, match=r"^nothing tells how many partitions B has: say it with JoinSide\(n=\)$"
    ):
        between(written(USERS, 12), records, 12, None)
    with pytest.raises(
        pw.PartwrightError, match=r"^nothing tells how many partitions A has: say it with n=$"
    ):
        between(records, written(USERS, 12), None, 12)


def test_a_partition_that_n_has_not_is_refused() -> None:
    with pytest.raises(
        pw.PartwrightError, match=r"a record of B is in partition 12, which a topic of 12 .*JoinSide\(n=\)$"
    ):
        between(written(USERS, 12), [(b"a", 12)])
    with pytest.raises(
        pw.PartwrightError, match=r"a record of A is in partition 12, which a topic of 12 .*n=$"
    ):
        between([(None, 12)], written(USERS, 12))


def test_keys_that_moved_are_told() -> None:
    grown = written(USERS, 12) + written(USERS, 24)
    found = between(grown, written(USERS, 24), 24, 24)
    assert (found.ok, kinds(found)) == (False, ["moved"])
    moved = sum(a != b for a, b in zip(written(USERS, 12), written(USERS, 24), strict=True))
    assert found.keys_meeting == 300 - moved
    assert found.reasons[0].sentence == (
        f"{moved} shared keys are in several partitions of A, which got more partitions: from 12 to 24"
    )
    # Keys that were not written again are in one partition: the old one.
    seldom = written(USERS[:150], 12) + written(USERS[150:], 24)
    found = between(written(USERS, 24), seldom, 24, 24)
    assert (found.ok, kinds(found)) == (False, ["moved"])
    assert found.reasons[0].sentence == (
        "keys are where they were before in B, which got more partitions: from 12 to 24"
    )
    two = written(USERS, 12) + written(USERS, 12, "sarama")
    found = between(two, written(USERS, 12))
    assert kinds(found) == ["moved"]
    assert (
        "several partitions of A, which several clients wrote: librdkafka:fnv1a 50.0%, java 50.0%"
        in found.reasons[0].sentence
    )


def test_turns_and_given_partitions_are_told() -> None:
    turns = [(key, row % 12) for row, key in enumerate(USERS * 5 + USERS[:7])]
    found = between(written(USERS, 12), turns)
    assert "moved" not in kinds(found)
    assert kinds(found) == ["no-rule"]
    assert "no client's rule puts the keys of B where they are" in found.reasons[0].sentence
    twice = [(key, row % 12) for row, key in enumerate([*USERS, *USERS[:299], *USERS])]
    found = between(twice, written(USERS, 12))
    assert kinds(found) == ["moved"]
    assert (
        found.reasons[0].sentence == "300 shared keys are in several partitions of A, which are taken in turn"
    )
    given = [(key, (place + 1) % 12 if key == b"user-5" else place) for key, place in written(USERS, 12)]
    found = between(written(USERS, 12), given)
    assert (found.ok, kinds(found), found.keys_meeting) == (False, ["no-rule"], 299)
    assert "1 shared key is in another partition of B than of A: one client's rule explains" in (
        found.reasons[0].sentence
    )


def test_what_got_fewer_partitions_did_not_grow() -> None:
    a = Observed()
    for start, (keys, places) in enumerate(zip(*written(USERS, n), strict=True) for n in (24, 12)):
        times = pa.array(range(300 * start, 300 * start + 300), pa.int64())
        a.add(pa.array(keys, pa.binary()), pa.array(places, pa.int64()), times)
    found = meet(JoinedKeys(a, 24), JoinedKeys(observed(written(USERS, 24)), 24))
    assert kinds(found) == ["moved"]
    assert found.reasons[0].sentence.endswith(
        "in several partitions of A, which got other numbers of them: from 24 to 12"
    )


def test_few_keys_tell_little_of_who_wrote_them() -> None:
    """One profile that is left, or none, does not count as several."""
    found = between(written(USERS, 12), written(USERS[:2], 12))
    assert found.b.writer is not None
    assert found.b.writer.verdict == "undecided"
    assert who(found.b).startswith("one of java, ")
    assert who(replace(found.b, writer=replace(found.b.writer, family=("java",)))) == "perhaps java"
    assert who(replace(found.b, writer=replace(found.b.writer, family=()))) == "undecided"


def test_an_encoding_of_few_keys_of_the_larger_table_is_seen() -> None:
    """All keys of B are in A too, where they are one key in twenty."""
    quoted = [b'"%s"' % key if row < 15 else key for row, key in enumerate(USERS)]
    found = between(written(quoted, 12), written(USERS[:15], 12))
    assert (found.readings, found.reasons[0].kind) == (("json-unquote", None), "key-bytes")
    assert found.reasons[0].sentence.startswith("15 keys are the same if A's are read without JSON's quotes")
    # A twentieth of both is too little to call it an encoding.
    found = between(written(quoted, 12), written(USERS[:15] + [b"x%d" % row for row in range(285)], 12))
    assert found.readings is None
    assert found.reasons[-1].sentence == (
        'no key is in both, and no encoding that is tried makes a tenth of them the same: "user-0" is a key of A, and '
        "user-0 of B"
    )
    found = between(written([b'"a"'], 12), written([b"a"], 12))
    assert found.reasons[0].sentence.startswith("1 key is the same if")


def test_of_a_sample_reasons_say_at_least() -> None:
    a, b = written(USERS, 12) + written(USERS, 12, "sarama"), written(USERS, 12)
    found = meet(JoinedKeys(observed(a, most=100), 12), JoinedKeys(observed(b), 12))
    assert found.is_sampled
    assert found.reasons[0].sentence.startswith("at least ")
    assert kinds(found) == ["moved"]
    found = meet(JoinedKeys(observed(b, most=100), 12), JoinedKeys(observed(written(USERS, 24)), 24))
    assert "shared keys that were looked at are in the same one by chance" in found.reasons[0].sentence


def test_null_keys_meet_nobody_and_keep_nobody_apart() -> None:
    found = between(written([*USERS, None, None], 12), written(USERS, 12))
    assert (found.ok, kinds(found)) == (True, ["null-keys"])
    assert found.reasons[0].sentence == "2 records of A and 0 of B without a key meet nobody"
    assert (found.a.null_keys, found.a.rows, found.a.rows_shared) == (2, 302, 300)


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        ([], [], "A has no records"),
        (USERS, [], "B has no records"),
        ([None] * 30, USERS, "A has no record with a key"),
        ([None] * 30, [None], "A has no record with a key"),
        (
            USERS[:100],
            USERS[100:],
            (
                "no key is in both, and no encoding that is tried makes a tenth of them the same: "
                "user-0 is a key of A, and user-100 of B"
            ),
        ),
    ],
)
def test_what_shares_no_key_does_not_meet(
    a: list[bytes | None], b: list[bytes | None], sentence: str
) -> None:
    found = between(written(a, 12), written(b, 12))
    assert (found.ok, found.keys_shared, found.share_of_keys, found.share_of_rows) == (False, 0, None, None)
    reason = found.reasons[0]
    assert (reason.kind, reason.sentence) == ("no-shared-keys", sentence)
    assert set(kinds(found)) - {"no-shared-keys"} == ({"null-keys"} if None in [*a, *b] else set())


NUMBERS = range(-20, 280)
UUIDS = [uuid.UUID(int=row * 0x1_0F3D_5B79_0000_0000_ABCD_EF01_2345) for row in range(300)]
TEXTS = [str(number).encode() for number in NUMBERS]
ENCODINGS: list[tuple[str, Sequence[bytes], Sequence[bytes], tuple[str | None, str | None]]] = [
    ("a schema's id", [b"\0\0\0\0\7" + key for key in USERS], USERS, ("confluent:strip-id", None)),
    (
        "two schemas' ids",
        [b"\0\0\0\0\7" + key for key in USERS],
        [b"\0\0\0\1\7" + key for key in USERS],
        ("confluent:strip-id", "confluent:strip-id"),
    ),
    ("quotes", USERS, [b'"%s"' % key for key in USERS], (None, "json-unquote")),
    (
        "Avro's text",
        [b"\0\0\0\0\7" + bytes([2 * len(key)]) + key for key in USERS],
        USERS,
        ("avro:string", None),
    ),
    (
        "JSON's text behind an id",
        USERS,
        [b'\0\0\0\0\7"%s"' % key for key in USERS],
        (None, "json-schema:string"),
    ),
    ("short", [struct.pack(">h", each) for each in NUMBERS], TEXTS, ("java:short", None)),
    ("int", TEXTS, [struct.pack(">i", each) for each in NUMBERS], (None, "java:int")),
    ("long", [struct.pack(">q", each) for each in NUMBERS], TEXTS, ("java:long", None)),
    (
        "long and int",
        [struct.pack(">q", each) for each in NUMBERS],
        [struct.pack(">i", each) for each in NUMBERS],
        ("java:long", "java:int"),
    ),
    (
        "upper case",
        [str(each).upper().encode() for each in UUIDS],
        [str(each).encode() for each in UUIDS],
        ("uuid:lower", None),
    ),
    (
        "UUIDs' bytes",
        [str(each).encode() for each in UUIDS],
        [each.bytes for each in UUIDS],
        (None, "uuid:bytes"),
    ),
]


@pytest.mark.parametrize(
    ("a", "b", "readings"), [each[1:] for each in ENCODINGS], ids=[each[0] for each in ENCODINGS]
)
def test_other_bytes_for_the_same_keys_are_told(
    a: Sequence[bytes], b: Sequence[bytes], readings: tuple[str | None, str | None]
) -> None:
    found = between(written(a, 12), written(b, 12))
    assert (found.ok, found.readings) == (False, readings)
    assert "key-bytes" in kinds(found)
    assert "no-shared-keys" not in kinds(found)
    assert "client" not in kinds(found)
    # A key of one side, and the same key of the other.
    same = same_keys(pa.array(a, pa.large_binary()), pa.array(b, pa.large_binary()), 0)
    assert same is not None
    assert same.keys >= 295
    assert a.index(same.of_a) == b.index(same.of_b)


def test_an_encoding_is_told_where_some_keys_are_shared_but_not_where_most_are() -> None:
    quoted = [b'"%s"' % key for key in USERS]
    found = between(written([*USERS[:200]], 12), written([*USERS[:50], *quoted[50:]], 12))
    assert (found.ok, found.keys_shared, found.keys_meeting) == (False, 50, 50)
    assert (found.readings, kinds(found)) == ((None, "json-unquote"), ["key-bytes"])
    assert (
        "200 keys are the same if A's are read as they are and B's without JSON's quotes, but 50 byte for byte"
        in (found.reasons[0].sentence)
    )
    found = between(written(USERS, 12), written([*USERS[:200], *quoted[200:]], 12))
    assert (found.ok, found.readings) == (True, None)


def test_the_client_is_told_beside_the_bytes() -> None:
    quoted = [b'"%s"' % key for key in USERS]
    found = between(written(USERS, 12), written(quoted, 12, "librdkafka"))
    assert kinds(found) == ["key-bytes", "client"]
    # They were hashed before the quotes were added, so they are where the bare keys are.
    bare = [(b'"%s"' % key, place) for key, place in written(USERS, 12) if key]
    found = between(written(USERS, 12), bare)
    assert found.b.writer is not None
    assert (found.b.writer.key_transform, kinds(found)) == ("json-unquote", ["key-bytes"])


def test_text_that_looks_like_nothing_else_is_no_encoding(draw: random.Random) -> None:
    """Other keys of every length, so that none equals another by chance."""
    for make in (
        lambda: draw.randbytes(draw.choice([2, 4, 8, 16, 36])) + b"\xff",
        lambda: struct.pack(">q", draw.getrandbits(62)),
        lambda: b"%08d" % draw.getrandbits(26),
        lambda: b"%d" % draw.getrandbits(60),
        lambda: str(uuid.UUID(int=draw.getrandbits(128))).encode(),
    ):
        a, b = ({make() for _ in range(500)} for _ in range(2))
        a, b = (pa.array(sorted(keys), pa.binary()) for keys in (a - b, b - a))
        assert same_keys(a, b, 0) is None


def placed(keys: Sequence[object], n: int, client: str, key_type: str | None = None) -> JoinedKeys:
    seen = Observed()
    placer = Placer(n, client, key_type)
    add_placed(seen, placer, pa.array(keys))
    return JoinedKeys(seen, n, client, key_type)


def test_what_is_placed_meets_where_its_clients_agree() -> None:
    keys = [f"user-{row}" for row in range(300)] + [None]
    for a in CLIENTS:
        for b in CLIENTS:
            found = meet(placed(keys, 12, a), placed(keys, 12, b))
            places = [pw.partition_for_key(keys[:-1], 12, client).to_pylist() for client in (a, b)]
            assert found.keys_meeting == sum(x == y for x, y in zip(*places, strict=True))
            assert kinds(found) == ([] if found.ok else ["client"]) + ["null-keys"]
            assert found.ok == (places[0] == places[1])
    # A table that meets by its rule, compared with one whose places were read.
    found = meet(placed(keys, 12, "kafkajs"), JoinedKeys(observed(written(USERS, 12)), 12))
    assert (found.ok, found.a.writer, found.a.client) == (True, None, "kafkajs")
    numbers = meet(placed([1, 42], 12, "java", "java:long"), placed([1, 42], 12, "librdkafka", "java:long"))
    assert [example.key for example in numbers.examples] == ["1", "42"]


def test_a_key_that_its_client_puts_anywhere_meets_nobody() -> None:
    found = meet(placed(["", "user-1"], 12, "librdkafka"), placed(["", "user-1"], 12, "librdkafka"))
    assert (found.ok, found.keys_shared, found.keys_meeting, kinds(found)) == (False, 2, 1, ["no-rule"])
    assert found.examples == (KeyApart("(empty)", (), ()),)
    assert "the client does not go by their keys, as librdkafka by an empty one" in found.reasons[0].sentence


def test_of_too_many_keys_the_same_are_compared() -> None:
    users = [b"user-%d" % row for row in range(20_000)]
    a, b = written(users, 12), written(users[:10_000], 12) + written(users[10_000:], 12, "librdkafka")
    whole = meet(JoinedKeys(observed(a), 12), JoinedKeys(observed(b), 12))
    for most_a, most_b in ((1000, 1_000_000), (1_000_000, 3000), (1000, 4000), (4000, 1000)):
        found = meet(JoinedKeys(observed(a, most_a), 12), JoinedKeys(observed(b, most_b), 12))
        assert (found.is_sampled, found.a.rows, found.b.rows) == (True, 20_000, 20_000)
        # Every key that one side has kept, the other has kept too.
        assert found.keys_shared == found.a.keys == found.b.keys > 250
        assert (found.a.keys_alone, found.b.rows_alone) == (0, 0)
        assert found.share_of_keys == pytest.approx(whole.share_of_keys, abs=0.1)
        assert kinds(found) == ["client"]
    assert not whole.is_sampled


def test_few_keys_of_which_a_sample_has_none_are_refused() -> None:
    many = observed(written([b"user-%d" % row for row in range(20_000)], 12), 20)
    few = observed(written(USERS[:2], 12))
    with pytest.raises(
        pw.PartwrightError, match=r"^no key of B is among the part of the other's keys that fits"
    ):
        meet(JoinedKeys(many, 12), JoinedKeys(few, 12))
    with pytest.raises(
        pw.PartwrightError, match=r"^no key of A is among .*: compare A with fewer of the other's"
    ):
        meet(JoinedKeys(few, 12), JoinedKeys(many, 12))


@pytest.mark.parametrize(
    "form",
    [
        '{"id": %d}',
        '{"id":"%d"}',
        '{"schema":{"type":"struct","fields":[]},"payload":{"id":%d}}',
        '{"schema":{"type":"int32","optional":false},"payload":%d}',
    ],
)
def test_an_object_of_one_scalar_is_that_scalar(form: str) -> None:
    keys = [(form % each).encode() for each in range(300)]
    for other, reading in (("%d", None), ('"%d"', "json-unquote")):
        found = between(written(keys, 12), written([(other % each).encode() for each in range(300)], 12))
        assert (found.readings, kinds(found)[0]) == (("json-object", reading), "key-bytes")
        assert f"{form % 0} of A and {other % 0} of B are one key" in found.reasons[0].sentence
    raw = [struct.pack(">i", each) for each in range(300)]
    assert between(written(keys, 12), written(raw, 12)).readings == ("json-object", "java:int")


def test_objects_of_more_are_shown_as_they_are() -> None:
    keys = [b'{"a":1,"id":%d\xff}' % each for each in range(30)]
    found = between(written(keys, 12), written([b"%d\xff" % each for each in range(30)], 12))
    assert (found.readings, kinds(found)) == (None, ["no-shared-keys"])


def test_an_encoding_is_seen_in_samples() -> None:
    """The same key in other bytes is kept by chance: one in sixteen here."""
    numbers = range(30_000)
    a = written([struct.pack(">q", each) for each in numbers], 12)
    b = written([b"%d" % each for each in numbers], 12)
    found = meet(JoinedKeys(observed(a, 2000), 12), JoinedKeys(observed(b, 2000), 12))
    assert (found.is_sampled, found.readings) == (True, ("java:long", None))
    found = meet(JoinedKeys(observed(a, 2000), 12), JoinedKeys(observed(written(USERS, 12)), 12))
    assert (found.readings, kinds(found)) == (None, ["no-shared-keys"])
    assert " of B that were looked at: 0x" in found.reasons[0].sentence


def test_what_was_seen_stays_as_it_was() -> None:
    seen: Callable[[], Observed] = lambda: observed(written(USERS, 12), 100)  # noqa: E731
    a, b = seen(), observed(written(USERS, 12))
    found = meet(JoinedKeys(a, 12), JoinedKeys(b, 12))
    assert found == meet(JoinedKeys(a, 12), JoinedKeys(b, 12))
    assert (a.pairs(), b.is_sampled) == (seen().pairs(), False)

"""`fingerprint` names a writer that has a client's hash and a rule of its own, or hashes other bytes than the keys'."""

from __future__ import annotations

import random
import struct
import zlib
from dataclasses import replace

import pytest
from fingerprinting import fingerprint
from written_keys import SEED, family_of, placed, users

import partwright as pw
from partwright.documents.fingerprint import document

M32 = 1 << 32


def murmur2_of(key: bytes) -> int:
    """Kafka's murmur2, unsigned: written anew from its definition, so that it owes nothing to the core."""
    m, mask = 0x5BD1E995, M32 - 1
    found = 0x9747B28C ^ len(key)
    whole = len(key) // 4 * 4
    for at in range(0, whole, 4):
        k = int.from_bytes(key[at : at + 4], "little") * m & mask
        found = (found * m & mask) ^ ((k ^ k >> 24) * m & mask)
    if key[whole:]:
        found = (found ^ int.from_bytes(key[whole:], "little")) * m & mask
    found = (found ^ found >> 13) * m & mask
    return found ^ found >> 15


def fnv1a_of(key: bytes) -> int:
    found = 0x811C9DC5
    for byte in key:
        found = (found ^ byte) * 0x01000193 % M32
    return found


def string_hash_of(key: bytes) -> int:
    found = 0
    for unit in key.decode():
        found = (31 * found + ord(unit)) % M32
    return found


HASHES = {
    "murmur2": murmur2_of,
    "crc32": zlib.crc32,
    "fnv1a": fnv1a_of,
    "string-hash": string_hash_of,
}


def signed(hash_: int) -> int:
    return hash_ - M32 if hash_ >= M32 // 2 else hash_


def remainder(a: int, n: int) -> int:
    """The remainder of C, Java and Go, which has the sign of a."""
    return a - n * int(a / n)


FAULTS = {
    "unsigned": lambda hash_, n: hash_ % n,
    "signed": lambda hash_, n: (remainder(signed(hash_), n) + n) % n,
    "absolute": lambda hash_, n: abs(remainder(signed(hash_), n)),
    "masked": lambda hash_, n: (hash_ & 0x7FFFFFFF) % n,
}
# The faulty ways of each hash: the clients have the others.
FAULTY = [
    ("murmur2", "unsigned", "java"),
    ("murmur2", "signed", "java"),
    ("murmur2", "absolute", "java"),
    ("crc32", "signed", "librdkafka"),
    ("crc32", "absolute", "librdkafka"),
    ("crc32", "masked", "librdkafka"),
    ("fnv1a", "unsigned", "librdkafka:fnv1a"),
    ("fnv1a", "signed", "librdkafka:fnv1a"),
    ("string-hash", "masked", "java:string-hash"),
    ("string-hash", "signed", "java:string-hash"),
]


def test_the_plain_hashes_are_right() -> None:
    keys = [f"user-{row}" * (row % 4) for row in range(200)]
    found = [murmur2_of(key.encode()) for key in keys]
    assert list(map(signed, found)) == pw.murmur2(keys).to_pylist()


@pytest.mark.parametrize("n", [3, 7, 12, 36, 100])
@pytest.mark.parametrize(("hash_", "way", "client"), FAULTY)
def test_a_faulty_rule_is_one_writers(hash_: str, way: str, client: str, n: int) -> None:
    keys = users(2000, 4000)
    places = [FAULTS[way](HASHES[hash_](key.encode()), n) for key in keys]
    for given in (n, None):
        found = fingerprint(keys, places, n=given)
        assert (found.verdict, found.n, found.family, found.shares) == ("no-rule", n, (), {})
        fault = found.fault
        assert fault is not None
        assert (fault.name, fault.client, fault.n) == (f"{hash_}-{way}", client, n)
        assert (fault.explained, found.unexplained) == ((4000, 4000), 0.0)
        right = placed(keys, n, client)
        assert fault.elsewhere == sum(a != b for a, b in zip(places, right, strict=True)) > 0
        assert found.to_dict()["fault"]["name"] == fault.name


@pytest.mark.parametrize("n", [2, 8, 16, 64])
@pytest.mark.parametrize("way", ["unsigned", "signed", "absolute"])
def test_a_fault_that_cannot_be_seen_is_not_claimed(way: str, n: int) -> None:
    """If n is a power of two, unsigned and signed remainders are where the mask puts them."""
    keys = users(2000, 4000)
    places = [FAULTS[way](murmur2_of(key.encode()), n) for key in keys]
    found = fingerprint(keys, places, n=n)
    if places == placed(keys, n):
        assert (found.verdict, found.shares, found.fault) == ("one-writer", {"java": 1.0}, None)
    else:
        assert way == "absolute"
        assert found.fault is not None
        assert found.fault.name == "murmur2-absolute"


def test_a_faulty_rule_has_few_exceptions() -> None:
    keys = users(2000, 4000)
    places = [murmur2_of(key.encode()) % 12 for key in keys]
    for stray in range(0, 4000, 400):
        places[stray] = (places[stray] + 5) % 12
    found = fingerprint(keys, places, n=12)
    assert found.fault is not None
    assert found.fault.explained == (3990, 4000)
    assert found.unexplained == pytest.approx(10 / 4000)
    # With half of them elsewhere it explains too little.
    draw = random.Random(SEED)
    found = fingerprint(keys, [draw.randrange(12) if row % 2 else at for row, at in enumerate(places)], n=12)
    assert found.fault is None


@pytest.mark.parametrize("n", [3, 7, 12, 36])
@pytest.mark.parametrize("noise", [0.03, 0.06])
def test_a_faulty_rule_with_some_exceptions_is_no_mixture(n: int, noise: float) -> None:
    # Some keys have many records, whose strays are most of the pairs of a key and a partition.
    keys, draw = users(500, 4000), random.Random(SEED)
    rule = [murmur2_of(key.encode()) % n for key in keys]
    places = [draw.randrange(n) if draw.random() < noise else place for place in rule]
    right = sum(a == b for a, b in zip(places, rule, strict=True))
    for given in (n, None):
        found = fingerprint(keys, places, n=given)
        assert found.fault is not None
        assert (found.verdict, found.fault.name, found.fault.n) == ("no-rule", "murmur2-unsigned", n)
        assert found.fault.products == ("platformatic",)
        assert found.fault.explained == (right, 4000)
        assert found.unexplained == pytest.approx(1 - right / 4000)


@pytest.mark.parametrize("noise", [0.03, 0.2])
def test_a_client_with_exceptions_has_no_faulty_rule(noise: float) -> None:
    keys, draw = users(2000, 4000), random.Random(SEED)
    places = [draw.randrange(12) if draw.random() < noise else place for place in placed(keys, 12)]
    found = fingerprint(keys, places)
    assert (set(found.family), found.fault) == (family_of("java"), None)


def test_few_keys_are_not_a_fault() -> None:
    keys = ["a", "b", "c"]
    found = fingerprint(keys, [murmur2_of(key.encode()) % 12 for key in keys])
    assert found.fault is None


@pytest.mark.parametrize("n", [7, 12, 16])
@pytest.mark.parametrize("client", ["java", "librdkafka", "sarama"])
@pytest.mark.parametrize(
    "name", ["little-endian", "utf-16-le", "utf-16-be", "utf-16-le-bom", "utf-16", "cut-at-characters"]
)
def test_other_bytes_than_the_keys_may_be_hashed(name: str, client: str, n: int) -> None:
    keys = [key.encode() for key in users(2000, 4000)]
    if name == "little-endian":
        keys = [struct.pack(">q", 7 * row) for row in range(2000)]
        written = [struct.pack("<q", 7 * row) for row in range(2000)]
    elif name == "cut-at-characters":
        keys = [f"größe-{key.decode()}-ü".encode() for key in keys]
        written = [key[: len(key.decode())] for key in keys]
    else:
        codec = {"utf-16": "utf-16-be", "utf-16-le-bom": "utf-16-le"}.get(name, name)
        mark = {"utf-16": b"\xfe\xff", "utf-16-le-bom": b"\xff\xfe"}.get(name, b"")
        written = [mark + key.decode().encode(codec) for key in keys]
    places = pw.partition_for_key(written, n, client)
    for given in (n, None):
        found = fingerprint(keys, places, n=given)
        assert (found.verdict, found.key_transform, found.n) == ("one-writer", name, n)
        assert set(found.family) == family_of(client)
        assert (found.unexplained, found.fault) == (0, None)
        own = placed(keys, n, found.family[0])
        assert found.elsewhere == sum(a != b for a, b in zip(places.to_pylist(), own, strict=True)) > 0
        assert found.to_dict()["elsewhere"] == found.elsewhere


def test_few_keys_with_other_bytes_are_no_writers() -> None:
    """So many rules, numbers and other bytes are tried that one of them explains a few keys by chance."""
    keys = [f"user-{row}" for row in range(4)]
    found = fingerprint(keys, [1, 2, 1, 2])
    assert (found.verdict, found.key_transform) == ("no-rule", None)


@pytest.mark.parametrize("n", [2, 3])
def test_random_partitions_of_few_keys_are_no_rule_of_other_bytes(n: int) -> None:
    draw = random.Random(1)
    for _ in range(100):
        keys = [f"user-{draw.randrange(10**6)}" for _ in range(draw.randint(4, 14))]
        places = [draw.randrange(n) for _ in keys]
        for given in (n, None):
            assert fingerprint(keys, places, n=given).key_transform is None, (keys, places)


@pytest.mark.parametrize("n", [12, 24, 36, 48, 100])
@pytest.mark.parametrize("mask", [0x3FFFFFFF, 0xFFFF, 0x1FFF])
def test_what_agrees_modulo_a_divisor_is_no_second_writer(mask: int, n: int) -> None:
    """A rule that nobody knows, of java's hash: it agrees modulo 4, 8 or 16, and has never had another n."""
    keys = users(3000, 6000)
    found = fingerprint(keys, [(murmur2_of(key.encode()) & mask) % n for key in keys], n=n)
    assert found.change is None
    assert found.verdict in {"mixture", "no-rule"}
    assert len(found.shares) <= 1
    assert found.n == n


@pytest.mark.parametrize("n", [3, 12])
@pytest.mark.parametrize(("hash_", "way", "client"), FAULTY)
@pytest.mark.parametrize("other", ["java", "librdkafka", "sarama"])
def test_a_client_beside_a_faulty_rule_has_its_own_share(
    hash_: str, way: str, client: str, n: int, other: str
) -> None:
    draw, keys = random.Random(SEED), users(2000, 8000)
    faulty = [FAULTS[way](HASHES[hash_](key.encode()), n) for key in keys]
    rows = zip(placed(keys, n, other), faulty, strict=True)
    found = fingerprint(keys, [draw.choices(row, [6, 4])[0] for row in rows], n=n)
    assert found.fault is not None
    assert (found.verdict, found.n, found.fault.name, found.fault.client) == (
        "mixture",
        n,
        f"{hash_}-{way}",
        client,
    )
    assert set(found.shares) <= family_of(other)
    assert sum(found.shares.values()) == pytest.approx(0.6, abs=0.07)
    assert found.unexplained == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("n", [None, 17, 24])
@pytest.mark.parametrize(("hash_", "way", "client"), FAULTY)
def test_a_faulty_rule_of_a_topic_that_grew_leaves_no_client_a_share(
    hash_: str, way: str, client: str, n: int | None
) -> None:
    keys = users(2000, 8000)
    hashes = [HASHES[hash_](key.encode()) for key in keys]
    places = [FAULTS[way](each, 11 if row < 4000 else 17) for row, each in enumerate(hashes)]
    found = fingerprint(keys, places, range(8000), n=n)
    assert found.fault is not None
    assert (found.verdict, found.n, found.shares, found.unexplained) == ("no-rule", 17, {}, 0)
    assert (found.fault.name, found.fault.client, found.fault.numbers) == (
        f"{hash_}-{way}",
        client,
        (11, 17),
    )
    assert found.fault.explained == (8000, 8000)
    assert "for 11 and 17 partitions" in document(found).verdicts[0].text


@pytest.mark.parametrize("share", [0.1, 0.2, 0.3, 0.6])
def test_what_agrees_modulo_a_divisor_is_no_second_number_of_a_faulty_rule(share: float) -> None:
    """Java's own records for 12 partitions agree with the unsigned hash modulo 8 more often than by chance."""
    draw, keys = random.Random(SEED), users(2000, 8000)
    pairs = zip(placed(keys, 12), keys, strict=True)
    places = [java if draw.random() < share else murmur2_of(key.encode()) % 12 for java, key in pairs]
    for n in (12, None):
        found = fingerprint(keys, places, n=n)
        assert found.fault is not None
        assert found.fault.numbers == (12,)
        assert sum(found.shares.values()) == pytest.approx(share if found.shares else 0, abs=0.07)


def test_shares_beside_a_faulty_rule_are_told_as_an_estimate() -> None:
    keys = users(2000, 8000)
    faulty = [murmur2_of(key.encode()) % 11 for key in keys]
    found = fingerprint(keys, placed(keys[:4000], 11) + faulty[4000:])
    first, second, *_ = (each.text for each in document(found).verdicts)
    assert first.startswith("mixture: java ")
    assert "; one writer whose rule is java's without the sign mask (murmur2 % n, unsigned; not " in first
    assert "no rule explains" not in first
    assert second == (
        "That rule and java's agree where a key's hash is not negative: how many of those records each wrote is "
        "estimated from the other records."
    )
    (writers,) = (section for section in document(found).sections if section.id == "writers")
    assert [row["name"] for row in writers.rows] == ["java", "murmur2-unsigned", "no rule"]
    assert writers.columns[-1].written(writers.rows[-1]) == "0.0%"


@pytest.mark.parametrize("noise", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("n", [3, 12])
def test_other_bytes_with_some_exceptions_are_found(n: int, name: str, noise: float) -> None:
    """Some keys have many records, whose strays are many of the pairs of a key and a partition."""
    keys, draw = users(500, 4000), random.Random(SEED)
    places = [
        draw.randrange(n) if draw.random() < noise else place
        for place in placed([key.encode(name) for key in keys], n)
    ]
    for given in (n, None):
        found = fingerprint(keys, places, n=given)
        assert (found.key_transform, found.n, set(found.family)) == (name, n, family_of("java"))
        assert found.verdict == ("one-writer" if found.unexplained <= 0.02 else "mixture")
        assert found.unexplained == pytest.approx(noise, abs=0.02)
        assert f"({name})" in "".join(each.text for each in document(found).verdicts)


def test_one_client_that_is_left_is_singular() -> None:
    found = replace(fingerprint(["TT0124"], [1], n=2), family=("java:string-hash",))
    assert "; 1 is left: java:string-hash" in document(found).verdicts[0].text


@pytest.mark.parametrize("n", [13, 24, 100])
@pytest.mark.parametrize(("hash_", "way", "client"), FAULTY)
def test_a_topic_may_have_more_partitions_than_its_faulty_writer_had(
    hash_: str, way: str, client: str, n: int
) -> None:
    keys = users(2000, 4000)
    found = fingerprint(keys, [FAULTS[way](HASHES[hash_](key.encode()), 12) for key in keys], n=n)
    assert found.fault is not None
    assert (found.verdict, found.n, found.fault.name, found.fault.client) == (
        "no-rule",
        12,
        f"{hash_}-{way}",
        client,
    )
    assert found.fault.explained == (4000, 4000)


@pytest.mark.parametrize("n", [13, 24, 100])
def test_a_topic_may_have_more_partitions_than_the_writer_of_other_bytes_had(n: int) -> None:
    keys = users(2000, 4000)
    utf_16 = [key.encode("utf-16-le") for key in keys]
    cut = [f"größe-{key}-ü" for key in keys]
    for written, hashed, name in (
        (keys, utf_16, "utf-16-le"),
        (cut, [key.encode()[: len(key)] for key in cut], "cut-at-characters"),
    ):
        found = fingerprint(written, placed(hashed, 12), n=n)
        assert (found.verdict, found.n, found.key_transform) == ("one-writer", 12, name)

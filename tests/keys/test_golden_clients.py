"""The golden files of all clients through Python: where each of their partitioners puts about two thousand keys.

`tests/golden/README.md` describes each field. Every test counts what it has compared, so that a missing profile
fails it instead of passing.
"""

from __future__ import annotations

import json
import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import partwright as pw
from partwright.keys.client_profiles import client_names

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "clients"
FILES: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text(encoding="ascii")) for path in sorted(GOLDEN.glob("*.json"))
}
PARTITIONS = [1, 2, 3, 6, 7, 10, 12, 16, 17, 50, 100, 1000]
PROFILES = [profile for golden in FILES.values() for profile in golden["profiles"]]
# Java hashes a String here, so a key that is not text has no answer, and some answers are negative.
TEXTS_ONLY = "java:string-hash"
HASHED = [profile for profile in PROFILES if profile != TEXTS_ONLY]
SAMPLED = 7


@dataclass(frozen=True)
class Case:
    """A key and, for each n, the partition that the client gave it; None if it gave none at all."""

    name: str
    key: bytes
    partitions: list[int] | None


def file_of(profile: str) -> dict[str, Any]:
    (golden,) = [golden for golden in FILES.values() if profile in golden["profiles"]]
    return golden


def cases_of(profile: str) -> list[Case]:
    golden = file_of(profile)
    at = golden["profiles"].index(profile)
    return [Case(name, bytes.fromhex(key), partitions[at]) for name, key, *partitions in golden["keys"]]


def test_the_files_say_who_wrote_them() -> None:
    versions = {
        "aiokafka": "0.14.0",
        "franz-go": "1.22.2",
        "java": "4.4.0",
        "kafka-go": "0.4.51",
        "kafka-python": "3.0.12",
        "kafkajs": "2.2.4",
        "librdkafka": "2.16.0",
        "sarama": "1.61.1",
    }
    assert {name: golden["provenance"]["version"] for name, golden in FILES.items()} == versions
    for golden in FILES.values():
        assert list(golden["provenance"]["functions"]) == golden["profiles"]


def test_there_are_vectors_of_every_profile() -> None:
    assert len(set(PROFILES)) == len(PROFILES)
    assert sorted(client_names()) == sorted(PROFILES)


def test_every_client_was_asked_the_same(reference: Callable[[str], ModuleType]) -> None:
    questions = reference("questions")
    named = [[name, key.hex()] for name, key in questions.keys().items()]
    for golden in FILES.values():
        assert golden["partitions"] == questions.PARTITIONS == PARTITIONS
        assert [row[:2] for row in golden["keys"]] == named
    assert len({key for _, key in named}) == len({name for name, _ in named}) == len(named) >= 2000
    groups = ["clients", "reports", "sign", "byte", "fill", "unicode", "no-text", "digits", "uuid", "random"]
    assert {name.split("/")[0] for name, _ in named} == set(groups)
    assert {len(key) // 2 for name, key in named if name.startswith("random/")} == set(range(2, 65))
    assert "" not in {key for _, key in named}


def test_the_keys_at_the_edge_of_a_sign_are_there() -> None:
    """At these hashes signed, unsigned, masked and absolute values differ; for two, no client's answer is needed."""
    keys = {case.name: case.key for case in cases_of("java")}
    edges = {"00000000", "00000001", "7fffffff", "80000000", "80000001", "ffffffff"}

    def fnv1a(key: bytes) -> int:
        hash_ = 0x811C9DC5
        for byte in key:
            hash_ = (hash_ ^ byte) * 0x01000193 & 0xFFFFFFFF
        return hash_

    for family, hashed in {"crc32": zlib.crc32, "fnv1a": fnv1a}.items():
        assert {f"{hashed(keys[f'sign/{family}/{edge}']):08x}" for edge in edges} == edges
    assert fnv1a(b"1468509572224") == 0x80000000
    for family in ["murmur2", "string-hash"]:
        assert {name.split("/")[2] for name in keys if name.startswith(f"sign/{family}/")} >= edges


def test_the_published_partitions_stand_in_the_files() -> None:
    """The values of the clients' own tests and of users' reports, to check the files themselves."""
    published = {
        # sarama, partitioner_test.go; the CRC ones are those of librdkafka.
        ("sarama:crc32", "abc123def456", 100): 57,
        ("sarama:crc32", "SheetJS", 100): 26,
        ("sarama:crc32", "9e8c7f4cf45857cfff7645d6", 100): 24,
        ("sarama:crc32", "3900446192ff85a5f67da10c", 100): 75,
        ("sarama:crc32", "0f4407b7a67d6d27de372198", 100): 50,
        ("sarama:murmur2", "kafka", 100): 80,
        ("sarama:murmur2", "sarama", 100): 11,
        # kafka-go, balancer_test.go
        ("kafka-go:hash", "blah", 2): 0,
        ("kafka-go:hash", "blah", 3): 1,
        ("kafka-go:hash", "boop", 3): 2,
        ("kafka-go:hash", "20", 16): 1,
        ("kafka-go:reference", "20", 16): 15,
        ("kafka-go:reference", "castle", 3): 2,
        ("kafka-go:crc32", "boop", 3): 1,
        # librdkafka, 0048-partitioner.c
        ("librdkafka", "23456", 17): 7,
        ("librdkafka:murmur2", "23456", 17): 9,
        ("librdkafka:fnv1a", "23456", 17): 6,
        ("librdkafka:fnv1a_random", "hejsan", 17): 4,
        # kafka-python, test_partitioner.py; aiokafka has the same.
        ("kafka-python", "123456789", 1000): 566,
        ("aiokafka", "abc", 1000): 107,
        # kafkajs, murmur2.spec.js of either partitioner: the hashes, reduced.
        ("kafkajs", "100:48069", 1000): 1009543857 % 1000,
        ("kafkajs:legacy", "16384", 1000): 204404061 % 1000,
        ("kafkajs:legacy", "128", 1000): 2053105854 % 1000,
        # tulios/kafkajs#357, confluentinc/confluent-kafka-python#1481, Blizzard/node-rdkafka#616
        ("kafkajs:legacy", "100:48069", 12): 6,
        ("librdkafka", 'Struct{documentKey={"_id": "638d1b94ce8def06be68b439"}}', 50): 36,
        ("librdkafka", "354afe16-939a-4ea8-8e17-8bb0840b6886", 10): 9,
    }
    for (profile, text, n), partition in published.items():
        (case,) = [case for case in cases_of(profile) if case.key == text.encode()]
        assert case.partitions is not None
        assert case.partitions[PARTITIONS.index(n)] == partition, (profile, text, n)
    assert len(published) == 26


@pytest.mark.parametrize("profile", HASHED)
def test_every_key_goes_where_the_client_puts_it(profile: str) -> None:
    cases = cases_of(profile)
    column = pa.array([case.key for case in cases], pa.binary())
    for at, n in enumerate(PARTITIONS):
        said = [case.partitions and case.partitions[at] for case in cases]
        assert None not in said
        assert pw.partition_for_key(column, n, client=profile).to_pylist() == said, f"n = {n}"


@pytest.mark.parametrize("profile", HASHED)
def test_a_single_key_goes_where_the_client_puts_it(profile: str) -> None:
    sample = cases_of(profile)[::SAMPLED]
    assert len(sample) > 300
    for case in sample:
        said = [pw.partition_for_key(case.key, n, client=profile) for n in PARTITIONS]
        assert said == case.partitions, case.name


def test_every_text_goes_where_javas_string_hash_puts_it() -> None:
    cases = [case for case in cases_of(TEXTS_ONLY) if case.partitions is not None]
    assert len(cases) > 1200
    negative = 0
    for at, n in enumerate(PARTITIONS):
        placed = {case.key.decode(): case.partitions[at] for case in cases if case.partitions}
        refused = [text for text, partition in placed.items() if partition < 0]
        column = pa.array([text for text in placed if text not in refused], pa.string())
        said = [partition for partition in placed.values() if partition >= 0]
        assert pw.partition_for_key(column, n, client=TEXTS_ONLY).to_pylist() == said, f"n = {n}"
        for text in list(placed)[::SAMPLED]:
            assert pw.partition_for_key(text, n, client=TEXTS_ONLY) == placed[text], text
        # Math.abs of the lowest int is negative, and there is no such partition.
        for text in refused:
            with pytest.raises(pw.PartwrightError, match=text):
                pw.partition_for_key(text, n, client=TEXTS_ONLY)
            assert placed[text] == math.fmod(-(2**31), n)
        negative += len(refused)
    assert negative == 18


def test_bytes_that_are_no_text_have_no_string_hash() -> None:
    cases = [case for case in cases_of(TEXTS_ONLY) if case.partitions is None]
    assert len(cases) > 600
    for case in cases[::SAMPLED]:
        with pytest.raises(pw.PartwrightError):
            pw.partition_for_key(case.key, 12, client=TEXTS_ONLY)


@pytest.mark.parametrize("section", ["null", "empty"])
@pytest.mark.parametrize("profile", PROFILES)
def test_a_key_without_bytes_goes_where_the_client_puts_it(profile: str, section: str) -> None:
    """The files have each partition that the client chose in hundreds of tries: only one, if the key decides."""
    seen: dict[str, list[int]] = file_of(profile)[section][profile]
    assert list(seen) == ["7", "12"]
    key = None if section == "null" else ""
    for n, partitions in seen.items():
        # All partitions if the client chooses, none if it fails: then our null is right.
        assert len(partitions) in {0, 1, int(n)}
        expected = partitions[0] if len(partitions) == 1 else None
        assert pw.partition_for_key(key, int(n), client=profile) == expected
        column = pa.array([key, "key", key], pa.string())
        answers = pw.partition_for_key(column, int(n), client=profile).to_pylist()
        assert answers[::2] == [expected, expected]
        assert answers[1] is not None


def test_null_and_empty_keys_are_no_one_thing() -> None:
    """Which clients choose by themselves, by the records for n = 12."""

    def choosing(section: str) -> set[str]:
        return {profile for profile in PROFILES if len(file_of(profile)[section][profile]["12"]) == 12}

    assert set(PROFILES) - choosing("null") == {
        "librdkafka:consistent",
        "librdkafka:murmur2",
        "librdkafka:fnv1a",
        TEXTS_ONLY,
    }
    assert choosing("empty") == {"librdkafka", "kafka-go:crc32"}

"""The golden files through Python: the answers of Kafka's own Java client, for columns of every type and one key.

`tests/golden/README.md` describes each field. Every test counts what it has compared, so that a missing section
fails it instead of passing.
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import partwright as pw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TESTS = Path(__file__).resolve().parents[1]
HASHING = json.loads((TESTS / "golden" / "hashing.json").read_text(encoding="utf-8"))
PARTITIONS: list[int] = HASHING["partitions"]
KEYS: list[dict[str, Any]] = HASHING["keys"]
TEXTS = [case for case in KEYS if "text" in case]
SERIALIZERS: dict[str, dict[str, Any]] = HASHING["serializers"]


def key_bytes(case: dict[str, Any]) -> bytes:
    return bytes.fromhex(case["key"])


def of_bits(bits: Sequence[str], kind: pa.DataType, code: str) -> pa.Array:
    """A floating-point column from raw bits: a NaN may lose its payload on the way through a Python float."""
    data = struct.pack(f"={len(bits)}{code}", *(int(one, 16) for one in bits))
    return pa.Array.from_buffers(kind, len(bits), [None, pa.py_buffer(data)])


def check_column(
    column: pa.Array | pa.ChunkedArray, cases: Sequence[Any], key_type: str | None = None
) -> None:
    """Each hash and each partition of a column whose rows are cases, or None for a null."""
    assert len(column) == len(cases) > 0
    hashes = pw.murmur2(column, key_type=key_type)
    assert hashes.type == pa.int32()
    assert hashes.to_pylist() == [case and case["murmur2"] for case in cases]
    for at, n in enumerate(PARTITIONS):
        partitions = pw.partition_for_key(column, n, key_type=key_type)
        assert partitions.type == pa.int32()
        assert partitions.to_pylist() == [case and case["partitions"][at] for case in cases], f"n = {n}"


# Values that others published about Kafka's hash, to check the golden file itself.


def test_the_file_says_who_wrote_it() -> None:
    provenance = HASHING["provenance"]
    assert provenance["kafka-clients"] == "4.4.0"
    assert "org.apache.kafka.common.utils.Utils" in provenance["classes"]
    assert PARTITIONS == [1, 3, 6, 7, 10, 12, 16, 50, 1000, 2**31 - 1]
    assert len({case["name"] for case in KEYS}) == len(KEYS) > 1500
    assert len(TEXTS) > 1100


def test_the_published_hashes_stand_in_the_file() -> None:
    published = {
        # Kafka, UtilsTest.testMurmur2
        "21": -973932308,
        "foobar": -790332482,
        "a-little-bit-long-string": -985981536,
        "a-little-bit-longer-string": -1486304829,
        "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
        "abc": 479470107,
        # librdkafka, rdmurmur2.c; sarama, partitioner_test.go
        "kafka": 0xD067CF64,
        "giberish123456789": 0x8F552B0C,
        "1234": 0x9FC97B14,
        "234": 0xE7C009CA,
        "34": 0x873930DA,
        "4": 0x5A4B5CA1,
        "PreAmbleWillBeRemoved,ThePrePartThatIs": 0x78424F1C,
        "reAmbleWillBeRemoved,ThePrePartThatIs": 0x4A62B377,
        "eAmbleWillBeRemoved,ThePrePartThatIs": 0xE0E4E09E,
        "AmbleWillBeRemoved,ThePrePartThatIs": 0x62B8B43F,
        "": 0x106E08D9,
        "foo": 597841616,
        "bar": 988958145,
        "baz": 1973573280,
        "sarama": 770765511,
        # kafkajs, murmur2.spec.js
        "0": 971027396,
        "1": -1993445489,
        "128": -326012175,
        "2187": -1508407203,
        "16384": -325739742,
        "78125": -1654490814,
        "279936": 1462227128,
        "823543": -2014198330,
        "2097152": 607668903,
        "4782969": -1182699775,
        "10000000": -1830336757,
        "19487171": -1603849305,
        "35831808": -857013643,
        "62748517": -1167431028,
        "105413504": -381294639,
        "170859375": -1658323481,
        "100:48069": 1009543857,
    }
    # kafka_ex, umurmur2: its values are without the sign bit.
    positive = {
        "rule": 473888304,
        "monkey": 385264353,
        "hover": 164653822,
        "guest": 1235690374,
        "necklace": 1631936446,
        "storm": 393248174,
        "paint": 493731830,
        "agony": 989421259,
        "strategic": 1388697647,
        "redundancy": 451414978,
    }
    recorded = {case["text"]: case["murmur2"] % 2**32 for case in TEXTS}
    assert {text: recorded[text] for text in published} == {
        text: published[text] % 2**32 for text in published
    }
    assert {text: recorded[text] % 2**31 for text in positive} == positive
    assert (len(published), len(positive)) == (38, 10)


def test_the_published_partitions_stand_in_the_file() -> None:
    partitions = {case["text"]: dict(zip(PARTITIONS, case["partitions"], strict=True)) for case in TEXTS}
    # Kafka, KTableKTableForeignKeyInnerJoinMultiIntegrationTest
    assert [partitions[str(digit)][3] for digit in range(10)] == [2, 0, 2, 2, 1, 0, 1, 0, 0, 2]
    # kafka-python, test_partitioner.py
    published = {"": 681, "a": 524, "ab": 434, "abc": 107, "123456789": 566}
    assert {text: partitions[text][1000] for text in published} == published


def test_every_reported_key_is_where_its_report_said() -> None:
    reported = {
        "tulios/kafkajs#1154": 10,
        "confluentinc/confluent-kafka-python#1481": 40,
        "Blizzard/node-rdkafka#616-a": 4,
        "Blizzard/node-rdkafka#616-b": 5,
        "Blizzard/node-rdkafka#817": 26,
        "tulios/kafkajs#357": 9,
        "nodefluent/node-sinek#39": 0,
        "confluentinc/kafka-rest#610-quoted": 2,
        "confluentinc/kafka-rest#610-bare": 1,
    }
    assert {case["name"]: case["partition"] for case in HASHING["reports"]}.items() >= reported.items()
    assert len(HASHING["reports"]) == 10
    for case in HASHING["reports"]:
        assert pw.partition_for_key(case["text"], case["n"]) == case["partition"]


# Keys, by the type of their column.

COLUMNS: dict[str, Callable[[list[Any]], pa.Array | pa.ChunkedArray]] = {
    "binary": lambda keys: pa.array(keys, pa.binary()),
    "large_binary": lambda keys: pa.array(keys, pa.large_binary()),
    "binary_view": lambda keys: pa.array(keys, pa.binary_view()),
    "dictionary": lambda keys: pa.array(keys, pa.binary()).dictionary_encode(),
    "slice": lambda keys: pa.array([b"before", *keys, None, b"after"], pa.binary())[1:-2],
    "chunks": lambda keys: pa.chunked_array([keys[:5], [], keys[5:700], keys[700:]], pa.binary()),
    "list": lambda keys: keys,
}
TEXT_COLUMNS: dict[str, Callable[[list[Any]], pa.Array | pa.ChunkedArray]] = {
    "string": lambda texts: pa.array(texts, pa.string()),
    "large_string": lambda texts: pa.array(texts, pa.large_string()),
    "string_view": lambda texts: pa.array(texts, pa.string_view()),
    "dictionary": lambda texts: pa.array(texts, pa.string()).dictionary_encode(),
    "slice": lambda texts: pa.array(["before", *texts, None, "after"], pa.string())[1:-2],
    "chunks": lambda texts: pa.chunked_array([texts[:5], [], texts[5:700], texts[700:]], pa.string()),
    "list": lambda texts: texts,
}


def with_nulls(cases: list[dict[str, Any]]) -> list[dict[str, Any] | None]:
    """The cases with a null after every third, so that rows and keys have different numbers."""
    spread: list[dict[str, Any] | None] = []
    for at, case in enumerate(cases):
        spread += [case, None] if at % 3 == 0 else [case]
    assert len(spread) > len(cases) * 5 // 4
    return spread


@pytest.mark.parametrize("kind", COLUMNS)
def test_every_key_of_a_binary_column_goes_where_the_java_client_puts_it(kind: str) -> None:
    cases = with_nulls(KEYS)
    assert len(cases) > 2000
    check_column(COLUMNS[kind]([case and key_bytes(case) for case in cases]), cases)


@pytest.mark.parametrize("kind", TEXT_COLUMNS)
def test_every_key_of_a_text_column_goes_where_the_java_client_puts_it(kind: str) -> None:
    cases = with_nulls(TEXTS)
    assert len(cases) > 1500
    check_column(TEXT_COLUMNS[kind]([case and case["text"] for case in cases]), cases)


def test_every_single_key_goes_where_the_java_client_puts_it() -> None:
    asked = 0
    for case in KEYS:
        for key in [key_bytes(case), case.get("text")]:
            if key is None:
                continue
            assert pw.murmur2(key) == case["murmur2"], case["name"]
            for n, partition in zip(PARTITIONS, case["partitions"], strict=True):
                assert pw.partition_for_key(key, n, client="java") == partition, (case["name"], n)
                asked += 1
    assert asked == (len(KEYS) + len(TEXTS)) * len(PARTITIONS) > 26_000


# Every length.


@pytest.mark.parametrize("block", HASHING["prefixes"], ids=lambda block: block["name"])
def test_every_length_hashes_as_in_java(block: dict[str, Any]) -> None:
    whole = bytes.fromhex(block["block"])
    rows = [
        {"murmur2": hash_, "partitions": partitions, "length": length}
        for length, hash_, partitions in block["rows"]
    ]
    assert [row["length"] for row in rows] == list(range(1001))
    keys = [whole[: row["length"]] for row in rows]
    check_column(pa.array(keys, pa.binary()), rows)
    check_column(pa.array(keys, pa.binary_view()), rows)
    assert len(HASHING["prefixes"]) == 4


def test_kafkas_own_checksum_comes_out() -> None:
    """UtilsTest.testMurmur2Checksum, a fixed_size_binary column for each length.

    The n-th long of Java's SplittableRandom is a mix of n times a constant, so Arrow can make all of
    them at once; a key takes whole longs, low byte first, and leaves the rest of its last one unused.
    """
    golden = HASHING["checksum"]
    assert golden["seed"] == 0
    lengths = range(golden["longest"] + 1)
    per_length: int = golden["keys_per_length"]
    longs = sum(per_length * -(-length // 8) for length in lengths)
    state = pc.cumulative_sum(pa.repeat(pa.scalar(0x9E3779B97F4A7C15, pa.uint64()), longs))
    for shift, factor in [(30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)]:
        state = pc.bit_wise_xor(state, pc.shift_right(state, pa.scalar(shift, pa.uint64())))
        state = pc.multiply(state, pa.scalar(factor, pa.uint64()))
    state = pc.bit_wise_xor(state, pc.shift_right(state, pa.scalar(31, pa.uint64())))
    assert sys.byteorder == "little"
    data = state.buffers()[1]
    total = hashes = start = 0
    for length in lengths:
        width = 8 * -(-length // 8)
        padded = pa.Array.from_buffers(
            pa.binary(width), per_length, [None, data.slice(start, per_length * width)]
        )
        keys = pc.binary_slice(padded, 0, length) if length else pa.array([b""] * per_length, pa.binary(0))
        assert keys.type == pa.binary(length)
        answers = pw.murmur2(keys)
        total += pc.sum(pc.bit_wise_and(answers.cast(pa.int64()), 0xFFFFFFFF)).as_py()
        hashes += len(answers)
        start += per_length * width
    assert hashes == golden["hashes"] == 100_100
    assert f"{total:x}" == golden["sum"] == "c3b8cf7c99fc"


# Serializers.


def column_of_values(key_type: str, cases: list[dict[str, Any]]) -> pa.Array:
    """The values in the Arrow type that is closest to Java's."""
    if key_type == "java:float":
        return of_bits([case["bits"] for case in cases], pa.float32(), "I")
    if key_type == "java:double":
        return of_bits([case["bits"] for case in cases], pa.float64(), "Q")
    kinds = {
        "java:short": pa.int16(),
        "java:int": pa.int32(),
        "java:long": pa.int64(),
        "java:boolean": pa.bool_(),
        "java:uuid": pa.string(),
        "java:string": pa.string(),
    }
    return pa.array([case["value"] for case in cases], kinds[key_type])


def cases_of(key_type: str) -> list[dict[str, Any]]:
    """The cases that a column can hold: no Arrow type has half of a surrogate pair."""
    return [case for case in SERIALIZERS[key_type]["cases"] if case["value"] is not None]


@pytest.mark.parametrize(
    ("key_type", "count"),
    [
        ("java:short", 142),
        ("java:int", 239),
        ("java:long", 431),
        ("java:float", 80),
        ("java:double", 80),
        ("java:boolean", 2),
        ("java:uuid", 41),
        ("java:string", 51),
    ],
)
def test_every_serializer_writes_the_bytes_that_javas_does(key_type: str, count: int) -> None:
    cases = cases_of(key_type)
    assert len(cases) == count
    column = column_of_values(key_type, cases)
    encoded = pw.encode(column, key_type)
    assert [key.hex() for key in encoded.to_pylist()] == [case["bytes"] for case in cases]
    check_column(column, cases, key_type)
    check_column(encoded, cases)
    # A null has no bytes in Java either.
    assert SERIALIZERS[key_type]["null"] is None
    assert pw.encode(pa.nulls(2, column.type), key_type).to_pylist() == [None, None]
    assert pw.partition_for_key(pa.nulls(2, column.type), 12, key_type=key_type).to_pylist() == [None, None]


def test_every_serializer_is_there() -> None:
    assert list(SERIALIZERS) == [
        f"java:{name}" for name in ["short", "int", "long", "float", "double", "boolean", "uuid", "string"]
    ]


@pytest.mark.parametrize("key_type", [key_type for key_type in SERIALIZERS if key_type != "java:float"])
def test_every_serializer_takes_a_single_value_too(key_type: str) -> None:
    asked = 0
    for case in cases_of(key_type):
        value = case["value"]
        if key_type == "java:double":
            (value,) = struct.unpack(">d", bytes.fromhex(case["bits"]))
        assert pw.encode(value, key_type) == bytes.fromhex(case["bytes"])
        assert pw.partition_for_key(value, 1000, key_type=key_type) == case["partitions"][8]
        asked += 1
    assert asked > 1


def test_a_single_float_is_encoded_as_in_java() -> None:
    """Except the payload of a NaN, which a Python float, a double, need not keep."""
    numbers = [case for case in cases_of("java:float") if case["value"] != "NaN"]
    assert len(numbers) > 60
    for case in numbers:
        (value,) = struct.unpack(">f", bytes.fromhex(case["bits"]))
        assert pw.encode(value, "java:float") == bytes.fromhex(case["bytes"])
        assert pw.partition_for_key(value, 1000, key_type="java:float") == case["partitions"][8]


def test_a_nan_keeps_its_bits_as_a_float_and_loses_them_as_a_double() -> None:
    nans = {
        key_type: [case for case in cases_of(key_type) if case["value"] == "NaN"]
        for key_type in ["java:float", "java:double"]
    }
    assert len({case["bytes"] for case in nans["java:float"]}) == len(nans["java:float"]) >= 11
    assert len({case["bits"] for case in nans["java:double"]}) == len(nans["java:double"]) >= 11
    assert {case["bytes"] for case in nans["java:double"]} == {"7ff8000000000000"}


def test_a_uuid_may_be_its_16_bytes() -> None:
    cases = cases_of("java:uuid")
    raws = [bytes.fromhex(case["raw"]) for case in cases]
    assert len(raws) == 41
    for kind in [pa.binary(16), pa.binary(), pa.large_binary(), pa.binary_view()]:
        column = pa.array(raws, kind)
        encoded = pw.encode(column, "java:uuid").to_pylist()
        assert [key.hex() for key in encoded] == [case["bytes"] for case in cases]
        check_column(column, cases, "java:uuid")


def test_half_of_a_surrogate_pair_is_a_question_mark_as_in_java() -> None:
    halves = [case for case in SERIALIZERS["java:string"]["cases"] if case["value"] is None]
    assert len(halves) == 12
    texts = [bytes.fromhex(case["utf16"]).decode("utf-16-be", "surrogatepass") for case in halves]
    assert pw.encode(texts, "java:string").to_pylist() == [bytes.fromhex(case["bytes"]) for case in halves]
    for text, case in zip(texts, halves, strict=True):
        assert b"?" in bytes.fromhex(case["bytes"])
        assert pw.encode(text, "java:string") == bytes.fromhex(case["bytes"])
        assert pw.murmur2(text, key_type="java:string") == case["murmur2"]
        assert pw.partition_for_key(text, 1000, key_type="java:string") == case["partitions"][8]
        with pytest.raises(pw.PartwrightError):
            pw.partition_for_key(text, 1000)


def test_the_code_units_are_those_of_the_text() -> None:
    cases = cases_of("java:string")
    assert [case["value"].encode("utf-16-be").hex() for case in cases] == [case["utf16"] for case in cases]
    assert any(ord(character) > 0xFFFF for case in cases for character in case["value"])


# The producer itself.


def test_the_producer_hashes_each_key_but_null() -> None:
    producer = HASHING["producer"]
    unknown = producer["unknown_partition"]
    assert unknown == -1
    looked_at = 0
    for case in producer["cases"]:
        if case["ignore_keys"]:
            assert case["partition"] == unknown
            continue
        key = None if case["key"] is None else bytes.fromhex(case["key"])
        # "No choice yet" is null here: the producer chooses later.
        chosen = None if case["partition"] == unknown else case["partition"]
        assert (key is None) == (chosen is None)
        assert pw.partition_for_key(key, case["n"]) == chosen
        assert pw.partition_for_key(pa.array([key], pa.binary()), case["n"]).to_pylist() == [chosen]
        looked_at += 1
    assert looked_at == 8

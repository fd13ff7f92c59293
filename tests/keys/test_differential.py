"""Random keys, each answered by the real client and by partwright.

The golden files hold what somebody thought of; random keys cover the rest. A failure prints the seed, and
PARTWRIGHT_SEED repeats it.
"""

from __future__ import annotations

import base64
import random
import subprocess
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import partwright as pw

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

pytestmark = [pytest.mark.reference, pytest.mark.go, pytest.mark.node, pytest.mark.compiler]

KEYS = 200_000
LARGEST_N = 2**31 - 1
CLIENT_KEYS = 24_000
LONGEST_CLIENT_KEY = 80
LARGEST_TOPIC = 5000
# These put a key of no bytes into any partition.
EMPTY_IS_NULL = {"librdkafka", "kafka-go:crc32"}
# Only strings.
STRING_HASH = "java:string-hash"

COLUMNS: list[Callable[[Sequence[bytes]], Any]] = [
    lambda keys: pa.array(keys, pa.binary()),
    lambda keys: pa.array(keys, pa.large_binary()),
    lambda keys: pa.array(keys, pa.binary_view()),
    lambda keys: pa.array(keys, pa.binary()).dictionary_encode(),
    lambda keys: pa.chunked_array([keys[:1000], keys[1000:]], pa.binary()),
    lambda keys: pa.array([b"before", None, *keys], pa.binary())[2:],
]


@pytest.fixture(scope="module")
def commands(
    reference: Callable[[str], ModuleType], tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, list[str]]:
    """By client: the command that runs the programs of its runtime."""
    generate = reference("generate")
    built = generate.build(generate.CLIENTS, tmp_path_factory.mktemp("reference"))
    return {client.name: [*command, client.answers] for client, command in built}


def random_key(draw: random.Random) -> bytes:
    """Mostly short, as keys are; some long; some of extreme bytes, which would reveal a wrong sign."""
    longest = 64 if draw.random() < 0.97 else 2000
    length = draw.randint(0, longest)
    if draw.random() < 0.05:
        return bytes(draw.choices([0x00, 0x7F, 0x80, 0xFF], k=length))
    return draw.randbytes(length)


def random_counts(draw: random.Random) -> list[int]:
    """Numbers of partitions: the ends, many that topics really have, some of any size."""
    small = [draw.randint(2, 100) for _ in range(24)]
    middle = [draw.randint(101, 100_000) for _ in range(8)]
    any_size = [draw.randint(1, LARGEST_N) for _ in range(6)]
    return [1, LARGEST_N, *small, *middle, *any_size]


def test_random_keys_go_where_the_java_client_puts_them(commands: Mapping[str, list[str]], seed: int) -> None:
    draw = random.Random(seed)
    counts = random_counts(draw)
    keys = [random_key(draw) for _ in range(KEYS)]
    # Key i goes among counts[i % len(counts)], so that each of our calls has thousands of keys for one n.
    questions = "".join(
        f"{base64.b64encode(key).decode()} {counts[at % len(counts)]}\n" for at, key in enumerate(keys)
    )
    done = subprocess.run(
        [*commands["java"][:-1], "partwright.HashingAnswers"],
        input=questions,
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(answers) == KEYS
    differing = []
    compared = 0
    for at, n in enumerate(counts):
        ours = keys[at :: len(counts)]
        column = COLUMNS[at % len(COLUMNS)](ours)
        hashes = pw.murmur2(column).to_pylist()
        partitions = pw.partition_for_key(column, n).to_pylist()
        for key, said, hash_, partition in zip(
            ours, answers[at :: len(counts)], hashes, partitions, strict=True
        ):
            compared += 1
            if said != (hash_, partition):
                differing.append(f"key {key.hex()} n {n}: Java {said}, we {(hash_, partition)}")
    assert compared == KEYS
    assert not differing, f"{len(differing)} of {KEYS} differ, seed {seed}:\n" + "\n".join(differing[:10])


def random_client_key(draw: random.Random) -> bytes:
    """Bytes of any kind, or the UTF-8 of characters of any kind, if it is no longer than the bytes."""
    length = draw.randint(0, LONGEST_CLIENT_KEY)
    if draw.random() < 0.5:
        return (
            bytes(draw.choices([0x00, 0x7F, 0x80, 0xFF], k=length))
            if draw.random() < 0.1
            else draw.randbytes(length)
        )
    highest = draw.choice([0x7F, 0x7FF, 0xD7FF, 0x1F64F])
    characters = [chr(draw.randint(0x20, highest)) for _ in range(length)]
    return "".join(characters).encode(errors="replace")[:length].decode(errors="ignore").encode()


@pytest.mark.parametrize(
    "client",
    ["java", "librdkafka", "sarama", "kafka-go", "franz-go", "kafkajs", "kafka-python", "aiokafka"],
)
def test_random_keys_go_where_each_client_puts_them(
    client: str, reference: Callable[[str], ModuleType], commands: Mapping[str, list[str]], seed: int
) -> None:
    draw = random.Random(seed)
    counts = [1, 2, 3, 7, *(draw.randint(1, LARGEST_TOPIC) for _ in range(36))]
    keys = [random_client_key(draw) for _ in range(CLIENT_KEYS)]
    questions = [(key, counts[at % len(counts)]) for at, key in enumerate(keys)]
    said = reference("answers").ask(commands[client], questions)
    differing = []
    compared = 0
    for which, profile in enumerate(said.profiles):
        for at, n in enumerate(counts):
            asked = zip(keys[at :: len(counts)], said.partitions[at :: len(counts)], strict=True)
            placed = [(key, answer[which]) for key, answer in asked]
            if profile == STRING_HASH:
                assert all((partition is not None) == is_text(key) for key, partition in placed)
                placed = [(key, chosen) for key, chosen in placed if chosen is not None and chosen >= 0]
                column = pa.array([key.decode() for key, _ in placed], pa.string())
            else:
                column = COLUMNS[at % len(COLUMNS)]([key for key, _ in placed])
            ours = pw.partition_for_key(column, n, client=profile).to_pylist()
            for (key, theirs), partition in zip(placed, ours, strict=True):
                expected = None if not key and profile in EMPTY_IS_NULL else theirs
                compared += 1
                if partition != expected:
                    differing.append(f"key {key.hex()} n {n}: {profile} {expected}, we {partition}")
    # Half of the keys are bytes, and hardly any of these are text.
    assert compared >= (len(said.profiles) - (0.6 if STRING_HASH in said.profiles else 0)) * CLIENT_KEYS
    assert not differing, f"{len(differing)} of {compared} differ, seed {seed}:\n" + "\n".join(differing[:10])


def is_text(key: bytes) -> bool:
    """As Java decides it: no surrogates, nothing overlong."""
    try:
        key.decode()
    except UnicodeDecodeError:
        return False
    return True

"""Random keys, each answered by Kafka's own Java client and by us.

The golden files hold what was thought of; this holds what was not. The seed is printed with a failure, and
PARTWRIGHT_SEED repeats it.
"""

from __future__ import annotations

import base64
import importlib.util
import os
import random
import secrets
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import partwright as pw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

pytestmark = [pytest.mark.slow, pytest.mark.reference]

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
KEYS = 200_000
LARGEST_N = 2**31 - 1

COLUMNS: list[Callable[[Sequence[bytes]], Any]] = [
    lambda keys: pa.array(keys, pa.binary()),
    lambda keys: pa.array(keys, pa.large_binary()),
    lambda keys: pa.array(keys, pa.binary_view()),
    lambda keys: pa.array(keys, pa.binary()).dictionary_encode(),
    lambda keys: pa.chunked_array([keys[:1000], keys[1000:]], pa.binary()),
    lambda keys: pa.array([b"before", None, *keys], pa.binary())[2:],
]


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that runs a program of tests/reference/java."""
    spec = importlib.util.spec_from_file_location("partwright_generate", REFERENCE / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = generate  # its dataclass looks itself up
    spec.loader.exec_module(generate)
    command: list[str] = generate.build_java(tmp_path_factory.mktemp("java"))
    return command


@pytest.fixture(scope="module")
def seed() -> int:
    return int(os.environ.get("PARTWRIGHT_SEED") or secrets.randbits(32))


def random_key(draw: random.Random) -> bytes:
    """Mostly short, as keys are; some long; some of extreme bytes, where a sign would show."""
    longest = 64 if draw.random() < 0.97 else 2000
    length = draw.randint(0, longest)
    if draw.random() < 0.05:
        return bytes(draw.choices([0x00, 0x7F, 0x80, 0xFF], k=length))
    return draw.randbytes(length)


def random_counts(draw: random.Random) -> list[int]:
    """Numbers of partitions: the ends, many as topics have, some of any size."""
    small = [draw.randint(2, 100) for _ in range(24)]
    middle = [draw.randint(101, 100_000) for _ in range(8)]
    any_size = [draw.randint(1, LARGEST_N) for _ in range(6)]
    return [1, LARGEST_N, *small, *middle, *any_size]


def test_random_keys_go_where_the_java_client_puts_them(java: list[str], seed: int) -> None:
    print(f"PARTWRIGHT_SEED={seed}")  # noqa: T201 - pytest shows it where the test fails
    draw = random.Random(seed)  # noqa: S311 - a test wants to be repeated
    counts = random_counts(draw)
    keys = [random_key(draw) for _ in range(KEYS)]
    # Key i goes among counts[i % len(counts)], so that each of our calls has thousands of keys for one n.
    questions = "".join(
        f"{base64.b64encode(key).decode()} {counts[at % len(counts)]}\n" for at, key in enumerate(keys)
    )
    done = subprocess.run(
        [*java, "partwright.HashingAnswers"], input=questions, capture_output=True, text=True, check=True
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

"""The cases of cases.json as pyarrow columns: the same bytes, row by row, that the other layers make."""

from __future__ import annotations

import json
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["CASES", "LAB", "SEED", "SEED_NAME", "check", "column"]

SEED_NAME = "PARTWRIGHT_BENCH_SEED"


def _run_seed() -> int:
    said = os.environ.get(SEED_NAME, "0")
    if not (said.isascii() and said.isdigit() and int(said) < 1 << 64):
        print(f"{SEED_NAME} is '{said}': say a whole number from 0 to 2^64 - 1.", file=sys.stderr)
        raise SystemExit(2)
    return int(said)


SEED = _run_seed()
"""What this run mixes into each case's seed: 0, with which the checksums hold, where nobody says another."""
LAB: dict[str, Any] = json.loads(Path(__file__).with_name("cases.json").read_text(encoding="utf-8"))
CASES: dict[str, dict[str, Any]] = {case["name"]: case for case in LAB["cases"]}

_ALPHABET = np.frombuffer(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_", np.uint8)
_HEX_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)
_HYPHENS = (8, 13, 18, 23)
_TAIL_BYTES = 6
# The bytes of this many rows are made at once.
_PIECE = 1 << 18


@cache
def column(case: str, layout: str, rows: int) -> pa.Array:
    """The first rows of a case in one layout.

    Args:
        case: A name of cases.json.
        layout: One of the case's layouts.
        rows: How many.
    """
    about = {**CASES[case], "seed": CASES[case]["seed"] ^ SEED}
    pieces = [
        _KINDS[about["kind"]](about, np.arange(start, min(start + _PIECE, rows), dtype=np.uint64))
        for start in range(0, rows, _PIECE)
    ]
    made = pa.concat_arrays(pieces)
    if layout == "dictionary":
        return made.dictionary_encode()
    types = {
        "utf8": pa.utf8,
        "large_utf8": pa.large_utf8,
        "utf8_view": pa.string_view,
        "binary": pa.binary,
        "fixed": lambda: pa.binary(len(made[0].as_py())),
        "int64": pa.int64,
    }
    return made.cast(types[layout]())


def check(case: str, partitions: pa.Array) -> int:
    """The sum of the first rows' partitions; fails if it is not the known one, which all layers share for seed 0."""
    found = sum(partition or 0 for partition in partitions[: LAB["checked_rows"]].to_pylist())
    assert SEED != 0 or found == CASES[case]["checksum"], f"{case}: the partitions' sum is {found}"
    return found


def _text(case: dict[str, Any], rows: np.ndarray) -> pa.Array:
    choice = _words(case["seed"], rows, [0])[:, 0]
    # numpy's operators keep an unsigned type only if both sides are unsigned.
    span = np.uint64(case["longest"] - case["shortest"] + 1)
    lengths = (choice >> np.uint64(32)) % span + np.uint64(case["shortest"])
    is_null = (choice & np.uint64(0xFFFFFFFF)) % np.uint64(1000) < np.uint64(case["null_per_mille"])
    return _strings(_letters(case["seed"], rows, case["longest"]), np.where(is_null, 0, lengths), is_null)


def _uuid(case: dict[str, Any], rows: np.ndarray) -> pa.Array:
    raw = _bytes(case["seed"], rows, 16)
    digits = np.stack([raw >> 4, raw & 15], axis=2).reshape(len(rows), 32)
    text = np.full((len(rows), 36), ord("-"), np.uint8)
    text[:, [place for place in range(36) if place not in _HYPHENS]] = _HEX_DIGITS[digits]
    return _strings(text, np.full(len(rows), 36))


def _tails(case: dict[str, Any], rows: np.ndarray) -> pa.Array:
    values = _letters(case["seed"], np.arange(case["values"], dtype=np.uint64), _TAIL_BYTES)
    values[:, 0] = ord("N")
    chosen = (_words(case["seed"], rows, [0])[:, 0] >> np.uint64(32)) % np.uint64(case["values"])
    return _strings(values[chosen], np.full(len(rows), _TAIL_BYTES))


def _long(case: dict[str, Any], rows: np.ndarray) -> pa.Array:
    return pa.array(_words(case["seed"], rows, [1])[:, 0].view(np.int64))


_KINDS = {"text": _text, "uuid": _uuid, "tails": _tails, "long": _long}


def _strings(text: np.ndarray, lengths: np.ndarray, is_null: np.ndarray | None = None) -> pa.Array:
    """One string for each line of `text`, cut to its length."""
    kept = np.arange(text.shape[1]) < lengths[:, None]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    valid = None if is_null is None or not is_null.any() else pa.array(~is_null).buffers()[1]
    return pa.StringArray.from_buffers(len(text), pa.py_buffer(offsets), pa.py_buffer(text[kept]), valid)


def _letters(seed: int, rows: np.ndarray, count: int) -> np.ndarray:
    return _ALPHABET[_bytes(seed, rows, count) & 63]


def _bytes(seed: int, rows: np.ndarray, count: int) -> np.ndarray:
    words = _words(seed, rows, range(1, 1 + -(-count // 8)))
    return words.astype("<u8").view(np.uint8).reshape(len(rows), -1)[:, :count]


def _words(seed: int, rows: np.ndarray, places: Any) -> np.ndarray:
    """SplitMix64 by position, a line per row and a word per place, as `word` of rust/keys.rs does it."""
    position = rows[:, None] * np.uint64(16) + np.array(places, np.uint64) + np.uint64(1)
    word = position * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))

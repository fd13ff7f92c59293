"""A file's name that is longer than the system takes is named as what cannot be used, wherever it stands."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = "x" * 300


@pytest.mark.parametrize(
    "line",
    [
        "check LONG --key k -n 3",
        "place r.csv LONG --key k -n 3 --in-place",
        "place r.csv --key k -n 3 --out LONG",
        "fingerprint LONG --key k --partition p",
        "resize r.csv --key k --from 3 --to 4 --report LONG.html",
        "run LONG --key k --to parquet:out",
        "run r.csv --key k -n 3 --to parquet:LONG",
        "assign LONG",
    ],
)
def test_a_name_that_is_too_long_is_named(line: str, command: Callable[..., tuple[int, bytes, str]]) -> None:
    Path("r.csv").write_text("k,p\na,0\n", encoding="utf-8")
    code, _, said = command(*shlex.split(line.replace("LONG", LONG)))
    assert code == 2, said
    assert LONG in said
    assert "File name too long" in said
    assert "Errno" not in said
    assert said.count("\n") == 1

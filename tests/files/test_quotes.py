"""Quotes that nothing closes: found in bytes, wherever a file is cut, and the same as `place` finds."""

from __future__ import annotations

import io
import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from partwright.errors import PartwrightError
from partwright.files import delimited
from partwright.files.delimited import DelimitedRecords

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", None),
        ("id,text\na,b\n", None),
        ('id,text\na,"b\n', 2),
        ('id,text\na,"b\nc"\nd,"e\nf\n', 4),
        ('id,text\na,"b""\n', 2),
        ('id,text\na,"b"""\n', None),
        ('id,text\na,b"c\n', None),
        ('id,text\na,"b"c"d\n', None),
        ('id,text\na,""\n', None),
        ('id,text\na,"', 2),
        ('\ufeff"id,text\n', 1),
        ('"id","text"\n"a","b"', None),
    ],
)
@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 20])
def test_a_quote_that_nothing_closes(
    text: str, line: int | None, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A byte order mark is expected only in the first chunk.
    monkeypatch.setattr(delimited, "_CHUNK", max(chunk, 3) if text.startswith("\ufeff") else chunk)
    assert delimited.open_quote(io.BytesIO(text.encode())) == line


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "CSV.GZ", "csv.bz2", "csv.zst"])
def test_a_file_of_any_packing(ending: str, tmp_path: Path) -> None:
    codecs = {"gz": "gzip", "bz2": "bz2", "zst": "zstd"}
    file = tmp_path / f"a.{ending}"
    for text, is_open in [(b'a;b\nc;"d\n', True), (b'a;b\nc;"d"\n', False)]:
        with pa.output_stream(file, codecs.get(ending.lower().rpartition(".")[2])) as sink:
            sink.write(text)
        delimited.refuse_open_quote(file, b",")
        if not is_open:
            delimited.refuse_open_quote(file, b";")
            continue
        with pytest.raises(
            PartwrightError, match=r"^the quote that is opened in line 2 of .* is not closed: "
        ):
            delimited.refuse_open_quote(file, b";")
    file.write_bytes(b"\x1f\x8b" if "gz" in ending.lower() else b"")
    delimited.refuse_open_quote(file, b";")


def test_it_is_what_place_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random texts of everything that matters for quotes: `DelimitedRecords` refuses the same ones."""
    draws = random.Random(20)
    refused = 0
    for _ in range(3000):
        text = "a,b\n" + "".join(draws.choices('"",\nx', k=draws.randrange(1, 14)))
        monkeypatch.setattr(delimited, "_CHUNK", draws.choice([1, 2, 5, 64]))
        line = delimited.open_quote(io.BytesIO(text.encode()))
        file = io.BufferedReader(io.BytesIO(text.encode()))  # type: ignore[arg-type]
        said = ""
        with DelimitedRecords("t.csv", file, None, ",") as records:
            try:
                list(records._blocks())
            except PartwrightError as error:
                said = str(error)
        assert ("is not closed: look for a quote" in said) == (line is not None), repr(text)
        refused += line is not None
    assert 300 < refused < 2700

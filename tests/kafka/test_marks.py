"""The header that a run leaves in each record: its row comes back, and a dump of the topic stays text."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest

from partwright.files import ColumnRequest, open_records, text_type
from partwright.kafka.marks import MARK, Mark

if TYPE_CHECKING:
    from pathlib import Path

EDGES = [0, 1, 63, 64, 2**33 - 1, 2**33, 2**33 + 1, 2**39, 2**63 - 1]


def kcat_line(key: bytes, value: bytes, header: bytes) -> bytes:
    """A record as `kcat -J` prints it: its bytes as they are, in JSON's quotes."""
    about = json.dumps({"topic": "t", "partition": 3, "offset": 0, "tstype": "create", "ts": 1, "broker": 1})
    return (
        about[:-1].encode()
        + b',"headers":["%s","%s"],"key":"%s","payload":' % (MARK.encode(), header, key)
        + json.dumps(value.decode()).encode()
        + b"}\n"
    )


def test_each_row_comes_back_from_printable_text(seed: int) -> None:
    drawn = random.Random(seed)
    rows = EDGES + [drawn.getrandbits(drawn.randrange(1, 64)) for _ in range(500)]
    for run in (bytes(8), b"\xff" * 8, drawn.randbytes(8)):
        mark = Mark(MARK, run)
        values = mark.values(rows)
        assert [mark.row(value) for value in values] == rows
        assert all(value.startswith(mark.prefix) for value in values)
        assert len({*values}) == len({*rows})
        for row, value in zip(rows, values, strict=True):
            assert value.isascii()
            assert json.loads(f'"{value.decode()}"') == value.decode()
            # A digit of 64 holds 6 bits.
            assert len(value) == 11 + -(-row.bit_length() // 6)


@pytest.mark.parametrize("run", [b"\x00\x80\xff\x22\x5c\x0a\x1f\x7f", b"8 bytes."])
def test_a_dump_of_marked_records_is_read(run: bytes, tmp_path: Path) -> None:
    import duckdb
    import polars as pl

    values = Mark(MARK, run).values(EDGES)
    dump = tmp_path / "dump.jsonl"
    dump.write_bytes(b"".join(kcat_line(b"k%d" % n, b"{}", value) for n, value in enumerate(values)))
    keys = [f"k{n}" for n in range(len(EDGES))]
    with open_records(str(dump)) as records:
        found = [batch[0].to_pylist() for batch in records.read([ColumnRequest("key", text_type(None))])]
    assert [key for batch in found for key in batch] == keys
    assert pl.read_ndjson(dump)["key"].to_list() == keys
    assert duckdb.read_json(str(dump)).select("key").fetchall() == [(key,) for key in keys]

"""The memory of a column of partitions: each case, layout and rival in its own process, next to 4 bytes per row.

`python benches/python/memory.py [--rows N] [--json FILE]`: by how much the process's peak exceeds what it had with the
keys in memory, in bytes a row. Keys are read from a file, so that nothing of their making is left to be used again.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))

from own_process import growth_of  # noqa: E402 - beside this file
from programs import parser, write  # noqa: E402

from bench_cases import CASES, LAB, SEED, column  # noqa: E402 - only now can it be found

if TYPE_CHECKING:
    from collections.abc import Sequence

_READ = """
import pyarrow as pa
# As columns made in memory are; Arrow for Rust copies views that lie askew.
aligned = pa.ipc.IpcReadOptions(ensure_alignment=pa.ipc.Alignment.At64Byte)
with pa.OSFile({file!r}) as file:
    keys = pa.ipc.open_file(file, options=aligned).read_all().column(0).chunk(0)
from own_process import grown
"""
_OURS = (
    _READ
    + """
import partwright as pw
pw.partition_for_key(keys[:10], {n}, "java", {key_type!r})
with grown():
    found = pw.partition_for_key(keys, {n}, "java", {key_type!r})
"""
)
_LOOP = (
    _READ
    + """
from test_hashing import {loop} as loop, confluent_partition
keys = {keys}
with grown():
    found = loop(confluent_partition, keys)
"""
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the bytes for compare.py."""
    options = parser(__doc__, "memory.json", rows=(LAB["rows"]["kernel"], "keys in a column")).parse_args(
        arguments
    )
    found = []
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "keys.arrow")
        for name, case in CASES.items():
            for layout in case["layouts"]:
                _write(file, name, layout, options.rows)
                program = _OURS.format(file=file, n=LAB["n"], key_type=case["key_type"])
                found.append(_measured(name, f"ours, {layout}", program, options.rows))
        name, layout = LAB["calls"]["case"], LAB["calls"]["layout"]
        _write(file, name, layout, options.rows)
        for what, loop, keys in (
            ("column to column", "loop_over_column", "keys"),
            ("list to list", "loop", "keys.to_pylist()"),
        ):
            program = _LOOP.format(file=file, loop=loop, keys=keys)
            found.append(_measured(name, f"confluent-kafka, {what}", program, options.rows))
    write({"seed": str(SEED), "rows": options.rows, "memory": found}, options.json)
    return 0


def _write(file: str, case: str, layout: str, rows: int) -> None:
    table = pa.table({"key": column(case, layout, rows)})
    with pa.OSFile(file, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _measured(case: str, what: str, program: str, rows: int) -> dict[str, str | float]:
    a_row = growth_of(program) / rows
    print(f"{case:20} {what:36} {a_row:8.2f} bytes a row", flush=True)
    return {"case": case, "what": what, "bytes_a_row": a_row}


if __name__ == "__main__":
    sys.exit(main())

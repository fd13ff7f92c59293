"""The cost of an audit of a file, in time and in memory, next to pyarrow and polars that only read and group it.

`python benches/python/audits.py [--rows N] [--repeats N] [--folder DIR]`: Parquet files of keys of 6 to 13 bytes with
their partition, with 100,000 different keys and with nearly as many as rows. pyarrow reads and groups the columns that
the audit needs, and counts. Each way once a round, in another order each round, each time in a process of its own,
whose processor time and largest memory are read at its end.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from programs import parser

from partwright import partition_for_key

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

N = 48
FEW = 100_000
_PART = 1_000_000
_MEASURED = """
import sys, time
began = time.perf_counter()
{program}
seconds = time.perf_counter() - began
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(seconds, time.process_time(), int(peak.split()[1]) / 1024)
"""
_COMMAND = """
import contextlib, io
from partwright.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main({words!r})
"""
_PYARROW = """
import pyarrow.parquet as pq
for file in {files!r}:
    read = pq.read_table(file, columns={keys!r} + {times!r})
    sums = [([], "count_all"), *((name, sum) for name in {times!r} for sum in ("min", "max"))]
    read.group_by({keys!r}, use_threads=False).aggregate(sums)
"""
_POLARS = """
import polars as pl
pl.scan_parquet({file!r}).group_by("partition", "key").len().collect(engine="streaming")
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = parser(
        __doc__, folder=True, rows=(20_000_000, "rows of the file"), repeats=(3, "rounds")
    ).parse_args(arguments)
    report = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for keys in (FEW, options.rows):
            file = Path(folder) / f"{keys}.parquet"
            _write(file, options.rows, keys)
            print(f"{keys:,} keys")
            report[keys] = _measure(file, options)
            file.unlink()
    print(json.dumps(report))
    return 0


def _write(file: Path, rows: int, keys: int) -> None:
    draw = random.Random(keys)  # noqa: S311 - keys, no secrets
    writer = None
    for first in range(0, rows, _PART):
        part = min(_PART, rows - first)
        ids = pa.array([draw.randrange(keys) for _ in range(part)])
        key = pc.binary_join_element_wise("user-", ids.cast(pa.string()), "")
        table = pa.table(
            {
                "key": key,
                "partition": partition_for_key(key, N),
                "offset": pa.array(range(first, first + part)),
                "timestamp": pa.array(range(first, first + part), pa.timestamp("ms")),
            }
        )
        writer = writer or pq.ParquetWriter(file, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _measure(file: Path, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    name = str(file)
    pair, times = ["partition", "key"], ["timestamp", "offset"]
    rivals = {
        "pyarrow: key and partition": _PYARROW.format(files=[name], keys=pair, times=[]),
        "pyarrow: these and first and last times": _PYARROW.format(files=[name], keys=pair, times=times),
        "pyarrow: key": _PYARROW.format(files=[name], keys=["key"], times=[]),
        "pyarrow: key and partition, twice": _PYARROW.format(files=[name, name], keys=pair, times=[]),
        "polars: key and partition, all cores": _POLARS.format(file=name),
    }
    both = ["--key", "key", "--partition", "partition"]
    audits = {
        "fingerprint": (["fingerprint", name, *both], "pyarrow: key and partition"),
        "fingerprint with times": (
            ["fingerprint", name, *both, "--timestamp", "timestamp", "--offset", "offset"],
            "pyarrow: these and first and last times",
        ),
        "resize": (["resize", name, "--key", "key", "--from", str(N), "--to", str(2 * N)], "pyarrow: key"),
        "check": (["check", name, *both, "-n", str(N)], "pyarrow: key and partition"),
        "copartition of two, which are one": (
            ["copartition", name, name, *both, "-n", str(N)],
            "pyarrow: key and partition, twice",
        ),
    }
    ways = rivals | {way: _COMMAND.format(words=words) for way, (words, _) in audits.items()}
    found: dict[str, list[tuple[float, float, float]]] = {way: [] for way in ways}
    # An installed package is compiled once: some machines' settings have Python compile it anew in each process.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    order = list(ways)
    for round_ in range(options.repeats):
        random.Random(round_).shuffle(order)  # noqa: S311 - an order, no secret
        for way in order:
            done = subprocess.run(  # noqa: S603 - this Python
                [sys.executable, "-c", _MEASURED.format(program=ways[way])],
                capture_output=True,
                text=True,
                check=True,
                env=environment,
            )
            seconds, processor, peak = map(float, done.stdout.split()[-3:])
            found[way].append((seconds, processor, peak))
    medians = {
        way: [statistics.median(each) for each in zip(*runs, strict=True)] for way, runs in found.items()
    }
    for way, (seconds, processor, peak) in medians.items():
        print(
            f"{way:39} {seconds:7.2f} s {options.rows / seconds / 1e6:7.2f} million rows/s {peak:8,.0f} MiB;"
            f" {processor:7.2f} s of the processor"
        )
    for way, (_, rival) in audits.items():
        ratios = [ours / theirs for ours, theirs in zip(medians[way], medians[rival], strict=True)]
        print(
            f"{way:39} {ratios[0]:5.2f} of the time of {rival}, {ratios[1]:5.2f} of its processor time,"
            f" {ratios[2]:5.2f} of its memory"
        )
    return {
        way: {"seconds": seconds, "processor_seconds": processor, "mib": peak}
        for way, (seconds, processor, peak) in medians.items()
    }


if __name__ == "__main__":
    raise SystemExit(main())

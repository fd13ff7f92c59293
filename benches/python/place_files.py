"""The cost of `partwright place` on a file, next to pyarrow reading and writing the same file and computing nothing.

`python benches/python/place_files.py [--rows N] [--repeats N] [--formats parquet,csv,jsonl,arrow] [--folder DIR]`: keys
of 12 to 20 bytes beside a number, a float and a text. Each way once a round, in another order each round. At the end,
`place` runs once more under Python's profiler, which says what it waited for.
"""

from __future__ import annotations

import cProfile
import json
import pstats
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json
import pyarrow.parquet as pq
from programs import parser

from partwright.audit.check import Placer
from partwright.files import ColumnRequest, open_records, open_sink

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

N = 12
_PART = 1_000_000
_KEY = "customer"
_PROFILED = 6


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = _parser().parse_args(arguments)
    report = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for kind in options.formats.split(","):
            source, out = Path(folder) / f"source.{kind}", Path(folder) / f"out.{kind}"
            _write(kind, source, options.rows)
            report[kind] = _measure(kind, source, out, options)
            source.unlink()
    print(json.dumps(report))
    return 0


def _parser() -> argparse.ArgumentParser:
    reading = parser(__doc__, folder=True, rows=(10_000_000, "rows of the file"), repeats=(5, "rounds"))
    reading.add_argument("--formats", default="parquet,arrow,csv,jsonl", help="which files (%(default)s)")
    return reading


def _measure(kind: str, source: Path, out: Path, options: argparse.Namespace) -> dict[str, float]:
    ways: dict[str, Callable[[Path, Path], float]] = {
        "place": _place,
        "copy": RIVALS[kind],
        "cp": _copy_bytes,
    }
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    hashing: list[float] = []
    order = list(ways)
    for round_ in range(options.repeats + 1):
        random.Random(round_).shuffle(order)  # noqa: S311 - an order, no secret
        for way in order:
            out.unlink(missing_ok=True)
            began = time.perf_counter()
            inner = ways[way](source, out)
            taken = time.perf_counter() - began
            # The first round fills the caches.
            if round_:
                seconds[way].append(taken)
                if way == "place":
                    hashing.append(inner / taken)
    _check(source, out)
    parts = _profile(source, out)
    middle = {way: statistics.median(taken) for way, taken in seconds.items()}
    size = source.stat().st_size
    print(
        f"{kind}: {options.rows:,} rows, {size / 1e6:,.0f} MB; place {middle['place']:.2f} s "
        f"({options.rows / middle['place']:,.0f} rows/s), of which partition_for_key {statistics.median(hashing):.1%}; "
        f"pyarrow reads and writes it in {middle['copy']:.2f} s: place / that = "
        f"{middle['place'] / middle['copy']:.2f}; cp takes {middle['cp']:.2f} s",
        file=sys.stderr,
    )
    for name, share in parts.items():
        print(f"  {share:6.1%}  {name}", file=sys.stderr)
    return {
        **middle,
        "hashing": statistics.median(hashing),
        "rows": options.rows,
        "bytes": size,
        "profile": parts,
    }


def _profile(source: Path, out: Path) -> dict[str, float]:
    """The functions that take most of the time themselves, with their shares of it."""
    profile = cProfile.Profile()
    profile.runcall(_place, source, out)
    # By name, pstats adds up functions of the same name, and rounds.
    functions: dict[tuple[str, int, str], tuple[int, int, float, float, object]] = (
        pstats.Stats(profile).strip_dirs().stats  # type: ignore[attr-defined] # typeshed leaves it out
    )
    total = sum(own for _, _, own, _, _ in functions.values())
    heaviest = sorted(functions.items(), key=lambda item: -item[1][2])[:_PROFILED]
    return {
        name if file == "~" else f"{name} of {file}": own / total
        for (file, _, name), (_, _, own, _, _) in heaviest
    }


def _check(source: Path, out: Path) -> None:
    """`partwright check` must find each record of the result in its place."""
    _place(source, out)
    words = ["check", str(out), "--key", _KEY, "-n", str(N), "--partition", "partition"]
    # The program is part of this project.
    subprocess.run([sys.executable, "-m", "partwright", *words], check=True, stdout=subprocess.DEVNULL)  # noqa: S603


def _place(source: Path, out: Path) -> float:
    """The seconds that computing partitions took, out of all."""
    placer, taken = Placer(N), 0.0

    def placed(keys: pa.Array) -> pa.Array:
        nonlocal taken
        began = time.perf_counter()
        found = placer.place(keys)
        taken += time.perf_counter() - began
        return found

    with open_records(str(source)) as records, open_sink(str(out), records) as sink:
        records.extend(ColumnRequest(_KEY, pa.string()), "partition", placed, sink)
    return taken


def _copy_parquet(source: Path, out: Path) -> float:
    file = pq.ParquetFile(source)
    codec = file.metadata.row_group(0).column(0).compression
    with pq.ParquetWriter(out, file.schema_arrow, compression=codec) as writer:
        for group in range(file.num_row_groups):
            writer.write_table(file.read_row_group(group))
    return 0.0


def _copy_csv(source: Path, out: Path) -> float:
    texts = pa_csv.ConvertOptions(column_types=dict.fromkeys(("id", _KEY, "amount", "note"), pa.string()))
    with pa_csv.open_csv(source, convert_options=texts) as reader:
        style = pa_csv.WriteOptions(quoting_style="none")
        with pa_csv.CSVWriter(out, reader.schema, write_options=style) as writer:
            for batch in reader:
                writer.write_batch(batch)
    return 0.0


def _copy_json(source: Path, out: Path) -> float:
    """Only reads, and copies the bytes: pyarrow writes no JSON."""
    with pa_json.open_json(source) as reader:
        for _ in reader:
            pass
    return _copy_bytes(source, out)


def _copy_arrow(source: Path, out: Path) -> float:
    with (
        pa.OSFile(str(source)) as file,
        pa.ipc.open_file(file) as reader,
        pa.ipc.new_file(str(out), reader.schema) as writer,
    ):
        for batch in range(reader.num_record_batches):
            writer.write_batch(reader.get_batch(batch))
    return 0.0


def _copy_bytes(source: Path, out: Path) -> float:
    with source.open("rb") as read, out.open("wb") as written:
        shutil.copyfileobj(read, written, 1 << 22)
    return 0.0


RIVALS: dict[str, Callable[[Path, Path], float]] = {
    "parquet": _copy_parquet,
    "csv": _copy_csv,
    "jsonl": _copy_json,
    "arrow": _copy_arrow,
}


def _tables(rows: int) -> Iterator[pa.Table]:
    for start in range(0, rows, _PART):
        ids = pc.add(pa.array(range(min(_PART, rows - start)), pa.int64()), start)
        mixed = pc.bit_wise_and(pc.multiply(ids, 2654435761), 0xFFFFFFFF)
        # 12 to 20 bytes.
        key = pc.binary_join_element_wise("key-", pc.utf8_lpad(mixed.cast(pa.string()), 8, "0"), "")
        key = pc.if_else(
            pc.equal(pc.bit_wise_and(mixed, 1), 0), key, pc.binary_join_element_wise(key, "-berlin", "")
        )
        yield pa.table(
            {
                "id": ids,
                _KEY: key,
                "amount": pc.divide(mixed.cast(pa.float64()), 100.0),
                "note": pc.binary_join_element_wise(
                    "note ", pc.bit_wise_and(mixed, 1023).cast(pa.string()), ""
                ),
            }
        )


def _write(kind: str, path: Path, rows: int) -> None:
    tables = _tables(rows)
    first = next(tables)
    if kind == "parquet":
        writer = pq.ParquetWriter(path, first.schema)
    elif kind == "arrow":
        writer = pa.ipc.new_file(str(path), first.schema)
    elif kind == "csv":
        writer = pa_csv.CSVWriter(path, first.schema, write_options=pa_csv.WriteOptions(quoting_style="none"))
    else:
        with path.open("wb") as file:
            for table in (first, *tables):
                file.write(_json_text(table))
        return
    with writer:
        for table in (first, *tables):
            writer.write_table(table)


def _json_text(table: pa.Table) -> bytes:
    parts = []
    for name in table.schema.names:
        quote = '"' if pa.types.is_string(table.schema.field(name).type) else ""
        parts += [f'{"," if parts else "{"}"{name}":{quote}', table[name].cast(pa.string()), quote]
    lines = pc.binary_join_element_wise(*parts, "}\n", "")
    return b"".join(text.encode() for text in lines.to_pylist())


if __name__ == "__main__":
    sys.exit(main())

"""Quotas on columns of 10,000,000 rows next to pyarrow's own arithmetic, and 200,000 groups assigned at once.

`python benches/python/quotas.py [--rows N] [--groups N] [--repeats N]`: columns are made anew for each round, each way
goes in another order, and what it gives is kept until the round is over: none gets its memory back from another. The
times are the processor's own, of one core, which others on the machine change least. pyarrow's `divide` alone checks
for 0 and nothing else; its whole rules check nothing more.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))

from programs import parser, write  # noqa: E402

import partwright as pw  # noqa: E402 - only now can bench_cases be found
from bench_cases import SEED  # noqa: E402
from partwright import quotas  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MEMBERS = 5
"""Of each group."""
TOPICS = 200


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the rounds."""
    options = parser(
        __doc__,
        "quotas.json",
        rows=(10_000_000, "of each column"),
        groups=(200_000, f"of {MEMBERS} members"),
        repeats=(7, "rounds"),
    ).parse_args(arguments)
    found: dict[str, Any] = {"seed": str(SEED)}
    for kind in (np.int32, np.int64):
        times = _rounds(options.repeats, lambda number, kind=kind: _arithmetic(options.rows, kind, number))
        found[kind.__name__] = times
        _print(f"{options.rows:,} rows of {kind.__name__}", times)
    times = _rounds(options.repeats, lambda number: _groups(options.groups, number))
    found["groups"] = times
    _print(f"{options.groups:,} groups of {MEMBERS} members", times)
    write(found, options.json)
    return 0


def _rounds(
    repeats: int, ways: Callable[[int], Mapping[str, Callable[[], object]]]
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {}
    for number in range(repeats + 1):
        given = ways(number)
        order = random.Random(number ^ SEED).sample(list(given), len(given))  # noqa: S311 - an order, no secret
        kept = []
        for name in order:
            began = time.process_time()
            kept.append(given[name]())
            # The first round warms up.
            if number:
                times.setdefault(name, []).append(time.process_time() - began)
    return times


def _arithmetic(rows: int, kind: type, number: int) -> dict[str, Callable[[], object]]:
    draw = np.random.default_rng(number ^ SEED)
    members = draw.integers(1, 10_000, rows, kind)
    parts = pa.array(draw.integers(0, 1_000_000, rows, kind))
    index = pa.array(draw.integers(0, members, rows, kind))
    those = pa.array(members)

    def most() -> Any:
        quota = pc.divide(parts, those)
        return pc.add(quota, pc.greater(pc.subtract(parts, pc.multiply(quota, those)), 0).cast(quota.type))

    def start() -> Any:
        quota = pc.divide(parts, those)
        extra = pc.subtract(parts, pc.multiply(quota, those))
        return pc.add(pc.multiply(index, quota), pc.min_element_wise(index, extra))

    return {
        "min_quota": lambda: quotas.min_quota(parts, those),
        "pyarrow's divide": lambda: pc.divide(parts, those),
        "max_quota": lambda: quotas.max_quota(parts, those),
        "pyarrow's max_quota": most,
        "over_max_quota": lambda: quotas.over_max_quota(index, parts, those),
        "pyarrow's over_max_quota": lambda: pc.greater(index, most()),
        "range_start": lambda: quotas.range_start(index, parts, those),
        "pyarrow's range_start": start,
    }


def _groups(count: int, number: int) -> dict[str, Callable[[], object]]:
    draw = random.Random(number ^ SEED)  # noqa: S311 - the same groups for the same seed
    topics = {f"t{at:03}": draw.randint(1, 12) for at in range(TOPICS)}
    names = list(topics)
    pairs = [draw.sample(names, 2) for _ in range(count)]
    members = pa.table(
        {
            "group": [f"g{at // MEMBERS}" for at in range(count * MEMBERS)],
            "member": [f"consumer-{at % MEMBERS}-{at}" for at in range(count * MEMBERS)],
            "topics": [pair for pair in pairs for _ in range(MEMBERS)],
        }
    )
    return {
        f"assign_groups, {assignor}": lambda assignor=assignor: pw.assign_groups(members, topics, assignor)
        for assignor in ("range", "sticky", "cooperative-sticky", "server-uniform")
    }


def _print(what: str, times: Mapping[str, Sequence[float]]) -> None:
    print(what, flush=True)
    for name, seconds in times.items():
        print(f"  {name:36} {statistics.median(seconds) * 1e3:10.1f} ms", flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""Large groups assigned by Kafka's own assignors on the JVM and by partwright, turn by turn, and the curve over sizes.

`python benches/python/assignors.py [--repeats N] [--heap 6g] [--only WORD] [--curve]`: each group is built once on each
side, and then both assign it in turn. Java's first turns, while its compiler is at work, do not count. The answers are
compared by a checksum, order included. `--curve` times partwright alone over groups of 1,000 to 10,000,000 partitions;
`--svg FILE` draws it, too, with matplotlib, which is not among the locked packages.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import partwright as pw
from partwright.assignment import assign_group, assignors
from partwright.group import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

REFERENCE = Path(__file__).parents[2] / "tests" / "reference"
WARM_UP = 3
"""So many of Java's turns do not count."""
REST_S = 0.5
"""What Java's collector has left to do after its turn is done before ours begins."""
CURVE_MEMBERS = 200
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
_GROWN = """
import sys, json
sys.path.insert(0, {folder!r})
from assignors import equal, peak, resident
from partwright.assignment import assign_group
from partwright.group import Group
topics, members = equal({topics}, {partitions}, {members})
group = Group.of(topics, members)
before = resident()
answer = assign_group(group, {assignor!r})
print(peak() - before)
"""


@dataclass(frozen=True)
class Case:
    """A group, and what the table calls it."""

    name: str
    assignor: str
    topics: dict[str, int]
    members: list[dict[str, Any]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    options = _parser().parse_args(arguments)
    if options.curve or options.svg:
        curves = _curves(options.repeats)
        if options.svg:
            _draw(curves, options.svg)
        return 0
    sys.path.insert(0, str(REFERENCE))
    from builds import build_java  # noqa: PLC0415 - a folder of its own

    with tempfile.TemporaryDirectory() as folder:
        command = [*build_java(Path(folder)), "partwright.AssignorTimes"]
        command[1:1] = [f"-Xmx{options.heap}", f"-Xms{options.heap}"]
        print(f"{'':44} {'Java':>10} {'core':>9} {'ratio':>7} {'pw.assign':>10} {'ratio':>7}   (medians, ms)")
        for case in _cases():
            if options.only in case.name:
                _measure(case, command, options.repeats)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=9, help="turns that count (%(default)s)")
    parser.add_argument("--heap", default="6g", help="Java's heap (%(default)s)")
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose name has this word")
    parser.add_argument("--curve", action="store_true", help="time partwright alone, over sizes, with memory")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="the same, drawn")
    return parser


def equal(topics: int, partitions: int, members: int) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """A group whose members subscribe to all topics."""
    counts = {f"t{number:04}": partitions for number in range(topics)}
    names = list(counts)
    return counts, [{"id": f"c{number:04}", "topics": names} for number in range(members)]


def _cases() -> Iterator[Case]:
    topics, members = equal(500, 2_000, 2_000)
    million = "1,000,000 partitions, 2,000 members"
    for assignor in ("range", "roundrobin", "sticky"):
        yield Case(f"{assignor}: {million}", assignor, topics, members)
    owned = pw.assign(topics, members, "sticky").to_dict()
    left = [{**member, "owned": owned[member["id"]], "generation": 1} for member in members[1:]]
    for assignor in ("sticky", "cooperative-sticky"):
        yield Case(f"{assignor}: {million}, one leaves", assignor, topics, left)
    topics, members = equal(100, 200, 500)
    draw = random.Random(7)  # noqa: S311 - the same groups each time
    halves = [{**member, "topics": draw.sample(list(topics), 50)} for member in members]
    yield Case("sticky: 20,000 partitions, 500 with random halves", "sticky", topics, halves)
    owned = pw.assign(topics, halves, "sticky").to_dict()
    left = [{**member, "owned": owned[member["id"]], "generation": 1} for member in halves[1:]]
    yield Case("sticky: the same, one leaves", "sticky", topics, left)


def _measure(case: Case, command: Sequence[str], repeats: int) -> None:
    group = Group.of(case.topics, case.members)
    question = {"assignor": case.assignor, "topics": case.topics, "members": case.members}
    times: dict[str, list[float]] = {"java": [], "core": [], "python": []}
    # The program is this project's own.
    with subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as java:

        def ask(line: str) -> int:
            assert java.stdin is not None
            assert java.stdout is not None
            java.stdin.write(f"{line}\n")
            java.stdin.flush()
            return int(java.stdout.readline())

        if ask(json.dumps(question)) != _checksum(assign_group(group, case.assignor).to_dict()):
            raise SystemExit(f"{case.name}: the answers differ")
        for turn in range(WARM_UP + repeats):
            nanos = ask("")
            if turn >= WARM_UP:
                time.sleep(REST_S)
                times["java"].append(nanos / 1e9)
                times["core"].append(_timed(lambda: assign_group(group, case.assignor)))
                times["python"].append(_timed(lambda: pw.assign(case.topics, case.members, case.assignor)))
    java_ms, core, python = (statistics.median(times[side]) * 1e3 for side in ("java", "core", "python"))
    ratios = f"{java_ms / core:7.1f} {python:10.1f} {java_ms / python:7.1f}"
    print(f"{case.name:50} {java_ms:10.1f} {core:9.1f} {ratios}", flush=True)


def _checksum(assignment: dict[str, list[tuple[str, int]]]) -> int:
    found = 0
    for member, pairs in assignment.items():
        lines = "".join(f"{member}\t{topic}\t{partition}\n" for topic, partition in pairs)
        found = zlib.crc32(lines.encode(), found)
    return found


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _curves(repeats: int) -> dict[str, list[float]]:
    """By assignor, seconds for each of `SIZES`: equal subscriptions of `CURVE_MEMBERS` members."""
    print(f"{'assignor':20} {'partitions':>12} {'ms':>10} {'ns a partition':>15} {'bytes a partition':>18}")
    curves: dict[str, list[float]] = {}
    for assignor in assignors()[:4]:
        for size in SIZES:
            topics = max(1, size // 10_000)
            counts, subscribers = equal(topics, size // topics, CURVE_MEMBERS)
            seconds = statistics.median(_times(Group.of(counts, subscribers), assignor, repeats))
            curves.setdefault(assignor, []).append(seconds)
            grown = _grown(topics, size // topics, CURVE_MEMBERS, assignor) / size
            per_partition = f"{seconds / size * 1e9:15.1f} {grown:18.1f}"
            print(f"{assignor:20} {size:12,} {seconds * 1e3:10.3f} {per_partition}", flush=True)
    return curves


def _draw(curves: dict[str, list[float]], file: Path) -> None:
    import matplotlib as mpl  # noqa: PLC0415 - needed here alone
    from matplotlib import pyplot as plt  # noqa: PLC0415

    # The same file each time it is drawn.
    mpl.rcParams["svg.hashsalt"] = "partwright"
    figure, axes = plt.subplots(figsize=(7, 4.2))
    for (assignor, seconds), marker in zip(curves.items(), "os^D", strict=True):
        axes.loglog(SIZES, [each * 1e3 for each in seconds], marker=marker, label=assignor)
    axes.loglog(SIZES, [size * 20e-6 for size in SIZES], ":", color="gray", label="20 ns a partition")
    axes.set_xlabel("partitions")
    axes.set_ylabel("ms")
    axes.set_title(f"An assignment of {CURVE_MEMBERS} members with equal subscriptions, one core")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def _times(group: Group, assignor: str, repeats: int) -> list[float]:
    return [_timed(lambda: assign_group(group, assignor)) for _ in range(repeats)]


def _grown(topics: int, partitions: int, members: int, assignor: str) -> int:
    """By how many bytes one assignment makes a process of its own grow."""
    folder = str(Path(__file__).parent)
    program = _GROWN.format(
        folder=folder, topics=topics, partitions=partitions, members=members, assignor=assignor
    )
    # The program is above.
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    return int(done.stdout)


def resident() -> int:
    """The bytes that this process has in memory."""
    return _status("VmRSS")


def peak() -> int:
    """The most that it ever had."""
    return _status("VmHWM")


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) * 1024


if __name__ == "__main__":
    sys.exit(main())

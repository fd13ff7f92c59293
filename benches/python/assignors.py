"""Large groups assigned by Kafka's own assignors on the JVM and by partwright, turn by turn.

`python benches/python/assignors.py [--repeats N] [--seconds S] [--only WORD] [--kafka MEMBERS,RATIO,TOPICS]`: each
group is built once on each side, and then both assign it in turn. Java's first turns, while its compiler is at work, do
not count. The answers are compared, those of the consumer's assignors in their order, too. The broker's assignors are
timed in the core, which is given what Java is given. `pw.assign` is timed from lists and from Arrow's tables, which are
made anew before each turn; there, what members own is an earlier assignment's own columns.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))

from assignor_groups import SERVER_CASES, ClientCase, ServerCase, client_cases, kafka_cases  # noqa: E402
from programs import parser, write  # noqa: E402
from tables import GroupTables  # noqa: E402
from turns import Program, build_java, build_rust, timed  # noqa: E402

import partwright as pw  # noqa: E402 - only now can bench_cases be found
from bench_cases import SEED  # noqa: E402
from partwright.assignors.group_assignment import assign_group  # noqa: E402
from partwright.assignors.members import Group  # noqa: E402

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

WARM_UP = 3
WARM_UP_S = 3.0
"""So many of Java's turns do not count, and as many more as go into these seconds; one where they take long."""
FEWEST = 3
"""So many turns count however long they take."""
LONGEST_REST_S = 0.5
"""What Java's collector has left to do after its turn is done before ours begins."""
LONG_S = 2.0
"""Whoever takes less goes twice in a turn and the second counts: the first has to win the caches and the memory back
from those before it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the turns for compare.py."""
    options = _parser().parse_args(arguments)
    java = build_java(options.heap)
    rust = build_rust("server_assignors")
    measured = []
    print(
        f"{'':72} {'Java':>10} {'core':>9} {'ratio':>7} {'lists':>10} {'ratio':>7} {'tables':>10} {'ratio':>7}"
        "   (medians, ms)"
    )
    sizes = [tuple(int(part) for part in size.split(",")) for size in options.kafka]
    clients = [client_cases(), *(kafka_cases(*size) for size in sizes)]
    for case in (case for cases in clients for case in cases):
        if options.only in case.name:
            measured.append(_client(case, [*java, "partwright.AssignorTimes"], options))
            _print(measured[-1])
    for server in SERVER_CASES:
        if options.only in server.name:
            measured.append(_server(server, [*java, "partwright.bench.ServerTimes"], rust, options))
            _print(measured[-1])
    said = subprocess.run([java[0], "-version"], capture_output=True, text=True, check=True)  # noqa: S603
    write({"seed": str(SEED), "java": said.stderr.splitlines()[0], "cases": measured}, options.json)
    return 0


def _parser() -> argparse.ArgumentParser:
    reading = parser(__doc__, "assignors.json", repeats=(9, "turns that count"))
    reading.add_argument(
        "--seconds",
        type=float,
        default=12,
        help=f"of Java's turns a case, after {FEWEST} turns (%(default)s)",
    )
    reading.add_argument("--heap", default="6g", help="Java's heap (%(default)s)")
    reading.add_argument("--only", default="", metavar="WORD", help="cases whose name has this word")
    reading.add_argument(
        "--kafka",
        nargs="*",
        default=["500,5,100"],
        metavar="MEMBERS,RATIO,TOPICS",
        help="sizes of Kafka's own benchmark, whose members are 100 to 10000, partitions a member 5 to 50 and"
        " topics 10 to 1000 (%(default)s)",
    )
    return reading


def _client(case: ClientCase, command: Sequence[str], options: argparse.Namespace) -> dict[str, Any]:
    group = Group.of(case.topics, case.members, case.racks)
    tables = GroupTables(case)
    question: dict[str, Any] = {"assignor": case.assignor, "topics": case.topics, "members": case.members}
    if case.racks is not None:
        question["racks"] = case.racks
    with Program(command) as java:
        ours = _checksum(assign_group(group, case.assignor).to_dict())
        _compare(case.name, java.ask(json.dumps(question)), ours)
        _compare(f"{case.name}, tables", _checksum(tables.assign(tables.fresh()).to_dict()), ours)
        turns: dict[str, Callable[[], float]] = {
            "java": java.turn,
            "core": lambda: timed(lambda: assign_group(group, case.assignor)),
            "python": lambda: timed(
                lambda: pw.assign(case.topics, case.members, case.assignor, racks=case.racks)
            ),
            "tables": lambda: _timed_fresh(tables),
        }
        return {"name": case.name, "partitions": case.partitions, **_take(turns, options)}


def _server(
    case: ServerCase, java_command: Sequence[str], rust_command: Sequence[str], options: argparse.Namespace
) -> dict[str, Any]:
    with Program(java_command) as java, Program(rust_command) as rust:
        _compare(case.name, java.ask(str(case)), rust.ask(str(case)))
        turns = {"java": java.turn, "core": rust.turn}
        return {"name": case.name, "partitions": case.partitions, **_take(turns, options)}


def _compare(name: str, java: int, ours: int) -> None:
    if java != ours:
        raise SystemExit(f"{name}: the answers differ, their checksums are {java} (Java) and {ours} (ours)")


def _take(turns: dict[str, Callable[[], float]], options: argparse.Namespace) -> dict[str, list[float]]:
    """Seconds by side: all sides in turn, as often as asked, or for as long as there is time."""
    found: dict[str, list[float]] = {side: [] for side in turns}
    warm = [turns["java"]()]
    while warm[0] * WARM_UP < options.seconds and (len(warm) < WARM_UP or sum(warm) < WARM_UP_S):
        warm.append(turns["java"]())
    spent = sum(warm)
    while len(found["java"]) < options.repeats and (len(found["java"]) < FEWEST or spent < options.seconds):
        for side, turn in turns.items():
            first = turn()
            found[side].append(turn() if first < LONG_S else first)
            if side == "java":
                spent += found[side][-1]
                time.sleep(min(found[side][-1], LONGEST_REST_S))
    return found


def _timed_fresh(tables: GroupTables) -> float:
    given = tables.fresh()
    return timed(lambda: tables.assign(given))


def _print(measured: dict[str, Any]) -> None:
    java, core = (statistics.median(measured[side]) * 1e3 for side in ("java", "core"))
    ways = [statistics.median(measured[way]) * 1e3 for way in ("python", "tables") if way in measured]
    shown = " ".join(f"{way:10.1f} {java / way:7.1f}" for way in ways)
    print(f"{measured['name']:78} {java:10.1f} {core:9.2f} {java / core:7.1f} {shown}", flush=True)


def _checksum(assignment: dict[str, list[tuple[str, int]]]) -> int:
    found = 0
    for member, pairs in assignment.items():
        lines = "".join(f"{member}\t{topic}\t{partition}\n" for topic, partition in pairs)
        found = zlib.crc32(lines.encode(), found)
    return found


if __name__ == "__main__":
    sys.exit(main())

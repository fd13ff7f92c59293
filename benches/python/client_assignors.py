"""Large groups assigned by librdkafka, franz-go and sarama, and by partwright, turn by turn.

`python benches/python/client_assignors.py [--repeats N] [--json FILE]`: the group of librdkafka#5085, which its user
waited 30 s for (3,160 partitions and 2,125 members), and one of 10,000 partitions and 500 members; each from nothing,
and after one member has left. The clients balance members that they have read before; ours is `pw.assign` from lists,
all included. librdkafka is built as it is released, and asked by the program of tests/reference.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))
sys.path.insert(0, str(ROOT / "tests" / "reference"))

import builds  # noqa: E402 - only now can it be found
from programs import parser, write  # noqa: E402
from turns import timed  # noqa: E402

import partwright as pw  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

ASSIGNORS = {
    "librdkafka": ("range", "roundrobin", "cooperative-sticky"),
    "franz-go": ("range", "roundrobin", "sticky", "cooperative-sticky"),
    "sarama": ("range", "roundrobin", "sticky", "cooperative-sticky"),
}
GROUPS = {"librdkafka#5085": (1, 3_160, 2_125), "20 topics": (20, 500, 500)}
"""Topics, partitions of each, and members."""
LONGEST_S = 60
"""A client that takes longer for one turn is not waited for."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write what was measured."""
    options = parser(
        __doc__, "client_assignors.json", repeats=(5, "turns, of which the median counts")
    ).parse_args(arguments)
    folder = builds.SHARED = ROOT / "target" / "reference"
    try:
        go = builds.build_go(folder)
        commands = {
            "librdkafka": builds.build_librdkafka_assignors(folder, is_timed=True),
            **{client: [*go, "groups", client] for client in ("franz-go", "sarama")},
        }
    except builds.CannotAskError as missing:
        print(missing, file=sys.stderr)
        return 2
    print(f"{'assignor':32} {'group':28} {'client, ms':>12} {'ours, ms':>10} {'ratio':>8}")
    lines = []
    for client, names in ASSIGNORS.items():
        for name in names:
            for title, group in _groups(f"{client}:{name}"):
                lines.append(_line(commands[client], title, group, options.repeats))
                theirs, ours = lines[-1]["client_s"], lines[-1]["ours_s"]
                told = f"{theirs * 1e3:12.2f}" if theirs else f"over {LONGEST_S} s".rjust(12)
                ratio = f"{theirs / ours:8.1f}" if theirs else ""
                print(f"{group['assignor']:32} {title:28} {told} {ours * 1e3:10.2f} {ratio}", flush=True)
    write({"lines": lines}, options.json)
    return 0


def _groups(assignor: str) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for title, (topics, partitions, members) in GROUPS.items():
        names = [f"topic-{number:03}" for number in range(topics)]
        told = [{"id": f"member-{number:05}", "topics": names} for number in range(members)]
        group = {"assignor": assignor, "topics": dict.fromkeys(names, partitions), "members": told}
        found.append((title, group))
        before = pw.assign(**group, seed=0).to_dict()
        owned = [{**each, "owned": before[each["id"]], "generation": 1} for each in told[1:]]
        found.append((f"{title}, one has left", {**group, "members": owned}))
    return found


def _line(command: Sequence[str], title: str, group: dict[str, Any], repeats: int) -> dict[str, Any]:
    ours = statistics.median(timed(lambda: pw.assign(**group, seed=0)) for _ in range(repeats))
    asked = json.dumps({**group, "timed": repeats}) + "\n"
    try:
        # The programs are part of this project.
        done = subprocess.run(  # noqa: S603
            command, input=asked, capture_output=True, text=True, check=True, timeout=LONGEST_S * repeats
        )
        theirs = statistics.median(json.loads(done.stdout.splitlines()[1])["seconds"])
    except subprocess.TimeoutExpired:
        theirs = None
    return {"assignor": group["assignor"], "group": title, "client_s": theirs, "ours_s": ours}


if __name__ == "__main__":
    sys.exit(main())

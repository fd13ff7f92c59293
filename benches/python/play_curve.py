"""How the time of a simulation grows with its members and with its partitions, by protocol.

`python benches/python/play_curve.py [--repeats N] [--json FILE]`: members who read ten topics join at once, and then
one after the other leaves and comes back, a rebalance each. Partwright alone, for nothing else simulates a group
without a cluster; the processor's own time, which others on the machine change least.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))

from groups import script  # noqa: E402 - beside this file
from programs import parser, write  # noqa: E402

import partwright as pw  # noqa: E402 - only now can programs be found
from partwright.group.play_script import VARIANTS  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

EVENTS, EVERY_MS = 20, 10_000
PARTITIONS_A_MEMBER = 10
BY_MEMBERS = tuple(
    (members, members * PARTITIONS_A_MEMBER) for members in (10, 30, 100, 300, 1_000, 3_000, 10_000)
)
BY_PARTITIONS = tuple((1_000, partitions) for partitions in (100, 1_000, 10_000, 100_000, 1_000_000))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the curves for compare.py."""
    options = parser(__doc__, "play_curve.json", repeats=(3, "of which the median counts")).parse_args(
        arguments
    )
    print(f"{'protocol':12} {'members':>10} {'partitions':>12} {'s':>9} {'us a member and event':>22}")
    points = []
    for protocol in VARIANTS:
        for members, partitions in dict.fromkeys((*BY_MEMBERS, *BY_PARTITIONS)):
            points.append(_point(protocol, members, partitions, options.repeats))
            seconds = points[-1]["seconds"]
            each = seconds / members / (EVENTS + 1) * 1e6
            print(f"{protocol:12} {members:10,} {partitions:12,} {seconds:9.3f} {each:22.2f}", flush=True)
    write({"events": EVENTS, "points": points}, options.json)
    return 0


def _point(protocol: str, members: int, partitions: int, repeats: int) -> dict[str, Any]:
    asked = {**script(members, partitions, EVENTS, EVERY_MS), **VARIANTS[protocol]}
    seconds = []
    for _ in range(repeats):
        began = time.process_time()
        pw.group.play(asked, ownership=False)
        seconds.append(time.process_time() - began)
    return {
        "protocol": protocol,
        "members": members,
        "partitions": partitions,
        "seconds": statistics.median(seconds),
    }


if __name__ == "__main__":
    sys.exit(main())

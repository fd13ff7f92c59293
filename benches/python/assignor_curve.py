"""How the time and the memory of an assignment grow with the partitions, from 1,000 to 10,000,000.

`python benches/python/assignor_curve.py [--repeats N] [--json FILE]`: members who all read the same, by each of the
consumer's assignors; partwright alone, and its memory in a process of its own.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))

from assignor_groups import equal  # noqa: E402 - beside this file
from own_process import growth_of  # noqa: E402
from programs import parser, write  # noqa: E402
from turns import timed  # noqa: E402

from partwright.assignors.group_assignment import assign_group  # noqa: E402
from partwright.assignors.members import Group  # noqa: E402
from partwright.assignors.names import assignors  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

MEMBERS = 200
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
MOST_IN_A_TOPIC = 10_000
_GROWN = """
from assignor_groups import equal
from own_process import grown
from partwright.assignors.group_assignment import assign_group
from partwright.assignors.members import Group
group = Group.of(*equal({topics}, {partitions}, {members}))
with grown():
    answer = assign_group(group, {assignor!r})
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the curve for compare.py."""
    options = parser(__doc__, "assignor_curve.json", repeats=(5, "of which the median counts")).parse_args(
        arguments
    )
    print(f"{'assignor':20} {'partitions':>12} {'ms':>10} {'ns a partition':>15} {'bytes a partition':>18}")
    points = []
    for assignor in assignors()[:4]:
        for size in SIZES:
            points.append(_point(assignor, size, options.repeats))
            ns, grown = points[-1]["seconds"] / size * 1e9, points[-1]["bytes_a_partition"]
            shown = f"{points[-1]['seconds'] * 1e3:10.3f} {ns:15.1f} {grown:18.1f}"
            print(f"{assignor:20} {size:12,} {shown}", flush=True)
    write({"members": MEMBERS, "points": points}, options.json)
    return 0


def _point(assignor: str, size: int, repeats: int) -> dict[str, Any]:
    topics = max(1, size // MOST_IN_A_TOPIC)
    group = Group.of(*equal(topics, size // topics, MEMBERS))
    seconds = [timed(lambda: assign_group(group, assignor)) for _ in range(repeats)]
    program = _GROWN.format(topics=topics, partitions=size // topics, members=MEMBERS, assignor=assignor)
    return {
        "assignor": assignor,
        "partitions": size,
        "seconds": statistics.median(seconds),
        "bytes_a_partition": growth_of(program) / size,
    }


if __name__ == "__main__":
    sys.exit(main())

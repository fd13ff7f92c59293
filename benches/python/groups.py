"""How long lives of large groups take to play: members, partitions and events, by protocol.

There is no rival: nothing else plays a group's life without a cluster. A Kafka of your own would take as long as the
script's own time.

    python benches/python/groups.py [--members 10000] [--partitions 100000] [--events 1000] [--every-ms 10000]
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from typing import Any

import partwright as pw
from partwright.group.play_script import VARIANTS

TOPICS = 10


def script(members: int, partitions: int, events: int, every_ms: int) -> dict[str, Any]:
    """All members join at once; then one after the other leaves and comes back: ten seconds apart, a rebalance each."""
    topics = {f"t{number}": partitions // TOPICS for number in range(TOPICS)}
    said: list[dict[str, Any]] = [{"at_ms": 0, "join": f"c{number}"} for number in range(members)]
    for number in range(events):
        name = f"c{number // 2 % members}"
        kind = "join" if number % 2 else "leave"
        said.append({"at_ms": 60_000 + every_ms * number, kind: name})
    return {"topics": topics, "events": said}


def measure(given: dict[str, Any]) -> dict[str, Any]:
    """One play, without who read what when: the processor's seconds, and the same figures for each protocol."""
    began = time.process_time()
    timeline = pw.group.play(given, ownership=False)
    seconds = time.process_time() - began
    return {"seconds": round(seconds, 2), **timeline.cost._asdict(), "settled": timeline.settled}


def main() -> None:
    """Measures each protocol, and prints a line of JSON for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--members", type=int, default=10_000)
    parser.add_argument("--partitions", type=int, default=100_000)
    parser.add_argument("--events", type=int, default=1_000)
    parser.add_argument(
        "--every-ms", type=int, default=10_000, help="from one event to the next (%(default)s)"
    )
    given = parser.parse_args()
    told = script(given.members, given.partitions, given.events, given.every_ms)
    for name, variant in VARIANTS.items():
        found = measure({**told, **variant})
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(json.dumps({"protocol": name, **found, "peak_mib": peak}), flush=True)


if __name__ == "__main__":
    main()

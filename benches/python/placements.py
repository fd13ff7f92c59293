"""How long Kafka's two placers take for a topic of many partitions, with racks and without.

There is no rival: Kafka's own placers run in its controller.

    python benches/python/placements.py [--partitions 1000000] [--replicas 3] [--brokers 12]
"""

from __future__ import annotations

import argparse
import json
import time

from partwright.cluster import Broker
from partwright.cluster.placement import admin_utils, striped

TURNS = 3


def main() -> None:
    """Measures each placer, and prints a line of JSON each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--partitions", type=int, default=1_000_000)
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--brokers", type=int, default=12)
    given = parser.parse_args()
    for racks in (0, 3):
        brokers = [Broker(id_, rack=f"r{id_ % racks}" if racks else None) for id_ in range(given.brokers)]
        for placer in (striped, admin_utils):
            seconds = []
            for _ in range(TURNS):
                began = time.perf_counter()
                placer(brokers, given.partitions, given.replicas)
                seconds.append(time.perf_counter() - began)
            figures = {"placer": placer.__name__, "racks": racks, "seconds": round(min(seconds), 2)}
            print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()

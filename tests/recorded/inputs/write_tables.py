"""Wrote the larger inputs, once: run it in this folder. The other files here were written by hand."""

from __future__ import annotations

import csv
import json
import random
import uuid
from pathlib import Path
from typing import Any

import partwright as pw

DRAW = random.Random(48)
N = 12
START = 1_767_225_600_000


def new_uuid() -> str:
    return str(uuid.UUID(int=DRAW.getrandbits(128), version=4))


def rows_of(keys: list[str | None], client: str, counts: list[int]) -> list[dict[str, Any]]:
    """Records as a topic has them: placed for one number of partitions after the other, with offsets and times."""
    ends = [0] * max(counts)
    rows, at = [], START
    for place, key in enumerate(keys):
        n = counts[place * len(counts) // len(keys)]
        partition = DRAW.randrange(n) if key is None else pw.partition_for_key(key, n, client=client)
        at += DRAW.randint(0, 40)
        row = {"key": key, "partition": partition, "offset": ends[partition], "ts": at}
        rows.append({**row, "bytes": DRAW.randint(80, 900)})
        ends[partition] += 1
    return rows


def write_csv(name: str, rows: list[dict[str, Any]]) -> None:
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


customers = [new_uuid() for _ in range(70)]
baskets = [",".join(new_uuid() for _ in range(4)) for _ in range(3)]
keys: list[str | None] = []
for _ in range(400):
    kind = DRAW.random()
    if kind < 0.2:
        keys.append("customer-1042")
    elif kind < 0.25:
        keys.append(None)
    elif kind < 0.28:
        keys.append(DRAW.choice(baskets))
    else:
        keys.append(customers[int(DRAW.paretovariate(0.7)) % len(customers)])
placed = rows_of(keys, "java", [N])
write_csv("orders.csv", placed)
for row in placed:
    if row["key"] and DRAW.random() < 0.03:
        row["partition"] = (row["partition"] + DRAW.randint(1, N - 1)) % N
write_csv("astray.csv", placed)
short = [
    {"key": each}
    for each in [*baskets[:1] * 19, *baskets[1:2] * 7, *baskets[2:] * 2, *customers[:30], "Zoë [eu]"]
]
DRAW.shuffle(short)
write_csv("baskets.csv", short)
some: list[str | None] = [*customers[:50], *(new_uuid() for _ in range(8)), "customer-1042", None, None]
users = rows_of(some, "librdkafka", [N])
lines = [json.dumps({"id": row["key"], "partition": row["partition"]}) for row in users]
Path("users.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
write_csv("grown.csv", rows_of([f"user-{place}" for place in range(300)], "java", [7, 10]))
members = [
    {
        "id": f"billing-{new_uuid()}",
        "topics": [f"region-{(at + more) % 6}" for more in range(3)],
        "rack": "abc"[at % 3],
    }
    for at in range(25)
]
group = {"assignor": "range", "topics": {f"region-{at}": 5 + 4 * at for at in range(6)}, "members": members}
Path("large-group.json").write_text(json.dumps(group, indent=1) + "\n", encoding="utf-8")
brokers = [{"id": at, "rack": "abc"[at % 3]} for at in range(5)]
topics = {}
for name, count in {"orders": 12, "payments": 7, "audit": 3}.items():
    topics[name] = []
    for at in range(count):
        first = DRAW.randrange(5)
        topics[name].append(
            {
                "id": at,
                "leader": first,
                "replicas": [(first + more) % 5 for more in range(3 if name != "audit" else 2)],
            }
        )
Path("cluster.json").write_text(json.dumps({"brokers": brokers, "topics": topics}) + "\n", encoding="utf-8")
partitions = [
    {"partition": f"{name}-{each['id']}", "size": DRAW.randint(10**8, 4 * 10**9), "isFuture": False}
    for name, several in topics.items()
    for each in several
]
dirs = [{"broker": 0, "logDirs": [{"logDir": "/kafka", "error": None, "partitions": partitions}]}]
Path("log-dirs.json").write_text(json.dumps({"version": 1, "brokers": dirs}) + "\n", encoding="utf-8")
records = [[at * 3 + DRAW.randint(0, 2), None, None, DRAW.randint(100, 900)] for at in range(60)]
scenario = {
    "strategy": "sticky@4.4",
    "config": {"linger.ms": 5, "batch.size": 2000},
    "brokers": [{"id": 0, "latency_ms": 3}, {"id": 1, "latency_ms": 11}, {"id": 2, "latency_ms": 4}],
    "partitions": [{"id": at, "leader": at % 3} for at in range(5)],
    "seed": 7,
    "records": records,
}
Path("scenario.json").write_text(json.dumps(scenario) + "\n", encoding="utf-8")

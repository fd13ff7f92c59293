"""Writes the site's sample pages, one for each command that has `--report`, as partwright itself writes them."""

# A program of its own, in no package.
# ruff: noqa: INP001

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import figures

import partwright as pw
from partwright import report
from partwright.answer import Question
from partwright.documents import rollout, run
from partwright.pipeline.report import Checks, KeyShare, PartitionShare, Proof, Report, RunStep
from partwright.rendering.html import html_page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from partwright.rendering.document import Document


def rolled() -> Document:
    """A Deployment of six pods."""
    return rollout.document(
        pw.group.rollout({"orders": 24}, pw.group.RolledPods(6, start="15s..25s"), plays=2)
    )


def ran() -> Document:
    """The tutorial's run, with the times shown there; this starts no Spark and no Kafka."""
    customers = [f"customer {order % 80}" for order in range(1_000)]
    sizes = [
        len(f'{{"order":"{order}","customer":"{key}"}}') + len(key) for order, key in enumerate(customers)
    ]
    places = pw.partition_for_key(customers, 12).to_pylist()
    shares = []
    for number in range(12):
        rows = [at for at, place in enumerate(places) if place == number]
        keys = {customers[at] for at in rows}
        shares.append(PartitionShare(number, len(rows), sum(sizes[at] for at in rows), len(keys), 0))
    heaviest = [KeyShare(key, customers.count(key), places[customers.index(key)]) for key in customers[:10]]
    return run.document(
        Report(
            source="orders.csv",
            target="kafka://127.0.0.1:9092",
            topic="orders",
            client="java",
            strategy=None,
            producers=None,
            n=12,
            n_now=12,
            records=1_000,
            keyed=1_000,
            null_keys=0,
            keys=80,
            bytes=sum(sizes),
            largest_share=max(share.records for share in shares) / 1_000,
            partitions=tuple(shares),
            heaviest_keys=tuple(heaviest),
            steps=tuple(RunStep(*step) for step in STEPS),
            checks=Checks(1_000, 0, 0, 0, 0, 0, 0, 0, 0),
            proof=Proof(keyed=1_000, equal=1_000, different=0, lost=0),
        )
    )


# As docs/tutorial.md shows them.
STEPS = (
    ("start Spark", 11.8),
    ("read and place", 15.3),
    ("make the topic", 0.4),
    ("write", 1.9),
    ("read back and check", 10.5),
    ("let the Java producer choose", 0.7),
    ("compare", 5.6),
)

# By the page's name: the command, its answer, and a description for readers.
SAMPLES: dict[str, tuple[str, Callable[[], Document], str]] = {
    "run": ("run", ran, "the tutorial's 1,000 orders, written, read back and proven"),
    "check": ("check", figures.checked, "5,000 orders, a fifth of them from one customer"),
    "fingerprint": ("fingerprint", figures.written, "2,000 keys that sarama wrote to 8 partitions"),
    "resize": ("resize", figures.resized, "9,000 keys, from 6 partitions to 9"),
    "assign": ("assign", figures.assigned, "two topics for three members, under range"),
    "group": ("group", figures.rebalanced, "a third member joins, and the first one leaves"),
    "rollout": ("rollout", rolled, "a Deployment of six pods"),
    "batch": ("batch", figures.batched, "ten records of 200 bytes each millisecond"),
    "tune": ("batch --tune", figures.tuned, "the same records under each setting"),
}


def links() -> str:
    """A list of them for the page about reports; raw HTML, because no page of docs/ has these addresses."""
    return "\n".join(
        f'- <a href="samples/{page}.html"><code>{command}</code></a>: {words}'
        for page, (command, _, words) in SAMPLES.items()
    )


def write(folder: Path) -> None:
    """Write them into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    report.check("report.html")
    for page, (command, made, words) in SAMPLES.items():
        text = html_page(replace(made(), question=Question((), command, words)))
        (folder / f"{page}.html").write_text(text, encoding="utf-8")

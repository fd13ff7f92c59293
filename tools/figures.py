"""Draws the figures of docs/ with partwright itself, for `make docs`; `--check` fails if one would differ."""

# A program of its own, in no package.
# ruff: noqa: INP001

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

import partwright as pw
from partwright import batching
from partwright.assignors.group_sizes import replica_counts
from partwright.audit import Resize
from partwright.audit.check import Check
from partwright.cluster import placement, storage
from partwright.documents import assign, batch, check, group, resize
from partwright.documents import fingerprint as fingerprints
from partwright.rendering.colours import ACCENT, EMPHASIS, HOLDS, MUTED
from partwright.rendering.document import Document, Section
from partwright.rendering.plots import by_kind, by_partition, chart, quantity
from partwright.rendering.svg import svg_picture

if TYPE_CHECKING:
    from collections.abc import Callable

    from partwright.rendering.plots import Spec

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "figures"
# A picture in a file does not know the page's colours: it has its own background, for light and dark alike.
INK, GROUND = "#1f2328", "#ffffff"


def life(assignor: str, protocol: str = "classic") -> Document:
    """Two members have three partitions, and a third one joins."""
    joins = [{"at_ms": 0, "join": "c1"}, {"at_ms": 0, "join": "c2"}, {"at_ms": 60_000, "join": "c3"}]
    script = {"topics": {"p": 3}, "events": joins, "assignor": assignor, "protocol": protocol}
    return group.document(pw.group.play(script))


def roll(*, static: bool) -> Document:
    """Five members are restarted, one after the other."""
    script = {"topics": {"orders": 10}, "events": "+5, roll", "assignor": "sticky", "static": static}
    return group.document(pw.group.play(script))


def compared() -> Document:
    """The same roll of twenty members under each protocol, static and not."""
    script = {"topics": {"orders": 40}, "events": "+20, roll"}
    return group.document(pw.group.compare(script))


def keys(count: int) -> pa.Array:
    """Keys, this many."""
    return pa.array([f"user-{number}" for number in range(count)])


def checked() -> Document:
    """Orders, a fifth of which come from one customer."""
    orders = pa.concat_arrays([keys(4_000), pa.array(["user-7"] * 1_000)])
    found = Check(8)
    found.add(orders, pw.partition_for_key(orders, 8))
    return check.document(found)


def resized() -> Document:
    """A record of each key, in six partitions that become nine."""
    found = Resize(6, 9)
    found.add(keys(9_000))
    return resize.document(found)


def written() -> Document:
    """Keys where sarama put them."""
    column = keys(2_000)
    written = {"key": column, "partition": pw.partition_for_key(column, 8, client="sarama")}
    return fingerprints.document(pw.fingerprint(written, "key", partition="partition"))


def assigned() -> Document:
    """Two topics for three members: range gives each topic's first partitions to the same member."""
    members = {name: ["orders", "users"] for name in ("c1", "c2", "c3")}
    return assign.document(pw.assign({"orders": 8, "users": 5}, members, "range"))


def records() -> pa.Table:
    """Ten records of 200 bytes each millisecond, for a tenth of a second."""
    return pa.table({"value": ["x" * 200] * 1_000, "ts": [number // 10 for number in range(1_000)]})


def batched() -> Document:
    """The sticky strategy's batches of them."""
    producer = pw.ProducerConfig(configs={"batch.size": 4_096, "linger.ms": 5})
    return batch.document(batching.simulate(records(), {"t": 6}, producer, workload=pw.Workload(time="ts")))


def tuned() -> Document:
    """The result of each setting."""
    return batch.document(batching.tune(records(), {"t": 6}, workload=pw.Workload(time="ts")))


def rebalanced() -> Document:
    """The script of docs/rebalancing.md: a third member joins, and the first one leaves."""
    events = [
        {"at_ms": 0, "join": "c1"},
        {"at_ms": 0, "join": "c2"},
        {"at_ms": 60_000, "join": "c3"},
        {"at_ms": 90_000, "leave": "c1"},
    ]
    return group.document(pw.group.play({"topics": {"p": 3}, "assignor": "range", "events": events}))


def alone(spec: Spec) -> Document:
    """A plot that no command draws."""
    return Document("", [], (Section("plot", "", "", spec, (), ()),), {})


def coordinated() -> Document:
    """Where 600 groups are among the 50 partitions of __consumer_offsets, and which of three brokers leads those."""
    found = pw.coordinator_partition([f"group-{number}" for number in range(600)]).to_pylist()
    leaders = placement.striped(range(3), 50, 1, seed=1).preferred_leaders
    kinds = {f"coordinated by broker {at}": colour for at, colour in enumerate((ACCENT, EMPHASIS, HOLDS))}
    rows = [
        {"partition": at, "kind": [*kinds][leader], "start": 0, "end": found.count(at)}
        for at, leader in enumerate(leaders)
    ]
    return alone(by_partition(rows, kinds, "groups", n=50, even=12, unit="groups"))


def segmented() -> Document:
    """A partition's log: its segments by their offsets, each named after its first one."""
    starts, end = (0, 368_769, 737_337), 980_000
    rows = [
        {
            "file": storage.segment_file(start),
            "start": start,
            "end": stop,
            "middle": (start + stop) / 2,
            "kind": kind,
        }
        for start, stop, kind in zip(
            starts,
            (*starts[1:], end),
            ["closed", "closed", "the newest: records are appended here"],
            strict=True,
        )
    ]
    place = {"field": "file", "type": "ordinal", "title": None, "axis": {"labelLimit": 260}}
    bars: Spec = {
        "mark": {"type": "bar", "height": 22},
        "encoding": {
            "y": place,
            "x": quantity("start", "offset"),
            "x2": {"field": "end"},
            "color": by_kind("kind", ["closed", rows[-1]["kind"]], [MUTED, ACCENT]),
        },
    }
    sought: Spec = {
        "data": {"values": [{"offset": 500_000, "words": "offset 500,000 is in the second one"}]},
        "layer": [
            {
                "mark": {"type": "rule", "strokeDash": [4, 4]},
                "encoding": {"x": {"field": "offset", "type": "quantitative"}},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 6, "y": 8},
                "encoding": {
                    "x": {"field": "offset", "type": "quantitative"},
                    "text": {"field": "words"},
                },
            },
        ],
    }
    return alone(chart(rows, 130, layer=[bars, sought]))


def replicated() -> Document:
    """The load of the busiest of 1 to 50 replicas with 126 partitions, and the numbers that a divisor rule allows."""
    counts = replica_counts({"orders": 126}, 50, assignor="cooperative-sticky")
    kinds = {
        "helps, and divides 126": HOLDS,
        "helps, and the divisor rule leaves it out": EMPHASIS,
        "no better than fewer": MUTED,
    }
    helps, left_out, no_better = kinds
    rows = [
        {
            "replicas": row.replicas,
            "most": row.most,
            "kind": left_out if row.replicas in counts.left_out else helps if row.divides else no_better,
        }
        for row in counts.rows
    ]
    encoding: Spec = {
        "x": quantity("replicas", "replicas", "whole"),
        "y": quantity(
            "most",
            "partitions of the busiest (logarithmic)",
            scale={"type": "log", "domain": [2, 150], "nice": False},
        ),
        "color": by_kind("kind", [*kinds], [*kinds.values()]),
    }
    return alone(chart(rows, mark={"type": "circle", "size": 60, "opacity": 1}, encoding=encoding))


# By its file's name: the answer whose figure it is, and the figure's name there.
FIGURES: dict[str, tuple[Callable[[], Document], str]] = {
    "assign": (assigned, "map"),
    "batches": (batched, "batches"),
    "check": (checked, "partitions"),
    "compare": (compared, "lives"),
    "coordinators": (coordinated, "plot"),
    "fingerprint": (written, "rules"),
    "life-consumer": (lambda: life("uniform", "consumer"), "timeline"),
    "life-cooperative": (lambda: life("cooperative-sticky"), "timeline"),
    "life-eager": (lambda: life("sticky"), "timeline"),
    "rebalance": (rebalanced, "timeline"),
    "replicas": (replicated, "plot"),
    "resize": (resized, "flow"),
    "roll-dynamic": (lambda: roll(static=False), "timeline"),
    "roll-static": (lambda: roll(static=True), "timeline"),
    "segments": (segmented, "plot"),
    "tuning": (tuned, "trade-off"),
}


def draw(document: Document, name: str) -> str:
    """A figure of a document, as the text of a file."""
    (found,) = (figure for figure in document.sections if figure.id == name)
    drawn = svg_picture(found).replace("currentColor", INK)
    ground = f'<rect width="100%" height="100%" fill="{GROUND}"/>'
    return f"{drawn.replace('>', f'>{ground}', 1)}\n"


def main() -> int:
    """Writes the files that are missing or differ; returns the exit code."""
    parser = argparse.ArgumentParser(description="Draw the figures of docs/ with partwright itself.")
    parser.add_argument("--check", action="store_true", help="write none, and fail on a difference")
    is_check = parser.parse_args().check
    drawn = {f"{name}.svg": draw(made(), figure) for name, (made, figure) in FIGURES.items()}
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.svg")}
    others = sorted(name for name in drawn | there if drawn.get(name) != there.get(name))
    for name in others:
        if is_check:
            sys.stdout.write(f"docs/figures/{name} is not what partwright draws: run make docs\n")
        elif name in drawn:
            FOLDER.mkdir(exist_ok=True)
            (FOLDER / name).write_text(drawn[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()
    return 1 if is_check and others else 0


if __name__ == "__main__":
    sys.exit(main())

"""The pictures of a run's results, the same bytes each time they are drawn from the same results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib import pyplot as plt

from partwright.rendering.colours import ACCENT
from readings import CASES, KERNEL_ROWS, Results

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["draw"]

_RIVALS = {
    ("Rust", "memory copy"): "a memory copy of the same bytes",
    ("Rust", "scalar, same column"): "scalar over the same column",
    ("JVM", "partitionForKey"): "kafka-clients on the JVM",
    ("Go", "franz-go"): "franz-go",
}
_BAR = 0.2
_MARKERS = "os^D"


def draw(results: Results, folder: Path, date: str) -> dict[str, str]:
    """The names of the files that were written, by what they show; cases that were not measured are not drawn."""
    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "partwright", "svg.fonttype": "none", "font.size": 9}
    written = {}
    for text, name, picture in (
        ("Time of rivals, ours = 1", f"{date}.svg", _ratios(results)),
        ("Time of an assignment over the number of partitions", f"{date}-curve.svg", _curve(results.curve)),
        (
            "Time of a simulation over its members and its partitions",
            f"{date}-plays.svg",
            _plays(results.plays),
        ),
    ):
        if picture is not None:
            picture.tight_layout()
            # matplotlib would otherwise write the current time into the file.
            picture.savefig(folder / name, metadata={"Date": None})
            plt.close(picture)
            written[text] = name
    return written


def _ratios(results: Results) -> Any:
    ratios = {line.key: results.ratio(line) for line in results.lines.values()}
    keys = [name for name in CASES if ("Rust", name, "ours", KERNEL_ROWS) in ratios]
    java = [line for line in results.lines.values() if line.what == "Kafka's on the JVM"]
    goals = [line for line in java if not line.case.startswith("Kafka's")]
    if not keys and not goals:
        return None
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5))
    for at, ((where, what), label) in enumerate(_RIVALS.items()):
        found = [ratios.get((where, name, what, KERNEL_ROWS)) or 0 for name in keys]
        left.barh([place + (at - 1.5) * _BAR for place in range(len(keys))], found, _BAR, label=label)
    left.axvline(1, color="black", linewidth=0.8)
    left.set_yticks(range(len(keys)), [CASES[name]["title"] for name in keys])
    left.invert_yaxis()
    left.set_title("Keys to partitions, one core: time, ours = 1")
    left.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=2)
    right.barh([line.case for line in goals], [ratios[line.key] or 0 for line in goals], color=ACCENT)
    right.axvline(1, color="black", linewidth=0.8)
    right.set_xscale("log")
    right.invert_yaxis()
    right.set_title("Assignors: Java's time, ours = 1")
    return figure


def _curve(curve: dict[str, Any]) -> Any:
    if not curve:
        return None
    figure, axes = plt.subplots(figsize=(7, 4.2))
    assignors = list(dict.fromkeys(point["assignor"] for point in curve["points"]))
    sizes = sorted({point["partitions"] for point in curve["points"]})
    for assignor, marker in zip(assignors, _MARKERS, strict=True):
        points = [point for point in curve["points"] if point["assignor"] == assignor]
        milliseconds = [point["seconds"] * 1e3 for point in points]
        axes.loglog([point["partitions"] for point in points], milliseconds, marker=marker, label=assignor)
    axes.loglog(sizes, [size * 20e-6 for size in sizes], ":", color="gray", label="20 ns a partition")
    axes.set_xlabel("partitions")
    axes.set_ylabel("ms")
    axes.set_title(f"An assignment of {curve['members']} members with equal subscriptions, one core")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def _plays(plays: dict[str, Any]) -> Any:
    if not plays:
        return None
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True)
    ways = (("members", "members, 10 partitions each"), ("partitions", "partitions of 1,000 members"))
    protocols = list(dict.fromkeys(point["protocol"] for point in plays["points"]))
    for axes, (by, label) in zip(panels, ways, strict=True):
        for protocol, marker in zip(protocols, _MARKERS, strict=False):
            points = [
                (point[by], point["seconds"] / (plays["events"] + 1))
                for point in plays["points"]
                if point["protocol"] == protocol
                and (
                    point["members"] == 1_000
                    if by == "partitions"
                    else point["partitions"] == 10 * point["members"]
                )
            ]
            points.sort()
            axes.loglog(*zip(*points, strict=True), marker=marker, label=protocol)
        axes.set_xlabel(label)
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("s of one core a rebalance")
    panels[0].legend()
    figure.suptitle("A group's life: time of each rebalance")
    return figure

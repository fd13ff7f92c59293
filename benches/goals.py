"""Compares the goals of goals.json with the figures that a run reached."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from readings import BENCHES, Results

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Goal", "goals", "short"]


@dataclass(frozen=True)
class Goal:
    """One goal, and how far a run came."""

    text: str
    wanted: str
    found: float | None
    """None where it was not measured."""
    is_reached: bool
    is_headline: bool
    is_share: bool = False
    """Whether it is said in percent."""

    @property
    def verdict(self) -> str:
        """In words."""
        if self.found is None:
            return "not measured"
        return "reached" if self.is_reached else "not reached"

    @property
    def shown(self) -> str:
        """The figure that the run reached."""
        if self.found is None:
            return ""
        return f"{short(100 * self.found)} %" if self.is_share else short(self.found)


def goals(results: Results) -> list[Goal]:
    """All goals, in the order of the file."""
    found = []
    for said in json.loads((BENCHES / "goals.json").read_text(encoding="utf-8")):
        figure = _figure(results, said)
        is_least = "at_least" in said
        bound = said["at_least" if is_least else "at_most"]
        is_reached = figure is not None and (figure >= bound if is_least else figure <= bound)
        is_share = "share" in said
        wanted = f"at {'least' if is_least else 'most'} {f'{100 * bound:g} %' if is_share else f'{bound:g}'}"
        found.append(Goal(said["goal"], wanted, figure, is_reached, said.get("headline", False), is_share))
    return found


def _figure(results: Results, said: dict[str, Any]) -> float | None:
    if "share" in said:
        return results.shares.get(said["share"])
    if "memory" in said:
        return results.memory.get(tuple(said["memory"]))
    if "assignor" in said:
        java, ours = (
            _seconds(results, [*key[:3]])
            for key in (
                ["Assignors", said["assignor"], "Kafka's on the JVM"],
                ["Assignors", said["assignor"], said.get("way", "ours, the core")],
            )
        )
        return None if java is None or ours is None else java / ours
    of, other = (_seconds(results, said[name]) for name in ("of", "by" if "by" in said else "less"))
    if of is None or other is None:
        return None
    return of / other if "by" in said else (of - other) * 1e6


def _seconds(results: Results, key: Sequence[str | int]) -> float | None:
    """The label of a line about keys; an assignor's has no number of rows."""
    lines = [line for line in results.lines.values() if line.key[: len(key)] == tuple(key)]
    return lines[0].seconds if lines else None


def short(number: float) -> str:
    """Three significant digits, and no exponent."""
    if abs(number) >= 100:
        return f"{number:,.0f}"
    if abs(number) >= 10:
        return f"{number:.1f}"
    return f"{number:.2f}" if abs(number) >= 0.1 else f"{number:.3f}"

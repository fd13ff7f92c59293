"""One script under each protocol: what each of its lives costs, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partwright.answer import Answer

if TYPE_CHECKING:
    from partwright._check import Json
    from partwright.group.timeline import Timeline

__all__ = ["Lives", "costs"]


@dataclass(frozen=True)
class Lives(Answer, Mapping[tuple[str, bool], "Timeline"]):
    """The timelines of a script, by the protocol's name and whether members are static.

    Attributes:
        timelines: The same as a dict.
    """

    timelines: dict[tuple[str, bool], Timeline]

    DOCUMENT = "group"
    ROWS = "lives"

    def __getitem__(self, life: tuple[str, bool]) -> Timeline:
        return self.timelines[life]

    def __iter__(self) -> Iterator[tuple[str, bool]]:
        return iter(self.timelines)

    def __len__(self) -> int:
        return len(self.timelines)

    def to_dict(self) -> Json:
        """As in `partwright group --compare --json`."""
        return {"lives": costs(self.timelines)}


def costs(timelines: Mapping[tuple[str, bool], Timeline]) -> list[Json]:
    """The costs of compared timelines, as in `partwright group --compare --json`.

    Args:
        timelines: What `compare` returned.

    Returns:
        For each `protocol`, `static`, the fields of `Cost`, and `failures`.

    Examples:
        >>> from partwright.group import compare
        >>> [each["moved"] for each in costs(compare({"topics": {"t": 2}, "events": "+2"}))][:2]
        [0, 0]
    """
    return [
        {"protocol": name, "static": static, **timeline.cost._asdict(), "failures": timeline.failures()}
        for (name, static), timeline in timelines.items()
    ]

"""Shared by scripts by hand, of either group protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self


class HandScript:
    """One script; each method is a request at the time reached."""

    def __init__(self, name: str, kind: str, **given: Any) -> None:
        """Begins at no time."""
        self.at_ms = 0
        self.question: dict[str, Any] = {"name": name, "kind": kind, **given, "requests": []}

    def after(self, ms: int) -> Self:
        """Lets time pass before the next request."""
        self.at_ms += ms
        return self

    def wait(self, ms: int = 0) -> Self:
        """Only time passes."""
        return self.after(ms)._ask("wait")

    def move(self) -> Self:
        """Another broker takes the group over."""
        return self._ask("move")

    def _ask(self, request: str, **what: Any) -> Self:
        self.question["requests"].append({"at_ms": self.at_ms, "request": request, **what})
        return self

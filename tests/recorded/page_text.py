"""The words and the structure of a page: what a reader sees, without styles and scripts, and each plot in a line."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["page_text"]

MOST_ROWS, MOST_LABELS = 20, 6
"""The first rows of a table and labels of an axis; how many others there are is a number."""
LINES = {"caption", "code", "div", "h1", "h2", "li", "p", "summary", "title", "tr"}
HIDDEN = {"script", "style"}
HEADINGS = {"h1": "# ", "h2": "## ", "li": "- ", "caption": "table: "}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.line = self.prefix = self.hidden = ""
        self.rows = 0
        self.plots: dict[str, Any] = {}
        self.json = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.hidden = tag if tag in HIDDEN else self.hidden
        self.json = found.get("id", "") if tag == "script" else ""
        if tag == "table":
            self.rows = 0
        if tag in LINES:
            self.end_line()
            self.prefix = HEADINGS.get(tag, "")
            if tag == "p" and "class" in found:
                self.prefix = f"[{found['class']}] "
        if "data-marks" in found:
            self.lines.append(f"PLOT {found['id'].removesuffix('-plot')} {found['data-marks']}")
        if tag in {"button", "input"}:
            self.line += f" ({tag}) "

    def handle_data(self, data: str) -> None:
        if self.json == "plots":
            self.plots = json.loads(data)
        elif not self.hidden:
            self.line += re.sub(r"\s+", " ", data)

    def handle_endtag(self, tag: str) -> None:
        self.hidden = self.json = ""
        if tag in {"th", "td"}:
            self.line += " | "
        elif tag == "dt":
            self.line += ": "
        elif tag == "table" and self.rows > MOST_ROWS:
            self.lines.append(f"and {self.rows - MOST_ROWS} more rows")
        if tag in LINES:
            if tag == "tr":
                self.rows += 1
            self.end_line(keeps=tag != "tr" or self.rows <= MOST_ROWS)

    def end_line(self, *, keeps: bool = True) -> None:
        if (text := self.line.strip().removesuffix("|").rstrip()) and keeps:
            self.lines.append(f"{self.prefix}{text}")
        self.line = self.prefix = ""


def described(spec: Any, values: list[dict[str, Any]]) -> Iterator[str]:
    """Each layer of a plot: its mark, the titles of what it encodes, and the labels of names."""
    if isinstance(spec, list):
        for each in spec:
            yield from described(each, values)
    if not isinstance(spec, dict):
        return
    values = spec.get("data", {}).get("values", values)
    if "mark" in spec:
        mark = spec["mark"]
        shown = [mark if isinstance(mark, str) else mark["type"], f"of {len(values)}"]
        for channel, given in spec.get("encoding", {}).items():
            several = given if isinstance(given, list) else [given]
            titles = [
                str(each.get("title", each["field"]) or "(no title)") for each in several if "field" in each
            ]
            shown += [f"{channel}={', '.join(titles)}"] if titles else []
            shown += [
                labels(each, values) for each in several if channel in {"x", "y", "color", "row", "text"}
            ]
        yield "  " + " ".join(filter(None, shown))
    for name in ("layer", "hconcat", "vconcat", "spec"):
        yield from described(spec.get(name), values)


def labels(encoded: dict[str, Any], values: list[dict[str, Any]]) -> str:
    """The first different names that an axis, a legend or texts show."""
    if encoded.get("type") == "quantitative" or "field" not in encoded:
        return ""
    names = list(dict.fromkeys(str(each.get(encoded["field"])) for each in values))
    return (
        f"{json.dumps(names[:MOST_LABELS], ensure_ascii=False)}{' ...' if len(names) > MOST_LABELS else ''}"
    )


def page_text(page: str) -> str:
    """A page in lines: headings, sentences with their classes, buttons, plots, and rows of tables."""
    read = _Reader()
    read.feed(page)
    lines = []
    for line in read.lines:
        if not line.startswith("PLOT "):
            lines.append(line)
            continue
        name, marks = line.split()[1:]
        spec = read.plots[name]
        lines += [f"plot of {marks} marks, {spec.get('height')} high", *described(spec, [])]
    return "\n".join(lines) + "\n"

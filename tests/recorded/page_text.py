"""The words and the structure of a page: what a reader sees, without styles and scripts, and each plot's texts."""

from __future__ import annotations

import re
from html.parser import HTMLParser

__all__ = ["page_text"]

MOST_ROWS, MOST_TEXTS = 20, 30
"""The first rows of a table and texts of a plot; how many others there are is a number."""
LINES = {"caption", "code", "div", "h1", "h2", "li", "p", "summary", "title", "tr"}
HIDDEN = {"script", "style"}
HEADINGS = {"h1": "# ", "h2": "## ", "li": "- ", "caption": "table: "}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.line = self.prefix = self.hidden = ""
        self.rows = 0
        self.texts: list[str] | None = None
        self.is_narrow = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.hidden = tag if tag in HIDDEN else self.hidden
        if tag == "table":
            self.rows = 0
        if tag in LINES:
            self.end_line()
            self.prefix = HEADINGS.get(tag, "")
            if tag == "p" and "class" in found:
                self.prefix = f"[{found['class']}] "
        if "data-marks" in found:
            self.end_line()
            self.lines.append(f"plot of {found['data-marks']} marks")
        if found.get("class") in {"wide", "narrow"}:
            # Both have the same; a phone's breaks its lines otherwise.
            self.texts, self.is_narrow = [], found["class"] == "narrow"
        if self.texts is not None and "data-said" in found:
            self.texts.append(found["data-said"].replace("\n", "; "))
        if tag in {"button", "input"}:
            self.line += f" ({tag}) "

    def handle_data(self, data: str) -> None:
        if self.texts is not None:
            self.texts += [data.strip()] if data.strip() else []
        elif not self.hidden:
            self.line += re.sub(r"\s+", " ", data)

    def handle_endtag(self, tag: str) -> None:
        self.hidden = ""
        if tag == "svg" and self.texts is not None:
            texts, self.texts = list(dict.fromkeys(self.texts)), None
            if not self.is_narrow:
                more = [f"and {len(texts) - MOST_TEXTS} more"] if len(texts) > MOST_TEXTS else []
                self.lines.append(f"  {' | '.join([*texts[:MOST_TEXTS], *more])}")
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


def page_text(page: str) -> str:
    """A page in lines: headings, sentences with their classes, buttons, plots, and rows of tables."""
    read = _Reader()
    read.feed(page)
    return "\n".join(read.lines) + "\n"

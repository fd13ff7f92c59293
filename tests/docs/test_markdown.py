"""No line that an author wrapped begins a heading, a list, a quote or a table by accident."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (".github", "benches", "docs", "examples", "rust", "tests")
DOCUMENTS = [
    path.relative_to(ROOT).as_posix()
    for path in sorted(
        [*ROOT.glob("*.md"), *(each for folder in FOLDERS for each in (ROOT / folder).rglob("*.md"))]
    )
]
FENCE = re.compile(r" *(?:```|~~~)")
ITEM = re.compile(r"( *)(?:[-+*]|\d+[.)])(?: |$)")
# Without a blank, as in `#669`, a heading begins only on the site, not on GitHub.
OTHER = re.compile(r" *(?:#|>|\||=+ *$|-+ *$|:::|!!!|</?[a-z]|\[[^\]]*\]:)")
# Lines that follow each other: a table's rows, and what mkdocstrings shows with its options.
ROWS = re.compile(r" *\||::: |    +(?:options|members):")


def accidental_blocks(text: str) -> list[str]:
    """The lines in the middle of a paragraph or an item that Markdown takes for the beginning of something else."""
    found = []
    above, levels, is_code = "", set[str](), False
    for line in text.splitlines():
        if FENCE.match(line):
            is_code, above = not is_code, ""
        elif is_code or not line.strip() or line.startswith("<!--"):
            above = ""
        else:
            item = ITEM.match(line)
            if not above:
                # An item's later paragraph may be followed by the next item, which is further to the left.
                levels = {" " * less for less in range(len(line) - len(line.lstrip()))}
            elif item:
                found += [] if item[1] in levels else [line]
            elif OTHER.match(line) and not (ROWS.match(line) and ROWS.match(above)):
                found.append(line)
            levels |= {item[1]} if item else set()
            above = line
    return found


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_wrapped_line_begins_a_block(document: str) -> None:
    assert accidental_blocks((ROOT / document).read_text(encoding="utf-8")) == []


def test_a_wrapped_line_is_noticed() -> None:
    begun = [
        "#669](x) is",
        "# of them",
        "- 2 and",
        "+ 2",
        "* 2",
        "1. of",
        "2019. Then",
        "3) and",
        "---",
    ]
    for line in [*begun, "==", "| x", "[a]: b", "<b>x</b>", "!!! so", "  #7", "  - 2"]:
        assert accidental_blocks(f"One line\n{line}\nand the next.") == [line]
        assert accidental_blocks(f"- One line\n{line}\nand the next.") in ([], [line])
        assert accidental_blocks(f"One\n\n```\ntext\n{line}\n```\n\n{line}\n") == []
    assert accidental_blocks("- one item\n  - 2 of it\n") == ["  - 2 of it"]
    assert accidental_blocks("- one\n  more\n- two\n\n  again\n- three\n\n1. a\n2. b\n\n| a |\n| - |\n") == []


def test_there_are_documents() -> None:
    assert {"README.md", "CHANGELOG.md", "docs/index.md", "benches/README.md"} <= set(DOCUMENTS)

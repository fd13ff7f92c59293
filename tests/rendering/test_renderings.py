"""A document in a terminal and as Markdown: nothing is lost or broken inside a word, and nothing that it names acts."""

from __future__ import annotations

import random
import re

import pytest
from markdown_it import MarkdownIt

from partwright.rendering import markdown, terminal
from partwright.rendering.document import Column, Document, Section, Verdict
from partwright.rendering.terminal import TerminalStyle, wrapped
from partwright.rendering.text import columns_of, cut

COLUMNS = (
    Column("key", "key", "text"),
    Column("rows", "records that move"),
    Column("share", "share of all", "share"),
    Column("why", "why it is so", "prose"),
)
LONG = "00000000-0000-0000-0000-{:012}-tenant-of-a-very-long-name"


def document(rows: int = 3, **more: object) -> Document:
    table = tuple(
        {
            "key": LONG.format(at),
            "rows": 7 * at,
            "share": at / 10,
            "why": "it is the heaviest of its partition",
        }
        for at in range(rows)
    )
    section = Section("keys", "Heaviest keys", "They have most.", columns=COLUMNS, rows=table, **more)  # type: ignore[arg-type]
    verdicts = (
        Verdict("fails", "1 of 3 records is not where java puts it."),
        Verdict("open", "A part was read.", "A part"),
    )
    return Document("What moves", verdicts, (section,), {})


@pytest.mark.parametrize("width", [40, 44, 57, 80, 88, 120, 200])
@pytest.mark.parametrize("is_ascii", [False, True])
def test_no_line_is_wider_and_no_word_is_broken(width: int, is_ascii: bool) -> None:
    printed = terminal.text(document(bar="rows"), TerminalStyle(width, is_ascii=is_ascii))
    assert max(map(columns_of, printed.splitlines())) <= width
    assert printed.isascii() or not is_ascii
    table, _, absent = printed.partition("Not shown at this width: ")
    for title in ("records that move", "share of all", "why it is so"):
        assert (title in " ".join(absent.split())) != all(
            re.search(rf"\b{word}\b", table) for word in title.split()
        )
    # A key loses its middle: both ends tell keys apart.
    assert len(re.findall(r"^ 00000\S*(?:name|LONG)", printed, re.MULTILINE)) == 3


def test_styles_are_only_where_they_are_wanted() -> None:
    plain, styled = (terminal.text(document(), TerminalStyle(80, is_styled=each)) for each in (False, True))
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", styled) == plain
    assert styled.startswith("\x1b[1;31m✗\x1b[0m\x1b[1m 1 of 3 records is not where java puts it.\x1b[0m\n")
    assert "\x1b[33mA part\x1b[0m was read." in styled


def test_a_long_table_is_cut_and_says_so() -> None:
    printed = terminal.text(document(60, left=5), TerminalStyle(80))
    assert "… and 17 more rows: --json has them" in printed
    assert "… and 17 more rows in the JSON" in markdown.text(document(60, left=5))


def test_details_are_shown_on_request_in_a_terminal_and_always_in_markdown() -> None:
    made = document(is_detail=True)
    assert "Heaviest keys" not in terminal.text(made, TerminalStyle(80))
    assert "Heaviest keys" in terminal.text(made, TerminalStyle(80), with_details=True)
    assert "Heaviest keys" in markdown.text(made)


HOSTILE = [
    "a|b",
    "`a`",
    "``",
    "<script>",
    "[x](http://x)",
    "@all",
    "a\nb",
    "# x",
    "*x*",
    "\x1b[31m",
    "~~x~~",
    " ",
    "$x$",
    "\\",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_acts_in_markdown(name: str) -> None:
    section = Section("s", name, name, columns=COLUMNS[:2], rows=({"key": name, "rows": 1},), code=(name,))
    text = markdown.text(Document(name, (Verdict("said", name),), (section,), {}))
    tokens = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(text)
    inline = [child.type for token in tokens for child in token.children or ()]
    kinds = [token.type for token in tokens]
    assert not {"link_open", "html_inline", "image", "s_open", "softbreak", "hardbreak"} & {*inline}
    assert "html_block" not in kinds
    # A title, a verdict, a title, a sentence, lines to copy, and a table of one row and two columns.
    assert (
        kinds.count("heading_open"),
        kinds.count("fence"),
        kinds.count("tr_open"),
        kinds.count("td_open"),
    ) == (2, 1, 2, 2)
    assert inline.count("code_inline") == (1 if name.strip() else 0)


def test_wrapping_loses_no_word() -> None:
    draw = random.Random(3)
    for _ in range(300):
        words = ["x" * draw.randrange(1, 30) for _ in range(draw.randrange(1, 12))]
        width = draw.randrange(5, 40)
        lines = wrapped(" ".join(words), width)
        assert all(len(line) <= width for line in lines)
        assert "".join(lines).replace(" ", "") == "".join(words)
        if width >= 30:
            assert " ".join(lines).split() == words


def test_a_name_that_fits_is_whole_and_another_keeps_both_ends() -> None:
    for width in range(5, 40):
        name = cut(LONG, width)
        assert len(name) == min(width, len(LONG))
        assert name == LONG or (LONG.startswith(name.split("…")[0]) and LONG.endswith(name.split("…")[-1]))


def test_bars_begin_below_each_other_and_a_table_of_zeros_has_none() -> None:
    """However long the words before them are; a rule is as long as the widest line."""
    columns = (Column("name", "name", "text"), Column("count", "count"), Column("words", "words", "prose"))
    rows = [{"name": "a", "count": 2, "words": "a long text"}, {"name": "b", "count": 1, "words": "short"}]
    for factor in (1, 0):
        drawn = [{**row, "count": row["count"] * factor} for row in rows]
        section = Section("t", "T", columns=columns, rows=tuple(drawn), bar="count")
        document = Document("T", (Verdict("said", "It is."),), (section,), {})
        lines = terminal.text(document, TerminalStyle(60)).splitlines()[-3:]
        bars = [line.find("█") for line in lines[1:]]
        assert len({*bars}) == 1
        assert (bars[0] > 0) == bool(factor)
        assert len(lines[0]) == max(map(len, lines[1:]))

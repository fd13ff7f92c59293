"""Each option of each command stands under a heading that says what it is for, in help texts and on the manual page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
import pytest

from partwright.cli import partwright
from partwright.cli.parsing import under_headings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Told = Callable[..., tuple[int, str, str]]


def commands(
    group: click.Group, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Each command that does something, with the words that name it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from commands(found, (*path, name))
        else:
            yield (*path, name), found


ALL = dict(commands(partwright))


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_each_option_stands_under_a_heading(words: tuple[str, ...]) -> None:
    command = ALL[words]
    context = click.Context(command, help_option_names=["-h", "--help"])
    found = under_headings(command, context)
    assert found["Help"] == [("-h, --help", "Show this message and exit.")]
    options = [option for option in command.get_params(context) if isinstance(option, click.Option)]
    assert sum(map(len, found.values())) == len([option for option in options if not option.hidden])
    # What shows an answer comes last, whichever decorator comes first.
    assert [*found][-2:] == ["Output", "Help"]


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_and_the_manual_page_have_the_same_headings(words: tuple[str, ...], told: Told) -> None:
    _, help_, _ = told(*words, "--help")
    headings = re.findall(r"^([A-Z][^:]*):$", help_, re.MULTILINE)
    headings.remove("Usage") if "Usage" in headings else None
    _, page, _ = told("--man")
    section = page.split(f"\n.SH PARTWRIGHT {' '.join(words).upper()}\n")[1].split("\n.SH ")[0]
    assert re.findall(r"^\.SS (.*)$", section, re.MULTILINE) == headings


def test_an_option_is_found_where_it_belongs(told: Told) -> None:
    _, help_, _ = told("run", "--help")
    sections = dict(re.findall(r"^([A-Z][^:\n]*):\n((?:  .*\n)+)", help_, re.MULTILINE))
    for title, option in [
        ("What to read", "--only-keys "),
        ("Where to place", "--client "),
        ("How to write", "--exactly-once "),
        ("Going on", "--resume "),
        ("Which part of a topic", "--since "),
        ("How to reach Kafka", "--command-config "),
        ("How to check", "--no-proof "),
        ("How to run Spark", "--master "),
        ("Output", "--report "),
    ]:
        assert option in sections[title]

"""An option that is given twice adds to its list, or is refused: no value is lost in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from partwright.cli import partwright
from partwright.cli.parsing import Command

if TYPE_CHECKING:
    from collections.abc import Callable

    Told = Callable[..., tuple[int, str, str]]

ROWS = "k,p\na,0\nb,1\nc,2\n"
CLUSTER = {
    "brokers": [{"id": place} for place in range(5)],
    "topics": {"t": [{"id": place, "leader": place, "replicas": [place]} for place in range(5)]},
}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("check r.csv --key k -n 3 -n 4", "--partitions is given twice: leave one out"),
        (
            "check r.csv --key k --key p -n 3",
            "--key is given twice: a key is one column, so make one of several",
        ),
        ("which a -n 3 --client java --client sarama", "--client is given twice: leave one out"),
        ("place r.csv --key k --partitions 3 -n3", "--partitions is given twice: leave one out"),
        ("resize r.csv --key k --from 3 --to 4 --to=5", "--to is given twice: leave one out"),
        (
            "migrate plan kafka://127.0.0.1:1/a kafka://127.0.0.1:1/b -n 3 -n 4",
            "--partitions is given twice",
        ),
        ("broker topic t -n 3 -n 4", "--partitions is given twice: leave one out"),
    ],
)
def test_a_value_is_not_lost(words: str, sentence: str, told: Told) -> None:
    Path("r.csv").write_text(ROWS, encoding="utf-8")
    code, out, err = told(*words.split())
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_a_flag_may_be_repeated(told: Told) -> None:
    assert told("which", "a", "-n", "3", "--json", "--json")[0] == 0


def test_help_is_shown_all_the_same(told: Told) -> None:
    code, out, err = told("which", "a", "-n", "3", "-n", "4", "--help")
    assert (code, err) == (0, "")
    assert out.startswith("Usage: ")


def test_a_line_with_a_repeated_option_is_completed() -> None:
    command = Command("c", params=[click.Option(["-n"])])
    words = ["-n", "3", "-n", "4"]
    assert command.make_context("c", words, resilient_parsing=True).params == {"n": "4"}


def test_a_list_gets_longer(told: Told) -> None:
    Path("c.json").write_text(json.dumps(CLUSTER), encoding="utf-8")
    once = told("reassign", "c.json", "--remove", "3,4", "--json")
    assert told("reassign", "c.json", "--remove", "3", "--remove", "4", "--json") == once
    assert {each["broker"] for each in json.loads(once[1])["brokers"] if not each["stays"]} == {3, 4}


def leaves(command: click.Command) -> list[click.Command]:
    if not isinstance(command, click.Group):
        return [command]
    context = click.Context(command)
    inside = [command.get_command(context, name) for name in command.list_commands(context)]
    return [leaf for each in inside if each is not None for leaf in leaves(each)]


@pytest.mark.parametrize("leaf", leaves(partwright), ids=lambda leaf: str(leaf.name))
def test_every_command_looks_for_it(leaf: click.Command) -> None:
    assert isinstance(leaf, Command)

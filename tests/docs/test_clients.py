"""docs/clients.md and README show the commands' real output and the real table of clients."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import partwright as pw
from partwright.cli import main
from partwright.keys.client_profiles import libraries

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "clients.md"
DOCUMENTS = [PAGE, ROOT / "README.md"]
PRODUCTS = ROOT / "docs" / "products.md"


def sessions(document: Path) -> Iterator[tuple[str, str]]:
    """Each `$ partwright which ...` of a document, with the lines printed below it."""
    for block in re.findall(r"```console\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL):
        yield from re.findall(r"^\$ (partwright which .*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)


SESSIONS = [(document.name, *session) for document in DOCUMENTS for session in sessions(document)]


def test_both_documents_have_sessions() -> None:
    assert {name for name, _, _ in SESSIONS} == {document.name for document in DOCUMENTS}


@pytest.mark.parametrize(("name", "command", "shown"), SESSIONS)
def test_a_command_prints_what_is_shown(
    capfd: pytest.CaptureFixture[str], name: str, command: str, shown: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command)[1:])
    assert not ended.value.code
    printed = "".join(f"{line.rstrip()}\n" for line in capfd.readouterr().out.splitlines())
    assert printed.strip("\n") == shown.strip("\n"), f"{name} shows something else"


def part(name: str, page: Path = PAGE) -> str:
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", page.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def rows(lines: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def test_the_pages_table_is_the_table_of_clients() -> None:
    head = ["client", "hash", "then", "null key", "empty key", "agrees with java", "version"]
    body = [
        [
            f"`{row['client']}`",
            row["hash"],
            f"`{row['sign']}`",
            row["null_key"],
            row["empty_key"],
            "yes" if row["agrees_with_java"] else "no",
            f"{row['library'].rsplit('/', 1)[-1]} {row['version']}",
        ]
        for row in libraries()
    ]
    assert part("clients") == rows([head, ["---"] * len(head), *body])


def test_the_pages_settings_are_those_of_the_table() -> None:
    settings: dict[str, list[str]] = {}
    for row in libraries():
        if row["setting"] is not None:
            settings.setdefault(row["setting"], []).append(f"`{row['client']}`")
    body = [[", ".join(clients), f"`{setting}`"] for setting, clients in settings.items()]
    assert part("settings") == rows([["of", "setting"], ["---", "---"], *body])


def test_the_page_of_products_is_their_table() -> None:
    head = [
        "product",
        "stands for",
        "rule",
        "hashes",
        "null key",
        "to agree with java",
        "version",
        "known by",
    ]
    body = [
        [
            f"`{row['client']}`",
            f"`{row['stands_for']}`" if row["stands_for"] else "",
            f"{row['hash']}, `{row['sign']}`",
            row["key_bytes"],
            row["null_key"],
            f"`{row['setting']}`" if row["setting"] else ("" if row["agrees_with_java"] else "nothing does"),
            f"{row['library'].rsplit('/', 1)[-1]} {row['version']}",
            row["evidence"],
        ]
        for row in pw.clients().to_pylist()
        if row["key_bytes"] is not None
    ]
    assert part("products", PRODUCTS) == rows([head, ["---"] * len(head), *body])

"""ARCHITECTURE.md is true: every path and module it names exists, every package has its line, and it stays short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PLACES = ("rust/", "python/", "tests/", "benches/", "docs/", "tools/")
# A row of a table: a place, and what it holds. Names in it that end like a file or a folder are below that place.
ROWS = re.findall(r"^\| `([^`]+/)` \| (.+) \|$", TEXT, re.MULTILINE)
INSIDE = [
    (place, name) for place, rest in ROWS for name in re.findall(r"`([\w/]+(?:\.(?:rs|py|lock)|/))`", rest)
]


def test_it_is_short() -> None:
    assert len(TEXT.splitlines()) <= 150


def test_its_tables_are_found() -> None:
    assert len(ROWS) > 15
    assert len(INSIDE) > 60
    assert "`rust/core/src/hashing/clients.rs`" in TEXT


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w./-]+)`", TEXT))))
def test_a_path_exists(path: str) -> None:
    if path.startswith(PLACES):
        assert (ROOT / path).exists()


@pytest.mark.parametrize(("place", "name"), INSIDE)
def test_what_a_place_is_said_to_hold_is_there(place: str, name: str) -> None:
    if not name.startswith(PLACES):
        assert (ROOT / place / name).exists()


def test_every_package_has_its_line() -> None:
    named = {place for place, _ in ROWS}
    packages = {
        path.parent for path in [*ROOT.glob("python/partwright/*/*.py"), *ROOT.glob("rust/core/src/*/mod.rs")]
    }
    assert len(packages) > 15
    assert {f"{package.relative_to(ROOT).as_posix()}/" for package in packages} <= named


def test_the_layers_are_those_of_the_contract() -> None:
    config = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^layers = \[\n(.*?)^\]", config, re.MULTILINE | re.DOTALL)
    contract = [set(re.findall(r"\w+", line)) for line in listed.splitlines()]
    (picture,) = re.findall(r"^```\n(cli .*?)^-----", TEXT, re.MULTILINE | re.DOTALL)
    layers = [set(re.findall(r"\w+", line)) for line in picture.splitlines()]
    drawn = iter(layers)
    for names in contract[1:-4]:
        shown = next(drawn)
        assert names - {"polars", "pytest_plugin"} <= shown, (names, shown)
    assert set().union(*contract[-4:]) == next(drawn)

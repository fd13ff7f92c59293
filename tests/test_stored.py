"""What was stored is read back as it was written; whatever is damaged is named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import pytest

from partwright._stored import OtherVersionError, read_stored


@dataclass(frozen=True)
class Inner:
    name: str
    pair: tuple[int, float]


@dataclass(frozen=True)
class Outer:
    numbers: list[int]
    several: tuple[Inner, ...]
    by_number: Mapping[int, tuple[int, int]] | None = None
    settings: dict[str, int | str | None] = field(default_factory=dict)
    is_done: bool = False


@pytest.mark.parametrize(
    "thing",
    [
        Outer([], ()),
        Outer([1, 2], (Inner("a", (1, 0.5)),), {7: (1, 2)}, {"a": None, "b": 1, "c": "d"}, is_done=True),
    ],
)
def test_what_was_stored_is_read_back(thing: Outer) -> None:
    assert read_stored(Outer, json.dumps(asdict(thing))) == thing
    assert read_stored(Outer, json.dumps({"version": 3} | asdict(thing)).encode(), 3) == thing


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"numbers": [1, "2"]}, "'numbers' is '2'"),
        ({"numbers": [True]}, "'numbers' is True"),
        ({"numbers": {}}, "'numbers' is {}"),
        ({"several": [{"name": "a"}]}, "'pair' is missing"),
        ({"several": [{"name": "a", "pair": [1]}]}, r"'pair' is \[1\]"),
        ({"by_number": {"a": [1, 2]}}, "'by_number' is {'a'"),
        ({"settings": {"a": []}}, r"'settings' is \[\]"),
        ({"is_done": 1}, "'is_done' is 1"),
        ({"more": 1}, "'more' is unknown"),
    ],
)
def test_damage_is_named(change: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_stored(Outer, json.dumps({"numbers": [], "several": []} | change))


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "null", "{}"])
def test_what_is_no_object_with_a_version_is_damaged(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|it has no version"):
        read_stored(Outer, text, 1)


def test_another_version_is_told_apart() -> None:
    with pytest.raises(OtherVersionError, match=r"^2$"):
        read_stored(Outer, '{"version": 2}', 1)

"""`partwright group`: scripts that are none are refused in one sentence, and figures are counted in words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., tuple[int, bytes, str]]

JOIN = {"at_ms": 0, "join": "a"}


def written(folder: Path, *events: dict[str, Any], **other: Any) -> Path:
    """A script in a file."""
    path = folder / "script.json"
    path.write_text(json.dumps({"topics": {"t": 2}, "events": [JOIN, *events], **other}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({"commit": ["a"]}, "event 2: a member is named by text, not ['a']"),
        (
            {"leave": "a", "operation": []},
            "event 2: operation is DEFAULT, LEAVE_GROUP, REMAIN_IN_GROUP, not []",
        ),
        ({"assign": "x", "partitions": [[["t"], 0]]}, "event 2: a topic is named by text, not ['t']"),
    ],
)
def test_an_event_of_another_shape_is_refused(
    event: dict[str, Any], told: str, command: Command, tmp_path: Path
) -> None:
    code, out, err = command("group", written(tmp_path, {"at_ms": 1, **event}))
    assert (code, out) == (2, b"")
    assert err.startswith("partwright: ")
    assert err.rstrip().endswith(f"script.json, line 1: {told}")


def test_a_config_that_is_none_is_refused_with_an_option_too(command: Command, tmp_path: Path) -> None:
    path = written(tmp_path, config=3)
    code, _, err = command("group", path, "--config", "session.timeout.ms=9000")
    assert (code, err.rstrip().endswith("config is an object, not 3")) == (2, True)


def test_one_is_one_and_the_sentence_one_line(command: Command, tmp_path: Path) -> None:
    crash = {"at_ms": 63_000, "crash": "a"}
    code, out, _ = command("group", written(tmp_path, crash, records_per_s=1_000_000))
    lines = out.decode().splitlines()
    assert code == 0
    assert lines[-1].startswith("2 generations in 105.0 s: 0 partitions moved, ")
    assert lines[-1].endswith(" records were not read meanwhile, and 0 were read twice.")
    _, out, _ = command("group", written(tmp_path))
    assert out.decode().splitlines()[-1].startswith("1 generation in 3.0 s: 0 partitions moved, ")
    _, out, _ = command("group", written(tmp_path), "--requests")
    assert " a, who is told of 1 member" in out.decode()
    assert "1 members" not in out.decode()

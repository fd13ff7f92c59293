"""`partwright group`: an invalid script is refused in one sentence, and figures have the right plural."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]

JOIN = {"at_ms": 0, "join": "a"}


def written(folder: Path, *events: dict[str, Any], **other: Any) -> Path:
    """A script in a file."""
    path = folder / "script.json"
    path.write_text(json.dumps({"topics": {"t": 2}, "events": [JOIN, *events], **other}), encoding="utf-8")
    return path


def test_a_refused_event_is_named_by_its_file_and_line(refusal: Refusal, tmp_path: Path) -> None:
    """The refusals themselves are in group/test_script.py."""
    err = refusal("group", written(tmp_path, {"at_ms": 1, "leave": "a", "operation": []}))
    assert err.startswith("partwright: ")
    told = "event 2: operation is DEFAULT, LEAVE_GROUP, REMAIN_IN_GROUP, not []"
    assert err.rstrip().endswith(f"script.json, line 1: {told}")


def test_a_config_that_is_none_is_refused_with_an_option_too(command: Command, tmp_path: Path) -> None:
    path = written(tmp_path, config=3)
    code, _, err = command("group", path, "--config", "session.timeout.ms=9000")
    assert (code, err.rstrip().endswith("config is an object, not 3")) == (2, True)


def test_one_is_one_and_the_sentence_one_line(command: Command, tmp_path: Path) -> None:
    crash = {"at_ms": 63_000, "crash": "a"}
    code, out, _ = command("group", written(tmp_path, crash, records_per_s=1_000_000))
    words = " ".join(out.decode().split())
    assert code == 0
    assert words.startswith("In 105.0 s the group went through 2 generations, and 0 partitions moved. ")
    assert " records were not read meanwhile, and 0 were read twice." in words
    _, out, _ = command("group", written(tmp_path))
    assert " ".join(out.decode().split()).startswith(
        "In 3.0 s the group went through 1 generation, and 0 partitions moved. "
    )
    _, out, _ = command("group", written(tmp_path), "--requests")
    assert " a, who is told of 1 member" in out.decode()
    assert "1 members" not in out.decode()


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "s.json",
            '{"topics": {"a/b": 3}, "events": "+1"}',
            "s.json: a topic cannot be called 'a/b': use a-z",
        ),
        (
            "s.yaml",
            "topics: {1: 3}\nevents: '+1'\n",
            "s.yaml: a topic is named by text, not 1",
        ),
        (
            "s.yaml",
            "topics: {t: 3}\nevents: '+1'\ntopics: {u: 3}\n",
            "s.yaml, line 3: 'topics' is there twice",
        ),
        (
            "s.yaml",
            "topics: {t: 3,\n  t: 4}\nevents: '+1'\n",
            "s.yaml, line 2: 't' is there twice in one object",
        ),
        (
            "s.json",
            '{"topics": {"t": 3}, "events": [\n{"at_ms": 0, "join": "\\"{a"},\n{"at_ms": 0,\n"join": "b", "join": 1}]}',
            "s.json: 'join' is there twice in one object, again in line 4",
        ),
        (
            "s.json",
            '{"config": {}, "topics": {"t": 3},\n"\\u0065vents": [\n{"at_ms": 0, "jion": "a"}]}',
            "s.json, line 3: event 1: there is no event 'jion'",
        ),
        (
            "s.yaml",
            "topics: {t: 3}\nevents:\n- &a {at_ms: 5, join: a}\n- {at_ms: 5, leave: a}\n- *a\n- {at_ms: 1, join: b}\n",
            "s.yaml, line 6: event 4: time runs backwards",
        ),
        (
            "s.yaml",
            "topics: {t: 3}\nevents:\n- &a {at_ms: 5, join: a}\n- *a\n",
            "s.yaml, line 4: event 2: 'a' is there already",
        ),
        (
            "s.yaml",
            "topics: {t: 3}\nevents:\n- {at_ms: 2024-13-45, join: a}\n",
            "s.yaml, line 3: event 1: at_ms is a whole number from 0 to 2678400000, not '2024-13-45'",
        ),
        (
            "s.yaml",
            "topics: {t: 3}\nevents:\n- {at_ms: 0, join: a}\n - b\n",
            "s.yaml, line 4: this is not YAML: expected <block end>",
        ),
        (
            "s.yaml",
            f"topics: {{t: {'9' * 5000}}}",
            "s.yaml: this has a number of more digits than Python reads",
        ),
        ("s.yaml", f"topics: {'[' * 5000}", "s.yaml: this is nested too deeply"),
        ("s.yaml", "topics: {t: 3}\nevents: +2\n", "events are a list, or a short form in quotes"),
    ],
)
def test_a_script_that_is_none_is_refused(
    name: str, text: str, told: str, refusal: Refusal, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert told in refusal("group", str(tmp_path / name))


def test_an_option_gives_a_key_one_value(command: Command) -> None:
    told = ["group", "--topic", "t=2", "--events", "+1"]
    code, _, err = command(*told, "--config", "group.max.size=1", "--config", "group.max.size=2")
    assert (code, err.rstrip()) == (2, "partwright: --config names 'group.max.size' twice: give it one value")
    code, _, err = command(*told, "--topic", "u=\u0664")
    assert (code, "--topic takes NAME=N, a number of partitions" in err) == (2, True)


def test_wide_letters_take_two_columns(command: Command, tmp_path: Path) -> None:
    names = ["\u65e5\u672c", "abcd", "\u65e5" * 40]
    joins = [{"at_ms": 0, "join": name} for name in names]
    code, out, _ = command("group", written(tmp_path, *joins, topics={"t": 4}), "--width", "60")
    rows = [line for line in out.decode().splitlines() if line.startswith(("\u65e5", "abcd", "a "))]
    assert (code, len(rows)) == (0, 4)
    # All of them begin to read in the last column.
    assert {cell_len(row) for row in rows} == {60}


def test_an_alias_of_yaml_may_go_in_a_circle(command: Command, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("topics: {t: 3}\nconfig: &c {x: *c}\nevents: '+1'\n", encoding="utf-8")
    code, _, err = command("group", str(tmp_path / "s.yaml"))
    assert (code, err.count("\n")) == (2, 1)
    assert "'x'" in err


def test_a_file_may_begin_with_a_byte_order_mark(command: Command, tmp_path: Path) -> None:
    marked = tmp_path / "s.json"
    marked.write_bytes(b'\xef\xbb\xbf{"topics": {"t": 3},\r\n"events": "+1"}\r\n')
    assert command("group", str(marked))[0] == 0


def test_what_is_hidden_in_a_name_is_written_out(command: Command, tmp_path: Path) -> None:
    code, out, _ = command("group", written(tmp_path, {"at_ms": 1, "join": "a\x00\u202e"}))
    assert code == 0
    assert b"a\\u0000\\u202e" in out
    assert "\u202e".encode() not in out

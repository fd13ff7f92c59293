"""`partwright group`: text, JSON, comparisons, requests, YAML, and what it refuses by file and line."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from partwright import group

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., tuple[int, bytes, str]]
    Refusal = Callable[..., str]
    Process = Callable[..., subprocess.CompletedProcess[bytes]]

SCRIPT: dict[str, Any] = {
    "topics": {"t": 4},
    "assignor": "range",
    "config": {"group.initial.rebalance.delay.ms": 0},
    "events": [
        {"at_ms": 0, "join": "c1"},
        {"at_ms": 20_000, "join": "c2"},
        {"at_ms": 60_000, "crash": "c2"},
    ],
}
LINES = """{"topics": {"t": 4},
 "events": [
  {"at_ms": 0, "join": "[{,"},

  {"at_ms": 5, "join": "c2"}, {"at_ms": 6,
   "crash": "[{,"}, {"at_ms": 7, "leave": "c9"}
 ]}
"""
YAML = """topics: {t: 4}
events:
- {at_ms: 0, join: c1}
-
  at_ms: 5
  leave: c9
"""
HAS_YAML = find_spec("yaml") is not None


@pytest.fixture
def file() -> str:
    """A script in a file in the command's working folder."""
    Path("s.json").write_text(json.dumps(SCRIPT), encoding="utf-8")
    return "s.json"


def test_a_life_as_text(file: str, command: Command) -> None:
    code, out, err = command("group", file)
    assert (code, err) == (0, "")
    verdicts, _, rows = out.decode().partition("\n\nWho reads what, and when\n")
    lines = rows.splitlines()
    table = [line.split() for line in lines if line.strip()]
    assert table[0] == ["generation", "at,", "s", "why", "leader", "partitions"]
    assert table[2] == ["1", "0.0", "c1", "joined", "c1", "c1", "4"]
    assert table[4] == ["3", "106.0", "c2", "sent", "no", "heartbeat", "in", "time", "c1", "c1", "4"]
    chart = [line for line in lines if line.startswith(("c1 ", "c2 ", "nobody"))]
    assert [line.split()[0] for line in chart] == ["c1", "c2", "nobody"]
    assert re.sub(r"longest, 0.\d s.$", "longest.", " ".join(verdicts.split())) == (
        "In 106.0 s the group went through 3 generations, and 4 partitions moved. Partitions had no reader for "
        "92.8 s, added up over all of them; t-2 waited longest, 46.0 s. c1 stood still longest."
    )


def test_the_same_as_json(file: str, command: Command) -> None:
    code, out, err = command("group", file, "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert list(told) == ["summary", "generations", "moved", "unowned_ms"]
    text = " ".join(command("group", file)[1].decode().split())
    assert text.startswith(told.pop("summary") + " c1 stood still longest")
    assert told == json.loads(json.dumps(group.play(SCRIPT).to_dict()))


def test_lives_side_by_side(file: str, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    code, out, _ = command("group", file, "--compare", "--records-per-s", 10)
    text = out.decode()
    assert code == 0
    lines = text.partition("Without a reader\n")[2].splitlines()
    rows = [line.split()[:2] for line in lines if " dynamic " in line or " static " in line]
    names = ("range", "sticky", "cooperative-sticky", "consumer")
    assert rows == [[name, members] for name in names for members in ("dynamic", "static")]
    assert "read twice" in text
    code, out, _ = command("group", file, "--compare", "--json")
    answer = json.loads(out)
    assert answer["summary"].startswith("Take ")
    told = answer["lives"]
    assert [[each["protocol"], each["static"]] for each in told] == [
        [name, static] for name in names for static in (False, True)
    ]
    assert set(told[0]) == {
        "protocol", "static", "generations", "moved", "unowned_s", "longest_s", "not_read", "read_twice", "failures"
    }  # fmt: skip


def test_requests_line_by_line(file: str, command: Command) -> None:
    code, out, _ = command("group", file, "--requests")
    assert code == 0
    assert "c1, who is told of 2 members" in out.decode()
    assert "REBALANCE_IN_PROGRESS" in out.decode()
    _, out, _ = command("group", file, "--requests", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert rows == group.play(SCRIPT, requests=True).requests().to_pylist()


def test_options_stand_above_the_file(file: str, command: Command) -> None:
    words = [
        "--events",
        "+1, t+2",
        "--topic",
        "t=2",
        "--protocol",
        "consumer",
        "--assignor",
        "range",
        "--static",
    ]
    _, out, _ = command("group", file, *words, "--poll-ms", 0, "--json")
    events: dict[str, Any] = {**SCRIPT, "events": "+1, t+2", "topics": {"t": 2}, "protocol": "consumer"}
    played = group.play({**events, "static": True, "poll_ms": 0})
    told = json.loads(out)
    assert told.pop("summary").startswith("In ")
    assert told == json.loads(json.dumps(played.to_dict()))
    _, out, _ = command("group", file, "--config", "session.timeout.ms=10000", "--json")
    config = {**SCRIPT["config"], "session.timeout.ms": 10_000}
    assert json.loads(out)["unowned_ms"] == group.play({**SCRIPT, "config": config}).unowned_ms


def test_no_file_is_needed(command: Command) -> None:
    code, out, _ = command("group", "--events", "+2", "--topic", "a=1", "--topic", "b=3", "--json")
    assert code == 0
    assert list(json.loads(out)["unowned_ms"]) == ["a-0", "b-0", "b-1", "b-2"]


def test_how_members_end_and_commits_are_told(command: Command) -> None:
    events = [{"at_ms": 0, "join": "c[1]"}, {"at_ms": 9000, "commit": "c[1]", "generation": 0}]
    events += [{"at_ms": 9000, "commit": "c[1]"}, {"at_ms": 10_000, "join": "c2"}]
    Path("s.json").write_text(json.dumps({"topics": {"t": 1}, "events": events}), encoding="utf-8")
    _, out, _ = command("group", "s.json", "--config", "group.max.size=1")
    lines = out.decode().splitlines()
    assert "✗ c2 ended at 10.0 s with GROUP_MAX_SIZE_REACHED" in lines
    assert "c[1]'s commit at 9.0 s was refused as ILLEGAL_GENERATION" in lines
    assert "c[1]'s commit at 9.0 s was taken" in lines


@pytest.mark.parametrize("width", [40, 100, 250])
def test_a_chart_is_as_wide_as_one_says(width: int, file: str, command: Command) -> None:
    code, out, _ = command("group", file, "--width", width)
    chart = [line for line in out.decode().splitlines() if line.startswith(("c1 ", "c2 ", "nobody"))]
    assert code == 0
    assert width - 10 <= max(map(len, chart)) <= width


@pytest.mark.parametrize(("columns", "width"), [("40", 40), ("72", 72), ("130", 130), ("20", 40)])
def test_a_chart_is_as_wide_as_what_shows_it(
    columns: str, width: int, file: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    code, out, _ = command("group", file)
    lines = out.decode().splitlines()
    assert code == 0
    assert max(map(len, lines)) <= width
    assert max(len(line) for line in lines if line.startswith(("c1 ", "c2 ", "nobody"))) >= width - 10


def test_a_chart_is_in_markdown_and_not_in_a_page_with_its_plot(file: str, command: Command) -> None:
    for form, count in (("markdown", 1), ("html", 0)):
        code, out, _ = command("group", file, "--output", form)
        assert (code, out.decode().count("\nnobody ")) == (0, count), form


def test_requests_and_a_page_may_be_asked_for_at_once(file: str, command: Command) -> None:
    _, alone, _ = command("group", file, "--requests")
    code, out, err = command("group", file, "--requests", "--report", "page.html")
    assert (code, out, err) == (0, alone, "report: page.html\n")
    assert "A group over time: s.json" in Path("page.html").read_text(encoding="utf-8")


def test_a_script_from_stdin(process: Process) -> None:
    done = process("group", "-", "--json", stdin=json.dumps(SCRIPT).encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["moved"] == 4
    done = process("group", "-", stdin=LINES.encode())
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith("partwright: stdin, line 6: event 4: there is no member 'c9'")


@pytest.mark.parametrize("option", [[], ["--json"], ["--compare"], ["--requests"]])
def test_an_event_that_is_none_is_named_by_its_line(option: list[str], refusal: Refusal) -> None:
    Path("s.json").write_text(LINES, encoding="utf-8")
    err = refusal("group", "s.json", *option)
    assert (
        err
        == "partwright: s.json, line 6: event 4: there is no member 'c9' in the group: there are [{, and c2\n"
    )


def test_yaml_is_read_where_pyyaml_is(command: Command) -> None:
    Path("s.yaml").write_text(YAML, encoding="utf-8")
    code, out, err = command("group", "s.yaml")
    assert (code, out) == (2, b"")
    if not HAS_YAML:
        assert err == "partwright: PyYAML is missing: pip install 'partwright[yaml]', or write JSON\n"
        return
    assert err.startswith("partwright: s.yaml, line 5: event 2: there is no member 'c9'")
    Path("s.yaml").write_text(YAML.replace("c9", "c1"), encoding="utf-8")
    assert command("group", "s.yaml")[0] == 0


@pytest.mark.skipif(not HAS_YAML, reason="PyYAML is missing")
@pytest.mark.parametrize("text", ["a: [", "", "- 1", "7", "a: !!python/object:x {}", "events: 3", "\t"])
def test_yaml_that_is_no_script_is_refused(text: str, refusal: Refusal) -> None:
    Path("s.yml").write_text(text, encoding="utf-8")
    assert refusal("group", "s.yml").startswith(("partwright: s.yml: ", "partwright: s.yml, line 1: "))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("", "name a FILE, or give --events and --topic"),
        ("--events +1", "name a FILE, or give --events and --topic"),
        ("--topic t=1", "name a FILE, or give --events and --topic"),
        ("--events +1 --topic t=x", "--topic takes NAME=N, a number of partitions, not t=x"),
        ("--events +1 --topic t=-1", "--topic takes NAME=N, a number of partitions, not t=-1"),
        ("--events +1 --topic t", "--topic takes NAME=VALUE, not 't'"),
        ("--events +1 --topic t=0", "the number of partitions of topic t is a whole number from 1 to"),
        ("--events +1 --topic t=9999999999", "--topic takes NAME=N, a number of partitions"),
        ("--events '+1, jion' --topic t=1", "word 2 of the events is unknown: 'jion'"),
        ("--events -1 --topic t=1", "word 1 of the events takes 1 member away, and 0 are there"),
        ("--events +1 --topic t=1 --protocol x", "a script's protocol is classic or consumer"),
        ("--events +1 --topic t=1 --assignor x", 'there is no assignor "x"'),
        ("--events +1 --topic t=1 --config a=1", "config has no field 'a'"),
        ("--events +1 --topic t=1 --config group.max.size=x", "group.max.size is a whole number"),
        ("--events +1 --topic t=1 --records-per-s nan", "records_per_s is a number from 0 to 1e+15"),
        ("--events +1 --topic t=1 --poll-ms -1", "--poll-ms"),
        ("--events +1 --topic t=1 --width 39", "--width"),
        ("--events +1 --topic t=1 --compare --requests", "leave out --compare"),
        ("nothing.json", "'nothing.json' cannot be read: No such file or directory"),
        (".", "'.' cannot be read: Is a directory"),
        ("s.json s.json", "unexpected extra argument"),
    ],
)
def test_what_is_wrong_is_one_sentence(words: str, sentence: str, refusal: Refusal) -> None:
    assert sentence in refusal("group", *shlex.split(words))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", '"x"', "null", '{"a": 1, "a": 2}', "{}", "\0", '{"events": NaN}']
)
@pytest.mark.parametrize("option", [[], ["--compare"], ["--events", "+1"], ["--config", "group.max.size=1"]])
def test_a_file_that_is_no_script_is_refused(text: str, option: list[str], refusal: Refusal) -> None:
    Path("s.json").write_text(text, encoding="utf-8")
    assert refusal("group", "s.json", *option).startswith("partwright: s.json: ")


def test_bytes_that_are_no_text_are_refused(refusal: Refusal) -> None:
    Path("s.json").write_bytes(b'{"topics": {"\xff": 1}}')
    refusal("group", "s.json")


def test_a_reader_that_goes_away_is_no_error(file: str) -> None:
    command = [sys.executable, "-m", "partwright", "group", file, "--requests", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        told = running.stderr.read()
    assert b"Traceback" not in told
    assert b"BrokenPipe" not in told

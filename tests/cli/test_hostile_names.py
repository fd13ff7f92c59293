"""Text from outside may hold anything; a terminal gets none of its control characters, whatever the command."""

from __future__ import annotations

import json
import os
import pty
import re
import sys
import threading
import tty
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

import partwright as pw
from partwright.cli import command_names, main
from partwright.documents.migrate import document
from partwright.migration import MigrationStep
from partwright.rendering import markdown
from partwright.rendering.terminal import TerminalStyle, text

if TYPE_CHECKING:
    from collections.abc import Callable

EVIL = "\x1b[35;7mA\x1b]0;B\x07\x7f\x9b31m\u202e\u2066\u2028\x85\rC\nFAKE\t"
CELL = EVIL.replace("\r", "").replace("\n", "")
"""Colours, a window's title, the two control characters of eight bits, other directions and the ends of a line.

`CELL` is the same without what ends a line, for a csv file."""
OURS = re.compile(r"\r?\x1b\[[0-9;?]*[A-Za-z]")
"""What click and rich write themselves."""
FILE = f"{EVIL}.csv"
CONFIG = "command.properties"
GROUP = {
    "assignor": "range",
    "topics": {EVIL: 3, "t": 1},
    "members": [{"id": EVIL, "topics": [EVIL]}, {"id": "c2", "topics": ["t"], "client": "sarama"}],
}
CLUSTER = {
    "brokers": [{"id": 0, "rack": EVIL}, {"id": 1, "rack": "b"}],
    "topics": {EVIL: [{"id": at, "leader": at % 2, "replicas": [at % 2, 1 - at % 2]} for at in range(6)]},
}
SCRIPT = {"topics": {"t": 3}, "events": [{"at_ms": 0, "join": EVIL}, {"at_ms": 9, "join": "c2"}]}
SCENARIO = {
    "strategy": "sticky@4.4",
    "brokers": [{"id": 0, "latency_ms": 3}],
    "partitions": [{"id": 0, "leader": 0}, {"id": 1, "leader": 0}],
    "seed": 1,
    "records": [[at * 2, None, None, 300 + at % 7] for at in range(20)],
}
REPLAY = {"strategy": "sticky", "topics": {EVIL: 3}, "calls": [[EVIL, None]]}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": EVIL},
    "spec": {"replicas": 2, "template": {"spec": {"containers": [{"name": EVIL, "image": "i"}]}}},
}
KEYED = ["--key", "k", "-n", 3]
COLUMN = ["--key", CELL, "-n", 3]
KAFKA = f"kafka://127.0.0.1:1/{EVIL}"
LIVE = ["-X", f"{EVIL}={EVIL}"]
# By command, words that make it print what others wrote: names in its files, its arguments, or both.
CASES: dict[str, list[list[object]]] = {
    "advise": [
        ["--replicas", "1..3", "--topic", f"{EVIL}=3"],
        ["100", "--platform", EVIL],
        ["--replicas", "1..3", "--topic", EVIL],
        ["--replicas", "1..3", "--topic", "t=3", "--assignor", EVIL],
    ],
    "assign": [
        ["group.json"],
        ["group.json", "--json"],
        ["group.json", "--compare"],
        ["group.json", "--explain"],
        ["group.json", "--clients"],
        ["group.json", "--leader", "all"],
        ["group.json", "--roll-to", "sarama"],
        ["group.json", "--leader", EVIL],
        ["group.json", "--assignor", EVIL],
        ["odd.json"],
        ["pasted.txt"],
        ["pasted.txt", "--explain"],
        ["pasted.txt", "--topics", f"{EVIL}=9"],
        ["pasted.txt", "--compare"],
        ["kafka://127.0.0.1:1", "--group", EVIL, *LIVE],
    ],
    "batch": [
        ["scenario.json"],
        ["odd.json"],
        [FILE, "-n", 3, "--time", CELL, "--size", "bytes", "--key", CELL],
        [FILE, "-n", 3, "--time", "ts", "--size", "bytes", "--key", CELL],
        [FILE, "-n", 3, "--time", "ts", "--size", "bytes", "--key", CELL, "--compare"],
        [FILE, "-n", 3, "--time", "ts", "--size", "bytes", "--key", CELL, "--tune"],
        ["scenario.json", "--producer-property", f"{EVIL}=1"],
        ["scenario.json", "--strategy", EVIL],
    ],
    "broker": [
        [EVIL],
        ["topic", EVIL],
        ["topic", "t", "--partitions", EVIL],
        ["start", EVIL],
        ["kill", EVIL],
    ],
    "check": [
        [FILE, *COLUMN],
        [FILE, *COLUMN, "--partition", "p", "--show", 9],
        [FILE, *KEYED, "--partition", EVIL],
        ["bad.csv", *KEYED, "--partition", "p"],
        ["odd.jsonl", *KEYED],
        ["twice.jsonl", *KEYED],
        [FILE, *COLUMN, "--client", EVIL],
        [KAFKA, *LIVE],
        [KAFKA, "--command-config", CONFIG],
    ],
    "coordinator": [[EVIL, "-n", 50], [EVIL, "--broker", EVIL], [EVIL, "--broker", "127.0.0.1:1", *LIVE]],
    "copartition": [
        [FILE, FILE, *COLUMN],
        [FILE, "other.csv", *COLUMN, "--key-b", "k", "--client-b", "sarama"],
        [FILE, FILE, *KEYED],
        [FILE, KAFKA, *KEYED, *LIVE],
    ],
    "doctor": [
        [KAFKA, *LIVE],
        [EVIL],
        ["kafka://127.0.0.1:1", "--group", EVIL],
        ["kafka://127.0.0.1:1", *LIVE],
    ],
    "fingerprint": [
        [FILE, "--key", CELL, "--partition", "p"],
        [FILE, "--key", "k", "--partition", EVIL],
        ["odd.jsonl", "--key", "k", "--partition", EVIL],
        [FILE, "--key", CELL, "--partition", "p", "--timestamp", EVIL],
    ],
    "group": [
        ["script.json"],
        ["script.json", "--requests"],
        ["script.json", "--compare"],
        ["odd.json"],
        ["--topic", f"{EVIL}=3", "--events", "+2"],
        ["--topic", "t=3", "--events", EVIL],
        ["--topic", "t=3", "--events", "+2", "--config", f"{EVIL}=1"],
    ],
    "migrate": [
        [EVIL],
        ["plan", EVIL, EVIL],
        ["plan", KAFKA, KAFKA, "-n", 3],
        ["plan", "kafka://127.0.0.1:1/a", "kafka://127.0.0.1:1/b", "-n", 3, "--group", EVIL, *LIVE],
    ],
    "place": [
        [FILE, *KEYED],
        ["odd.jsonl", *KEYED],
        ["odd.jsonl", "--key", EVIL, "-n", 3],
        [FILE, *COLUMN, "--column", EVIL, "--out", "placed.csv"],
        [FILE, *COLUMN, "--out", FILE],
        [FILE, *COLUMN, "--out", f"new{FILE}"],
        [FILE, *COLUMN, "--out", f"{EVIL}/new"],
        [FILE, *COLUMN, "--out", FILE],
    ],
    "reassign": [
        ["cluster.json", "--add", f"2={EVIL}"],
        ["cluster.json", "--add", "2=c"],
        ["cluster.json", "--remove", EVIL],
        ["cluster.json", "--topic", EVIL, "--remove", 1],
        ["cluster.json", "--topic", f"x{EVIL}", "--add", 2],
        ["cluster.json", "--add", "2=c", "--sizes", EVIL],
        ["cluster.json", "--add", "2=c", "--out", f"plan{EVIL}"],
        ["odd.json", "--add", 2],
    ],
    "resize": [
        [FILE, "--key", CELL, "--from", 3, "--to", 6],
        [FILE, "--key", CELL, "--from", 3, "--to", 6, "--partition", "p", "--plan"],
        [FILE, "--key", "k", "--from", 3, "--to", 6],
    ],
    "rollout": [
        ["--topic", f"{EVIL}=6", "--replicas", 2, "--plays", 1],
        ["--topic", "t=6", "--manifest", "manifest.json", "--plays", 1],
        ["--topic", "t=6", "--replicas", 2, "--config", f"{EVIL}=1"],
        ["kafka://127.0.0.1:1", "--group", EVIL, *LIVE],
        ["--topic", "t=6", "--kind", EVIL],
    ],
    "run": [
        [FILE, "--key", EVIL, "--topic", EVIL],
        [f"gone{EVIL}", "--key", "k"],
        ["rows.csv", "--key", EVIL, "--to", EVIL],
        ["rows.csv", "--key", "k", "--topic-config", f"{EVIL}=1", "--client", EVIL],
        ["rows.csv", "--key", "k", "--producer-property", f"{EVIL}=1"],
        ["rows.csv", "--key", "k", "--to", "kafka://127.0.0.1:1", *LIVE],
    ],
    "strategy": [["replay.json"], ["odd.json"], [EVIL]],
    "stream": [
        ["rows.csv", "--key", "k", "--to", EVIL, "--checkpoint", "c"],
        [f"gone{EVIL}", "--key", EVIL, "--to", "kafka://127.0.0.1:1", "--checkpoint", EVIL],
        ["rows.csv", "--key", "k", "--to", f"parquet:{EVIL}", "--checkpoint", "c"],
    ],
    "which": [
        [EVIL, "-n", 3],
        [EVIL, "-n", 3, "--explain"],
        ["a", "-n", 3, "--client", EVIL],
        ["a", "-n", 3, "--key-type", EVIL],
        [EVIL, "-n", 3, "--topic", EVIL],
        [EVIL, "-n", 3, "--hex"],
        ["a", "--topic", KAFKA, *LIVE],
    ],
}
NOT_REPORTED = {"broker", "migrate", "place", "run", "strategy", "stream"}
"""Commands without a page, and `run` and `stream`, whose pages need Spark."""


@pytest.fixture(autouse=True)
def _files(own_folder: None, monkeypatch: pytest.MonkeyPatch) -> None:
    del own_folder
    # No line is broken, so that one that begins with FAKE is of others.
    monkeypatch.setenv("COLUMNS", "900")
    monkeypatch.setenv("PARTWRIGHT_STATE", str(Path("state").resolve()))
    keys = [CELL + str(at) for at in range(6)]
    rows = [*((key, at % 3, at * 5, 90 + at) for at, key in enumerate(keys)), ("plain", 1, 40, 80)]
    cells = "".join(f'"{key}",{part},{ts},{size}\n' for key, part, ts, size in rows)
    _write(FILE, f'"{CELL}",p,ts,bytes\n{cells}')
    _write("rows.csv", f'k,"{EVIL}"\na,1\n')
    _write("other.csv", f'k,"{EVIL}"\n"{EVIL}1",1\n')
    _write("bad.csv", f'k,p\n"{EVIL}","{EVIL}"\n')
    _write("odd.jsonl", json.dumps({EVIL: EVIL}) + "\n")
    _write("twice.jsonl", f'{{{json.dumps(EVIL)}: 1, "k": "a", {json.dumps(EVIL)}: 2}}\n')
    _write("odd.json", json.dumps({EVIL: EVIL}))
    objects = {"group": GROUP, "cluster": CLUSTER, "script": SCRIPT, "scenario": SCENARIO, "replay": REPLAY}
    for name, content in {**objects, "manifest": DEPLOYMENT}.items():
        _write(f"{name}.json", json.dumps(content))
    _write(CONFIG, f"{EVIL!r}={EVIL!r}\n\x1b[35;7m=x\n")
    header = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
    evil = EVIL.translate({ord(each): "_" for each in "\n\r\t \x85\u2028"})
    _write("pasted.txt", f"{header}\n{evil} {evil} 0 1 1 0 {evil} /127.0.0.1 {evil}\n")


def _write(name: str, text: str) -> None:
    Path(name).write_text(text, encoding="utf-8", newline="")


def held_back(text: str) -> None:
    """Fails if control characters of others are in a text."""
    assert "\x1b[35;7m" not in text
    rest = OURS.sub("", text).replace("\r\n", "\n")
    assert not [each for each in rest if not each.isprintable() and each != "\n"], ascii(text)
    assert not [line for line in rest.splitlines() if line.startswith("FAKE")], ascii(text)


def ended(words: list[object]) -> object:
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    return end.value.code


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, call: Callable[[], object]) -> str:
    """What a call writes to stdout and stderr if both are a terminal."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    read: list[bytes] = []

    def follow() -> None:
        try:
            while more := os.read(ours, 65536):
                read.append(more)
        except OSError:
            # Linux reports an error where macOS reports the end.
            pass

    reader = threading.Thread(target=follow)
    reader.start()
    try:
        with os.fdopen(theirs, "w", encoding="utf-8") as stream, monkeypatch.context() as patched:
            patched.setenv("TERM", "xterm")
            patched.setattr(sys, "stdout", stream)
            patched.setattr(sys, "stderr", stream)
            call()
    finally:
        reader.join()
        os.close(ours)
    return b"".join(read).decode()


@pytest.mark.parametrize("name", command_names())
def test_no_command_prints_what_others_wrote_as_it_is(
    name: str, told: Callable[..., tuple[int, str, str]]
) -> None:
    for words in [*CASES[name], [f"--{EVIL}"], [f"-{EVIL}"], [EVIL, EVIL, EVIL, EVIL]]:
        code, out, err = told(name, *words)
        assert code in {0, 1, 2}, err
        held_back(out)
        held_back(err)


@pytest.mark.parametrize("name", command_names())
def test_nor_to_a_terminal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for words in [*CASES[name], [f"--{EVIL}"]]:
        held_back(on_a_terminal(monkeypatch, lambda words=words: ended([name, *words])))  # type: ignore[misc]


@pytest.mark.parametrize("name", sorted({*command_names()} - NOT_REPORTED))
def test_nor_on_a_page(name: str, told: Callable[..., tuple[int, str, str]]) -> None:
    made = 0
    for words in CASES[name]:
        code, out, err = told(name, *words, "--report", "page.html")
        held_back(out)
        held_back(err)
        page = Path("page.html")
        if page.exists():
            made += 1
            text = page.read_text(encoding="utf-8")
            assert not [each for each in text if not each.isprintable() and each != "\n"], (code, words)
            page.unlink()
    assert made, ascii(err)


@pytest.mark.parametrize("step", ["plan", "copy", "verify", "cutover", "back", "finish"])
def test_nor_a_migrations_groups(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    more = {
        "bytes": 1, "keys": 1, "keys_looked_at": "1 of 1", "keyless": 0, "tombstones": 0, "away": 1, "untimed": 1,
        "writer": "mixture", "family": ["java"], "copy_s": 1.0, "scan_s": 1.0, "order": None, "first_wrong": EVIL,
        "seconds": 1.0,
        "copied_now": 1, "compared": 1, "written_since": 0, "configs": {"retention.ms": EVIL},
    }  # fmt: skip
    answer = MigrationStep(
        step, f"kafka://a:1/{EVIL}", f"kafka://a:1/{EVIL}", 1, 3, 1, 1,
        groups={EVIL: {0: 1}}, reread={EVIL: 1}, unread={EVIL: 1}, more=more,
    )  # fmt: skip
    found = document(answer)
    for look in (TerminalStyle(80), TerminalStyle(40, is_styled=True)):
        held_back(text(found, look, with_details=True))
    held_back(on_a_terminal(monkeypatch, lambda: click.echo(markdown.text(found))))


def test_nor_a_step_of_a_run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    from partwright.cli.progress import ConsoleProgress

    def steps() -> None:
        with ConsoleProgress() as progress, progress.step(f"read {EVIL}"):
            progress.say(f"batch of [red]{EVIL}")

    steps()
    held_back(capfd.readouterr().err)
    held_back(on_a_terminal(monkeypatch, steps))


def test_nor_pythons_own_error() -> None:
    with pytest.raises(pw.PartwrightError) as refused:
        raise pw.PartwrightError(f"topic {EVIL} is not there", value=EVIL)
    assert "\x1b" not in str(refused.value)
    assert "\u202e" not in str(refused.value)
    assert refused.value.value == EVIL


def test_data_stay_as_they_are(command: Callable[..., tuple[int, bytes, str]]) -> None:
    code, out, _ = command("place", FILE, *COLUMN)
    assert code == 0
    before = Path(FILE).read_bytes().splitlines(keepends=True)
    after = out.splitlines(keepends=True)
    assert [line.rstrip(b"\n") for line in before] == [line.rpartition(b",")[0] for line in after]


def test_every_command_has_its_cases() -> None:
    assert sorted(CASES) == command_names()

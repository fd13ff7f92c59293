"""Where there is one of everything, each sentence says so in the singular: in text, on pages and in errors."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from partwright.cli import command_names
from partwright.documents.migrate import document
from partwright.migration import MigrationStep
from partwright.rendering import terminal

if TYPE_CHECKING:
    from collections.abc import Callable

# Words that end in s and are no plurals.
SINGULAR = {"always", "as", "bytes_", "does", "is", "has", "less", "ms", "this", "was"}
PLURAL = re.compile(
    r"(?<![\w.,:/@\"'=+-])1 (?:more |other |old |new |different |distinct |shared |heaviest )?"
    r"([a-z]+s|children)\b(?!/s)"
    r"|(?<![\w.,:/@\"'=+-])(?<!of )1 [a-z]+ (?:are|have|were|get|move|read|need|come|do)\b"
    r"|(?<![\w.,:/@\"'=+-])(?<!and )1,? (?:are|have)\b"
    r"|\bat at\b"
)
SINGULARS = (
    "is",
    "has",
    "gets",
    "moves",
    "reads",
    "needs",
    "goes",
    "comes",
    "does",
    "was",
    "becomes",
    "serves",
)
CLUSTER = {"brokers": [{"id": 0}], "topics": {"t": [{"id": 0, "leader": 0, "replicas": [0]}]}}
GROUP = {"assignor": "range", "topics": {"t": 1}, "members": [{"id": "c1", "topics": ["t"]}]}
SCRIPT = {"topics": {"t": 1}, "events": [{"at_ms": 0, "join": "c1"}]}
SCENARIO = {
    "strategy": "sticky@4.4",
    "brokers": [{"id": 0, "latency_ms": 3}],
    "partitions": [{"id": 0, "leader": 0}],
    "seed": 1,
    "records": [[0, None, None, 300]],
}
ONE = ["one.csv", "--key", "k"]
CASES: dict[str, list[list[object]]] = {
    "advise": [["1"], ["--replicas", "1..1", "--topic", "t=1"], ["1", "--power", "1", "--brokers", 2]],
    "assign": [
        ["group.json"],
        ["group.json", "--json"],
        ["group.json", "--compare"],
        ["group.json", "--explain"],
        ["group.json", "--clients"],
        ["group.json", "--roll-to", "sarama"],
        ["pasted.txt", "--explain"],
        ["group.json", "--leader", "c2"],
    ],
    "batch": [
        ["scenario.json"],
        [*ONE, "-n", 1, "--time", "ts", "--size", "bytes"],
        [*ONE, "-n", 1, "--time", "ts", "--size", "bytes", "--compare"],
        [*ONE, "-n", 1, "--time", "ts", "--size", "bytes", "--tune"],
    ],
    "broker": [["status"]],
    "check": [
        [*ONE, "-n", 1],
        [*ONE, "-n", 1, "--partition", "p"],
        [*ONE, "-n", 2, "--partition", "p"],
        [*ONE, "-n", 2, "--partition", "wrong"],
        [*ONE, "-n", 1, "--partition", "wrong"],
        ["null.csv", "--key", "p", "-n", 2, "--partition", "k"],
        ["astray.csv", "--key", "k", "-n", 12, "--partition", "p"],
        [*ONE, "-n", 1, "--partition", "p", "--max-share", "100%", "--min-used", "1%"],
        ["open.jsonl", "--key", "k", "-n", 1],
        ["control.jsonl", "--key", "k", "-n", 1],
    ],
    "coordinator": [["g", "-n", 1]],
    "copartition": [
        ["one.csv", "one.csv", "--key", "k", "-n", 1],
        ["one.csv", "other.csv", "--key", "k", "-n", 1, "--n-b", 2],
        ["one.csv", "other.csv", "--key", "k", "-n", 1],
        ["one.csv", "one.csv", "--key", "k", "-n", 1, "--partition", "wrong"],
        ["one.csv", "one.csv", "--key", "k", "-n", 2, "--partition", "p"],
        ["one.csv", "moved.csv", "--key", "k", "-n", 2, "--partition", "p"],
    ],
    "doctor": [["nowhere"]],
    "fingerprint": [
        [*ONE, "--partition", "p"],
        [*ONE, "--partition", "wrong"],
        [*ONE, "--partition", "p", "-n", 1],
        ["null.csv", "--key", "k", "--partition", "p"],
    ],
    "group": [
        ["script.json"],
        ["script.json", "--compare"],
        ["--topic", "t=1", "--events", "+1, -1"],
        ["--topic", "t=1", "--events", "+1, roll", "--records-per-s", 1],
        ["--topic", "t=1", "--events", "-2"],
    ],
    "migrate": [["plan", "kafka://127.0.0.1:1/a", "b"]],
    "place": [
        [*ONE, "-n", 1, "--out", "placed.csv"],
        ["open.jsonl", "--key", "k", "-n", 1],
        ["ragged.csv", "--key", "k", "-n", 1],
        ["one.csv", "other.csv", "--key", "k", "-n", 1],
    ],
    "reassign": [
        ["cluster.json", "--add", 1],
        ["cluster.json", "--add", 1, "--remove", 0],
        ["cluster.json", "--remove", 0],
        ["cluster.json", "--add", 1, "--replication-factor", 2],
        ["cluster.json", "--add", 1, "--replication-factor", 3],
    ],
    "resize": [
        [*ONE, "--from", 1, "--to", 2],
        [*ONE, "--from", 1, "--to", 2, "--partition", "p", "--plan"],
        [*ONE, "--from", 2, "--to", 1, "--plan"],
        [*ONE, "--from", 1, "--to", 1],
        [*ONE, "--from", 2, "--to", 3, "--partition", "p"],
        [*ONE, "--from", 2, "--to", 3, "--size", "bytes"],
    ],
    "rollout": [
        ["--topic", "t=1", "--replicas", 1, "--plays", 1],
        ["--topic", "t=1", "--replicas", 2, "--plays", 1],
    ],
    "run": [["gone.csv", "--key", "k", "-n", 1]],
    "stream": [["one.csv", "--key", "k", "-n", 1, "--to", "kafka://127.0.0.1:1", "--checkpoint", "c"]],
    "strategy": [["replay.json"]],
    "which": [["a", "-n", 1], ["a", "-n", 1, "--explain"], ["a", "-n", 1, "--client", "sarama"]],
}


@pytest.fixture(autouse=True)
def _files(own_folder: None) -> None:
    del own_folder
    files = {
        "one.csv": "k,p,wrong,ts,bytes\na,0,1,1,1\n",
        "other.csv": "k,p\nb,0\n",
        "null.csv": "k,p\n,0\n",
        "moved.csv": "k,p\na,1\n",
        "astray.csv": "k,p\na,5\na,99\n",
        "ragged.csv": "k,p\na\n",
        "open.jsonl": '{"k": "a", "other": "b}\n',
        "control.jsonl": '{"k": "a", "other": "b\x01"}\n',
        "pasted.txt": "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
        "g t 0 1 1 0 c1 /127.0.0.1 c1\n",
        "group.json": json.dumps(GROUP),
        "cluster.json": json.dumps(CLUSTER),
        "script.json": json.dumps(SCRIPT),
        "scenario.json": json.dumps(SCENARIO),
        "replay.json": json.dumps(
            {"strategy": "random", "topic": {"name": "t", "partitions": 1}, "draws": [1]}
        ),
    }
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")


def plurals(text: str) -> list[str]:
    """Each place in a text where one is taken for several."""
    # The cells of a table are apart by more than one blank.
    whole = re.sub(r"  +|\n", " | ", text)
    found = PLURAL.finditer(whole)
    return [
        whole[max(0, each.start() - 40) : each.end() + 20]
        for each in found
        if each[1] not in {*SINGULAR, *SINGULARS}
    ]


@pytest.mark.parametrize("name", command_names())
def test_one_is_not_several(name: str, told: Callable[..., tuple[int, str, str]]) -> None:
    for words in CASES[name]:
        code, out, err = told(name, *words)
        assert code in {0, 1, 2}, err
        assert plurals(out) == [], words
        assert plurals(err) == [], words


@pytest.mark.parametrize(
    "name",
    [
        "advise",
        "assign",
        "batch",
        "check",
        "copartition",
        "fingerprint",
        "group",
        "reassign",
        "resize",
        "rollout",
    ],
)
def test_nor_on_a_page(name: str, told: Callable[..., tuple[int, str, str]]) -> None:
    made = 0
    for words in CASES[name]:
        _, _, err = told(name, *words, "--report", "page.html")
        assert plurals(err) == [], words
        page = Path("page.html")
        if page.exists():
            made += 1
            text = re.sub(
                r"<style.*?</style>",
                "",
                page.read_text(encoding="utf-8").split("<script")[0],
                flags=re.DOTALL,
            )
            assert plurals(unescape(re.sub(r"<[^>]*>", " | ", text))) == [], words
            page.unlink()
    assert made


@pytest.mark.parametrize("step", ["plan", "copy", "verify", "cutover", "back", "finish"])
def test_nor_in_a_migration(step: str) -> None:
    more = {
        "bytes": 1, "keys": 1, "keys_looked_at": "1 of 1", "keyless": 1, "tombstones": 1, "away": 1, "untimed": 1,
        "writer": "one-writer", "family": ["java"], "copy_s": 1.0, "scan_s": 1.0, "order": "time", "gone": 1,
        "copied_now": 1, "compared": "every record", "written_since": 1, "configs": {}, "aborted": 1, "deleted": 1,
        "seconds": 1.0, "scattered_keys": 1, "scattered_records": 1,
    }  # fmt: skip
    for lag in (0, 1):
        answer = MigrationStep(
            *[step, "kafka://a:1/t", "kafka://a:1/u", 1, 1, 1, 1],
            lag=lag,
            groups={"g": {0: 1}},
            reread={"g": 1},
            more=more,
        )
        assert plurals(terminal.text(document(answer), terminal.TerminalStyle(900), with_details=True)) == []


def test_every_command_has_its_cases() -> None:
    assert sorted(CASES) == command_names()


@pytest.mark.parametrize(
    "text",
    [
        "1 keys",
        "all 1 shared keys",
        "the most, 1, are in it",
        "1 are in none",
        "of 1 old partitions",
        "1 partition get another",
        "starting at at column 17",
    ],
)
def test_a_plural_is_found(text: str) -> None:
    assert plurals(text)

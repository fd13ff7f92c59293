"""A command's page, made by the real command and read as a program reads it."""

from __future__ import annotations

import contextlib
import io
import json
import random
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

import pytest

import partwright as pw
from partwright.cli import main
from partwright.rendering import html

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GROUP = {
    "assignor": "range",
    "topics": {"orders": 6, "payments": 4, "users": 3},
    "members": [
        {"id": "c1", "topics": ["orders", "payments"], "owned": [["orders", 0], ["orders", 5]]},
        {"id": "c2", "topics": ["orders", "payments", "users"], "owned": [["orders", 1], ["payments", 3]]},
        {"id": "c10", "topics": ["users"]},
        {"id": "idle", "topics": []},
    ],
}
CLUSTER = {
    "brokers": [{"id": 0, "rack": "a"}, {"id": 1, "rack": "b"}],
    "topics": {"orders": [{"id": at, "leader": at % 2, "replicas": [at % 2, 1 - at % 2]} for at in range(6)]},
}
SCENARIO = {
    "strategy": "sticky@4.4",
    "brokers": [{"id": 0, "latency_ms": 3}, {"id": 1, "latency_ms": 1}],
    "partitions": [{"id": 0, "leader": 0}, {"id": 1, "leader": 1}, {"id": 2, "leader": 0}],
    "seed": 1,
    "records": [[at * 2, None, None, 300 + at % 7] for at in range(120)],
}
# By name: a command that makes a page with each of its figures.
COMMANDS: dict[str, list[str]] = {
    "check": [
        "check", "orders.csv", "--key", "customer", "-n", "12", "--partition", "partition", "--max-share", "10%",
    ],
    "check-shares": ["check", "orders.csv", "--key", "customer", "-n", "5"],
    "check-many": ["check", "orders.csv", "--key", "customer", "-n", "5000"],
    "check-1000": ["check", "orders.csv", "--key", "customer", "-n", "1000"],
    "check-empty": ["check", "empty.csv", "--key", "customer", "-n", "3", "--partition", "partition"],
    "check-one": ["check", "one.csv", "--key", "customer", "-n", "1", "--partition", "partition"],
    "check-hostile": ["check", "hostile.csv", "--key", "customer", "-n", "12"],
    "fingerprint": ["fingerprint", "orders.csv", "--key", "customer", "--partition", "partition"],
    "fingerprint-change": [
        "fingerprint", "grown.csv", "--key", "customer", "--partition", "partition", "--offset", "offset",
        "--timestamp", "ts",
    ],
    "resize": ["resize", "orders.csv", "--key", "customer", "--from", "12", "--to", "24", "--size", "bytes"],
    "resize-map": ["resize", "orders.csv", "--key", "customer", "--from", "48", "--to", "60"],
    "assign": ["assign", "group.json"],
    "assign-many": ["assign", "many.json"],
    "assign-compare": ["assign", "group.json", "--compare"],
    "assign-now": ["assign", "group.json", "--explain"],
    "assign-leaders": ["assign", "group.json", "--leader", "all"],
    "assign-clients": ["assign", "group.json", "--assignor", "roundrobin", "--clients"],
    "assign-roll": ["assign", "group.json", "--assignor", "roundrobin", "--roll-to", "sarama"],
    "group": ["group", "--topic", "t=6", "--events", "+3, -1, x1, +2"],
    "group-many": ["group", "--topic", "t=60", "--events", "+30, x3"],
    "group-compare": ["group", "--topic", "t=12", "--events", "+4, roll", "--compare"],
    "reassign": ["reassign", "cluster.json", "--add", "2=a", "--max-replicas", "2"],
    "rollout": ["rollout", "--topic", "t=6", "--replicas", "8", "--plays", "2"],
    "batch": ["batch", "orders.csv", "-n", "12", "--time", "ts", "--size", "bytes", "--compare"],
    "batch-tune": [
        "batch", "orders.csv", "-n", "12", "--time", "ts", "--size", "bytes", "--tune", "--at-most-ms", "60",
    ],
    "batch-scenario": ["batch", "scenario.json"],
    "copartition": [
        "copartition", "orders.csv", "orders.csv", "--key", "customer", "-n", "12", "--client-b", "librdkafka",
    ],
    "advise": ["advise", "100"],
    "advise-replicas": ["advise", "--replicas", "1..30", "--topic", "t=126"],
}  # fmt: skip
# The same with inputs that are too large to draw one by one.
LARGE: dict[str, list[str]] = {
    "check-large": ["check", "wide.csv", "--key", "customer", "-n", "2000", "--partition", "partition"],
    "fingerprint-large": ["fingerprint", "wide.csv", "--key", "customer", "--partition", "partition", "-n", "2000"],
    "resize-large": ["resize", "wide.csv", "--key", "customer", "--from", "2000", "--to", "3000"],
    "assign-large": ["assign", "large.json"],
    "group-large": ["group", "--topic", "t=600", "--events", "+100, roll20"],
    "batch-large": ["batch", "wide.csv", "-n", "2000", "--time", "ts", "--size", "bytes"],
}  # fmt: skip


_ALIKE = {"check-shares", "check-many", "check-1000"}


class Ran(NamedTuple):
    """The result of a command."""

    returncode: int
    stdout: str
    stderr: str


@dataclass
class Read:
    """The parts of a page."""

    text: str
    answer: Any = None
    rest: Any = None
    plots: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    sentences: dict[str, str] = field(default_factory=dict)
    marks: dict[str, int] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self, into: Read) -> None:
        super().__init__()
        self.into = into
        self.figure = ""
        self.taken: list[str] | None = None
        self.row: list[str] = []
        self.value: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.into.tags.append(tag)
        self.into.links += [
            given[name] or "" for name in ("src", "href", "action", "srcset") if name in given
        ]
        if tag == "section" and given.get("class") == "figure":
            self.figure = given["id"] or ""
            self.into.tables[self.figure] = []
        if given.get("class") == "plot":
            self.into.marks[self.figure] = int(given["data-marks"] or 0)
        if tag == "tr":
            self.row = []
        if tag == "data":
            self.value = given["value"]
        if tag in {"td", "th"} or (tag == "script" and given.get("type") == "application/json"):
            self.taken = []
            self.kind = given.get("id") or ""
        if tag == "p" and (given.get("id") or "").endswith("-seen"):
            self.taken, self.kind = [], "seen"

    def handle_data(self, data: str) -> None:
        if self.taken is not None:
            self.taken.append(data)

    def handle_endtag(self, tag: str) -> None:
        text = "".join(self.taken or [])
        if tag in {"td", "th"}:
            self.row.append(text if self.value is None else self.value)
            self.value = None
        elif tag == "tr" and self.figure:
            self.into.tables[self.figure].append(self.row)
        elif tag == "script" and self.taken is not None:
            setattr(self.into, self.kind, json.loads(text))
        elif tag == "p" and self.taken is not None and self.kind == "seen":
            self.into.sentences[self.figure] = text
        else:
            return
        self.taken = None


def read_page(text: str) -> Read:
    """A page, read."""
    found = Read(text)
    _Reader(found).feed(text)
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with `name` runs for each command."""
    if "name" in metafunc.fixturenames and not any(
        "name" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")
    ):
        metafunc.parametrize("name", COMMANDS)
    if "any_size" in metafunc.fixturenames:
        # Each answer in small, medium and large.
        metafunc.parametrize("any_size", [name for name in (*COMMANDS, *LARGE) if name not in _ALIKE])


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the commands read."""
    made = tmp_path_factory.mktemp("reports")
    draw = random.Random(7)
    keys = [
        "whale" if draw.random() < 0.2 else f"customer {int(draw.paretovariate(0.7)) % 700}"
        for _ in range(3000)
    ]
    placed = pw.partition_for_key(keys, 12).to_pylist()
    lines, at = ["customer,partition,ts,bytes"], 0
    for key, partition in zip(keys, placed, strict=True):
        at += draw.randint(0, 9)
        moved = (partition + draw.randint(1, 11)) % 12 if draw.random() < 0.02 else partition
        lines.append(f"{key},{moved},{at},{draw.randint(80, 900)}")
    (made / "orders.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (made / "empty.csv").write_text("customer,partition\n", encoding="utf-8")
    (made / "one.csv").write_text("customer,partition\na,0\n", encoding="utf-8")
    rows, ends = ["customer,partition,offset,ts"], [0] * 12
    names = [f"user-{place}" for place in range(2000)]
    parts = [
        *pw.partition_for_key(names[:1000], 8).to_pylist(),
        *pw.partition_for_key(names[1000:], 12).to_pylist(),
    ]
    for place, (name, part) in enumerate(zip(names, parts, strict=True)):
        rows.append(f"{name},{part},{ends[part]},{1_700_000_000_000 + place}")
        ends[part] += 1
    (made / "grown.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    hostile = [
        "<script>alert(1)</script>",
        "</script><img src=x onerror=alert(1)>",
        'a""b',
        "\u202eevil",
        "nul\tl",
    ]
    hostile += ["x" * 10_000, "x" * 10_000 + "y", "'&amp;{{ 7 * 7 }}", "\u2028"]
    written = "customer\n" + "".join(f'"{each}"\n' for each in hostile)
    (made / "hostile.csv").write_text(written, encoding="utf-8")
    (made / "group.json").write_text(json.dumps(GROUP), encoding="utf-8")
    many = {
        "assignor": "server-uniform",
        "topics": {f"topic-{place}": 40 for place in range(80)},
        "members": [
            {"id": f"m{place}", "topics": [f"topic-{each}" for each in range(80)]} for place in range(150)
        ],
    }
    (made / "many.json").write_text(json.dumps(many), encoding="utf-8")
    large = {
        "assignor": "range",
        "topics": {f"topic-{place}": 3 for place in range(1000)},
        "members": [
            {"id": f"m{place}", "topics": [f"topic-{(place * 7 + each) % 1000}" for each in range(20)]}
            for place in range(500)
        ],
    }
    (made / "large.json").write_text(json.dumps(large), encoding="utf-8")
    wide = ["customer,partition,ts,bytes"]
    names = [f"user-{int(draw.paretovariate(0.9)) % 9000}" for _ in range(20_000)]
    for at, (key, partition) in enumerate(
        zip(names, pw.partition_for_key(names, 2000).to_pylist(), strict=True)
    ):
        moved = (partition + draw.randint(1, 1999)) % 2000 if draw.random() < 0.02 else partition
        wide.append(f"{key},{moved},{1_700_000_000_000 + 5 * at},{draw.randint(80, 900)}")
    (made / "wide.csv").write_text("\n".join(wide) + "\n", encoding="utf-8")
    (made / "scenario.json").write_text(json.dumps(SCENARIO), encoding="utf-8")
    (made / "cluster.json").write_text(json.dumps(CLUSTER), encoding="utf-8")
    return made


@pytest.fixture(scope="session")
def run(folder: Path) -> Callable[..., Ran]:
    """The real command, in this process and in the files' folder; by a name of `COMMANDS`, with more options."""

    def done(*words: str) -> Ran:
        # A command that is not in the table has several words, or one that no entry has.
        name, *more = words
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.raises(SystemExit) as ended,
        ):
            main([*(COMMANDS | LARGE).get(name, [name]), *more])
        return Ran(int(ended.value.code or 0), out.getvalue(), err.getvalue())

    return done


@pytest.fixture(scope="session")
def specs() -> dict[str, dict[str, Any]]:
    """The specification of each plot of the pages that were made."""
    return {}


@pytest.fixture(scope="session")
def page(folder: Path, run: Callable[..., Ran], specs: dict[str, dict[str, Any]]) -> Callable[[str], Path]:
    """The page of a command, by its name; made once."""

    def made(name: str) -> Path:
        file = folder / f"{name}.html"
        if not file.exists():
            documents: list[Any] = []
            whole = html.html_page

            def kept(document: Any) -> str:
                documents.append(document)
                return whole(document)

            with mock.patch("partwright.rendering.html.html_page", kept):
                done = run(name, "--report", file.name)
            specs[name] = {each.id: each.spec for each in documents[0].sections if each.spec}
            assert done.returncode in {0, 1}, done.stderr
            assert done.stderr.splitlines()[-1] == f"report: {file.name}"
        return file

    return made


@pytest.fixture(scope="session")
def read(page: Callable[[str], Path], specs: dict[str, dict[str, Any]]) -> Callable[[str], Read]:
    """The same, read, and what its plots were drawn from."""

    def made(name: str) -> Read:
        found = read_page(page(name).read_text(encoding="utf-8"))
        found.plots = specs[name]
        return found

    return made

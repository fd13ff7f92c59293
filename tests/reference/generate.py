"""Asks the real clients again: regenerates the golden files and compares them, or writes them.

`python tests/reference/generate.py` (or with `--check`) builds the programs next to this file in a temporary
folder, lets them write every golden file there and compares: it ends with 0 if all are equal, 1 and a
summary if they differ, 2 and a sentence if a tool is missing or a program does not build.
`--write` puts the clients' answers into tests/golden. `--build DIR` builds there and compares nothing: for each
client it prints a line of JSON, the command that answers questions.

Standard library only: it runs before anything of the project is built.
"""

from __future__ import annotations

import argparse
import difflib
import json
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import assignors
import batching
import client_groups
import connection
import coordinator
import lives
import placements
import strategies
from answers import golden
from builds import SHOWN_LINES, CannotAskError, build_go, build_java, build_node, build_python, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Build = Callable[[Path], Sequence[str]]

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
SHOWN_WIDTH = 160


@dataclass(frozen=True)
class Client:
    """One real client: how its programs are built, and which of them writes which file."""

    name: str
    build: Build
    answers: str = ""
    """The program, or the program's argument, that answers questions, as `answers.py` says; empty where none does."""
    writes: Mapping[str, str] = field(default_factory=dict)
    """By golden file, the program that writes it to the path that is its one argument."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """By golden file, the program that answers what `assignors.py` asks."""
    producers: Mapping[str, str] = field(default_factory=dict)
    """By golden file, the program that answers what `strategies.py` asks."""
    batches: Mapping[str, str] = field(default_factory=dict)
    """By golden file, the program that answers what `batching.py` asks."""
    connections: Mapping[str, str] = field(default_factory=dict)
    """By golden file, the program that answers what `connection.py` asks."""
    placements: Sequence[str] = ()
    """The golden files of placements and names; `placements.py` knows which program answers what."""
    scripts: Mapping[str, str] = field(default_factory=dict)
    """By golden file, the kind of scripts that `coordinator.py` has for the coordinator's program."""
    lives: str = ""
    """What `lives.py` asks whole consumers: the protocol, with their version if it is an older one."""
    assignors: bool = False
    """Whether its assignors are asked, which `assignors.py` builds by itself."""
    groups_led: Sequence[str] = ()
    """The programs that answer what `client_groups.py` asks, each with a golden file of its name."""

    def files(self) -> list[str]:
        """The golden files that it writes, in its order."""
        placed = [f"placement/{name}.jsonl" for name in self.placements]
        answered = [f"clients/{self.name}.json"] if self.answers else []
        grouped = [f"assignors/clients/{self.name}.jsonl"] if self.assignors else []
        asked = [*self.groups, *grouped, *self.producers, *self.batches, *self.connections]
        led = [f"assignors/clients/{program}.jsonl" for program in self.groups_led]
        lived = [f"groups/lives-{self.lives}.jsonl"] if self.lives else []
        return [*self.writes, *asked, *placed, *led, *self.scripts, *lived, *answered]


CLIENTS = (
    Client(
        "java",
        build_java,
        "partwright.ClientAnswers",
        {
            "hashing.json": "partwright.HashingVectors",
            "text_forms.json": "partwright.TextVectors",
            "assignors/java_order.json": "partwright.OrderVectors",
            "assignors/java_partition_order.json": "partwright.PartitionOrderVectors",
            "assignors/votes.json": "partwright.VoteVectors",
            "strategies/metadata_order.json": "partwright.MetadataOrderVectors",
            "strategies/draws.json": "partwright.DrawVectors",
        },
        {
            "assignors/client.jsonl": "partwright.AssignorAnswers",
            "assignors/server.jsonl": "partwright.ServerAnswers",
        },
        {"strategies/client.jsonl": "partwright.StrategyAnswers"},
        {"batching/client.jsonl": "partwright.BatchAnswers"},
        {"connection/client.jsonl": connection.PROGRAM},
        ("striped", "names"),
        {f"groups/{kind}.jsonl": kind for kind in coordinator.KINDS},
    ),
    *(
        Client(f"lives-{kind}", partial(lives.build, kafka=kind.partition("-")[2]), lives=kind)
        for kind in lives.GOLDEN
    ),
    *(
        Client(
            f"kafka-{kafka}",
            partial(build_java, kafka=kafka),
            writes=writes,
            groups={f"assignors/{name}.jsonl": f"partwright.{program}" for name, program in groups.items()},
            producers={
                f"strategies/{name}.jsonl": f"partwright.{program}" for name, program in producers.items()
            },
            batches={f"batching/{name}.jsonl": f"partwright.{program}" for name, program in batches.items()},
            placements=("admin-utils", "explicit", "generate") if kafka == "3.9" else (),
        )
        for kafka, groups, producers, writes, batches in [
            (
                "3.9",
                {},
                {"client-3.9": "v3_9.StrategyAnswers"},
                {},
                {"client-3.9": "v3_9.BatchAnswers"},
            ),
            (
                "2.8",
                {"client-2.8": "v2_8.StickyAnswers"},
                {"client-2.8": "v2_8.StrategyAnswers"},
                {"strategies/metadata_order-2.8.json": "partwright.v2_8.MetadataOrderVectors"},
                {"client-2.8": "v2_8.BatchAnswers"},
            ),
            ("2.3", {"client-2.3": "v2_3.StickyAnswers"}, {"client-2.3": "v2_3.StrategyAnswers"}, {}, {}),
            ("0.10", {"old": "v0_10.ThreadAnswers"}, {}, {}, {}),
            ("0.8", {}, {"old": "v0_8.StrategyAnswers"}, {}, {}),
        ]
    ),
    Client("librdkafka", build_python, "librdkafka", assignors=True),
    Client("sarama", build_go, "sarama", groups_led=("sarama", "sarama-1.27")),
    Client("kafka-go", build_go, "kafka-go", groups_led=("kafka-go",)),
    Client("franz-go", build_go, "franz-go", groups_led=("franz-go",)),
    *(
        Client(name, partial(build_go, modules=name), groups_led=(name,))
        for name in ("franz-go-1.21", "franz-go-1.20")
    ),
    Client("kafkajs", build_node, "kafkajs", groups_led=("kafkajs",)),
    Client("kafka-python", build_python, "kafka-python", assignors=True),
    Client("aiokafka", build_python, "aiokafka", assignors=True),
)


def build(clients: Sequence[Client], folder: Path) -> Iterator[tuple[Client, list[str]]]:
    """Each client with the command of its runtime, which is built once, when its first client's turn comes."""
    built: dict[Build, list[str]] = {}
    for client in clients:
        if client.build not in built:
            built[client.build] = list(client.build(folder))
        yield client, built[client.build]


def generate(client: Client, command: Sequence[str], folder: Path) -> None:
    """Lets a client write its golden files into a folder."""
    for name in client.files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    for name, program in client.writes.items():
        run([*command, program, str(folder / name)])
    asked = [
        (assignors, client.groups),
        (strategies, client.producers),
        (batching, client.batches),
        (connection, client.connections),
    ]
    for asking, programs in asked:
        for name, program in programs.items():
            (folder / name).write_text(asking.golden([*command, program]), encoding="ascii")
    if client.assignors:
        (folder / "assignors" / "clients" / f"{client.name}.jsonl").write_text(
            assignors.client_golden(client.name, folder), encoding="ascii"
        )
    for name in client.placements:
        answered = placements.golden([*command, placements.program(name).name], name)
        (folder / "placement" / f"{name}.jsonl").write_text(answered, encoding="ascii")
    for program in client.groups_led:
        answered = client_groups.golden(client_groups.command(command, program), program)
        (folder / "assignors" / "clients" / f"{program}.jsonl").write_text(answered, encoding="ascii")
    _generate_groups(client, command, folder)
    if client.answers:
        (folder / "clients" / f"{client.name}.json").write_text(
            golden([*command, client.answers]), encoding="ascii"
        )


def _generate_groups(client: Client, command: Sequence[str], folder: Path) -> None:
    """The golden files about groups: of requests to their coordinator, and of whole consumers."""
    for name, kind in client.scripts.items():
        said = coordinator.golden([*command, coordinator.PROGRAM], kind)
        (folder / name).write_text(said, encoding="ascii")
    if client.lives:
        said = lives.golden(command, client.lives)
        (folder / "groups" / f"lives-{client.lives}.jsonl").write_text(said, encoding="ascii")


def differences(name: str, fresh: Path, kept: Path) -> str:
    """The difference between two versions of a golden file, for people; empty if they are equal."""
    said = fresh.read_text(encoding="utf-8")
    if not kept.is_file():
        return f"{name} is not there yet; the client writes {len(said.splitlines())} lines.\n"
    recorded = kept.read_text(encoding="utf-8")
    if recorded == said:
        return ""
    diff = [
        line
        for line in difflib.unified_diff(recorded.splitlines(), said.splitlines(), n=0, lineterm="")
        if not line.startswith(("---", "+++", "@@"))
    ]
    shown = [line if len(line) <= SHOWN_WIDTH else f"{line[:SHOWN_WIDTH]}…" for line in diff[:SHOWN_LINES]]
    left = len(diff) - len(shown)
    summary = f"{name} differs from what the client says now in {len(diff)} lines (- recorded, + the client):"
    return "\n".join([summary, *shown, *([f"… and {left} lines more"] if left else []), ""])


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description="Ask the real clients for the golden files again.")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="compare with tests/golden; the default")
    mode.add_argument("--write", action="store_true", help="write tests/golden")
    mode.add_argument("--build", type=Path, metavar="DIR", help="build into a folder, print the commands")
    names = [client.name for client in CLIENTS]
    parser.add_argument("--client", action="append", choices=names, help="only this client; may be repeated")
    chosen = parser.parse_args(arguments)
    clients = [client for client in CLIENTS if not chosen.client or client.name in chosen.client]
    try:
        if chosen.build:
            chosen.build.mkdir(parents=True, exist_ok=True)
            asked = [client for client in clients if client.answers]
            for client, command in build(asked, chosen.build.resolve()):
                sys.stdout.write(f"{json.dumps([*command, client.answers])}\n")
            return 0
        return _compare(clients, write=chosen.write)
    except CannotAskError as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _compare(clients: Sequence[Client], *, write: bool) -> int:
    found: list[str] = []
    equal: list[str] = []
    with tempfile.TemporaryDirectory(prefix="partwright-golden-") as folder:
        work = Path(folder) / "work"
        fresh = Path(folder) / "golden"
        work.mkdir()
        fresh.mkdir()
        for client, command in build(clients, work):
            generate(client, command, fresh)
            for name in client.files():
                difference = differences(name, fresh / name, GOLDEN / name)
                (found if difference else equal).append(difference or name)
                if write and difference:
                    (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(fresh / name, GOLDEN / name)
    sys.stdout.writelines(found)
    sys.stdout.writelines(f"{name}: the client says the same\n" for name in equal)
    if found and write:
        sys.stdout.write(f"Written to {GOLDEN}.\n")
    return 1 if found and not write else 0


if __name__ == "__main__":
    sys.exit(main())

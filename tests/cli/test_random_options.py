"""Random options for every command, good and odd ones: an answer or one sentence, never a traceback, never long.

The commands and their options are those of click's tree, so a new one takes part by itself. No Java is found, so
nothing starts Spark or a broker, and no Kafka answers at the addresses.
"""

from __future__ import annotations

import json
import random
import re
import shlex
import shutil
from typing import TYPE_CHECKING, Any

import click
import fastavro
import pyarrow as pa
import pytest
from command_inputs import CLUSTER, GROUP, MANIFEST, MEMBERS, REPLAY, SCENARIO, SCRIPT
from limited import limited_commands
from pyarrow import feather, parquet

from partwright.cli import partwright

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Command = tuple[tuple[str, ...], click.Command]

# More than a command may take beyond the libraries that are loaded before it.
MIB, SECONDS = 900, 30
NO_JAVA = {"JAVA_HOME": "/nowhere", "PATH": "/nowhere", "PARTWRIGHT_STATE": "state"}
KAFKA = "127.0.0.1:1"
ROWS = [
    {"k": "a", "p": 0, "o": 0, "t": 1, "s": 9, "f": 0.5},
    {"k": None, "p": 1, "o": 0, "t": 2, "s": 0, "f": None},
    {"k": "ü b", "p": 2, "o": 1, "t": 4, "s": 70_000, "f": -1.0},
]
TABLES = ("r.csv", "r.jsonl", "r.parquet", "r.arrow", "r.avro", "r.csv.gz", "empty", "latin.csv", "inbox")
JSON = {"group.json": GROUP, "script.json": SCRIPT, "scenario.json": SCENARIO, "replay.json": REPLAY}
JSON |= {"cluster.json": CLUSTER, "manifest.json": MANIFEST, "list.json": [], "deep.json": [[[{}]]]}
FILES = (*TABLES, *JSON, "members.txt", "kafka.properties")

GOOD: dict[str, tuple[object, ...]] = {
    "--key": ("k",),
    "--key-b": ("k", "s"),
    "--partition": ("p",),
    "--partition-b": ("p",),
    "--offset": ("o",),
    "--size": ("s",),
    "--time": ("t",),
    "--timestamp": ("t",),
    "--value": ("k", "s"),
    "--key-type": ("utf8", "bytes", "java:long", "digits", "java:uuid", "java:double"),
    "--client": ("java", "sarama", "franz-go", "librdkafka", "kafka-python"),
    "--strategy": ("sticky", "round-robin", "default@2.8", "random"),
    "--assignor": ("range", "sticky", "cooperative-sticky", "uniform", "sarama/sticky", "old-range"),
    "--protocol": ("classic", "consumer"),
    "--format": ("csv", "json", "parquet"),
    "--topic": ("t=3", "u=2", "t", f"kafka://{KAFKA}/t"),
    "--topics": ("t=3", "t=3,u=1"),
    "--leader": ("c", "a"),
    "--events": ("+2", "a+ 5s b+ 9s a-", "+3, 1m -1"),
    "--config": ("session.timeout.ms=45000", "group.protocol=consumer", "max.poll.interval.ms=1"),
    "--producer-property": ("linger.ms=5", "batch.size=16384", "compression.type=zstd"),
    "-X": ("client.id=x", "security.protocol=SSL", "sasl.mechanism=PLAIN"),
    "--command-config": ("kafka.properties",),
    "--from-config": ("kafka.properties",),
    "--to-config": ("kafka.properties",),
    "--topic-config": ("cleanup.policy=compact", "retention.ms=1"),
    "--since": ("2026-01-01", "2026-01-01T00:00:00Z", "1767225600000"),
    "--until": ("2026-01-02", "1767225600001"),
    "--only-partitions": ("0", "0,2-3"),
    "--from-offsets": ("0:1",),
    "--to-offsets": ("0:2,1:5",),
    "--sizes": ("cluster.json", "sizes.json"),
    "--plan": ("plan",),
    "--out": ("out", "out.csv", "out.parquet", "r.csv"),
    "--report": ("report.html",),
    "--plot": ("plot.svg",),
    "--to": (f"kafka://{KAFKA}", "parquet:out"),
    "--broker": (KAFKA,),
    "--servers": (KAFKA,),
    "--bootstrap": (KAFKA,),
    "--brokers": ("0,1", 2, 3),
    "--add": ("2", "2-4"),
    "--remove": ("1",),
    "--replication-factor": (1, 2, "t=2"),
    "--power": ("0=2", "1,2"),
    "--disks": ("0=1TB",),
    "--throttle": ("10MB",),
    "--max-bytes": ("1GB",),
    "--within": ("5%",),
    "--max-share": ("50%",),
    "--min-used": ("50%",),
    "--slow": ("0=50",),
    "--latency-ms": ("2", "1-5"),
    "--manifest": ("manifest.json",),
    "--max-surge": ("1", "25%"),
    "--max-unavailable": ("0", "25%"),
    "--kind": ("deployment", "statefulset"),
    "--start": ("5s", "2s-9s"),
    "--ready": ("1s",),
    "--grace": ("30s",),
    "--poll": ("100ms",),
    "--latency": ("5ms",),
    "--plays": (1, 2),
    "--time-limit": (1, 2),
    "--timeout": (1,),
    "--rack": ("a,b", "a"),
    "--race": ("0", "0.5"),
    "--order": ("offset", "time"),
    "--replica-assignment": ("0:1,1:0",),
    "--checkpoint": ("checkpoint",),
    "--state": ("ledger",),
    "--only-keys-file": ("r.csv",),
    "--dedupe": ("twice.csv",),
    "--group": ("g",),
    "--security": ("sasl_ssl", "none"),
    "--delimiter": (",", ";", "\t"),
}
"""Values that an option understands; the others get numbers and words."""
NUMBERS = (1, 2, 3, 3, 12)
# None takes long where it is good.
ODD_NUMBERS = (
    "-1",
    "0",
    "-0",
    "1.5",
    "1e3",
    "NaN",
    "inf",
    "-inf",
    "1e400",
    "0x10",
    "1_000",
    " 7",
    "٣",
    "7.0",
)
ODD_NUMBERS += tuple(str(2**power + more) for power in (31, 32, 63, 64) for more in (-1, 0))
ODD_WORDS = (
    "",
    " ",
    "-",
    "--",
    ".",
    "..",
    "/",
    "=",
    ",",
    ":",
    "a=",
    "=b",
    "a=b=c",
    "ü",
    "🙂",
    "t=0",
    "t=-1",
    "t=x",
)
ODD_WORDS += (
    "t=1,t=2",
    "k,k",
    "0-",
    "-0",
    "5-1",
    "%",
    "%s",
    "{}",
    "{0}",
    "x" * 3000,
    "a\nb",
    "\ta",
    "'\"",
    "\\",
    "*",
)
ODD_WORDS += (
    "\udcff",
    "null",
    "None",
    "true",
    "[]",
    "nowhere",
    "nowhere/x",
    "empty",
    "inbox",
    "/dev/null",
    "r.csv/x",
)
ODD_WORDS += (
    "kafka://",
    "kafka:///t",
    f"kafka://{KAFKA}",
    "kafka://:0/t",
    "kafka://[::1]:1/t",
    "s3://b/k",
    "file:x",
)
ODD_WORDS += (
    "http://127.0.0.1:1/x",
    "parquet:",
    "parquet:r.csv",
    "1..0",
    "1s-",
    "-5s",
    "5 s",
    "2026-13-01",
    "5%%",
)

BASES: dict[tuple[str, ...], tuple[str, ...]] = {
    ("advise",): ("100", "100 --produce 10 --consume 5", ""),
    ("assign",): ("group.json", "members.txt --topics t=3", f"kafka://{KAFKA} --group g"),
    ("batch",): ("scenario.json", "TABLE -n 3 --time t --size s", "TABLE -n 3 --time t --value k --key k"),
    ("broker", "add"): ("",),
    ("broker", "kill"): ("0",),
    ("broker", "start"): ("", "0"),
    ("broker", "stop"): ("", "0"),
    ("broker", "topic"): ("t -n 3",),
    ("check",): ("TABLE --key k -n 3 --partition p", "TABLE TABLE --key k -n 3", f"kafka://{KAFKA}/t"),
    ("coordinator",): ("g", f"g --broker {KAFKA}"),
    ("copartition",): ("TABLE TABLE --key k --partition p -n 3", f"TABLE kafka://{KAFKA}/t --key k --partition p"),
    ("doctor",): (f"kafka://{KAFKA}", "--spark local", ""),
    ("fingerprint",): ("TABLE --key k --partition p", f"kafka://{KAFKA}/t"),
    ("group",): ("script.json", "--events +2 --topic t=3"),
    ("migrate",): (f"kafka://{KAFKA}/a kafka://{KAFKA}/b -n 3", f"kafka://{KAFKA}/a kafka://[::1]:1/a -n 3"),
    ("place",): ("r.csv --key k -n 3 --out out.csv", "TABLE --key k -n 3", "TABLE TABLE --key k -n 3 --in-place"),
    ("reassign",): ("cluster.json --add 2", "cluster.json --remove 1", f"kafka://{KAFKA} --add 2"),
    ("resize",): ("TABLE --key k --from 3 --to 4", "TABLE --key k --partition p --offset o --from 3 --to 4 --plan"),
    ("rollout",): ("--topic t=3 --replicas 2 --plays 1", "--topic t=3 --manifest manifest.json --plays 1"),
    ("run",): (f"TABLE --key k --topic t --to kafka://{KAFKA}", "TABLE --key k --to parquet:out"),
    ("stream",): (f"TABLE --key k --topic t --to kafka://{KAFKA} --checkpoint c", f"kafka://{KAFKA}/t --to kafka://{KAFKA}"),
    ("strategy",): ("replay.json",),
    ("which",): ("a -n 3", f"a --topic kafka://{KAFKA}/t", "a"),
}  # fmt: skip
"""Command lines from which the random ones are made; a new command's are made of its arguments alone."""


def leaves(command: click.Command, names: tuple[str, ...] = ()) -> Iterator[Command]:
    if not isinstance(command, click.Group):
        yield names, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        inside = command.get_command(context, name)
        assert inside is not None
        yield from leaves(inside, (*names, name))


COMMANDS = dict(leaves(partwright))


def base(names: tuple[str, ...], command: click.Command, rng: random.Random) -> list[str]:
    lines = BASES.get(names) or BASES.get(names[:1])
    if lines is None:
        arguments = [each for each in command.params if isinstance(each, click.Argument)]
        lines = (" ".join("TABLE" for _ in arguments),)
    return [rng.choice(TABLES) if word == "TABLE" else word for word in rng.choice(lines).split()]


def value(option: click.Option, name: str, rng: random.Random) -> str:
    if rng.random() < 0.75:
        pool = GOOD.get(name) or getattr(option.type, "choices", None) or NUMBERS
    else:
        pool = rng.choice((ODD_NUMBERS, ODD_WORDS, FILES))
    return str(rng.choice(tuple(pool)))


def with_option(words: list[str], command: click.Command, rng: random.Random) -> None:
    """Adds an option: mostly as it is meant, else twice, without a value, or misspelt."""
    option = rng.choice([each for each in command.params if isinstance(each, click.Option)])
    name = rng.choice([*option.opts, *option.secondary_opts])
    way = rng.random()
    if option.is_flag:
        words += [name] if way < 0.9 else [f"{name}=1"]
        return
    given = value(option, name, rng)
    if way < 0.75:
        words += [name, given]
    elif way < 0.85:
        words += [f"{name}={given}"] if name.startswith("--") else [f"{name}{given}"]
    elif way < 0.93:
        words += [name, given, name, value(option, name, rng)]
    elif way < 0.97:
        words += [name]
    else:
        words += [f"{name}x", given]


def command_line(names: tuple[str, ...], command: click.Command, rng: random.Random) -> list[str]:
    words = base(names, command, rng)
    if words and rng.random() < 0.1:
        words[rng.randrange(len(words))] = rng.choice((*ODD_WORDS, *ODD_NUMBERS, *FILES))
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
        with_option(words, command, rng)
    # A NUL cannot stand in a command line, and a byte that is not UTF-8 comes as this.
    return [*names, *words]


def state(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file and folder, with what changes if it is written."""
    every = ((each, each.lstat()) for each in folder.rglob("*"))
    return {str(each): (about.st_mtime_ns, about.st_size) for each, about in every}


def empty(folder: Path) -> None:
    for old in folder.iterdir():
        shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()


def write_inputs(folder: Path) -> None:
    """The files that command lines name."""
    for name, question in JSON.items():
        (folder / name).write_text(json.dumps(question), encoding="utf-8")
    (folder / "members.txt").write_text(MEMBERS.replace("evilmod.X", "t"), encoding="utf-8")
    (folder / "kafka.properties").write_text("client.id=x\nsecurity.protocol=PLAINTEXT\n", encoding="utf-8")
    (folder / "empty").touch()
    (folder / "latin.csv").write_bytes(b"k,p\n\xfc,0\n")
    (folder / "r.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    lines = [",".join("" if each is None else str(each) for each in row.values()) for row in ROWS]
    (folder / "r.csv").write_text("\n".join([",".join(ROWS[0]), *lines, ""]), encoding="utf-8")
    table = pa.Table.from_pylist(ROWS)
    with pa.CompressedOutputStream(folder / "r.csv.gz", "gzip") as packed:
        packed.write((folder / "r.csv").read_bytes())
    parquet.write_table(table, folder / "r.parquet")
    feather.write_feather(table, folder / "r.arrow", compression="uncompressed")
    types = {"k": "string", "p": "int", "o": "long", "t": "long", "s": "long", "f": "double"}
    fields = [{"name": name, "type": ["null", type_]} for name, type_ in types.items()]
    with (folder / "r.avro").open("wb") as file:
        fastavro.writer(file, {"type": "record", "name": "r", "fields": fields}, ROWS)
    (folder / "inbox").mkdir()
    shutil.copy(folder / "r.csv", folder / "inbox" / "a.csv")


# What a command says before its sentence, of options that it takes in a way that may surprise.
NOTE = re.compile("not used, |--(?:since|until) -?[0-9]+ is in milliseconds: ")
WRONG = re.compile(r"Traceback|panicked|Warning|\bErrno\b|<class|object at 0x|^\w+Error\b", re.MULTILINE)


def faults(cost: dict[str, Any]) -> list[str]:
    """What is wrong with how a command ended."""
    text = cost["stderr"]
    wrong = [] if cost["code"] in {0, 1, 2} else [f"exit code {cost['code']}"]
    wrong += [f"says {found[0]!r}" for found in WRONG.finditer(text)]
    if cost["code"] == 2 and not text.startswith("Usage: "):
        lines = [line for line in text.splitlines() if not NOTE.match(line)]
        wrong += ["not one sentence"] * (len(lines) != 1 or not lines[0].startswith("partwright: "))
    wrong += [f"takes {cost['mib']} MiB"] * (cost["mib"] > MIB)
    wrong += [f"takes {cost['seconds']:.0f} s"] * (cost["seconds"] > SECONDS)
    return wrong


def look_for_faults(names: tuple[str, ...], folder: Path, seed: int, count: int) -> None:
    folder.mkdir()
    codes: dict[int, int] = {}
    wrong = []
    whole = None
    with limited_commands(folder, **NO_JAVA) as run:
        for case in range(count):
            words = command_line(names, COMMANDS[names], random.Random(f"{seed} {names} {case}"))
            # No command finds what an earlier one wrote.
            if state(folder) != whole:
                empty(folder)
                write_inputs(folder)
                whole = state(folder)
            cost = run(words)
            codes[cost["code"]] = codes.get(cost["code"], 0) + 1
            if found := faults(cost):
                wrong.append(f"case {case}: partwright {shlex.join(words)}\n  {found}\n  {cost['stderr']}")
    print(f"{seed=} {names}: {codes}")  # noqa: T201 - for a failure
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_a_command_with_a_few_random_options(names: tuple[str, ...], tmp_path: Path, seed: int) -> None:
    look_for_faults(names, tmp_path / "run", seed, 4)


@pytest.mark.long
@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_a_command_with_random_options(
    names: tuple[str, ...], tmp_path: Path, seed: int, cases: Callable[[int], int]
) -> None:
    look_for_faults(names, tmp_path / "run", seed, cases(300))

"""How the command starts: its imports, which take most of a short answer's time, and what interrupts it meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from partwright import cli

# Packages that take longer to import than everything else in such a command.
HEAVY = {"pyarrow", "numpy", "rich", "pandas", "polars", "pyspark", "confluent_kafka", "filelock", "asyncio"}
MOST_MODULES = 190
"""Those of Python and click included: 131 to 175 on Python 3.11. pyarrow alone would bring 300 more."""

COUNT = """
import sys
before = set(sys.modules)
from partwright.__main__ import main
sys.argv[1:] = {words!r}
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
finally:
    found = {{name.split(".")[0] for name in sys.modules}} & {heavy!r}
    print(sorted(found), len(sys.modules), file=sys.stderr)
"""


def imported(*words: str, **environment: str) -> tuple[str, int]:
    """The heavy packages that a command imports, and the number of all modules."""
    script = COUNT.format(words=list(words), heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    heavy, _, count = done.stderr.strip().splitlines()[-1].rpartition(" ")
    return heavy, int(count)


@pytest.mark.parametrize(
    "words",
    [
        ["which", "TT0124", "-n", "15"],
        ["which", "TT0124", "-n", "15", "--json"],
        ["which", "ключ", "-n", "15", "--client", "librdkafka", "--key-type", "java:string"],
        ["which", "0a0b", "--hex", "-n", "15"],
        ["which", "--null", "-n", "15"],
        ["coordinator", "billing"],
        ["--help"],
        ["--version"],
        *([name, "--help"] for name in cli.command_names()),
        ["broker", "start", "--help"],
        ["migrate", "plan", "--help"],
    ],
    ids=" ".join,
)
def test_a_short_answer_imports_nothing_heavy(words: list[str]) -> None:
    heavy, count = imported(*words)
    assert heavy == "[]"
    assert count < MOST_MODULES


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("which a --client sar", "sarama:crc32"),
        ("which a --key-type java:l", "java:long"),
        ("batch --strategy stick", "sticky@2.4"),
        ("assign x --assignor coop", "cooperative-sticky"),
        ("fing", "fingerprint"),
    ],
)
def test_completion_imports_nothing_heavy(typed: str, named: str) -> None:
    script = COUNT.format(words=[], heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "_PARTWRIGHT_COMPLETE": "bash_complete",
            "COMP_WORDS": f"partwright {typed}",
            "COMP_CWORD": str(len(typed.split())),
        },
    )
    assert named in done.stdout, done.stderr
    assert done.stderr.startswith("[] ")
    assert int(done.stderr.split()[-1]) < MOST_MODULES


INTERRUPT = """
import os, signal, sys
class Interrupt:
    def find_spec(self, name, *_):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
sys.argv[1:] = ["which", "42", "--key-type", "java:long", "-n", "12"]
from partwright.__main__ import main
main()
"""


@pytest.mark.parametrize(
    "module", ["click", "partwright.cli", "partwright.cli.commands.which", "pyarrow", "pyarrow.lib", "numpy"]
)
def test_an_interrupt_while_it_imports_leaves_no_traceback(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT.format(module=module)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {-signal.SIGINT, 130}
    assert (done.stdout, done.stderr.lstrip("\n")) in {("", ""), ("", "partwright: interrupted\n")}


def test_an_interrupt_before_the_command_needs_no_import_but_this() -> None:
    """Only imports before the command can be interrupted may still show a traceback."""
    script = "import sys, signal, threading; before = set(sys.modules); import partwright.__main__"
    show = "print(sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-c", f"{script}; {show}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['__future__', 'partwright', 'partwright.__main__']"

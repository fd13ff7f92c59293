"""The output of `make` on a machine that lacks something: one sentence with what to install, and exit code 2."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="make and sh are not there on Windows")

REPOSITORY = Path(__file__).resolve().parents[2]
# The programs that the script calls, apart from the tools that it looks for.
POSIX_TOOLS = ("sh", "dirname", "sed", "head", "tail", "grep", "mkdir", "cp")
INSTALLING = "Installing the locked versions into .venv"

# Fake tools by name: what each does on a machine that has all it needs. There is no network.
MACHINE = {
    "python3": 'case $1 in -m) mkdir -p .venv/bin; cp "$0.venv" .venv/bin/python ;; esac',
    "cargo": 'case $1 in --version) echo "cargo 1.95.0 (f2d3ce0bd 2026-03-21)" ;; esac',
    "rustup": "exit 1",
    "cc": "exit 0",
    "java": "echo 'openjdk version \"17.0.15\" 2025-04-15' >&2",
    # The program that becomes .venv/bin/python.
    "python3.venv": "exit 0",
}
OLD_PYTHON = 'case $1 in --version) echo "Python 3.10.13" ;; *) exit 1 ;; esac'


def says_version(text: str) -> str:
    return f"echo 'openjdk version \"{text}\" 2025-04-15' >&2"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of all files that the script reads, in a folder whose name is easily broken."""
    folder = tmp_path / "a clone ü"
    (folder / "tools").mkdir(parents=True)
    for name in ("tools/setup.sh", "pyproject.toml", "Cargo.toml", "rust-toolchain.toml"):
        shutil.copyfile(REPOSITORY / name, folder / name)
    return folder


def run(
    clone: Path,
    changes: Mapping[str, str | None],
    arguments: tuple[str, ...] = (),
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs the script with only the fake tools, changed like this (None: the tool is missing)."""
    tools = clone.parent / "path"
    tools.mkdir()
    for name in POSIX_TOOLS:
        found = shutil.which(name)
        assert found is not None, name
        (tools / name).symlink_to(found)
    for name, body in {**MACHINE, **changes}.items():
        if body is not None:
            (tools / name).write_text(f"#!/bin/sh\n{body}\n")
            (tools / name).chmod(0o755)
    return subprocess.run(
        [tools / "sh", clone / "tools" / "setup.sh", *arguments],
        env={"PATH": str(tools), **(environment or {})},
        cwd=clone.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_machine_that_has_everything_is_only_looked_at(clone: Path) -> None:
    done = run(clone, {}, ("--check",))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (clone / ".venv").exists()


def test_a_machine_that_has_everything_is_set_up(clone: Path) -> None:
    done = run(clone, {})
    assert done.returncode == 0
    assert done.stdout == ""
    assert done.stderr.startswith(INSTALLING)
    assert (clone / ".venv" / "bin" / "python").is_file()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        pytest.param(
            {"python3": None}, "Python 3.11 or later was not found on PATH: install it", id="no Python"
        ),
        pytest.param({"python3": OLD_PYTHON}, "PATH, only Python 3.10.13: install it", id="old Python"),
        pytest.param(
            {"cargo": None}, "Rust (cargo) was not found on PATH: install Rust with rustup", id="no Rust"
        ),
        pytest.param(
            {"cargo": "echo 'cargo 1.63.0'"}, "is version 1.63: install Rust with rustup", id="old Rust"
        ),
        pytest.param({"cargo": "echo nothing"}, "is version unknown: install Rust", id="odd Rust"),
        pytest.param({"cargo": "exit 1"}, "could not be had: rustup needs the network", id="no toolchain"),
        pytest.param({"cc": None}, "A C compiler (cc) was not found on PATH", id="no linker"),
        pytest.param(
            {"java": None}, "Java was not found, neither by JAVA_HOME nor on PATH: install", id="no Java"
        ),
        pytest.param({"java": "exit 1"}, "but no Java that runs: install a JDK 17", id="macOS' stub"),
        pytest.param(
            {"java": says_version("1.8.0_392")}, "is Java 8, which is too old: install a JDK 17", id="Java 8"
        ),
        pytest.param(
            {"java": says_version("11.0.2")}, "is Java 11, which is too old: install a JDK 17", id="Java 11"
        ),
        pytest.param(
            {"java": "echo hello"}, "does not say which version of Java it is: install", id="odd Java"
        ),
    ],
)
@pytest.mark.parametrize("arguments", [(), ("--check",)], ids=["set-up", "check"])
def test_what_is_missing_is_one_sentence(
    clone: Path, changes: dict[str, str | None], sentence: str, arguments: tuple[str, ...]
) -> None:
    done = run(clone, changes, arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert sentence in done.stderr
    assert done.stderr.startswith("partwright: ")
    assert done.stderr.count("\n") == 1
    assert not (clone / ".venv").exists()


@pytest.mark.parametrize("version", ["17", "17.0.15", "21-ea", "25.0.1+8", "100"])
def test_any_java_from_17_on_will_do(clone: Path, version: str) -> None:
    assert run(clone, {"java": says_version(version)}, ("--check",)).returncode == 0


def test_options_that_java_echoes_do_not_hide_its_version(clone: Path) -> None:
    java = f"echo 'Picked up JAVA_TOOL_OPTIONS: -Dversion=8' >&2; {says_version('21.0.1')}"
    assert run(clone, {"java": java}, ("--check",)).returncode == 0


def test_a_later_python_is_found_beside_an_old_python3(clone: Path) -> None:
    assert run(clone, {"python3": OLD_PYTHON, "python3.13": "exit 0"}, ("--check",)).returncode == 0


def test_java_home_goes_before_the_path(clone: Path) -> None:
    home = clone.parent / "jdk 8"
    (home / "bin").mkdir(parents=True)
    java = home / "bin" / "java"
    java.write_text(f"#!/bin/sh\n{says_version('1.8.0_392')}\n")
    java.chmod(0o755)
    done = run(clone, {}, ("--check",), {"JAVA_HOME": str(home)})
    assert done.returncode == 2
    assert f"{java} is Java 8" in done.stderr


def test_a_java_home_without_java_is_refused(clone: Path) -> None:
    done = run(clone, {}, ("--check",), {"JAVA_HOME": "/nowhere"})
    assert done.returncode == 2
    assert "JAVA_HOME is /nowhere, where there is no bin/java: correct it, or install a JDK 17" in done.stderr


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        pytest.param(
            {"python3": 'case $1 in -m) echo "ensurepip is not available"; exit 1 ;; esac'},
            "cannot make a virtual environment: install its venv module (Debian: apt-get install python3-venv)",
            id="no venv module",
        ),
        pytest.param(
            {"python3": 'case $1 in -m) echo "Permission denied: .venv"; exit 1 ;; esac'},
            "could not make the virtual environment .venv: Permission denied: .venv",
            id="read-only folder",
        ),
        pytest.param(
            {"python3.venv": "echo 'a long traceback' >&2; exit 1"},
            "could not be installed: the first set-up needs the network to reach PyPI",
            id="no network, pip",
        ),
        pytest.param(
            {"python3.venv": 'case $* in *sync*) echo "error: dns" >&2; exit 2 ;; esac'},
            "The locked Python packages could not be installed: the first set-up needs the network to reach PyPI",
            id="no network, uv",
        ),
        pytest.param(
            {
                "cargo": 'case $1 in --version) echo "cargo 1.95.0" ;; *) echo "Caused by: dns" >&2; exit 101 ;; esac'
            },
            "The locked Rust crates could not be installed: the first set-up needs the network to reach crates.io",
            id="no network, cargo",
        ),
        pytest.param(
            {"python3.venv": "echo 'OSError: [Errno 28] No space left on device' >&2; exit 1"},
            "for the disk is full: make room",
            id="full disk",
        ),
    ],
)
def test_what_cannot_be_installed_is_one_sentence(
    clone: Path, changes: dict[str, str | None], sentence: str
) -> None:
    done = run(clone, changes)
    refusals = [line for line in done.stderr.splitlines() if not line.startswith(INSTALLING)]
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(refusals) == 1
    assert refusals[0].startswith("partwright: ")
    assert sentence in refusals[0]

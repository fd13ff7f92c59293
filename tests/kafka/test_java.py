"""Which Java is used, and how each unusable one is refused."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from partwright.errors import MissingExtraError
from partwright.kafka.java import java_command, java_major_version

if TYPE_CHECKING:
    from pathlib import Path


def fake_java(folder: Path, says: str, code: int = 0) -> Path:
    """A `java` that prints something on stderr, where Java prints its version."""
    folder.mkdir(parents=True)
    java = folder / "java"
    java.write_text(f"#!/bin/sh\nprintf '%s\\n' {shlex.quote(says)} >&2\nexit {code}\n")
    java.chmod(0o755)
    return java


@pytest.fixture(autouse=True)
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without Java; `sh` is named by its path in the scripts."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))


@pytest.mark.parametrize(
    ("version", "major"),
    [
        ("1.8.0_392", 8),
        ("1.7.0", 7),
        ("9", 9),
        ("11.0.2", 11),
        ("17", 17),
        ("17.0.15", 17),
        ("21-ea", 21),
        ("25", 25),
        ("25.0.1+8", 25),
        ("100.1", 100),
        ("", None),
        ("ea", None),
        ("seventeen", None),
    ],
)
def test_the_major_version_is_read_from_every_form(version: str, major: int | None) -> None:
    assert java_major_version(version) == major


@pytest.mark.parametrize("version", ["17", "17.0.15", "21-ea", "25"])
def test_the_java_on_the_path_is_taken(tmp_path: Path, version: str) -> None:
    java = fake_java(tmp_path / "path", f'openjdk version "{version}" 2025-04-15')
    assert java_command() == java


def test_java_home_wins_over_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path / "path", 'openjdk version "17.0.1"')
    java = fake_java(tmp_path / "home" / "bin", 'openjdk version "21.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert java_command() == java


def test_options_from_the_environment_are_no_version(tmp_path: Path) -> None:
    java = fake_java(
        tmp_path / "path", 'Picked up JAVA_TOOL_OPTIONS: -Dx="1.8"\nopenjdk version "17.0.15" 2025-04-15'
    )
    assert java_command() == java


def test_no_java_says_what_to_install() -> None:
    with pytest.raises(
        MissingExtraError, match=r"^Java was not found.*apt-get install openjdk-17-jdk-headless"
    ):
        java_command()


def test_an_old_java_is_named_with_its_version_and_path(tmp_path: Path) -> None:
    java = fake_java(tmp_path / "path", 'openjdk version "11.0.2" 2019-01-15')
    with pytest.raises(
        MissingExtraError, match=r"is Java 11\.0\.2, which is too old.*17 or later"
    ) as refusal:
        java_command()
    assert str(refusal.value).startswith(f"{java} (on PATH) ")


def test_an_old_java_of_java_home_is_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path / "path", 'openjdk version "17.0.1"')
    fake_java(tmp_path / "home" / "bin", 'java version "1.8.0_392"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    with pytest.raises(MissingExtraError, match=r"\(by JAVA_HOME\) is Java 1\.8\.0_392"):
        java_command()


def test_a_java_home_without_java_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MissingExtraError, match=r"^JAVA_HOME is .*, where there is no bin/java"):
        java_command()


@pytest.mark.parametrize(
    ("says", "quoted"),
    [
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", "Unable to locate"),
        ('openjdk version "none"', "openjdk version"),
        ("", "'nothing'"),
    ],
)
def test_a_java_without_a_version_is_quoted(tmp_path: Path, says: str, quoted: str) -> None:
    fake_java(tmp_path / "path", says, code=1)
    with pytest.raises(MissingExtraError, match=f"names no Java version, but says .*{quoted}"):
        java_command()


def test_a_java_that_cannot_be_run_is_named(tmp_path: Path) -> None:
    java = fake_java(tmp_path / "path", "")
    java.write_bytes(b"\x7fELF, but not really")
    with pytest.raises(MissingExtraError, match=r"java cannot be run \(.*\): install a JDK"):
        java_command()

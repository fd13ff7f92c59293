"""The note of the last run: complete or absent, readable only by the user, and a sentence if it is damaged."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from partwright.errors import PartwrightError
from partwright.kafka import embedded_detached
from partwright.pipeline import journal as journals
from partwright.pipeline.journal import java_of_pid, journal_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "state" / "runs"


def test_a_run_is_remembered(runs: Path) -> None:
    with journal_of("topic") as journal:
        assert journal.last() is None
        journal.begin("ab", 3000)
        assert "was to write 3,000 records and stopped before all were written" in str(journal.last())
    with journal_of("topic") as journal:
        assert "stopped before all were written" in str(journal.last())
        journal.begin("cd", 5)
        journal.proof("t.proof-cd")
        journal.finish()
    with journal_of("topic") as journal:
        assert "was to write 5 records and finished" in str(journal.last())
        assert journal.entry is not None
        assert journal.entry.proof == "t.proof-cd"
    with journal_of("another topic") as journal:
        assert journal.last() is None
    assert not list(runs.glob("*.part"))


def test_a_note_of_an_earlier_version_is_read(runs: Path) -> None:
    with journal_of("topic") as journal:
        journal.begin("ab", 3000)
    (file,) = runs.glob("*.json")
    old = {"run": "ab", "records": 3000, "began": "2026-01-01", "finished": True}
    file.write_text(json.dumps(old))
    with journal_of("topic") as journal:
        assert journal.last() == "the run of 2026-01-01 was to write 3,000 records and finished"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a":1}', "'run' is missing"),
        ('{"run": "a", "records": "3", "began": "", "finished": true}', "'records' is '3'"),
        ('{"run": "a", "records": 3, "began": "", "finished": true, "proof": 1}', "'proof' is 1"),
        ('{"run": "a", "records": 3, "began": "", "finished": true, "java": 1}', "'java' is 1"),
        ('{"run": "a", "records": 3, "began": "", "finished": true, "java": [1, 2]}', "'java' is [1, 2]"),
        ("[]", "it holds list, not an object"),
        ("", "Expecting value: line 1 column 1 (char 0)"),
        ('{"run": "ab", "rec', "Unterminated string"),
        ("\xff", "can't decode byte"),
    ],
)
def test_a_damaged_note_is_a_sentence_and_is_written_anew(runs: Path, text: str, why: str) -> None:
    with journal_of("topic") as journal:
        journal.begin("ab", 3000)
    (file,) = runs.glob("*.json")
    file.write_bytes(text.encode("latin-1"))
    with journal_of("topic") as journal:
        said = str(journal.last())
        assert said.startswith(f"{str(file)!r}, the note of the last run to this target, is damaged (")
        assert why in said
        assert said.endswith("): delete it")
        assert len(said.splitlines()) == 1
        journal.begin("cd", 4)
        journal.finish()
    with journal_of("topic") as journal:
        assert "was to write 4 records and finished" in str(journal.last())


def test_a_write_that_stops_half_way_leaves_the_note_of_before(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with journal_of("topic") as journal:
        journal.begin("ab", 3000)

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            journal.begin("cd", 7)
    with journal_of("topic") as journal:
        assert "was to write 3,000 records" in str(journal.last())
        # The killed run's remains do no harm.
        journal.begin("ef", 8)
    assert not list(runs.glob("*.part"))


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o277])
def test_notes_and_locks_are_the_users_alone(runs: Path, umask: int) -> None:
    runs.mkdir(parents=True)
    for folder in (runs, runs.parent):
        folder.chmod(0o775)
    before = os.umask(umask)
    try:
        with journal_of("topic") as journal:
            journal.begin("ab", 3000)
            (lock,), (file,) = runs.glob("*.lock"), runs.glob("*.json")
            for each in (lock, file):
                each.chmod(0o666)
        with journal_of("topic") as journal:
            assert journal.last()
            modes = [stat.S_IMODE(each.stat().st_mode) for each in (runs.parent, runs, lock, file)]
            assert modes == [0o700, 0o700, 0o600, 0o600]
            journal.finish()
            assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0
    finally:
        os.umask(before)


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o757, 0o702])
@pytest.mark.parametrize("inside", ["", "runs"])
def test_a_folder_that_others_write_to_is_refused_and_left_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, inside: str
) -> None:
    """Anybody may have planted files and links there, so nothing in it is read or followed."""
    state = tmp_path / "shared"
    shared = state / inside
    shared.mkdir(parents=True)
    shared.chmod(mode)
    monkeypatch.setenv("PARTWRIGHT_STATE", str(state))
    said = (
        f"the state folder {str(shared)!r} has mode {mode:04o}, so it is shared with other users: name a folder of "
        "your own in PARTWRIGHT_STATE, or close it (chmod 700) if it is yours alone"
    )
    with pytest.raises(PartwrightError) as refused, journal_of("t"):
        pass
    assert str(refused.value) == said
    assert stat.S_IMODE(shared.stat().st_mode) == mode
    assert not list(shared.iterdir())
    if not inside:
        with pytest.raises(PartwrightError) as refused:
            embedded_detached.status()
        assert str(refused.value) == said


def test_links_in_the_state_folder_are_not_followed(runs: Path, tmp_path: Path) -> None:
    with journal_of("t") as journal:
        journal.begin("ab", 3000)
    (lock,), (file,) = runs.glob("*.lock"), runs.glob("*.json")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    for link in (lock, file, runs):
        away = theirs / link.name
        link.rename(away)
        link.symlink_to(away)
        before = {each: each.read_bytes() for each in theirs.rglob("*") if each.is_file()}
        with pytest.raises(PartwrightError) as refused, journal_of("t"):
            pass
        assert str(refused.value) == (
            f"{str(link)!r} in the state folder is a link to {str(away)!r}, and partwright follows none there: "
            "remove it"
        )
        assert {each: each.read_bytes() for each in theirs.rglob("*") if each.is_file()} == before
        link.unlink()
        away.rename(link)
    # A link of the unfinished note is replaced, not written through.
    victim = theirs / "victim"
    victim.write_text("as it was", encoding="utf-8")
    file.with_name(f"{file.name}.part").symlink_to(victim)
    with journal_of("t") as journal:
        journal.begin("cd", 7)
    assert victim.read_text(encoding="utf-8") == "as it was"
    assert '"records": 7' in file.read_text(encoding="utf-8")


def test_a_folder_that_holds_more_is_left_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    for folder in (home, home / "photos", home / "runs"):
        folder.mkdir()
        folder.chmod(0o755)
    monkeypatch.setenv("PARTWRIGHT_STATE", str(home))
    with journal_of("t"):
        modes = [stat.S_IMODE(each.stat().st_mode) for each in (home, home / "photos", home / "runs")]
    assert modes == [0o755, 0o755, 0o700]


def test_java_of_a_killed_run_is_waited_for(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for Java if its Python still runs: that session may be in use for something else."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as java:
        try:
            ours = java_of_pid(java.pid)
            assert ours is not None
            killed = replace(ours, driver=ours.driver + 1)
            for entry in (ours, replace(killed, created=ours.created - 1), None):
                with journal_of("topic") as journal:
                    journal.begin("ab", 3000, entry)
                with journal_of("topic") as journal:
                    assert journal.entry is not None
                    assert journal.entry.java == entry
                    journal.begin("ab", 3000, killed)
                    journal.finish()
                with journal_of("topic") as journal:
                    journal.begin("ab", 3000, killed)
                with monkeypatch.context() as patch:
                    patch.setattr(journals, "WAIT_S", 0.1)
                    refused = pytest.raises(
                        PartwrightError, match=rf"\(process {java.pid}\) may still write to topic"
                    )
                    with refused, journal_of("topic"):
                        pass
                next(runs.glob("*.json")).unlink()
        finally:
            java.kill()

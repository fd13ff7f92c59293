"""The notes of a stream as files: read as they were written, or named as damaged; no Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from partwright.errors import PartwrightError
from partwright.spark.hadoop_files import ChecksumError, HadoopFolder
from partwright.spark.streams.batches import BatchNote, DamagedNoteError, StreamNotes

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

NOTE = BatchNote(5, {0: 3, 1: 0}, 70, "ab")
ASKED = {"client": "java", "key": None}


class Folder:
    """`HadoopFolder` on this machine, as far as notes use it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self, name: str) -> bool:
        return (self.path / name).exists()

    def create_whole(self, name: str, content: bytes) -> None:
        (self.path / name).write_bytes(content)

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)


@pytest.fixture
def notes(tmp_path: Path) -> StreamNotes:
    found = StreamNotes.__new__(StreamNotes)
    vars(found).update(_checkpoint="c", _own=Folder(tmp_path / "none"), _folder=Folder(tmp_path))
    return found


def test_a_note_is_read_as_it_was_written(notes: StreamNotes) -> None:
    assert notes.batch(3) is None
    notes.begin(3, NOTE)
    assert notes.batch(3) == NOTE
    assert notes.last_n(4) == NOTE.n
    assert notes.last_n(0) is None
    stream = notes.stream("t", "id", ASKED)
    assert notes.stream("t", "id", ASKED) == stream


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "empty"),
        (b'{"version": 2, "n": 5', "damaged"),
        (b'{"version": 2}', "damaged"),
        (b"[]", "damaged"),
        (b"\xff", "damaged"),
        (b'{"version": 2, "n": "5", "begin": {}, "records": 1, "digest": ""}', "damaged"),
        (b'{"version": 2, "n": 5, "begin": {"a": 1}, "records": 1, "digest": ""}', "damaged"),
        (b'{"version": 2, "n": 5, "begin": [], "records": 1, "digest": ""}', "damaged"),
    ],
)
def test_a_damaged_note_is_named_and_stays(
    notes: StreamNotes, tmp_path: Path, content: bytes, what: str
) -> None:
    notes.stream("t", "id", ASKED)
    for name in ("batch-3.json", "stream.json"):
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DamagedNoteError) as damaged:
        notes.batch(3)
    assert str(damaged.value) == f"the note 'partwright/batch-3.json' in the checkpoint 'c' is {what}"
    with pytest.raises(PartwrightError, match=f"is {what}: that batch is written; see that the topic got no"):
        notes.last_n(4)
    with pytest.raises(
        PartwrightError, match=f"stream.json' in the checkpoint 'c' is {what}, and without it nobody"
    ):
        notes.stream("t", "id", ASKED)
    assert {each.read_bytes() for each in tmp_path.iterdir()} == {content}


def test_a_note_that_its_checksum_refuses_is_damaged(
    notes: StreamNotes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.begin(3, NOTE)

    def refuse(_: Folder, name: str) -> bytes:
        raise ChecksumError(f"Checksum error: {name}")

    monkeypatch.setattr(Folder, "read", refuse)
    with pytest.raises(DamagedNoteError, match=r"batch-3\.json' in the checkpoint 'c' is damaged"):
        notes.batch(3)
    with pytest.raises(PartwrightError, match="is damaged: that batch is written; see that the topic got no"):
        notes.last_n(4)


def test_hadoop_refuses_a_file_that_is_not_as_its_checksum_says(spark: SparkSession, tmp_path: Path) -> None:
    folder = HadoopFolder(spark, str(tmp_path))
    folder.create("note", b"12345")
    assert (tmp_path / ".note.crc").exists()
    assert folder.read("note") == b"12345"
    (tmp_path / "note").write_bytes(b"12346")
    with pytest.raises(ChecksumError, match="cannot be read by Spark"):
        folder.read("note")


def test_a_note_of_another_version(notes: StreamNotes, tmp_path: Path) -> None:
    (tmp_path / "batch-3.json").write_bytes(b'{"version": 3}')
    with pytest.raises(PartwrightError, match="has version 3, and this partwright reads version 2"):
        notes.batch(3)

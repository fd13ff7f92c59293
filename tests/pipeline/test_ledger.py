"""The record of a run: read back unchanged, each change named, each kind of damage one sentence."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest

from partwright.errors import PartwrightError
from partwright.pipeline.ledger import FolderLedger, RecordedRun
from partwright.pipeline.settings import RunSettings
from partwright.pipeline.source import find_source

if TYPE_CHECKING:
    from pathlib import Path

PLAN = RecordedRun(
    run="00112233445566ff",
    topic="orders",
    topic_id="n0tAnId",
    source="kafka://h:9092/old orders",
    began="2026-11-24 10:00:00 UTC",
    n=12,
    options={"--key": "é id", "--limit": None, "--client": "java"},
    files={"file:///a b.csv": (2**40, 1_767_225_600_123), "file:///b.csv": (0, 0)},
    windows={0: (3, 2**50), 11: (0, 0)},
    cut={"spark.sql.files.maxPartitionBytes": "134217728b"},
    tasks=3,
    records=1_000_001,
    digest="0123456789abcdef",
    begin={0: 0, 11: 2**40},
    exactly_once=True,
)


@pytest.mark.parametrize(
    "changes", [{}, {"windows": None}, {"exactly_once": False}, {"files": {}, "begin": {}}]
)
def test_a_plan_is_read_as_it_was_written(changes: dict[str, Any], tmp_path: Path) -> None:
    plan = dataclasses.replace(PLAN, **changes)
    assert RecordedRun.of_json(plan.to_json(), "it") == plan
    assert RecordedRun.of_json(plan.to_json().encode(), "it") == plan
    for state in [str(tmp_path / "a b"), (tmp_path / "new" / "folder").as_uri(), f"{tmp_path}/with slash/"]:
        ledger = FolderLedger(state)
        assert ledger.read(plan.topic, plan.source) is None
        ledger.write(dataclasses.replace(plan, records=7))
        ledger.write(plan)
        # As another machine would that gets the same folder.
        assert FolderLedger(state).read(plan.topic, plan.source) == plan
        assert ledger.read(plan.topic, "another source") is None
        assert ledger.read("another topic", plan.source) is None


@pytest.mark.parametrize(
    "text",
    [
        *["", "{", "null", "[]", "7", '"text"', "{}", '{"version": 2}'],
        PLAN.to_json()[:-9],
        json.dumps(json.loads(PLAN.to_json()) | {"unknown": 1}),
        *(
            json.dumps(json.loads(PLAN.to_json()) | damage)
            for damage in [
                *[{"begin": None}, {"begin": {"a": 1}}, {"files": {"a": 1}}, {"files": []}, {"windows": 3}],
                *[{"run": "no hex"}, {"run": "00"}, {"run": 7}, {"n": "12"}, {"n": None}, {"options": []}],
                *[{"cut": [1]}, {"records": None}, {"topic_id": 3}, {"began": None}, {"exactly_once": "yes"}],
            ]
        ),
    ],
)
def test_a_damaged_plan_is_one_sentence(text: str) -> None:
    with pytest.raises(PartwrightError, match=r"^the ledger is damaged") as refused:
        RecordedRun.of_json(text, "the ledger")
    assert "run without --resume, into another --topic" in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("version", [0, 1, 3, "2", None])
def test_another_version_is_named(version: object) -> None:
    text = json.dumps(json.loads(PLAN.to_json()) | {"version": version})
    with pytest.raises(
        PartwrightError, match=f"^the ledger has version {version}, and this partwright reads version 2"
    ):
        RecordedRun.of_json(text, "the ledger")


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ({"files": {"file:///b.csv": (0, 0)}}, "the file 'file:///a b.csv' of its source is gone"),
        (
            {"files": dict(PLAN.files) | {"file:///b.csv": (1, 0)}},
            "the file 'file:///b.csv' of its source was changed since",
        ),
        (
            {"files": dict(PLAN.files) | {"file:///b.csv": (0, 1)}},
            "the file 'file:///b.csv' of its source was changed since",
        ),
        (
            {"files": dict(PLAN.files) | {"file:///c.csv": (0, 0)}},
            "the file 'file:///c.csv' was added to its source since",
        ),
        ({"records": 999}, "its source had 1,000,001 records, and has 999 now"),
        ({"tasks": 4}, "Spark cut its source into 3 tasks, and cuts it into 4 now"),
        ({"digest": "f" * 16}, "its source has other records, or the same ones in another order"),
        ({"records": 999, "files": {}}, "the file 'file:///a b.csv' of its source is gone"),
        ({"run": "0" * 16, "began": "later"}, None),
    ],
)
def test_what_changed_is_named(now: dict[str, Any], said: str | None) -> None:
    assert PLAN.changed(dataclasses.replace(PLAN, **now)) == said


def test_a_folder_that_cannot_be_used_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "a file"
    file.write_text("no folder", encoding="utf-8")
    for state, why in [
        ("nosuch://bucket/path", "cannot be used"),
        (str(file), "cannot be written"),
        (str(file / "in it"), "cannot be written"),
    ]:
        with pytest.raises(PartwrightError, match=why) as refused:
            FolderLedger(state).write(PLAN)
        assert repr(state) in str(refused.value)
        assert len(str(refused.value).splitlines()) == 1


def test_a_ledger_whose_writing_was_interrupted_is_the_one_before(tmp_path: Path) -> None:
    ledger = FolderLedger(str(tmp_path))
    ledger.write(PLAN)
    (file,) = tmp_path.iterdir()
    file.with_name(f"{file.name}.part").write_text("{", encoding="utf-8")
    assert ledger.read(PLAN.topic, PLAN.source) == PLAN
    ledger.write(dataclasses.replace(PLAN, began="later"))
    assert list(tmp_path.iterdir()) == [file]
    file.write_text("{", encoding="utf-8")
    with pytest.raises(PartwrightError, match="the ledger of this run, is damaged") as refused:
        ledger.read(PLAN.topic, PLAN.source)
    assert file.name in str(refused.value)


def test_a_source_is_the_same_however_it_is_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a b.csv"
    file.write_text("id\na\n", encoding="utf-8")
    typed = [
        "a b.csv",
        "./a b.csv",
        f"../{tmp_path.name}/a b.csv",
        str(file),
        f"file://{file}",
    ]
    assert {find_source(RunSettings(source=each, key="id")).identity for each in typed} == {str(file)}
    far = "s3a://bucket/a.csv"
    assert find_source(RunSettings(source=far, key="id")).identity == far


def test_a_full_disk_leaves_no_half_of_a_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: RecordedRun) -> str:
        del self
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(RecordedRun, "to_json", full)
    with pytest.raises(PartwrightError, match=r"--state .* cannot be written: .*No space left on device"):
        FolderLedger(str(tmp_path)).write(PLAN)
    assert not list(tmp_path.iterdir())

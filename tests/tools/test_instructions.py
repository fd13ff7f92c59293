"""tools/instructions.py: which growth counts, what a note allows, and the error on a machine that cannot count."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

REPOSITORY = Path(__file__).resolve().parents[2]
FEATURES = ["sse4.2", "avx2"]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("instructions", REPOSITORY / "tools" / "instructions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["instructions"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Runs:
    return Runs(tool, monkeypatch, capsys, tmp_path / "instructions.json")


class Runs:
    """The tool with faked counting: it finds the counts that it is given."""

    def __init__(
        self,
        tool: ModuleType,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        written: Path,
    ) -> None:
        self.tool, self.monkeypatch, self.capsys, self.written = tool, monkeypatch, capsys, written
        monkeypatch.setattr(tool, "WRITTEN", written)
        monkeypatch.setattr(tool, "_build", lambda: Path("program"))

    def __call__(self, counts: Mapping[str, float], *words: str) -> tuple[int, str]:
        def count(_: Path, case: str) -> tuple[object, Mapping[str, object]]:
            return self.tool.Count(counts[case], "row"), {"features": FEATURES}

        def said(command: list[object], **_: object) -> str:
            return "rustc 1.95.0" if "--version" in command else json.dumps([*counts])

        self.monkeypatch.setattr(self.tool, "_count", count)
        self.monkeypatch.setattr(self.tool, "_said", said)
        code = self.tool.main(words)
        return code, self.capsys.readouterr().out

    def cases(self) -> dict[str, dict[str, object]]:
        found: dict[str, dict[str, object]] = json.loads(self.written.read_text(encoding="utf-8"))["cases"]
        return found


@pytest.mark.parametrize(
    ("now", "code"), [(90.0, 0), (100.0, 0), (102.9, 0), (103.0, 0), (103.1, 1), (200.0, 1)]
)
def test_growth_of_more_than_three_percent_fails(run: Runs, now: float, code: int) -> None:
    assert run({"a": 100.0, "b": 7.0}, "--update", "")[0] == 0
    found, out = run({"a": now, "b": 7.0})
    assert found == code
    assert ("Grown by more than 3%: a: mend it" in out) == (code == 1)
    assert f"{now / 100 - 1:+.2%}" in out


def test_a_missing_case_fails_on_either_side(run: Runs) -> None:
    run({"a": 100.0, "b": 7.0}, "--update", "")
    code, out = run({"a": 100.0})
    assert code == 1
    assert "Written, but no case any more: b" in out
    code, out = run({"a": 100.0, "b": 7.0, "c": 1.0})
    assert code == 1
    assert "Never written: c" in out
    code, out = run({"a": 120.0, "c": 1.0})
    assert code == 1
    assert [word in out for word in ("Grown by", "Written, but", "Never written")] == [True] * 3


def test_without_a_file_nothing_passes(run: Runs) -> None:
    assert run({"a": 100.0})[0] == 1


def test_growth_is_written_with_a_note_alone(run: Runs) -> None:
    run({"a": 100.0, "b": 7.0}, "--update", "")
    for empty in ("", "  "):
        code, out = run({"a": 110.0, "b": 6.0}, "--update", empty)
        assert (code, run.cases()["b"]["instructions"]) == (1, 7.0)
        assert "Nothing is written: say why a grew" in out
    assert run({"a": 110.0, "b": 6.0}, "--update", "checks a sign more")[0] == 0
    assert run.cases() == {
        "a": {"instructions": 110.0, "unit": "row", "note": "checks a sign more"},
        "b": {"instructions": 6.0, "unit": "row"},
    }
    assert run({"a": 110.0, "b": 6.0})[0] == 0


def test_many_small_steps_are_one_growth(run: Runs) -> None:
    run({"a": 100.0}, "--update", "")
    for now in (101.0, 102.0, 103.0):
        assert run({"a": now}, "--update", "")[0] == 0
    assert run({"a": 104.0}, "--update", "")[0] == 1


def test_a_note_stays_until_its_count_falls(run: Runs) -> None:
    run({"a": 100.0}, "--update", "")
    run({"a": 110.0}, "--update", "why")
    run({"a": 109.0}, "--update", "")
    assert run.cases()["a"] == {"instructions": 109.0, "unit": "row", "note": "why"}
    run({"a": 100.0}, "--update", "")
    assert run.cases()["a"] == {"instructions": 100.0, "unit": "row"}


def test_other_conditions_are_said(run: Runs) -> None:
    run({"a": 100.0}, "--update", "")
    report = json.loads(run.written.read_text(encoding="utf-8"))
    report["conditions"]["rustc"] = "1.90.0"
    run.written.write_text(json.dumps(report), encoding="utf-8")
    assert "Counted with rustc 1.95.0, and before with 1.90.0." in run({"a": 100.0})[1]


def test_what_was_counted_is_read_from_callgrind(tool: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "callgrind.out"
    file.write_text("events: Ir\nsummary: 1234\n", encoding="utf-8")
    assert tool._total(file) == 1234
    file.write_text("events: Ir\nsummary: 0\n", encoding="utf-8")
    with pytest.raises(tool.RefusedError, match="callgrind counted nothing"):
        tool._total(file)


def test_a_processor_without_avx2_is_refused(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tool, "_said", lambda _: '{"features": ["sse4.2"], "count": 1, "unit": "row"}')
    with pytest.raises(tool.RefusedError, match=r"^valgrind shows a processor with sse4\.2 on .* has it\.$"):
        tool._callgrind(Path("program"), "range", tmp_path)


def test_without_valgrind_it_says_what_to_install(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, REPOSITORY / "tools" / "instructions.py"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "instructions.py: valgrind was not found on PATH: install it (Debian: apt-get install valgrind).\n"
    )


def test_every_written_case_is_whole() -> None:
    report = json.loads((REPOSITORY / "benches" / "instructions.json").read_text(encoding="utf-8"))
    assert "avx2" in report["conditions"]["features"]
    assert len(report["cases"]) > 20
    for about in report["cases"].values():
        assert about["unit"] in {"member", "row", "partition"}
        assert about["instructions"] > 0


def test_the_trend_has_each_count_even_where_one_grew(run: Runs, tmp_path: Path) -> None:
    run({"a": 100.0}, "--update", "")
    assert run({"a": 200.0, "b": 3.5}, "--trend", str(tmp_path / "counts.json"))[0] == 1
    assert json.loads((tmp_path / "counts.json").read_text(encoding="utf-8")) == [
        {"name": "a", "unit": "instructions a row", "value": 200.0},
        {"name": "b", "unit": "instructions a row", "value": 3.5},
    ]

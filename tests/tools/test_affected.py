"""`make pr` runs each test that a change can break: too many rather than too few."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "affected.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    pytest.importorskip("grimp")
    spec = importlib.util.spec_from_file_location("affected", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("path", "chosen", "left_out"),
    [
        # A module: its test, the command's tests and recorded answers; not what does not import it.
        (
            "python/partwright/batching/tuning.py",
            {"tests/batching/test_tuning.py", "tests/cli/test_batch.py", "tests/recorded/test_recorded.py"},
            {"tests/keys/test_hashing.py", "tests/cluster/test_storage.py"},
        ),
        # A file that was deleted stands for its package.
        (
            "python/partwright/batching/gone.py",
            {"tests/batching/test_tuning.py"},
            {"tests/keys/test_hashing.py"},
        ),
        (
            "python/partwright/cli/commands/place.py",
            {"tests/cli/test_place.py", "tests/recorded/test_recorded.py"},
            {"tests/cluster/test_storage.py"},
        ),
        # A part of `_core`: who calls it, and who imports those.
        (
            "rust/core/src/placement/kraft.rs",
            {"tests/cluster/test_placement.py", "tests/spark/test_strategies.py"},
            {"tests/files/test_quotes.py"},
        ),
        (
            "rust/core/src/hashing/murmur2.rs",
            {"tests/keys/test_hashing.py", "tests/pipeline/test_run.py"},
            set(),
        ),
        ("docs/group.md", {"tests/docs", "tests/architecture"}, {"tests/group/test_play.py"}),
        ("tests/faults.py", {"tests/pipeline/test_faults.py"}, {"tests/group/test_play.py"}),
        ("tests/group/test_play.py", {"tests/group/test_play.py"}, {"tests/group/test_script.py"}),
        # A folder of data: whoever names it.
        ("tests/golden/hashing.json", {"tests/keys/test_golden_java.py"}, {"tests/cli/test_man.py"}),
        ("tests/kafka/conftest.py", {"tests/kafka/test_rights.py"}, {"tests/keys/test_hashing.py"}),
        # A file that all tests use, and one of which nothing says what it does.
        ("tests/conftest.py", {"tests"}, set()),
        ("a/new/thing", {"tests"}, set()),
    ],
)
def test_each_test_that_may_break_is_chosen(
    path: str, chosen: set[str], left_out: set[str], tool: ModuleType
) -> None:
    reasons = tool.affected([path])
    assert chosen <= reasons.keys()
    assert left_out.isdisjoint(reasons)
    assert all(reasons.values())


def test_nothing_runs_without_a_change(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "changed", lambda _base: [])
    monkeypatch.setattr(
        sys, "argv", ["affected.py", "main", "--", sys.executable, "-c", "raise SystemExit(3)"]
    )
    assert (tool.main(), capsys.readouterr().out) == (0, "")
    monkeypatch.setattr(tool, "changed", lambda _base: ["docs/group.md"])
    assert tool.main() == 3
    assert capsys.readouterr().out.splitlines()[0] == "tests/docs: docs/group.md changed"

"""The errors of `partwright.spark` if PySpark is missing, too old or too new; this needs no PySpark itself."""

from __future__ import annotations

import importlib
import subprocess
import sys
from contextlib import nullcontext
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

import partwright
from partwright import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable

    Installed = Callable[[str], None]


@pytest.fixture
def requirements() -> ModuleType:
    """Only the module, because its package imports PySpark."""
    spec = spec_from_file_location(
        "requirements", Path(partwright.__file__).parent / "spark" / "requirements.py"
    )
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """As if a PySpark of this version were installed."""

    def install(version: str) -> None:
        pyspark = ModuleType("pyspark")
        pyspark.__version__ = version
        monkeypatch.setitem(sys.modules, "pyspark", pyspark)

    return install


@pytest.fixture
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[:2] == ["partwright", "spark"]]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.usefixtures("_fresh")
def test_an_absent_pyspark_is_one_sentence_on_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingExtraError) as refused:
        importlib.import_module("partwright.spark")
    assert str(refused.value) == (
        "partwright.spark needs PySpark 3.5 or later: pip install 'partwright[spark]'"
    )


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize("version", ["3.4.4", "2.4.8", "3.4.0.dev1", "unknown"])
def test_an_old_pyspark_is_named(installed: Installed, version: str) -> None:
    installed(version)
    with pytest.raises(MissingExtraError) as refused:
        importlib.import_module("partwright.spark")
    assert str(refused.value) == (
        f"partwright.spark needs PySpark 3.5 or later, and PySpark {version} is installed: "
        "pip install 'partwright[spark]'"
    )


@pytest.mark.parametrize("version", ["4.4.0", "4.10.1", "5.0.0.dev1"])
def test_a_newer_pyspark_than_was_tested_is_a_warning(
    installed: Installed, requirements: ModuleType, version: str
) -> None:
    installed(version)
    with pytest.warns(UserWarning, match="is newer") as warned:
        requirements.require_pyspark()
    assert [str(warning.message) for warning in warned] == [
        f"PySpark {version} is newer than those that partwright was tested with: 3.5, 4.0, 4.1, 4.2, 4.3"
    ]


@pytest.mark.parametrize("version", ["3.5.0", "3.5.9", "4.0.5", "4.1.4", "4.2.0", "4.3.0.dev1", "4.3.9"])
def test_a_tested_one_is_not_warned_of(installed: Installed, requirements: ModuleType, version: str) -> None:
    installed(version)
    # Here a warning would be an error.
    assert requirements.require_pyspark() is None


@pytest.mark.parametrize(
    ("version", "python", "is_refused"),
    [("3.5.9", (3, 12), True), ("3.5.9", (3, 11), False), ("4.0.5", (3, 12), False)],
)
def test_distutils_is_asked_for_where_pyspark_needs_it(
    monkeypatch: pytest.MonkeyPatch,
    installed: Installed,
    requirements: ModuleType,
    version: str,
    python: tuple[int, int],
    is_refused: bool,
) -> None:
    installed(version)
    monkeypatch.setattr(sys, "version_info", python)
    monkeypatch.setattr(requirements, "find_spec", lambda _: None)
    sentence = (
        f"PySpark {version} imports distutils, which this Python has no more: pip install setuptools, on the executors "
        "too"
    )
    with pytest.raises(MissingExtraError, match=f"^{sentence}$") if is_refused else nullcontext():
        requirements.require_pyspark()


def test_pandas_is_asked_for_where_pyspark_needs_it(
    monkeypatch: pytest.MonkeyPatch, installed: Installed, requirements: ModuleType
) -> None:
    installed("3.5.9")
    monkeypatch.setattr(requirements, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"^PySpark 3\.5\.9 needs pandas for columns of Python: pip"):
        requirements.require_pandas()


def test_the_package_itself_needs_no_pyspark() -> None:
    # In its own Python process: otherwise modules would be there twice, and so would their errors.
    program = "import sys; sys.modules['pyspark'] = None; import partwright as pw; print(pw.partition_for_key('a', 3))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"

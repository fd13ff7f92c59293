"""What `partwright.spark` says where PySpark is absent or too old; needs no PySpark itself."""

from __future__ import annotations

import importlib
import subprocess
import sys
from types import ModuleType

import pytest

from partwright import MissingExtraError


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
        "partwright.spark needs PySpark 4.1 or later: pip install 'partwright[spark]'"
    )


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize("version", ["4.0.1", "3.5.8", "4.0.0.dev1", "unknown"])
def test_an_old_pyspark_is_named(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    old = ModuleType("pyspark")
    old.__version__ = version
    monkeypatch.setitem(sys.modules, "pyspark", old)
    with pytest.raises(MissingExtraError) as refused:
        importlib.import_module("partwright.spark")
    assert str(refused.value) == (
        f"partwright.spark needs PySpark 4.1 or later, and PySpark {version} is installed: "
        "pip install 'partwright[spark]'"
    )


def test_the_package_itself_needs_no_pyspark() -> None:
    # In a Python of its own: modules of this one would be there twice, and so would their errors.
    program = "import sys; sys.modules['pyspark'] = None; import partwright as pw; print(pw.partition_for_key('a', 3))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"

"""What several of the tests need: the programs of tests/reference, which is a folder of scripts and no package."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

REFERENCE = Path(__file__).resolve().parent / "reference"


@pytest.fixture(scope="session")
def reference() -> Iterator[Callable[[str], ModuleType]]:
    """Imports a module of tests/reference as the modules there import each other."""
    sys.path.insert(0, str(REFERENCE))
    yield importlib.import_module
    sys.path.remove(str(REFERENCE))

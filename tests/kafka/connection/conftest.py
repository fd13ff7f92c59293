"""A folder of certificates and stores for the tests of client configurations."""

from __future__ import annotations

import pytest
from connection_material import Material

from partwright.kafka.connection.config import VARIABLE
from partwright.kafka.embedded_certificates import Authority


@pytest.fixture(scope="session")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    authority = Authority.new()
    found = Material(tmp_path_factory.mktemp("stores"), authority, authority.issue("alice"))
    found.write()
    return found


@pytest.fixture(autouse=True)
def _no_file_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)

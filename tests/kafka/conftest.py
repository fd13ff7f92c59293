"""Secured brokers, and files of settings."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from partwright.kafka import EmbeddedKafka

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path


@pytest.fixture(scope="module")
def secured() -> Iterator[Callable[[str], EmbeddedKafka]]:
    """A broker with each requested security, started once, which runs until the file's last test is done."""
    running: dict[str, EmbeddedKafka] = {}
    with ExitStack() as stopping:

        def of(security: str) -> EmbeddedKafka:
            if security not in running:
                running[security] = stopping.enter_context(EmbeddedKafka(security=security, heap="192m"))
            return running[security]

        yield of


@pytest.fixture
def settings_file(tmp_path: Path) -> Callable[[Mapping[str, object]], Path]:
    """Writes settings, unescaped and readable only by this user, into a file as librdkafka's tools take it."""

    def write(settings: Mapping[str, object]) -> Path:
        file = tmp_path / "some.properties"
        file.touch(0o600)
        file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")
        return file

    return write

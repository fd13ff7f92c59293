"""One sentence for the end of Spark's Java, at any moment; no Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from partwright.errors import BrokerError, PartwrightError
from partwright.pipeline.spark_errors import explained_end
from partwright.spark import classic

if TYPE_CHECKING:
    from collections.abc import Callable


def ended(error: Exception, interrupted: list[int], log: Path | None = None) -> Exception:
    with pytest.raises(type(error) if interrupted else PartwrightError) as raised:  # noqa: SIM117 - what is tested
        with explained_end(lambda: "while it wrote: 3 of 7; add --resume to go on", interrupted, log):
            raise error
    return raised.value


@pytest.fixture
def java(monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], None]:
    return lambda how: monkeypatch.setattr(classic, "how_java_ended", lambda: how)


def test_javas_end(java: Callable[[str | None], None]) -> None:
    """PySpark throws whatever it meets first, such as a refused connection."""
    java("was ended by SIGKILL")
    for error in (
        ConnectionRefusedError(111, "Connection refused"),
        RuntimeError("?"),
        BrokerError("no answer"),
    ):
        assert str(ended(error, [], Path("a.log"))) == (
            "Spark's Java process was ended by SIGKILL while it wrote: 3 of 7; add --resume to go on; Spark's log is "
            "'a.log'"
        )
        # Ctrl-C ends Java, too.
        assert ended(error, [2]) is error


def test_any_other_error_stays(java: Callable[[str | None], None]) -> None:
    java(None)
    for error in (BrokerError("there is no topic 't'"), PartwrightError("there is no column 'id'")):
        assert ended(error, []) is error

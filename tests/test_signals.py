"""SIGTERM and SIGHUP end the command as Ctrl-C does, each with its own exit code; an ignored signal stays ignored."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from partwright.cli import _exit_code
from partwright.signals import ENDING, Ended, handled, raised

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _as_it_is_by_default() -> Iterator[None]:
    """The process that starts the tests may ignore a signal, as `nohup` does."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in ENDING}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_signal_raises() -> None:
    with pytest.raises(KeyboardInterrupt, match="ended by SIGTERM") as caught, raised():
        signal.raise_signal(signal.SIGTERM)
    assert isinstance(caught.value, Ended)
    assert caught.value.exit_code == 143


def test_where_none_came_the_handlers_of_before_come_back() -> None:
    before = [signal.getsignal(number) for number in ENDING]
    with pytest.raises(ValueError, match="of its own"), raised():
        raise ValueError("of its own")
    assert [signal.getsignal(number) for number in ENDING] == before


def test_the_others_handlers_are_replaced_and_nobody_elses() -> None:
    came: list[int] = []
    with raised(), handled(lambda number, _: came.append(number)):
        for number in ENDING:
            signal.raise_signal(number)
    assert came == list(ENDING)
    with handled(lambda number, _: came.append(number)):
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with raised():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_the_exit_code_is_a_shells(
    name: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import partwright.cli

    def ended(**_: object) -> None:
        raise Ended(getattr(signal, name), "interrupted while writing")

    monkeypatch.setattr(partwright.cli, "partwright", type("Main", (), {"main": staticmethod(ended)}))
    assert _exit_code([]) == code
    assert capsys.readouterr().err == "partwright: interrupted while writing\n"


def test_a_second_signal_breaks_off_neither_the_cleaning_up_nor_the_last_words() -> None:
    script = """if True:
        import signal
        from partwright.signals import Ended, raised
        try:
            with raised():
                try:
                    signal.raise_signal(signal.SIGTERM)
                finally:
                    signal.raise_signal(signal.SIGHUP)
                    print("cleaned")
        except Ended as error:
            signal.raise_signal(signal.SIGHUP)
            print(error)
            raise SystemExit(error.exit_code)
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("cleaned\nended by SIGTERM\n", 143)

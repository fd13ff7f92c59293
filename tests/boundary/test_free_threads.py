"""Python's own threads on the same objects: each gets one thread's answer, with and without the GIL."""

from __future__ import annotations

import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import partwright as pw
from partwright.group import play
from partwright.keys.hashing import placer

if TYPE_CHECKING:
    from collections.abc import Callable

THREADS = 8
ROUNDS = 20
KEYS = pa.array([f"customer-{number}" for number in range(5000)] + [None])
MEMBERS = {f"c{number}": ["orders", "payments"] for number in range(7)}
TOPICS = {"orders": 12, "payments": 5}
PLACE = placer(48, "librdkafka")
SCRIPT = {
    "protocol": "consumer",
    "topics": {"orders": 12},
    "events": [{"at_ms": at * 1000, "join": f"c{at}", "topics": ["orders"]} for at in range(5)],
}
ANSWERS: dict[str, Callable[[], Any]] = {
    "partition_for_key": lambda: pw.partition_for_key(KEYS, 12).to_pylist(),
    "one key": lambda: pw.partition_for_key("TT0124", 15),
    "placer": lambda: PLACE(KEYS).to_pylist(),
    "murmur2": lambda: pw.murmur2(KEYS).to_pylist(),
    "assign": lambda: pw.assign(TOPICS, MEMBERS, "sticky").to_dict(),
    "group": lambda: play(SCRIPT).to_dict(),
}


def test_the_interpreter_without_the_gil_stays_without_it() -> None:
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this Python has the GIL")
    assert not sys._is_gil_enabled()  # type: ignore[attr-defined,unused-ignore]


@pytest.mark.parametrize("name", ANSWERS)
def test_threads_share_objects(name: str) -> None:
    ask = ANSWERS[name]
    alone = ask()
    start = Barrier(THREADS)

    def asks() -> list[Any]:
        start.wait(timeout=60)
        return [ask() for _ in range(ROUNDS)]

    with ThreadPoolExecutor(THREADS) as pool:
        found = [
            each for done in [pool.submit(asks) for _ in range(THREADS)] for each in done.result(timeout=120)
        ]
    assert found == [alone] * (THREADS * ROUNDS)

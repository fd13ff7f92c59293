"""The same tests through Spark Connect: a server in one process, `sc://` and pytest in another."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from connect_jar import CONNECT_JAR

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
# Tests that do not look inside a classic session.
SHARED = [
    "test_columns.py",
    "test_engine_arrow.py",
    "test_tables.py",
    "test_layout.py",
    "test_plans.py",
    "test_sql.py",
    "test_audits.py",
    "test_quotas.py",
    "test_groups.py",
    "test_strategies.py",
    "test_engines.py",
    "test_read_topic.py",
    "test_streams_anywhere.py",
]

SERVER = """
import sys
from partwright import spark as pws

configs = {
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": 0,
    "spark.python.task.killTimeout": "120s",  # for the reason at KEPT_WORKERS in tests/conftest.py
}
if sys.argv[2]:
    configs["spark.jars.packages"] = sys.argv[2]
with pws.session(master="local[2]", kafka=True, configs=configs, log_file=sys.argv[1]) as spark:
    service = getattr(spark._jvm, "org.apache.spark.sql.connect.service.SparkConnectService$")
    print(getattr(service, "MODULE$").localPort(), flush=True)
    sys.stdin.read()
"""


@contextmanager
def connect_server(log: Path) -> Iterator[str]:
    """The address of a Spark Connect server, which ends with the block."""
    command = [sys.executable, "-c", SERVER, str(log), CONNECT_JAR]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            port = server.stdout.readline().strip()
            assert port, log.read_text()
            yield f"sc://127.0.0.1:{port}"
        finally:
            server.stdin.close()
            server.wait(60)


@pytest.mark.timeout(1200)
def test_the_same_through_a_connect_server(tmp_path: Path, seed: int) -> None:
    """A sample of the tests; all if PARTWRIGHT_ONE_OF is 1, as in `make soak`."""
    pytest.importorskip("grpc", reason="needs partwright[connect]")
    one_of = int(os.environ.get("PARTWRIGHT_ONE_OF") or 3)
    command = [sys.executable, "-m", "pytest", "-m", "slow", "-qrs", *(str(HERE / name) for name in SHARED)]
    with connect_server(tmp_path / "server.log") as address:
        environment = os.environ | {
            "PARTWRIGHT_TEST_REMOTE": address,
            "PARTWRIGHT_ONE_OF": str(one_of),
            "PARTWRIGHT_SEED": str(seed),
        }
        done = subprocess.run(
            command, cwd=HERE.parents[1], env=environment, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stdout
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) > 120 / one_of / 2
    assert "Spark Connect has no" not in done.stdout

"""Executors whose Python lacks what columns need: one sentence for each, and the package can be sent to them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import time
from contextlib import ExitStack, contextmanager
from importlib.metadata import distribution, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from connect_jar import CONNECT_JAR

from partwright import spark as pws
from partwright.errors import PartwrightError
from partwright.spark.executors.archives import misfit
from partwright.spark.requirements import pyspark_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Seven Java processes, and as many Pythons, start one after the other.
pytestmark = pytest.mark.timeout(1200)
SITE = Path(sysconfig.get_path("purelib"))
VERSION = version("partwright")
# A cluster's own Java processes listen only on the loopback interface.
LOOPBACK = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "127.0.0.1"}
# Before Spark had Arrow UDFs, columns were pandas UDFs.
PANDAS = ["pandas", "numpy", "dateutil", "python_dateutil", "pytz", "tzdata", "six"]
NEEDED = ["pyarrow"] if pyspark_version() >= (4, 1) else ["pyarrow", *PANDAS]
NO_ARROW = "pyarrow is missing: install pyarrow 18 or later there" + (
    "; pandas is missing: install pandas there" if "pandas" in NEEDED else ""
)
ADVICE = f"install partwright {VERSION} there, or send it with partwright.spark.ship"
WITHOUT = "the Python of Spark's workers has no"
ROW = ["executor", "host", "python", "partwright", "pyarrow", "ok", "why", "platform", "lanes"]

# Several applications one after the other, each with its own Python in its workers.
DRIVER = """
import json, os, sys
import partwright as pw
from partwright import spark as pws
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

KEYS = [str(at) for at in range(100)]

def session(master):
    builder = SparkSession.builder.master(master).config("spark.driver.host", "127.0.0.1")
    settings = {"spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false", "spark.api.mode": "classic"}
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()

def refused(call):
    try:
        call()
    except pw.PartwrightError as error:
        return str(error)

def doctor(spark):
    return [row.asDict() for row in pws.doctor(spark, timeout=200).collect()]

def partitions(spark):
    keys = spark.range(0, 100, 1, 4).select(sf.col("id").cast("string").alias("key"))
    return [row[0] for row in keys.select(pws.partition_for_key("key", 12)).collect()]

def failed(spark):
    try:
        partitions(spark)
    except Exception as error:
        return [pws.first_sentence(error), len(str(error).splitlines())]

def columns(spark):
    wanted = pw.partition_for_key(KEYS, 12).to_pylist()
    pws.register(spark)
    by_sql = spark.range(0, 100, 1, 4).selectExpr("kafka_partition(cast(id as string), 12)").collect()
    kept = pws.with_partition(spark.range(8), sf.lit(None).cast("string"), 3, pws.ProducerConfig("round-robin"))
    return [partitions(spark) == wanted, [row[0] for row in by_sql] == wanted, len(kept.collect())]
"""
APPLICATIONS = """
master, arrow, old, bare = sys.argv[1:]
found = {}

os.environ["PYSPARK_PYTHON"] = arrow
spark = session(master)
found["arrow"] = [doctor(spark), failed(spark), refused(lambda: pws.ship(spark, timeout=200)), columns(spark)]
pws.ship(spark, timeout=200)
found["arrow"].append(doctor(spark))
spark.stop()
found["stopped"] = refused(lambda: pws.doctor(spark))

os.environ["PYSPARK_PYTHON"] = old
spark = session(master)
found["old"] = [doctor(spark), failed(spark), refused(lambda: pws.ship(spark, timeout=200)), columns(spark)]
spark.stop()

os.environ["PYSPARK_PYTHON"] = bare
spark = session(master)
found["late"] = refused(lambda: pws.doctor(spark, timeout=0.01))
found["bare"] = [doctor(spark), failed(spark), refused(lambda: pws.ship(spark, timeout=200))]
spark.stop()

os.environ["PYSPARK_PYTHON"] = "/nowhere/python"
spark = session("local-cluster[2,1,1024]")
found["nowhere"] = [doctor(spark), failed(spark)]
spark.stop()
print(json.dumps(found))
"""
REMOTE = """
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
found = [doctor(spark), failed(spark), refused(lambda: pws.ship(spark, timeout=200)), columns(spark)]
found.append(refused(lambda: pws.ship(spark, timeout=200)))
found.append(doctor(spark))
spark.stop()
found.append(refused(lambda: pws.doctor(spark)))
print(json.dumps(found))
"""
SERVER = """
os.environ["PYSPARK_PYTHON"] = sys.argv[1]
os.environ["PYSPARK_SUBMIT_ARGS"] = (
    "--conf spark.plugins=org.apache.spark.sql.connect.SparkConnectPlugin "
    "--conf spark.connect.grpc.binding.address=127.0.0.1 --conf spark.connect.grpc.binding.port=0 pyspark-shell"
)
if sys.argv[2]:
    # PySpark 3.5 has no server of its own.
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--packages {sys.argv[2]} " + os.environ["PYSPARK_SUBMIT_ARGS"]
spark = session("local-cluster[2,1,1024]")
service = getattr(spark._jvm, "org.apache.spark.sql.connect.service.SparkConnectService$")
print(getattr(service, "MODULE$").localPort(), flush=True)
sys.stdin.read()
spark.stop()
"""


def run(script: str, *words: object, **more: Any) -> Any:
    """The last line that a script prints in its own process."""
    done = subprocess.run(
        [sys.executable, "-c", DRIVER + script, *map(str, words)],
        env=os.environ | LOOPBACK,
        capture_output=True,
        text=True,
        check=False,
        **more,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # A local cluster's workers leave their files where they are told to.
        patch.setenv("SPARK_WORKER_DIR", str(tmp_path_factory.mktemp("work")))
        patch.setenv("PARTWRIGHT_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("PYSPARK_PYTHON", raising=False)
        yield


@pytest.fixture(scope="module")
def pythons(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Virtual environments without partwright: `bare`, with only pyarrow, and with another version of partwright."""
    found = {}
    for name in ("bare", "arrow", "old"):
        folder = tmp_path_factory.mktemp(name)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        site = next(folder.glob("lib/python*/site-packages"))
        for each in [] if name == "bare" else NEEDED:
            for path in SITE.glob(f"{each}*"):
                (site / path.name).symlink_to(path)
        if name == "old":
            # This version imports, and would answer wrongly: the package that is sent must take precedence over it.
            for module, text in {
                "__init__": "",
                "_core": "",
                "keys/__init__": "",
                "keys/hashing": "",
            }.items():
                path = site / "partwright" / f"{module}.py"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            about = site / "partwright-0.0.9.dist-info" / "METADATA"
            about.parent.mkdir()
            about.write_text("Metadata-Version: 2.1\nName: partwright\nVersion: 0.0.9\n")
        found[name] = folder / "bin" / "python"
    return found


@contextmanager
def spark_class(log: Path, *words: str) -> Iterator[None]:
    """One of Spark's own Java processes, which ends with the block."""
    import pyspark

    home = Path(pyspark.__file__).parent
    with (
        log.open("w") as lines,
        subprocess.Popen(
            [home / "bin" / "spark-class", *words],
            stdout=lines,
            stderr=lines,
            env=os.environ | LOOPBACK | {"SPARK_HOME": str(home)},
        ) as process,
    ):
        try:
            yield
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a standalone cluster of two workers."""
    folder = tmp_path_factory.mktemp("cluster")
    deploy, web = "org.apache.spark.deploy", ("--host", "127.0.0.1", "--webui-port", "0")
    with ExitStack() as running:
        log = folder / "master.log"
        running.enter_context(spark_class(log, f"{deploy}.master.Master", *web, "--port", "0"))
        (address,) = waited(log, r"Starting Spark master at (spark://\S+)", 1)
        for name in ("one", "two"):
            words = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / name), address)
            running.enter_context(
                spark_class(folder / f"{name}.log", f"{deploy}.worker.Worker", *web, *words)
            )
        waited(log, r"Registering (worker)", 2)
        yield address


def waited(log: Path, pattern: str, times: int) -> list[str]:
    """The matches in a log, once there are this many."""
    for _ in range(1200):
        if len(found := re.findall(pattern, log.read_text())) == times:
            return found
        time.sleep(0.1)
    raise AssertionError(log.read_text())


@pytest.fixture(scope="module")
def found(master: str, pythons: dict[str, Path]) -> dict[str, Any]:
    answer: dict[str, Any] = run(APPLICATIONS, master, pythons["arrow"], pythons["old"], pythons["bare"])
    return answer


def whys(rows: list[dict[str, Any]]) -> list[str | None]:
    assert all(list(row) == ROW and row["ok"] is (row["why"] is None) for row in rows)
    return [row["why"] for row in rows]


def test_a_row_for_each_executor_says_what_is_missing(
    found: dict[str, Any], pythons: dict[str, Path]
) -> None:
    rows = found["arrow"][0]
    assert [row["executor"] for row in rows] == ["0", "1"]
    assert whys(rows) == [f"partwright is missing: {ADVICE}"] * 2
    for row in rows:
        assert (row["host"], row["partwright"], row["pyarrow"]) == ("127.0.0.1", None, pa.__version__)
        assert row["python"].endswith(f" {pythons['arrow']}")
        assert row["lanes"] in {1, 8, 16}
    assert whys(found["bare"][0]) == [f"partwright is missing: {ADVICE}; {NO_ARROW}"] * 2
    assert whys(found["old"][0]) == [f"partwright is 0.0.9 there and {VERSION} on the driver: {ADVICE}"] * 2


def test_executors_without_python_are_rows(found: dict[str, Any]) -> None:
    rows, (sentence, _) = found["nowhere"]
    assert [row["executor"] for row in rows] == ["0", "1"]
    assert whys(rows) == [sentence] * 2
    assert sentence.startswith(
        "Spark's executors have no Python at '/nowhere/python': install one there, or set"
    )


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("arrow", f"has no partwright: {ADVICE}"),
        ("old", f"has partwright 0.0.9, and the driver has {VERSION}: {ADVICE}"),
        (
            "bare",
            "has no pyarrow: set PYSPARK_PYTHON to a Python that has it, or install it there",
        ),
    ],
)
def test_a_job_says_it_in_one_sentence(
    found: dict[str, Any], pythons: dict[str, Path], name: str, sentence: str
) -> None:
    said, lines = found[name][1]
    assert said.startswith(f"the Python of Spark's workers ({pythons[name]} on ")
    assert said.endswith(sentence)
    # Only Spark's own frames.
    assert lines < 15


@pytest.mark.parametrize("name", ["arrow", "old"])
def test_what_is_sent_runs_and_goes_before_what_is_installed(found: dict[str, Any], name: str) -> None:
    refused, columns = found[name][2:4]
    assert refused is None
    assert columns == [True, True, 8]


def test_after_a_second_time_the_doctor_finds_all_well(found: dict[str, Any]) -> None:
    rows = found["arrow"][4]
    assert whys(rows) == [None] * 2
    assert {row["partwright"] for row in rows} == {VERSION}


def test_pyarrow_is_not_sent(found: dict[str, Any]) -> None:
    assert found["bare"][2] == (f"partwright was sent, but executor 0 on 127.0.0.1 cannot run it: {NO_ARROW}")


def test_a_stopped_session_and_silent_executors_are_sentences(found: dict[str, Any]) -> None:
    assert found["stopped"] == "this Spark session was stopped: make a new one"
    assert found["late"].startswith("no executor answered within 0.01 s: ")


@pytest.mark.parametrize("given", [None, "local[2]", 7])
def test_what_is_no_session_is_refused(given: Any) -> None:
    for call in (pws.doctor, pws.ship):
        with pytest.raises(PartwrightError, match=r"^spark must be a SparkSession, not "):
            call(given)


def test_the_command_tells_of_each_executor(
    master: str, pythons: dict[str, Path], monkeypatch: pytest.MonkeyPatch, process: Callable[..., Any]
) -> None:
    for name, value in LOOPBACK.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYSPARK_PYTHON", str(pythons["arrow"]))
    done = process("doctor", "--spark", master, "--timeout", 200, "--json")
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert told["ok"] is False
    assert whys(told["executors"]) == [f"partwright is missing: {ADVICE}"] * 2
    monkeypatch.delenv("PYSPARK_PYTHON")
    done = process("doctor", "--spark")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().startswith("✓ executor driver on ")


@pytest.mark.parametrize("other", [("--topic", "t"), ("-X", "client.id=c"), ("--command-config", "f")])
def test_the_command_looks_at_one_thing(refusal: Callable[..., str], other: tuple[str, ...]) -> None:
    assert "--spark looks at executors" in refusal("doctor", "--spark", *other)


def test_a_master_and_a_server_are_not_mixed(
    refusal: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://127.0.0.1:1")
    assert "SPARK_REMOTE is 'sc://127.0.0.1:1'" in refusal("doctor", "--spark", "local[1]")


def test_through_connect(pythons: dict[str, Path]) -> None:
    pytest.importorskip("grpc", reason="needs partwright[connect]")
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER + SERVER, pythons["arrow"], CONNECT_JAR],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | LOOPBACK,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            # Spark prints where it gets packages from.
            port = next(line for line in server.stdout if line.strip().isdecimal()).strip()
            before, (said, _), refused, columns, again, after, stopped = run(REMOTE, f"sc://127.0.0.1:{port}")
        finally:
            server.stdin.close()
            server.wait(60)
    assert whys(before) == [f"partwright is missing: {ADVICE}"] * 2
    assert len({row["executor"] for row in before}) == 2
    assert said.endswith(f"has no partwright: {ADVICE}")
    assert refused is again is None
    assert columns == [True, True, 8]
    assert whys(after) == [None] * 2
    assert stopped == "this Spark session was stopped: make a new one"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in driver: 3.11, PySpark",
            "Spark's workers run Python 3.9, and the driver 3.11: give them 3.11 by PYSPARK_PYTHON",
        ),
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker has different version (3, 9) than that in driver 3.11, PySpark",
            "Spark's workers run Python 3.9, and the driver 3.11: give them 3.11 by PYSPARK_PYTHON",
        ),
        (
            "[PACKAGE_NOT_INSTALLED] PyArrow >= 18.0.0 must be installed; however, it was not found.",
            f"{WITHOUT} PyArrow: install 18.0.0 or later there, which partwright.spark.ship does not do",
        ),
        (
            "[UNSUPPORTED_PACKAGE_VERSION] Pandas >= 2.2.0 must be installed; however, your version is 1.5.3.",
            "the Python of Spark's workers has Pandas 1.5.3: install 2.2.0 or later there",
        ),
        ("py4j: nothing of ours", None),
    ],
)
def test_sparks_own_words_become_a_sentence(text: str, sentence: str | None) -> None:
    assert pws.first_sentence(RuntimeError(f"Job aborted\n  File x\n{text}\n\tat java")) == sentence


HERE = {"python": "3.11.7", "system": "linux", "machine": "x86_64", "glibc": "2.99"}


@pytest.mark.parametrize(
    ("there", "why"),
    [
        ({}, None),
        ({"python": "3.10.2"}, "it needs Python 3.11 or later, and 3.10.2 is there"),
        ({"machine": "aarch64"}, "it is for linux x86_64, and linux aarch64 is there"),
        ({"system": "darwin", "machine": "x86_64"}, "it is for linux x86_64, and darwin x86_64 is there"),
        ({"glibc": "2.28"}, "it needs glibc 2.34 or later, and 2.28 is there"),
        ({"glibc": None}, "it needs glibc 2.34 or later, and no glibc is there"),
    ],
)
def test_whether_the_wheel_fits(
    there: dict[str, Any], why: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed:
        def read_text(self, name: str) -> str:
            assert name in (distribution("partwright").read_text("RECORD") or "")
            return "Wheel-Version: 1.0\nTag: cp311-abi3-manylinux_2_34_x86_64\n"

    monkeypatch.setattr("partwright.spark.executors.archives.distribution", lambda _: Installed())
    assert misfit(HERE | there) == why

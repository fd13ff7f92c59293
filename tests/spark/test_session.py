"""`session`: its workers' interpreter, the place of its output, and each refusal."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as sf

import partwright as pw
from partwright import spark as pws
from partwright.kafka.jars import connector_set, jar_files, jars_folder
from partwright.spark.classic import installed_spark
from partwright.spark.requirements import pyspark_version

if TYPE_CHECKING:
    from typing import Any

    from pyspark.sql import SparkSession

IS_LATER = pyspark_version() >= (4, 0)


def run(
    script: str, folder: Path, check: bool = True, **environment: str | None
) -> subprocess.CompletedProcess[str]:
    """A script in its own Python process, in a folder whose name has a space and a comma."""
    place = folder / "a folder, with spaces"
    place.mkdir(exist_ok=True)
    changed = {name: value for name, value in environment.items() if value is not None}
    kept = {name: value for name, value in os.environ.items() if name not in environment}
    # PySpark 3.5 imports distutils, of which Python 3.11 warns.
    ignored = ["ignore::ResourceWarning", "ignore:The distutils package is deprecated:DeprecationWarning"]
    warnings = [word for each in ("error", *ignored) for word in ("-W", each)]
    done = subprocess.run(
        [sys.executable, *warnings, "-c", textwrap.dedent(script)],
        cwd=place,
        env=kept | changed,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def test_workers_run_this_interpreter_and_the_terminal_stays_clean(tmp_path: Path) -> None:
    done = run(
        """
        import json, os, sys
        import pyarrow as pa
        from pyspark.errors import AnalysisException
        from pyspark.sql import functions as sf
        from partwright import spark as pws

        three = {"spark.sql.shuffle.partitions": 3}
        with pws.session("a name", "local[2]", configs=three, log_file="a log") as spark:
            print("printed while it runs")
            workers = sf.udf(lambda _: sys.executable, "string", useArrow=False)
            found = {
                "worker": spark.range(1).select(workers("id")).first()[0],
                "name": spark.sparkContext.appName,
                "host": spark.conf.get("spark.driver.host"),
                "ui": spark.sparkContext.uiWebUrl,
                "configured": spark.conf.get("spark.sql.shuffle.partitions"),
                "again": pws.session() is spark,
            }
            for failing in ("SELECT nothing", "SELECT raise_error('on purpose')"):
                try:
                    spark.sql(failing).collect()
                except Exception as error:
                    found[failing] = type(error).__name__
        with pws.session("another", "local[1]", log_file="a log") as spark:
            found["second"] = spark.sparkContext.appName
        found["left behind"] = "PYSPARK_PYTHON" in os.environ
        json.dump(found, sys.stdout)
        """,
        tmp_path,
        PYSPARK_PYTHON=None,
        SPARK_HOME=None,
    )
    assert done.stderr == ""
    first, found = done.stdout.split("\n")
    assert first == "printed while it runs"
    assert json.loads(found) == {
        "worker": sys.executable,
        "name": "a name",
        "host": "127.0.0.1",
        "ui": None,
        "configured": "3",
        "again": True,
        "SELECT nothing": "AnalysisException",
        # PySpark 3.5 leaves Java's error unchanged.
        "SELECT raise_error('on purpose')": "SparkRuntimeException" if IS_LATER else "Py4JJavaError",
        "second": "another",
        "left behind": False,
    }
    log = (tmp_path / "a folder, with spaces" / "a log").read_text()
    assert "on purpose" in log
    assert "UNRESOLVED_COLUMN" in log or not IS_LATER
    assert [path.name for path in (tmp_path / "a folder, with spaces").iterdir()] == ["a log"]


def test_no_command_line_has_a_setting(tmp_path: Path) -> None:
    """Every user of a machine can read command lines: of Java, of its starter, and of Spark's workers."""
    pytest.importorskip("psutil")
    (tmp_path / "theirs").write_text("spark.from.a.file SECRET\nspark.ssl.keyPassword other")
    done = run(
        """
        import json, os, sys, threading
        import psutil
        from partwright import spark as pws

        os.umask(0)
        seen, ended = set(), threading.Event()
        # Between its fork and its exec a child shows our own, this text.
        ours = " ".join(psutil.Process().cmdline())

        def watch():
            while not ended.wait(0.005):
                for child in psutil.Process().children(recursive=True):
                    try:
                        seen.add(" ".join(child.cmdline()))
                    except psutil.Error:
                        pass

        watcher = threading.Thread(target=watch)
        watcher.start()
        key = " p\\\\ä=s:#!ö SECRET \U0001f600"
        java = '-XX:+UseSerialGC "-Dkey.password=a b\\\\\\\\c SECRET"'
        configs = {"spark.ssl.keyPassword": key, "spark.driver.extraJavaOptions": java}
        with pws.session(master="local[1]", configs=configs, log_file="log") as spark:
            spark.range(3).count()
            property = spark._jvm.java.lang.System.getProperty
            found = {
                "key": spark.conf.get("spark.ssl.keyPassword") == key,
                "trimmed by spark-submit": property("spark.ssl.keyPassword") == key.strip(),
                "java": property("key.password"),
                "options": spark.conf.get("spark.driver.extraJavaOptions") == java,
                "theirs": spark.conf.get("spark.theirs"),
                "from a file": spark.conf.get("spark.from.a.file"),
            }
        ended.set()
        watcher.join()
        found["log"] = oct(os.stat("log").st_mode & 0o777)
        found["java was seen"] = any("SparkSubmit" in line for line in seen)
        found["with a secret"] = [line for line in seen - {ours} if "SECRET" in line]
        found["left"] = sorted(os.listdir(os.environ["TMPDIR"]))
        json.dump(found, sys.stdout)
        """,
        tmp_path,
        TMPDIR=str(tmp_path),
        PYSPARK_SUBMIT_ARGS=f"--conf spark.theirs=SECRET --properties-file {tmp_path / 'theirs'} pyspark-shell",
    )
    found = json.loads(done.stdout)
    left = found.pop("left")
    assert not [name for name in left if name.startswith("partwright-")]
    assert found == {
        "key": True,
        "trimmed by spark-submit": True,
        "java": "a b\\c SECRET",
        "options": True,
        "theirs": "SECRET",
        "from a file": "SECRET",
        "log": "0o600",
        "java was seen": True,
        "with a secret": [],
    }
    assert "SECRET" not in (tmp_path / "a folder, with spaces" / "log").read_text()


def test_spark_s_own_file_of_settings_is_read(tmp_path: Path) -> None:
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text("spark.theirs   a value\nspark.sql.shuffle.partitions 9\n")
    done = run(
        """
        from partwright import spark as pws

        configs = {"spark.sql.shuffle.partitions": 3}
        with pws.session(master="local[1]", configs=configs, log_file="log") as spark:
            print(spark.conf.get("spark.theirs"), spark.conf.get("spark.sql.shuffle.partitions"))
        """,
        tmp_path,
        SPARK_CONF_DIR=str(conf),
        PYSPARK_SUBMIT_ARGS=None,
    )
    assert done.stdout == "a value 3\n"


def test_a_session_after_a_killed_java(tmp_path: Path) -> None:
    done = run(
        """
        from pyspark import SparkContext
        from partwright import spark as pws
        from partwright.spark import classic

        spark = pws.session(master="local[1]", log_file="log")
        assert classic.how_java_ended() is None
        SparkContext._gateway.proc.kill()
        print(classic.how_java_ended())
        classic.stop(spark)
        with pws.session(master="local[1]", log_file="log") as spark:
            print(spark.range(3).count())
        """,
        tmp_path,
    )
    assert done.stdout == "was ended by SIGKILL\n3\n"


def test_jars_from_a_folder_with_spaces_are_found(tmp_path: Path) -> None:
    cache = tmp_path / "a cache with spaces"
    for jar in jar_files(connector_set(installed_spark())):
        copy = cache / "jars" / jar.relative_to(jars_folder())
        copy.parent.mkdir(parents=True)
        shutil.copyfile(jar, copy)
    done = run(
        """
        import os, shutil
        from partwright import PartwrightError, spark as pws

        cache = os.environ["PARTWRIGHT_CACHE"]
        os.environ["PARTWRIGHT_CACHE"] = shutil.copytree(cache, os.path.abspath("cache"))
        try:
            pws.session(kafka=True)
        except PartwrightError as error:
            print(str(error).partition(" as ")[0])
        os.environ["PARTWRIGHT_CACHE"] = cache
        with pws.session(master="local[1]", kafka=True, log_file="log") as spark:
            kafka = spark.read.format("kafka").option("subscribe", "t")
            kafka = kafka.option("kafka.bootstrap.servers", "127.0.0.1:1").load()
            print(kafka.columns, pws.session(kafka=True) is spark)
        """,
        tmp_path,
        PARTWRIGHT_CACHE=str(cache),
    )
    columns = ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]
    assert done.stdout == f"Spark reads no jar whose path has a comma,\n{columns} True\n"


def test_refusals_are_one_sentence_each(tmp_path: Path) -> None:
    done = run(
        """
        import json, os, sys
        from partwright import PartwrightError, spark as pws

        def refused(**arguments):
            try:
                pws.session(**arguments)
            except PartwrightError as error:
                return str(error)

        sentences = {}
        os.environ["SPARK_REMOTE"] = "sc://there"
        sentences["remote"] = refused()
        del os.environ["SPARK_REMOTE"]
        os.environ["SPARK_HOME"] = os.getcwd()
        sentences["home"] = refused()
        del os.environ["SPARK_HOME"]
        os.environ["JAVA_HOME"] = os.getcwd()
        sentences["java"] = refused()
        del os.environ["JAVA_HOME"]
        sentences["log"] = refused(log_file="nowhere/log")
        sentences["memory"] = refused(log_file="log", configs={"spark.driver.memory": "plenty"})
        sentences["master"] = refused(log_file="log", master="locale")
        spark = pws.session(master="local[1]")
        sentences["kafka"] = refused(kafka=True)
        spark.stop()
        json.dump(sentences, sys.stdout)
        """,
        tmp_path,
        SPARK_HOME=None,
        JAVA_HOME=None,
    )
    here = tmp_path / "a folder, with spaces"
    sentences: dict[str, str] = json.loads(done.stdout)
    assert sentences.pop("remote").startswith("SPARK_REMOTE is 'sc://there', but this makes a session")
    assert sentences.pop("home").startswith(f"SPARK_HOME is {str(here)!r}, which has no Spark, but PySpark")
    assert sentences.pop("java").startswith(f"JAVA_HOME is {here}, ")
    assert sentences == {
        "log": "Spark's log 'nowhere/log' cannot be written: No such file or directory",
        "memory": "Spark's Java process ended as it started: what it said is in log",
        "master": "Spark did not start on 'locale': Could not parse Master URL: 'locale'",
        "kafka": "a Spark session is running without Spark's Kafka connector: stop it first",
    }
    assert "plenty" in (here / "log").read_text()


def test_an_interrupt_while_java_starts_leaves_nothing_running(tmp_path: Path) -> None:
    psutil = pytest.importorskip("psutil")
    script = "from partwright import spark as pws; pws.session(log_file='log')"
    with subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, stderr=subprocess.PIPE) as process:
        java = None
        while java is None and process.poll() is None:
            time.sleep(0.01)
            for child in psutil.Process(process.pid).children():
                with contextlib.suppress(psutil.Error):
                    # Before that it is the shell script that becomes Java.
                    java = child if child.name() == "java" else None
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        # Of the one that was held back until Java was known, the name says which signal it was.
        said = process.stderr.read()
        assert b"KeyboardInterrupt" in said or said.endswith(b"partwright.signals.Ended: interrupted\n")
    _, alive = psutil.wait_procs([java], timeout=20)
    assert not alive


def test_another_interpreter_in_the_environment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/usr/bin/python2")
    with pytest.raises(pw.PartwrightError) as refused:
        pws.session()
    assert str(refused.value) == (
        "PYSPARK_PYTHON is '/usr/bin/python2', but Spark's workers must run the interpreter of this process, "
        f"{sys.executable}: unset it"
    )


def test_a_running_session_with_other_workers_is_refused(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    context: Any = spark.sparkContext
    assert pws.session() is spark
    monkeypatch.setattr(context, "pythonExec", "python2")
    with pytest.raises(pw.PartwrightError) as refused:
        pws.session()
    assert str(refused.value) == (
        "a Spark session is running whose workers use 'python2' instead of the interpreter of this process, "
        f"{sys.executable}: stop it first, or set PYSPARK_PYTHON before it starts"
    )


def test_one_interpreter_has_many_names_but_not_in_another_environment(tmp_path: Path) -> None:
    from partwright.spark.classic import _is_same_python

    here = Path(sys.executable)
    linked = tmp_path / "linked"
    linked.symlink_to(here.parent)
    assert _is_same_python(str(linked / here.name), sys.executable)
    other = tmp_path / "bin" / "python"
    other.parent.mkdir()
    other.symlink_to(here.resolve())
    assert not _is_same_python(str(other), sys.executable)


@pytest.mark.skipif(
    not hasattr(sf, "arrow_udf"), reason="PySpark before 4.1 takes Arrow's columns through pandas"
)
def test_columns_and_layouts_need_no_pandas(tmp_path: Path) -> None:
    """Neither here nor in the workers, which look for modules in the same places."""
    blocked = tmp_path / "blocked" / "pandas"
    blocked.mkdir(parents=True)
    (blocked / "__init__.py").write_text("raise ImportError('pandas is blocked')\n")
    path = os.pathsep.join([str(blocked.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = run(
        """
        import importlib.util, sys
        from pyspark.sql import functions as sf
        from partwright import spark as pws

        with pws.session(master="local[1]", log_file="log") as spark:
            pws.register(spark)
            ids = spark.range(5).select(sf.col("id").cast("string").alias("id"), sf.col("id").alias("ts"))
            laid_out = ids.transform(pws.kafka_layout("id", 3, "ts"))
            print(len(laid_out.select("id", "partition", sf.expr("kafka_partition(id, 3)")).collect()))
        assert "pandas" not in sys.modules
        """,
        tmp_path,
        PYTHONPATH=path,
    )
    assert done.stdout == "5\n"

"""Disks that fill: the broker's, the one of Spark's temporary files, and the one of notes; then there is room again."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from faults import LIGHT, Watched, held, mortal, read_directly, records_file, writers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from partwright.kafka import EmbeddedKafka

pytestmark = [pytest.mark.spark, pytest.mark.broker]

N = 4


@contextlib.contextmanager
def small(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own, if this machine lets one be mounted."""
    mount = shutil.which("mount")
    folder.mkdir(parents=True)
    words = [str(mount), "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(folder)]
    if mount is None or subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("no small file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def grown(folder: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)


def filled(folder: Path) -> Path:
    """Leaves no room."""
    file = folder / "full"
    with file.open("wb", buffering=0) as full, contextlib.suppress(OSError):
        while True:
            full.write(bytes(4096))
    return file


def words_of(source: Path, topic: str, servers: str) -> list[object]:
    return [
        *["run", source, "--key", "id", "--topic", topic, "-n", N, "--to", f"kafka://{servers}"],
        *[*LIGHT, "--json", "--no-proof"],
    ]


def test_the_brokers_disk(tmp_path: Path, seed: int, cases: Callable[[int], int]) -> None:
    """Kafka ends if its only disk is full; once there is room it comes back, and the run continues."""
    for exactly_once in writers(seed, cases(1)):
        brokers_disk_fills(exactly_once, tmp_path / str(exactly_once))


def brokers_disk_fills(exactly_once: bool, tmp_path: Path) -> None:
    tmp_path.mkdir()
    source = records_file(tmp_path / "some.jsonl", 30_000, wide=1000)
    with small(tmp_path / "disk", "76m") as disk, mortal(disk, **{"log.segment.bytes": "1048576"}) as broker:
        grown(disk, f"{used(disk) + (10 << 20)}")
        words = [*words_of(source, "t", broker.servers), *["--exactly-once"] * exactly_once]
        run = Watched(words, tmp_path / "run")
        try:
            assert run.end() == 2, run.lines
            (sentence,) = run.sentences
            assert sentence.startswith("partwright: writing to topic 't' at"), run.lines
            assert "for the broker does not answer" in sentence or "are written" in sentence
            assert run.out == ""
            assert run.left() == []
        finally:
            run.close()
        # It ends by itself, after some seconds.
        broker.kill()
        grown(disk, "400m")
        broker.come_back()
        gone_on(words, tmp_path / "run", broker.servers, "t", source)


def used(disk: Path) -> int:
    at = os.statvfs(disk)
    return (at.f_blocks - at.f_bfree) * at.f_frsize


def gone_on(words: list[object], folder: Path, servers: str, topic: str, source: Path) -> None:
    run = Watched([*words, "--resume"], folder)
    try:
        assert run.end() == 0, run.lines
        report = run.report
        assert (report["lost"], report["moved"], report["twice"]) == (0, 0, 0)
    finally:
        run.close()
    assert read_directly(servers, topic, [source], N) == (0, 0, 0, 0)


def stops(words: list[object], folder: Path, **environment: str) -> str:
    """The one sentence of a run that leaves nothing behind."""
    run = Watched(words, folder, **environment)
    try:
        assert run.end() == 2, run.lines
        (sentence,) = run.sentences
        assert "No space left on device" in sentence
        assert run.left() == []
        return sentence
    finally:
        run.close()


def test_the_disk_of_temporary_files(kafka: EmbeddedKafka, topic: str, tmp_path: Path) -> None:
    source = records_file(tmp_path / "some.jsonl", 3_000, wide=3000)
    words = words_of(source, topic, kafka.bootstrap_servers)
    with small(tmp_path / "run" / "temporary", "5m"):
        # Kept on disk because memory is short.
        stops([*words, "--conf", "spark.memory.fraction=0.02"], tmp_path / "run")
    assert held(kafka.bootstrap_servers, topic) == 0


def test_the_disk_of_the_ledger(kafka: EmbeddedKafka, topic: str, tmp_path: Path) -> None:
    source = records_file(tmp_path / "some.jsonl", 500)
    words = words_of(source, topic, kafka.bootstrap_servers)
    with small(tmp_path / "ledger", "64k") as disk:
        full = filled(disk)
        sentence = stops([*words, "--state", disk], tmp_path / "run")
        assert f"--state {str(disk)!r} cannot be written" in sentence
        assert list(disk.iterdir()) == [full]
    assert held(kafka.bootstrap_servers, topic) == 0


def test_the_disk_of_notes(kafka: EmbeddedKafka, topic: str, tmp_path: Path) -> None:
    """The run continues without them, and without Spark's log."""
    source = records_file(tmp_path / "some.jsonl", 500)
    with small(tmp_path / "run" / "state", "64k") as disk:
        for name in ("runs", "logs"):
            (disk / name).mkdir()
        filled(disk)
        servers = kafka.bootstrap_servers
        gone_on(words_of(source, topic, servers), tmp_path / "run", servers, topic, source)
        assert not [path for path in (disk / "runs").iterdir() if path.stat().st_size]


@pytest.mark.parametrize("setting", ["spark.local.dir", "SPARK_LOCAL_DIRS"])
def test_the_disk_of_sparks_own_folder(
    setting: str, kafka: EmbeddedKafka, topic: str, tmp_path: Path
) -> None:
    source = records_file(tmp_path / "some.jsonl", 3_000, wide=3000)
    servers = kafka.bootstrap_servers
    words = words_of(source, topic, servers)
    with small(tmp_path / "local", "5m") as disk:
        own = {setting: str(disk)} if setting.isupper() else {}
        conf = [] if own else ["--conf", f"{setting}={disk}"]
        stops([*words, *conf, "--conf", "spark.memory.fraction=0.02"], tmp_path / "run", **own)
    assert held(servers, topic) == 0
    gone_on(words, tmp_path / "run", servers, topic, source)


@pytest.mark.parametrize("exactly_once", [False, True], ids=["plain", "exactly-once"])
def test_the_disk_of_a_streams_checkpoint(
    exactly_once: bool, kafka: EmbeddedKafka, topic: str, tmp_path: Path
) -> None:
    """It stops within a batch; with room, it goes on with the same checkpoint."""
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    files = [records_file(inbox / f"{part}.jsonl", 500, part, 500 * part) for part in range(3)]
    servers = kafka.bootstrap_servers
    with small(tmp_path / "checkpoint", "48k") as disk:
        words = [
            *[
                "stream",
                inbox,
                "--key",
                "id",
                "--topic",
                topic,
                "-n",
                N,
                "--to",
                f"kafka://{servers}",
            ],
            *["--checkpoint", disk / "c", "--available-now", "--option", "maxFilesPerTrigger=1", "--json"],
            *[*LIGHT, *["--exactly-once"] * exactly_once],
        ]
        stops(words, tmp_path / "run")
        grown(disk, "30m")
        gone_on_streaming(words, tmp_path / "run")
    assert read_directly(servers, topic, files, N) == (0, 0, 0, 0)


def gone_on_streaming(words: list[object], folder: Path) -> None:
    run = Watched(words, folder)
    try:
        assert run.end() == 0, run.lines
        report = run.report
        assert (report["lost"], report["moved"], report["twice"]) == (0, 0, 0)
    finally:
        run.close()


def test_the_disk_of_a_streams_notes(kafka: EmbeddedKafka, topic: str, tmp_path: Path) -> None:
    """The stream continues without notes of its own, and without Spark's log."""
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    source = records_file(inbox / "some.jsonl", 500)
    servers = kafka.bootstrap_servers
    words = [
        *["stream", inbox, "--key", "id", "--topic", topic, "-n", N, "--to", f"kafka://{servers}"],
        *["--checkpoint", tmp_path / "checkpoint", "--available-now", "--json", *LIGHT],
    ]
    with small(tmp_path / "run" / "state", "64k") as disk:
        for name in ("runs", "logs"):
            (disk / name).mkdir()
        filled(disk)
        gone_on_streaming(words, tmp_path / "run")
    assert read_directly(servers, topic, [source], N) == (0, 0, 0, 0)

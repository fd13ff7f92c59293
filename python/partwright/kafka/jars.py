"""The jars of Kafka and of Spark's connectors: downloaded once, checked against the lock, kept in a cache.

`PARTWRIGHT_MAVEN_REPOSITORY` replaces the Maven repository in the lock. It is a mirror's address, or a folder as
`file:///...`, such as Maven's own local repository. `PARTWRIGHT_CACHE` replaces the user's cache folder.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import ssl
import sys
import threading
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import filelock

from partwright._check import counted
from partwright.errors import PartwrightError
from partwright.folders import cache_folder

_ATTEMPTS = 4
_BACKOFF_S = 0.5
_CHUNK_BYTES = 1 << 17
_SILENCE_S = 30
_OTHER_PROCESS_S = 900
_THREADS = 8
_NETWORK_ERRORS = (
    urllib.error.URLError,
    http.client.HTTPException,
    ssl.SSLError,
    TimeoutError,
    ConnectionError,
)
# HTTP errors that may be temporary.
_MAY_PASS = frozenset({408, 429, 500, 502, 503, 504})


class JarError(PartwrightError):
    """A jar cannot be downloaded, or is not the one in the lock."""


@dataclass(frozen=True)
class Jar:
    """One jar of the lock.

    Attributes:
        coordinates: `group:artifact:version`, as Maven writes it.
        sha256: The digest of the whole file, in hexadecimal.
        size: The file's size in bytes.
    """

    coordinates: str
    sha256: str
    size: int

    @property
    def path(self) -> str:
        """Its path in a Maven repository, relative to the repository's address."""
        group, artifact, version = self.coordinates.split(":")
        return f"{group.replace('.', '/')}/{artifact}/{version}/{artifact}-{version}.jar"


@dataclass(frozen=True)
class JarSet:
    """Jars that belong on one class path, and their repository.

    Attributes:
        name: The set's name in the lock.
        repository: The Maven repository's address, ending with a slash.
        jars: The jars, in the lock's order.
    """

    name: str
    repository: str
    jars: tuple[Jar, ...]

    def version(self, artifact: str) -> str:
        """The version of one artifact of the set, such as `kafka_2.13`."""
        coordinates = (jar.coordinates.split(":") for jar in self.jars)
        return next(version for _, name, version in coordinates if name == artifact)


def locked(name: str) -> JarSet:
    """One set of jars, read from the lock and the environment.

    Args:
        name: `broker`, or the name that `partwright.kafka.jars.connector_set` gives.

    Raises:
        JarError: There is no such set, or `PARTWRIGHT_MAVEN_REPOSITORY` is not an address.

    Examples:
        >>> len(locked("connector-4.2.0_2.13").jars)
        4
    """
    lock = tomllib.loads(
        resources.files("partwright.kafka").joinpath("jars.lock").read_text(encoding="utf-8")
    )
    repository = lock.pop("repository")
    if name not in lock:
        raise JarError(f"{name!r} is not a set of jars: say one of {', '.join(sorted(lock))}")
    repository = os.environ.get("PARTWRIGHT_MAVEN_REPOSITORY") or repository
    if urlsplit(repository).scheme not in {"https", "http", "file"}:
        raise JarError(
            f"PARTWRIGHT_MAVEN_REPOSITORY is {repository!r}, which is not an address: say https://, http:// or file://"
        )
    return JarSet(name, repository.rstrip("/") + "/", tuple(Jar(**entry) for entry in lock[name]))


def jars_folder() -> Path:
    """The folder of the jars, laid out like a Maven repository."""
    return cache_folder() / "jars"


def jar_files(set_name: str, progress: Callable[[int, int], None] | None = None) -> list[Path]:
    """All jars of a set as files. Those that the cache lacks are downloaded.

    The size and sha256 of each file are checked each time, so the files are those of the lock. Any number of processes
    may ask at once: one of them downloads, the others wait for it.

    Args:
        set_name: `broker`, or the name that `partwright.kafka.jars.connector_set` gives.
        progress: Called from several threads, one at a time, with the bytes downloaded and the bytes in all. By default
            a bar is drawn on stderr if that is a terminal.

    Returns:
        The files, in the lock's order.

    Raises:
        JarError: A jar cannot be downloaded, is not the one in the lock, or the cache cannot be written.

    Examples:
        >>> [file.name for file in jar_files("connector-4.2.0_2.13")][0]  # doctest: +SKIP
        'commons-pool2-2.13.1.jar'
    """
    jar_set, folder = locked(set_name), jars_folder()
    if _missing(jar_set.jars, folder):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(folder / ".fetching", timeout=_OTHER_PROCESS_S):
                _fetch_all(jar_set, _missing(jar_set.jars, folder), folder, progress)
        except filelock.Timeout as error:
            raise JarError(
                f"another process is still fetching jars into {folder}: wait for it, or end it"
            ) from error
        except OSError as error:
            raise JarError(
                f"no jars can be kept in {folder} ({error.strerror}): name another folder in PARTWRIGHT_CACHE"
            ) from error
    return [folder / jar.path for jar in jar_set.jars]


def _missing(jars: Sequence[Jar], folder: Path) -> list[Jar]:
    return [jar for jar in jars if not _is_kept(jar, folder / jar.path)]


def _is_kept(jar: Jar, file: Path) -> bool:
    try:
        if file.stat().st_size != jar.size:
            return False
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest() == jar.sha256
    except OSError:
        return False


def _fetch_all(
    jar_set: JarSet, missing: list[Jar], folder: Path, progress: Callable[[int, int], None] | None
) -> None:
    if not missing:
        return
    total = sum(jar.size for jar in missing)
    with _shown(jar_set.name, len(missing), progress) as show, ThreadPoolExecutor(_THREADS) as pool:
        fetch = _Fetch(jar_set.repository, folder, lambda fetched: show(fetched, total))
        try:
            for done in [pool.submit(fetch.jar, jar) for jar in missing]:
                done.result()
        except BaseException:
            # This also serves Ctrl-C: the pool's exit waits for its threads, and they stop at their next chunk.
            fetch.stopped.set()
            pool.shutdown(cancel_futures=True)
            raise


@contextmanager
def _shown(
    name: str, count: int, progress: Callable[[int, int], None] | None
) -> Iterator[Callable[[int, int], None]]:
    """The function to call with the bytes downloaded and the bytes in all."""
    if progress is not None or not sys.stderr.isatty():
        yield progress or (lambda _fetched, _total: None)
        return
    from rich.console import Console  # noqa: PLC0415 - it takes longer to import than all else here
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn  # noqa: PLC0415 - too

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"Fetching {counted(count, 'jar')} ({name})", total=None)
        yield lambda fetched, total: bar.update(task, completed=fetched, total=total)


class _Fetch:
    """Download the missing jars once. The lock is held, so nobody else writes into the folder."""

    def __init__(self, repository: str, folder: Path, show: Callable[[int], None]) -> None:
        self.stopped = threading.Event()
        self._repository = repository
        self._folder = folder
        self._show = show
        self._fetched = 0
        self._counting = threading.Lock()

    def jar(self, jar: Jar) -> None:
        """Download one jar, and try again if the network error may be temporary."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._download(jar)
            except _NETWORK_ERRORS as error:
                final = False
                if isinstance(error, urllib.error.HTTPError):
                    final = error.code not in _MAY_PASS
                    # The error object holds the connection open.
                    error.close()
                # With a `file:` repository a second try would not help either.
                if final or attempt == _ATTEMPTS or self._repository.startswith("file:"):
                    raise JarError(self._refusal(jar, error)) from error
                self.stopped.wait(_BACKOFF_S * 2**attempt)
            else:
                return

    def _download(self, jar: Jar) -> None:
        target, address = self._folder / jar.path, self._repository + jar.path
        target.parent.mkdir(parents=True, exist_ok=True)
        # A killed process leaves a partial file, and the next process overwrites it.
        part = target.with_name(f"{target.name}.part")
        digest, size = hashlib.sha256(), 0
        try:
            with (
                urllib.request.urlopen(address, timeout=_SILENCE_S) as answer,  # noqa: S310 - the lock's or the user's, its scheme checked
                part.open("wb") as file,
            ):
                while not self.stopped.is_set() and (chunk := answer.read(_CHUNK_BYTES)):
                    file.write(chunk)
                    digest.update(chunk)
                    size += len(chunk)
                    self._count(len(chunk))
            self._check(jar, digest.hexdigest(), size)
            part.replace(target)
        except BaseException:
            self._count(-size)
            raise
        finally:
            part.unlink(missing_ok=True)

    def _check(self, jar: Jar, sha256: str, size: int) -> None:
        if size < jar.size:
            raise http.client.IncompleteRead(b"", jar.size - size)
        if sha256 != jar.sha256:
            raise JarError(
                f"{jar.coordinates} from {self._repository} is not the file that was locked: its sha256 is "
                f"{sha256} ({counted(size, 'byte')}) instead of {jar.sha256} ({counted(jar.size, 'byte')}); ask "
                "whoever runs that repository"
            )

    def _count(self, size: int) -> None:
        with self._counting:
            self._fetched += size
            self._show(self._fetched)

    def _refusal(self, jar: Jar, error: Exception) -> str:
        why = str(getattr(error, "reason", None) or error)
        if isinstance(error, http.client.IncompleteRead):
            why = f"{error.expected} of its {counted(jar.size, 'byte')} did not come"
        return (
            f"{jar.coordinates} cannot be fetched from {self._repository} ({why}): check the network, or "
            "name a mirror in PARTWRIGHT_MAVEN_REPOSITORY"
        )


# If Maven Central lacks a Spark's connector, the nearest one that works with it.
CONNECTORS = {
    ("3.5", "2.12"): "connector-3.5.7_2.12",
    ("3.5", "2.13"): "connector-3.5.9_2.13",
    ("4.0", "2.13"): "connector-4.0.4_2.13",
    ("4.1", "2.13"): "connector-4.1.3_2.13",
    ("4.2", "2.13"): "connector-4.2.0_2.13",
    ("4.3", "2.13"): "connector-4.2.0_2.13",
}


class SparkBuild(NamedTuple):
    """A Spark, and the Scala that its jars are compiled for; one version of Spark may exist for two."""

    spark: str
    scala: str

    @property
    def minor(self) -> str:
        """Spark's minor version."""
        return ".".join(self.spark.split(".")[:2])


def connector_set(build: SparkBuild) -> str:
    """The name of the set, for `partwright.kafka.jars.jar_files`.

    A Spark that is newer than all of them gets the newest connector; that is an attempt, as is the rest of a newer
    PySpark.

    Args:
        build: The Spark, such as 3.5.9 for Scala 2.12.

    Raises:
        JarError: There is no set for it; the error lists the existing ones and what to do.

    Examples:
        >>> connector_set(SparkBuild("4.3.0", "2.13"))
        'connector-4.2.0_2.13'
    """
    key = build.minor, build.scala
    name = CONNECTORS.get(key)
    newest = max(CONNECTORS, key=_numbers)
    if name is None and build.scala == newest[1] and _numbers(key) > _numbers(newest):
        name = CONNECTORS[newest]
    if name is None:
        known = ", ".join(f"{spark} (Scala {scala})" for spark, scala in CONNECTORS)
        raise JarError(
            f"there is no Kafka connector here for Spark {build.spark} (Scala {build.scala}), only for Spark {known}: "
            "leave out kafka and name the connector in spark.jars.packages"
        )
    return name


def _numbers(key: tuple[str, str]) -> list[int]:
    """The numbers of a minor version, because 4.10 is newer than 4.9."""
    return [int(number) for number in re.findall(r"\d+", key[0])]
